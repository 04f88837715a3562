/*
 * Rows of a table that was computed at once: which are shown, in which order, and where
 * the cursor is. For views whose rows have no life of their own; the class table's are
 * rows.h.
 *
 * The cursor goes with the row that it was put on, by the row's id; never moved, or put
 * to the top by hand, it stays at the top.
 */
#ifndef TUI_VIEW_LIST_H
#define TUI_VIEW_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/view/view.h"

#define LIST_FILTER_BYTES 256

struct list {
    uint32_t *order; // owned: rows that are shown, the first one first
    size_t capacity;
    size_t count;
    size_t cursor; // index in order[]
    size_t top;
    uint64_t selected; // id of the row under the cursor; 0: the first one
    int sort;          // the view's column that orders
    bool inverted;
    char filter[LIST_FILTER_BYTES]; // part of a name, any case; "" for none
    // where things are on the screen
    int first_row;
    int page;
};

// What rows there are; all functions get the context.
struct list_rows {
    const void *context;
    size_t count;
    uint64_t (*id)(const void *context, size_t row); // never 0
    bool (*wanted)(const void *context, size_t row);
    int (*compare)(const void *context, size_t a, size_t b);
    // Rows of a lower group come first, in either order. NULL: there are no groups.
    int (*group)(const void *context, size_t row);
};

void list_destroy(struct list *list);

// Other rows will come: what was selected and where it was scrolled to is forgotten.
void list_restart(struct list *list);

// Take the rows as they are now. False when memory ran out: nothing is shown then.
bool list_update(struct list *list, const struct list_rows *rows);

// The row under the cursor; false when there is none.
bool list_row(const struct list *list, size_t *row);

// Moves of the cursor; false for an action that is none. `rows` are those of the
// last update.
bool list_move(struct list *list, const struct list_rows *rows, enum action action);

// A click, or the wheel. False when it met no row.
bool list_mouse(struct list *list, const struct list_rows *rows, struct key key);

// Order by a column; the one already used is turned round.
void list_sort(struct list *list, int column);

// For list_rows.compare, of counts: larger ones come first, unknown ones last.
int list_compare_counts(uint64_t a, uint64_t b);

// Whether a text has what the filter wants.
bool list_matches(const struct list *list, const char *text);

// Scroll so that the cursor is on the screen.
void list_scroll(struct list *list, int first_row, int page);

#endif
