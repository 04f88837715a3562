#include "tui/view/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tui/view/clock.h"
#include "tui/view/header_time.h"

#define SECOND UINT64_C(1000000)

static void
in_zone(const char *zone)
{
    assert_int_equal(setenv("TZ", zone, 1), 0);
    tzset();
}

// Microseconds of a time in UTC, "2026-01-31 14:03:20".
static uint64_t
utc(const char *text)
{
    struct tm fields = {0};
    assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &fields));
    return (uint64_t)timegm(&fields) * SECOND;
}

// From 12:00 to 14:30 UTC, 13:30 is shown, A is 13:00 and C before the start.
static struct when_span
afternoon(void)
{
    struct when_span span = {
        .from_us = utc("2026-01-31 12:00:00"),
        .to_us = utc("2026-01-31 14:30:00"),
        .cursor_us = utc("2026-01-31 13:30:00"),
        .live = true,
    };
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        span.marks[i] = WHEN_NO_MARK;
    }
    span.marks[0] = utc("2026-01-31 13:00:00");
    span.marks[2] = utc("2026-01-31 11:00:00");
    return span;
}

struct typed_case {
    const char *typed;
    enum when_status status;
    const char *utc;   // NULL where it is wrong
    const char *words; // a part of them
};

static void
check(const struct when_span *span, const struct typed_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct when when = when_parse(cases[i].typed, span);
        uint64_t wanted_us = cases[i].utc != NULL ? utc(cases[i].utc) : 0;
        if (when.status != cases[i].status || when.wall_us != wanted_us ||
            strstr(when.words, cases[i].words) == NULL ||
            (cases[i].status == WHEN_FOUND) != (when.words[0] == '\0')) {
            fail_msg("\"%s\": status %d, %llu off by %lld s, \"%s\"", cases[i].typed,
                     (int)when.status, (unsigned long long)when.wall_us,
                     ((long long)when.wall_us - (long long)wanted_us) / 1000000,
                     when.words);
        }
    }
}

#define CHECK(span, cases) check(span, cases, sizeof(cases) / sizeof((cases)[0]))

static void
steps_from_the_moment_that_is_shown(void **state)
{
    static const struct typed_case cases[] = {
        {"-5m",     WHEN_FOUND,   "2026-01-31 13:25:00", ""                             },
        {"+30s",    WHEN_FOUND,   "2026-01-31 13:30:30", ""                             },
        {"-1h20m",  WHEN_FOUND,   "2026-01-31 12:10:00", ""                             },
        {"  -90 ",  WHEN_FOUND,   "2026-01-31 13:28:30", ""                             },
        {"-0",      WHEN_FOUND,   "2026-01-31 13:30:00", ""                             },
        {"-2h",     WHEN_NEAREST, "2026-01-31 12:00:00", "the start, 12:00:00"          },
        {"+1d",     WHEN_NEAREST, "2026-01-31 14:30:00", "the end, 14:30:00"            },
        {"-36525d", WHEN_NEAREST, "2026-01-31 12:00:00", "nothing before it"            },
        {"+36525d", WHEN_NEAREST, "2026-01-31 14:30:00", "nothing after it"             },
        {"-5x",     WHEN_WRONG,   NULL,                  "\"-5x\" is no step: -5m, +30s"},
        {"-",       WHEN_WRONG,   NULL,                  "is no step"                   },
        {"--5m",    WHEN_WRONG,   NULL,                  "is no step"                   },
        {"- 5m",    WHEN_WRONG,   NULL,                  "is no step"                   },
    };
    struct when_span span = afternoon();
    (void)state;
    in_zone("UTC");
    CHECK(&span, cases);
    span.cursor_us = UINT64_MAX; // whatever a file says
    span.to_us = UINT64_MAX;
    assert_true(when_parse("+1h", &span).wall_us == UINT64_MAX);
    span.cursor_us = 0;
    span.from_us = 0;
    assert_true(when_parse("-1h", &span).wall_us == 0);
}

