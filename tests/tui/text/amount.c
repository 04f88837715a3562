#include "tui/text/amount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000)

struct amount {
    const char *text;
    uint64_t value;
};

static void
check(bool (*parse)(const char *, uint64_t *), const struct amount *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        if (!parse(cases[i].text, &value) || value != cases[i].value) {
            fail_msg("\"%s\" is %llu", cases[i].text, (unsigned long long)value);
        }
    }
}

static void
refuse(bool (*parse)(const char *, uint64_t *), const char *const *wrong, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 7;
        if (parse(wrong[i], &value)) {
            fail_msg("\"%s\" is taken for %llu", wrong[i], (unsigned long long)value);
        }
        assert_int_equal(value, 7);
    }
}

static void
reads_durations(void **state)
{
    static const struct amount cases[] = {
        {"0",           0                     },
        {"90",          90 * SECOND           },
        {"500ms",       SECOND / 2            },
        {"90s",         90 * SECOND           },
        {"10m",         600 * SECOND          },
        {"2h",          7200 * SECOND         },
        {"1d",          86400 * SECOND        },
        {"1h20m",       4800 * SECOND         },
        {"1d2h3m4s5ms", 93784 * SECOND + 5000 },
        {"1.5m",        90 * SECOND           },
        {"1h0.5m",      3630 * SECOND         },
        {"0.000001",    1                     },
        {"1m90s",       150 * SECOND          },
        {"36525d",      AMOUNT_DURATION_MAX_US},
    };
    (void)state;
    check(amount_duration, cases, sizeof cases / sizeof cases[0]);
}

static void
refuses_what_is_no_duration(void **state)
{
    static const char *const wrong[] = {
        "",
        "s",
        "soon",
        "-1",
        "+1",
        "1x",
        "10mm",
        "1s2",
        "1m1h",
        "1m1m",
        "1 m",
        " 1m",
        "1m ",
        "nan",
        "inf",
        "1e9",
        "0x10",
        "1.",
        ".5",
        "1..5m",
        "1.5.5m",
        "1H",
        "36526d",
        "36525d1ms",
        "9999999999999999s",
        "1.1234567s",
        "999999999999999d",
        "1m\n",
        "1\xc3\xa9",
    };
    (void)state;
    refuse(amount_duration, wrong, sizeof wrong / sizeof wrong[0]);
}

static void
reads_sizes(void **state)
{
    static const struct amount cases[] = {
        {"0",                0                   },
        {"1500",             1500                },
        {"1500B",            1500                },
        {"64K",              65536               },
        {"64k",              65536               },
        {"256M",             UINT64_C(256) << 20 },
        {"1G",               UINT64_C(1) << 30   },
        {"1.5G",             UINT64_C(3) << 29   },
        {"2T",               UINT64_C(2) << 40   },
        {"0.000001T",        1099511             },
        {"16777215.999999T", UINT64_MAX - 1099511},
    };
    (void)state;
    check(amount_bytes, cases, sizeof cases / sizeof cases[0]);
}

static void
refuses_what_is_no_size(void **state)
{
    static const char *const wrong[] = {
        "",   "K",      "big", "-1",   "1KB", "1KiB",      "1 K",
        "1.", "1K1",    "1e6", "0x10", "1.K", "16777216T", "999999999999999T",
        "1P", "1024MM",
    };
    (void)state;
    refuse(amount_bytes, wrong, sizeof wrong / sizeof wrong[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_durations),
        cmocka_unit_test(refuses_what_is_no_duration),
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(refuses_what_is_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
