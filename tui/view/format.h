/*
 * Numbers for people, in few characters. All take doubles, which hold every count
 * and size that memtop can meet exactly; NAN is a value nobody knows and becomes
 * the `unknown` glyph. Every text is terminated and fits into FORMAT_BYTES.
 */
#ifndef TUI_VIEW_FORMAT_H
#define TUI_VIEW_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/view/glyphs.h"

#define FORMAT_BYTES 40

// A count of the protocol as a number: COUNT_UNKNOWN becomes NAN.
double format_number(uint64_t count);

// "18 402"
void format_grouped(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value);

// "18.4K": three digits and a decimal unit, "999" below a thousand.
void format_short(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value);

// "2.11M": three digits and a binary unit, "240B" below a kilobyte.
void format_size(char out[FORMAT_BYTES], const struct glyphs *glyphs, double bytes);

// The same of a change: "+12 310", "+12.3K", "-2.11M", and "0".
void format_grouped_change(char out[FORMAT_BYTES], const struct glyphs *glyphs,
                           double value);
void format_short_change(char out[FORMAT_BYTES], const struct glyphs *glyphs,
                         double value);
void format_size_change(char out[FORMAT_BYTES], const struct glyphs *glyphs,
                        double bytes);

// "41.2", "12 401" from a thousand on; a change has a sign: "+41.2", "0.0".
void format_rate(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value);
void format_rate_change(char out[FORMAT_BYTES], const struct glyphs *glyphs,
                        double value);

// "3.1 %"
void format_percent(char out[FORMAT_BYTES], const struct glyphs *glyphs, double value);

// "12s", "4m10s", "1h04m", "3d02h"
void format_duration(char out[FORMAT_BYTES], uint64_t seconds);

#endif
