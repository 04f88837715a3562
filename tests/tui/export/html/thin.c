#include "tui/export/html/thin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "protocol/message.h"

#define MANY 86400

static uint64_t values[MANY];
static struct thin_pick picks[2000];

static void
takes_all_when_there_are_few(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2000; i++) {
        values[i] = i * 7 % 13;
    }
    assert_int_equal(thin(values, 2000, 2000, picks), 2000);
    for (size_t i = 0; i < 2000; i++) {
        assert_int_equal(picks[i].index, i);
        assert_false(picks[i].breaks);
    }
    assert_int_equal(thin(values, 0, 2000, picks), 0);
    assert_int_equal(thin(values, 1, 4, picks), 1);
}

static void
keeps_the_ends_and_every_extreme(void **state)
{
    static const size_t places[] = {1, 777, 43210, 65000, MANY - 2};

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        values[i] = 1000 + i % 3;
    }
    for (size_t i = 0; i < 5; i++) {
        values[places[i]] = i % 2 == 0 ? 1000000 : 1;
    }
    size_t count = thin(values, MANY, 2000, picks);
    assert_in_range(count, 1000, 2000);
    assert_int_equal(picks[0].index, 0);
    assert_int_equal(picks[count - 1].index, MANY - 1);
    for (size_t i = 0; i < 5; i++) {
        bool found = false;
        for (size_t j = 0; j < count; j++) {
            found = found || picks[j].index == places[i];
        }
        assert_true(found);
    }
}

static void
comes_in_order_and_never_has_what_is_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        values[i] = i % 5 == 0 || (i > 5000 && i < 9000) ? COUNT_UNKNOWN : i * 31 % 1009;
    }
    for (size_t most = 4; most <= 2000; most += 499) {
        size_t count = thin(values, MANY, most, picks);
        assert_in_range(count, 1, most);
        for (size_t i = 0; i < count; i++) {
            assert_true(values[picks[i].index] != COUNT_UNKNOWN);
            assert_true(i == 0 || picks[i].index > picks[i - 1].index);
        }
    }
}

static void
says_where_a_line_breaks(void **state)
{
    static const uint64_t few[] = {1, 2, COUNT_UNKNOWN, 3, 4, COUNT_UNKNOWN};

    (void)state;
    assert_int_equal(thin(few, 6, 8, picks), 4);
    assert_false(picks[1].breaks);
    assert_true(picks[2].breaks);
    assert_false(picks[3].breaks);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_all_when_there_are_few),
        cmocka_unit_test(keeps_the_ends_and_every_extreme),
        cmocka_unit_test(comes_in_order_and_never_has_what_is_unknown),
        cmocka_unit_test(says_where_a_line_breaks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
