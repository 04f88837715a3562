// The viewer and peers that leave, come back, or misbehave.
#include "e2e.h"

static void
a_program_that_ended_is_shown_with_its_status_and_its_last_data(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class00039"));
    program_tell(&feeder, "bye 3");
    program_wait(&feeder);
    assert_true(terminal_shows(terminal, "GONE"));
    assert_true(terminal_shows(terminal, "exit status 3"));
    terminal_type(terminal, "j");
    assert_true(terminal_shows(terminal, "▶Class00038"));
    program_kill(&feeder);
    e2e_quit(terminal);
}

static void
a_program_that_comes_back_is_watched_again(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class00039"));
    program_kill(&feeder);
    assert_true(terminal_shows(terminal, "GONE"));
    e2e_feed(&feeder, "50", "well");
    assert_true(terminal_shows(terminal, "LIVE"));
    assert_true(terminal_shows(terminal, "Class00049"));
    program_kill(&feeder);
    e2e_quit(terminal);
}

static void
a_connection_that_was_closed_is_made_again(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class00039"));
    program_tell(&feeder, "close");
    program_tell(&feeder, "step");
    // it is back when a step reaches it; which of them does not matter
    assert_true(terminal_shows(terminal, "429"));
    assert_true(terminal_shows(terminal, "LIVE"));
    program_kill(&feeder);
    e2e_quit(terminal);
}

// After a good start: the viewer says so, keeps what it has, and can be used.
static void
a_peer_that_turns_bad_does_not_end_the_viewer(void **state)
{
    static const char *const ways[] = {"late-garbage", "huge", "cut", "as-viewer"};

    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        struct program feeder;
        struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", ways[i]));
        assert_true(terminal_shows(terminal, "RECONNECTING"));
        terminal_type(terminal, "?");
        assert_true(terminal_shows(terminal, "help"));
        terminal_type(terminal, "q");
        assert_null(strstr(terminal_written(terminal), "400 Bad Request"));
        e2e_quit(terminal);
        program_kill(&feeder);
    }
}

static void
hostile_names_reach_the_terminal_escaped(void **state)
{
    static const char right_to_left[] = {'\xe2', '\x80', '\xae', '\0'};
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", "hostile-names"));

    (void)state;
    assert_true(terminal_shows(terminal, "\\x1B[2J\\x1B[31mRed"));
    assert_true(terminal_shows(terminal, "Title\\x1B]0;owned\\x07"));
    assert_true(terminal_shows(terminal, "New\\x0Aline"));
    assert_null(strstr(terminal_written(terminal), "\033]0;owned"));
    assert_null(strstr(terminal_written(terminal), "\033[31mRed"));
    assert_null(strchr(terminal_written(terminal), '\007'));
    assert_null(strstr(terminal_written(terminal), right_to_left));
    program_kill(&feeder);
    e2e_quit(terminal);
}

static void
readonly_sends_nothing_that_changes_the_program(void **state)
{
    static const char *const options[] = {"--readonly", NULL};
    struct program feeder;
    struct terminal *terminal =
        e2e_view_with(e2e_feed(&feeder, "40", "well"), NULL, options);

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class00039"));
    terminal_type(terminal, "\x07");
    assert_true(terminal_shows(terminal, "--readonly"));
    e2e_quit(terminal);
    program_kill(&feeder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_ended_is_shown_with_its_status_and_its_last_data),
        cmocka_unit_test(a_program_that_comes_back_is_watched_again),
        cmocka_unit_test(a_connection_that_was_closed_is_made_again),
        cmocka_unit_test(a_peer_that_turns_bad_does_not_end_the_viewer),
        cmocka_unit_test(hostile_names_reach_the_terminal_escaped),
        cmocka_unit_test(readonly_sends_nothing_that_changes_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
