/*
 * How old objects are, in four cells: those that survived fewer than 2 collections,
 * than 8, than 32, and more. The largest of the four is full height.
 */
#ifndef TUI_VIEW_AGE_H
#define TUI_VIEW_AGE_H

#include "protocol/message.h"
#include "tui/view/glyphs.h"

#define AGE_BYTES (AGE_BUCKETS * 4 + 1)

// The `unknown` glyph when nobody knows.
void age_histogram(char out[AGE_BYTES], const struct glyphs *glyphs,
                   const double ages[AGE_BUCKETS]);

// Share of the objects that survived 8 collections or more, 0 to 1; NAN while unknown.
double age_old(const double ages[AGE_BUCKETS]);

#endif
