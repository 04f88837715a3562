#include "tui/view/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE 3

// A list over a model, and the time that both have.
struct list {
    struct scene scene;
    struct model *model;
    struct rows rows;
};

// Classes A, B, C ... with these counts; ids are their place in the alphabet.
static void
counts(struct list *list, bool key, const char *names, const uint64_t *live)
{
    struct class_row rows[26];
    struct message message = {.kind = MESSAGE_SAMPLE};
    size_t count = strlen(names);
    for (size_t i = 0; i < count; i++) {
        const struct class_name named = {
            (class_id)(names[i] - 'A'), 0, {names + i, 1}
        };
        message.kind = MESSAGE_NAMES;
        message.names = (struct names){&named, 1};
        assert_true(model_apply(list->model, &message));
        rows[i] = (struct class_row){named.id, live[i], live[i], 0, 0};
    }
    message.kind = MESSAGE_SAMPLE;
    message.at.monotonic_us = list->scene.now_ms * 1000;
    message.sample =
        (struct sample){.key = key, .mode = MODE_COUNT, .rows = rows, .row_count = count};
    assert_true(model_apply(list->model, &message));
    assert_true(rows_update(&list->rows, &list->scene));
}

static void
start(struct list *list)
{
    *list = (struct list){.model = model_new()};
    assert_non_null(list->model);
    list->scene =
        (struct scene){.model = list->model, .glyphs = glyphs_of(false), .now_ms = 1000};
    rows_init(&list->rows);
    counts(list, true, "ABCDE", (uint64_t[]){10, 20, 30, 40, 50});
}

static void
stop(struct list *list)
{
    rows_destroy(&list->rows);
    rows_destroy(&list->rows);
    model_free(list->model);
}

static void
later(struct list *list, uint64_t ms)
{
    list->scene.now_ms += ms;
    assert_true(rows_update(&list->rows, &list->scene));
}

// The names in order, the one under the cursor in lower case.
static void
expect(const struct list *list, const char *wanted)
{
    char order[27] = "";
    for (size_t i = 0; i < list->rows.count; i++) {
        char name = list->rows.list[i]->name[0];
        order[i] = i == list->rows.cursor ? (char)(name - 'A' + 'a') : name;
    }
    assert_string_equal(order, wanted);
}

static void
orders_by_a_number_and_equal_ones_by_name(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    expect(&list, "eDCBA");
    counts(&list, false, "DC", (uint64_t[]){10, 10});
    expect(&list, "eBACD");
    rows_invert(&list.rows);
    later(&list, 0);
    expect(&list, "aCDBE");
    assert_true(rows_sort(&list.rows, COLUMN_NAME));
    later(&list, 0);
    expect(&list, "aBCDE");
    assert_true(rows_sort(&list.rows, COLUMN_NAME)); // the same again inverts
    later(&list, 0);
    expect(&list, "eDCBA");
    assert_false(rows_sort(&list.rows, COLUMN_HISTORY));
    stop(&list);
}

static void
orders_negative_changes_below_positive_ones(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    counts(&list, false, "ABC", (uint64_t[]){5, 21, 1});
    assert_true(rows_sort(&list.rows, COLUMN_DELTA));
    later(&list, 0);
    expect(&list, "bDEAC"); // +1, 0, 0, -5, -29
    stop(&list);
}

static void
puts_what_is_unknown_last_in_either_direction(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    counts(&list, false, "C", (uint64_t[]){COUNT_UNKNOWN});
    expect(&list, "eDBAC");
    rows_invert(&list.rows);
    later(&list, 0);
    expect(&list, "aBDEC");
    stop(&list);
}

