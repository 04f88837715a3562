/*
 * Change per second over a window of 5 to 10 seconds of the messages' own
 * monotonic time: what was missed between two samples changes nothing.
 *
 * Two anchors, moments at which all counts were kept, move along: the newer
 * becomes the older every RATES_STEP_US. In census mode counts only move when
 * the heap was walked, so there a rate is from one census to the next.
 *
 * The anchors move with the first sample of each step of the clock, not so long
 * after the first sample of all: whoever begins to listen later, or reads a
 * recording from its middle, has the same rates after two steps.
 */
#ifndef TUI_MODEL_RATES_H
#define TUI_MODEL_RATES_H

#include "tui/model/classes.h"

#define RATES_STEP_US (5u * 1000000u)

struct moment {
    uint64_t us;      // monotonic, or wall time of the census
    uint64_t heap_us; // monotonic, of the heap's figures
    uint64_t gc_time_ms;
    struct anchor totals;
};

struct rates {
    bool seeded; // anchors hold counts of this connection and mode
    uint64_t mode;
    struct moment anchors[2]; // older, newer
};

// The next sample starts anew.
void rates_break(struct rates *rates);

// Counts of all classes are up to date for this sample: set their rates and the
// totals'. `rss_bytes_per_minute` is left alone.
void rates_update(struct rates *rates, struct classes *classes,
                  struct model_rates *totals, const struct sample *sample,
                  struct stamp at);

#endif
