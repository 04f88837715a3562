#include "tui/export/html/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/message.h"

#define SPACE "\xe2\x80\xaf" // narrow, and does not break
#define MINUS "\xe2\x88\x92"
#define UNKNOWN "\xe2\x80\x93"

// Beyond it a double is no exact number, and no count of anything.
#define VALUE_MAX 1e18

double
figure_number(uint64_t count)
{
    return count == COUNT_UNKNOWN ? (double)NAN : (double)count;
}

double
figure_difference(uint64_t now, uint64_t before)
{
    return figure_number(now) - figure_number(before);
}

static const char *
copy(char out[FIGURE_BYTES], const char *text)
{
    snprintf(out, FIGURE_BYTES, "%s", text);
    return out;
}

static const char *
group(char out[FIGURE_BYTES], const char *sign, double value)
{
    char digits[FIGURE_BYTES];
    double size = fabs(value) < VALUE_MAX ? fabs(value) : VALUE_MAX;
    int length = snprintf(digits, sizeof digits, "%lld", llround(size));
    size_t at = (size_t)snprintf(out, FIGURE_BYTES, "%s", sign);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            memcpy(out + at, SPACE, strlen(SPACE));
            at += strlen(SPACE);
        }
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

static const char *
sign_of(double value)
{
    return value > 0 ? "+" : value < 0 ? MINUS : "";
}

const char *
figure_count(char out[FIGURE_BYTES], double value)
{
    return isnan(value) ? copy(out, UNKNOWN) : group(out, value < 0 ? MINUS : "", value);
}

const char *
figure_change(char out[FIGURE_BYTES], double value)
{
    return isnan(value) ? copy(out, UNKNOWN) : group(out, sign_of(round(value)), value);
}

static const char *
scale(char out[FIGURE_BYTES], const char *sign, double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t last = sizeof units / sizeof units[0] - 1;
    size_t unit = 0;
    double size = fabs(value);
    // 999.5 would be written as 1000, a fourth digit
    while (size >= 999.5 && unit < last) {
        size /= 1024;
        unit++;
    }
    int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(out, FIGURE_BYTES, "%s%.*f" SPACE "%s", sign, decimals, size, units[unit]);
    return out;
}

const char *
figure_bytes(char out[FIGURE_BYTES], double value)
{
    return isnan(value) ? copy(out, UNKNOWN) : scale(out, value < 0 ? MINUS : "", value);
}

const char *
figure_bytes_change(char out[FIGURE_BYTES], double value)
{
    return isnan(value) ? copy(out, UNKNOWN) : scale(out, sign_of(value), value);
}

const char *
figure_percent(char out[FIGURE_BYTES], double value)
{
    if (isnan(value)) {
        return copy(out, UNKNOWN);
    }
    snprintf(out, FIGURE_BYTES, "%.1f" SPACE "%%", value);
    return out;
}

// "22 min", "22 min 30 s".
static void
pair(char out[FIGURE_BYTES], long long large, const char *unit, long long small,
     const char *small_unit)
{
    int length = snprintf(out, FIGURE_BYTES, "%lld" SPACE "%s", large, unit);
    if (small > 0) {
        snprintf(out + length, FIGURE_BYTES - (size_t)length, " %lld" SPACE "%s", small,
                 small_unit);
    }
}

const char *
figure_duration(char out[FIGURE_BYTES], double seconds)
{
    if (isnan(seconds) || seconds < 0) {
        return copy(out, UNKNOWN);
    }
    long long whole = llround(seconds < VALUE_MAX ? seconds : VALUE_MAX);
    if (whole < 60) {
        snprintf(out, FIGURE_BYTES, "%lld" SPACE "s", whole);
    } else if (whole < 3600) {
        pair(out, whole / 60, "min", whole % 60, "s");
    } else if (whole < 48LL * 3600) {
        pair(out, whole / 3600, "h", whole / 60 % 60, "min");
    } else {
        pair(out, whole / 86400, "days", whole / 3600 % 24, "h");
    }
    return out;
}

const char *
figure_arrow(double value)
{
    return value >= 0.5    ? SPACE "\xe2\x96\xb2"
           : value <= -0.5 ? SPACE "\xe2\x96\xbc"
                           : "";
}

const char *
figure_direction(double value)
{
    return value >= 0.5 ? "up" : value <= -0.5 ? "down" : "even";
}

static const char *
local(char out[FIGURE_BYTES], uint64_t wall_us, const char *format)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm parts;
    out[0] = '\0';
    if (wall_us > 0 && wall_us != COUNT_UNKNOWN && localtime_r(&seconds, &parts)) {
        strftime(out, FIGURE_BYTES, format, &parts);
    }
    return out;
}

const char *
figure_moment(char out[FIGURE_BYTES], uint64_t wall_us)
{
    return local(out, wall_us, "%Y-%m-%d %H:%M:%S");
}

const char *
figure_clock(char out[FIGURE_BYTES], uint64_t wall_us)
{
    return local(out, wall_us, "%H:%M:%S");
}

int64_t
figure_offset(uint64_t wall_us)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm parts;
    return localtime_r(&seconds, &parts) ? (int64_t)parts.tm_gmtoff : 0;
}

const char *
figure_zone(char out[FIGURE_BYTES], uint64_t wall_us)
{
    long minutes = (long)(figure_offset(wall_us) / 60);
    if (minutes == 0) {
        return copy(out, "UTC");
    }
    snprintf(out, FIGURE_BYTES, "UTC%s%02ld:%02ld", minutes > 0 ? "+" : MINUS,
             labs(minutes) / 60, labs(minutes) % 60);
    return out;
}
