#include "tui/view/strip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "protocol/message.h"
#include "tests/tui/fixture.h"
#include "tui/view/strip_levels.h"

#define SECOND UINT64_C(1000000)
#define MINUTE (60 * SECOND)
#define POINTS_MAX 86400

// 2026-01-01 11:01:00 UTC
#define START (UINT64_C(1767265260) * SECOND)

#define ROWS_MAX 40

// Strips one below the other, as a page.
struct page {
    struct grid grid;
    int row;
};

static struct strip_point points[POINTS_MAX];

static void
page_open(struct page *page, int columns, bool ascii)
{
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    tzset();
    assert_true(grid_init(&page->grid, ROWS_MAX, columns));
    page->grid.ascii = ascii;
    page->row = 0;
}

// A line that says what the next strip is, then the strip.
static void
page_add(struct page *page, const char *title, const struct strip_data *data, int rows,
         int columns)
{
    struct area area = {page->row + 1, 0, rows, columns};
    assert_true(page->row + 1 + rows <= ROWS_MAX);
    grid_put(&page->grid, page->row, 0, page->grid.columns, STYLE_DIM, title);
    strip_draw(data, glyphs_of(page->grid.ascii), &page->grid, area);
    page->row += 1 + rows;
}

static void
page_close(struct page *page, const char *golden)
{
    page->grid.rows = page->row;
    char *text = grid_text(&page->grid);
    assert_non_null(text);
    if (golden != NULL) {
        fixture_golden_text(golden, text);
    }
    free(text);
    grid_destroy(&page->grid);
}

// A program that grows for 100 minutes, a point every 10 seconds; every fifth minute its
// memory jumps, and it collects garbage more and more.
static struct strip_data
growing(void)
{
    size_t count = 601;
    for (size_t i = 0; i < count; i++) {
        points[i] = (struct strip_point){
            .wall_us = START + i * 10 * SECOND,
            .live = 100000 + 500 * i,
            .rss_bytes = (64 + 8 * (i / 30 % 2) + i / 40) << 20,
            .gc_count = i * i / 100,
            .mode = MODE_COUNT,
        };
    }
    return (struct strip_data){
        .from_us = START,
        .to_us = START + 100 * MINUTE,
        .cursor_us = START + 100 * MINUTE,
        .growing = true,
        .live = true,
        .points = points,
        .point_count = count,
    };
}

static const struct strip_mark two_marks[] = {
    {START + 76 * MINUTE, 'B'},
    {START + 4 * MINUTE,  'A'},
};

static const struct strip_gap one_gap[] = {
    {START + 60 * MINUTE, START + 70 * MINUTE, "program ended"},
};

// Takes away what the points know of the gaps.
static void
forget_gaps(struct strip_data *data)
{
    size_t kept = 0;
    for (size_t i = 0; i < data->point_count; i++) {
        bool inside = false;
        for (size_t gap = 0; gap < data->gap_count; gap++) {
            inside |= points[i].wall_us > data->gaps[gap].from_us &&
                      points[i].wall_us < data->gaps[gap].to_us;
        }
        if (!inside) {
            points[kept++] = points[i];
        }
    }
    data->point_count = kept;
}

static struct strip_data
eventful(void)
{
    struct strip_data data = growing();
    data.marks = two_marks;
    data.mark_count = 2;
    data.gaps = one_gap;
    data.gap_count = 1;
    forget_gaps(&data);
    for (size_t i = data.point_count / 2; i < data.point_count; i++) {
        points[i].mode = MODE_TRACE;
    }
    return data;
}

