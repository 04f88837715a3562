/*
 * Numbers and times for people who read a page. NAN is what nobody knows: "–".
 * Digits are in groups of three, with a narrow space that does not break.
 */
#ifndef TUI_EXPORT_HTML_FIGURE_H
#define TUI_EXPORT_HTML_FIGURE_H

#include <stdint.h>

#define FIGURE_BYTES 64

// COUNT_UNKNOWN becomes NAN.
double figure_number(uint64_t count);

// Of two counts; NAN when one of them is unknown.
double figure_difference(uint64_t now, uint64_t before);

// Each returns `out`.
const char *figure_count(char out[FIGURE_BYTES], double value);  // "18 402"
const char *figure_change(char out[FIGURE_BYTES], double value); // "+12 310", "−4", "0"
const char *figure_bytes(char out[FIGURE_BYTES], double value);  // "40.9 MiB", "212 B"
const char *figure_bytes_change(char out[FIGURE_BYTES], double value);
const char *figure_percent(char out[FIGURE_BYTES], double value);    // of 100: "3.1 %"
const char *figure_duration(char out[FIGURE_BYTES], double seconds); // "7 h 58 min"

// " ▲", " ▼" or "": a change said once more, for who does not see colours; and "up",
// "down" or "even" for the style sheet.
const char *figure_arrow(double value);
const char *figure_direction(double value);

// In this machine's time zone: "2026-01-01 02:14:30", and "UTC+01:00" of then. UTC in
// words.h. "" when it is not a time.
const char *figure_moment(char out[FIGURE_BYTES], uint64_t wall_us);
const char *figure_clock(char out[FIGURE_BYTES], uint64_t wall_us); // "02:14:30"
const char *figure_zone(char out[FIGURE_BYTES], uint64_t wall_us);

// Seconds that local time is ahead of UTC then.
int64_t figure_offset(uint64_t wall_us);

#endif
