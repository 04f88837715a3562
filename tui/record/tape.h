/*
 * A recording to read from: a file, which may still be growing, or a ring in memory.
 *
 *     struct tape *tape = tape_open("night.mtop", why, sizeof why);
 *     uint64_t at = tape_first(tape);
 *     while (tape_read(tape, at, &frame, &message) == TAPE_FRAME)
 *         at = frame.next;
 *
 * A file opens at once, however long it is: its key groups are found by going back
 * from the last. Where that chain is broken the whole file is read instead, and
 * tape_rebuilt() says so. Damage is passed over and told: tape_read() never fails
 * because of it. Nothing is ever written to the file. cursor.h plays a tape.
 *
 * Offsets are places that stay what they are while the tape is open, also when the
 * oldest frames of a ring are dropped, or the file's older half is.
 */
#ifndef TUI_RECORD_TAPE_H
#define TUI_RECORD_TAPE_H

#include "tui/record/group.h"

struct tape;

enum tape_status {
    TAPE_FRAME,
    TAPE_END,    // nothing more; later there may be
    TAPE_FAILED, // see tape_error()
};

struct tape_frame {
    uint64_t offset;
    uint64_t next;
    uint64_t lost; // bytes passed over to get here: damaged, or dropped from a ring
    uint8_t kind;
    struct stamp at;
};

// A whole key group. Figures may be COUNT_UNKNOWN.
struct tape_key {
    uint64_t offset;
    uint64_t ordinal;
    struct stamp at;
    uint64_t live;
    uint64_t rss_bytes;
    uint64_t gc_count;
    uint64_t mode;
};

// Bytes in which there was no sound frame.
struct tape_damage {
    uint64_t from;
    uint64_t to;
};

// NULL when it cannot be read or is no recording: `why` then has the words.
struct tape *tape_open(const char *path, char *why, size_t why_size);

// A ring in memory that takes about `bytes_max`. NULL when memory ran out.
struct tape *tape_new(size_t bytes_max);

void tape_free(struct tape *tape);

// Told of each frame that is read how far in the tape's bytes it is.
typedef void tape_watcher(void *context, uint64_t done, uint64_t whole);
void tape_watch(struct tape *tape, tape_watcher *seen, void *context);

enum tape_refresh {
    TAPE_SAME,
    TAPE_GREW,
    TAPE_OTHER,  // another recording has the file's name now; this one stays readable
    TAPE_BROKEN, // see tape_error()
};

// Look at the file again. Its replacement by its own newer part is followed: only
// tape_first() is another then.
enum tape_refresh tape_refresh(struct tape *tape);

// Rings only: record a message, before it a key group when one is due. `state` is what
// was known before the message. The oldest key groups, with what follows them, are
// dropped for it. False when memory ran out: the message is then not on the tape.
bool tape_add(struct tape *tape, const struct message *message,
              const struct state *state);

// The first sound frame at or after `offset`, unpacked; borrowed until the next call.
// Frames of kinds not known here are passed over. With TAPE_END `frame->next` is where
// to read on later.
enum tape_status tape_read(struct tape *tape, uint64_t offset, struct tape_frame *frame,
                           struct message *message);

// The same with the frame's bytes, header and body as they lie there, of any kind.
enum tape_status tape_read_bytes(struct tape *tape, uint64_t offset,
                                 struct tape_frame *frame, const unsigned char **bytes);

uint64_t tape_first(const struct tape *tape); // where reading begins
uint64_t tape_size(const struct tape *tape);  // bytes there are

// Stamps of the first and the last sound frame. False while there is none.
bool tape_span(const struct tape *tape, struct stamp *first, struct stamp *last);

size_t tape_key_count(const struct tape *tape);
const struct tape_key *tape_key_at(const struct tape *tape, size_t index);

// The last group at or before the wall time, none of whose frames is damaged: its
// index, or tape_key_count() when there is none.
size_t tape_key_before(struct tape *tape, uint64_t wall_us);

// What was passed over so far, in order, without what lies beyond TAPE_DAMAGES_MAX.
#define TAPE_DAMAGES_MAX 1024u
size_t tape_damage_count(const struct tape *tape);
const struct tape_damage *tape_damage_at(const struct tape *tape, size_t index);
uint64_t tape_damaged_bytes(const struct tape *tape); // all of them

// Bytes at the end in which no frame is whole: one being written, or the last of a
// writer that was killed.
uint64_t tape_unfinished(const struct tape *tape);

bool tape_rebuilt(const struct tape *tape);
uint64_t tape_bytes_read(const struct tape *tape); // from the file, since it was opened
size_t tape_memory(const struct tape *tape);       // bytes a ring takes
const char *tape_error(const struct tape *tape);

#endif
