/*
 * A growable run of bytes that remembers its first failure.
 *
 * Writers append without looking; whoever hands the bytes on asks buffer_ok()
 * once. After a failed allocation nothing more is taken and the buffer stays
 * as it was. Not for strings that people read: it knows no characters.
 */
#ifndef PROTOCOL_BUFFER_H
#define PROTOCOL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    unsigned char *bytes; // owned
    size_t length;        // bytes in use
    size_t capacity;      // bytes allocated
    bool failed;          // an allocation failed, or a maximum was passed
};

// A buffer starts as all zeroes; destroying it twice is harmless.
void buffer_destroy(struct buffer *buffer);

// Forget the content and the failure, keep the memory.
void buffer_clear(struct buffer *buffer);

// Append `length` bytes. False, once and from then on, if memory ran out.
bool buffer_append(struct buffer *buffer, const void *bytes, size_t length);

// Make room for `length` more bytes and return where they go, NULL on failure.
// The caller adds to `length` what it wrote.
unsigned char *buffer_reserve(struct buffer *buffer, size_t length);

// Drop the first `length` bytes (at most all of them).
void buffer_consume(struct buffer *buffer, size_t length);

static inline bool
buffer_ok(const struct buffer *buffer)
{
    return !buffer->failed;
}

#endif
