#include "tui/view/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
a_screen_is_a_row_less_than_is_shown(void **state)
{
    (void)state;
    assert_int_equal(cursor_step(ACTION_PAGE_DOWN, 10), 9);
    assert_int_equal(cursor_step(ACTION_PAGE_UP, 10), -9);
    assert_int_equal(cursor_step(ACTION_HALF_DOWN, 10), 5);
    assert_int_equal(cursor_step(ACTION_HALF_UP, 10), -5);
}

static void
the_smallest_screen_moves_by_one_row(void **state)
{
    (void)state;
    for (int page = 0; page < 3; page++) {
        assert_int_equal(cursor_step(ACTION_PAGE_DOWN, page), 1);
        assert_int_equal(cursor_step(ACTION_HALF_UP, page), -1);
    }
}

static void
an_action_that_is_no_move_is_no_step(void **state)
{
    (void)state;
    assert_int_equal(cursor_step(ACTION_INVERT, 10), 0);
    assert_int_equal(cursor_step(ACTION_NONE, 10), 0);
}

static void
the_ends_are_reached_from_anywhere(void **state)
{
    (void)state;
    assert_int_equal(cursor_moved(UINT32_MAX, cursor_step(ACTION_TOP, 10)), 0);
    assert_true(cursor_moved(UINT32_MAX, cursor_step(ACTION_BOTTOM, 10)) > UINT32_MAX);
    assert_int_equal(cursor_moved(2, -3), 0);
    assert_int_equal(cursor_moved(2, 3), 5);
}

static void
scrolls_no_further_than_the_cursor_needs(void **state)
{
    (void)state;
    assert_int_equal(cursor_top(20, 25, 100, 10), 20);
    assert_int_equal(cursor_top(20, 19, 100, 10), 19);
    assert_int_equal(cursor_top(20, 30, 100, 10), 21);
}

static void
leaves_no_rows_empty_while_there_are_more(void **state)
{
    (void)state;
    assert_int_equal(cursor_top(95, 97, 100, 10), 90);
    assert_int_equal(cursor_top(3, 4, 5, 10), 0);
    assert_int_equal(cursor_top(3, 0, 0, 10), 0);
    assert_int_equal(cursor_top(3, 4, 5, 0), 3); // nothing is shown, nothing scrolls
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_screen_is_a_row_less_than_is_shown),
        cmocka_unit_test(the_smallest_screen_moves_by_one_row),
        cmocka_unit_test(an_action_that_is_no_move_is_no_step),
        cmocka_unit_test(the_ends_are_reached_from_anywhere),
        cmocka_unit_test(scrolls_no_further_than_the_cursor_needs),
        cmocka_unit_test(leaves_no_rows_empty_while_there_are_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
