/*
 * Recording into a file.
 *
 * The happy path: the file is made, and each message is appended with one write; a key
 * group comes before a sample about every minute. Who is killed leaves at most one
 * unfinished frame behind. Above `max_size` the newer half, from a key group on, is
 * copied to FILE.part, a piece with each message, and then takes the file's name: the
 * file keeps the newest and stays below `max_size`; on disk there may be half as much
 * again for a while.
 *
 * What can go wrong: the file exists (it is not overwritten unless that is asked for);
 * another memtop is recording to it; no permission, no folder; a full disk or a limit:
 * the unfinished frame is taken away again, the recording ends there, sound, and
 * writer_error() says so. A process that ignores SIGXFSZ hears of its file size limit
 * that way; another dies of it.
 */
#ifndef TUI_RECORD_WRITER_H
#define TUI_RECORD_WRITER_H

#include "tui/record/group.h"

struct writer;

enum writer_mode {
    WRITER_NEW,     // refuse a file that exists
    WRITER_REPLACE, // its content is lost
    WRITER_APPEND,  // go on with a recording that exists; else as WRITER_NEW
    WRITER_EXTEND,  // the same, but it has to exist, and its last frame to be whole
};

struct writer_options {
    enum writer_mode mode;
    uint64_t max_size;    // bytes; 0: no bound. At least WRITER_SIZE_MIN
    uint64_t interval_us; // between key groups; 0: GROUP_INTERVAL_US
};

#define WRITER_SIZE_MIN 65536u

// NULL when it cannot be done: `why` then has the words.
struct writer *writer_open(const char *path, const struct writer_options *options,
                           char *why, size_t why_size);

// Close the file and free the writer. False when the last bytes could not be made
// safe; `why` (may be NULL) has the words, also those of an earlier failure.
bool writer_close(struct writer *writer, char *why, size_t why_size);

// Append a message, before it a key group when one is due. `state`, which may be NULL,
// is what was known before the message. False once something went wrong, and from
// then on: see writer_error().
bool writer_add(struct writer *writer, const struct message *message,
                const struct state *state);

// Append a frame as it lies in another recording. KEYs are made anew, with this file's
// distances; `message` is needed for these and may be NULL for others.
bool writer_copy(struct writer *writer, const struct message *message,
                 const unsigned char *bytes, size_t length);

const char *writer_error(const struct writer *writer); // "" while all is well
uint64_t writer_size(const struct writer *writer);     // of the file now, bytes
uint64_t writer_written(const struct writer *writer);  // ever; what was dropped included

#endif
