#include "protocol/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/decoder.h"

struct outcome {
    const char *problem; // NULL: accepted
    const char *bytes;
    size_t length;
};

static const char short_of_bytes[] = "it ends too early";
static const char boastful[] = "it claims more than it holds";

static void
judges_each_format_by_its_first_byte(void **state)
{
    (void)state;
    const struct outcome verdicts[] = {
        {short_of_bytes,              "",                         0 },
        {NULL,                        "\x7f",                     1 },
        {NULL,                        "\xff",                     1 },
        {NULL,                        "\xc0",                     1 },
        {"a byte that is no msgpack", "\xc1",                     1 },
        {"bytes are left behind it",  "\xc0\xc0",                 2 },
        {NULL,                        "\xcf\1\2\3\4\5\6\7\x8",    9 },
        {short_of_bytes,              "\xcf\1\2\3\4\5\6\7",       8 },
        {NULL,                        "\xa3xyz",                  4 },
        {boastful,                    "\xa3xy",                   3 },
        {boastful,                    "\xdb\xff\xff\xff\xffxy",   7 },
        {short_of_bytes,              "\xdb\xff\xff\xff",         4 },
        {NULL,                        "\xc7\3\1xyz",              6 },
        {boastful,                    "\xc7\3\1xy",               5 },
        {NULL,                        "\xd8ghijklmnopqrstuvw",    18},
        {short_of_bytes,              "\xd8ghijklmnopqrstuv",     17},
        {NULL,                        "\x92\1\2",                 3 },
        {boastful,                    "\x92\1",                   2 },
        {NULL,                        "\x81\1\2",                 3 },
        {boastful,                    "\x81\1",                   2 },
        {NULL,                        "\xdc\0\2\x90\x80",         5 },
        {boastful,                    "\xdd\xff\xff\xff\xff\1\2", 7 },
        {boastful,                    "\xdf\xff\xff\xff\xff\1\2", 7 },
        {boastful,                    "\xde\0\2\1\2\3",           6 },
        {short_of_bytes,              "\x92\x91\1",               3 },
    };
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        const struct outcome *verdict = &verdicts[i];
        const char *problem =
            scan_value((const unsigned char *)verdict->bytes, verdict->length);
        if (verdict->problem == NULL) {
            assert_null(problem);
        } else {
            assert_non_null(problem);
            assert_string_equal(problem, verdict->problem);
        }
    }
}

// A list in a list in a list.
static void
goes_as_deep_as_the_maximum_and_no_deeper(void **state)
{
    (void)state;
    unsigned char bytes[DECODE_DEPTH_MAX + 2];
    memset(bytes, 0x91, sizeof bytes);
    bytes[DECODE_DEPTH_MAX] = 0xc0;
    assert_null(scan_value(bytes, DECODE_DEPTH_MAX + 1));
    memset(bytes, 0x91, sizeof bytes);
    bytes[DECODE_DEPTH_MAX + 1] = 0xc0;
    assert_string_equal(scan_value(bytes, DECODE_DEPTH_MAX + 2), "nested too deep");
}

static void
counts_up_to_the_maximum_and_no_further(void **state)
{
    (void)state;
    size_t length = 5 + (size_t)DECODE_VALUES_MAX;
    unsigned char *bytes = calloc(1, length);
    assert_non_null(bytes);
    size_t children = DECODE_VALUES_MAX - 1; // the list is a value as well
    memcpy(bytes, "\xdd\x00\x3f\xff\xff", 5);
    assert_int_equal(children, 0x3fffff);
    assert_null(scan_value(bytes, 5 + children));
    memcpy(bytes, "\xdd\x00\x40\x00\x00", 5);
    assert_string_equal(scan_value(bytes, 5 + children + 1), "too many values");
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_each_format_by_its_first_byte),
        cmocka_unit_test(goes_as_deep_as_the_maximum_and_no_deeper),
        cmocka_unit_test(counts_up_to_the_maximum_and_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
