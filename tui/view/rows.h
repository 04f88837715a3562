/*
 * The classes in the order in which they are shown, and the cursor on them.
 *
 * Rows never move under the cursor: for ROWS_FREEZE_MS after a person moved it
 * the order stands still; numbers go on, new classes are added below, and none is
 * filtered away because its number changed. When the order is made anew the cursor
 * goes with its class and the class stays in its line of the screen. A cursor that
 * was never moved, or was sent to the top, stays at the top; without `follow` it
 * always stays where it is.
 *
 * Made for 50 000 classes: numbers are compared as integers, sorted without
 * comparisons, and only when there is something new to sort.
 */
#ifndef TUI_VIEW_ROWS_H
#define TUI_VIEW_ROWS_H

#include "tui/view/column.h"
#include "tui/view/filter.h"
#include "tui/view/scene.h"

// How long the order stands still after the last movement of the cursor.
#define ROWS_FREEZE_MS 5000

struct rows_row; // what a sort carries

// What the classes that are not on the screen sum up to is the difference of this
// to what was drawn.
struct rows_sum {
    size_t count;
    double live;
    double delta; // of the measure that scene->by_bytes says
};

// Work done so far, for those who want it to stay little.
struct rows_work {
    uint64_t names;   // times that all names were put in order
    uint64_t builds;  // times that the list was made
    uint64_t sorts;   // times that it was sorted by a number
    uint64_t matches; // classes that a filter looked at
};

struct rows {
    const struct model_class **list; // owned; the classes of the model in order
    size_t count;
    struct filter filter;
    enum column_id sort;
    bool inverted;       // smallest first, for names the last one first
    bool follow;         // the cursor goes with its class
    size_t cursor;       // index into list
    size_t top;          // index of the first row on the screen
    struct rows_sum all; // classes listed, whether shown or not
    size_t internal;     // of them hidden because they are internal
    size_t filtered;     // of them hidden by the filter
    bool frozen;         // the order stands still
    struct rows_work work;

    // the rest is the business of rows.c
    struct rows_row *rows;    // owned
    struct rows_row *scratch; // owned, as long as rows
    uint32_t *names;          // owned; slots in the order of names
    uint32_t *places;         // owned; by slot, see rows.c
    uint32_t *serials;        // owned; by slot, whose place it is
    size_t capacity;          // of all of them but places and serials
    size_t name_count;
    size_t slots;      // of places and serials
    uint32_t selected; // serial of the class under the cursor, 0 for none
    uint32_t selected_slot;
    bool held;  // a person chose the row
    bool stale; // sort, filter or what is shown changed
    uint64_t frozen_until_ms;
    uint64_t version; // of the model, when the list was made
    uint64_t names_version;
    const struct model *model;
};

void rows_init(struct rows *rows);
void rows_destroy(struct rows *rows);

// Bring the list up to date with the scene: does nothing when nothing changed.
// False when memory ran out; the list is then empty.
bool rows_update(struct rows *rows, const struct scene *scene);

// The model that the list borrows from is about to go, or another one comes.
void rows_forget(struct rows *rows);

// Sort by a column; the one already used is turned round. False when it has no order.
bool rows_sort(struct rows *rows, enum column_id column);
void rows_invert(struct rows *rows);

// Something that decides what is shown, and in which order, was set by hand.
void rows_renew(struct rows *rows);

// Move the cursor to a row, as a person does; what is out of range is clamped.
// `page` is the number of rows on the screen.
void rows_move_to(struct rows *rows, size_t index, size_t page, uint64_t now_ms);
void rows_move_by(struct rows *rows, long by, size_t page, uint64_t now_ms);

// Move what the screen shows, and the cursor only as far as it must.
void rows_scroll(struct rows *rows, long by, size_t page, uint64_t now_ms);

// To the next (by 1) or previous (by -1) class whose name the filter's text would
// match; false when there is none.
bool rows_search(struct rows *rows, const struct scene *scene,
                 const struct filter *wanted, int by, size_t page);

// Make `top` such that the cursor is on a screen of `page` rows.
void rows_show_cursor(struct rows *rows, size_t page);

// The class under the cursor, NULL when there is none.
const struct model_class *rows_selected(const struct rows *rows);

#endif