static void
draws_each_state(void **state)
{
    struct page page;
    struct strip_data data = growing();
    (void)state;
    page_open(&page, 118, false);
    page_add(&page, "live, nothing happened", &data, 1, 118);
    data = eventful();
    page_add(&page, "live, two marks, a change of mode, a gap", &data, 1, 118);
    data.live = false;
    data.cursor_us = START + 22 * MINUTE;
    page_add(&page, "rewound", &data, 1, 118);
    data.cursor_us = data.marks[0].wall_us;
    page_add(&page, "rewound to mark B", &data, 1, 118);
    data.cursor_us = START + 65 * MINUTE;
    page_add(&page, "rewound into the gap", &data, 1, 118);
    data.cursor_us = data.to_us;
    page_add(&page, "paused", &data, 1, 118);
    data.growing = false;
    data.cursor_us = START + 22 * MINUTE;
    page_add(&page, "a replay", &data, 1, 118);
    data.cursor_us = data.to_us;
    page_add(&page, "a replay at its end", &data, 1, 118);
    data.cursor_us = data.from_us;
    page_add(&page, "a replay at its start", &data, 1, 118);
    data.from_us = START + 40 * MINUTE;
    page_add(&page, "a part of it, the cursor and A before that", &data, 1, 118);
    page_close(&page, "strip-states");
}

static void
puts_the_number_above_in_two_rows(void **state)
{
    struct page page;
    struct strip_data data = eventful();
    (void)state;
    page_open(&page, 118, false);
    for (int series = 0; series < STRIP_SERIES; series++) {
        data.series = (enum strip_series)series;
        page_add(&page, strip_series_name(data.series), &data, 2, 118);
    }
    data.live = false;
    data.cursor_us = START + 22 * MINUTE;
    page_add(&page, "rewound", &data, 2, 118);
    // the moment is marked on the number as well
    int column = strip_column_of(&data, (struct area){0, 0, 2, 118}, data.cursor_us);
    const struct cell *number = &page.grid.cells[(page.row - 2) * 118 + column];
    assert_int_equal(number[0].attributes, ATTRIBUTE_SELECTED);
    assert_int_equal(number[1].attributes, 0);
    assert_int_equal(number[118].character, 0x25c6);
    page_close(&page, "strip-two-rows");
}

static void
shows_each_series_in_one_row(void **state)
{
    struct page page;
    struct strip_data data = growing();
    (void)state;
    page_open(&page, 118, false);
    for (int series = 0; series < STRIP_SERIES; series++) {
        data.series = (enum strip_series)series;
        page_add(&page, strip_series_name(data.series), &data, 1, 118);
    }
    for (size_t i = 0; i < data.point_count; i++) {
        points[i].live = 100000 + i; // half a percent
        points[i].gc_count = 7 * i;
        points[i].rss_bytes = i < 200 ? COUNT_UNKNOWN : points[i].rss_bytes;
    }
    data.series = STRIP_LIVE;
    page_add(&page, "a small change looks small", &data, 1, 118);
    data.series = STRIP_GCS;
    page_add(&page, "collections that come evenly are a calm line", &data, 1, 118);
    data.series = STRIP_RSS;
    page_add(&page, "not known in the beginning", &data, 1, 118);
    page_close(&page, "strip-series");
}

static void
fits_all_widths(void **state)
{
    static const int widths[] = {20, 29, 30, 40, 60, 68, 69, 80, 118, 200, 300};
    struct page page;
    struct strip_data data = eventful();
    (void)state;
    data.live = false;
    data.cursor_us = START + 22 * MINUTE;
    page_open(&page, 300, false);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        char title[40];
        snprintf(title, sizeof title, "%d", widths[i]);
        page_add(&page, title, &data, 1, widths[i]);
    }
    page_close(&page, "strip-widths");
    for (int columns = 0; columns <= 1200; columns++) {
        for (int rows = 1; rows <= 2; rows++) {
            page_open(&page, columns + 3, false);
            for (int i = 0; i < 3 * page.grid.columns; i++) {
                page.grid.cells[i].character = '#';
            }
            strip_draw(&data, glyphs_of(false), &page.grid,
                       (struct area){0, 0, rows, columns});
            for (int row = 0; row < 3; row++) { // nothing beside its area
                int from = row < rows && columns > 3 ? columns : 3;
                for (int column = from; column < page.grid.columns; column++) {
                    assert_int_equal(
                        page.grid.cells[row * page.grid.columns + column].character, '#');
                }
            }
            page_close(&page, NULL);
        }
    }
}

