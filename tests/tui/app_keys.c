#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"
#include "tui/app.h"
#include "tui/model/model.h"

static void
begin(struct fixture *fixture)
{
    fixture_start(fixture, (struct fixture_options){0});
    fixture_demo(fixture);
    free(fixture_screen(fixture, 118, 16));
}

static void
draw(struct fixture *fixture)
{
    app_draw(fixture->app, &fixture->grid, fixture->now_ms);
}

static void
expect(struct fixture *fixture, const char *text)
{
    draw(fixture);
    if (fixture_row_of(fixture, text) < 0) {
        char *screen = grid_text(&fixture->grid);
        fail_msg("\"%s\" is not on the screen:\n%s", text, screen);
    }
}

static void
expect_none(struct fixture *fixture, const char *text)
{
    draw(fixture);
    assert_int_equal(fixture_row_of(fixture, text), -1);
}

static void
answer(struct fixture *fixture, uint64_t id, enum result_status status, const char *text)
{
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_RESULT, .result = {id, status, text_of(text)}
    });
}

static void
asks_before_it_runs_a_collection(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "<^G>");
    expect(&fixture, "Run a full garbage collection in the program? y/n");
    assert_int_equal(fixture.sent_count, 0);
    fixture_keys(&fixture, "n");
    assert_int_equal(fixture.sent_count, 0);
    fixture_keys(&fixture, "<^G>x"); // no answer is a no
    assert_int_equal(fixture.sent_count, 0);
    fixture_keys(&fixture, "<^G>y");
    assert_int_equal(fixture.sent_count, 1);
    assert_int_equal(fixture.sent[0].action, REQUEST_GC);
    expect(&fixture, "garbage collection: asked for");
    answer(&fixture, fixture.sent[0].id, RESULT_DONE, "412 000 objects freed");
    expect(&fixture, "garbage collection: done, 412 000 objects freed");
    answer(&fixture, fixture.sent[0].id, RESULT_FAILED, "late echo");
    expect_none(&fixture, "late echo");
    fixture_stop(&fixture);
}

static void
sends_what_was_asked_for(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "c:mode dormant<Enter>:mode count<Enter>:gc now<Enter>");
    assert_int_equal(fixture.sent_count, 4);
    assert_int_equal(fixture.sent[0].action, REQUEST_CENSUS);
    assert_int_equal(fixture.sent[1].action, REQUEST_MODE);
    assert_int_equal(fixture.sent[1].argument, MODE_DORMANT);
    assert_int_equal(fixture.sent[2].argument, MODE_COUNT);
    assert_int_equal(fixture.sent[3].action, REQUEST_GC);
    assert_true(fixture.sent[0].id != fixture.sent[1].id);
    fixture_keys(&fixture, ":mode sometimes<Enter>");
    expect(&fixture,
           "mode: one of dormant, census, count, trace is needed, not \"sometimes\"");
    answer(&fixture, fixture.sent[1].id, RESULT_REFUSED, "not\x1bnow");
    expect(&fixture, "mode: refused, not\\x1Bnow");
    fixture.refuse_to_send = true;
    fixture_keys(&fixture, "c");
    expect(&fixture, "census: not connected to a probe");
    fixture.refuse_to_send = false;
    app_link(fixture.app, LINK_GONE, "", fixture.now_ms);
    fixture_keys(&fixture, "c");
    assert_int_equal(fixture.sent_count, 4);
    fixture_stop(&fixture);
}

static void
changes_nothing_when_it_is_read_only(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_start(&fixture, (struct fixture_options){.readonly = true});
    fixture_demo(&fixture);
    free(fixture_screen(&fixture, 118, 16));
    fixture_keys(&fixture, "<^G>");
    expect(&fixture, "garbage collection: refused, memtop was started with --readonly");
    fixture_keys(&fixture, ":mode dormant<Enter>");
    expect(&fixture, "mode: refused, memtop was started with --readonly");
    fixture_keys(&fixture, "c");
    expect(&fixture, "census: refused, memtop was started with --readonly");
    fixture_keys(&fixture, "y:gc now<Enter>");
    assert_int_equal(fixture.sent_count, 0);
    fixture_stop(&fixture);
}

