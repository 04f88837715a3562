/*
 * What was born between two marks and is still alive at a third moment: the classes,
 * and for one of them its call paths with the source below. model/born.h has the meaning
 * of the figures.
 *
 * The view asks nothing and looks for nothing: it gets the facts, or why there are none,
 * and says which class it wants paths of. born_words.h has its sentences, born_draw.h
 * its rows.
 */
#ifndef TUI_VIEW_BORN_VIEW_H
#define TUI_VIEW_BORN_VIEW_H

#include "tui/model/born.h"
#include "tui/view/list.h"
#include "tui/view/source.h"
#include "tui/view/view.h"

#define BORN_NAME_BYTES 256

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
    BORN_COLUMN_NAME,
    BORN_COLUMN_KEPT,
    BORN_COLUMN_KNOWN,
    BORN_COLUMN_LIVE,
    BORN_COLUMN_SHARE,
    BORN_COLUMN_ALLOCATED,
    BORN_COLUMN_COUNT,
};

struct born_view {
    struct view view;
    const struct born_facts *facts; // borrowed
    class_id class;                 // its paths are shown; 0: the classes
    char name[BORN_NAME_BYTES];     // of that class
    bool paths_only;                // there is no list of classes to go back to
    bool no_source;
    bool no_memory;
    bool internal;           // as the scene has it
    struct list classes;     // owned
    struct list paths;       // owned
    struct source source;    // owned: under the paths
    struct born_range total; // of the rows that are shown
    // where things are on the screen
    int heading_row;
    int shown_count;
    enum born_column shown[BORN_COLUMN_COUNT];
    int name_at;
    int name_cells;
};

// One row, of a class or of a path.
struct born_line {
    struct born_range range;
    uint64_t live;
    uint64_t allocated; // COUNT_UNKNOWN where nobody counted
    bool estimated;
};

void born_view_init(struct born_view *born, const struct born_facts *facts);
void born_view_destroy(struct born_view *born);

// Show the classes; or the paths of one alone, when `class` is not NULL.
void born_view_open(struct born_view *born, const struct model_class *class);

// By a column's word; false when there is none.
bool born_view_sort(struct born_view *born, const char *word);

// The list that is shown: of classes or of paths.
struct list *born_view_list(struct born_view *born);

// The class under the cursor, or that of the paths; NULL when there is none.
const struct model_class *born_view_class(const struct born_view *born);

// The path under the cursor as a place in a file: false when it is none.
bool born_view_place(const struct born_view *born, const char **file, const char **title,
                     uint32_t *line);

// A row of the facts; `row` is no place on the screen.
struct born_line born_view_line(const struct born_view *born, size_t row);

#endif
