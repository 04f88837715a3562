// The viewer beside a command that memtop started.
#include "tui/app_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"
#include "tui/text/scroll.h"

struct scene {
    struct fixture fixture;
    struct scroll *output;
};

static void
say(struct scene *scene, const char *text)
{
    assert_true(scroll_feed(scene->output, text, strlen(text)));
}

static void
say_lines(struct scene *scene, int from, int to)
{
    char line[32];
    for (int i = from; i < to; i++) {
        snprintf(line, sizeof(line), "line %d.\n", i);
        say(scene, line);
    }
}

static int
begin(void **state)
{
    static struct scene scene;
    scene.output = scroll_new(100000);
    fixture_start(&scene.fixture,
                  (struct fixture_options){.command = true, .output = scene.output});
    fixture_demo(&scene.fixture);
    free(fixture_screen(&scene.fixture, 80, 14)); // 11 lines of output
    *state = &scene;
    return 0;
}

static int
end(void **state)
{
    struct scene *scene = *state;
    fixture_stop(&scene->fixture);
    scroll_free(scene->output);
    return 0;
}

static void
draw(struct scene *scene)
{
    app_draw(scene->fixture.app, &scene->fixture.grid, scene->fixture.now_ms);
}

static void
expect(struct scene *scene, const char *text, bool there)
{
    draw(scene);
    if ((fixture_row_of(&scene->fixture, text) >= 0) != there) {
        char *screen = grid_text(&scene->fixture.grid);
        fail_msg("\"%s\" %s on the screen:\n%s", text, there ? "is not" : "is", screen);
    }
}

static void
output_is_followed_until_somebody_scrolls_up(void **state)
{
    struct scene *scene = *state;
    fixture_keys(&scene->fixture, "O");
    expect(scene, "It has written nothing yet.", true);
    say_lines(scene, 0, 100);
    assert_int_equal(app_command_wrote(scene->fixture.app), REACT_DRAW);
    expect(scene, "line 99.", true);
    expect(scene, "line 89.", true);
    expect(scene, "line 88.", false);
    expect(scene, "following, 100 of 100 lines", true);
    fixture_keys(&scene->fixture, "kk");
    say_lines(scene, 100, 200);
    expect(scene, "line 97.", true);
    expect(scene, "line 98.", false);
    expect(scene, "98 of 200 lines", true);
    fixture_keys(&scene->fixture, "G");
    say_lines(scene, 200, 201);
    expect(scene, "line 200.", true);
    fixture_keys(&scene->fixture, "g");
    expect(scene, "line 0.", true);
    expect(scene, "line 10.", true);
    expect(scene, "line 11.", false);
    fixture_keys(&scene->fixture, "<PgUp><PgDn>");
    expect(scene, "line 20.", true);
    fixture_keys(&scene->fixture, "q");
    expect(scene, "output of the command", false);
    assert_int_equal(app_command_wrote(scene->fixture.app), REACT_NOTHING);
}

static void
what_scrolled_out_of_memory_is_said_to_be_left_out(void **state)
{
    struct scene *scene = *state;
    fixture_keys(&scene->fixture, "O");
    say_lines(scene, 0, 100);
    fixture_keys(&scene->fixture, "g");
    expect(scene, "line 0.", true);
    say_lines(scene, 100, 10000);
    expect(scene, "the oldest left out", true);
    expect(scene, "line 0.", false);
}

static void
words_are_looked_for_upwards_and_down_again(void **state)
{
    struct scene *scene = *state;
    say_lines(scene, 0, 500);
    fixture_keys(&scene->fixture, "O/line 7<Enter>");
    expect(scene, "line 79.", true);
    fixture_keys(&scene->fixture, "nnnnnnnnn");
    expect(scene, "line 70.", true);
    fixture_keys(&scene->fixture, "n");
    expect(scene, "line 7.", true);
    fixture_keys(&scene->fixture, "n");
    expect(scene, "no further line has it", true);
    fixture_keys(&scene->fixture, "N");
    expect(scene, "line 70.", true);
    fixture_keys(&scene->fixture, "/nowhere<Enter>");
    expect(scene, "no line has \"nowhere\"", true);
}

static void
hostile_output_is_escaped_and_long_lines_are_scrolled_aside(void **state)
{
    struct scene *scene = *state;
    char wide[301];
    memset(wide, 'a', 300);
    memcpy(wide + 90, "there", 5);
    wide[300] = '\0';
    say(scene, "\033[2Jright \342\200\256 left \377\n");
    say(scene, wide);
    fixture_keys(&scene->fixture, "O");
    expect(scene, "right \\u{202e} left \\xFF", true);
    expect(scene, "there", false);
    fixture_keys(&scene->fixture, "<Right><Right>");
    expect(scene, "there", true);
    fixture_keys(&scene->fixture, "<Left><Left><Left>");
    expect(scene, "right", true);
}

static void
quitting_asks_what_becomes_of_the_command(void **state)
{
    struct scene *scene = *state;
    static const char *const ways[] = {"q", "Q", "<^C>", ":quit<Enter>"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        fixture_keys(&scene->fixture, ways[i]);
        assert_false(scene->fixture.reactions & REACT_QUIT);
        expect(scene, "The program still runs: stop it?", true);
        fixture_keys(&scene->fixture, i % 2 ? "<Esc>" : "x"); // no answer stays
        expect(scene, "The program still runs", false);
        assert_int_equal(app_parting(scene->fixture.app), APP_PARTING_NONE);
    }
    fixture_keys(&scene->fixture, "qn");
    assert_true(scene->fixture.reactions & REACT_QUIT);
    assert_int_equal(app_parting(scene->fixture.app), APP_PARTING_LEAVE);
    fixture_keys(&scene->fixture, "qy");
    assert_true(scene->fixture.reactions & REACT_QUIT);
    assert_int_equal(app_parting(scene->fixture.app), APP_PARTING_STOP);
}

static void
a_command_that_ended_is_left_without_a_question(void **state)
{
    struct scene *scene = *state;
    app_command_ended(scene->fixture.app, "the command ended with status 5");
    expect(scene, "the command ended with status 5; q quits", true);
    assert_false(app_command_runs(scene->fixture.app));
    fixture_keys(&scene->fixture, "q");
    assert_true(scene->fixture.reactions & REACT_QUIT);
}

static void
elsewhere_there_is_no_output(void **state)
{
    struct scene *scene = *state;
    struct fixture other;
    fixture_start(&other, (struct fixture_options){0});
    fixture_demo(&other);
    free(fixture_screen(&other, 118, 16));
    fixture_keys(&other, "O");
    app_draw(other.app, &other.grid, other.now_ms);
    assert_true(fixture_row_of(&other, "memtop run keeps it") >= 0);
    fixture_keys(&other, "q");
    assert_true(other.reactions & REACT_QUIT);
    fixture_stop(&other);
    fixture_keys(&scene->fixture, ":find x<Enter>");
    expect(scene, "find: looks in the output", true);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(output_is_followed_until_somebody_scrolls_up,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            what_scrolled_out_of_memory_is_said_to_be_left_out, begin, end),
        cmocka_unit_test_setup_teardown(words_are_looked_for_upwards_and_down_again,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            hostile_output_is_escaped_and_long_lines_are_scrolled_aside, begin, end),
        cmocka_unit_test_setup_teardown(quitting_asks_what_becomes_of_the_command, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_command_that_ended_is_left_without_a_question,
                                        begin, end),
        cmocka_unit_test_setup_teardown(elsewhere_there_is_no_output, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