static void
finds_the_last_such_time_of_day(void **state)
{
    static const struct typed_case cases[] = {
        {"14:03",    WHEN_FOUND,   "2026-01-31 14:03:00", ""                 },
        {"14:03:20", WHEN_FOUND,   "2026-01-31 14:03:20", ""                 },
        {"12:00",    WHEN_FOUND,   "2026-01-31 12:00:00", ""                 },
        {"14:30:00", WHEN_FOUND,   "2026-01-31 14:30:00", ""                 },
        {"14:30:01", WHEN_NEAREST, "2026-01-31 14:30:00",
         "there is no 14:30:01 here: this is the end, 14:30:00"              },
        {"11:59:59", WHEN_NEAREST, "2026-01-31 12:00:00", "this is the start"},
        {"9:05",     WHEN_NEAREST, "2026-01-31 12:00:00", "this is the start"},
        {"23:59",    WHEN_NEAREST, "2026-01-31 14:30:00", "this is the end"  },
        {"24:00",    WHEN_WRONG,   NULL,                  "is no time"       },
        {"14:60",    WHEN_WRONG,   NULL,                  "is no time"       },
        {"14:03:60", WHEN_WRONG,   NULL,                  "is no time"       },
        {"14:3",     WHEN_WRONG,   NULL,                  "is no time"       },
        {"14:",      WHEN_WRONG,   NULL,                  "is no time"       },
        {"14:03:",   WHEN_WRONG,   NULL,                  "is no time"       },
        {"14:03Z",   WHEN_WRONG,   NULL,                  "is no time"       },
        {"114:03",   WHEN_WRONG,   NULL,                  "is no time"       },
    };
    static const struct typed_case overnight[] = {
        {"23:00", WHEN_FOUND,   "2026-02-28 23:00:00", ""                               },
        {"01:00", WHEN_FOUND,   "2026-03-01 01:00:00", ""                               },
        {"02:30", WHEN_NEAREST, "2026-03-01 02:00:00", "this is the end, 2026-03-01 02:"},
        {"21:50", WHEN_NEAREST, "2026-02-28 22:00:00",
         "this is the start, 2026-02-28 22:"                                            },
    };
    struct when_span span = afternoon();
    (void)state;
    in_zone("UTC");
    CHECK(&span, cases);
    span.from_us = utc("2026-02-28 22:00:00");
    span.to_us = utc("2026-03-01 02:00:00");
    CHECK(&span, overnight);
}

static void
a_time_read_off_the_screen_is_always_there(void **state)
{
    struct when_span span = afternoon();
    uint64_t start = utc("2026-01-31 12:00:20") + 400000;
    (void)state;
    in_zone("UTC");
    span.from_us = start;
    static const char *const start_as[] = {"12:00:20", "12:00", "2026-01-31 12:00:20",
                                           "2026-01-31 12:00"};
    for (size_t i = 0; i < sizeof start_as / sizeof start_as[0]; i++) {
        struct when when = when_parse(start_as[i], &span);
        assert_int_equal(when.status, WHEN_FOUND);
        assert_true(when.wall_us == start);
    }
    assert_int_equal(when_parse("12:00:19", &span).status, WHEN_NEAREST);
    assert_int_equal(when_parse("11:59", &span).status, WHEN_NEAREST);
    assert_int_equal(when_parse("2026-01-31 12:00:19", &span).status, WHEN_NEAREST);
}

