#include "tui/export/html/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "protocol/message.h"

#define S "\xe2\x80\xaf"
#define MINUS "\xe2\x88\x92"
#define UNKNOWN "\xe2\x80\x93"

static char text[FIGURE_BYTES];

static void
counts_are_grouped(void **state)
{
    (void)state;
    assert_string_equal(figure_count(text, 0), "0");
    assert_string_equal(figure_count(text, 999), "999");
    assert_string_equal(figure_count(text, 18402), "18" S "402");
    assert_string_equal(figure_count(text, 1234567), "1" S "234" S "567");
    assert_string_equal(figure_count(text, NAN), UNKNOWN);
    assert_string_equal(figure_count(text, figure_number(COUNT_UNKNOWN)), UNKNOWN);
    assert_string_equal(figure_count(text, 1e300),
                        "1" S "000" S "000" S "000" S "000" S "000" S "000");
}

static void
changes_have_a_sign(void **state)
{
    (void)state;
    assert_string_equal(figure_change(text, 12310), "+12" S "310");
    assert_string_equal(figure_change(text, -4), MINUS "4");
    assert_string_equal(figure_change(text, 0), "0");
    assert_string_equal(figure_change(text, -0.2), "0");
    assert_string_equal(figure_change(text, figure_difference(3, COUNT_UNKNOWN)),
                        UNKNOWN);
    assert_string_equal(figure_direction(3), "up");
    assert_string_equal(figure_direction(-3), "down");
    assert_string_equal(figure_direction(NAN), "even");
}

static void
sizes_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    assert_string_equal(figure_bytes(text, 240), "240" S "B");
    assert_string_equal(figure_bytes(text, 2211840), "2.11" S "MiB");
    assert_string_equal(figure_bytes(text, 1023.9 * 1024), "1.00" S "MiB");
    assert_string_equal(figure_bytes_change(text, -1048576), MINUS "1.00" S "MiB");
    assert_string_equal(figure_bytes(text, 1e30), "867361737988" S "EiB");
}

static void
durations_have_two_units(void **state)
{
    (void)state;
    assert_string_equal(figure_duration(text, 0), "0" S "s");
    assert_string_equal(figure_duration(text, 60), "1" S "min");
    assert_string_equal(figure_duration(text, 90), "1" S "min 30" S "s");
    assert_string_equal(figure_duration(text, 28800), "8" S "h");
    assert_string_equal(figure_duration(text, 180061), "2" S "days 2" S "h");
    assert_string_equal(figure_duration(text, NAN), UNKNOWN);
    assert_string_equal(figure_duration(text, -1), UNKNOWN);
}

static void
times_are_local(void **state)
{
    const uint64_t at = UINT64_C(1767225600000000);

    (void)state;
    assert_string_equal(figure_moment(text, at), "2026-01-01 00:00:00");
    assert_string_equal(figure_zone(text, at), "UTC");
    assert_string_equal(figure_moment(text, 0), "");
    assert_string_equal(figure_moment(text, COUNT_UNKNOWN), "");
    setenv("TZ", "Test3:30", 1);
    tzset();
    assert_string_equal(figure_clock(text, at), "20:30:00");
    assert_string_equal(figure_zone(text, at), "UTC" MINUS "03:30");
    setenv("TZ", "UTC", 1);
    tzset();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped),
        cmocka_unit_test(changes_have_a_sign),
        cmocka_unit_test(sizes_have_three_digits_and_a_unit),
        cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(times_are_local),
    };

    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
