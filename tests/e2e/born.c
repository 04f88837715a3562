// What was born between two marks, and what changed, in a real Ruby program.
#include "e2e.h"

struct scene {
    struct program ruby;
    char socket[200];
    struct terminal *terminal;
};

static struct scene scene;

// Have the program do something, and wait until it has.
static void
ruby_does(const char *line)
{
    program_tell(&scene.ruby, line);
    assert_true(program_says(&scene.ruby, "done"));
}

static int
set_up(void **state)
{
    char setting[300];
    (void)state;
    snprintf(scene.socket, sizeof(scene.socket), "%s", program_path("born.sock"));
    snprintf(setting, sizeof(setting), "MEMTOP_SOCKET=%s", scene.socket);
    const char *const environment[] = {setting, "MEMTOP_INTERVAL=0.2", "RUBYOPT", NULL};
    const char *const arguments[] = {RUBY,          "-I", RUBY_LIB, "-r",
                                     "memtop/auto", APP,  NULL};

    program_start(&scene.ruby, arguments, environment);
    assert_true(program_says(&scene.ruby, "ready"));
    // an object on a thread's stack goes with the thread: none is held by accident
    ruby_does("def away(&work) = Thread.new(&work).join");
    ruby_does("CACHE = []; away { KEPT.concat(Array.new(700) { Order.new }) }");
    scene.terminal = e2e_view(scene.socket);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    program_kill(&scene.ruby);
    return 0;
}

static void
shows(const char *text)
{
    if (!terminal_shows(scene.terminal, text)) {
        fail_msg("\"%s\" never was on the screen", text);
    }
}

// Between A and B a cache fills, empties and is collected, and 1 234 orders leak.
static void
play_between_marks(void)
{
    terminal_type(scene.terminal, "/Order\r");
    shows("  700 ");
    terminal_type(scene.terminal, "m");
    shows("mark A is set");
    ruby_does("away { CACHE.concat(Array.new(5000) { Session.new }) }");
    ruby_does("CACHE.clear; away { GC.start }");
    ruby_does("away { KEPT.concat(Array.new(1234) { Order.new }) }");
    shows(" 1 934 ");
    terminal_type(scene.terminal, "m");
    shows("mark B is set");
}

static void
a_cache_is_not_among_what_was_kept_and_a_leak_is_exactly(void **state)
{
    (void)state;
    play_between_marks();
    ruby_does("away { KEPT.concat(Array.new(55) { Order.new }); GC.start }");
    shows(" 1 989 ");
    terminal_type(scene.terminal, "D");
    shows("born A to B, alive now");
    shows(" ran between B and now");
    terminal_type(scene.terminal, "/order\r");
    shows("Exactly 1 234 objects, born between A");
    terminal_type(scene.terminal, "/\x15session\r");
    shows("Nothing that the filter shows");
    terminal_type(scene.terminal, "\033");
    ruby_does("KEPT.clear; away { GC.start }"); // and the leak is mended
    terminal_type(scene.terminal, "/order\r");
    shows("Nothing that the filter shows");
    e2e_quit(scene.terminal);
}

// The marks are set at moments at which the tree is there.
static void
what_was_kept_of_an_open_class_has_call_paths(void **state)
{
    (void)state;
    ruby_does("def leak = KEPT.concat(Array.new(10) { Order.new })");
    terminal_type(scene.terminal, "/Order\r");
    shows("▶Order");
    terminal_type(scene.terminal, "\r");
    shows("(before tracing)");
    ruby_does("away { 1.times { leak } }");
    shows("  710  100.0 %");
    terminal_type(scene.terminal, "m");
    shows("mark A is set");
    ruby_does("away { 3.times { leak } }");
    shows("  740  100.0 %");
    terminal_type(scene.terminal, "m");
    shows("mark B is set");
    // the 30 and five of the ten before are left: the counts of the class alone would
    // allow that all or none of those 30 went, those of its paths do not
    ruby_does("l = KEPT.last(35).map(&:itself); KEPT.clear; KEPT.concat(l); l = nil");
    ruby_does("away { GC.start }");
    shows("   35  100.0 %");
    terminal_type(scene.terminal, "D");
    shows("Order ▸ paths, born A to B, alive now");
    shows("Object#leak (eval):1 ▸ Class#new");
    shows("Exactly 30 objects of these paths");
    e2e_quit(scene.terminal);
}

static void
a_recording_is_compared_in_the_viewer(void **state)
{
    char line[400];
    const char *path = program_path("born.memtop");
    const char *const arguments[] = {MEMTOP, "diff", path, "--view", NULL};
    (void)state;
    unlink(path);
    terminal_type(scene.terminal, "/Order\r");
    shows("  700 ");
    snprintf(line, sizeof(line), ":record %s\r", path);
    terminal_type(scene.terminal, line);
    shows("REC");
    ruby_does("away { KEPT.concat(Array.new(1234) { Order.new }) }");
    shows(" 1 934 ");
    terminal_type(scene.terminal, "R");
    assert_true(terminal_hides(scene.terminal, "REC"));
    e2e_quit(scene.terminal);
    scene.terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    shows("what changed");
    terminal_type(scene.terminal, "/order\r");
    shows("grown");
    shows("+1 234");
    e2e_quit(scene.terminal);
    unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_cache_is_not_among_what_was_kept_and_a_leak_is_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_kept_of_an_open_class_has_call_paths,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_recording_is_compared_in_the_viewer, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
