#include "tui/record/pack.h"

#include <zstd.h>

#include "protocol/body.h"

#define LEVEL 3             // more takes much longer for a few percent
#define LEAST_BODY_BYTES 48 // shorter ones hold nothing that repeats
#define PROBLEM_MAX 120

void
packer_destroy(struct packer *packer)
{
    ZSTD_freeCCtx(packer->zstd);
    buffer_destroy(&packer->plain);
    *packer = (struct packer){0};
}

// Append the frame in `plain` with its body compressed. False, and nothing is
// appended, when that would not make it shorter or memory ran out.
static bool
append_compressed(struct packer *packer, struct buffer *out, const struct frame *frame)
{
    const unsigned char *body = packer->plain.bytes + FRAME_HEADER_BYTES;
    if (packer->zstd == NULL) {
        packer->zstd = ZSTD_createCCtx();
    }
    if (packer->zstd == NULL || frame->body_length < LEAST_BODY_BYTES) {
        return false;
    }
    unsigned char *room = buffer_reserve(out, packer->plain.length);
    if (room == NULL) {
        return false;
    }
    size_t length =
        ZSTD_compressCCtx(packer->zstd, room + FRAME_HEADER_BYTES, frame->body_length - 1,
                          body, frame->body_length, LEVEL);
    if (ZSTD_isError(length)) {
        return false;
    }
    struct frame packed = *frame;
    packed.flags = FRAME_ZSTD;
    packed.body_length = (uint32_t)length;
    frame_seal(room, &packed, room + FRAME_HEADER_BYTES);
    out->length += FRAME_HEADER_BYTES + length;
    return true;
}

bool
pack_frame(struct packer *packer, struct buffer *out, const struct message *message)
{
    struct frame frame;
    buffer_clear(&packer->plain);
    if (!message_encode(&packer->plain, message) ||
        frame_read(packer->plain.bytes, &frame) != FRAME_OK) {
        out->failed = true;
        return false;
    }
    return append_compressed(packer, out, &frame) ||
           buffer_append(out, packer->plain.bytes, packer->plain.length);
}

void
unpacker_destroy(struct unpacker *unpacker)
{
    ZSTD_freeDCtx(unpacker->zstd);
    buffer_destroy(&unpacker->plain);
    body_free(unpacker->body);
    *unpacker = (struct unpacker){0};
}

// Fill `plain` with the content of one zstd frame, whose claims are not believed.
static enum unpack_status
decompress(struct unpacker *unpacker, const unsigned char *bytes, size_t length)
{
    unsigned long long claimed = ZSTD_getFrameContentSize(bytes, length);
    // Both ways not to know it are above any length that is allowed.
    if (claimed > FRAME_BODY_MAX ||
        ZSTD_findFrameCompressedSize(bytes, length) != length) {
        return UNPACK_DAMAGED;
    }
    if (unpacker->zstd == NULL) {
        unpacker->zstd = ZSTD_createDCtx();
    }
    buffer_clear(&unpacker->plain);
    // One more than nothing: an empty body is judged by who unpacks it.
    unsigned char *room = buffer_reserve(&unpacker->plain, (size_t)claimed + 1);
    if (unpacker->zstd == NULL || room == NULL) {
        return UNPACK_NO_MEMORY;
    }
    size_t made =
        ZSTD_decompressDCtx(unpacker->zstd, room, (size_t)claimed, bytes, length);
    if (made != claimed) {
        return UNPACK_DAMAGED;
    }
    unpacker->plain.length = made;
    return UNPACK_MESSAGE;
}

enum unpack_status
unpack_frame(struct unpacker *unpacker, const struct frame *frame,
             const unsigned char *bytes, struct message *message)
{
    size_t length = frame->body_length;
    if ((frame->flags & ~FRAME_ZSTD) != 0 || shape_of(frame->kind) == NULL) {
        return UNPACK_UNKNOWN;
    }
    if (frame->flags == FRAME_ZSTD) {
        enum unpack_status status = decompress(unpacker, bytes, length);
        if (status != UNPACK_MESSAGE) {
            return status;
        }
        bytes = unpacker->plain.bytes;
        length = unpacker->plain.length;
    }
    if (unpacker->body == NULL) {
        unpacker->body = body_new();
    }
    if (unpacker->body == NULL) {
        return UNPACK_NO_MEMORY;
    }
    char problem[PROBLEM_MAX];
    if (body_message(unpacker->body, frame, bytes, length, message, problem,
                     sizeof problem)) {
        return UNPACK_MESSAGE;
    }
    return body_exhausted(unpacker->body) ? UNPACK_NO_MEMORY : UNPACK_DAMAGED;
}
