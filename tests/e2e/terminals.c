// The viewer and its terminal: sizes, kinds, signals, and giving it back.
#include <fcntl.h>
#include <unistd.h>

#include "e2e.h"

static struct program feeder;

static int
start_feeder(void **state)
{
    (void)state;
    e2e_feed(&feeder, "40", "well");
    return 0;
}

static int
stop_feeder(void **state)
{
    (void)state;
    program_kill(&feeder);
    return 0;
}

static struct terminal *
view(const char *const *environment, const char *const *options)
{
    struct terminal *terminal =
        e2e_view_with(program_path("peer.sock"), environment, options);

    assert_true(terminal_shows(terminal, "Class00039"));
    return terminal;
}

static void
expect_given_back(const struct terminal *terminal)
{
    struct termios modes = terminal_modes(terminal);

    assert_false(terminal_alternate(terminal));
    assert_true(terminal_cursor_visible(terminal));
    assert_false(terminal_mouse(terminal));
    assert_true(modes.c_lflag & ECHO);
    assert_true(modes.c_lflag & ICANON);
    assert_true(modes.c_lflag & ISIG);
    assert_true(modes.c_iflag & ICRNL);
    assert_int_equal(terminal_flags(terminal) & O_NONBLOCK, 0);
}

static void
quitting_gives_the_terminal_back(void **state)
{
    struct terminal *terminal = view(NULL, NULL);
    int status;

    (void)state;
    assert_true(terminal_alternate(terminal));
    assert_true(terminal_mouse(terminal));
    assert_false(terminal_cursor_visible(terminal));
    assert_false(terminal_modes(terminal).c_lflag & ECHO);
    assert_int_equal(terminal_flags(terminal) & O_NONBLOCK, 0);
    terminal_type(terminal, "q");
    assert_true(terminal_ends(terminal, &status));
    expect_given_back(terminal);
    terminal_free(terminal);
}

static void
a_signal_gives_the_terminal_back_and_still_ends_it(void **state)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct terminal *terminal = view(NULL, NULL);
        int status;
        kill(terminal_pid(terminal), numbers[i]);
        assert_true(terminal_ends(terminal, &status));
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        expect_given_back(terminal);
        terminal_free(terminal);
    }
}

static void
a_crash_gives_the_terminal_back_and_still_ends_it(void **state)
{
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct terminal *terminal = view(NULL, NULL);
        int status;
        kill(terminal_pid(terminal), numbers[i]);
        assert_true(terminal_ends(terminal, &status));
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        expect_given_back(terminal);
        assert_non_null(strstr(terminal_written(terminal), "memtop crashed"));
        terminal_free(terminal);
    }
}

static void
a_closed_window_ends_it(void **state)
{
    struct terminal *terminal = view(NULL, NULL);
    int status;

    (void)state;
    terminal_hang_up(terminal);
    assert_true(terminal_ends(terminal, &status));
    terminal_free(terminal);
}

/*
 * In a real shell, which is what stops a job and wakes it.
 */
static void
a_shell_can_suspend_it_and_bring_it_back(void **state)
{
    static const char *const shell[] = {"sh", "-i", NULL};
    static const char *const environment[] = {"PS1=shell> ", "ENV", NULL};
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = shell, .environment = environment, .columns = E2E_COLUMNS});
    char command[300];

    (void)state;
    assert_true(terminal_shows(terminal, "shell>"));
    snprintf(command, sizeof(command), MEMTOP " --socket %s\n",
             program_path("peer.sock"));
    terminal_type(terminal, command);
    assert_true(terminal_shows(terminal, "Class00039"));
    terminal_type(terminal, "\x1a");
    assert_true(terminal_shows(terminal, "Stopped"));
    assert_false(terminal_alternate(terminal));
    assert_false(terminal_mouse(terminal));
    assert_true(terminal_modes(terminal).c_lflag & ICANON);
    terminal_type(terminal, "fg\n");
    assert_true(terminal_shows(terminal, "Class00039"));
    assert_true(terminal_alternate(terminal));
    terminal_type(terminal, "j");
    assert_true(terminal_shows(terminal, "▶Class00038"));
    assert_true(terminal_mouse(terminal));
    terminal_type(terminal, "Q");
    assert_true(terminal_shows(terminal, "shell>"));
    terminal_type(terminal, "echo status $?\n");
    assert_true(terminal_shows(terminal, "status 0"));
    terminal_free(terminal);
}

// Nobody could wake it here: it must go on instead of stopping for ever.
static void
suspending_where_no_shell_is_goes_straight_on(void **state)
{
    struct terminal *terminal = view(NULL, NULL);

    (void)state;
    terminal_type(terminal, "\x1aj");
    assert_true(terminal_shows(terminal, "▶Class00038"));
    assert_true(terminal_alternate(terminal));
    e2e_quit(terminal);
}

