/*
 * Axes with round numbers on them.
 */
#ifndef TUI_EXPORT_HTML_AXIS_H
#define TUI_EXPORT_HTML_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/export/html/figure.h"

// Values, from a multiple of the step to one.
struct axis {
    double from;
    double to;   // greater than `from`
    double step; // 1, 2 or 5 times a power of ten, of the unit
    bool bytes;  // the unit is 1, 1024, 1024² …
};

// For values from `least` to `most`, about `ticks` steps. It begins at 0 unless what
// there is to see would be too flat.
struct axis axis_values(double least, double most, bool bytes, int ticks);

// Ticks, the ends included; the value of one, and its label: "200 000", "1.5 M".
int axis_count(const struct axis *axis);
double axis_at(const struct axis *axis, int tick);
const char *axis_label(const struct axis *axis, int tick, char out[FIGURE_BYTES]);

// Seconds between ticks of time, such as 5 minutes or 2 hours, so that there are at
// most `ticks`; the first tick at or after a moment, on a round local time; its label,
// "02:15" or "02:15:30", and the date where it is another than `before`'s; else "".
uint64_t axis_time_step(double seconds, int ticks);
uint64_t axis_time_first(uint64_t from_us, uint64_t step);
const char *axis_time_label(uint64_t wall_us, uint64_t step, char out[FIGURE_BYTES]);
const char *axis_date_label(uint64_t wall_us, uint64_t before_us, char out[FIGURE_BYTES]);

#endif
