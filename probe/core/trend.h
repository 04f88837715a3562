/*
 * How a class's objects, and bytes, went over its whole life, in few points: what a
 * verdict is made from. One trend is 600 bytes or so, whatever time passed.
 *
 * A point is the least that was seen between some collections: what is left of
 * garbage that nobody swept yet. When the points are full, pairs become one, and
 * each stands for twice as long as before.
 *
 * Knows no clock, no Ruby and no class: numbers in, numbers out.
 */
#ifndef PROBE_CORE_TREND_H
#define PROBE_CORE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

#define TREND_POINTS 32u

struct trend_point {
    uint64_t live;  // the least seen
    uint64_t bytes; // the least of the censuses in it, COUNT_UNKNOWN without one
};

struct trend {
    struct trend_point points[TREND_POINTS]; // the last one is still open
    uint32_t count;
    uint32_t stride; // windows a point stands for, a power of two
    uint32_t filled; // windows in the last point so far
    uint64_t first_us;
    uint64_t allocated_at; // `allocated` when it began
};

// A moment, for all classes alike.
struct trend_moment {
    uint64_t at_us;       // monotonic
    uint64_t collections; // so far
    uint64_t majors;      // full ones
    bool window_ends; // enough collections passed since the last window: trend_window()
};

// What is known of a class at a moment.
struct trend_state {
    uint64_t live;
    uint64_t allocated;
    uint64_t bytes; // COUNT_UNKNOWN before a census
    uint64_t ages[AGE_BUCKETS];
};

void trend_init(struct trend *trend, const struct trend_moment *moment,
                const struct trend_state *state);
void trend_add(struct trend *trend, const struct trend_moment *moment,
               const struct trend_state *state);

#endif