static void
quits_from_the_table_and_closes_what_lies_above(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "?");
    expect(&fixture, "help: classes");
    fixture_keys(&fixture, "q");
    assert_false(fixture.reactions & REACT_QUIT);
    expect_none(&fixture, "help: classes");
    fixture_keys(&fixture, "<Esc>");
    assert_false(fixture.reactions & REACT_QUIT);
    fixture_keys(&fixture, "q");
    assert_true(fixture.reactions & REACT_QUIT);
    fixture_keys(&fixture, "?Q");
    assert_true(fixture.reactions & REACT_QUIT);
    fixture_keys(&fixture, "<Esc><F10>");
    assert_true(fixture.reactions & REACT_QUIT);
    fixture_keys(&fixture, ":quit<Enter>");
    assert_true(fixture.reactions & REACT_QUIT);
    fixture_keys(&fixture, "<^Z>");
    assert_true(fixture.reactions & REACT_SUSPEND);
    fixture_keys(&fixture, "<^L>");
    assert_true(fixture.reactions & REACT_REDRAW);
    fixture_stop(&fixture);
}

static void
filters_as_it_is_typed_and_forgets_on_escape(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "/sess");
    expect(&fixture, " /sess");
    expect(&fixture, "Session");
    expect_none(&fixture, "String  ");
    assert_int_equal(fixture.grid.cursor_row, 15);
    assert_int_equal(fixture.grid.cursor_column, 6);
    fixture_keys(&fixture, "<BkSp><BkSp><BkSp><BkSp>");
    expect(&fixture, "String");
    fixture_keys(&fixture, "Hash<Enter>");
    expect_none(&fixture, "String  ");
    expect(&fixture, "filter Hash");
    fixture_keys(&fixture, "/zzz<Esc>");
    expect(&fixture, "Rack::Utils::HeaderHash"); // Escape goes back to what was
    fixture_keys(&fixture, "\\");
    expect(&fixture, "String");
    fixture_keys(&fixture, "/Order<Enter><Esc>"); // and in the table clears it
    expect(&fixture, "String");
    fixture_keys(&fixture, "/<Up><Up><Enter>");
    expect(&fixture, "filter Hash");
    fixture_stop(&fixture);
}

static void
keeps_the_old_rows_while_a_filter_makes_no_sense(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "/Hash<Enter>/<^U>delta>");
    expect(&fixture, "a number is missing");
    expect(&fixture, "Rack::Utils::HeaderHash");
    expect_none(&fixture, "String  ");
    fixture_keys(&fixture, "1000");
    expect(&fixture, "String");
    expect_none(&fixture, "Session");
    fixture_keys(&fixture, "x<Enter>");
    expect(&fixture, "is no number");
    expect(&fixture, "filter Hash");
    fixture_stop(&fixture);
}

static void
jumps_between_matches_of_the_last_filter(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "n");
    expect(&fixture, "there is no filter to look for");
    fixture_keys(&fixture, "/nothing like it<Enter>\\N");
    expect(&fixture, "no class in the list matches nothing like it");
    fixture_keys(&fixture, "/Hash<Enter>\\n");
    expect(&fixture, "▶Hash");
    fixture_keys(&fixture, "n");
    expect(&fixture, "▶Rack::Utils::HeaderHash");
    fixture_keys(&fixture, "N");
    expect(&fixture, "▶Hash");
    fixture_keys(&fixture, "F");
    expect(&fixture, "the cursor stays in its row");
    fixture_keys(&fixture, "F");
    expect(&fixture, "the cursor follows its class");
    fixture_stop(&fixture);
}

