/*
 * The envelope of everything memtop sends or stores: a fixed header of
 * FRAME_HEADER_BYTES and a body. README.md beside this file draws it.
 *
 *   offset  bytes  field (integers are big-endian)
 *        0      4  magic, "MTOP"
 *        4      4  length of the body
 *        8      1  kind
 *        9      1  flags, enum frame_flags
 *       10      2  reserved, 0
 *       12      4  CRC-32 (IEEE 802.3) of header bytes 0..11 and 16..31, then the body
 *       16      8  monotonic time, microseconds
 *       24      8  wall time, microseconds since 1970-01-01 UTC
 *       32      …  body: one msgpack value
 *
 * Every length is checked against FRAME_BODY_MAX before it is believed.
 * Nothing here allocates or does I/O.
 */
#ifndef PROTOCOL_FRAME_H
#define PROTOCOL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_BYTES 32
#define FRAME_BODY_MAX 16777216u // 16 MiB

// How a body is to be read. Readers pass over a frame with a flag they do not know.
enum frame_flags {
    FRAME_ZSTD = 1 << 0, // it is one zstd frame, around the body. Only in files
};

// When a frame was made, by two clocks: monotonic for rates, wall for people.
struct stamp {
    uint64_t monotonic_us;
    uint64_t wall_us;
};

struct frame {
    uint8_t kind;
    uint8_t flags;
    uint32_t body_length; // bytes
    uint32_t crc;
    struct stamp at;
};

enum frame_status {
    FRAME_OK,
    FRAME_BAD_MAGIC, // not memtop's bytes, or the stream lost its place
    FRAME_TOO_LONG,  // body_length above FRAME_BODY_MAX
    FRAME_BAD_CRC,   // damaged on the way or on disk
};

// Write the header for `body`, the CRC included; without flags.
void frame_write(unsigned char header[FRAME_HEADER_BYTES], uint8_t kind, struct stamp at,
                 const unsigned char *body, uint32_t body_length);

// The same with the kind, flags, length and stamp of `frame`, whose CRC is ignored.
void frame_seal(unsigned char header[FRAME_HEADER_BYTES], const struct frame *frame,
                const unsigned char *body);

// Whether a frame may begin with these bytes, of which `length` have arrived.
bool frame_may_begin(const unsigned char *bytes, size_t length);

// Read a header; `frame` is filled when FRAME_OK is returned, its body_length
// also with FRAME_TOO_LONG. The CRC is not checked here: the body may not have
// arrived.
enum frame_status frame_read(const unsigned char header[FRAME_HEADER_BYTES],
                             struct frame *frame);

// Check the CRC of a header and its whole body: FRAME_OK or FRAME_BAD_CRC.
enum frame_status frame_check(const unsigned char header[FRAME_HEADER_BYTES],
                              const unsigned char *body, uint32_t body_length);

#endif
