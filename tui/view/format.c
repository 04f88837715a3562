#include "tui/view/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "protocol/message.h"

// Beyond these a double is no exact number, and no count of anything.
#define VALUE_MAX 1e18

double
format_number(uint64_t count)
{
    return count == COUNT_UNKNOWN ? (double)NAN : (double)count;
}

// Write "–" and return true when a value is unknown.
static bool
unknown(char *out, const struct glyphs *glyphs, double value)
{
    if (!isnan(value)) {
        return false;
    }
    snprintf(out, FORMAT_BYTES, "%s", glyphs->unknown);
    return true;
}

static uint64_t
magnitude(double value)
{
    double size = fabs(value);
    return (uint64_t)llround(size < VALUE_MAX ? size : VALUE_MAX);
}

// Digits in groups of three after a sign, which may be empty.
static void
group(char *out, const char *sign, uint64_t value)
{
    char digits[FORMAT_BYTES];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *to = out + sprintf(out, "%s", sign);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *to++ = ' ';
        }
        *to++ = digits[i];
    }
    *to = '\0';
}

static const char *
sign_of(double value)
{
    return value > 0 ? "+" : value < 0 ? "-" : "";
}

// Three digits and a unit. `base` is what units differ by; the first of `units` is
// for small values.
static void
scale(char *out, const char *sign, double value, double base, const char *const *units)
{
    double size = fabs(value);
    int unit = 0;
    // 999.5 would be written as 1000, a fourth digit
    while (size >= 999.5 && units[unit + 1] != NULL) {
        size /= base;
        unit++;
    }
    int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(out, FORMAT_BYTES, "%s%.*f%s", sign, decimals, size, units[unit]);
}

static const char *const decimal_units[] = {"", "K", "M", "G", "T", "P", NULL};
static const char *const binary_units[] = {"B", "K", "M", "G", "T", "P", NULL};

void
format_grouped(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    if (!unknown(out, glyphs, value)) {
        group(out, value < 0 ? "-" : "", magnitude(value));
    }
}

void
format_short(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    if (!unknown(out, glyphs, value)) {
        scale(out, value < 0 ? "-" : "", value, 1000, decimal_units);
    }
}

void
format_size(char out[FORMAT_BYTES], const struct glyphs *glyphs, double bytes)
{
    if (!unknown(out, glyphs, bytes)) {
        scale(out, bytes < 0 ? "-" : "", bytes, 1024, binary_units);
    }
}

void
format_grouped_change(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    if (!unknown(out, glyphs, value)) {
        group(out, sign_of(value), magnitude(value));
    }
}

void
format_short_change(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    if (!unknown(out, glyphs, value)) {
        scale(out, sign_of(value), value, 1000, decimal_units);
    }
}

void
format_size_change(char out[FORMAT_BYTES], const struct glyphs *glyphs, double bytes)
{
    if (!unknown(out, glyphs, bytes)) {
        scale(out, sign_of(bytes), bytes, 1024, binary_units);
    }
}

static void
rate(char *out, const struct glyphs *glyphs, double value, bool with_sign)
{
    if (unknown(out, glyphs, value)) {
        return;
    }
    double shown = fabs(value);
    // what rounds to 0.0 has no direction to show
    const char *sign = shown < 0.05 ? "" : sign_of(value);
    if (!with_sign && value > 0) {
        sign = "";
    }
    if (shown >= 999.95) {
        group(out, sign, magnitude(value));
    } else {
        snprintf(out, FORMAT_BYTES, "%s%.1f", sign, shown);
    }
}

void
format_rate(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    rate(out, glyphs, value, false);
}

void
format_rate_change(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    rate(out, glyphs, value, true);
}

void
format_percent(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value)
{
    if (!unknown(out, glyphs, value)) {
        snprintf(out, FORMAT_BYTES, "%.1f %%", fmin(value, VALUE_MAX));
    }
}

void
format_duration(char out[FORMAT_BYTES], uint64_t seconds)
{
    static const struct {
        uint64_t seconds;
        char unit;
    } units[] = {
        {86400, 'd'},
        {3600,  'h'},
        {60,    'm'},
        {1,     's'}
    };

    size_t unit = 0;
    while (unit < 3 && seconds < units[unit].seconds) {
        unit++;
    }
    unsigned long long whole = seconds / units[unit].seconds;
    if (unit == 3) {
        snprintf(out, FORMAT_BYTES, "%llus", whole);
        return;
    }
    unsigned long long rest = seconds % units[unit].seconds / units[unit + 1].seconds;
    snprintf(out, FORMAT_BYTES, "%llu%c%02llu%c", whole, units[unit].unit, rest,
             units[unit + 1].unit);
}