static void
follows_the_terminals_size_down_to_too_small_and_back(void **state)
{
    struct terminal *terminal = view(NULL, NULL);

    (void)state;
    terminal_resize(terminal, 5, 30);
    assert_true(terminal_shows(terminal, "too small"));
    terminal_resize(terminal, 1, 1);
    terminal_resize(terminal, 12, 60);
    assert_true(terminal_shows(terminal, "Class00039"));
    assert_true(terminal_hides(terminal, "too small"));
    terminal_resize(terminal, 60, 200);
    assert_true(terminal_shows(terminal, "SHARE"));
    assert_true(terminal_shows(terminal, "Class00001"));
    e2e_quit(terminal);
}

static void
a_terminal_that_cannot_show_it_is_refused_in_words(void **state)
{
    static const struct {
        const char *environment[2];
        const char *words;
    } terminals[] = {
        {{"TERM=dumb", NULL},          "cannot place text"     },
        {{"TERM", NULL},               "TERM is not set"       },
        {{"TERM=no-such-thing", NULL}, "no terminal called 'no"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(terminals) / sizeof(*terminals); i++) {
        struct terminal *terminal =
            e2e_view_with(program_path("peer.sock"), terminals[i].environment, NULL);
        int status;
        assert_true(terminal_ends(terminal, &status));
        assert_int_equal(WEXITSTATUS(status), 2);
        assert_non_null(strstr(terminal_written(terminal), terminals[i].words));
        assert_non_null(strstr(terminal_written(terminal), "--once"));
        assert_null(strchr(terminal_written(terminal), '\033'));
        terminal_free(terminal);
    }
}

static void
writes_no_colour_with_no_color_or_the_mono_theme(void **state)
{
    static const char *const environment[] = {"NO_COLOR=1", NULL};
    static const char *const mono[] = {"--theme", "mono", NULL};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct terminal *terminal = i ? view(NULL, mono) : view(environment, NULL);
        for (int row = 0; row < E2E_ROWS; row++) {
            for (int column = 0; column < E2E_COLUMNS; column++) {
                struct terminal_cell cell = terminal_cell(terminal, row, column);
                assert_int_equal(cell.foreground, -1);
                assert_int_equal(cell.background, -1);
            }
        }
        e2e_quit(terminal);
    }
}

static void
colours_are_there_otherwise(void **state)
{
    static const char *const colorblind[] = {"--theme", "colorblind", NULL};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct terminal *terminal = view(NULL, i ? colorblind : NULL);
        int row = terminal_find(terminal, "▶Class00039");
        assert_int_not_equal(terminal_cell(terminal, row, 3).background, -1);
        e2e_quit(terminal);
    }
}

static void
an_unknown_theme_is_wrong_use(void **state)
{
    const char *const arguments[] = {MEMTOP, "--theme", "pink", NULL};
    struct outcome outcome = program_run(arguments, NULL);

    (void)state;
    assert_int_equal(outcome.status, 2);
    assert_non_null(strstr(outcome.err, "colorblind"));
    outcome_destroy(&outcome);
}

static void
draws_ascii_alone_where_the_locale_or_the_user_says_so(void **state)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    static const char *const ascii[] = {"--ascii", NULL};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct terminal *terminal = i ? view(NULL, ascii) : view(environment, NULL);
        terminal_type(terminal, "?");
        assert_true(terminal_shows(terminal, "help"));
        for (const char *at = terminal_written(terminal); *at; at++) {
            assert_in_range((unsigned char)*at, 1, 0x7f);
        }
        e2e_quit(terminal);
    }
}

static void
leaves_the_mouse_alone_when_told_to(void **state)
{
    static const char *const options[] = {"--no-mouse", NULL};
    struct terminal *terminal = view(NULL, options);

    (void)state;
    assert_false(terminal_mouse(terminal));
    e2e_quit(terminal);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quitting_gives_the_terminal_back),
        cmocka_unit_test(a_signal_gives_the_terminal_back_and_still_ends_it),
        cmocka_unit_test(a_crash_gives_the_terminal_back_and_still_ends_it),
        cmocka_unit_test(a_closed_window_ends_it),
        cmocka_unit_test(a_shell_can_suspend_it_and_bring_it_back),
        cmocka_unit_test(suspending_where_no_shell_is_goes_straight_on),
        cmocka_unit_test(follows_the_terminals_size_down_to_too_small_and_back),
        cmocka_unit_test(a_terminal_that_cannot_show_it_is_refused_in_words),
        cmocka_unit_test(writes_no_colour_with_no_color_or_the_mono_theme),
        cmocka_unit_test(colours_are_there_otherwise),
        cmocka_unit_test(an_unknown_theme_is_wrong_use),
        cmocka_unit_test(draws_ascii_alone_where_the_locale_or_the_user_says_so),
        cmocka_unit_test(leaves_the_mouse_alone_when_told_to),
    };

    return cmocka_run_group_tests(tests, start_feeder, stop_feeder);
}
