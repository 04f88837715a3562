// The connection against a real peer on a real socket: the feeder.
#include "tui/loop/link.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/program.h"

// What the link told, and what the test waits for.
struct told {
    uv_loop_t loop;
    struct link *link;
    uv_timer_t deadline;
    int messages[256]; // by kind
    size_t rows;       // of the last sample
    enum link_state state;
    char detail[512];
    bool failed;
    enum link_failure failure;
    char why[512];
    bool (*enough)(const struct told *told);
};

static void
look(struct told *told)
{
    if (told->enough(told)) {
        uv_stop(&told->loop);
    }
}

static void
on_message(void *context, const struct message *message)
{
    struct told *told = context;

    told->messages[message->kind]++;
    if (message->kind == MESSAGE_SAMPLE) {
        told->rows = message->sample.row_count;
    }
    look(told);
}

static void
on_state(void *context, enum link_state state, const char *detail)
{
    struct told *told = context;

    told->state = state;
    snprintf(told->detail, sizeof(told->detail), "%s", detail);
    look(told);
}

static void
on_failed(void *context, enum link_failure failure, const char *why)
{
    struct told *told = context;

    told->failed = true;
    told->failure = failure;
    snprintf(told->why, sizeof(told->why), "%s", why);
    uv_stop(&told->loop);
}

static void
on_deadline(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static struct told *
connect_to(const char *path)
{
    struct told *told = calloc(1, sizeof(*told));
    const struct link_events events = {on_message, on_state, on_failed, told};

    assert_non_null(told);
    uv_loop_init(&told->loop);
    uv_timer_init(&told->loop, &told->deadline);
    told->link = link_new(&told->loop, path, &events);
    assert_non_null(told->link);
    return told;
}

// Run until `enough` holds. False when that never came, or the link failed.
static bool
run_until(struct told *told, bool (*enough)(const struct told *told))
{
    told->enough = enough;
    if (enough(told)) {
        return true;
    }
    uv_timer_start(&told->deadline, on_deadline, 30000, 0);
    uv_run(&told->loop, UV_RUN_DEFAULT);
    uv_timer_stop(&told->deadline);
    return !told->failed && enough(told);
}

static void
disconnect(struct told *told)
{
    link_free(told->link);
    uv_close((uv_handle_t *)&told->deadline, NULL);
    uv_run(&told->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&told->loop), 0);
    free(told);
}

static bool
has_sample(const struct told *told)
{
    return told->messages[MESSAGE_SAMPLE] > 0;
}

static bool
has_three_samples(const struct told *told)
{
    return told->messages[MESSAGE_SAMPLE] >= 3;
}

static bool
has_result(const struct told *told)
{
    return told->messages[MESSAGE_RESULT] > 0;
}

static bool
is_reconnecting(const struct told *told)
{
    return told->state == LINK_RECONNECTING;
}

static bool
is_gone(const struct told *told)
{
    return told->state == LINK_GONE;
}

static bool
is_live_again(const struct told *told)
{
    return told->state == LINK_LIVE && told->messages[MESSAGE_HELLO] >= 2;
}

static bool
never(const struct told *told)
{
    (void)told;
    return false;
}

static const char *
feed(struct program *feeder, const char *classes, const char *how)
{
    const char *path = program_path("feeder.sock");
    const char *const arguments[] = {FEEDER, path, classes, how, NULL};

    program_start(feeder, arguments, NULL);
    assert_true(program_says(feeder, "ready"));
    return path;
}

static void
hands_on_every_message(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "30", "well"));

    (void)state;
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    assert_int_equal(told->state, LINK_LIVE);
    assert_int_equal(told->messages[MESSAGE_HELLO], 1);
    assert_int_equal(told->messages[MESSAGE_NAMES], 1);
    assert_int_equal(told->rows, 30);
    program_tell(&feeder, "step");
    program_tell(&feeder, "step");
    assert_true(run_until(told, has_three_samples));
    disconnect(told);
    program_kill(&feeder);
}

static void
takes_frames_larger_than_a_read(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "50000", "well"));

    (void)state;
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    assert_int_equal(told->rows, 50000);
    disconnect(told);
    program_kill(&feeder);
}

static void
sends_requests_and_hears_the_answer(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "3", "well"));
    const struct request request = {7, REQUEST_GC, 0};

    (void)state;
    assert_false(link_send(told->link, &request)); // nobody there yet
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    assert_true(link_send(told->link, &request));
    assert_true(run_until(told, has_result));
    assert_true(program_says(&feeder, "request 1"));
    disconnect(told);
    program_kill(&feeder);
}

static void
refuses_requests_that_nobody_reads(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "3", "well"));
    const struct request request = {7, REQUEST_KEY, 0};
    int sent = 0;

    (void)state;
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    // the loop does not run, so nothing leaves
    while (sent < 100000 && link_send(told->link, &request)) {
        sent++;
    }
    assert_in_range(sent, 100, 99999);
    disconnect(told);
    program_kill(&feeder);
}

