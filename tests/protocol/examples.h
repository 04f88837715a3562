/*
 * One message of every kind, with the values that protocol/README.md documents,
 * and what tests of the room do with messages.
 */
#ifndef TESTS_PROTOCOL_EXAMPLES_H
#define TESTS_PROTOCOL_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/decoder.h"

struct example {
    const char *name; // of its hex dump in README.md
    struct message message;
};

#define EXAMPLES 20

extern const struct example examples[EXAMPLES];

// Append the frame; abort when that fails.
void example_encode(struct buffer *out, const struct message *message);

// Append a frame of any kind around any body, its CRC right.
void example_frame(struct buffer *out, uint8_t kind, const void *body, size_t length);

// Append the bytes that README.md's hex dump of this name shows; abort when it has none.
void example_specified(struct buffer *bytes, const char *name);

// Whether two messages encode to the same bytes.
bool example_same(const struct message *one, const struct message *other);

#endif
