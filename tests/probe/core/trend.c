// A class's whole life in few points.
#include "probe/core/trend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND_US UINT64_C(1000000)

static struct trend_state
holding(uint64_t live, uint64_t bytes)
{
    return (struct trend_state){.live = live, .bytes = bytes};
}

// A moment that ends a window, this many seconds after the start.
static struct trend_moment
end_at(uint64_t second)
{
    return (struct trend_moment){.at_us = second * SECOND_US, .window_ends = true};
}

static void
a_point_is_the_least_that_was_seen_in_its_window(void **state)
{
    (void)state;
    const uint64_t lives[] = {90, 40, 70};
    struct trend trend;
    struct trend_moment moment = {.at_us = 0};
    struct trend_state seen = holding(100, COUNT_UNKNOWN);
    trend_init(&trend, &moment, &seen);
    for (size_t i = 0; i < 3; i++) {
        moment =
            (struct trend_moment){.at_us = (i + 1) * SECOND_US, .window_ends = i == 2};
        seen = holding(lives[i], COUNT_UNKNOWN);
        trend_add(&trend, &moment, &seen);
    }
    assert_int_equal(trend.count, 2);
    assert_int_equal(trend.points[0].live, 40);
    assert_int_equal(trend.points[0].end_s, 3);
    assert_true(trend.points[0].bytes < 0);
    assert_int_equal(trend.points[1].live, 70);
}

static void
any_length_of_life_fits_and_keeps_its_minima_in_order(void **state)
{
    (void)state;
    struct trend trend;
    struct trend_moment moment = {.at_us = 0};
    struct trend_state seen = holding(0, 0);
    trend_init(&trend, &moment, &seen);
    for (uint64_t i = 1; i <= 100000; i++) {
        moment = end_at(5 * i);
        seen = holding(i, 10 * i);
        trend_add(&trend, &moment, &seen);
        assert_true(trend.count >= 2 || i < 2);
        assert_true(trend.count <= TREND_POINTS);
    }
    assert_int_equal(trend.points[0].live, 0);
    for (uint32_t i = 1; i < trend.count; i++) {
        assert_int_equal(trend.points[i].live, i * trend.stride);
        assert_int_equal(trend.points[i - 1].end_s, 5 * i * trend.stride);
        assert_true(trend.points[i].bytes == 10.0F * (float)trend.points[i].live);
    }
}

static void
a_merged_point_knows_of_full_collections_in_either_half(void **state)
{
    (void)state;
    struct trend trend;
    struct trend_moment moment = {.at_us = 0};
    struct trend_state seen = holding(5, COUNT_UNKNOWN);
    trend_init(&trend, &moment, &seen);
    for (uint64_t i = 1; i <= TREND_POINTS; i++) {
        moment = end_at(5 * i);
        moment.full_ended = i == 2 || i == 3 || i == TREND_POINTS;
        trend_add(&trend, &moment, &seen);
    }
    assert_int_equal(trend.stride, 2);
    assert_int_equal(trend.full, 1u | 1u << 1 | 1u << (TREND_POINTS / 2 - 1));
}

static void
counts_beyond_a_point_stay_at_the_most_it_holds(void **state)
{
    (void)state;
    struct trend trend;
    struct trend_moment moment = {.at_us = 0};
    struct trend_state seen = holding(UINT64_C(1) << 40, 1);
    trend_init(&trend, &moment, &seen);
    assert_int_equal(trend.points[0].live, UINT32_MAX);
}

static struct trend_moment
look(struct trend_window *window, uint64_t second, uint64_t collections, uint64_t majors)
{
    struct trend_moment moment = {
        .at_us = second * SECOND_US, .collections = collections, .majors = majors};
    trend_window(window, &moment);
    return moment;
}

static void
a_window_ends_after_its_time_and_a_collection(void **state)
{
    (void)state;
    struct trend_window window = {0};
    assert_false(look(&window, 100, 7, 1).window_ends);
    assert_false(look(&window, 104, 9, 1).window_ends);
    assert_true(look(&window, 105, 9, 1).window_ends);
    assert_false(look(&window, 400, 9, 1).window_ends);
    assert_true(look(&window, 401, 10, 1).window_ends);
}

static void
a_full_collection_ends_when_the_next_one_begins(void **state)
{
    (void)state;
    struct trend_window window = {0};
    look(&window, 0, 1, 1);
    assert_false(look(&window, 5, 2, 2).full_ended);
    assert_false(look(&window, 20, 2, 2).full_ended); // its sweep may go on
    struct trend_moment moment = look(&window, 25, 3, 2);
    assert_true(moment.window_ends && moment.full_ended);
    assert_false(look(&window, 30, 4, 2).full_ended);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_is_the_least_that_was_seen_in_its_window),
        cmocka_unit_test(any_length_of_life_fits_and_keeps_its_minima_in_order),
        cmocka_unit_test(a_merged_point_knows_of_full_collections_in_either_half),
        cmocka_unit_test(counts_beyond_a_point_stay_at_the_most_it_holds),
        cmocka_unit_test(a_window_ends_after_its_time_and_a_collection),
        cmocka_unit_test(a_full_collection_ends_when_the_next_one_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
