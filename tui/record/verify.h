/*
 * Reading all of a tape to say what is on it, and what is not sound.
 */
#ifndef TUI_RECORD_VERIFY_H
#define TUI_RECORD_VERIFY_H

#include "tui/record/tape.h"

// Gaps that are told one by one; others are counted.
#define VERIFY_GAPS_MAX 100u

struct verify_gap {
    struct stamp from;
    struct stamp to;
    uint64_t reason; // enum gap_reason
};

struct verify_report {
    uint64_t bytes;
    uint64_t frames; // sound ones, of any kind
    uint64_t samples;
    uint64_t unknown;      // of kinds or with flags not known here
    uint64_t groups;       // whole ones
    uint64_t groups_short; // that did not come to their end
    uint64_t processes;    // told by HELLOs with another pid or start
    uint64_t gaps;
    struct verify_gap gap_list[VERIFY_GAPS_MAX];
    uint64_t damaged;       // bytes
    uint64_t damaged_times; // in so many places
    uint64_t unfinished;    // bytes at the end
    bool chain_broken;      // key groups had to be found by reading everything
    bool spanned;           // there is a first frame and a last
    struct stamp first;
    struct stamp last;
};

// False when reading itself failed: see tape_error().
bool verify_tape(struct tape *tape, struct verify_report *report);

// Whether nothing is damaged. An unfinished frame at the end is no damage: it may be
// one that is being written.
bool verify_sound(const struct verify_report *report);

// What was found, in words, a line each: times, sizes, gaps, each damaged place of the
// tape. False when memory ran out.
bool verify_describe(const struct verify_report *report, const struct tape *tape,
                     struct buffer *out);

// "the connection broke"; NULL for a reason not known here.
const char *gap_words(uint64_t reason);

#endif
