#include "tui/export/html/axis.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Less than this part of the height changes: look closer than from 0.
#define FLAT 0.25

#define COUNT_MAX 64

// The smallest round number that is at least `value`.
static double
round_up(double value)
{
    double power = pow(10, floor(log10(value)));
    double digits = value / power;
    double nice = digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10;
    return nice * power;
}

static double
unit_of(double value)
{
    return pow(1024, floor(log2(fmax(value, 1)) / 10));
}

struct axis
axis_values(double least, double most, bool bytes, int ticks)
{
    double from = most > 0 && (most - least) / most < FLAT ? least : 0;
    double span = most - from;
    if (span < 1) { // whole things, so that no two ticks say the same
        span = most > 0 && from > 0 ? fmax(most / 20, 1) : fmax(most, 1);
        from = from > 0 ? fmax(most - span / 2, 0) : 0;
    }
    double unit = bytes ? unit_of(most) : 1;
    double step = round_up(span / ticks / unit) * unit;
    step = step < 1 ? 1 : step;
    struct axis axis = {.from = floor(from / step) * step, .step = step, .bytes = bytes};
    axis.to = fmax(ceil(most / step), axis.from / step + 1) * step;
    if (from > 0 && (axis.to - axis.from) / step > COUNT_MAX) {
        axis.from = 0;
    }
    return axis;
}

int
axis_count(const struct axis *axis)
{
    double steps = round((axis->to - axis->from) / axis->step);
    return steps < COUNT_MAX ? (int)steps + 1 : COUNT_MAX;
}

double
axis_at(const struct axis *axis, int tick)
{
    return axis->from + tick * axis->step;
}

// All labels of an axis are in one unit, with the decimals that the step needs.
static const char *
scaled(const struct axis *axis, int tick, double unit, const char *name,
       char out[FIGURE_BYTES])
{
    double step = axis->step / unit;
    int decimals = 0;
    while (decimals < 3 && fabs(step - round(step)) > 1e-6) {
        step *= 10;
        decimals++;
    }
    double value = axis_at(axis, tick) / unit;
    snprintf(out, FIGURE_BYTES, "%.*f%s%s", value > 0 ? decimals : 0, value,
             *name != '\0' && value > 0 ? "\xe2\x80\xaf" : "", value > 0 ? name : "");
    return out;
}

const char *
axis_label(const struct axis *axis, int tick, char out[FIGURE_BYTES])
{
    static const char *const sizes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (axis->bytes) {
        size_t size = (size_t)round(log2(unit_of(axis->to)) / 10);
        const char *name = sizes[size < 7 ? size : 6];
        return scaled(axis, tick, unit_of(axis->to), name, out);
    }
    if (axis->to >= 1e6) {
        return scaled(axis, tick, axis->to >= 2e9 ? 1e9 : 1e6,
                      axis->to >= 2e9 ? "G" : "M", out);
    }
    return figure_count(out, axis_at(axis, tick));
}

uint64_t
axis_time_step(double seconds, int ticks)
{
    static const uint64_t steps[] = {
        1,    2,    5,    10,    15,    30,    60,    120,    300,    600,     900,
        1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000,
    };
    size_t count = sizeof steps / sizeof steps[0];
    for (size_t i = 0; i < count; i++) {
        if (seconds / (double)steps[i] <= ticks) {
            return steps[i];
        }
    }
    return (uint64_t)ceil(seconds / ticks / 2592000) * 2592000;
}

uint64_t
axis_time_first(uint64_t from_us, uint64_t step)
{
    int64_t offset = figure_offset(from_us);
    int64_t local = (int64_t)((from_us + 999999) / 1000000) + offset;
    int64_t size = (int64_t)step;
    int64_t first = (local + size - 1) / size * size - offset;
    return first > 0 ? (uint64_t)first * 1000000 : 0;
}

static void
format_time(uint64_t wall_us, const char *format, char out[FIGURE_BYTES])
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm parts;
    out[0] = '\0';
    if (localtime_r(&seconds, &parts)) {
        strftime(out, FIGURE_BYTES, format, &parts);
    }
}

const char *
axis_time_label(uint64_t wall_us, uint64_t step, char out[FIGURE_BYTES])
{
    format_time(wall_us, step % 60 != 0 ? "%H:%M:%S" : "%H:%M", out);
    return out;
}

const char *
axis_date_label(uint64_t wall_us, uint64_t before_us, char out[FIGURE_BYTES])
{
    char before[FIGURE_BYTES] = "";
    format_time(wall_us, "%Y-%m-%d", out);
    if (before_us > 0) {
        format_time(before_us, "%Y-%m-%d", before);
    }
    if (strcmp(before, out) == 0) {
        out[0] = '\0';
    }
    return out;
}
