// What was born between two marks, and what changed between two moments: which ones are
// meant, live, paused, rewound and with another recording.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tui/orders.h"
#include "tui/app_state.h"

#define COLUMNS 118
#define ROWS 30

static void
press(struct fixture *fixture, const char *keys)
{
    fixture_keys(fixture, keys);
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

static bool
shows(struct fixture *fixture, const char *text)
{
    free(fixture_screen(fixture, COLUMNS, ROWS));
    return fixture_row_of(fixture, text) >= 0;
}

static void
expect(struct fixture *fixture, const char *text)
{
    if (!shows(fixture, text)) {
        fail_msg("\"%s\" is not on the screen:\n%s", text, grid_text(&fixture->grid));
    }
}

static void
pass(struct fixture *fixture, int seconds)
{
    for (int second = 0; second < seconds; second++) {
        fixture_demo_second(fixture);
    }
}

// Marks A, B and C, ten seconds apart, and ten more.
static void
begin(struct fixture *fixture)
{
    fixture_start(fixture, (struct fixture_options){0});
    fixture_demo(fixture);
    free(fixture_screen(fixture, COLUMNS, ROWS));
    for (int mark = 0; mark < 3; mark++) {
        press(fixture, "m");
        pass(fixture, 10);
    }
}

static void
takes_the_last_two_marks_before_the_moment_that_is_shown(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, "D");
    expect(&fixture, "born B to C, alive now");
    expect(&fixture, "Order ");
    press(&fixture, ":goto -15s<Enter>"); // between B and C
    expect(&fixture, "born A to B, alive then");
    press(&fixture, ":goto C<Enter>"); // at C itself: what is alive at it
    expect(&fixture, "born A to B, alive at C");
    press(&fixture, ":goto B<Enter>"); // two marks are enough
    expect(&fixture, "born A to B, alive then");
    press(&fixture, ":goto A<Enter>");
    expect(&fixture, "The moment shown lies before mark B.");
    press(&fixture, "L");
    expect(&fixture, "born B to C, alive now");
    fixture_stop(&fixture);
}

static void
marks_can_be_chosen_in_any_order(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, ":born c a<Enter>");
    expect(&fixture, "born A to C, alive now");
    expect(&fixture, "  820  exact");
    press(&fixture, ":born A<Enter>");
    expect(&fixture, "born A to C, alive now");
    press(&fixture, ":born C<Enter>"); // the one before it
    expect(&fixture, "born B to C, alive now");
    press(&fixture, ":born<Enter>");
    expect(&fixture, "born B to C, alive now");
    expect(&fixture, "  410  exact");
    press(&fixture, ":born A Z<Enter>");
    expect(&fixture, "born: mark Z is not set");
    press(&fixture, ":born A A<Enter>");
    expect(&fixture, "born: two different marks are wanted");
    press(&fixture, ":born A B C<Enter>");
    expect(&fixture, "born: the letters of two marks are wanted");
    press(&fixture, "<Esc>");
    expect(&fixture, "CLASS   ");
    fixture_stop(&fixture);
}

static void
follows_the_program_and_its_marks_while_it_is_open(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, "D");
    expect(&fixture, "     410  exact");
    pass(&fixture, 20);
    expect(&fixture, "     410  exact"); // B to C is over
    press(&fixture, "m");
    expect(&fixture, "born C to D, alive now");
    expect(&fixture, "   1 230  exact");
    press(&fixture, " ");
    pass(&fixture, 5);
    expect(&fixture, "born C to D, alive then");
    fixture_stop(&fixture);
}

static void
a_mark_that_the_ring_dropped_is_said_to_be_lost(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_start(&fixture, (struct fixture_options){.ring_bytes = 65536});
    fixture_demo(&fixture);
    free(fixture_screen(&fixture, COLUMNS, ROWS));
    press(&fixture, "m");
    pass(&fixture, 10);
    press(&fixture, "mD");
    expect(&fixture, "     410  exact");
    pass(&fixture, 1800);
    expect(&fixture, "     410  exact"); // what was found while it was there stays
    press(&fixture, "<Esc>");
    press(&fixture, "D");
    expect(&fixture, "What lived at mark A is not known any more.");
    pass(&fixture, 1);
    press(&fixture, "m");
    pass(&fixture, 1);
    press(&fixture, "m");
    expect(&fixture, "      41  exact");
    fixture_stop(&fixture);
}

