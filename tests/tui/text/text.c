#include "tui/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
escapes_what_must_not_reach_a_terminal(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *shown;
    } cases[] = {
        {"Order",            5, "Order"              },
        {"\x1b[2J",          4, "\\x1B[2J"           },
        {"a\nb\tc\0d",       7, "a\\x0Ab\\x09c\\x00d"},
        {"\x7f",             1, "\\x7F"              },
        {"\xc2\x9b",         2, "\\u{9b}"            }, // CSI in one character
        {"\xff",             1, "\\xFF"              },
        {"\xe6\xb3",         2, "\\xE6\\xB3"         }, // cut in the middle
        {"\xc0\xaf",         2, "\\xC0\\xAF"         }, // not the shortest form
        {"\xed\xa0\x80",     3, "\\xED\\xA0\\x80"    }, // half a surrogate pair
        {"\xe2\x80\xae",     3, "\\u{202e}"          }, // right-to-left override
        {"\xe2\x81\xa6",     3, "\\u{2066}"          }, // isolate
        {"\xe2\x80\x8b",     3, "\\u{200b}"          }, // zero width space
        {"\xef\xbb\xbf",     3, "\\u{feff}"          }, // byte order mark
        {"\xef\xb8\x8f",     3, "\\u{fe0f}"          }, // variation selector
        {"\xf3\xa0\x80\x81", 4, "\\u{e0001}"         }, // tag
        {"\xcc\x81"
         "a",       3, "\\u{301}a"          }, // a mark without a letter
        {"e\xcc\x81",        3, "e\xcc\x81"          },
        {"\xe6\xb3\xa8",     3, "\xe6\xb3\xa8"       },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *shown = text_escaped(cases[i].bytes, cases[i].length);
        assert_non_null(shown);
        assert_string_equal(shown, cases[i].shown);
        free(shown);
    }
}

static void
never_cuts_an_escape_in_two(void **state)
{
    static const char bytes[] = "ab\x1b\xe2\x80\xae\xe6\xb3\xa8";
    char whole[64];
    (void)state;
    size_t full = text_escape(whole, sizeof whole, bytes, sizeof bytes - 1);
    for (size_t capacity = 1; capacity <= full + 1; capacity++) {
        char out[64];
        memset(out, '#', sizeof out);
        size_t length = text_escape(out, capacity, bytes, sizeof bytes - 1);
        assert_true(length < capacity);
        assert_int_equal(strlen(out), length);
        assert_memory_equal(out, whole, length);
        assert_true(length == full || length == 2 || length == 1 || length == 0 ||
                    length == strlen("ab\\x1B") || length == strlen("ab\\x1B\\u{202e}"));
        assert_int_equal(out[capacity], '#');
    }
}

static void
escapes_any_bytes_to_safe_text_within_its_bound(void **state)
{
    unsigned seed = 7;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        char bytes[24];
        char out[sizeof bytes * TEXT_ESCAPE_GROWTH + 1];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1103515245u + 12345u;
            bytes[i] = (char)(seed >> 16);
        }
        size_t length = text_escape(out, sizeof out, bytes, sizeof bytes);
        for (size_t at = 0; at < length;) {
            uint32_t character;
            bool valid;
            at += text_decode(out + at, length - at, &character, &valid);
            assert_true(valid);
            assert_false(text_hostile(character));
        }
    }
}

static void
measures_cells_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("Order"), 5);
    assert_int_equal(text_width("\xe6\xb3\xa8\xe6\x96\x87"), 4);
    assert_int_equal(text_width("e\xcc\x81"), 1);
    assert_int_equal(text_width("\xff"), 1); // U+FFFD on the screen
    assert_int_equal(text_width("▁▂▃…–Δ"), 6);
}

static void
cuts_between_clusters_and_says_that_it_did(void **state)
{
    static const struct {
        const char *text;
        int columns;
        bool ascii;
        const char *fitted;
    } cases[] = {
        {"Order",                    5, false, "Order"                   },
        {"Order",                    4, false, "Ord…"                  },
        {"Order",                    4, true,  "Ord~"                    },
        {"Order",                    1, false, "…"                     },
        {"Order",                    0, false, ""                        },
        {"\xe6\xb3\xa8\xe6\x96\x87", 4, false, "\xe6\xb3\xa8\xe6\x96\x87"},
        {"\xe6\xb3\xa8\xe6\x96\x87", 3, false, "\xe6\xb3\xa8…"         },
        {"\xe6\xb3\xa8\xe6\x96\x87", 2, false, "…"                     },
        {"ae\xcc\x81z",              3, false, "ae\xcc\x81z"             },
        {"ae\xcc\x81zz",             3, false, "ae\xcc\x81…"           },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64];
        size_t length =
            text_fit(out, sizeof out, cases[i].text, cases[i].columns, cases[i].ascii);
        assert_string_equal(out, cases[i].fitted);
        assert_int_equal(length, strlen(out));
    }
}

static void
fits_into_any_capacity(void **state)
{
    static const char text[] = "ae\xcc\x81\xe6\xb3\xa8\xe6\x96\x87 and more";
    (void)state;
    for (size_t capacity = 1; capacity < 24; capacity++) {
        for (int columns = 0; columns < 20; columns++) {
            char out[32];
            memset(out, '#', sizeof out);
            size_t length = text_fit(out, capacity, text, columns, false);
            assert_true(length < capacity);
            assert_int_equal(out[length], '\0');
            assert_true(text_width(out) <= columns);
            for (size_t at = 0; at < length;) {
                uint32_t character;
                bool valid;
                at += text_decode(out + at, length - at, &character, &valid);
                assert_true(valid);
            }
        }
    }
}

static void
encodes_what_it_decodes(void **state)
{
    static const uint32_t characters[] = {1,     'a',    0x7f,    0x80,    0x7ff,
                                          0x800, 0xffff, 0x10000, 0x10ffff};
    (void)state;
    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++) {
        char bytes[TEXT_CHARACTER_BYTES];
        uint32_t decoded;
        bool valid;
        size_t length = text_encode(characters[i], bytes);
        assert_int_equal(text_decode(bytes, length, &decoded, &valid), length);
        assert_true(valid);
        assert_int_equal(decoded, characters[i]);
    }
    char bytes[TEXT_CHARACTER_BYTES];
    text_encode(0xd800, bytes);
    assert_string_equal(bytes, "\xef\xbf\xbd");
    text_encode(0xffffffffu, bytes);
    assert_string_equal(bytes, "\xef\xbf\xbd");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_must_not_reach_a_terminal),
        cmocka_unit_test(never_cuts_an_escape_in_two),
        cmocka_unit_test(escapes_any_bytes_to_safe_text_within_its_bound),
        cmocka_unit_test(measures_cells_not_bytes),
        cmocka_unit_test(cuts_between_clusters_and_says_that_it_did),
        cmocka_unit_test(fits_into_any_capacity),
        cmocka_unit_test(encodes_what_it_decodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
