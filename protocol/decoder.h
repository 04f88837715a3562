/*
 * Bytes in, messages out.
 *
 *     decoder_feed(&decoder, bytes, length);
 *     while (decoder_next(&decoder, &message) == DECODE_MESSAGE)
 *         ...
 *
 * The bytes may arrive cut anywhere. Frames of an unknown kind are skipped, and so
 * are those with flags: packed bodies are found in files alone (tui/record/).
 * The first error sticks: from then on decoder_next() repeats it and
 * decoder_error() says in words what was wrong and at which byte. What comes
 * in is hostile: lengths, counts and nesting are checked against named maxima
 * before memory is taken for them.
 */
#ifndef PROTOCOL_DECODER_H
#define PROTOCOL_DECODER_H

#include <stdint.h>

#include "protocol/message.h"

// msgpack values in one frame, and how deep they nest.
#define DECODE_VALUES_MAX 4194304u
#define DECODE_DEPTH_MAX 8

enum decode_status {
    DECODE_MESSAGE,   // `message` is filled, valid until the next call
    DECODE_NEED_MORE, // feed more bytes
    DECODE_FAILED,    // see decoder_error()
};

struct decoder {
    struct buffer input;
    uint64_t offset;  // of input.bytes[0] in the stream
    size_t read;      // bytes of input already turned into messages
    uint64_t skipped; // frames of unknown kinds, or with flags, passed over
    void *storage;    // owned: what the last message borrows from
    char error[160];  // empty while all is well
};

// A decoder starts as all zeroes; destroying it twice is harmless.
void decoder_destroy(struct decoder *decoder);

// Take `length` more bytes, between two runs of decoder_next(): what is held is
// then an unfinished frame and what was fed last. Nothing is kept after an error.
void decoder_feed(struct decoder *decoder, const void *bytes, size_t length);

// The next whole message. Its texts and lists are borrowed from the decoder
// until the next call of decoder_next() or decoder_destroy().
enum decode_status decoder_next(struct decoder *decoder, struct message *message);

// What went wrong, "" if nothing did.
const char *decoder_error(const struct decoder *decoder);

// The stream ended. True when it ended between two frames; false when bytes of
// an unfinished frame are left, which decoder_error() then describes.
bool decoder_finish(struct decoder *decoder);

#endif
