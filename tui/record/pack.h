/*
 * Frames as a recording holds them: those of the wire, their bodies compressed
 * each by itself where that makes them shorter.
 *
 * A packer or unpacker starts as all zeroes and keeps its memory between calls;
 * destroying it twice is harmless. When there is no memory to compress, frames
 * are left as they are: nothing is lost.
 */
#ifndef TUI_RECORD_PACK_H
#define TUI_RECORD_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/message.h"

struct body;

struct packer {
    struct ZSTD_CCtx_s *zstd; // owned
    struct buffer plain;      // the frame before it is compressed
};

void packer_destroy(struct packer *packer);

// Append `message` as one frame. False as message_encode(): memory ran out, or the
// body would be too long; `out` is then as it was, with its failure set.
bool pack_frame(struct packer *packer, struct buffer *out, const struct message *message);

enum unpack_status {
    UNPACK_MESSAGE, // `message` is filled, valid until the next call
    UNPACK_UNKNOWN, // of a newer writer: a kind or flag not known here
    UNPACK_DAMAGED, // the body is not what its frame says it is
    UNPACK_NO_MEMORY,
};

struct unpacker {
    struct ZSTD_DCtx_s *zstd; // owned
    struct buffer plain;      // a body that was compressed
    struct body *body;        // owned: what messages borrow from
};

void unpacker_destroy(struct unpacker *unpacker);

// Turn a frame, whose CRC was checked, and its `body_length` bytes into a message.
enum unpack_status unpack_frame(struct unpacker *unpacker, const struct frame *frame,
                                const unsigned char *bytes, struct message *message);

#endif
