/*
 * Which second it is in the model's history, and for which seconds it knows
 * anything. Built from the samples' monotonic stamps alone; a stamp that jumps
 * back or far ahead opens a gap instead of moving history. Seconds begin where
 * the clock's do, whenever the first sample came: a recording that is read from
 * its middle has the same ones.
 */
#ifndef TUI_MODEL_TIMELINE_H
#define TUI_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model/model.h"

// Starts as all zeroes.
struct timeline {
    bool started;
    bool broken;               // a gap comes before the next sample
    uint32_t tick;             // second of the last sample
    uint32_t first;            // second of the first sample
    uint64_t last_us;          // stamp of the last sample
    uint64_t base_us;          // the whole second that was ...
    uint32_t base;             // ... this second
    bool known[MODEL_HISTORY]; // of second % MODEL_HISTORY
};

// Nothing is known until the next sample.
void timeline_break(struct timeline *timeline);

// A sample came. Seconds without one count as known when they are at most
// `patience` in a row.
void timeline_advance(struct timeline *timeline, uint64_t monotonic_us,
                      uint32_t patience);

// Seconds of history there are: at most MODEL_HISTORY, the last is `tick`.
size_t timeline_length(const struct timeline *timeline);

bool timeline_known(const struct timeline *timeline, uint32_t tick);

#endif
