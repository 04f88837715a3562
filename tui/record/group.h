/*
 * Key groups: when one is due, and its frames.
 *
 * Who records hands over a function that says the whole state as messages; which
 * these are is not known here.
 */
#ifndef TUI_RECORD_GROUP_H
#define TUI_RECORD_GROUP_H

#include "tui/record/pack.h"

#define GROUP_INTERVAL_US 60000000u

// Gives every message of the state to `take`, in the order of a key group and without
// KEY. It stops, and is false itself, when `take` is.
struct state {
    bool (*each)(void *context, bool (*take)(void *taker, const struct message *message),
                 void *taker);
    void *context;
};

// What was written, and when the next group is due.
struct groups {
    uint64_t interval_us; // 0: GROUP_INTERVAL_US
    uint64_t bytes_max;   // due as well when so many came since the last one; 0: never
    uint64_t ordinal;     // of the last whole group, 0 before one
    uint64_t begin;       // where it begins
    bool any;             // there is one to point back to
    bool due;             // before the next sample at the latest
    bool after_sample;    // due once one sample more came: another process began
    bool first;           // nothing was written by us yet
    uint64_t at_us;       // monotonic, of the last one
    uint64_t bytes;       // that came since then
    uint64_t group_bytes; // the last one's own
};

void groups_begin(struct groups *groups, uint64_t bytes_max);

// Whether a group has to be written before `message`: it is asked before the state
// knows the message. Groups stand before samples, so that the trees which belong to
// a sample follow it.
bool groups_due(const struct groups *groups, const struct message *message);

// A message was written, as so many bytes.
void groups_note(struct groups *groups, const struct message *message, uint64_t bytes);

// Append a whole group that will begin at `offset`, `earlier` bytes behind one that a
// reader wants soon after it (0: none is known), stamped `now` where the state has no
// sample. False when memory ran out or the state failed: nothing is appended then, and
// the failure of `out` is not set.
bool groups_pack(struct groups *groups, struct packer *packer, struct buffer *out,
                 const struct state *state, uint64_t offset, uint64_t earlier,
                 struct stamp now);

#endif
