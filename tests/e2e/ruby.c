// The real viewer on a real Ruby program with the real probe in it.
#include <poll.h>
#include <sys/stat.h>

#include "e2e.h"

struct scene {
    struct program ruby;
    char socket[200];
};

static struct scene scene;

static void
start_ruby(const char *socket)
{
    char setting[300];
    snprintf(setting, sizeof(setting), "MEMTOP_SOCKET=%s", socket);
    const char *const environment[] = {setting, "MEMTOP_INTERVAL=0.2", "RUBYOPT", NULL};
    const char *const arguments[] = {RUBY,          "-I", RUBY_LIB, "-r",
                                     "memtop/auto", APP,  NULL};

    program_start(&scene.ruby, arguments, environment);
    assert_true(program_says(&scene.ruby, "ready"));
}

static int
set_up(void **state)
{
    (void)state;
    snprintf(scene.socket, sizeof(scene.socket), "%s", program_path("ruby.sock"));
    start_ruby(scene.socket);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    program_kill(&scene.ruby);
    return 0;
}

// Have the program do something, and wait until it has.
static void
ruby_does(const char *line)
{
    program_tell(&scene.ruby, line);
    assert_true(program_says(&scene.ruby, "done"));
}

static void
shows_classes_as_they_grow(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    assert_true(terminal_shows(terminal, "LIVE"));
    assert_true(terminal_shows(terminal, "String"));
    ruby_does("KEPT.concat(Array.new(54_321) { Order.new })");
    terminal_type(terminal, "/Order\r");
    assert_true(terminal_shows(terminal, "54 321"));
    assert_true(terminal_shows(terminal, "+54 321"));
    ruby_does("KEPT.clear; GC.start");
    assert_true(terminal_hides(terminal, "  54 321"));
    e2e_quit(terminal);
}

static void
once_counts_exactly(void **state)
{
    const char *const arguments[] = {MEMTOP, "--socket", scene.socket, "--json", NULL};

    (void)state;
    ruby_does("KEPT.concat(Array.new(1234) { Order.new })");
    struct outcome outcome = program_run(arguments, NULL);
    assert_int_equal(outcome.status, 0);
    const char *order = strstr(outcome.out, "\"name\": \"Order\"");
    assert_non_null(order);
    assert_non_null(strstr(order, "\"live\": 1234,"));
    outcome_destroy(&outcome);
}

static void
a_garbage_collection_can_be_asked_for(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    ruby_does("Array.new(7777) { Session.new }; nil");
    terminal_type(terminal, "/Session\r");
    // the blanks tell it from a change of as many
    assert_true(terminal_shows(terminal, "  7 777 "));
    terminal_type(terminal, "\x07");
    assert_true(terminal_shows(terminal, "y/n"));
    terminal_type(terminal, "y");
    assert_true(terminal_hides(terminal, "  7 777 "));
    e2e_quit(terminal);
}

static void
a_killed_program_is_shown_gone_with_its_last_data(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    ruby_does("KEPT.concat(Array.new(54_321) { Order.new })");
    assert_true(terminal_shows(terminal, "54 321"));
    program_kill(&scene.ruby);
    assert_true(terminal_shows(terminal, "GONE"));
    assert_true(terminal_shows(terminal, "54 321"));
    terminal_type(terminal, "/Order\r");
    assert_true(terminal_hides(terminal, "String"));
    assert_true(terminal_shows(terminal, "54 321"));
    e2e_quit(terminal);
}

static void
a_program_that_exits_says_its_status(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    assert_true(terminal_shows(terminal, "String"));
    program_tell(&scene.ruby, "exit 7");
    program_wait(&scene.ruby);
    assert_true(terminal_shows(terminal, "GONE"));
    assert_true(terminal_shows(terminal, "exit status 7"));
    e2e_quit(terminal);
}

static void
a_restarted_program_is_watched_again(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    ruby_does("KEPT.concat(Array.new(54_321) { Order.new })");
    assert_true(terminal_shows(terminal, "54 321"));
    program_kill(&scene.ruby);
    assert_true(terminal_shows(terminal, "GONE"));
    start_ruby(scene.socket);
    ruby_does("KEPT.concat(Array.new(12_345) { Session.new })");
    assert_true(terminal_shows(terminal, "LIVE"));
    assert_true(terminal_shows(terminal, "12 345"));
    e2e_quit(terminal);
}

