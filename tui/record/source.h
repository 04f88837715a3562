/*
 * The bytes of a recording by their place, wherever they lie: in a file that may
 * grow, be cut short or be replaced while it is read, or in memory.
 *
 * Places are logical: they stay what they are when the oldest bytes of a ring are
 * dropped, or when a file was replaced by its newer part. Internal to tui/record/.
 *
 * A file is read with pread(), never mapped: of a file that somebody cuts short, a
 * mapping kills who looks at it.
 */
#ifndef TUI_RECORD_SOURCE_H
#define TUI_RECORD_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/buffer.h"

// What is checked in vain before a search becomes careful.
#define SOURCE_PATIENCE 67108864u

// A run of bytes in memory that begins with a key group.
struct segment {
    uint64_t offset;
    struct buffer bytes;
};

struct source {
    uint64_t first;    // place of the oldest byte
    uint64_t end;      // and behind the newest
    int error;         // errno of what failed last; 0
    uint64_t patience; // bytes that may still be checked in vain: see find.h
    // a file
    int descriptor; // owned; -1 for memory
    dev_t device;
    ino_t inode;
    struct buffer window; // what was read last
    uint64_t window_at;
    uint64_t bytes_read; // from the file, ever
    // memory
    struct segment *segments; // owned, oldest first
    size_t segment_count;
    size_t segment_room;
};

// A regular file. False with errno set; EINVAL when it is no regular file.
bool source_open(struct source *source, const char *path);
void source_begin(struct source *source); // empty memory
void source_close(struct source *source);

// Look how long the file is now. False with `error` set.
bool source_measure(struct source *source);

// Bytes that will be wanted soon: a disk may bring them meanwhile. A place where nothing
// is does no harm.
void source_expect(const struct source *source, uint64_t offset, size_t length);

// The bytes at `offset`, `want` of them or as many as there are, in `have`: in memory
// no further than the end of a segment. At least `ahead` are read when any have to be.
// Borrowed until the next call. NULL on failure, with `error` set; never for none.
const unsigned char *source_bytes(struct source *source, uint64_t offset, size_t want,
                                  size_t ahead, size_t *have);

// Memory only. Begin a segment; append to the newest; drop the oldest. False when
// memory ran out, and nothing changed then.
bool source_add_segment(struct source *source);
bool source_append(struct source *source, const void *bytes, size_t length);
void source_drop_segment(struct source *source);

// What the segments take.
size_t source_memory(const struct source *source);

#endif
