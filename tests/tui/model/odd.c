#include "tui/model/odd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct odd_measure measure = {10, 0.25};

// How many values are odd; `which` is the last of them.
static size_t
odd_ones(const double *values, size_t count, size_t *which)
{
    struct odd_usual usual;
    size_t odd = 0;
    if (!odd_usual(values, count, &measure, &usual)) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (odd_distance(&usual, values[i]) > 1) {
            odd++;
            *which = i;
        }
    }
    return odd;
}

static void
one_far_from_the_others_is_odd(void **state)
{
    const double high[] = {100, 101, 99, 400, 102};
    const double low[] = {1000, 1010, 20, 990};
    size_t which = 0;
    (void)state;
    assert_int_equal(odd_ones(high, 5, &which), 1);
    assert_int_equal(which, 3);
    assert_int_equal(odd_ones(low, 4, &which), 1);
    assert_int_equal(which, 2);
}

static void
of_two_nobody_knows_which_is_odd(void **state)
{
    const double values[] = {100, 4000};
    const double unknown[] = {100, 4000, (double)NAN};
    size_t which;
    (void)state;
    assert_int_equal(odd_ones(values, 2, &which), 0);
    assert_int_equal(odd_ones(unknown, 3, &which), 0);
}

static void
what_all_of_them_vary_by_is_usual(void **state)
{
    const double values[] = {100, 300, 500, 700, 900, 1100};
    size_t which;
    (void)state;
    assert_int_equal(odd_ones(values, 6, &which), 0);
}

static void
little_is_not_odd_though_all_others_are_equal(void **state)
{
    const double close[] = {1000, 1000, 1000, 1200};
    const double small[] = {0, 0, 0, 9};
    size_t which;
    (void)state;
    assert_int_equal(odd_ones(close, 4, &which), 0);
    assert_int_equal(odd_ones(small, 4, &which), 0);
}

static void
an_unknown_value_is_neither_odd_nor_usual(void **state)
{
    const double values[] = {(double)NAN, 100, 101, 500};
    size_t which = 0;
    (void)state;
    assert_int_equal(odd_ones(values, 4, &which), 1);
    assert_int_equal(which, 3);
}

static void
more_than_it_takes_are_not_judged(void **state)
{
    static double values[ODD_MOST + 1];
    struct odd_usual usual;
    (void)state;
    assert_true(odd_usual(values, ODD_MOST, &measure, &usual));
    assert_false(odd_usual(values, ODD_MOST + 1, &measure, &usual));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_far_from_the_others_is_odd),
        cmocka_unit_test(of_two_nobody_knows_which_is_odd),
        cmocka_unit_test(what_all_of_them_vary_by_is_usual),
        cmocka_unit_test(little_is_not_odd_though_all_others_are_equal),
        cmocka_unit_test(an_unknown_value_is_neither_odd_nor_usual),
        cmocka_unit_test(more_than_it_takes_are_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