static void
never_moves_rows_under_the_cursor(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    rows_move_by(&list.rows, 1, PAGE, list.scene.now_ms);
    expect(&list, "EdCBA");
    list.scene.now_ms += 1000;
    counts(&list, false, "ABCDE", (uint64_t[]){99, 98, 97, 1, 2});
    expect(&list, "EdCBA");
    assert_int_equal(list.rows.list[4]->now.live, 99); // numbers go on
    list.scene.now_ms += 1000;
    counts(&list, false, "F", (uint64_t[]){1000}); // a new one comes below
    expect(&list, "EdCBAF");
    later(&list, ROWS_FREEZE_MS - 2001);
    expect(&list, "EdCBAF");
    later(&list, 1);
    expect(&list, "FABCEd"); // the cursor went with its class
    stop(&list);
}

static void
filters_no_row_away_while_somebody_navigates(void **state)
{
    struct list list;
    char error[FILTER_ERROR_BYTES];
    (void)state;
    start(&list);
    assert_true(filter_parse(&list.rows.filter, "live>=30", error));
    rows_renew(&list.rows);
    later(&list, 0);
    rows_move_by(&list.rows, 2, PAGE, list.scene.now_ms);
    expect(&list, "EDc");
    counts(&list, false, "EA", (uint64_t[]){1, 90});
    expect(&list, "EDcA"); // E stays, though it is below 30 now
    later(&list, ROWS_FREEZE_MS);
    expect(&list, "ADc");
    stop(&list);
}

static void
keeps_the_followed_class_in_its_line_of_the_screen(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    rows_move_to(&list.rows, 3, PAGE, list.scene.now_ms);
    expect(&list, "EDCbA");
    assert_int_equal(list.rows.top, 1);
    list.scene.now_ms += ROWS_FREEZE_MS;
    counts(&list, false, "B", (uint64_t[]){1});
    expect(&list, "EDCAb");
    assert_int_equal(list.rows.cursor - list.rows.top, 2);
    stop(&list);
}

static void
stays_in_its_row_without_follow(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    list.rows.follow = false;
    rows_move_to(&list.rows, 3, PAGE, list.scene.now_ms);
    list.scene.now_ms += ROWS_FREEZE_MS;
    counts(&list, false, "B", (uint64_t[]){100});
    expect(&list, "BEDcA");
    stop(&list);
}

static void
stays_at_the_top_until_it_is_moved_and_after_it_was_sent_there(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    counts(&list, false, "A", (uint64_t[]){100});
    expect(&list, "aEDCB");
    rows_move_by(&list.rows, 2, PAGE, list.scene.now_ms);
    rows_move_to(&list.rows, 0, PAGE, list.scene.now_ms);
    list.scene.now_ms += ROWS_FREEZE_MS;
    counts(&list, false, "B", (uint64_t[]){200});
    expect(&list, "bAEDC");
    stop(&list);
}

static void
orders_at_once_when_it_was_asked_to(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    rows_move_by(&list.rows, 1, PAGE, list.scene.now_ms);
    rows_invert(&list.rows);
    later(&list, 0);
    expect(&list, "ABCdE");
    stop(&list);
}

static void
goes_to_the_nearest_row_when_its_class_disappears(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    rows_move_to(&list.rows, 4, PAGE, list.scene.now_ms);
    expect(&list, "EDCBa");
    counts(&list, true, "BCDE", (uint64_t[]){20, 30, 40, 50});
    expect(&list, "EDCBa"); // gone, but kept
    list.scene.now_ms += 61000;
    counts(&list, true, "BCDE", (uint64_t[]){20, 30, 40, 50});
    expect(&list, "EDCb");
    counts(&list, true, "", NULL);
    list.scene.now_ms += 61000;
    counts(&list, true, "", NULL);
    expect(&list, "");
    assert_null(rows_selected(&list.rows));
    rows_move_by(&list.rows, 5, PAGE, list.scene.now_ms);
    rows_scroll(&list.rows, 5, PAGE, list.scene.now_ms);
    assert_int_equal(list.rows.cursor, 0);
    stop(&list);
}

