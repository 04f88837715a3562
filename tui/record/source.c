#include "tui/record/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
source_open(struct source *source, const char *path)
{
    struct stat status;

    *source = (struct source){.descriptor = -1, .patience = SOURCE_PATIENCE};
    // Without O_NONBLOCK a pipe of that name would be waited for.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0) {
        return false;
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        int error = S_ISREG(status.st_mode) ? errno : EINVAL;
        close(descriptor);
        errno = error;
        return false;
    }
    source->descriptor = descriptor;
    source->device = status.st_dev;
    source->inode = status.st_ino;
    source->end = (uint64_t)status.st_size;
    return true;
}

void
source_begin(struct source *source)
{
    *source = (struct source){.descriptor = -1, .patience = SOURCE_PATIENCE};
}

void
source_close(struct source *source)
{
    if (source->descriptor >= 0) {
        close(source->descriptor);
    }
    while (source->segment_count > 0) {
        source_drop_segment(source);
    }
    free(source->segments);
    buffer_destroy(&source->window);
    *source = (struct source){.descriptor = -1, .patience = SOURCE_PATIENCE};
}

bool
source_measure(struct source *source)
{
    struct stat status;

    if (source->descriptor < 0) {
        return true;
    }
    if (fstat(source->descriptor, &status) != 0) {
        source->error = errno;
        return false;
    }
    source->end = source->first + (uint64_t)status.st_size;
    return true;
}

void
source_expect(const struct source *source, uint64_t offset, size_t length)
{
    if (source->descriptor >= 0 && offset >= source->first) {
        (void)posix_fadvise(source->descriptor, (off_t)(offset - source->first),
                            (off_t)length, POSIX_FADV_WILLNEED);
    }
}

// The window becomes what is at `offset`; shorter where the file ends.
static bool
read_window(struct source *source, uint64_t offset, size_t length)
{
    buffer_clear(&source->window);
    source->window_at = offset;
    unsigned char *room = buffer_reserve(&source->window, length);
    if (room == NULL) {
        source->error = ENOMEM;
        return false;
    }
    while (source->window.length < length) {
        ssize_t got = pread(source->descriptor, room + source->window.length,
                            length - source->window.length,
                            (off_t)(offset - source->first + source->window.length));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            source->error = errno;
            return false;
        }
        if (got == 0) {
            break; // cut short since it was measured
        }
        source->window.length += (size_t)got;
        source->bytes_read += (uint64_t)got;
    }
    return true;
}

static const unsigned char *
file_bytes(struct source *source, uint64_t offset, size_t want, size_t ahead,
           size_t *have)
{
    const struct buffer *window = &source->window;
    if (offset < source->window_at ||
        offset - source->window_at + want > window->length) {
        uint64_t left = source->end - offset;
        size_t length = want > ahead ? want : ahead;
        if (!read_window(source, offset, left < length ? (size_t)left : length)) {
            return NULL;
        }
    }
    size_t skip = (size_t)(offset - source->window_at);
    *have = window->length - skip < want ? window->length - skip : want;
    return window->bytes + skip;
}

static const unsigned char *
memory_bytes(const struct source *source, uint64_t offset, size_t want, size_t *have)
{
    size_t low = 0;
    size_t high = source->segment_count;
    while (high - low > 1) { // the last one that begins at or before `offset`
        size_t middle = low + (high - low) / 2;
        if (source->segments[middle].offset <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const struct segment *segment = &source->segments[low];
    size_t skip = (size_t)(offset - segment->offset);
    size_t left = segment->bytes.length - skip;
    *have = left < want ? left : want;
    return segment->bytes.bytes + skip;
}

const unsigned char *
source_bytes(struct source *source, uint64_t offset, size_t want, size_t ahead,
             size_t *have)
{
    static const unsigned char none;

    *have = 0;
    if (offset < source->first || offset >= source->end || want == 0) {
        return &none;
    }
    if (want > source->end - offset) {
        want = (size_t)(source->end - offset);
    }
    return source->descriptor >= 0 ? file_bytes(source, offset, want, ahead, have)
                                   : memory_bytes(source, offset, want, have);
}

// Give back the room that a finished segment will not need.
static void
fit(struct buffer *bytes)
{
    void *fitting = bytes->length > 0 ? realloc(bytes->bytes, bytes->length) : NULL;
    if (fitting != NULL) {
        bytes->bytes = fitting;
        bytes->capacity = bytes->length;
    }
}

bool
source_add_segment(struct source *source)
{
    if (source->segment_count == source->segment_room) {
        size_t room = source->segment_room == 0 ? 16 : source->segment_room * 2;
        struct segment *grown = realloc(source->segments, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        source->segments = grown;
        source->segment_room = room;
    }
    if (source->segment_count > 0) {
        fit(&source->segments[source->segment_count - 1].bytes);
    }
    source->segments[source->segment_count++] = (struct segment){.offset = source->end};
    return true;
}

bool
source_append(struct source *source, const void *bytes, size_t length)
{
    struct buffer *newest = &source->segments[source->segment_count - 1].bytes;
    if (!buffer_append(newest, bytes, length)) {
        newest->failed = false;
        return false;
    }
    source->end += length;
    return true;
}

void
source_drop_segment(struct source *source)
{
    buffer_destroy(&source->segments[0].bytes);
    source->segment_count--;
    memmove(&source->segments[0], &source->segments[1],
            source->segment_count * sizeof source->segments[0]);
    source->first = source->segment_count > 0 ? source->segments[0].offset : source->end;
}

size_t
source_memory(const struct source *source)
{
    size_t sum = 0;
    for (size_t i = 0; i < source->segment_count; i++) {
        sum += source->segments[i].bytes.capacity;
    }
    return sum;
}
