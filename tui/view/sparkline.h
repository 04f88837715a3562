/*
 * The last two minutes of a number in a few cells.
 *
 * The scale starts at three quarters of the highest value, or lower where the
 * number was lower: a change that is small beside the whole stays small to the
 * eye. Seconds of which nothing is known are blank.
 */
#ifndef TUI_VIEW_SPARKLINE_H
#define TUI_VIEW_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

#include "tui/view/glyphs.h"

#define SPARKLINE_CELLS_MAX 40
#define SPARKLINE_BYTES (SPARKLINE_CELLS_MAX * 4 + 1)

// `values` are the last `count` of `span` seconds, oldest first.
void sparkline(char out[SPARKLINE_BYTES], int cells, const struct glyphs *glyphs,
               const uint64_t *values, size_t count, size_t span);

#endif
