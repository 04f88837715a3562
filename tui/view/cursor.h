/*
 * The arithmetic of a cursor in a list of which a screen shows a part.
 */
#ifndef TUI_VIEW_CURSOR_H
#define TUI_VIEW_CURSOR_H

#include <limits.h>

#include "tui/view/view.h"

#define CURSOR_END LONG_MAX // further than any list is long

// How many rows an action moves the cursor on a screen of `page` rows: -CURSOR_END to
// the top, CURSOR_END to the bottom, 0 for an action that is no move.
long cursor_step(enum action action, int page);

// A row moved by so many, not below 0; it may be beyond the last.
size_t cursor_moved(size_t from, long by);

// The first row on a screen of `page` rows that has the cursor: `top`, or as near to it
// as can be.
size_t cursor_top(size_t top, size_t cursor, size_t count, size_t page);

#endif