static void
says_in_words_what_a_peer_did_wrong(void **state)
{
    static const struct {
        const char *how;
        enum link_failure failure;
        const char *words;
    } cases[] = {
        {"garbage",  LINK_BROKEN,      "not memtop's"             },
        {"version",  LINK_BROKEN,      "speaks protocol 2"        },
        {"damaged",  LINK_BROKEN,      "CRC"                      },
        {"no-hello", LINK_BROKEN,      "does not say hello"       },
        {"close",    LINK_BROKEN,      "without a word"           },
        {"refuse",   LINK_UNREACHABLE, "eight viewers ?[2J are en"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct program feeder;
        struct told *told = connect_to(feed(&feeder, "30", cases[i].how));
        link_start(told->link);
        assert_false(run_until(told, never));
        assert_true(told->failed);
        assert_int_equal(told->failure, cases[i].failure);
        assert_non_null(strstr(told->why, cases[i].words));
        disconnect(told);
        program_kill(&feeder);
    }
}

// After the first hello nothing is fatal: the words are shown, and it goes on.
static void
drops_a_peer_that_turns_bad_and_tries_again(void **state)
{
    static const struct {
        const char *how;
        const char *words;
    } cases[] = {
        {"huge",         "frame of 4294967295 bytes"},
        {"cut",          "in the middle"            },
        {"late-garbage", "no frame begins here"     },
        {"as-viewer",    "speaks as a viewer"       },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct program feeder;
        struct told *told = connect_to(feed(&feeder, "300", cases[i].how));
        link_start(told->link);
        assert_true(run_until(told, is_reconnecting));
        assert_non_null(strstr(told->detail, cases[i].words));
        assert_int_equal(link_last_failure(told->link), LINK_BROKEN);
        assert_true(run_until(told, is_live_again));
        disconnect(told);
        program_kill(&feeder);
    }
}

static void
reconnects_when_the_connection_is_closed(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "3", "well"));

    (void)state;
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    program_tell(&feeder, "close");
    assert_true(run_until(told, is_reconnecting));
    assert_non_null(strstr(told->detail, "closed"));
    assert_true(run_until(told, is_live_again));
    disconnect(told);
    program_kill(&feeder);
}

static void
says_gone_with_the_exit_status_and_finds_the_next_program(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "3", "well"));

    (void)state;
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    program_tell(&feeder, "bye 3");
    assert_true(run_until(told, is_gone));
    assert_string_equal(told->detail, "exit status 3");
    program_wait(&feeder);
    program_kill(&feeder);
    feed(&feeder, "3", "well");
    assert_true(run_until(told, is_live_again));
    disconnect(told);
    program_kill(&feeder);
}

static void
says_gone_when_the_program_was_killed(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "3", "well"));

    (void)state;
    link_start(told->link);
    assert_true(run_until(told, has_sample));
    program_kill(&feeder);
    assert_true(run_until(told, is_gone));
    disconnect(told);
}

// As a program that is stopped: the kernel accepts for it.
static void
gives_up_on_a_peer_that_says_nothing(void **state)
{
    struct program feeder;
    struct told *told = connect_to(feed(&feeder, "3", "nothing"));

    (void)state;
    link_start(told->link);
    assert_false(run_until(told, never));
    assert_true(told->failed);
    assert_int_equal(told->failure, LINK_UNREACHABLE);
    assert_non_null(strstr(told->why, "says nothing"));
    disconnect(told);
    program_kill(&feeder);
}

static void
expect_unreachable(const char *path, const char *words)
{
    struct told *told = connect_to(path);

    link_start(told->link);
    assert_false(run_until(told, never));
    assert_true(told->failed);
    assert_int_equal(told->failure, LINK_UNREACHABLE);
    assert_non_null(strstr(told->why, words));
    disconnect(told);
}

static void
says_in_words_why_there_is_nobody(void **state)
{
    static char long_path[300];
    struct program feeder;
    int file = open(program_path("file"), O_CREAT | O_WRONLY, 0600);

    (void)state;
    close(file);
    memset(long_path, 'x', sizeof(long_path) - 1);
    expect_unreachable(program_path("nothing"), "no such file");
    expect_unreachable(program_path("file/deeper"), "no such file");
    expect_unreachable(program_path("file"), "not a socket");
    expect_unreachable("/", "not a socket");
    expect_unreachable(long_path, "too long");
    const char *path = feed(&feeder, "3", "well");
    program_kill(&feeder);
    expect_unreachable(path, "nobody listens");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_on_every_message),
        cmocka_unit_test(takes_frames_larger_than_a_read),
        cmocka_unit_test(sends_requests_and_hears_the_answer),
        cmocka_unit_test(refuses_requests_that_nobody_reads),
        cmocka_unit_test(says_in_words_what_a_peer_did_wrong),
        cmocka_unit_test(drops_a_peer_that_turns_bad_and_tries_again),
        cmocka_unit_test(reconnects_when_the_connection_is_closed),
        cmocka_unit_test(says_gone_with_the_exit_status_and_finds_the_next_program),
        cmocka_unit_test(says_gone_when_the_program_was_killed),
        cmocka_unit_test(gives_up_on_a_peer_that_says_nothing),
        cmocka_unit_test(says_in_words_why_there_is_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
