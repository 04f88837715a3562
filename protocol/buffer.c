#include "protocol/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 256u

void
buffer_destroy(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

void
buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

// At least `needed`, doubled so that appending byte by byte stays linear; 0 when
// `needed` cannot be had.
static size_t
grown_capacity(size_t capacity, size_t needed)
{
    if (needed > SIZE_MAX / 2) {
        return 0;
    }
    size_t grown = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity;
    while (grown < needed) {
        grown *= 2;
    }
    return grown;
}

static bool
grow(struct buffer *buffer, size_t length)
{
    size_t needed = buffer->length + length;
    size_t capacity = needed < length ? 0 : grown_capacity(buffer->capacity, needed);
    unsigned char *bytes = capacity == 0 ? NULL : realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

unsigned char *
buffer_reserve(struct buffer *buffer, size_t length)
{
    if (buffer->failed) {
        return NULL;
    }
    bool fits = buffer->bytes != NULL && length <= buffer->capacity - buffer->length;
    if (!fits && !grow(buffer, length)) {
        return NULL;
    }
    return buffer->bytes + buffer->length;
}

bool
buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
    unsigned char *room = buffer_reserve(buffer, length);
    if (room == NULL) {
        return false;
    }
    if (length > 0) { // `bytes` may be NULL then
        memcpy(room, bytes, length);
        buffer->length += length;
    }
    return true;
}

void
buffer_consume(struct buffer *buffer, size_t length)
{
    if (length >= buffer->length) {
        buffer->length = 0;
        return;
    }
    buffer->length -= length;
    memmove(buffer->bytes, buffer->bytes + length, buffer->length);
}
