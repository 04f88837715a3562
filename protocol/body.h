/*
 * The body of a frame, unpacked into the struct that its shape describes.
 *
 * decoder.h does it for streams; who reads frames from a file, where bodies may be
 * packed once more, hands over each body with body_message().
 */
#ifndef PROTOCOL_BODY_H
#define PROTOCOL_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/shape.h"

struct body;
struct frame;
struct message;

struct body *body_new(void); // NULL when memory ran out
void body_free(struct body *body);

// Give back what the last body_unpack() made.
void body_clear(struct body *body);

// Unpack a body of `length` bytes into `target`, a struct of `shape`. What it
// points to is borrowed from `body` until the next call on it; `bytes` are not
// needed any more. False with the reason in `problem` when the bytes are not
// what the shape asks for or memory ran out.
bool body_unpack(struct body *body, const struct shape *shape, const unsigned char *bytes,
                 size_t length, void *target, char *problem, size_t problem_size);

// The same for a whole message of the frame's kind, which must be one that shape_of()
// knows; `bytes` are its plain body, whatever the frame's flags and length say.
bool body_message(struct body *body, const struct frame *frame,
                  const unsigned char *bytes, size_t length, struct message *message,
                  char *problem, size_t problem_size);

#endif
