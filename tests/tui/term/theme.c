#include "tui/term/theme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int depths[] = {0, 8, 16, 256};

static bool
same(struct look a, struct look b)
{
    return a.foreground == b.foreground && a.background == b.background &&
           a.attributes == b.attributes;
}

static void
knows_its_themes_by_name(void **state)
{
    enum theme theme = THEME_DEFAULT;

    (void)state;
    assert_true(theme_parse("mono", &theme));
    assert_int_equal(theme, THEME_MONO);
    assert_true(theme_parse("colorblind", &theme));
    assert_int_equal(theme, THEME_COLORBLIND);
    assert_true(theme_parse("default", &theme));
    assert_int_equal(theme, THEME_DEFAULT);
    assert_false(theme_parse("", &theme));
    assert_false(theme_parse("colourful", &theme));
}

static void
asks_for_no_colour_the_terminal_does_not_have(void **state)
{
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++) {
        for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
            for (int style = 0; style < STYLE_COUNT * 2; style++) {
                struct look look =
                    theme_look((enum theme)theme, depths[i],
                               (enum style)(style % STYLE_COUNT), style >= STYLE_COUNT);
                assert_true(look.foreground < depths[i] && look.foreground >= -1);
                assert_true(look.background < depths[i] && look.background >= -1);
            }
        }
    }
}

static void
the_selected_row_differs_from_the_others(void **state)
{
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++) {
        for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
            struct look plain =
                theme_look((enum theme)theme, depths[i], STYLE_NORMAL, false);
            struct look selected =
                theme_look((enum theme)theme, depths[i], STYLE_NORMAL, true);
            assert_false(same(plain, selected));
        }
    }
}

static void
grew_and_shrank_differ_wherever_there_are_colours(void **state)
{
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++) {
        for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
            assert_false(
                same(theme_look((enum theme)theme, depths[i], STYLE_GREW, false),
                     theme_look((enum theme)theme, depths[i], STYLE_SHRANK, false)));
        }
    }
}

static void
mono_uses_no_colours(void **state)
{
    (void)state;
    for (int style = 0; style < STYLE_COUNT; style++) {
        struct look look = theme_look(THEME_MONO, 256, (enum style)style, false);
        assert_int_equal(look.foreground, -1);
        assert_int_equal(look.background, -1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_themes_by_name),
        cmocka_unit_test(asks_for_no_colour_the_terminal_does_not_have),
        cmocka_unit_test(the_selected_row_differs_from_the_others),
        cmocka_unit_test(grew_and_shrank_differ_wherever_there_are_colours),
        cmocka_unit_test(mono_uses_no_colours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
