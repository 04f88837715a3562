#include "tui/record/find.h"

#include <string.h>

#define AHEAD_BYTES 131072u // read at once where frames are read in turn
#define SEARCH_BYTES 65536u // searched at once
#define PATIENCE_SHARE 8u   // bytes that may be checked in vain, for each one got on

static const char magic[] = {'M', 'T', 'O', 'P'};

static void
get_on(struct source *source, uint64_t bytes)
{
    uint64_t patience = source->patience + bytes * PATIENCE_SHARE;
    source->patience = patience < SOURCE_PATIENCE ? patience : SOURCE_PATIENCE;
}

enum find_status
find_at(struct source *source, uint64_t offset, size_t ahead, struct found *found)
{
    size_t have;
    const unsigned char *header =
        source_bytes(source, offset, FRAME_HEADER_BYTES, ahead, &have);
    if (header == NULL) {
        return FIND_FAILED;
    }
    if (have < FRAME_HEADER_BYTES || frame_read(header, &found->frame) != FRAME_OK) {
        return FIND_END;
    }
    size_t length = FRAME_HEADER_BYTES + (size_t)found->frame.body_length;
    if (length > source->end - offset || length > source->patience) {
        return FIND_END;
    }
    const unsigned char *bytes = source_bytes(source, offset, length, ahead, &have);
    if (bytes == NULL) {
        return FIND_FAILED;
    }
    if (have < length || frame_check(bytes, bytes + FRAME_HEADER_BYTES,
                                     found->frame.body_length) != FRAME_OK) {
        source->patience -= length;
        return FIND_END;
    }
    get_on(source, length);
    found->offset = offset;
    found->next = offset + length;
    found->bytes = bytes;
    return FIND_FRAME;
}

// Whether what begins at `bytes` could be a frame of which not all is there yet.
static bool
unfinished(const struct source *source, uint64_t offset, const unsigned char *bytes,
           size_t have)
{
    struct frame frame;
    if (have < FRAME_HEADER_BYTES) {
        return frame_may_begin(bytes, have);
    }
    return frame_read(bytes, &frame) == FRAME_OK &&
           FRAME_HEADER_BYTES + (uint64_t)frame.body_length > source->end - offset;
}

// Behind a place where no sound frame begins.
static enum find_status
search(struct source *source, uint64_t at, struct find_miss *miss, struct found *found)
{
    miss->until = UINT64_MAX;
    for (;;) {
        size_t have;
        const unsigned char *bytes =
            source_bytes(source, at, SEARCH_BYTES, AHEAD_BYTES, &have);
        if (bytes == NULL) {
            return FIND_FAILED;
        }
        if (have < sizeof magic) {
            miss->until = miss->until < at ? miss->until : at;
            return FIND_END;
        }
        const unsigned char *begin = memmem(bytes, have, magic, sizeof magic);
        size_t step = begin == NULL ? have - (sizeof magic - 1) : (size_t)(begin - bytes);
        at += step;
        get_on(source, step);
        if (begin == NULL) {
            continue;
        }
        if (miss->until > at && unfinished(source, at, begin, have - step)) {
            miss->until = at;
        }
        enum find_status status = find_at(source, at, AHEAD_BYTES, found);
        if (status != FIND_END) {
            return status;
        }
        at++;
    }
}

enum find_status
find_frame(struct source *source, uint64_t offset, struct find_miss *miss,
           struct found *found)
{
    bool missed = miss->from == offset && miss->until > offset;
    if (!missed || miss->unfinished) {
        enum find_status status = find_at(source, offset, AHEAD_BYTES, found);
        if (status != FIND_END) {
            return status;
        }
    }
    size_t have;
    const unsigned char *bytes =
        source_bytes(source, offset, FRAME_HEADER_BYTES, AHEAD_BYTES, &have);
    if (bytes == NULL) {
        return FIND_FAILED;
    }
    found->offset = offset;
    found->next = offset;
    miss->unfinished = unfinished(source, offset, bytes, have);
    uint64_t from = missed ? miss->until : offset + 1;
    miss->from = offset;
    enum find_status status = search(source, from, miss, found);
    if (status != FIND_END) {
        *miss = (struct find_miss){0};
    }
    return status;
}

// The last sound frame of `kind` that begins in `length` bytes before `*offset`.
static enum find_status
find_block(struct source *source, uint8_t kind, uint32_t length_max, uint64_t *offset,
           size_t length, struct found *found)
{
    // With what a frame at the block's end needs, so that checking reads nothing more.
    uint64_t at = *offset - length;
    size_t have;
    const unsigned char *bytes =
        source_bytes(source, at, length + FRAME_HEADER_BYTES + length_max, 0, &have);
    if (bytes == NULL) {
        return FIND_FAILED;
    }
    for (size_t place = length; place-- > 0;) {
        struct frame frame;
        if (have < place + FRAME_HEADER_BYTES || bytes[place] != 'M' ||
            frame_read(bytes + place, &frame) != FRAME_OK || frame.kind != kind ||
            frame.body_length > length_max) {
            continue;
        }
        enum find_status status = find_at(source, at + place, 0, found);
        if (status != FIND_END) {
            *offset = at + place;
            return status;
        }
        // A file that became shorter meanwhile was read again.
        bytes =
            source_bytes(source, at, length + FRAME_HEADER_BYTES + length_max, 0, &have);
        if (bytes == NULL) {
            return FIND_FAILED;
        }
    }
    *offset = at;
    return FIND_END;
}

enum find_status
find_back(struct source *source, uint8_t kind, uint32_t length_max, uint64_t *offset,
          struct found *found)
{
    while (*offset > source->first) {
        uint64_t left = *offset - source->first;
        size_t length = left < SEARCH_BYTES ? (size_t)left : SEARCH_BYTES;
        enum find_status status =
            find_block(source, kind, length_max, offset, length, found);
        if (status != FIND_END) {
            return status;
        }
    }
    return FIND_END;
}