static void
takes_dates_as_local_or_as_utc(void **state)
{
    static const struct typed_case cases[] = {
        {"2026-01-31 09:03",      WHEN_FOUND,   "2026-01-31 14:03:00", ""          },
        {"2026-01-31  9:03:20",   WHEN_FOUND,   "2026-01-31 14:03:20", ""          },
        {"2026-01-31T09:03:20",   WHEN_FOUND,   "2026-01-31 14:03:20", ""          },
        {"2026-01-31T14:03:20Z",  WHEN_FOUND,   "2026-01-31 14:03:20", ""          },
        {"2026-01-31t14:03z",     WHEN_FOUND,   "2026-01-31 14:03:00", ""          },
        {"09:03",                 WHEN_FOUND,   "2026-01-31 14:03:00", ""          },
        {"2026-01-30 09:03",      WHEN_NEAREST, "2026-01-31 12:00:00", "07:00:00"  },
        {"2027-01-30 09:03",      WHEN_NEAREST, "2026-01-31 14:30:00", "09:30:00"  },
        {"9998-12-31 23:59:59",   WHEN_NEAREST, "2026-01-31 14:30:00", "the end"   },
        {"2026-02-29 09:03",      WHEN_WRONG,   NULL,                  "is no time"},
        {"2026-13-01 09:03",      WHEN_WRONG,   NULL,                  "is no time"},
        {"2026-00-01 09:03",      WHEN_WRONG,   NULL,                  "is no time"},
        {"1970-01-01 09:03",      WHEN_WRONG,   NULL,                  "is no time"},
        {"2026-01-31",            WHEN_WRONG,   NULL,                  "is no time"},
        {"2026-01-31 ",           WHEN_WRONG,   NULL,                  "is no time"},
        {"2026-01-3109:03",       WHEN_WRONG,   NULL,                  "is no time"},
        {"26-01-31 09:03",        WHEN_WRONG,   NULL,                  "is no time"},
        {"2026-01-31T14:03:20ZZ", WHEN_WRONG,   NULL,                  "is no time"},
    };
    struct when_span span = afternoon();
    (void)state;
    in_zone("EST5"); // five hours west
    CHECK(&span, cases);
}

static void
a_day_of_another_zone_is_another_day(void **state)
{
    // 20:00 to 22:00 UTC is 05:00 to 07:00 of the next day in Tokyo
    static const struct typed_case tokyo[] = {
        {"05:30",            WHEN_FOUND,   "2026-01-31 20:30:00", ""        },
        {"2026-02-01 05:30", WHEN_FOUND,   "2026-01-31 20:30:00", ""        },
        {"2026-01-31 05:30", WHEN_NEAREST, "2026-01-31 20:00:00", "05:00:00"},
    };
    static const struct typed_case newfoundland[] = {
        {"17:00",            WHEN_FOUND, "2026-01-31 20:30:00", ""},
        {"2026-01-31 17:00", WHEN_FOUND, "2026-01-31 20:30:00", ""},
    };
    struct when_span span = afternoon();
    (void)state;
    span.from_us = utc("2026-01-31 20:00:00");
    span.to_us = utc("2026-01-31 22:00:00");
    in_zone("JST-9");
    CHECK(&span, tokyo);
    in_zone("NST3:30");
    CHECK(&span, newfoundland);
}

// In this zone clocks go forward on 29 March 2026 at 2:00 to 3:00 (1:00 UTC), and back
// on 25 October at 3:00 to 2:00 (1:00 UTC).
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

static void
knows_hours_that_clocks_leave_out(void **state)
{
    static const struct typed_case cases[] = {
        {"01:30",             WHEN_FOUND, "2026-03-29 00:30:00", ""                                     },
        {"03:30",             WHEN_FOUND, "2026-03-29 01:30:00", ""                                     },
        {"02:30",             WHEN_FOUND, "2026-03-28 01:30:00", ""                                     },
        {"2026-03-29 03:00",  WHEN_FOUND, "2026-03-29 01:00:00", ""                                     },
        {"2026-03-29 02:30",  WHEN_WRONG, NULL,                  "there was no 2026-03-29 02:30: clocks"},
        {"2026-03-29T01:30Z", WHEN_FOUND, "2026-03-29 01:30:00", ""                                     },
    };
    static const struct typed_case short_span[] = {
        {"02:30", WHEN_NEAREST, "2026-03-29 02:15:00", "there is no 02:30 here"},
    };
    struct when_span span = afternoon();
    (void)state;
    in_zone(BERLIN);
    span.from_us = utc("2026-03-28 00:00:00");
    span.to_us = utc("2026-03-29 02:00:00");
    CHECK(&span, cases);
    span.from_us = utc("2026-03-29 00:00:00"); // the nearest 02:30s are of other days
    span.to_us = utc("2026-03-29 02:15:00");
    CHECK(&span, short_span);
}