static void
draws_with_ascii_alone(void **state)
{
    struct page page;
    struct strip_data data = eventful();
    (void)state;
    page_open(&page, 118, true);
    page_add(&page, "live", &data, 1, 118);
    data.live = false;
    data.cursor_us = START + 22 * MINUTE;
    page_add(&page, "rewound", &data, 1, 118);
    page_add(&page, "in two rows", &data, 2, 118);
    page_add(&page, "narrow", &data, 1, 60);
    for (int i = 0; i < page.grid.rows * page.grid.columns; i++) {
        assert_in_range(page.grid.cells[i].character, ' ', '~');
    }
    page_close(&page, "strip-ascii");
}

static void
gives_each_mark_a_cell(void **state)
{
    struct strip_mark marks[MODEL_MARKS_MAX + 2];
    struct page page;
    struct strip_data data = growing();
    (void)state;
    page_open(&page, 118, false);
    data.marks = marks;
    data.mark_count = 4;
    for (size_t i = 0; i < 4; i++) {
        marks[i] = (struct strip_mark){START + 50 * MINUTE + i * SECOND, (char)('D' - i)};
    }
    page_add(&page, "D C B A within seconds", &data, 1, 118);
    for (size_t i = 0; i < 4; i++) {
        marks[i] = (struct strip_mark){data.to_us - i * SECOND, (char)('A' + i)};
    }
    page_add(&page, "D C B A just now", &data, 1, 118);
    data.growing = false;
    page_add(&page, "the same in a replay at its end", &data, 1, 118);
    data.cursor_us = START;
    page_add(&page, "and at its start", &data, 1, 118);
    data.mark_count = MODEL_MARKS_MAX + 2;
    for (size_t i = 0; i < data.mark_count; i++) {
        marks[i] = (struct strip_mark){START + i * MINUTE, (char)('A' + i % 26)};
    }
    page_add(&page, "all", &data, 1, 118);
    page_add(&page, "more than there are cells", &data, 1, 20);
    page_close(&page, "strip-marks");
}

static void
tells_gaps_however_long(void **state)
{
    static const struct strip_gap gaps[] = {
        {START + 3 * MINUTE,                START + 3 * MINUTE + 5 * SECOND, ""                 },
        {START + 9 * MINUTE,                START + 12 * MINUTE,             ""                 },
        {START + 16 * MINUTE,               START + 26 * MINUTE,             ""                 },
        {START + 30 * MINUTE,               START + 60 * MINUTE,             "connection lost"  },
        {START + 64 * MINUTE,               START + 84 * MINUTE,             "\xce\xb1\x1b[2J"  },
        {START + 84 * MINUTE + 10 * SECOND, START + 99 * MINUTE,             "recording stopped"},
    };
    static const struct strip_mark marks[] = {
        {START + 21 * MINUTE, 'A'},
        {START + 45 * MINUTE, 'B'},
    };
    struct page page;
    struct strip_data data = growing();
    (void)state;
    page_open(&page, 118, false);
    data.gaps = gaps;
    data.gap_count = sizeof gaps / sizeof gaps[0];
    forget_gaps(&data);
    page_add(&page, "of 5 seconds, 3, 10, 30, 20 and 15 minutes", &data, 1, 118);
    page_add(&page, "in two rows", &data, 2, 118);
    data.series = STRIP_GCS;
    page_add(&page, "of collections", &data, 2, 118);
    data.series = STRIP_LIVE;
    data.marks = marks;
    data.mark_count = 2;
    page_add(&page, "marks in gaps", &data, 2, 118);
    page_add(&page, "narrow", &data, 1, 60);
    data.point_count = 0;
    page_add(&page, "and nothing else known", &data, 2, 118);
    page_close(&page, "strip-gaps");
}

static void
knows_nothing_yet(void **state)
{
    struct page page;
    struct strip_data data = growing();
    uint64_t wall_us;
    (void)state;
    page_open(&page, 118, false);
    data.to_us = data.from_us;
    data.cursor_us = data.from_us;
    data.point_count = 1;
    page_add(&page, "one point", &data, 1, 118);
    data.point_count = 0;
    page_add(&page, "none", &data, 1, 118);
    data.growing = false;
    page_add(&page, "an empty recording", &data, 1, 118);
    assert_true(strip_time_at(&data, (struct area){0, 0, 1, 118}, 0, 80, &wall_us));
    assert_true(wall_us == data.from_us);
    data.from_us = UINT64_MAX; // whatever a file says
    data.to_us = 0;
    page_add(&page, "an end before the start", &data, 2, 118);
    data.from_us = 0;
    data.to_us = UINT64_MAX;
    page_add(&page, "longer than there is time", &data, 1, 118);
    page_close(&page, "strip-empty");
}

