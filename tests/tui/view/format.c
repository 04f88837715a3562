#include "tui/view/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/message.h"
#include "tui/view/sparkline.h"

struct written {
    double value;
    const char *text;
};

static void
check(void (*format)(char *, const struct glyphs *, double), const struct written *cases,
      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char out[FORMAT_BYTES];
        format(out, glyphs_of(false), cases[i].value);
        assert_string_equal(out, cases[i].text);
    }
    char out[FORMAT_BYTES];
    format(out, glyphs_of(false), (double)NAN);
    assert_string_equal(out, "–");
    format(out, glyphs_of(true), (double)NAN);
    assert_string_equal(out, "-");
    // whatever comes in fits
    format(out, glyphs_of(false), (double)INFINITY);
    format(out, glyphs_of(false), -1e300);
    assert_true(strlen(out) < FORMAT_BYTES);
}

static void
groups_digits_by_three(void **state)
{
    static const struct written cases[] = {
        {0,                  "0"                    },
        {7,                  "7"                    },
        {999,                "999"                  },
        {1000,               "1 000"                },
        {18402,              "18 402"               },
        {1130212,            "1 130 212"            },
        {-18402,             "-18 402"              },
        {9007199254740992.0, "9 007 199 254 740 992"},
    };
    (void)state;
    check(format_grouped, cases, sizeof cases / sizeof cases[0]);
}

static void
gives_a_size_three_digits_and_a_unit(void **state)
{
    static const struct written cases[] = {
        {0,                  "0B"    },
        {240,                "240B"  },
        {999,                "999B"  },
        {1000,               "0.98K" },
        {1024,               "1.00K" },
        {9830,               "9.60K" },
        {655360,             "640K"  },
        {2212495,            "2.11M" },
        {43935334,           "41.9M" },
        {222298112,          "212M"  },
        {1023.9 * 1024,      "1.00M" },
        {1073741824.0 * 1.5, "1.50G" },
        {-2212495,           "-2.11M"},
    };
    (void)state;
    check(format_size, cases, sizeof cases / sizeof cases[0]);
}

static void
gives_a_count_three_digits_and_a_unit(void **state)
{
    static const struct written cases[] = {
        {0,      "0"     },
        {999,    "999"   },
        {1000,   "1.00K" },
        {18402,  "18.4K" },
        {999499, "999K"  },
        {999500, "1.00M" },
        {99950,  "100K"  },
        {9995,   "10.0K" },
        {-1500,  "-1.50K"},
    };
    (void)state;
    check(format_short, cases, sizeof cases / sizeof cases[0]);
}

static void
signs_a_change(void **state)
{
    static const struct written grouped[] = {
        {12310, "+12 310"},
        {-5,    "-5"     },
        {0,     "0"      }
    };
    static const struct written small[] = {
        {12310, "+12.3K"},
        {-5,    "-5"    },
        {0,     "0"     }
    };
    static const struct written size[] = {
        {1153434, "+1.10M"},
        {-240,    "-240B" },
        {0,       "0B"    }
    };
    (void)state;
    check(format_grouped_change, grouped, 3);
    check(format_short_change, small, 3);
    check(format_size_change, size, 3);
}

static void
gives_a_rate_one_decimal_until_a_thousand(void **state)
{
    static const struct written plain[] = {
        {0,      "0.0"   },
        {0.04,   "0.0"   },
        {41.23,  "41.2"  },
        {999.94, "999.9" },
        {999.96, "1 000" },
        {12401,  "12 401"}
    };
    static const struct written change[] = {
        {0,      "0.0"    },
        {0.04,   "0.0"    },
        {-0.04,  "0.0"    },
        {41.23,  "+41.2"  },
        {-2,     "-2.0"   },
        {-12401, "-12 401"}
    };
    (void)state;
    check(format_rate, plain, sizeof plain / sizeof plain[0]);
    check(format_rate_change, change, sizeof change / sizeof change[0]);
}

static void
gives_a_percentage_one_decimal(void **state)
{
    static const struct written cases[] = {
        {0.8,  "0.8 %"  },
        {100,  "100.0 %"},
        {3.06, "3.1 %"  }
    };
    (void)state;
    check(format_percent, cases, 3);
}

static void
gives_a_duration_its_two_largest_units(void **state)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } cases[] = {
        {0,      "0s"   },
        {59,     "59s"  },
        {60,     "1m00s"},
        {250,    "4m10s"},
        {3600,   "1h00m"},
        {3840,   "1h04m"},
        {86400,  "1d00h"},
        {266400, "3d02h"},
    };
    char out[FORMAT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        format_duration(out, cases[i].seconds);
        assert_string_equal(out, cases[i].text);
    }
    format_duration(out, UINT64_MAX);
    assert_true(strlen(out) < FORMAT_BYTES);
    assert_true(isnan(format_number(COUNT_UNKNOWN)));
}

static void
draws_two_minutes_in_a_few_cells(void **state)
{
    static const uint64_t growing[] = {0, 10, 20, 30, 40, 50, 60, 70};
    static const uint64_t flat[] = {5, 5, 5, 5, 5, 5, 5, 5};
    static const uint64_t none[] = {0, 0, 0, 0, 0, 0, 0, 0};
    static const uint64_t gap[] = {70, 70, COUNT_UNKNOWN, COUNT_UNKNOWN, 70, 70, 70, 70};
    static const uint64_t small[] = {990, 991, 992, 993, 994, 995, 996, 1000};
    char out[SPARKLINE_BYTES];
    (void)state;
    sparkline(out, 8, glyphs_of(false), growing, 8, 8);
    assert_string_equal(out, "▁▂▃▄▅▆▇█");
    sparkline(out, 8, glyphs_of(true), growing, 8, 8);
    assert_string_equal(out, ".:-=+*#@");
    sparkline(out, 4, glyphs_of(false), growing, 8, 8);
    assert_string_equal(out, "▂▄▆█");
    sparkline(out, 8, glyphs_of(false), flat, 8, 8);
    assert_string_equal(out, "▅▅▅▅▅▅▅▅");
    sparkline(out, 8, glyphs_of(false), none, 8, 8);
    assert_string_equal(out, "▁▁▁▁▁▁▁▁");
    sparkline(out, 8, glyphs_of(false), gap, 8, 8);
    assert_string_equal(out, "▅▅  ▅▅▅▅");
    sparkline(out, 8, glyphs_of(false), small, 8, 8);
    assert_string_equal(out, "▄▄▄▄▄▅▅▅"); // one in a hundred is no growth to the eye
    sparkline(out, 8, glyphs_of(false), growing, 4, 8);
    assert_string_equal(out, "    ▁▃▆█");
    sparkline(out, 1000, glyphs_of(false), growing, 8, 8);
    assert_true(strlen(out) < SPARKLINE_BYTES);
    sparkline(out, 8, glyphs_of(false), growing, 0, 8);
    assert_string_equal(out, "        ");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_digits_by_three),
        cmocka_unit_test(gives_a_size_three_digits_and_a_unit),
        cmocka_unit_test(gives_a_count_three_digits_and_a_unit),
        cmocka_unit_test(signs_a_change),
        cmocka_unit_test(gives_a_rate_one_decimal_until_a_thousand),
        cmocka_unit_test(gives_a_percentage_one_decimal),
        cmocka_unit_test(gives_a_duration_its_two_largest_units),
        cmocka_unit_test(draws_two_minutes_in_a_few_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
