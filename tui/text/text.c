#include "tui/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#define ESCAPE_BYTES 16 // "\u{10ffff}" and its terminator

size_t
text_decode(const char *bytes, size_t length, uint32_t *character, bool *valid)
{
    utf8proc_int32_t decoded = -1;
    utf8proc_ssize_t limit = length < 4 ? (utf8proc_ssize_t)length : 4;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)bytes, limit, &decoded);
    *valid = used > 0 && decoded >= 0;
    *character = *valid ? (uint32_t)decoded : TEXT_REPLACEMENT;
    return *valid ? (size_t)used : 1;
}

size_t
text_encode(uint32_t character, char bytes[TEXT_CHARACTER_BYTES])
{
    if (!utf8proc_codepoint_valid((utf8proc_int32_t)character)) {
        character = TEXT_REPLACEMENT;
    }
    utf8proc_ssize_t used =
        utf8proc_encode_char((utf8proc_int32_t)character, (utf8proc_uint8_t *)bytes);
    bytes[used] = '\0';
    return (size_t)used;
}

bool
text_combines(uint32_t character)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)character);
    return (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME) &&
           !text_hostile(character);
}

int
text_cells(uint32_t character)
{
    return character < 0x7f ? 1 : utf8proc_charwidth((utf8proc_int32_t)character);
}

// Marks by category, but drawn as nothing at all: they would hide in a name.
static bool
is_invisible_mark(uint32_t character)
{
    return character == 0x034f ||                            // grapheme joiner
           (character >= 0x115f && character <= 0x1160) ||   // Hangul fillers
           character == 0x3164 || character == 0xffa0 ||     // the same, compatible
           (character >= 0x180b && character <= 0x180f) ||   // Mongolian selectors
           (character >= 0xfe00 && character <= 0xfe0f) ||   // variation selectors
           (character >= 0xe0100 && character <= 0xe01ef) || // and their supplement
           character == 0x2800;                              // Braille blank
}

bool
text_hostile(uint32_t character)
{
    if (character < 0x80) {
        return character < 0x20 || character == 0x7f;
    }
    switch (utf8proc_category((utf8proc_int32_t)character)) {
    case UTF8PROC_CATEGORY_CC: // control
    case UTF8PROC_CATEGORY_CF: // format: direction, joiners, zero width, tags
    case UTF8PROC_CATEGORY_CS: // halves of surrogate pairs
    case UTF8PROC_CATEGORY_CO: // private use
    case UTF8PROC_CATEGORY_CN: // not assigned
    case UTF8PROC_CATEGORY_ZL: // line and paragraph separators
    case UTF8PROC_CATEGORY_ZP:
        return true;
    default:
        return is_invisible_mark(character);
    }
}

// The bytes of the cluster at `text`, at least one character, and its cells.
// Hostile characters stand alone and count the one cell of their replacement.
static size_t
cluster(const char *text, size_t length, int *cells)
{
    uint32_t character;
    bool valid;
    size_t used = text_decode(text, length, &character, &valid);
    *cells = 1;
    if (!valid || text_hostile(character) || text_combines(character)) {
        return used;
    }
    *cells = text_cells(character) == 2 ? 2 : 1;
    while (used < length) {
        size_t next = text_decode(text + used, length - used, &character, &valid);
        if (!valid || !text_combines(character)) {
            break;
        }
        used += next;
    }
    return used;
}

int
text_width(const char *text)
{
    size_t length = strlen(text);
    int width = 0;
    for (size_t at = 0; at < length;) {
        int cells;
        at += cluster(text + at, length - at, &cells);
        width += cells;
    }
    return width;
}

size_t
text_cut(const char *text, int columns)
{
    size_t length = strlen(text);
    size_t at = 0;
    for (int width = 0; at < length;) {
        int cells;
        size_t used = cluster(text + at, length - at, &cells);
        if (width + cells > columns) {
            break;
        }
        width += cells;
        at += used;
    }
    return at;
}

// Bytes of whole clusters that fit into `capacity`, of the first `length`.
static size_t
whole_clusters(const char *text, size_t length, size_t capacity)
{
    size_t at = 0;
    while (at < length) {
        int cells;
        size_t used = cluster(text + at, length - at, &cells);
        if (at + used > capacity) {
            break;
        }
        at += used;
    }
    return at;
}

size_t
text_fit(char *out, size_t capacity, const char *text, int columns, bool ascii)
{
    if (capacity == 0) {
        return 0;
    }
    const char *left_out = ascii ? "~" : "…";
    size_t length = text_cut(text, columns);
    bool whole = text[length] == '\0';
    if (!whole) {
        length = text_cut(text, columns - 1);
    }
    size_t mark = whole || columns < 1 ? 0 : strlen(left_out);
    if (length + mark >= capacity) {
        mark = mark < capacity ? mark : 0;
        length = whole_clusters(text, length, capacity - 1 - mark);
    }
    memcpy(out, text, length);
    memcpy(out + length, left_out, mark);
    out[length + mark] = '\0';
    return length + mark;
}

// How the character at `bytes` is shown: itself or an escape, terminated.
static size_t
show(char shown[ESCAPE_BYTES], const char *bytes, size_t length, bool first, size_t *used)
{
    uint32_t character;
    bool valid;
    *used = text_decode(bytes, length, &character, &valid);
    if (!valid) {
        return (size_t)snprintf(shown, ESCAPE_BYTES, "\\x%02X", (unsigned char)*bytes);
    }
    if (character < 0x80 && text_hostile(character)) {
        return (size_t)snprintf(shown, ESCAPE_BYTES, "\\x%02X", (unsigned)character);
    }
    if (text_hostile(character) || (first && text_combines(character))) {
        return (size_t)snprintf(shown, ESCAPE_BYTES, "\\u{%x}", (unsigned)character);
    }
    memcpy(shown, bytes, *used);
    shown[*used] = '\0';
    return *used;
}

size_t
text_escape(char *out, size_t capacity, const char *bytes, size_t length)
{
    size_t written = 0;
    if (capacity == 0) {
        return 0;
    }
    for (size_t at = 0; at < length;) {
        char shown[ESCAPE_BYTES];
        size_t used;
        size_t size = show(shown, bytes + at, length - at, at == 0, &used);
        if (written + size >= capacity) {
            break;
        }
        memcpy(out + written, shown, size);
        written += size;
        at += used;
    }
    out[written] = '\0';
    return written;
}

char *
text_escaped_within(const char *bytes, size_t length, size_t most)
{
    if (length > (SIZE_MAX - 1) / TEXT_ESCAPE_GROWTH) {
        return NULL;
    }
    size_t room = length * TEXT_ESCAPE_GROWTH;
    room = (room < most ? room : most) + 1;
    char *out = malloc(room);
    if (out == NULL) {
        return NULL;
    }
    size_t written = text_escape(out, room, bytes, length);
    char *exact = realloc(out, written + 1);
    return exact != NULL ? exact : out;
}

char *
text_escaped(const char *bytes, size_t length)
{
    return text_escaped_within(bytes, length, SIZE_MAX - 1);
}
