#include "tui/text/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"

static void
holds_for_a_text_that_has_a_part_which_matches(void **state)
{
    char why[64];
    struct pattern *pattern = pattern_new("^Shop::(Cart|Order)", why, sizeof why);

    (void)state;
    assert_non_null(pattern);
    assert_true(pattern_matches(pattern, "Shop::Cart"));
    assert_true(pattern_matches(pattern, "Shop::OrderLine"));
    assert_false(pattern_matches(pattern, "shop::cart"));
    assert_false(pattern_matches(pattern, "My::Shop::Cart"));
    assert_false(pattern_matches(pattern, ""));
    pattern_free(pattern);
    pattern_free(NULL);
}

static void
says_why_it_is_none(void **state)
{
    char why[64] = "";

    (void)state;
    assert_null(pattern_new("(", why, sizeof why));
    assert_true(strlen(why) > 0);
    memory_allow(0);
    struct pattern *pattern = pattern_new("a", why, sizeof why);
    memory_allow(-1);
    assert_null(pattern);
    assert_string_equal(why, "memory ran out");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_for_a_text_that_has_a_part_which_matches),
        cmocka_unit_test(says_why_it_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