static void
keys_move_sort_and_filter(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, "D");
    expect(&fixture, "▶Order");
    press(&fixture, "j");
    expect(&fixture, "▶String");
    pass(&fixture, 1);
    expect(&fixture, "▶String");
    press(&fixture, "<");
    expect(&fixture, "CLASS ↑");
    expect(&fixture, "▶String"); // with its class
    press(&fixture, "g");
    expect(&fixture, "▶ActionDispatch::Request");
    press(&fixture, "/ord");
    expect(&fixture, "▶Order");
    press(&fixture, "<Enter><Esc>"); // first the filter goes
    expect(&fixture, "String  ");
    press(&fixture, ":sort rate<Enter>");
    expect(&fixture, "sort: no column \"rate\" to order by");
    fixture_click(&fixture, fixture_row_of(&fixture, "BORN AND KEPT"), 110);
    expect(&fixture, "BORN ↓");
    fixture_click(&fixture, fixture_row_of(&fixture, "Hash "), 5);
    expect(&fixture, "▶Hash");
    press(&fixture, "<Enter>");
    expect(&fixture, "There is no call tree of Hash at this moment.");
    press(&fixture, "h");
    expect(&fixture, "▶Hash");
    press(&fixture, "D");
    expect(&fixture, "Δ since C");
    fixture_stop(&fixture);
}

static void
a_class_can_be_pinned_for_the_next_time(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, "DT");
    assert_int_equal(fixture.sent_count, 1);
    assert_int_equal(fixture.sent[0].action, REQUEST_PIN);
    assert_int_equal(fixture.sent[0].argument, ORDERS_CLASS);
    fixture_stop(&fixture);
}

static void
a_path_opens_in_the_editor(void **state)
{
    struct fixture fixture;
    uint32_t line;
    (void)state;
    orders_begin(&fixture, (struct fixture_options){.read_source = orders_read_source});
    orders_arrive(&fixture, ORDERS_EXACT, 5);
    press(&fixture, "m");
    orders_more(&fixture, ORDERS_EXACT, 5, 20);
    press(&fixture, "m");
    orders_more(&fixture, ORDERS_EXACT, 20, 25);
    press(&fixture, "D");
    expect(&fixture, "Cache#fetch demo/cache.rb:17");
    press(&fixture, "o");
    assert_true((fixture.reactions & REACT_EDIT) != 0);
    assert_string_equal(app_edit_path(fixture.app, &line), "/srv/shop/demo/cache.rb");
    assert_int_equal(line, 17);
    press(&fixture, "<Esc><Esc>:diff A<Enter>/order<Enter><Enter>o");
    assert_true((fixture.reactions & REACT_EDIT) != 0);
    assert_string_equal(app_edit_path(fixture.app, &line), "/srv/shop/demo/cache.rb");
    press(&fixture, "h<Esc>o");
    expect(&fixture, "editor: this row is no line of a file");
    fixture_stop(&fixture);
}

static void
a_comparison_follows_the_moment_that_is_shown(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, ":diff A<Enter>/order<Enter>");
    expect(&fixture, "▲ grown             +1 230");
    pass(&fixture, 1);
    expect(&fixture, "▲ grown             +1 271");
    press(&fixture, ":goto B<Enter>");
    expect(&fixture, "▲ grown               +410");
    press(&fixture, ":diff B A<Enter>/order<Enter>"); // backwards as well
    expect(&fixture, "▼ shrunk              -410");
    press(&fixture, "L");
    expect(&fixture, "▼ shrunk              -410"); // both moments were said
    press(&fixture, ":diff yesterday<Enter>");
    expect(&fixture, "diff: \"yesterday\" is no time");
    press(&fixture, ":diff ./none.memtop<Enter>");
    expect(&fixture, "diff: ");
    press(&fixture, "<Esc><Esc>");
    expect(&fixture, "Δ since C");
    fixture_stop(&fixture);
}

