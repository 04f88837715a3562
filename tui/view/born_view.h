/*
 * What was born between two marks and is still alive at a third moment: the classes,
 * and for one of them its call paths with the source below. model/born.h has the meaning
 * of the figures.
 *
 * The view asks nothing and looks for nothing: it gets the facts, or why there are none,
 * and says which class it wants paths of. drill.h has its keys, its rows and its screen,
 * born_words.h its sentences, born_draw.h its columns.
 */
#ifndef TUI_VIEW_BORN_VIEW_H
#define TUI_VIEW_BORN_VIEW_H

#include "tui/model/born.h"
#include "tui/view/drill.h"

enum born_state {
    BORN_STATE_NO_MARKS,
    BORN_STATE_ONE_MARK,
    BORN_STATE_NO_FIGURES, // no sample came yet
    BORN_STATE_EARLY,      // the moment shown lies before B
    BORN_STATE_LOST,       // a mark is older than what is kept: `which`
    BORN_STATE_DORMANT,    // nothing was counted at a moment: `which`
    BORN_STATE_FAILED,     // no memory, or the recording cannot be read
    BORN_STATE_KNOWN,
};

struct born_facts {
    enum born_state state;
    enum born_moment which;
    char letters[BORN_MOMENTS]; // of the marks; 0 for the moment that is shown
    uint64_t wall_us[BORN_MOMENTS];
    const struct model *last;      // borrowed: at C
    struct born_classes classes;   // owned
    class_id paths_of;             // 0: of no class
    struct born_paths paths;       // owned
    const struct tree_model *tree; // borrowed: that of the paths, at C; or NULL
};

enum born_column {
    BORN_COLUMN_NAME = DRILL_COLUMN_NAME,
    BORN_COLUMN_KEPT,
    BORN_COLUMN_KNOWN,
    BORN_COLUMN_LIVE,
    BORN_COLUMN_SHARE,
    BORN_COLUMN_ALLOCATED,
    BORN_COLUMN_COUNT,
};

struct born_view {
    struct drill drill;             // its class is a class's id at C
    const struct born_facts *facts; // borrowed
    struct born_range total;        // of the rows that are shown
};

// One row, of a class or of a path.
struct born_line {
    struct born_range range;
    uint64_t live;
    uint64_t allocated; // COUNT_UNKNOWN where nobody counted
    bool estimated;
};

// What it holds later goes with drill_destroy().
void born_view_init(struct born_view *born, const struct born_facts *facts);

// Show the classes; or the paths of one alone, when `class` is not NULL.
void born_view_open(struct born_view *born, const struct model_class *class);

// The class under the cursor, or that of the paths; NULL when there is none.
const struct model_class *born_view_class(const struct born_view *born);

// The class that paths are wanted of; 0: none.
class_id born_view_wants(const struct born_view *born);

// The view that a drill is part of.
const struct born_view *born_view_of(const struct drill *drill);

// A row of the facts; `row` is no place on the screen.
struct born_line born_view_line(const struct born_view *born, size_t row);

#endif
