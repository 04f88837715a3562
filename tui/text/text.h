/*
 * UTF-8 for people: how wide it is, where it may be cut, what must be escaped.
 *
 * What a program calls its classes is hostile input to a terminal. text_escape()
 * makes any bytes fit to be shown: control characters, broken UTF-8, text that
 * reorders or hides its neighbours become visible escapes, everything else stays.
 * Widths are those of terminal cells. Nothing here allocates but text_escaped() and
 * text_escaped_within().
 */
#ifndef TUI_TEXT_TEXT_H
#define TUI_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_REPLACEMENT 0xfffdu // what stands for a character that is none

// Bytes that one input byte of text_escape() becomes at most: "\xNN". A longer
// escape, "\u{202e}", comes from three input bytes, "\u{e0001}" from four.
#define TEXT_ESCAPE_GROWTH 4

// UTF-8 of one character and its terminator.
#define TEXT_CHARACTER_BYTES 5

// Decode the character at `bytes`; at least one byte must be there. Returns the
// bytes it takes. Broken UTF-8 is one byte long and decodes to TEXT_REPLACEMENT
// with `*valid` false.
size_t text_decode(const char *bytes, size_t length, uint32_t *character, bool *valid);

// Encode a scalar value, terminated; returns its bytes. What is no scalar value
// becomes TEXT_REPLACEMENT.
size_t text_encode(uint32_t character, char bytes[TEXT_CHARACTER_BYTES]);

// Cells of a character on a terminal: 0 for combining marks, 2 for wide ones.
int text_cells(uint32_t character);

// True for what must not reach a terminal as it is: control characters, overrides
// of direction, zero-width and other invisible characters, private and unassigned
// ones.
bool text_hostile(uint32_t character);

// True for a mark that is drawn over the character before it.
bool text_combines(uint32_t character);

// Cells of a terminated text, after the same rules as grid_put().
int text_width(const char *text);

// Bytes at the start of `text` that fit into `columns` cells, whole clusters only.
size_t text_cut(const char *text, int columns);

// Copy `text` so that it fits into `columns` cells; what is left out is marked by
// "…", or by "~" in ASCII. Returns the bytes written without the terminator. When
// `capacity` is too small the copy is cut there, at a whole cluster.
size_t text_fit(char *out, size_t capacity, const char *text, int columns, bool ascii);

// Write `length` bytes for people to read, terminated. Returns the bytes written
// without the terminator. What does not fit into `capacity` is left out, never in
// the middle of a character or an escape; TEXT_ESCAPE_GROWTH * length + 1 bytes
// are always enough.
size_t text_escape(char *out, size_t capacity, const char *bytes, size_t length);

// The same in memory of its own; NULL when memory ran out. The caller frees it.
char *text_escaped(const char *bytes, size_t length);

// The same, of at most `most` bytes: what does not fit is left out. Escaping what was
// escaped changes nothing, so that a text of a limited length can be passed on.
char *text_escaped_within(const char *bytes, size_t length, size_t most);

#endif
