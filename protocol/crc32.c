#include "protocol/crc32.h"

#include <threads.h>

#define POLYNOMIAL 0xedb88320u
#define SLICES 8

// slices[n][b] is the CRC of byte b followed by n zero bytes. Eight bytes at a
// time then cost eight independent lookups instead of eight that wait in turn.
static uint32_t slices[SLICES][256];
static once_flag slices_built = ONCE_FLAG_INIT;

static uint32_t
byte_crc(uint32_t byte)
{
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 1) != 0 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
    }
    return crc;
}

static void
build_slices(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte_crc(byte);
        for (int slice = 0; slice < SLICES; slice++) {
            slices[slice][byte] = crc;
            crc = (crc >> 8) ^ byte_crc(crc & 0xff);
        }
    }
}

static uint32_t
eight_bytes(uint32_t crc, const unsigned char *at)
{
    return slices[7][(crc ^ at[0]) & 0xff] ^ slices[6][((crc >> 8) ^ at[1]) & 0xff] ^
           slices[5][((crc >> 16) ^ at[2]) & 0xff] ^ slices[4][(crc >> 24) ^ at[3]] ^
           slices[3][at[4]] ^ slices[2][at[5]] ^ slices[1][at[6]] ^ slices[0][at[7]];
}

uint32_t
crc32_update(uint32_t crc, const void *bytes, size_t length)
{
    call_once(&slices_built, build_slices);
    const unsigned char *at = bytes;
    crc = ~crc;
    for (; length >= SLICES; length -= SLICES, at += SLICES) {
        crc = eight_bytes(crc, at);
    }
    for (; length > 0; length--, at++) {
        crc = (crc >> 8) ^ slices[0][(crc ^ *at) & 0xff];
    }
    return ~crc;
}
