/*
 * What changed between two moments, of one program or of two: the classes that came,
 * grew, shrank and went, and for one of them the call paths with the source below.
 * model/diff.h and diff_paths.h have the meaning of the figures.
 *
 * The view gets the comparison and says which class it wants paths of; diff_draw.h has
 * its rows.
 */
#ifndef TUI_VIEW_DIFF_VIEW_H
#define TUI_VIEW_DIFF_VIEW_H

#include "tui/model/diff.h"
#include "tui/model/diff_paths.h"
#include "tui/view/list.h"
#include "tui/view/path_text.h"
#include "tui/view/source.h"
#include "tui/view/view.h"

#define DIFF_NAME_BYTES 256

struct diff_facts {
    bool known;                     // else there was no memory, or nothing to compare
    bool to_shown;                  // the later one is the moment that is shown
    struct diff diff;               // owned
    char file[DIFF_NAME_BYTES];     // of another recording, the earlier side's; or ""
    const struct diff_class *class; // of `paths`; NULL: of none
    struct diff_paths paths;        // owned
};

enum diff_column {
    DIFF_COLUMN_NAME,
    DIFF_COLUMN_KIND,
    DIFF_COLUMN_CHANGE,
    DIFF_COLUMN_BYTES,
    DIFF_COLUMN_BEFORE,
    DIFF_COLUMN_AFTER,
    DIFF_COLUMN_COUNT,
};

struct diff_view {
    struct view view;
    const struct diff_facts *facts; // borrowed
    uint64_t class;                 // its paths are wanted, see diff_view_id(); 0: none
    char name[DIFF_NAME_BYTES];     // of that class
    bool no_source;
    bool no_memory;
    bool internal;        // as the scene has it
    struct list classes;  // owned
    struct list paths;    // owned
    struct source source; // owned: under the paths
    // where things are on the screen
    int heading_row;
    int shown_count;
    enum diff_column shown[DIFF_COLUMN_COUNT];
    int name_at;
    int name_cells;
};

void diff_view_init(struct diff_view *view, const struct diff_facts *facts);
void diff_view_destroy(struct diff_view *view);

// Show the classes, from the first one on.
void diff_view_open(struct diff_view *view);

struct list *diff_view_list(struct diff_view *view);

// By a column's word; false when there is none.
bool diff_view_sort(struct diff_view *view, const char *word);

// The path under the cursor as a place in a file: false when it is none.
bool diff_view_place(const struct diff_view *view, const char **file, const char **title,
                     uint32_t *line);

// What a class is called in one comparison and the next; never 0.
uint64_t diff_view_id(const struct diff_class *class);

// Whether there are paths to show, and how to walk them.
bool diff_view_has_paths(const struct diff_view *view);
struct path_steps diff_view_steps(const struct diff_view *view);

#endif
