// What viewers meet: a real probe, real sockets, a program made of numbers.
#include "probe/core/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/core/clock.h"
#include "tests/probe/core/client.h"
#include "tests/probe/core/fixture.h"
#include "tests/probe/core/program.h"

static struct settings settings;

static int
start(void **state)
{
    (void)state;
    return program_begin(&settings) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    program_end();
    return 0;
}

static uintptr_t
key_of(size_t number)
{
    return 0x550000000000 + number * 40;
}

// Pass over messages until a sample that has this row.
static struct class_row
wait_for_row(struct client *client, class_id id)
{
    for (;;) {
        const struct sample *sample = &client_wait(client, MESSAGE_SAMPLE)->sample;
        for (size_t i = 0; i < sample->row_count; i++) {
            if (sample->rows[i].id == id) {
                return sample->rows[i];
            }
        }
    }
}

static void
a_viewer_gets_a_hello_names_and_a_whole_state(void **state)
{
    (void)state;
    program_start(&settings, true);
    for (size_t slot = 0; slot < 10; slot++) {
        program_allocate(slot, key_of(slot % 2));
    }
    struct client client = client_connect(settings.socket);
    const struct hello *hello = &client_wait(&client, MESSAGE_HELLO)->hello;
    assert_int_equal(hello->version, PROTOCOL_VERSION);
    assert_int_equal(hello->pid, getpid());
    assert_int_equal(hello->interval_ms, 100);
    assert_true(client_text_has(hello->runtime, "numbers 1.0"));
    assert_int_equal(hello->capabilities,
                     CAPABILITY_GC | CAPABILITY_COUNT | CAPABILITY_TRACE);
    assert_int_equal(client_wait(&client, MESSAGE_NAMES)->names.count, 2);
    const struct sample *sample = &client_wait(&client, MESSAGE_SAMPLE)->sample;
    assert_true(sample->key);
    assert_int_equal(sample->mode, MODE_COUNT);
    assert_int_equal(sample->row_count, 2);
    assert_int_equal(sample->rows[0].live, 5);
    assert_int_equal(sample->totals.live, 10);
    program_free(0);
    struct class_row row = wait_for_row(&client, 1);
    while (row.freed == 0) { // the census told of bytes first
        row = wait_for_row(&client, 1);
    }
    assert_int_equal(row.live, 4);
    client_close(&client);
    program_stop();
}

static void
sixty_four_viewers_are_served_and_one_more_is_told_why_not(void **state)
{
    struct client clients[SERVER_VIEWERS_MAX];
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    for (size_t i = 0; i < SERVER_VIEWERS_MAX; i++) {
        clients[i] = client_connect(settings.socket);
        client_wait(&clients[i], MESSAGE_HELLO);
    }
    struct client extra = client_connect(settings.socket);
    const struct bye *bye = &client_wait(&extra, MESSAGE_BYE)->bye;
    assert_int_equal(bye->reason, BYE_REFUSED);
    assert_true(client_text_has(bye->text, "64 viewers"));
    client_close(&extra);
    for (size_t i = 0; i < SERVER_VIEWERS_MAX; i++) {
        while (client_wait(&clients[i], MESSAGE_SAMPLE)->sample.probe.viewers !=
               SERVER_VIEWERS_MAX) {
        }
    }
    client_close(&clients[7]); // its place is free again
    while (client_wait(&clients[0], MESSAGE_SAMPLE)->sample.probe.viewers ==
           SERVER_VIEWERS_MAX) {
    }
    clients[7] = client_connect(settings.socket);
    client_wait(&clients[7], MESSAGE_SAMPLE);
    for (size_t i = 0; i < SERVER_VIEWERS_MAX; i++) {
        client_close(&clients[i]);
    }
    program_stop();
}

static void
the_stream_goes_on_when_the_agent_never_answers(void **state)
{
    (void)state;
    program_start(&settings, false);
    struct client client = client_connect(settings.socket);
    for (size_t slot = 0; slot < 5; slot++) {
        program_allocate(slot, key_of(0));
        while (client_wait(&client, MESSAGE_SAMPLE)->sample.totals.live != slot + 1) {
        }
        assert_true(client.message.sample.process.heap_age_ms == COUNT_UNKNOWN);
        assert_true(client.message.sample.process.rss_bytes != COUNT_UNKNOWN);
    }
    while (heap.revived == 0) { // and after a while it is looked for
        client_wait(&client, MESSAGE_SAMPLE);
    }
    client_close(&client);
    program_stop();
}

