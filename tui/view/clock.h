/*
 * Wall times for people, in the local time zone: on the timeline, in the header, in
 * words. A wall time is microseconds since 1970, as in the messages' stamps; one that
 * no calendar has is shown as the first or the last that one has.
 */
#ifndef TUI_VIEW_CLOCK_H
#define TUI_VIEW_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_BYTES 40

// Beyond the year 9999 there is nothing to show.
#define CLOCK_MAX_US (UINT64_C(253402300799) * 1000000)

// The calendar's fields of a wall time, local.
struct tm clock_local(uint64_t wall_us);

// "14:03", "14:03:20", "01-31 14:03", "2026-01-31 14:03:20".
void clock_minute(char out[CLOCK_BYTES], uint64_t wall_us);
void clock_second(char out[CLOCK_BYTES], uint64_t wall_us);
void clock_day(char out[CLOCK_BYTES], uint64_t wall_us);
void clock_full(char out[CLOCK_BYTES], uint64_t wall_us);

// The same as clock_second(), with the date when it is another day than at `beside_us`.
void clock_beside(char out[CLOCK_BYTES], uint64_t wall_us, uint64_t beside_us);

// How far a time is from another: "-04:12", "+00:30", "-1:04:12", "-2d 01:04:12";
// "-00:00" when it is less than a second before.
void clock_offset(char out[CLOCK_BYTES], uint64_t wall_us, uint64_t from_us);

#endif
