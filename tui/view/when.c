#include "tui/view/when.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/text/amount.h"
#include "tui/text/text.h"
#include "tui/view/clock.h"

#define SECOND_US UINT64_C(1000000)
#define TYPED_CELLS 30 // of what was typed, in words about it
#define TYPED_BYTES 160
#define NEVER UINT64_MAX

// Fields of a time as typed; of a time of day the date is left 0.
struct typed {
    int year;
    int month;
    int day;
    int hour;
    int minute;
    int second;
    bool utc;
    uint64_t lasts_us; // a second, or the minute when that is all there is
};

static struct when answer(enum when_status status, uint64_t wall_us, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

static struct when
answer(enum when_status status, uint64_t wall_us, const char *format, ...)
{
    struct when when = {.status = status, .wall_us = wall_us};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(when.words, sizeof when.words, format, arguments);
    va_end(arguments);
    return when;
}

static struct when
found(uint64_t wall_us)
{
    return (struct when){.status = WHEN_FOUND, .wall_us = wall_us};
}

// The typed text, fit to be shown.
static const char *
shown(const char *text, char fit[TYPED_BYTES])
{
    char escaped[TYPED_BYTES];
    text_escape(escaped, sizeof escaped, text, strlen(text));
    text_fit(fit, TYPED_BYTES, escaped, TYPED_CELLS, true);
    return fit;
}

// A time outside of the span becomes its end on that side.
static struct when
within(uint64_t wall_us, const struct when_span *span)
{
    char end[CLOCK_BYTES];
    if (wall_us < span->from_us) {
        clock_beside(end, span->from_us, span->to_us);
        return answer(WHEN_NEAREST, span->from_us,
                      "this is the start, %s: there is nothing before it", end);
    }
    if (wall_us > span->to_us) {
        clock_beside(end, span->to_us, span->from_us);
        return answer(WHEN_NEAREST, span->to_us,
                      "this is the end, %s: there is nothing after it", end);
    }
    return found(wall_us);
}

static struct when
relative(const char *text, const struct when_span *span)
{
    char typed[TYPED_BYTES];
    uint64_t us;
    if (!amount_duration(text + 1, &us)) {
        return answer(WHEN_WRONG, 0, "\"%s\" is no step: -5m, +30s, -1h20m are",
                      shown(text, typed));
    }
    uint64_t cursor_us = span->cursor_us;
    if (text[0] == '-') {
        return within(cursor_us > us ? cursor_us - us : 0, span);
    }
    return within(us < UINT64_MAX - cursor_us ? cursor_us + us : UINT64_MAX, span);
}

// Read exactly `digits` of them.
static const char *
digits(const char *at, int count, int *value)
{
    *value = 0;
    for (int i = 0; at != NULL && i < count; i++) {
        if (*at < '0' || *at > '9') {
            return NULL;
        }
        *value = *value * 10 + (*at++ - '0');
    }
    return at;
}

static const char *
expect(const char *at, char character)
{
    return at != NULL && *at == character ? at + 1 : NULL;
}

// "14:03" or "14:03:20"; an hour may be one digit. Returns its end, or NULL.
static const char *
read_time(const char *at, struct typed *typed)
{
    int hour_digits = strspn(at, "0123456789") == 1 ? 1 : 2;
    at = expect(digits(at, hour_digits, &typed->hour), ':');
    at = digits(at, 2, &typed->minute);
    typed->lasts_us = 60 * SECOND_US;
    if (at != NULL && *at == ':') {
        at = digits(at + 1, 2, &typed->second);
        typed->lasts_us = SECOND_US;
    }
    return typed->hour < 24 && typed->minute < 60 && typed->second < 60 ? at : NULL;
}

static bool
is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int
days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

// "2026-01-31". Returns its end, or NULL.
static const char *
read_date(const char *at, struct typed *typed)
{
    at = expect(digits(at, 4, &typed->year), '-');
    at = expect(digits(at, 2, &typed->month), '-');
    at = digits(at, 2, &typed->day);
    bool good = typed->year > 1970 && typed->year < 9999 && typed->month >= 1 &&
                typed->month <= 12 && typed->day >= 1 &&
                typed->day <= days_of(typed->year, typed->month);
    return good ? at : NULL;
}

// False when it is no time. A year of 0 means a time of day.
static bool
read_typed(const char *text, struct typed *typed)
{
    *typed = (struct typed){0};
    const char *at = read_time(text, typed);
    if (at != NULL && *at == '\0') {
        return true;
    }
    *typed = (struct typed){0};
    at = read_date(text, typed);
    if (at == NULL || (*at != ' ' && *at != 'T' && *at != 't')) {
        return false;
    }
    at += *at == ' ' ? strspn(at, " ") : 1;
    at = read_time(at, typed);
    typed->utc = at != NULL && (*at == 'Z' || *at == 'z');
    return at != NULL && at[typed->utc ? 1 : 0] == '\0';
}

// The moment at which local clocks show it, with summer time or without; false when
// they never do.
static bool
local_moment(const struct typed *typed, int summer, uint64_t *wall_us)
{
    struct tm wanted = {
        .tm_year = typed->year - 1900,
        .tm_mon = typed->month - 1,
        .tm_mday = typed->day,
        .tm_hour = typed->hour,
        .tm_min = typed->minute,
        .tm_sec = typed->second,
        .tm_isdst = summer,
    };
    time_t wall = mktime(&wanted);
    if (wall < 0 || (uint64_t)wall > CLOCK_MAX_US / SECOND_US) {
        return false;
    }
    // mktime() makes the best of what there is not: then the fields are others
    struct tm is = clock_local((uint64_t)wall * SECOND_US);
    *wall_us = (uint64_t)wall * SECOND_US;
    return is.tm_year == typed->year - 1900 && is.tm_mon == typed->month - 1 &&
           is.tm_mday == typed->day && is.tm_hour == typed->hour &&
           is.tm_min == typed->minute && is.tm_sec == typed->second;
}

// The moments at which clocks show it, none to two, the later one first.
static int
moments(const struct typed *typed, uint64_t wall_us[2])
{
    if (typed->utc) {
        struct tm fields = {
            .tm_year = typed->year - 1900,
            .tm_mon = typed->month - 1,
            .tm_mday = typed->day,
            .tm_hour = typed->hour,
            .tm_min = typed->minute,
            .tm_sec = typed->second,
        };
        wall_us[0] = (uint64_t)timegm(&fields) * SECOND_US;
        return 1;
    }
    int count = 0;
    uint64_t moment;
    // -1 as well: a zone that moved its clocks without summer time knows only that
    for (int summer = -1; summer <= 1; summer++) {
        if (!local_moment(typed, summer, &moment) ||
            (count > 0 && (moment == wall_us[0] || moment == wall_us[count - 1])) ||
            count == 2) {
            continue;
        }
        wall_us[count++] = moment;
    }
    if (count == 2 && wall_us[0] < wall_us[1]) {
        moment = wall_us[0];
        wall_us[0] = wall_us[1];
        wall_us[1] = moment;
    }
    return count;
}

// Whether a typed moment is in the span: as long as it lasts, so that a time read off
// the screen is always there. It is then the first of it that there is.
static bool
is_within(uint64_t *wall_us, const struct typed *typed, const struct when_span *span)
{
    if (*wall_us < span->from_us && span->from_us - *wall_us < typed->lasts_us) {
        *wall_us = span->from_us;
    }
    return *wall_us >= span->from_us && *wall_us <= span->to_us;
}

static void
step_forward(struct typed *typed)
{
    if (++typed->day > days_of(typed->year, typed->month)) {
        typed->day = 1;
        typed->year += typed->month == 12;
        typed->month = typed->month % 12 + 1;
    }
}

static void
step_back(struct typed *typed)
{
    if (--typed->day == 0) {
        typed->year -= typed->month == 1;
        typed->month = typed->month == 1 ? 12 : typed->month - 1;
        typed->day = days_of(typed->year, typed->month);
    }
}

// Where a time of day is not, the end that is nearer to one.
static struct when
no_time_of_day(const char *text, uint64_t before_us, uint64_t after_us,
               const struct when_span *span)
{
    char end[CLOCK_BYTES];
    bool to_end =
        after_us != NEVER &&
        (before_us == NEVER || after_us - span->to_us < span->from_us - before_us);
    uint64_t nearest = to_end ? span->to_us : span->from_us;
    clock_beside(end, nearest, to_end ? span->from_us : span->to_us);
    return answer(WHEN_NEAREST, nearest, "there is no %s here: this is the %s, %s", text,
                  to_end ? "end" : "start", end);
}

// Day by day backwards, from the day after the last one there is.
static struct when
time_of_day(const char *text, struct typed *typed, const struct when_span *span)
{
    struct tm last = clock_local(span->to_us);
    uint64_t before_us = NEVER; // the last one before the start
    uint64_t after_us = NEVER;  // the first one after the end
    typed->year = last.tm_year + 1900;
    typed->month = last.tm_mon + 1;
    typed->day = last.tm_mday;
    for (step_forward(typed); before_us == NEVER && typed->year >= 1970;
         step_back(typed)) {
        uint64_t at[2];
        int count = moments(typed, at);
        for (int i = 0; i < count && before_us == NEVER; i++) {
            if (is_within(&at[i], typed, span)) {
                return found(at[i]);
            }
            if (at[i] > span->to_us) {
                after_us = at[i];
            } else {
                before_us = at[i];
            }
        }
    }
    return no_time_of_day(text, before_us, after_us, span);
}

static struct when
date_and_time(const char *text, const struct typed *typed, const struct when_span *span)
{
    uint64_t at[2];
    int count = moments(typed, at);
    if (count == 0) {
        return answer(WHEN_WRONG, 0,
                      "there was no %.40s: clocks were set forward over it", text);
    }
    for (int i = 0; i < count; i++) {
        if (is_within(&at[i], typed, span)) {
            return found(at[i]);
        }
    }
    return within(at[0], span);
}

static struct when
mark(int letter, const struct when_span *span)
{
    uint64_t wall_us = span->marks[letter];
    if (wall_us == WHEN_NO_MARK) {
        return answer(WHEN_WRONG, 0, "mark %c is not set", 'A' + letter);
    }
    return within(wall_us, span);
}

static bool
word(const char *text, const struct when_span *span, struct when *when)
{
    if (strcmp(text, "start") == 0) {
        *when = found(span->from_us);
    } else if (strcmp(text, "end") == 0) {
        *when = found(span->to_us);
    } else if (strcmp(text, "live") == 0) {
        *when = span->live ? found(span->to_us)
                           : answer(WHEN_WRONG, 0,
                                    "nothing is live here: end goes to the last moment");
        when->live = span->live;
    } else {
        return false;
    }
    return true;
}

struct when
when_parse(const char *text, const struct when_span *span)
{
    char trimmed[TYPED_BYTES];
    char fit[TYPED_BYTES];
    struct typed typed;
    struct when when;
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length == 0) {
        return answer(WHEN_WRONG, 0, "when? %s", WHEN_EXAMPLES);
    }
    snprintf(trimmed, sizeof trimmed, "%.*s",
             (int)(length < sizeof trimmed ? length : sizeof trimmed), text);
    if (length < sizeof trimmed) {
        char first = trimmed[0];
        int letter = first >= 'a' ? first - 'a' : first - 'A';
        if (first == '-' || first == '+') {
            return relative(trimmed, span);
        }
        if (word(trimmed, span, &when)) {
            return when;
        }
        if (length == 1 && letter >= 0 && letter < MODEL_MARKS_MAX) {
            return mark(letter, span);
        }
        if (read_typed(trimmed, &typed)) {
            return typed.year == 0 ? time_of_day(trimmed, &typed, span)
                                   : date_and_time(trimmed, &typed, span);
        }
    }
    return answer(WHEN_WRONG, 0, "\"%s\" is no time: " WHEN_EXAMPLES,
                  shown(trimmed, fit));
}
