// Every key of the viewer's help, pressed in the real viewer.
#include "e2e.h"

struct scene {
    struct program feeder;
    struct terminal *terminal;
};

static struct scene scene;

static int
open_viewer(void **state)
{
    (void)state;
    scene.terminal = e2e_view(e2e_feed(&scene.feeder, "40", "well"));
    return terminal_shows(scene.terminal, "Class00039") ? 0 : -1;
}

static int
close_viewer(void **state)
{
    (void)state;
    terminal_free(scene.terminal);
    program_kill(&scene.feeder);
    return 0;
}

static void
press(const char *keys)
{
    terminal_type(scene.terminal, keys);
}

static void
expect(const char *text)
{
    assert_true(terminal_shows(scene.terminal, text));
}

static void
press_and_expect(const char *keys, const char *text)
{
    press(keys);
    expect(text);
}

// The first row of the table, whatever it is sorted by.
#define FIRST_ROW 3

static void
shows_the_program_and_its_classes(void **state)
{
    (void)state;
    expect("ruby feeder.rb");
    expect("ruby 3.1.2");
    expect("LIVE");
    expect("GC 412");
    assert_int_equal(terminal_find(scene.terminal, "▶Class00039"), FIRST_ROW);
    expect("? help");
}

static void
moves(void **state)
{
    static const struct {
        const char *key;
        const char *row;
    } moves[] = {
        {"j",      "▶Class00038"},
        {"\033OB", "▶Class00037"},
        {"k",      "▶Class00038"},
        {"\033OA", "▶Class00039"},
        {"G",      "▶Class00001"},
        {"g",      "▶Class00039"},
        {"\033OF", "▶Class00001"},
        {"\033OH", "▶Class00039"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
        press_and_expect(moves[i].key, moves[i].row);
    }
}

static void
moves_by_screens(void **state)
{
    static const char *const pairs[][2] = {
        {"\033[6~", "\033[5~"},
        {"\x06",    "\x02"   },
        {"\x04",    "\x15"   }
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        press(pairs[i][0]);
        assert_true(terminal_hides(scene.terminal, "▶Class00039"));
        press_and_expect(pairs[i][1], "▶Class00039");
    }
}

static void
filters_as_it_is_typed(void **state)
{
    (void)state;
    press("/0001");
    assert_true(terminal_hides(scene.terminal, "Class00039"));
    expect("Class00019");
    press("\r");
    press("n");
    press("N");
    press_and_expect("\\g", "Class00039");
    press("/live>385\r");
    assert_true(terminal_hides(scene.terminal, "Class00038"));
    expect("Class00039");
    press_and_expect("\033OS", "Class00038"); // F4
}

static void
orders_by_any_column(void **state)
{
    (void)state;
    expect("LIVE ↓");
    press_and_expect("1", "CLASS ↑");
    assert_true(terminal_row_shows(scene.terminal, FIRST_ROW, "Class00001"));
    press_and_expect("I", "CLASS ↓");
    assert_true(terminal_row_shows(scene.terminal, FIRST_ROW, "Class00039"));
    press_and_expect("2", "LIVE ↓");
    press_and_expect("<", "CLASS");
    press_and_expect(">", "LIVE ↓");
    press_and_expect("s", "order by");
    press("\033");
    assert_true(terminal_hides(scene.terminal, "order by"));
    press_and_expect("\033[17~", "order by"); // F6
}

static void
marks_and_shows_what_changed_since(void **state)
{
    (void)state;
    press_and_expect("m", "mark A is set");
    program_tell(&scene.feeder, "step");
    expect("since A");
    expect("+39");
    press("d");
    assert_true(terminal_hides(scene.terminal, "since A"));
    press_and_expect("d", "since A");
    press_and_expect("'", "A");
}

static void
a_paused_screen_stands_still_and_goes_on(void **state)
{
    (void)state;
    press_and_expect(" ", "PAUSED");
    program_tell(&scene.feeder, "step");
    // what came meanwhile is there once the screen goes on, and not before
    press_and_expect("j", "▶Class00038");
    assert_int_equal(terminal_find(scene.terminal, " 429 "), -1);
    press_and_expect(" ", "LIVE");
    expect(" 429 ");
    press_and_expect(" ", "PAUSED");
    press_and_expect("L", "LIVE");
}

static void
shows_internals_other_measures_and_units(void **state)
{
    (void)state;
    press_and_expect("iG", "▶(iseq)");
    press("a");
    assert_true(terminal_hides(scene.terminal, "(iseq)"));
    press("%");
    press("u");
    press("F");
    expect("Class");
}

static void
opens_and_closes_its_help_and_notices(void **state)
{
    (void)state;
    press_and_expect("?", "help: classes");
    press("\033");
    assert_true(terminal_hides(scene.terminal, "help: classes"));
    press_and_expect("\033OP", "help: classes"); // F1
    press("q");
    assert_true(terminal_hides(scene.terminal, "help: classes"));
    program_tell(&scene.feeder, "notice tracing runs beside it");
    expect("tracing runs beside it");
    press_and_expect("!", "notices from the probe");
}

static void
asks_before_it_runs_the_garbage_collector(void **state)
{
    (void)state;
    press_and_expect("\x07", "y/n");
    press("n");
    assert_true(terminal_hides(scene.terminal, "y/n"));
    press_and_expect("\x07", "y/n");
    press("y");
    assert_true(program_says(&scene.feeder, "request 1"));
    expect("done");
}

static void
asks_for_a_census(void **state)
{
    (void)state;
    press("c");
    assert_true(program_says(&scene.feeder, "request 2"));
}

static void
redraws_everything_when_asked(void **state)
{
    (void)state;
    terminal_look(scene.terminal);
    size_t before = terminal_written_bytes(scene.terminal);
    press("\x0cj");
    expect("▶Class00038");
    assert_non_null(strstr(terminal_written(scene.terminal) + before, "ruby feeder.rb"));
}

static void
takes_commands(void **state)
{
    (void)state;
    press(":sort name\r");
    expect("CLASS ↑");
    press_and_expect(":nonsense\r", "no command");
}

static void
writes_what_is_shown_to_a_file(void **state)
{
    char command[300];
    char words[300];
    char line[200] = "";
    char all[4000] = "";
    const char *path = program_path("written.txt");

    (void)state;
    snprintf(command, sizeof(command), ":write %s\r", path);
    snprintf(words, sizeof(words), "written to %s", path);
    press(command);
    expect(words);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        strncat(all, line, sizeof(all) - strlen(all) - 1);
    }
    fclose(file);
    assert_non_null(strstr(all, "Class00039"));
    assert_null(strchr(all, '\033'));
    assert_null(strstr(all, ":write"));
    press(command);
    expect("exists");
    // the default name has the program's pid and the time, in the current folder
    press_and_expect("w", "written to memtop-");
    press(":write /no/such/folder/file\r");
    expect("No such file or directory");
    assert_true(terminal_shows(scene.terminal, "Class00039"));
}

