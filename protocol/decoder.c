#include "protocol/decoder.h"

#include <inttypes.h>
#include <stdio.h>

#include "protocol/body.h"

#define WORDS_MAX 120 // of an error, behind "byte N: "

void
decoder_destroy(struct decoder *decoder)
{
    buffer_destroy(&decoder->input);
    body_free(decoder->storage);
    *decoder = (struct decoder){0};
}

const char *
decoder_error(const struct decoder *decoder)
{
    return decoder->error;
}

static uint64_t
position(const struct decoder *decoder)
{
    return decoder->offset + decoder->read;
}

// Keep the words and nothing else: the stream has lost its meaning.
static enum decode_status
fail(struct decoder *decoder, const char *words)
{
    (void)snprintf(decoder->error, sizeof decoder->error, "byte %" PRIu64 ": %s",
                   position(decoder), words);
    buffer_destroy(&decoder->input);
    decoder->offset += decoder->read;
    decoder->read = 0;
    return DECODE_FAILED;
}

// Dropping only when at least half of the input is read keeps the moving linear,
// however small the pieces are.
static void
drop_read(struct decoder *decoder)
{
    if (decoder->read < decoder->input.length - decoder->read) {
        return;
    }
    buffer_consume(&decoder->input, decoder->read);
    decoder->offset += decoder->read;
    decoder->read = 0;
}

void
decoder_feed(struct decoder *decoder, const void *bytes, size_t length)
{
    if (decoder->error[0] != '\0') {
        return;
    }
    drop_read(decoder);
    if (!buffer_append(&decoder->input, bytes, length)) {
        fail(decoder, "out of memory");
    }
}

static enum decode_status
fail_header(struct decoder *decoder, enum frame_status status, uint32_t length)
{
    if (status == FRAME_BAD_MAGIC) {
        return fail(decoder, position(decoder) == 0 ? "not memtop's protocol"
                                                    : "no frame begins here");
    }
    char words[WORDS_MAX];
    (void)snprintf(words, sizeof words, "frame of %" PRIu32 " bytes, the most is %u",
                   length, FRAME_BODY_MAX);
    return fail(decoder, words);
}

// Find the next whole frame, sound but not yet unpacked, at `read`. A header is
// judged as soon as it is there, so that no long body is waited for in vain.
static enum decode_status
next_frame(struct decoder *decoder, struct frame *frame)
{
    size_t left = decoder->input.length - decoder->read;
    if (left == 0) {
        return DECODE_NEED_MORE;
    }
    const unsigned char *header = decoder->input.bytes + decoder->read;
    if (!frame_may_begin(header, left)) {
        return fail_header(decoder, FRAME_BAD_MAGIC, 0);
    }
    if (left < FRAME_HEADER_BYTES) {
        return DECODE_NEED_MORE;
    }
    enum frame_status status = frame_read(header, frame);
    if (status != FRAME_OK) {
        return fail_header(decoder, status, frame->body_length);
    }
    if (left - FRAME_HEADER_BYTES < frame->body_length) {
        return DECODE_NEED_MORE;
    }
    if (frame_check(header, header + FRAME_HEADER_BYTES, frame->body_length) !=
        FRAME_OK) {
        return fail(decoder, "damaged frame: its CRC does not fit");
    }
    return DECODE_MESSAGE;
}

// Turn the frame at `read` into a message.
static enum decode_status
unpack(struct decoder *decoder, const struct frame *frame, struct message *message)
{
    if (decoder->storage == NULL) {
        decoder->storage = body_new();
    }
    if (decoder->storage == NULL) {
        return fail(decoder, "out of memory");
    }
    const unsigned char *bytes =
        decoder->input.bytes + decoder->read + FRAME_HEADER_BYTES;
    char problem[WORDS_MAX];
    if (!body_message(decoder->storage, frame, bytes, frame->body_length, message,
                      problem, sizeof problem)) {
        return fail(decoder, problem);
    }
    decoder->read += FRAME_HEADER_BYTES + frame->body_length;
    return DECODE_MESSAGE;
}

enum decode_status
decoder_next(struct decoder *decoder, struct message *message)
{
    if (decoder->storage != NULL) {
        body_clear(decoder->storage);
    }
    while (decoder->error[0] == '\0') {
        struct frame frame = {0};
        enum decode_status status = next_frame(decoder, &frame);
        if (status != DECODE_MESSAGE) {
            return status;
        }
        // The one flag there is belongs into files, and others are not known yet.
        if (frame.flags == 0 && shape_of(frame.kind) != NULL) {
            return unpack(decoder, &frame, message);
        }
        decoder->read += FRAME_HEADER_BYTES + frame.body_length;
        decoder->skipped++;
    }
    return DECODE_FAILED;
}

bool
decoder_finish(struct decoder *decoder)
{
    if (decoder->error[0] != '\0') {
        return false;
    }
    size_t left = decoder->input.length - decoder->read;
    if (left > 0) {
        char words[WORDS_MAX];
        (void)snprintf(words, sizeof words, "the stream ends %zu bytes into a frame",
                       left);
        fail(decoder, words);
    }
    return left == 0;
}
