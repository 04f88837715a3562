/*
 * A part of a tape into a file: frames as they are, from a key group on.
 *
 * The part begins with the key group at or before `from`, so up to a minute earlier,
 * and ends before the first frame after `to`. Damaged bytes are left out, and a GAP
 * stands in their place. The tape may be a ring: so a viewer's memory becomes the begin
 * of a file, to which the writer then goes on adding. Marks of moments in the part that
 * were set later are appended to it.
 */
#ifndef TUI_RECORD_CUT_H
#define TUI_RECORD_CUT_H

#include "tui/record/tape.h"
#include "tui/record/writer.h"

struct cut_report {
    uint64_t frames;
    uint64_t groups;
    uint64_t bytes;      // written
    uint64_t lost;       // bytes that were damaged
    uint64_t lost_times; // in so many places
    struct stamp from;   // of the first frame and the last
    struct stamp to;
    struct stamp end; // of the tape's
};

// Copy what is between two wall times. False when reading or writing failed, and the
// words are in `why`, or there was nothing: `report->frames` is 0 then. The report is
// right in any case.
bool cut_tape(struct tape *tape, uint64_t from_us, uint64_t to_us, struct writer *writer,
              struct cut_report *report, char *why, size_t why_size);

// What was done, in words, a line each.
bool cut_describe(const struct cut_report *report, struct buffer *out);

#endif