static void
another_recording_can_be_compared_with(void **state)
{
    char path[] = "/tmp/memtop-diff-XXXXXX";
    char keys[128];
    struct fixture fixture;
    (void)state;
    assert_non_null(mkdtemp(path));
    begin(&fixture);
    snprintf(keys, sizeof keys, ":record %s/a.memtop<Enter>", path);
    press(&fixture, keys);
    pass(&fixture, 3);
    press(&fixture, ":record<Enter>");
    pass(&fixture, 10);
    snprintf(keys, sizeof keys, ":diff %s/a.memtop<Enter>/order<Enter>", path);
    press(&fixture, keys);
    expect(&fixture, "of a.memtop to ");
    expect(&fixture, "▲ grown               +410");
    fixture_stop(&fixture);
    snprintf(keys, sizeof keys, "%s/a.memtop", path);
    unlink(keys);
    rmdir(path);
}

// What is on the screen of a recording, opened at a wall time, ticks later.
static void
replay(struct fixture *fixture, const char *path, uint64_t at_us)
{
    char why[256];
    *fixture = (struct fixture){.now_ms = 1000000};
    struct tape *tape = tape_open(path, why, sizeof why);
    assert_non_null(tape);
    const struct app_options options = {.source = path, .tape = tape, .at_us = at_us};
    assert_true(grid_init(&fixture->grid, ROWS, COLUMNS));
    fixture->app = app_new(&options, fixture->now_ms);
    assert_non_null(fixture->app);
    for (int second = 0; second < 3; second++) {
        fixture->now_ms += 1000;
        app_tick(fixture->app, fixture->now_ms);
    }
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

static void
replay_ends(struct fixture *fixture)
{
    struct tape *tape = fixture->app->tape;
    app_free(fixture->app);
    grid_destroy(&fixture->grid);
    tape_free(tape);
}

static void
a_replay_shows_what_the_live_session_did(void **state)
{
    char folder[] = "/tmp/memtop-born-XXXXXX";
    char path[64];
    char keys[128];
    struct fixture fixture;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.memtop", folder);
    begin(&fixture);
    snprintf(keys, sizeof keys, ":record all %s<Enter>", path);
    press(&fixture, keys);
    pass(&fixture, 3);
    press(&fixture, ":record<Enter>");
    fixture_stop(&fixture);
    replay(&fixture, path, UINT64_MAX);
    press(&fixture, "D");
    expect(&fixture, "born B to C, alive then");
    expect(&fixture, "  410  exact");
    press(&fixture, ":goto B<Enter>");
    expect(&fixture, "born A to B, alive then");
    expect(&fixture, "  410  exact");
    replay_ends(&fixture);
    replay(&fixture, path, 0); // and it stays there
    press(&fixture, ":diff C<Enter>/order<Enter>");
    expect(&fixture, "REPLAY 12:16:40");
    expect(&fixture, "▼ shrunk");
    expect(&fixture, "-2 460");
    replay_ends(&fixture);
    unlink(path);
    rmdir(folder);
}

static void
both_views_can_lie_over_each_other(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, "D:diff A<Enter>:born<Enter>");
    expect(&fixture, "born B to C");
    press(&fixture, ":diff A<Enter>D:diff<Enter>[[]L"); // D is not the comparison's
    expect(&fixture, "what changed");
    press(&fixture, "<Esc>");
    expect(&fixture, "born B to C");
    press(&fixture, "<Esc>");
    expect(&fixture, "Δ since C");
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_last_two_marks_before_the_moment_that_is_shown),
        cmocka_unit_test(marks_can_be_chosen_in_any_order),
        cmocka_unit_test(follows_the_program_and_its_marks_while_it_is_open),
        cmocka_unit_test(a_mark_that_the_ring_dropped_is_said_to_be_lost),
        cmocka_unit_test(keys_move_sort_and_filter),
        cmocka_unit_test(a_class_can_be_pinned_for_the_next_time),
        cmocka_unit_test(a_path_opens_in_the_editor),
        cmocka_unit_test(a_comparison_follows_the_moment_that_is_shown),
        cmocka_unit_test(another_recording_can_be_compared_with),
        cmocka_unit_test(a_replay_shows_what_the_live_session_did),
        cmocka_unit_test(both_views_can_lie_over_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
