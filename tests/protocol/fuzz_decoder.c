/*
 * Feeds the decoder what libFuzzer invents, in pieces, in two ways: as a raw
 * stream, and as the body of a frame whose header and CRC are right, without
 * which nearly no input would reach msgpack. What is decoded must encode, and
 * decode again to the same bytes.
 *
 *     mkdir seeds && build-fuzz/tests/protocol_write_examples --seeds seeds
 *     build-fuzz/tests/protocol_fuzz_decoder -max_total_time=180 seeds
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool truth)
{
    if (!truth) {
        abort();
    }
}

static void
encode_again(const struct message *message)
{
    struct buffer first = {0};
    struct buffer second = {0};
    struct decoder decoder = {0};
    struct message again;
    require(message_encode(&first, message));
    decoder_feed(&decoder, first.bytes, first.length);
    require(decoder_next(&decoder, &again) == DECODE_MESSAGE);
    require(message_encode(&second, &again));
    require(first.length == second.length);
    require(memcmp(first.bytes, second.bytes, first.length) == 0);
    decoder_destroy(&decoder);
    buffer_destroy(&second);
    buffer_destroy(&first);
}

static void
decode(const uint8_t *bytes, size_t length, size_t piece)
{
    struct decoder decoder = {0};
    struct message message;
    enum decode_status status = DECODE_NEED_MORE;
    for (size_t at = 0; at < length && status != DECODE_FAILED; at += piece) {
        size_t left = length - at;
        decoder_feed(&decoder, bytes + at, left < piece ? left : piece);
        while ((status = decoder_next(&decoder, &message)) == DECODE_MESSAGE) {
            encode_again(&message);
        }
    }
    require(decoder_finish(&decoder) == (decoder_error(&decoder)[0] == '\0'));
    decoder_destroy(&decoder);
}

static void
decode_as_body(uint8_t kind, const uint8_t *body, size_t length, size_t piece)
{
    struct buffer frame = {0};
    unsigned char header[FRAME_HEADER_BYTES];
    frame_write(header, kind, (struct stamp){1, 2}, body, (uint32_t)length);
    require(buffer_append(&frame, header, sizeof header));
    require(buffer_append(&frame, body, length));
    decode(frame.bytes, frame.length, piece);
    buffer_destroy(&frame);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t piece = data[0] == 0 ? size : data[0];
    decode(data + 1, size - 1, piece);
    decode_as_body(data[1], data + 2, size - 2, piece);
    return 0;
}
