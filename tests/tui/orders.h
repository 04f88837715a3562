/*
 * The call tree of the golden screens: where the demo's class Order comes from. It is
 * opened 40 seconds after the demo began; what lived then is older than tracing.
 */
#ifndef TESTS_TUI_ORDERS_H
#define TESTS_TUI_ORDERS_H

#include "tests/tui/fixture.h"

#define ORDERS_CLASS 3u

enum orders_kind {
    ORDERS_EXACT,
    ORDERS_SAMPLED, // a stack of 64, after ten exact seconds
    ORDERS_FEW,     // so rarely that rows rest on a handful of samples
    ORDERS_FULL,    // paths beyond the bound, stacks cut at MEMTOP_DEPTH
    ORDERS_FREED,   // after half a minute one path's objects are
    ORDERS_DEEP,    // one stack of 60 frames
    ORDERS_EVEN,    // nothing but (before tracing)
};

// The demo up to the key that opens the class: nothing has come from the probe yet.
void orders_begin(struct fixture *fixture, struct fixture_options options);

// Names of frames and the whole tree, then `seconds` of samples with what changed.
void orders_arrive(struct fixture *fixture, enum orders_kind kind, unsigned seconds);

// The seconds after `from`, up to `to`.
void orders_more(struct fixture *fixture, enum orders_kind kind, unsigned from,
                 unsigned to);

// Begin, and the first 30 seconds of it, for a terminal of 118 by 30.
void orders_open(struct fixture *fixture, enum orders_kind kind);

// When demo/cache.rb was changed last, wall time; 0 long ago.
extern uint64_t orders_source_changed_us;

// The source of demo/cache.rb; for every other file, why it cannot be read.
void orders_read_source(const char *file, struct source_text *text);

#endif
