#include "tui/view/age.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/view/format.h"

static void
expect(double a, double b, double c, double d, const char *wanted)
{
    const double ages[AGE_BUCKETS] = {a, b, c, d};
    char out[AGE_BYTES];

    memset(out, 'x', sizeof out);
    age_histogram(out, glyphs_of(false), ages);
    assert_string_equal(out, wanted);
}

static void
expect_old(double a, double b, double c, double d, double wanted)
{
    const double ages[AGE_BUCKETS] = {a, b, c, d};

    assert_true(fabs(age_old(ages) - wanted) < 1e-9);
}

static void
the_largest_is_as_high_as_a_cell(void **state)
{
    (void)state;
    expect(8, 4, 2, 1, "█▄▂▁");
    expect(1, 2, 4, 8, "▁▂▄█");
    expect(5, 5, 5, 5, "████");
}

static void
one_object_is_one_full_cell(void **state)
{
    (void)state;
    expect(1, 0, 0, 0, "█   ");
    expect(0, 0, 0, 1, "   █");
}

static void
few_beside_many_are_not_hidden(void **state)
{
    (void)state;
    expect(1000000, 1, 0, 0, "█▁  ");
    expect(1, 0, 0, (double)UINT64_MAX, "▁  █");
}

static void
every_height_begins_just_above_the_one_below(void **state)
{
    (void)state;
    expect(8, 7, 6, 5, "█▇▆▅");
    expect(8, 3, 1.001, 1, "█▃▂▁");
}

static void
no_object_has_no_age(void **state)
{
    (void)state;
    expect(0, 0, 0, 0, "–");
}

static void
what_nobody_counted_is_unknown(void **state)
{
    double unknown = format_number(COUNT_UNKNOWN);

    (void)state;
    expect(unknown, unknown, unknown, unknown, "–");
}

// A probe may know some of the four only.
static void
what_is_not_known_beside_what_is_stays_blank(void **state)
{
    (void)state;
    expect(4, (double)NAN, 2, (double)NAN, "█ ▄ ");
    expect((double)NAN, 0, 0, 3, "   █");
    expect((double)NAN, 0, 0, 0, "–");
}

static void
less_than_nothing_is_nothing(void **state)
{
    (void)state;
    expect(-1, -2, -3, -4, "–");
    expect(-1, 4, -8, 0, " █  ");
}

static void
ascii_has_heights_of_its_own(void **state)
{
    const double ages[AGE_BUCKETS] = {8, 4, 1, 0};
    const double none[AGE_BUCKETS] = {0};
    char out[AGE_BYTES];

    (void)state;
    age_histogram(out, glyphs_of(true), ages);
    assert_string_equal(out, "@=. ");
    age_histogram(out, glyphs_of(true), none);
    assert_string_equal(out, "-");
}

static void
old_is_what_survived_eight_collections(void **state)
{
    (void)state;
    expect_old(1, 1, 1, 1, 0.5);
    expect_old(3, 0, 0, 1, 0.25);
    expect_old(0, 0, 1, 0, 1);
    expect_old(7, 0, 0, 0, 0);
}

static void
without_objects_no_share_is_old(void **state)
{
    const double none[AGE_BUCKETS] = {0};
    const double some[AGE_BUCKETS] = {1, (double)NAN, 1, 1};

    (void)state;
    assert_true(isnan(age_old(none)));
    assert_true(isnan(age_old(some)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_is_as_high_as_a_cell),
        cmocka_unit_test(one_object_is_one_full_cell),
        cmocka_unit_test(few_beside_many_are_not_hidden),
        cmocka_unit_test(every_height_begins_just_above_the_one_below),
        cmocka_unit_test(no_object_has_no_age),
        cmocka_unit_test(what_nobody_counted_is_unknown),
        cmocka_unit_test(what_is_not_known_beside_what_is_stays_blank),
        cmocka_unit_test(less_than_nothing_is_nothing),
        cmocka_unit_test(ascii_has_heights_of_its_own),
        cmocka_unit_test(old_is_what_survived_eight_collections),
        cmocka_unit_test(without_objects_no_share_is_old),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
