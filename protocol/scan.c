#include "protocol/scan.h"

#include <stdint.h>

#include "protocol/decoder.h"

enum content {
    SCALAR,
    BYTES, // as many bytes as the count says follow
    ARRAY, // as many values as the count says follow
    MAP,   // twice as many
    NEVER, // a first byte that msgpack does not use
};

struct format {
    enum content content;
    uint8_t count_bytes; // of a big-endian count after the first byte
    uint8_t plain_bytes; // after that, whatever the count
};

// First bytes 0xc0 to 0xdf, in order.
static const struct format formats[32] = {
    {SCALAR, 0, 0 }, // c0 nil
    {NEVER,  0, 0 }, // c1
    {SCALAR, 0, 0 }, // c2 false
    {SCALAR, 0, 0 }, // c3 true
    {BYTES,  1, 0 }, // c4 bin 8
    {BYTES,  2, 0 }, // c5 bin 16
    {BYTES,  4, 0 }, // c6 bin 32
    {BYTES,  1, 1 }, // c7 ext 8
    {BYTES,  2, 1 }, // c8 ext 16
    {BYTES,  4, 1 }, // c9 ext 32
    {SCALAR, 0, 4 }, // ca float 32
    {SCALAR, 0, 8 }, // cb float 64
    {SCALAR, 0, 1 }, // cc uint 8
    {SCALAR, 0, 2 }, // cd uint 16
    {SCALAR, 0, 4 }, // ce uint 32
    {SCALAR, 0, 8 }, // cf uint 64
    {SCALAR, 0, 1 }, // d0 int 8
    {SCALAR, 0, 2 }, // d1 int 16
    {SCALAR, 0, 4 }, // d2 int 32
    {SCALAR, 0, 8 }, // d3 int 64
    {SCALAR, 0, 2 }, // d4 fixext 1
    {SCALAR, 0, 3 }, // d5 fixext 2
    {SCALAR, 0, 5 }, // d6 fixext 4
    {SCALAR, 0, 9 }, // d7 fixext 8
    {SCALAR, 0, 17}, // d8 fixext 16
    {BYTES,  1, 0 }, // d9 str 8
    {BYTES,  2, 0 }, // da str 16
    {BYTES,  4, 0 }, // db str 32
    {ARRAY,  2, 0 }, // dc array 16
    {ARRAY,  4, 0 }, // dd array 32
    {MAP,    2, 0 }, // de map 16
    {MAP,    4, 0 }, // df map 32
};

struct cursor {
    const unsigned char *at;
    size_t left;
};

static struct format
format_of(unsigned char first)
{
    if (first >= 0xc0 && first <= 0xdf) {
        return formats[first - 0xc0];
    }
    if (first < 0x80 || first > 0xdf) {
        return (struct format){SCALAR, 0, 0};
    }
    if (first >= 0xa0) {
        return (struct format){BYTES, 0, 0};
    }
    return (struct format){first >= 0x90 ? ARRAY : MAP, 0, 0};
}

// The count of a string or list: in its own bytes, or in the first byte's low bits.
static uint64_t
count_of(const struct format *format, const unsigned char *at)
{
    if (format->count_bytes == 0) {
        return at[0] & (format->content == BYTES ? 0x1f : 0x0f);
    }
    uint64_t count = 0;
    for (size_t i = 1; i <= format->count_bytes; i++) {
        count = count << 8 | at[i];
    }
    return count;
}

// Step over one value's head and its bytes; `children` values follow inside it.
static const char *
step(struct cursor *cursor, uint64_t *children)
{
    *children = 0;
    if (cursor->left == 0) {
        return "it ends too early";
    }
    struct format format = format_of(cursor->at[0]);
    size_t size = (size_t)1 + format.count_bytes + format.plain_bytes;
    if (format.content == NEVER) {
        return "a byte that is no msgpack";
    }
    if (size > cursor->left) {
        return "it ends too early";
    }
    uint64_t count = format.content == SCALAR ? 0 : count_of(&format, cursor->at);
    cursor->at += size;
    cursor->left -= size;
    if (format.content == MAP) {
        count *= 2;
    }
    if (count > cursor->left) { // a value takes a byte at least
        return "it claims more than it holds";
    }
    if (format.content == BYTES) {
        cursor->at += count;
        cursor->left -= count;
    } else {
        *children = count;
    }
    return NULL;
}

const char *
scan_value(const unsigned char *bytes, size_t length)
{
    struct cursor cursor = {bytes, length};
    uint64_t missing[DECODE_DEPTH_MAX + 1] = {1}; // values still to come, by depth
    size_t depth = 0;
    for (uint64_t values = 1; missing[depth] > 0; values++) {
        uint64_t children;
        const char *problem = step(&cursor, &children);
        if (problem != NULL) {
            return problem;
        }
        if (values + children > DECODE_VALUES_MAX) {
            return "too many values";
        }
        missing[depth]--;
        if (children > 0) {
            if (depth == DECODE_DEPTH_MAX) {
                return "nested too deep";
            }
            missing[++depth] = children;
        }
        while (depth > 0 && missing[depth] == 0) {
            depth--;
        }
    }
    return cursor.left == 0 ? NULL : "bytes are left behind it";
}