static void
figures_that_nobody_can_read_say_how_old_they_are(void **state)
{
    (void)state;
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.process.heap_age_ms ==
           COUNT_UNKNOWN) {
    }
    program_lock(); // the program sits in C with the GVL
    uint64_t age_ms = 0;
    while (age_ms < 500) {
        uint64_t before_ms = age_ms;
        age_ms = client_wait(&client, MESSAGE_SAMPLE)->sample.process.heap_age_ms;
        assert_true(age_ms + 200 >= before_ms);
    }
    program_unlock();
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.process.heap_age_ms > 100) {
    }
    client_close(&client);
    program_stop();
}

static void
each_request_gets_its_result(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_ask(&client, 1, REQUEST_GC, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_DONE);
    assert_true(client_text_has(client.message.result.text, "garbage collected"));
    client_ask(&client, 2, REQUEST_CENSUS, 0);
    assert_int_equal(client_result(&client, 2)->status, RESULT_DONE);
    assert_true(client_text_has(client.message.result.text, "1 objects"));
    client_ask(&client, 3, REQUEST_MODE, MODE_DORMANT);
    assert_int_equal(client_result(&client, 3)->status, RESULT_DONE);
    client_ask(&client, 4, REQUEST_CENSUS, 0);
    assert_int_equal(client_result(&client, 4)->status, RESULT_FAILED);
    client_ask(&client, 5, REQUEST_MODE, MODE_TRACE + 1);
    assert_int_equal(client_result(&client, 5)->status, RESULT_REFUSED);
    client_ask(&client, 6, REQUEST_MODE, UINT64_MAX);
    assert_int_equal(client_result(&client, 6)->status, RESULT_REFUSED);
    client_ask(&client, 7, (enum request_action)99, 0);
    assert_int_equal(client_result(&client, 7)->status, RESULT_REFUSED);
    client_ask(&client, 8, REQUEST_MODE, MODE_COUNT);
    assert_int_equal(client_result(&client, 8)->status, RESULT_DONE);
    client_ask(&client, 9, REQUEST_KEY, 0);
    assert_int_equal(client_result(&client, 9)->status, RESULT_DONE);
    while (!client_wait(&client, MESSAGE_SAMPLE)->sample.key) {
    }
    assert_int_equal(client.message.sample.totals.live, 1);
    assert_int_equal(heap.collected, 1);
    client_close(&client);
    program_stop();
}

static void
read_only_refuses_what_changes_the_program(void **state)
{
    (void)state;
    settings.readonly = true;
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    assert_int_equal(client_wait(&client, MESSAGE_HELLO)->hello.capabilities,
                     CAPABILITY_READONLY);
    client_ask(&client, 1, REQUEST_GC, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_REFUSED);
    client_ask(&client, 2, REQUEST_MODE, MODE_DORMANT);
    assert_int_equal(client_result(&client, 2)->status, RESULT_REFUSED);
    client_ask(&client, 3, REQUEST_CENSUS, 0);
    assert_int_equal(client_result(&client, 3)->status, RESULT_DONE);
    client_close(&client);
    program_stop();
    assert_int_equal(heap.collected, 0);
}

static bool detached;

static void
detach(void)
{
    detached = true;
}

static void
detaching_is_answered_before_it_is_done(void **state)
{
    (void)state;
    detached = false;
    program_start(&settings, false);
    struct client client = client_connect(settings.socket);
    assert_false(client_wait(&client, MESSAGE_HELLO)->hello.capabilities &
                 CAPABILITY_DETACH);
    client_ask(&client, 1, REQUEST_DETACH, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_REFUSED);
    assert_int_equal(probe.work & WORK_DETACH, 0);
    probe.runtime.detach = detach;
    client_ask(&client, 2, REQUEST_DETACH, 0);
    assert_int_equal(client_result(&client, 2)->status, RESULT_DONE);
    while (!(probe.work & WORK_DETACH)) { // the answer is sent a moment earlier
    }
    assert_false(detached);
    assert_false(probe_work(&probe)); // the agent's last
    assert_true(detached);
    client_close(&client);
    program_stop();
}