// One point a second, with nothing but a second's spike and a second's dip in it.
static struct strip_data
a_day(void)
{
    for (size_t i = 0; i < POINTS_MAX; i++) {
        points[i] = (struct strip_point){
            .wall_us = START + i * SECOND,
            .live = i == 20000   ? 900000
                    : i == 60000 ? 100000
                                 : 400000 + 10 * (i % 1000), // as the collector makes it
            .rss_bytes = 100 << 20,
            .gc_count = i < 50000 ? i / 5 : 10000 + (i - 50000) * 2,
            .mode = MODE_COUNT,
        };
    }
    return (struct strip_data){
        .from_us = START,
        .to_us = START + 86400 * SECOND,
        .cursor_us = START + 43200 * SECOND,
        .points = points,
        .point_count = POINTS_MAX,
    };
}

static void
shows_a_second_of_a_day_in_a_hundred_cells(void **state)
{
    static struct strip_levels levels;
    struct page page;
    struct strip_data data = a_day();
    (void)state;
    strip_levels_make(&levels, &data, 100);
    for (int i = 0; i < 100; i++) {
        double value = i == 20000 / 864   ? 900000
                       : i == 60000 / 864 ? 100000
                                          : levels.list[i].high;
        assert_true(levels.list[i].known);
        assert_true(levels.list[i].value == value);
        assert_true(levels.list[i].low >= 400000 || i == 60000 / 864);
        assert_true(levels.list[i].high <= 409990 || i == 20000 / 864);
    }
    page_open(&page, 118, false);
    page_add(&page, "objects", &data, 1, 118);
    page_add(&page, "above what happened", &data, 2, 108);
    data.series = STRIP_GCS;
    page_add(&page, "collections", &data, 2, 108);
    page_close(&page, "strip-day");
}

static void
counts_collections_whatever_the_points(void **state)
{
    static struct strip_levels levels;
    struct strip_data data = a_day();
    double sum = 0;
    (void)state;
    data.series = STRIP_GCS;
    data.to_us = points[POINTS_MAX - 1].wall_us;
    strip_levels_make(&levels, &data, 100);
    for (int i = 0; i < 100; i++) {
        sum += levels.list[i].value;
    }
    double counted = (double)(points[POINTS_MAX - 1].gc_count - points[0].gc_count);
    assert_true(sum > counted * 0.999 && sum < counted * 1.001);
    // a point an hour: cells between them have their part
    for (size_t i = 0; i < 24; i++) {
        points[i] = points[i * 3600];
    }
    data.point_count = 24;
    data.to_us = points[23].wall_us;
    strip_levels_make(&levels, &data, 460); // 20 cells an hour
    assert_true(levels.list[10].value > 35.9 && levels.list[10].value < 36.1);
    points[2].gc_count = 0; // counted anew: nothing is known of that hour
    strip_levels_make(&levels, &data, 460);
    assert_true(levels.list[10].known);
    assert_false(levels.list[30].known);
    assert_true(levels.list[50].known);
}

static void
survives_clocks_that_are_set(void **state)
{
    static struct strip_levels levels;
    struct strip_data data = growing();
    (void)state;
    for (size_t i = 300; i < data.point_count; i++) {
        points[i].wall_us -= 30 * MINUTE;
    }
    for (int series = 0; series < STRIP_SERIES; series++) {
        data.series = (enum strip_series)series;
        strip_levels_make(&levels, &data, 100);
        assert_true(levels.list[0].known);
        assert_true(levels.list[60].known);
    }
    for (size_t i = 0; i < data.point_count; i++) { // and clocks that say anything
        points[i].wall_us = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        points[i].gc_count = points[i].wall_us * 3;
    }
    for (int series = 0; series < STRIP_SERIES; series++) {
        data.series = (enum strip_series)series;
        strip_levels_make(&levels, &data, STRIP_CELLS_MAX);
    }
}

