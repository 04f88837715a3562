#include "protocol/frame.h"

#include <string.h>

#include "protocol/crc32.h"

static const unsigned char magic[4] = {'M', 'T', 'O', 'P'};

enum offset {
    AT_MAGIC = 0,
    AT_LENGTH = 4,
    AT_KIND = 8,
    AT_FLAGS = 9,
    AT_CRC = 12,
    AT_MONOTONIC = 16,
    AT_WALL = 24,
};

static void
put(unsigned char *at, uint64_t value, size_t bytes)
{
    while (bytes > 0) {
        at[--bytes] = (unsigned char)value;
        value >>= 8;
    }
}

static uint64_t
get(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

// Of everything but the CRC field itself.
static uint32_t
frame_crc(const unsigned char header[FRAME_HEADER_BYTES], const unsigned char *body,
          uint32_t body_length)
{
    uint32_t crc = crc32_update(0, header, AT_CRC);
    crc = crc32_update(crc, header + AT_MONOTONIC, FRAME_HEADER_BYTES - AT_MONOTONIC);
    return crc32_update(crc, body, body_length);
}

void
frame_seal(unsigned char header[FRAME_HEADER_BYTES], const struct frame *frame,
           const unsigned char *body)
{
    memset(header, 0, FRAME_HEADER_BYTES);
    memcpy(header + AT_MAGIC, magic, sizeof magic);
    put(header + AT_LENGTH, frame->body_length, 4);
    header[AT_KIND] = frame->kind;
    header[AT_FLAGS] = frame->flags;
    put(header + AT_MONOTONIC, frame->at.monotonic_us, 8);
    put(header + AT_WALL, frame->at.wall_us, 8);
    put(header + AT_CRC, frame_crc(header, body, frame->body_length), 4);
}

void
frame_write(unsigned char header[FRAME_HEADER_BYTES], uint8_t kind, struct stamp at,
            const unsigned char *body, uint32_t body_length)
{
    const struct frame frame = {.kind = kind, .body_length = body_length, .at = at};

    frame_seal(header, &frame, body);
}

bool
frame_may_begin(const unsigned char *bytes, size_t length)
{
    size_t known = length < sizeof magic ? length : sizeof magic;
    return known == 0 || memcmp(bytes, magic, known) == 0;
}

enum frame_status
frame_read(const unsigned char header[FRAME_HEADER_BYTES], struct frame *frame)
{
    if (!frame_may_begin(header, FRAME_HEADER_BYTES)) {
        return FRAME_BAD_MAGIC;
    }
    *frame = (struct frame){
        .kind = header[AT_KIND],
        .flags = header[AT_FLAGS],
        .body_length = (uint32_t)get(header + AT_LENGTH, 4),
        .crc = (uint32_t)get(header + AT_CRC, 4),
        .at = {get(header + AT_MONOTONIC, 8), get(header + AT_WALL, 8)},
    };
    return frame->body_length > FRAME_BODY_MAX ? FRAME_TOO_LONG : FRAME_OK;
}

enum frame_status
frame_check(const unsigned char header[FRAME_HEADER_BYTES], const unsigned char *body,
            uint32_t body_length)
{
    uint32_t stated = (uint32_t)get(header + AT_CRC, 4);
    return frame_crc(header, body, body_length) == stated ? FRAME_OK : FRAME_BAD_CRC;
}