static void
a_read_only_probe_is_not_taken_out(void **state)
{
    (void)state;
    settings.readonly = true;
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    client_ask(&client, 1, REQUEST_DETACH, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_REFUSED);
    assert_true(client_text_has(client.message.result.text, "MEMTOP_READONLY"));
    client_close(&client);
    program_stop();
}

static void
the_mode_that_cannot_be_had_is_said(void **state)
{
    (void)state;
    heap.no_hooks = true;
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    const struct notice *notice = &client_wait(&client, MESSAGE_NOTICE)->notice;
    assert_int_equal(notice->severity, NOTICE_WARNING);
    assert_true(client_text_has(notice->text, "there are none"));
    client_ask(&client, 1, REQUEST_MODE, MODE_COUNT);
    assert_int_equal(client_result(&client, 1)->status, RESULT_FAILED);
    client_close(&client);
    program_stop();
}

// While the program holds the GVL, both requests wait for one turn of the agent.
static void
two_results_of_one_turn_are_not_mixed_up(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_lock();
    probe_refuse_count(&probe, "for a reason");
    program_unlock();
    struct client mode = client_connect(settings.socket);
    struct client census = client_connect(settings.socket);
    program_lock();
    client_ask(&mode, 1, REQUEST_MODE, MODE_COUNT);
    client_ask(&mode, 2, REQUEST_KEY, 0);
    client_result(&mode, 2); // so the server has seen the first
    client_ask(&census, 1, REQUEST_CENSUS, 0);
    client_ask(&census, 2, REQUEST_KEY, 0);
    client_result(&census, 2);
    program_unlock();
    assert_int_equal(client_result(&mode, 1)->status, RESULT_FAILED);
    assert_true(client_text_has(mode.message.result.text, "for a reason"));
    assert_int_equal(client_result(&census, 1)->status, RESULT_DONE);
    assert_true(client_text_has(census.message.result.text, "census"));
    client_close(&mode);
    client_close(&census);
    program_stop();
}

// The heap cannot be listed, so that the census is under way for ever.
static void
a_census_that_a_change_of_mode_ends_is_answered(void **state)
{
    (void)state;
    program_start(&settings, true);
    struct client census = client_connect(settings.socket);
    struct client mode = client_connect(settings.socket);
    program_lock();
    heap.no_pages = true;
    program_unlock();
    client_ask(&census, 1, REQUEST_CENSUS, 0);
    client_ask(&census, 2, REQUEST_KEY, 0);
    client_result(&census, 2);
    client_ask(&mode, 1, REQUEST_MODE, MODE_DORMANT);
    assert_int_equal(client_result(&mode, 1)->status, RESULT_DONE);
    assert_int_equal(client_result(&census, 1)->status, RESULT_FAILED);
    client_ask(&census, 3, REQUEST_GC, 0); // and others may be asked
    assert_int_equal(client_result(&census, 3)->status, RESULT_DONE);
    client_close(&census);
    client_close(&mode);
    program_stop();
}

static void
viewers_that_come_and_go_at_any_moment_harm_nobody(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client steady = client_connect(settings.socket);
    for (size_t i = 0; i < 300; i++) {
        struct client client = client_connect(settings.socket);
        switch (i % 4) {
        case 0:
            client_ask(&client, 1, REQUEST_GC, 0); // and does not wait
            break;
        case 1:
            assert_int_equal(send(client.fd, "MTOP\0\0", 6, 0), 6);
            break;
        case 2:
            client_wait(&client, MESSAGE_HELLO);
            break;
        default:
            break;
        }
        client_close(&client);
    }
    while (client_wait(&steady, MESSAGE_SAMPLE)->sample.probe.viewers != 1) {
    }
    assert_int_equal(steady.message.sample.totals.live, 1);
    client_close(&steady);
    program_stop();
}

// Each sample takes the GVL: asking for many must not.
static void
viewers_in_a_hurry_do_not_keep_the_program_busy(void **state)
{
    (void)state;
    settings.interval_s = 3600;
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    uint64_t began_ns = clock_monotonic_ns();
    size_t samples = 0;
    for (uint64_t i = 1; i <= 3000; i++) {
        client_ask(&client, i, REQUEST_KEY, 0);
        do {
            client_next(&client);
            samples += client.message.kind == MESSAGE_SAMPLE;
        } while (client.message.kind != MESSAGE_RESULT);
    }
    uint64_t elapsed_ms = (clock_monotonic_ns() - began_ns) / 1000000;
    assert_true(samples <= elapsed_ms / 50 + 1);
    client_wait(&client, MESSAGE_SAMPLE); // one still comes, long before its time
    assert_true(client.message.sample.key);
    client_close(&client);
    program_stop();
}