static void
clamps_and_scrolls(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    rows_move_by(&list.rows, 100, PAGE, list.scene.now_ms);
    expect(&list, "EDCBa");
    assert_int_equal(list.rows.top, 2);
    rows_move_by(&list.rows, -100, PAGE, list.scene.now_ms);
    expect(&list, "eDCBA");
    assert_int_equal(list.rows.top, 0);
    rows_scroll(&list.rows, 1, PAGE, list.scene.now_ms);
    assert_int_equal(list.rows.top, 1);
    expect(&list, "EdCBA"); // only as far as it must
    rows_scroll(&list.rows, 100, PAGE, list.scene.now_ms);
    assert_int_equal(list.rows.top, 2);
    rows_scroll(&list.rows, -100, PAGE, list.scene.now_ms);
    assert_int_equal(list.rows.top, 0);
    expect(&list, "EDcBA");
    stop(&list);
}

static void
tells_what_it_hides(void **state)
{
    struct list list;
    char error[FILTER_ERROR_BYTES];
    (void)state;
    start(&list);
    assert_true(filter_parse(&list.rows.filter, "live>=30", error));
    rows_renew(&list.rows);
    later(&list, 0);
    expect(&list, "eDC");
    assert_int_equal(list.rows.filtered, 2);
    assert_int_equal(list.rows.all.count, 5);
    assert_float_equal(list.rows.all.live, 150, 0);
    counts(&list, false, "A", (uint64_t[]){60});
    expect(&list, "aEDC");
    assert_float_equal(list.rows.all.delta, 50, 0);
    stop(&list);
}

static void
searches_forwards_and_backwards_and_around(void **state)
{
    struct list list;
    struct filter wanted = {0};
    char error[FILTER_ERROR_BYTES];
    (void)state;
    start(&list);
    assert_true(filter_parse(&wanted, "~[BD]", error));
    assert_true(rows_search(&list.rows, &list.scene, &wanted, 1, PAGE));
    expect(&list, "EdCBA");
    assert_true(rows_search(&list.rows, &list.scene, &wanted, 1, PAGE));
    expect(&list, "EDCbA");
    assert_true(rows_search(&list.rows, &list.scene, &wanted, 1, PAGE));
    expect(&list, "EdCBA");
    assert_true(rows_search(&list.rows, &list.scene, &wanted, -1, PAGE));
    expect(&list, "EDCbA");
    assert_true(filter_parse(&wanted, "nothing", error));
    assert_false(rows_search(&list.rows, &list.scene, &wanted, 1, PAGE));
    filter_destroy(&wanted);
    stop(&list);
}

static void
does_nothing_when_nothing_changed(void **state)
{
    struct list list;
    (void)state;
    start(&list);
    struct rows_work before = list.rows.work;
    for (int i = 0; i < 100; i++) {
        rows_move_by(&list.rows, i % 2 == 0 ? 1 : -1, PAGE, list.scene.now_ms);
        later(&list, 10);
    }
    assert_int_equal(list.rows.work.builds, before.builds);
    assert_int_equal(list.rows.work.sorts, before.sorts);
    assert_int_equal(list.rows.work.names, before.names);
    counts(&list, false, "A", (uint64_t[]){11}); // no new class: names stay in order
    assert_int_equal(list.rows.work.builds, before.builds + 1);
    stop(&list);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_by_a_number_and_equal_ones_by_name),
        cmocka_unit_test(orders_negative_changes_below_positive_ones),
        cmocka_unit_test(puts_what_is_unknown_last_in_either_direction),
        cmocka_unit_test(never_moves_rows_under_the_cursor),
        cmocka_unit_test(filters_no_row_away_while_somebody_navigates),
        cmocka_unit_test(keeps_the_followed_class_in_its_line_of_the_screen),
        cmocka_unit_test(stays_in_its_row_without_follow),
        cmocka_unit_test(stays_at_the_top_until_it_is_moved_and_after_it_was_sent_there),
        cmocka_unit_test(orders_at_once_when_it_was_asked_to),
        cmocka_unit_test(goes_to_the_nearest_row_when_its_class_disappears),
        cmocka_unit_test(clamps_and_scrolls),
        cmocka_unit_test(tells_what_it_hides),
        cmocka_unit_test(searches_forwards_and_backwards_and_around),
        cmocka_unit_test(does_nothing_when_nothing_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
