/*
 * The last two minutes of a number in a few cells.
 *
 * The scale spans a quarter of the highest value, or more where the number changed
 * by more, with the values in its middle: what stands still is a calm line, and a
 * change that is small beside the whole looks small. Seconds of which nothing is
 * known are blank.
 */
#ifndef TUI_VIEW_SPARKLINE_H
#define TUI_VIEW_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

#include "tui/view/glyphs.h"

#define SPARKLINE_CELLS_MAX 40
#define SPARKLINE_BYTES (SPARKLINE_CELLS_MAX * 4 + 1)

// The scale of values from `low` to `high`; and the glyph of a value on it.
struct sparkline_scale {
    double low;
    double high;
};

struct sparkline_scale sparkline_scale(double low, double high);
const char *sparkline_level(const struct glyphs *glyphs, struct sparkline_scale scale,
                            double value);

// Seconds that a sparkline covers of those there are: all, but at least one a cell.
size_t sparkline_span(size_t seconds, int cells);

// `values` are the last `count` of `span` seconds, oldest first.
void sparkline(char out[SPARKLINE_BYTES], int cells, const struct glyphs *glyphs,
               const uint64_t *values, size_t count, size_t span);

#endif