static void
stops_the_screen_while_figures_go_on(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, " ");
    expect(&fixture, "PAUSED");
    expect(&fixture, "7 732");
    fixture_demo_second(&fixture);
    assert_int_equal(fixture.reactions, REACT_NOTHING);
    expect(&fixture, "7 732");
    assert_int_equal(model_class_find(app_model(fixture.app), 3)->now.live, 7773);
    fixture_keys(&fixture,
                 ":sort name<Enter>/Order<Enter>"); // it can be looked around in
    expect(&fixture, "▶Order");
    fixture_keys(&fixture, "m"); // and marked
    expect(&fixture, "mark A is set: changes are since the moment shown");
    fixture_keys(&fixture, "\\ ");
    expect(&fixture, "7 773");
    expect(&fixture, "LIVE");
    fixture_keys(&fixture, "  ");
    fixture_keys(&fixture, " L");
    expect(&fixture, "LIVE");
    fixture_stop(&fixture);
}

static void
keeps_rows_where_they_are_while_somebody_navigates(void **state)
{
    static const struct class_row rows[] = {
        {5, 900000, 0, 0, 0}
    };
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "jj");
    expect(&fixture, "▶Hash");
    int row = fixture_row_of(&fixture, "▶Hash");
    fixture_wait(&fixture, 1000);
    fixture_send_sample(&fixture,
                        fixture_sample(rows, 1, false)); // Session is the first now
    expect(&fixture, "order held");
    assert_int_equal(fixture_row_of(&fixture, "▶Hash"), row);
    assert_true(fixture_row_of(&fixture, "Session") > row);
    fixture_wait(&fixture, 3000);
    assert_int_equal(fixture_row_of(&fixture, "▶Hash"), row);
    fixture_wait(&fixture, 1000);
    assert_true(fixture.reactions & REACT_DRAW); // the order is free again
    expect(&fixture, "▶Hash");
    expect_none(&fixture, "order held");
    assert_true(fixture_row_of(&fixture, "Session") < fixture_row_of(&fixture, "▶Hash"));
    fixture_stop(&fixture);
}

static void
sets_and_picks_marks(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "d");
    expect(&fixture, "since: no mark is set; m sets one");
    fixture_keys(&fixture, "m");
    expect(&fixture, "Δ since A");
    expect(&fixture, "mark A is set");
    fixture_demo_second(&fixture);
    expect(&fixture, "+41 ▲");
    fixture_keys(&fixture, "d");
    expect(&fixture, "Δ in 41s");
    expect(&fixture, "+1 681 ▲");
    fixture_keys(&fixture, "d");
    expect(&fixture, "Δ since A");
    fixture_keys(&fixture, "m'-");
    expect(&fixture, "Δ in 41s");
    fixture_keys(&fixture, "'B");
    expect(&fixture, "Δ since B");
    fixture_keys(&fixture, "'<Home><Down><Enter>");
    expect(&fixture, "Δ since A");
    fixture_keys(&fixture, ":mark q<Enter>:since A<Enter>:since q<Enter>");
    expect(&fixture, "Δ since Q");
    fixture_keys(&fixture, ":since X<Enter>");
    expect(&fixture, "since: there is no mark \"X\"");
    for (int i = 0; i < 26; i++) {
        fixture_keys(&fixture, "m");
    }
    expect(&fixture, "mark: A to Z are all set");
    fixture_stop(&fixture);
}

static void
orders_by_keys_menu_and_command_alike(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "1");
    expect(&fixture, "CLASS ↑");
    fixture_keys(&fixture, "1");
    expect(&fixture, "CLASS ↓");
    fixture_keys(&fixture, ">");
    expect(&fixture, "LIVE ↓");
    fixture_keys(&fixture, ">>>"); // over the sparkline, which has no order
    expect(&fixture, "BYTES ↓");
    fixture_keys(&fixture, "<");
    fixture_keys(&fixture, "<F6>8");
    expect(&fixture, "AGE ↓");
    fixture_keys(&fixture, "s<Up><Enter>");
    expect(&fixture, "FREE/s ↓");
    fixture_keys(&fixture, "I");
    expect(&fixture, "FREE/s ↑");
    fixture_keys(&fixture, "9");
    expect(&fixture, "VERDICT ↓");
    fixture_keys(&fixture, ":sort colour<Enter>");
    expect(&fixture, "sort: no column \"colour\" to order by");
    fixture_stop(&fixture);
}