// The same process, another program: its socket closes and opens again.
static void
an_exec_under_the_viewer_is_followed(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);
    char line[600];

    (void)state;
    ruby_does("KEPT.concat(Array.new(54_321) { Order.new })");
    assert_true(terminal_shows(terminal, "54 321"));
    snprintf(line, sizeof(line), "exec('%s', '-I', '%s', '-r', 'memtop/auto', '%s')",
             RUBY, RUBY_LIB, APP);
    program_tell(&scene.ruby, line);
    assert_true(program_says(&scene.ruby, "ready"));
    ruby_does("KEPT.concat(Array.new(12_345) { Session.new })");
    assert_true(terminal_shows(terminal, "12 345"));
    assert_true(terminal_shows(terminal, "LIVE"));
    e2e_quit(terminal);
}

// A child has a socket of its own; the parent's viewer must not notice it.
static void
a_fork_under_the_viewer_leaves_it_with_the_parent(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    assert_true(terminal_shows(terminal, "String"));
    ruby_does("$child = fork { KEPT.concat(Array.new(77_777) { Session.new }); sleep }");
    ruby_does("KEPT.concat(Array.new(54_321) { Order.new })");
    assert_true(terminal_shows(terminal, "54 321"));
    assert_int_equal(terminal_find(terminal, "77 777"), -1);
    ruby_does("Process.kill(:KILL, $child); Process.wait($child)");
    ruby_does("KEPT.concat(Array.new(345) { Order.new })");
    assert_true(terminal_shows(terminal, "54 666"));
    assert_true(terminal_shows(terminal, "LIVE"));
    e2e_quit(terminal);
}

/*
 * A viewer that is stopped reads nothing. The program must do its work as if
 * nobody watched, and the viewer must be right again once it is woken.
 */
static void
a_stopped_viewer_does_not_hold_the_program_up(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    assert_true(terminal_shows(terminal, "String"));
    kill(terminal_pid(terminal), SIGSTOP);
    // many new classes and many samples: far more than a socket holds
    for (int i = 0; i < 30; i++) {
        ruby_does("1000.times { KEPT << Class.new.new }; KEPT << Order.new");
    }
    ruby_does("KEPT.concat(Array.new(54_321 - 30) { Order.new })");
    kill(terminal_pid(terminal), SIGCONT);
    assert_true(terminal_shows(terminal, "54 321"));
    assert_true(terminal_shows(terminal, "LIVE"));
    e2e_quit(terminal);
}

static void
a_killed_viewer_leaves_the_program_alone(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    assert_true(terminal_shows(terminal, "String"));
    kill(terminal_pid(terminal), SIGKILL);
    terminal_free(terminal);
    ruby_does("KEPT.concat(Array.new(54_321) { Order.new })");
    terminal = e2e_view(scene.socket);
    assert_true(terminal_shows(terminal, "54 321"));
    e2e_quit(terminal);
}

static void
hostile_class_names_are_escaped(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);

    (void)state;
    ruby_does("c = Class.new; c.define_singleton_method(:name) { \"\\e[2Jlies\" }; "
              "KEPT.concat(Array.new(54_321) { c.new })");
    assert_true(terminal_shows(terminal, "54 321"));
    assert_null(strstr(terminal_written(terminal), "\033[2Jlies"));
    e2e_quit(terminal);
}

static void
finds_a_program_by_its_pid(void **state)
{
    char setting[300];
    char pid[32];

    (void)state;
    program_kill(&scene.ruby);
    snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s", program_folder());
    const char *const environment[] = {setting, "MEMTOP_SOCKET", NULL};
    const char *const program[] = {RUBY, "-I", RUBY_LIB, "-r", "memtop/auto", APP, NULL};
    program_start(&scene.ruby, program, environment);
    assert_true(program_says(&scene.ruby, "ready"));
    snprintf(pid, sizeof(pid), "%ld", (long)scene.ruby.pid);
    const char *const arguments[] = {MEMTOP, pid, NULL};
    struct outcome outcome = program_run(arguments, environment);
    assert_string_equal(outcome.err, "");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "app.rb"));
    outcome_destroy(&outcome);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shows_classes_as_they_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(once_counts_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_garbage_collection_can_be_asked_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_killed_program_is_shown_gone_with_its_last_data,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_program_that_exits_says_its_status, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_restarted_program_is_watched_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_exec_under_the_viewer_is_followed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_fork_under_the_viewer_leaves_it_with_the_parent,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stopped_viewer_does_not_hold_the_program_up,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_killed_viewer_leaves_the_program_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(hostile_class_names_are_escaped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(finds_a_program_by_its_pid, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
