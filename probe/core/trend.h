/*
 * How a class's objects, and bytes, went over its whole life, in few points: what a
 * verdict is made from. One trend is some 330 bytes, whatever time passed.
 *
 * A point is the least that was seen in a window, and a window holds at least one
 * whole collection: between two of those every count once stands without the garbage
 * that nobody has swept yet. Old garbage stays until a full collection, so points in
 * which one of those was swept to its end are marked: only they tell what is kept.
 * When the points are full, pairs become one, and each stands for twice as long.
 *
 * Knows no clock, no Ruby and no class: numbers in, numbers out. Windows are the same
 * for all classes: trend_window() ends them, then each trend gets its trend_add().
 */
#ifndef PROBE_CORE_TREND_H
#define PROBE_CORE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

#define TREND_POINTS 24u
#define TREND_WINDOW_US (5 * (uint64_t)1000000) // a window takes at least so long

// Bytes of a point that no census fell into.
#define TREND_NO_BYTES (-1.0f)

struct trend_point {
    uint32_t live;  // the least seen
    float bytes;    // the least of the censuses in it, or TREND_NO_BYTES
    uint32_t end_s; // when it ended, since the trend began
};

struct trend {
    struct trend_point points[TREND_POINTS]; // the last one is still open
    uint32_t count;                          // 0 for a trend that never began
    uint32_t stride;                         // windows a point stands for, a power of two
    uint32_t filled;                         // windows in the last point so far
    uint32_t full;                           // bit i: a full collection ended in point i
    uint64_t first_us;
    uint64_t allocated_at; // `allocated` when it began
    uint64_t collections_at;
    uint64_t majors_at;
};

// A moment, for all classes alike.
struct trend_moment {
    uint64_t at_us;       // monotonic
    uint64_t collections; // so far
    uint64_t majors;      // full ones
    bool window_ends;     // by trend_window()
    bool full_ended;      // likewise: a full collection was swept to its end in it
    bool warming;         // the program still makes many new classes
};

// The window under way. Starts as all zeroes.
struct trend_window {
    bool began;
    bool full_ended;
    uint64_t start_us;
    uint64_t collections;  // when it began
    uint64_t majors;       // when last looked
    uint64_t unswept_from; // collections at which a full one was last seen, 0 for none
};

// What is known of a class at a moment.
struct trend_state {
    uint64_t live;
    uint64_t allocated; // COUNT_UNKNOWN where nobody counts
    uint64_t bytes;     // COUNT_UNKNOWN when no census was since the state before
    uint64_t ages[AGE_BUCKETS];
};

// Fill in whether a window ends at this moment, and what was in it.
void trend_window(struct trend_window *window, struct trend_moment *moment);

void trend_init(struct trend *trend, const struct trend_moment *moment,
                const struct trend_state *state);
void trend_add(struct trend *trend, const struct trend_moment *moment,
               const struct trend_state *state);

#endif
