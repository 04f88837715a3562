/*
 * What changed between two moments, of one program or of two: the classes that came,
 * grew, shrank and went, and for one of them the call paths with the source below.
 * model/diff.h and diff_paths.h have the meaning of the figures.
 *
 * The view gets the comparison and says which class it wants paths of. drill.h has its
 * keys, its rows and its screen, diff_draw.h its words and columns.
 */
#ifndef TUI_VIEW_DIFF_VIEW_H
#define TUI_VIEW_DIFF_VIEW_H

#include "tui/model/diff.h"
#include "tui/model/diff_paths.h"
#include "tui/view/drill.h"

struct diff_facts {
    bool known;                     // else there was no memory, or nothing to compare
    bool to_shown;                  // the later one is the moment that is shown
    struct diff diff;               // owned
    char file[DRILL_NAME_BYTES];    // of another recording, the earlier side's; or ""
    const struct diff_class *class; // of `paths`; NULL: of none
    struct diff_paths paths;        // owned
};

enum diff_column {
    DIFF_COLUMN_NAME = DRILL_COLUMN_NAME,
    DIFF_COLUMN_KIND,
    DIFF_COLUMN_CHANGE,
    DIFF_COLUMN_BYTES,
    DIFF_COLUMN_BEFORE,
    DIFF_COLUMN_AFTER,
    DIFF_COLUMN_COUNT,
};

struct diff_view {
    struct drill drill;             // its class is a diff_view_id()
    const struct diff_facts *facts; // borrowed
};

// What it holds later goes with drill_destroy().
void diff_view_init(struct diff_view *view, const struct diff_facts *facts);

// What a class is called in one comparison and the next; never 0.
uint64_t diff_view_id(const struct diff_class *class);

// Whether there are paths to show.
bool diff_view_has_paths(const struct diff_view *view);

// The view that a drill is part of.
const struct diff_view *diff_view_of(const struct drill *drill);

#endif