static void
of_an_hour_that_comes_twice_takes_the_later(void **state)
{
    static const struct typed_case cases[] = {
        {"02:30",            WHEN_FOUND, "2026-10-25 01:30:00", ""},
        {"2026-10-25 02:30", WHEN_FOUND, "2026-10-25 01:30:00", ""},
        {"01:30",            WHEN_FOUND, "2026-10-24 23:30:00", ""},
        {"03:30",            WHEN_FOUND, "2026-10-25 02:30:00", ""},
    };
    static const struct typed_case first_only[] = {
        {"02:30",            WHEN_FOUND, "2026-10-25 00:30:00", ""},
        {"2026-10-25 02:30", WHEN_FOUND, "2026-10-25 00:30:00", ""},
    };
    struct when_span span = afternoon();
    (void)state;
    in_zone(BERLIN);
    span.from_us = utc("2026-10-24 20:00:00");
    span.to_us = utc("2026-10-25 04:00:00");
    CHECK(&span, cases);
    span.to_us = utc("2026-10-25 01:00:00");
    CHECK(&span, first_only);
}

static void
goes_to_marks_and_ends_by_name(void **state)
{
    static const struct typed_case cases[] = {
        {"A",     WHEN_FOUND,   "2026-01-31 13:00:00", ""                 },
        {"a",     WHEN_FOUND,   "2026-01-31 13:00:00", ""                 },
        {"C",     WHEN_NEAREST, "2026-01-31 12:00:00", "this is the start"},
        {"B",     WHEN_WRONG,   NULL,                  "mark B is not set"},
        {"start", WHEN_FOUND,   "2026-01-31 12:00:00", ""                 },
        {"end",   WHEN_FOUND,   "2026-01-31 14:30:00", ""                 },
        {"live",  WHEN_FOUND,   "2026-01-31 14:30:00", ""                 },
    };
    struct when_span span = afternoon();
    (void)state;
    in_zone("UTC");
    CHECK(&span, cases);
    assert_true(when_parse("live", &span).live);
    assert_false(when_parse("end", &span).live);
    span.live = false;
    assert_int_equal(when_parse("live", &span).status, WHEN_WRONG);
    assert_false(when_parse("live", &span).live);
}

static void
says_what_can_be_typed_when_it_is_none_of_it(void **state)
{
    static const char *const wrong[] = {
        "", " ", "5m", "yesterday", "AA", "[", "@", "1", "\x1b[2J", "\xff\xfe", "14.03",
    };
    char endless[5000];
    struct when_span span = afternoon();
    (void)state;
    in_zone("UTC");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct when when = when_parse(wrong[i], &span);
        assert_int_equal(when.status, WHEN_WRONG);
        assert_non_null(strstr(when.words, WHEN_EXAMPLES));
        for (const char *at = when.words; *at != '\0'; at++) {
            assert_in_range((unsigned char)*at, ' ', '~');
        }
    }
    // none of the examples is wrong
    assert_int_equal(when_parse("2026-01-31 14:03", &span).status, WHEN_FOUND);
    memset(endless, '1', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_int_equal(when_parse(endless, &span).status, WHEN_WRONG);
    endless[0] = '-';
    assert_int_equal(when_parse(endless, &span).status, WHEN_WRONG);
}

static void
survives_spans_that_no_calendar_has(void **state)
{
    struct when_span span = afternoon();
    (void)state;
    in_zone("EST5");
    span.from_us = UINT64_MAX - 1;
    span.to_us = UINT64_MAX;
    assert_int_equal(when_parse("14:03", &span).status, WHEN_NEAREST);
    span.from_us = 0;
    span.to_us = 0;
    assert_int_equal(when_parse("14:03", &span).status, WHEN_NEAREST);
    assert_int_equal(when_parse("2026-01-31 14:03", &span).status, WHEN_NEAREST);
}

