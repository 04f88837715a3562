/*
 * Frames among bytes that may be damaged. Internal to tui/record/.
 *
 * Where no sound frame begins, the next one is searched: the next place where magic,
 * length and CRC hold. Bytes made to look like many long frames would make that
 * quadratic: the source therefore has a patience of bytes that were checked in vain,
 * which grows with what is got on, and what claims to be longer is no frame.
 */
#ifndef TUI_RECORD_FIND_H
#define TUI_RECORD_FIND_H

#include "protocol/frame.h"
#include "tui/record/source.h"

enum find_status {
    FIND_FRAME,
    FIND_END,    // no whole frame is left, yet
    FIND_FAILED, // see the source's error
};

struct found {
    uint64_t offset; // of the frame; with FIND_END, where nothing sound begins
    uint64_t next;
    struct frame frame;
    const unsigned char *bytes; // header and body; borrowed from the source until its
                                // next call
};

// Where a search came to nothing, so that a growing file is not searched again.
struct find_miss {
    uint64_t from;
    uint64_t until;  // nothing sound begins in between, and never will
    bool unfinished; // but at `from` itself one may, when all of it has come
};

// The first sound frame at or after `offset`, which has to be in the source; it is at
// `offset` where nothing is damaged.
enum find_status find_frame(struct source *source, uint64_t offset,
                            struct find_miss *miss, struct found *found);

// Whether exactly there is a sound frame: FIND_FRAME, FIND_END when there is none.
enum find_status find_at(struct source *source, uint64_t offset, size_t ahead,
                         struct found *found);

// The last sound frame of `kind`, with at most `length_max` bytes of body, that begins
// before `*offset`, which becomes its place.
enum find_status find_back(struct source *source, uint8_t kind, uint32_t length_max,
                           uint64_t *offset, struct found *found);

#endif
