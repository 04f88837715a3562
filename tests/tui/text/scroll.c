#include "tui/text/scroll.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"

#define ROOM (1u << 20)

static void
feed(struct scroll *scroll, const char *text)
{
    assert_true(scroll_feed(scroll, text, strlen(text)));
}

// What bytes become, lines joined by "|", however they are split.
static void
expect(const char *bytes, size_t length, const char *lines)
{
    for (size_t split = 0; split <= length; split++) {
        struct scroll *scroll = scroll_new(ROOM);
        char joined[512] = "";
        assert_non_null(scroll);
        assert_true(scroll_feed(scroll, bytes, split));
        assert_true(scroll_feed(scroll, bytes + split, length - split));
        for (uint64_t i = 0; i < scroll_end(scroll); i++) {
            strcat(joined, i > 0 ? "|" : "");
            strcat(joined, scroll_line(scroll, i));
        }
        assert_string_equal(joined, lines);
        scroll_free(scroll);
    }
}

static void
lines_are_what_ends_with_a_newline_and_the_last_may_not(void **state)
{
    (void)state;
    expect("", 0, "");
    expect("one\ntwo\n\nfour", 13, "one|two||four");
    expect("one\r\ntwo\r\n", 10, "one|two");
}

static void
control_sequences_are_taken_out_wherever_they_are_split(void **state)
{
    static const char *const cases[][2] = {
        {"\033[31mred\033[0m.",                      "red."      },
        {"\033]0;a title\aafter",                    "after"     },
        {"\033]8;;http://x\033\\link\033]8;;\033\\", "link"      },
        {"\033P1;2|dcs\033\\x",                      "x"         },
        {"\033(Bplain\033[?25l\033[2J\033[1;1H",     "plain"     },
        {"bell\a, \001\002del\177",                  "bell, del" },
        {"ab\b\bcd",                                 "cd"        },
        {"a\tb",                                     "a       b" },
        {"10 %\r50 %\r100 %",                        "100 %"     },
        {"\303\244\303\266\bx",                      "\303\244x" },
        {"open \033]0;never closed\nnext",           "open |next"},
        {"\033[31\033[32mgreen",                     "green"     },
        {"\033\033[1mx",                             "[1mx"      },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        expect(cases[i][0], strlen(cases[i][0]), cases[i][1]);
    }
}

static void
a_zero_byte_is_no_end(void **state)
{
    (void)state;
    expect("a\0b", 3, "ab");
}

static void
the_oldest_lines_are_forgotten_and_numbers_stay(void **state)
{
    struct scroll *scroll = scroll_new(10000);
    char line[64];
    (void)state;
    assert_non_null(scroll);
    for (int i = 0; i < 100000; i++) {
        snprintf(line, sizeof(line), "line %d\n", i);
        feed(scroll, line);
    }
    assert_int_equal(scroll_end(scroll), 100000);
    assert_in_range(scroll_first(scroll), 99000, 99900);
    assert_string_equal(scroll_line(scroll, 99999), "line 99999");
    snprintf(line, sizeof(line), "line %d", (int)scroll_first(scroll));
    assert_string_equal(scroll_line(scroll, scroll_first(scroll)), line);
    assert_string_equal(scroll_line(scroll, scroll_first(scroll) - 1), "");
    assert_string_equal(scroll_line(scroll, 5), "");
    assert_string_equal(scroll_line(scroll, 200000), "");
    scroll_free(scroll);
}

static void
a_line_without_end_is_broken(void **state)
{
    struct scroll *scroll = scroll_new(ROOM);
    (void)state;
    assert_non_null(scroll);
    for (unsigned i = 0; i < 3 * SCROLL_LINE_MAX; i++) {
        feed(scroll, "x");
    }
    assert_int_equal(scroll_end(scroll), 3);
    assert_int_equal(strlen(scroll_line(scroll, 0)), SCROLL_LINE_MAX);
    scroll_free(scroll);
}

static void
a_sequence_without_end_swallows_only_so_much(void **state)
{
    struct scroll *scroll = scroll_new(ROOM);
    (void)state;
    assert_non_null(scroll);
    feed(scroll, "\033]");
    for (int i = 0; i < 8192; i++) {
        feed(scroll, "y");
    }
    assert_in_range(strlen(scroll_line(scroll, 0)), 1, SCROLL_LINE_MAX);
    scroll_free(scroll);
}

static void
lines_for_which_there_is_no_memory_are_missing(void **state)
{
    (void)state;
    for (int left = 0; left < 2; left++) {
        memory_allow(left);
        assert_null(scroll_new(ROOM));
    }
    memory_allow(-1);
    struct scroll *scroll = scroll_new(ROOM);
    memory_allow(0);
    bool good = scroll_feed(scroll, "one\ntwo", 7);
    memory_allow(-1);
    assert_false(good);
    assert_string_equal(scroll_line(scroll, 0), "two");
    scroll_free(scroll);
    scroll_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_what_ends_with_a_newline_and_the_last_may_not),
        cmocka_unit_test(control_sequences_are_taken_out_wherever_they_are_split),
        cmocka_unit_test(a_zero_byte_is_no_end),
        cmocka_unit_test(the_oldest_lines_are_forgotten_and_numbers_stay),
        cmocka_unit_test(a_line_without_end_is_broken),
        cmocka_unit_test(a_sequence_without_end_swallows_only_so_much),
        cmocka_unit_test(lines_for_which_there_is_no_memory_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