#define MANY_CLASSES 60000u

static void
touch_every_class(void)
{
    program_lock();
    for (size_t i = 0; i < MANY_CLASSES; i++) {
        // Not on the heap: a census would have a say otherwise.
        const struct registry_slot *slot =
            registry_lookup(&probe.tally.registry, key_of(i));
        count_up(&slot->site->allocated);
    }
    program_unlock();
}

// A viewer that stops reading for a while, among others, must miss whole frames,
// and then be shown how things are.
static void
a_slow_viewer_is_seeded_again_and_its_loss_is_counted(void **state)
{
    (void)state;
    settings.mode = MODE_COUNT;
    program_start(&settings, false);
    touch_every_class();
    struct client slow = client_connect(settings.socket);
    client_wait(&slow, MESSAGE_SAMPLE);
    struct client other = client_connect(settings.socket);
    do {
        touch_every_class();
    } while (client_wait(&other, MESSAGE_SAMPLE)->sample.probe.dropped_frames == 0);
    uint64_t live = 0;
    for (uint32_t i = 1; i <= MANY_CLASSES; i++) {
        live += registry_counts(&probe.tally.registry, i).live;
    }
    while (client_wait(&slow, MESSAGE_SAMPLE)->sample.totals.live != live) {
    }
    assert_true(slow.message.sample.key);
    assert_int_equal(slow.message.sample.row_count, MANY_CLASSES);
    client_close(&slow);
    client_close(&other);
    program_stop();
}

// A probe that has watched for long calls what it has just met new.
static void
verdicts_follow_the_sample_and_are_in_a_later_viewers_first_state(void **state)
{
    (void)state;
    program_start(&settings, true);
    pthread_mutex_lock(&probe.lock);
    probe.judge.started.at_us = 1;
    probe.judge.mode = MODE_COUNT;
    pthread_mutex_unlock(&probe.lock);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    class_id id = client_wait(&client, MESSAGE_NAMES)->names.list[0].id;
    const struct verdicts *verdicts = &client_wait(&client, MESSAGE_VERDICTS)->verdicts;
    assert_int_equal(verdicts->count, 1);
    assert_int_equal(verdicts->list[0].id, id);
    assert_int_equal(verdicts->list[0].verdict, VERDICT_NEW);
    struct client later = client_connect(settings.socket);
    client_wait(&later, MESSAGE_SAMPLE);
    client_next(&later);
    assert_int_equal(later.message.kind, MESSAGE_VERDICTS);
    assert_int_equal(later.message.verdicts.list[0].verdict, VERDICT_NEW);
    client_close(&later);
    client_close(&client);
    program_stop();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            verdicts_follow_the_sample_and_are_in_a_later_viewers_first_state, start,
            end),
        cmocka_unit_test_setup_teardown(a_viewer_gets_a_hello_names_and_a_whole_state,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            sixty_four_viewers_are_served_and_one_more_is_told_why_not, start, end),
        cmocka_unit_test_setup_teardown(the_stream_goes_on_when_the_agent_never_answers,
                                        start, end),
        cmocka_unit_test_setup_teardown(figures_that_nobody_can_read_say_how_old_they_are,
                                        start, end),
        cmocka_unit_test_setup_teardown(each_request_gets_its_result, start, end),
        cmocka_unit_test_setup_teardown(read_only_refuses_what_changes_the_program, start,
                                        end),
        cmocka_unit_test_setup_teardown(detaching_is_answered_before_it_is_done, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_read_only_probe_is_not_taken_out, start, end),
        cmocka_unit_test_setup_teardown(the_mode_that_cannot_be_had_is_said, start, end),
        cmocka_unit_test_setup_teardown(two_results_of_one_turn_are_not_mixed_up, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_census_that_a_change_of_mode_ends_is_answered,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            viewers_that_come_and_go_at_any_moment_harm_nobody, start, end),
        cmocka_unit_test_setup_teardown(viewers_in_a_hurry_do_not_keep_the_program_busy,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_slow_viewer_is_seeded_again_and_its_loss_is_counted, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
