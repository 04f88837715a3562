/*
 * What a person types to say when: a wall time comes out, or words.
 *
 *   -5m  +30s  -1h20m     from the moment that is shown
 *   14:03  14:03:20       the last such moment there is
 *   2026-01-31 14:03:20   local time, seconds as one likes, also with a T between
 *   2026-01-31T14:03:20Z  the same, UTC
 *   A                     a mark
 *   start  end  live
 *
 * Local is what TZ says. A time of day that a day does not have, because clocks went
 * forward over it, is passed over; of one that a day has twice the later is meant. A
 * time without seconds is the first moment of its minute that there is.
 *
 * What lies outside of what there is becomes the nearest end, and words say so.
 */
#ifndef TUI_VIEW_WHEN_H
#define TUI_VIEW_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model/model.h"

#define WHEN_WORDS_BYTES 200

// What can be typed, in one line, for help and errors.
#define WHEN_EXAMPLES                                                                    \
    "-5m, +30s, 14:03, 14:03:20, 2026-01-31 14:03, a mark's letter, start, end, live"

#define WHEN_NO_MARK UINT64_MAX

// What there is to go to. Wall times.
struct when_span {
    uint64_t from_us;
    uint64_t to_us;                  // not before from_us
    uint64_t cursor_us;              // the moment that is shown
    uint64_t marks[MODEL_MARKS_MAX]; // A to Z, WHEN_NO_MARK when not set
    bool live;                       // there is a program that goes on
};

enum when_status {
    WHEN_WRONG,   // `words` say what is wrong
    WHEN_FOUND,   // `words` are empty
    WHEN_NEAREST, // not there, but this is its nearest end; `words` say so
};

struct when {
    enum when_status status;
    bool live; // follow the program from now on; wall_us is the end
    uint64_t wall_us;
    char words[WHEN_WORDS_BYTES];
};

struct when when_parse(const char *text, const struct when_span *span);

#endif
