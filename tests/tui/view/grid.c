#include "tui/view/grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
expect(const struct grid *grid, const char *wanted)
{
    char *text = grid_text(grid);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void
cuts_what_does_not_fit(void **state)
{
    struct grid grid;
    (void)state;
    assert_true(grid_init(&grid, 2, 6));
    assert_int_equal(grid_put(&grid, 0, 2, 10, STYLE_NORMAL, "abcdef"), 4);
    assert_int_equal(grid_put(&grid, 1, 0, 3, STYLE_NORMAL, "abcdef"), 3);
    assert_int_equal(grid_put(&grid, 2, 0, 3, STYLE_NORMAL, "x"), 0);
    assert_int_equal(grid_put(&grid, -1, 0, 3, STYLE_NORMAL, "x"), 0);
    assert_int_equal(grid_put(&grid, 0, 6, 3, STYLE_NORMAL, "x"), 0);
    assert_int_equal(grid_put(&grid, 0, -1, 3, STYLE_NORMAL, "x"), 0);
    expect(&grid, "  abcd\nabc\n");
    grid_clear(&grid);
    grid_put_right(&grid, 0, 1, 4, STYLE_NORMAL, "ab");
    grid_put_right(&grid, 1, 0, 3, STYLE_NORMAL, "abcdef");
    expect(&grid, "   ab\nabc\n");
    grid_destroy(&grid);
    grid_destroy(&grid);
}

static void
gives_a_wide_character_two_cells_or_none(void **state)
{
    struct grid grid;
    (void)state;
    assert_true(grid_init(&grid, 1, 5));
    assert_int_equal(grid_put(&grid, 0, 0, 5, STYLE_NORMAL, "注文注"), 4);
    assert_int_equal(grid.cells[1].character, 0);
    expect(&grid, "注文\n");
    // over the right half, over the left half
    grid_put(&grid, 0, 1, 1, STYLE_NORMAL, "x");
    expect(&grid, " x文\n");
    grid_put(&grid, 0, 2, 1, STYLE_NORMAL, "y");
    expect(&grid, " xy\n");
    grid_clear(&grid);
    grid_put(&grid, 0, 0, 4, STYLE_NORMAL, "注文");
    grid_put(&grid, 0, 1, 2, STYLE_NORMAL, "注");
    expect(&grid, " 注\n");
    grid_destroy(&grid);
}

static void
puts_one_combining_mark_over_its_character(void **state)
{
    struct grid grid;
    (void)state;
    assert_true(grid_init(&grid, 1, 4));
    assert_int_equal(grid_put(&grid, 0, 0, 4, STYLE_NORMAL, "e\xcc\x81\xcc\x82x"), 2);
    assert_int_equal(grid.cells[0].combining, 0x301);
    assert_int_equal(grid_put(&grid, 0, 0, 4, STYLE_NORMAL, "\xcc\x81x"), 2);
    assert_int_equal(grid.cells[0].character, 0xfffd);
    grid_destroy(&grid);
}

static void
never_holds_a_control_character(void **state)
{
    struct grid grid;
    (void)state;
    assert_true(grid_init(&grid, 1, 8));
    grid_put(&grid, 0, 0, 8, STYLE_NORMAL,
             "a\x1b\n\x7f\xff\xe2\x80\xae\xc2\x9b"
             "b");
    expect(&grid, "a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDb\n");
    grid.ascii = true;
    grid_put(&grid, 0, 0, 8, STYLE_NORMAL, "a\x1b\n\x7f\xff\xe2\x80\xae▲b");
    expect(&grid, "a??????b\n");
    grid_destroy(&grid);
}

static void
keeps_style_and_attributes_of_cells(void **state)
{
    struct grid grid;
    (void)state;
    assert_true(grid_init(&grid, 1, 4));
    grid_mark(&grid, 0, -2, 3, ATTRIBUTE_SELECTED);
    grid_mark(&grid, 0, 3, 9, ATTRIBUTE_BOLD);
    grid_mark(&grid, 7, 0, 9, ATTRIBUTE_BOLD);
    grid_put(&grid, 0, 0, 4, STYLE_GREW, "ab");
    assert_int_equal(grid.cells[0].style, STYLE_GREW);
    assert_int_equal(grid.cells[0].attributes, ATTRIBUTE_SELECTED);
    assert_int_equal(grid.cells[1].attributes, 0);
    assert_int_equal(grid.cells[3].attributes, ATTRIBUTE_BOLD);
    assert_true(grid_resize(&grid, 3, 2));
    assert_int_equal(grid.cells[0].attributes, 0);
    expect(&grid, "\n\n\n");
    assert_true(grid_resize(&grid, 0, 0));
    expect(&grid, "");
    assert_true(grid_resize(&grid, -3, 100000));
    assert_int_equal(grid.rows, 0);
    grid_destroy(&grid);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_what_does_not_fit),
        cmocka_unit_test(gives_a_wide_character_two_cells_or_none),
        cmocka_unit_test(puts_one_combining_mark_over_its_character),
        cmocka_unit_test(never_holds_a_control_character),
        cmocka_unit_test(keeps_style_and_attributes_of_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