static void
the_mouse_selects_a_row_and_scrolls(void **state)
{
    (void)state;
    terminal_click(scene.terminal, FIRST_ROW + 4, 5);
    expect("▶Class00035");
    terminal_wheel(scene.terminal, true, FIRST_ROW, 5);
    assert_true(terminal_hides(scene.terminal, "Class00039"));
    press_and_expect(":mouse off\r", "the terminal's again");
    assert_false(terminal_mouse(scene.terminal));
    press_and_expect(":mouse on\r", "works here");
    assert_true(terminal_mouse(scene.terminal));
}

static void
says_when_a_key_does_nothing(void **state)
{
    (void)state;
    press_and_expect("Z", "no such key");
}

static void
leaves_by_any_of_its_keys(void **state)
{
    static const char *const keys[] = {"q", "Q", "\033[21~", "\x03"};

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        struct terminal *terminal = e2e_view(program_path("peer.sock"));
        int status;
        assert_true(terminal_shows(terminal, "Class00039"));
        terminal_type(terminal, keys[i]);
        assert_true(terminal_ends(terminal, &status));
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        terminal_free(terminal);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shows_the_program_and_its_classes, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(moves, open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(moves_by_screens, open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(filters_as_it_is_typed, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(orders_by_any_column, open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(marks_and_shows_what_changed_since, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(a_paused_screen_stands_still_and_goes_on,
                                        open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(shows_internals_other_measures_and_units,
                                        open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(opens_and_closes_its_help_and_notices,
                                        open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(asks_before_it_runs_the_garbage_collector,
                                        open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(asks_for_a_census, open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(redraws_everything_when_asked, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(takes_commands, open_viewer, close_viewer),
        cmocka_unit_test_setup_teardown(writes_what_is_shown_to_a_file, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(the_mouse_selects_a_row_and_scrolls, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(says_when_a_key_does_nothing, open_viewer,
                                        close_viewer),
        cmocka_unit_test_setup_teardown(leaves_by_any_of_its_keys, open_viewer,
                                        close_viewer),
    };

    // what w writes goes where it is cleaned up
    if (chdir(program_folder()) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
