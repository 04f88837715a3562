/*
 * What curses read, as memtop's keys: names from a table, UTF-8 put together,
 * escape sequences nobody knows swallowed, clicks counted.
 *
 * The mouse is read here, not by curses, which loses a press when its release
 * comes in the same piece.
 */
#ifndef TUI_TERM_KEYS_H
#define TUI_TERM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/view/key.h"

// Two presses at one place within this time are a double click.
#define KEYS_DOUBLE_MS 400

// How long an Escape waits for the rest of a sequence before it is a key.
#define KEYS_ESCAPE_MS 25

struct keys {
    unsigned char partial[4]; // a character that has not arrived whole
    size_t partial_length;
    uint64_t pressed_ms; // the last press of the mouse, 0 for none
    int pressed_row;
    int pressed_column;
};

// The next key of the current screen, without waiting. False when there is none.
bool keys_next(struct keys *keys, uint64_t now_ms, struct key *key);

#endif
