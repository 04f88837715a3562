// The viewer on a program that it attached to itself, and detaching from there.
#include "e2e.h"

static struct program program;
static char pid[16];

// A Ruby without the probe.
static int
set_up(void **state)
{
    static const char script[] =
        "$stdout.sync = true; class Order; end; KEPT = Array.new(54_321) { Order.new }; "
        "puts :ready; while gets; p !!(defined?(Memtop) && Memtop.running?); end";
    static char setting[300];
    const char *const arguments[] = {RUBY, "-e", script, NULL};
    const char *const environment[] = {setting, "RUBYOPT", NULL};

    (void)state;
    snprintf(setting, sizeof(setting), "MEMTOP_SOCKET=%s", program_path("ruby.sock"));
    program_start(&program, arguments, environment);
    assert_true(program_says(&program, "ready"));
    snprintf(pid, sizeof(pid), "%ld", (long)program.pid);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    program_kill(&program);
    return 0;
}

static struct terminal *
attach(const char *option)
{
    const char *arguments[] = {MEMTOP, "attach", pid, option, NULL};
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    terminal_type(terminal, "/Order\r");
    assert_true(terminal_shows(terminal, "54 321"));
    return terminal;
}

static void
attached_it_shows_what_is_alive(void **state)
{
    (void)state;
    e2e_quit(attach(NULL));
    program_tell(&program, "?");
    assert_true(program_says(&program, "true"));
}

static void
detaching_asks_and_keeps_what_was_seen(void **state)
{
    struct terminal *terminal = attach(NULL);

    (void)state;
    terminal_type(terminal, ":detach\r");
    assert_true(terminal_shows(terminal, "Take the probe out"));
    terminal_type(terminal, "n");
    assert_true(terminal_hides(terminal, "Take the probe out"));
    terminal_type(terminal, ":detach\r");
    assert_true(terminal_shows(terminal, "Take the probe out"));
    terminal_type(terminal, "y");
    assert_true(terminal_shows(terminal, "the probe was stopped"));
    assert_true(terminal_shows(terminal, "54 321"));
    program_tell(&program, "?");
    assert_true(program_says(&program, "false"));
    e2e_quit(terminal);
}

static void
a_viewer_that_only_looks_does_not_detach(void **state)
{
    struct terminal *terminal = attach("--readonly");

    (void)state;
    terminal_type(terminal, ":detach\r");
    assert_true(terminal_shows(terminal, "detach: refused"));
    e2e_quit(terminal);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(attached_it_shows_what_is_alive, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(detaching_asks_and_keeps_what_was_seen, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_viewer_that_only_looks_does_not_detach, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
