#include "tui/export/html/axis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define S "\xe2\x80\xaf"
#define MIB (1024.0 * 1024.0)
#define HOUR UINT64_C(3600)

static void
expect_labels(struct axis axis, const char *wanted)
{
    char all[512] = "";
    char label[FIGURE_BYTES];

    for (int i = 0; i < axis_count(&axis); i++) {
        strcat(all, i > 0 ? " | " : "");
        strcat(all, axis_label(&axis, i, label));
    }
    assert_string_equal(all, wanted);
}

static void
labels_are_round(void **state)
{
    (void)state;
    expect_labels(axis_values(40, 970, false, 5),
                  "0 | 200 | 400 | 600 | 800 | 1" S "000");
    expect_labels(axis_values(0, 2430307, false, 5),
                  "0 | 0.5" S "M | 1.0" S "M | 1.5" S "M | 2.0" S "M | 2.5" S "M");
    expect_labels(axis_values(41 * MIB, 345 * MIB, true, 5),
                  "0 | 100" S "MiB | 200" S "MiB | 300" S "MiB | 400" S "MiB");
    expect_labels(axis_values(0, 1536 * MIB, true, 3),
                  "0 | 0.5" S "GiB | 1.0" S "GiB | 1.5" S "GiB");
}

static void
a_line_that_hardly_moves_is_looked_at_closely(void **state)
{
    struct axis axis = axis_values(1130000, 1131000, false, 5);

    (void)state;
    assert_true(axis.from > 0);
    assert_true(axis.from <= 1130000);
    assert_true(axis.to >= 1131000);
    assert_in_range(axis_count(&axis), 3, 12);
}

static void
nothing_and_a_single_value_have_an_axis(void **state)
{
    (void)state;
    expect_labels(axis_values(0, 0, false, 5), "0 | 1");
    expect_labels(axis_values(0, 1, false, 5), "0 | 1");
    for (int i = 0; i < 34; i++) {
        double value = pow(3.7, i);
        struct axis axis = axis_values(value, value, false, 5);
        assert_true(axis.to > axis.from);
        assert_true(axis.from <= value && value <= axis.to);
        assert_in_range(axis_count(&axis), 2, 64);
    }
}

static void
always_holds_its_values_with_few_ticks(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        for (int sixteenths = 0; sixteenths <= 16; sixteenths++) {
            for (int bytes = 0; bytes < 2; bytes++) {
                double most = pow(2.3, i);
                double part = sixteenths / 16.0;
                struct axis axis = axis_values(most * part, most, bytes == 1, 5);
                assert_true(axis.from <= most * part);
                assert_true(axis.to >= most);
                assert_in_range(axis_count(&axis), 2, 16);
            }
        }
    }
}

static void
times_are_on_round_local_ones(void **state)
{
    char label[FIGURE_BYTES];
    const uint64_t begin = UINT64_C(1767218310000000); // 21:58:30 UTC

    (void)state;
    assert_int_equal(axis_time_step(8 * 3600, 10), HOUR);
    assert_int_equal(axis_time_step(1, 10), 1);
    assert_int_equal(axis_time_step(90, 10), 10);
    assert_true(axis_time_step(1e12, 10) >= 1000000000);
    assert_string_equal(axis_time_label(axis_time_first(begin, HOUR), HOUR, label),
                        "22:00");
    assert_string_equal(axis_time_label(axis_time_first(begin, 10), 10, label),
                        "21:58:30");
    setenv("TZ", "Test-5:30", 1);
    tzset();
    assert_string_equal(axis_time_label(axis_time_first(begin, HOUR), HOUR, label),
                        "04:00");
    setenv("TZ", "UTC", 1);
    tzset();
}

static void
the_date_is_said_when_it_changes(void **state)
{
    char label[FIGURE_BYTES];
    const uint64_t begin = UINT64_C(1767218310000000);

    (void)state;
    assert_string_equal(axis_date_label(begin, 0, label), "2025-12-31");
    assert_string_equal(axis_date_label(begin + 1000000, begin, label), "");
    assert_string_equal(axis_date_label(begin + HOUR * 3000000, begin, label),
                        "2026-01-01");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_round),
        cmocka_unit_test(a_line_that_hardly_moves_is_looked_at_closely),
        cmocka_unit_test(nothing_and_a_single_value_have_an_axis),
        cmocka_unit_test(always_holds_its_values_with_few_ticks),
        cmocka_unit_test(times_are_on_round_local_ones),
        cmocka_unit_test(the_date_is_said_when_it_changes),
    };

    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
