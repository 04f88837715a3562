/*
 * What the terminal's description says. Apart from screen.c because its header
 * makes macros of words such as `columns`.
 */
#ifndef TUI_TERM_TERMINFO_H
#define TUI_TERM_TERMINFO_H

#include <stdbool.h>
#include <stddef.h>

// Can a terminal called `name` (NULL for no name) show a viewer? If not, `why`
// says so and what to do.
bool terminfo_check(const char *name, int descriptor, char *why, size_t capacity);

// Does this terminal tell of its mouse? Curses must be up.
bool terminfo_mouse(void);

// The bytes that leave the viewer's screen: colours off, the other screen, the
// cursor back. Returns how many; curses must be up.
size_t terminfo_farewell(char *bytes, size_t capacity);

#endif