static void
completes_and_remembers_commands(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, ":so<Tab>na<Tab><Enter>");
    expect(&fixture, "CLASS ↑");
    fixture_keys(&fixture, ":li<Tab><Enter>:<Up><Up>");
    expect(&fixture, ":sort name");
    fixture_keys(&fixture, "<Down>");
    expect(&fixture, ":live");
    fixture_keys(&fixture, "<^U>abc déf<Left><BkSp>e<Home>:<End>!");
    expect(&fixture, "::abc def!");
    fixture_keys(&fixture, "<^W><BkSp><Home><Del><^K>");
    draw(&fixture);
    assert_int_equal(fixture.grid.cursor_column, 2);
    fixture_keys(&fixture, "<BkSp>"); // out of an empty line
    expect(&fixture, "/ filter");
    fixture_keys(&fixture, ":");
    for (int i = 0; i < 400; i++) {
        fixture_keys(&fixture, "x");
    }
    draw(&fixture);
    assert_int_equal(fixture.grid.cursor_row, 15);
    assert_in_range(fixture.grid.cursor_column, 100, 117);
    fixture_keys(&fixture, "<Enter>");
    expect(&fixture, "no command \"xxxxxxxxxxxxxxxx\"");
    fixture_stop(&fixture);
}

static void
writes_to_the_path_that_was_given_or_to_one_with_the_time(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    assert_null(app_write_path(fixture.app));
    fixture_keys(&fixture, "w");
    assert_true(fixture.reactions & REACT_WRITE);
    assert_string_equal(app_write_path(fixture.app), "memtop-4120-20260101T121720Z.txt");
    fixture_keys(&fixture, ":write /tmp/a b.txt<Enter>");
    assert_true(fixture.reactions & REACT_WRITE);
    assert_string_equal(app_write_path(fixture.app), "/tmp/a b.txt");
    fixture.reactions =
        app_say(fixture.app, true, "/tmp/a b.txt: disk\nfull", fixture.now_ms);
    expect(&fixture, "/tmp/a b.txt: disk\\x0Afull");
    fixture_stop(&fixture);
}

static void
obeys_the_mouse_until_it_is_told_not_to(void **state)
{
    struct fixture fixture;
    struct key wheel = {.code = KEY_CODE_MOUSE, .mouse = MOUSE_WHEEL_DOWN, .row = 6};
    (void)state;
    begin(&fixture);
    assert_true(app_wants_mouse(fixture.app));
    fixture_click(&fixture, fixture_row_of(&fixture, "Proc"), 10);
    expect(&fixture, "▶Proc");
    fixture_click(&fixture, 4, 4); // the heading of the names
    expect(&fixture, "CLASS ↑");
    fixture_click(&fixture, 4, 4);
    expect(&fixture, "CLASS ↓");
    fixture_click(&fixture, 4, 70); // the sparkline has no order
    expect(&fixture, "CLASS ↓");
    fixture_click(&fixture, 15, 28); // "s sort" of the bottom line
    expect(&fixture, "order by");
    fixture_click(&fixture, fixture_row_of(&fixture, "SHARE          share"), 55);
    expect(&fixture, "SHARE ↓");
    fixture_keys(&fixture, "s");
    fixture_click(&fixture, 0, 0); // beside the box
    expect_none(&fixture, "order by");
    free(fixture_screen(&fixture, 118, 10));
    app_key(fixture.app, wheel, fixture.now_ms);
    draw(&fixture);
    assert_int_equal(fixture_row_of(&fixture, "String  "), -1);
    fixture_keys(&fixture, ":mouse off<Enter>");
    assert_true(fixture.reactions & REACT_MOUSE);
    assert_false(app_wants_mouse(fixture.app));
    fixture_click(&fixture, 1, 4);
    expect(&fixture, "SHARE ↓");
    fixture_keys(&fixture, ":mouse on<Enter>:mouse maybe<Enter>");
    assert_true(app_wants_mouse(fixture.app));
    fixture_stop(&fixture);
}