static void
finds_the_time_of_a_column_and_back(void **state)
{
    struct strip_data data = growing();
    uint64_t wall_us;
    (void)state;
    for (int columns = 20; columns <= 300; columns++) {
        for (int rows = 1; rows <= 2; rows++) {
            struct area area = {3, 2, rows, columns};
            int first = strip_column_of(&data, area, data.from_us);
            int last = strip_column_of(&data, area, data.to_us);
            assert_true(first > 2 && last < columns + 2);
            for (int column = first; column <= last; column++) {
                assert_true(strip_time_at(&data, area, 3 + rows - 1, column, &wall_us));
                assert_int_equal(strip_column_of(&data, area, wall_us), column);
            }
            assert_true(strip_time_at(&data, area, 3 + rows - 1, first, &wall_us));
            assert_true(wall_us == data.from_us);
            // beside it are its ends, so that the mouse may slip
            assert_true(strip_time_at(&data, area, 3 + rows - 1, last, &wall_us));
            assert_true(wall_us == data.to_us);
            assert_true(strip_time_at(&data, area, 3, columns + 1, &wall_us));
            assert_true(wall_us == data.to_us);
            assert_true(strip_time_at(&data, area, 3, 2, &wall_us));
            assert_true(wall_us == data.from_us);
            assert_false(strip_time_at(&data, area, 2, first, &wall_us));
            assert_false(strip_time_at(&data, area, 3 + rows, first, &wall_us));
            assert_false(strip_time_at(&data, area, 3, 1, &wall_us));
            assert_false(strip_time_at(&data, area, 3, columns + 2, &wall_us));
        }
    }
    // the number's columns are times as well
    struct area area = {0, 0, 1, 118};
    assert_true(strip_time_at(&data, area, 0, 1, &wall_us));
    assert_true(wall_us == data.from_us);
    int track = strip_column_of(&data, area, data.from_us);
    assert_true(strip_time_at(&data, area, 0, track - 1, &wall_us));
    assert_true(wall_us == data.to_us);
    assert_true(strip_time_at(&data, area, 0, track / 2, &wall_us));
    assert_in_range((wall_us - START) / MINUTE, 48, 52);
}

static void
a_letter_is_exactly_its_mark(void **state)
{
    struct strip_data data = eventful();
    struct area area = {0, 0, 1, 118};
    uint64_t wall_us;
    (void)state;
    for (size_t i = 0; i < data.mark_count; i++) {
        int column = strip_column_of(&data, area, data.marks[i].wall_us);
        assert_true(strip_time_at(&data, area, 0, column, &wall_us));
        assert_true(wall_us == data.marks[i].wall_us);
    }
}

static void
leaves_small_screens_to_the_table(void **state)
{
    (void)state;
    assert_int_equal(strip_rows(13, 118), 0);
    assert_int_equal(strip_rows(30, 19), 0);
    assert_int_equal(strip_rows(24, 80), 1);
    assert_int_equal(strip_rows(30, 118), 1);
    assert_int_equal(strip_rows(50, 200), 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_each_state),
        cmocka_unit_test(puts_the_number_above_in_two_rows),
        cmocka_unit_test(shows_each_series_in_one_row),
        cmocka_unit_test(fits_all_widths),
        cmocka_unit_test(draws_with_ascii_alone),
        cmocka_unit_test(gives_each_mark_a_cell),
        cmocka_unit_test(tells_gaps_however_long),
        cmocka_unit_test(knows_nothing_yet),
        cmocka_unit_test(shows_a_second_of_a_day_in_a_hundred_cells),
        cmocka_unit_test(counts_collections_whatever_the_points),
        cmocka_unit_test(survives_clocks_that_are_set),
        cmocka_unit_test(finds_the_time_of_a_column_and_back),
        cmocka_unit_test(a_letter_is_exactly_its_mark),
        cmocka_unit_test(leaves_small_screens_to_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
