#include "probe/core/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const variables[] = {
    "MEMTOP_SOCKET",      "MEMTOP_MODE",         "MEMTOP_INTERVAL",
    "MEMTOP_BUDGET",      "MEMTOP_DEPTH",        "MEMTOP_TRACE",
    "MEMTOP_READONLY",    "MEMTOP_FLIGHT",       "MEMTOP_FLIGHT_FILE",
    "MEMTOP_FLIGHT_SIZE", "MEMTOP_FLIGHT_LIMIT", "MEMTOP_FLIGHT_PAUSE",
    "MEMTOP_ATTENDANT"};

static char warnings[1024];
static unsigned warned;

static void
warn(const char *why)
{
    warned++;
    strncat(warnings, why, sizeof(warnings) - strlen(warnings) - 1);
}

static int
start(void **state)
{
    static struct settings settings;
    *state = &settings;
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        unsetenv(variables[i]);
    }
    warned = 0;
    warnings[0] = '\0';
    settings_init(&settings);
    return 0;
}

static void
expect_defaults(const struct settings *settings)
{
    assert_string_equal(settings->socket, "");
    assert_int_equal(settings->mode, MODE_COUNT);
    assert_true(settings->interval_s >= 1 && settings->interval_s <= 1);
    assert_true(settings->budget_percent >= 3 && settings->budget_percent <= 3);
    assert_int_equal(settings->depth, 64);
    assert_string_equal(settings->trace, "");
    assert_false(settings->readonly);
    assert_int_equal(settings->attendant, 0);
    assert_false(settings->attendant_gc);
    assert_string_equal(settings->flight_file, "");
    assert_int_equal(settings->flight_bytes, 16 * 1024 * 1024);
    assert_int_equal(settings->flight_limit, 3);
    assert_true(settings->flight_pause_s >= 300 && settings->flight_pause_s <= 300);
}

static void
without_anything_said_the_defaults_hold(void **state)
{
    settings_from_environment(*state, warn);
    expect_defaults(*state);
    assert_string_equal(((struct settings *)*state)->flight, "");
    assert_int_equal(warned, 0);
}

static void
the_environment_sets_all_of_them(void **state)
{
    static const char *const values[] = {
        "/tmp/x.sock", "census",      "0.25",
        "12.5",        "7",           "Order,My::Line",
        "yes",         "rss>1G,exit", "/var/log/x.memtop",
        "256M",        "5",           "0.5",
        "4120,gc"};
    const struct settings *settings = *state;
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        setenv(variables[i], values[i], 1);
    }
    settings_from_environment(*state, warn);
    assert_int_equal(warned, 0);
    assert_string_equal(settings->socket, "/tmp/x.sock");
    assert_int_equal(settings->mode, MODE_CENSUS);
    assert_true(settings->interval_s >= 0.25 && settings->interval_s <= 0.25);
    assert_true(settings->budget_percent >= 12.5 && settings->budget_percent <= 12.5);
    assert_int_equal(settings->depth, 7);
    assert_string_equal(settings->trace, "Order,My::Line");
    assert_true(settings->readonly);
    assert_string_equal(settings->flight, "rss>1G,exit");
    assert_string_equal(settings->flight_file, "/var/log/x.memtop");
    assert_int_equal(settings->flight_bytes, 256 * 1024 * 1024);
    assert_int_equal(settings->flight_limit, 5);
    assert_int_equal(settings->attendant, 4120);
    assert_true(settings->attendant_gc);
    assert_true(settings->flight_pause_s >= 0.5 && settings->flight_pause_s <= 0.5);
}

// Wrong rules are left out one by one; without any left nothing is recorded.
static void
wrong_rules_are_said_with_their_place_and_the_others_hold(void **state)
{
    struct settings *settings = *state;
    static char long_one[SETTINGS_FLIGHT_MAX + 1];
    char why[512];
    assert_false(settings_set(settings, "flight", "rss>1G, foo>3", why, sizeof(why)));
    assert_non_null(strstr(why, "MEMTOP_FLIGHT, character 9: \"foo>3\""));
    assert_non_null(strstr(why, "the other rules hold"));
    assert_string_equal(settings->flight, "rss>1G, foo>3");
    assert_false(settings_set(settings, "flight", "foo>3", why, sizeof(why)));
    assert_non_null(strstr(why, "nothing is recorded"));
    assert_string_equal(settings->flight, "");
    memset(long_one, ' ', sizeof(long_one) - 1);
    assert_false(settings_set(settings, "flight", long_one, why, sizeof(why)));
    assert_non_null(strstr(why, "longer than 4095 bytes"));
    assert_true(settings_set(settings, "flight", "", why, sizeof(why)));
    assert_string_equal(settings->flight, "");
}