static void
goes_on_by_name_when_the_program_restarts(void **state)
{
    static const struct class_name names[] = {
        {1, 0, {"Order", 5}}
    };
    static const struct class_row rows[] = {
        {1, 100, 0, 0, 4000}
    };
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_keys(&fixture, "m");
    fixture_message(&fixture,
                    (struct message){
                        .kind = MESSAGE_BYE, .bye = {BYE_EXIT, 0, text_of("")}
    });
    app_link(fixture.app, LINK_GONE, "", fixture.now_ms);
    fixture_wait(&fixture, 5000);
    expect(&fixture, "GONE 5s ago, exit status 0");
    expect(&fixture, "7 732"); // the last data stays
    fixture_keys(&fixture, "jjj");
    expect(&fixture, "▶Proc");
    fixture_hello(&fixture, 4188);
    expect(&fixture, "another process: pid 4188 after 4120");
    fixture_names(&fixture, names, 1);
    fixture_send_sample(&fixture, fixture_sample(rows, 1, true));
    expect(&fixture, "LIVE");
    expect(&fixture, "-7 632 ▼"); // against the mark of before
    fixture_stop(&fixture);
}

static void
draws_only_when_something_changes(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_demo_second(&fixture);
    assert_true(fixture.reactions & REACT_DRAW);
    draw(&fixture);
    for (int i = 0; i < 3; i++) {
        fixture_wait(&fixture, 1000);
        assert_int_equal(fixture.reactions, REACT_NOTHING);
    }
    fixture_wait(&fixture, 2000);
    assert_true(fixture.reactions & REACT_DRAW); // it is late, and says so
    draw(&fixture);
    app_say(fixture.app, false, "hello", fixture.now_ms);
    draw(&fixture);
    app_link(fixture.app, LINK_LIVE, "", fixture.now_ms);
    fixture_demo_second(&fixture);
    expect(&fixture, "hello");
    fixture_wait(&fixture, 6000);
    assert_true(fixture.reactions & REACT_DRAW);
    expect_none(&fixture, "hello");
    fixture_stop(&fixture);
}

static void
names_only_keys_that_work_here(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    expect_none(&fixture, "since");
    expect_none(&fixture, "notices");
    expect_none(&fixture, "all classes");
    fixture_notice(&fixture, 1, NOTICE_WARNING, "look");
    fixture_keys(&fixture, "m<Esc>/o<Enter>");
    expect(&fixture, "d since");
    expect(&fixture, "! notices");
    expect(&fixture, "\\ all classes");
    fixture_keys(&fixture, "Z");
    expect(&fixture, "Z: no such key here, ? for help");
    fixture_keys(&fixture, "?");
    expect_none(&fixture, "m mark");
    expect(&fixture, "Esc back");
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_before_it_runs_a_collection),
        cmocka_unit_test(sends_what_was_asked_for),
        cmocka_unit_test(changes_nothing_when_it_is_read_only),
        cmocka_unit_test(quits_from_the_table_and_closes_what_lies_above),
        cmocka_unit_test(filters_as_it_is_typed_and_forgets_on_escape),
        cmocka_unit_test(keeps_the_old_rows_while_a_filter_makes_no_sense),
        cmocka_unit_test(jumps_between_matches_of_the_last_filter),
        cmocka_unit_test(stops_the_screen_while_figures_go_on),
        cmocka_unit_test(keeps_rows_where_they_are_while_somebody_navigates),
        cmocka_unit_test(sets_and_picks_marks),
        cmocka_unit_test(orders_by_keys_menu_and_command_alike),
        cmocka_unit_test(completes_and_remembers_commands),
        cmocka_unit_test(writes_to_the_path_that_was_given_or_to_one_with_the_time),
        cmocka_unit_test(obeys_the_mouse_until_it_is_told_not_to),
        cmocka_unit_test(goes_on_by_name_when_the_program_restarts),
        cmocka_unit_test(draws_only_when_something_changes),
        cmocka_unit_test(names_only_keys_that_work_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
