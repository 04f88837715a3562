/*
 * CRC-32 as Ethernet, gzip and PNG have it (polynomial 0x04c11db7, reflected).
 * It finds damage, not malice.
 */
#ifndef PROTOCOL_CRC32_H
#define PROTOCOL_CRC32_H

#include <stddef.h>
#include <stdint.h>

// The CRC of what `crc` already covers followed by `length` bytes; start with 0.
// Safe from any thread.
uint32_t crc32_update(uint32_t crc, const void *bytes, size_t length);

#endif
