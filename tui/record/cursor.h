/*
 * Playing a tape: the messages in turn, each moment's state once.
 *
 *     cursor_seek(&cursor, tape, wall_us - history_us);
 *     model = a new one;
 *     while (cursor_next(&cursor, tape, &message) == TAPE_FRAME)
 *         if (message.at.wall_us > wall_us) break; else model_apply(model, &message);
 *
 * Key groups are passed over while nothing was lost: what they say is known. After a
 * seek, damage or a gap the next one is given out; it makes right whatever a lost frame
 * left wrong. KEY messages themselves are not.
 */
#ifndef TUI_RECORD_CURSOR_H
#define TUI_RECORD_CURSOR_H

#include "tui/record/tape.h"

struct cursor {
    uint64_t offset; // of the next frame to look at
    uint64_t lost;   // bytes passed over just before the last message
    bool repeated;   // the last message is of a key group: state, and no news
    // inside
    bool whole;    // nothing is missing in what was given out
    bool in_group; // a begin was seen, its end not yet
    bool sound;    // so far, the group that is being given out
};

// To where the tape begins.
void cursor_start(struct cursor *cursor, const struct tape *tape);

// To the last sound key group at or before the wall time; to the start when there is
// none, and then false. Whoever seeks begins with a new model.
bool cursor_seek(struct cursor *cursor, struct tape *tape, uint64_t wall_us);

// The next message, borrowed from the tape until its next call. After TAPE_END it
// may be called again when the tape has grown.
enum tape_status cursor_next(struct cursor *cursor, struct tape *tape,
                             struct message *message);

#endif