static void
a_wrong_value_is_said_and_changes_nothing(void **state)
{
    static const char *const wrong[][2] = {
        {"socket",       ""              },
        {"mode",         ""              },
        {"mode",         "COUNT"         },
        {"mode",         "count "        },
        {"mode",         "tracing"       },
        {"mode",         "2"             },
        {"interval",     ""              },
        {"interval",     "0"             },
        {"interval",     "0.0999"        },
        {"interval",     "3600.1"        },
        {"interval",     "-1"            },
        {"interval",     "nan"           },
        {"interval",     "inf"           },
        {"interval",     "1e400"         },
        {"interval",     "1s"            },
        {"interval",     "one"           },
        {"budget",       "0"             },
        {"budget",       "100.5"         },
        {"budget",       "3%"            },
        {"attendant",    ""              },
        {"attendant",    "0"             },
        {"attendant",    "-1"            },
        {"attendant",    "12,"           },
        {"attendant",    "12,gcc"        },
        {"attendant",    ",gc"           },
        {"attendant",    "99999999999"   },
        {"depth",        "0"             },
        {"depth",        "4097"          },
        {"depth",        "-1"            },
        {"depth",        "64.5"          },
        {"depth",        "99999999999999"},
        {"trace",        "Order;Hash"    },
        {"trace",        "#<Class:Order>"},
        {"readonly",     ""              },
        {"readonly",     "2"             },
        {"readonly",     "TRUE"          },
        {"flight_file",  ""              },
        {"flight_size",  "63K"           },
        {"flight_size",  "65G"           },
        {"flight_size",  "16MB"          },
        {"flight_limit", "0"             },
        {"flight_limit", "1.5"           },
        {"flight_limit", "1001"          },
        {"flight_pause", "-1"            },
        {"flight_pause", "5m"            },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char why[256] = "";
        print_message("%s=%s\n", wrong[i][0], wrong[i][1]);
        assert_false(settings_set(*state, wrong[i][0], wrong[i][1], why, sizeof(why)));
        expect_defaults(*state);
        assert_non_null(strstr(why, "MEMTOP_"));
        assert_non_null(strstr(why, wrong[i][1]));
        assert_non_null(strstr(why, "the default stays"));
    }
}

static void
the_ends_of_each_range_are_taken(void **state)
{
    static const char *const right[][2] = {
        {"interval",     "0.1"    },
        {"interval",     "3600"   },
        {"budget",       "0.1"    },
        {"budget",       "100"    },
        {"depth",        "1"      },
        {"depth",        "4096"   },
        {"readonly",     "0"      },
        {"readonly",     "1"      },
        {"mode",         "dormant"},
        {"flight_size",  "64K"    },
        {"flight_size",  "64G"    },
        {"flight_limit", "1000"   },
        {"flight_pause", "0"      },
    };
    char why[256];
    for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
        assert_true(settings_set(*state, right[i][0], right[i][1], why, sizeof(why)));
    }
}

static void
each_wrong_variable_is_one_warning_and_the_others_hold(void **state)
{
    const struct settings *settings = *state;
    setenv("MEMTOP_MODE", "everything", 1);
    setenv("MEMTOP_INTERVAL", "soon", 1);
    setenv("MEMTOP_DEPTH", "9", 1);
    settings_from_environment(*state, warn);
    assert_int_equal(warned, 2);
    assert_int_equal(settings->depth, 9);
    assert_int_equal(settings->mode, MODE_COUNT);
    assert_non_null(strstr(warnings, "MEMTOP_MODE \"everything\""));
}

static void
a_path_is_taken_up_to_its_maximum(void **state)
{
    static char path[SETTINGS_PATH_MAX + 1];
    char why[256];
    memset(path, 'x', sizeof(path) - 1);
    assert_false(settings_set(*state, "socket", path, why, sizeof(why)));
    expect_defaults(*state);
    path[SETTINGS_PATH_MAX - 1] = '\0';
    assert_true(settings_set(*state, "socket", path, why, sizeof(why)));
    assert_string_equal(((struct settings *)*state)->socket, path);
}

static void
a_name_that_is_none_is_said(void **state)
{
    char why[256];
    assert_false(settings_set(*state, "sockets", "x", why, sizeof(why)));
    assert_non_null(strstr(why, "\"sockets\""));
}

// What was given is shown on a terminal: control characters must not be.
static void
what_was_given_is_shown_without_its_control_characters(void **state)
{
    char why[256];
    assert_false(settings_set(*state, "mode", "\033]0;owned\007\n", why, sizeof(why)));
    assert_false(settings_set(*state, "mode", "\033]0;owned\007\n", why, sizeof(why)));
    for (const char *c = why; *c; c++) {
        assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    assert_non_null(strstr(why, "owned"));
}

static void
a_short_place_for_words_is_not_overrun(void **state)
{
    char why[10];
    memset(why, '#', sizeof(why));
    assert_false(settings_set(*state, "mode", "nothing of the kind", why, 8));
    assert_int_equal(strlen(why), 7);
    assert_int_equal(why[8], '#');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_anything_said_the_defaults_hold, start),
        cmocka_unit_test_setup(the_environment_sets_all_of_them, start),
        cmocka_unit_test_setup(a_wrong_value_is_said_and_changes_nothing, start),
        cmocka_unit_test_setup(wrong_rules_are_said_with_their_place_and_the_others_hold,
                               start),
        cmocka_unit_test_setup(the_ends_of_each_range_are_taken, start),
        cmocka_unit_test_setup(each_wrong_variable_is_one_warning_and_the_others_hold,
                               start),
        cmocka_unit_test_setup(a_path_is_taken_up_to_its_maximum, start),
        cmocka_unit_test_setup(a_name_that_is_none_is_said, start),
        cmocka_unit_test_setup(what_was_given_is_shown_without_its_control_characters,
                               start),
        cmocka_unit_test_setup(a_short_place_for_words_is_not_overrun, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