static void
writes_times_for_people(void **state)
{
    char out[CLOCK_BYTES];
    uint64_t now = utc("2026-01-31 14:03:20");
    (void)state;
    in_zone("JST-9");
    clock_minute(out, now);
    assert_string_equal(out, "23:03");
    clock_second(out, now);
    assert_string_equal(out, "23:03:20");
    clock_day(out, now);
    assert_string_equal(out, "01-31 23:03");
    clock_full(out, now);
    assert_string_equal(out, "2026-01-31 23:03:20");
    clock_beside(out, now, now + 3000 * SECOND);
    assert_string_equal(out, "23:03:20");
    clock_beside(out, now, now + 3600 * SECOND);
    assert_string_equal(out, "2026-01-31 23:03:20");
    clock_full(out, UINT64_MAX);
    assert_string_equal(out, "10000-01-01 08:59:59");
}

static void
writes_how_far_times_are_apart(void **state)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } cases[] = {
        {0,      "-00:00"      },
        {252,    "-04:12"      },
        {3852,   "-1:04:12"    },
        {86399,  "-23:59:59"   },
        {176652, "-2d 01:04:12"},
    };
    char out[CLOCK_BYTES];
    uint64_t now = utc("2026-01-31 14:03:20");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clock_offset(out, now - cases[i].seconds * SECOND, now);
        assert_string_equal(out, cases[i].text);
    }
    clock_offset(out, now + 30 * SECOND, now);
    assert_string_equal(out, "+00:30");
    clock_offset(out, 0, UINT64_MAX);
    assert_true(strlen(out) < CLOCK_BYTES);
}

static void
heads_the_screen_with_the_moment_that_is_shown(void **state)
{
    struct header_moment moment = {
        .shown_us = utc("2026-01-31 11:58:29"),
        .end_us = utc("2026-01-31 12:02:41"),
        .speed = 1,
    };
    (void)state;
    in_zone("UTC");
    struct header_state shown = header_time(&moment, false);
    assert_string_equal(shown.word, "REWOUND");
    assert_string_equal(shown.detail, "-04:12  (11:58:29)");
    assert_string_equal(header_time_hint(&moment), "L returns to live");
    moment.shown_us = utc("2026-01-30 11:58:29");
    assert_string_equal(header_time(&moment, false).detail,
                        "-1d 00:04:12  (2026-01-30 11:58:29)");
    moment.replay = true;
    moment.shown_us = utc("2026-01-31 11:58:29");
    shown = header_time(&moment, false);
    assert_string_equal(shown.word, "REPLAY");
    assert_string_equal(shown.detail, "11:58:29");
    assert_string_equal(header_time_hint(&moment), "");
    moment.speed = 4;
    assert_string_equal(header_time(&moment, false).detail, "11:58:29 ×4");
    assert_string_equal(header_time(&moment, true).detail, "11:58:29 x4");
    moment.speed = 0.25;
    assert_string_equal(header_time(&moment, false).detail, "11:58:29 ×0.25");
    moment.growing = true;
    assert_string_equal(header_time_hint(&moment), "L goes to the newest");
    moment.stopped = true;
    assert_string_equal(header_time(&moment, false).detail, "11:58:29 stopped");
    assert_string_equal(header_time_hint(&moment), "Space goes on");
    moment.shown_us = moment.end_us;
    assert_string_equal(header_time(&moment, false).detail, "12:02:41 newest");
    assert_string_equal(header_time_hint(&moment), "");
    moment.growing = false;
    assert_string_equal(header_time(&moment, false).detail, "12:02:41 end");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_from_the_moment_that_is_shown),
        cmocka_unit_test(finds_the_last_such_time_of_day),
        cmocka_unit_test(a_time_read_off_the_screen_is_always_there),
        cmocka_unit_test(takes_dates_as_local_or_as_utc),
        cmocka_unit_test(a_day_of_another_zone_is_another_day),
        cmocka_unit_test(knows_hours_that_clocks_leave_out),
        cmocka_unit_test(of_an_hour_that_comes_twice_takes_the_later),
        cmocka_unit_test(goes_to_marks_and_ends_by_name),
        cmocka_unit_test(says_what_can_be_typed_when_it_is_none_of_it),
        cmocka_unit_test(survives_spans_that_no_calendar_has),
        cmocka_unit_test(writes_times_for_people),
        cmocka_unit_test(writes_how_far_times_are_apart),
        cmocka_unit_test(heads_the_screen_with_the_moment_that_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
