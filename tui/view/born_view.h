/*
 * What was born between two marks and is still alive at a third moment: the classes,
 * and for one of them its call paths. model/born.h has the meaning of the figures.
 *
 * The view asks nothing and looks for nothing: it gets the facts, or why there are none,
 * and says which class it wants paths of.
 */
#ifndef TUI_VIEW_BORN_VIEW_H
#define TUI_VIEW_BORN_VIEW_H

#include "tui/model/born.h"
#include "tui/view/view.h"

#define BORN_NAME_BYTES 256

enum born_state {
    BORN_STATE_NO_MARKS,
    BORN_STATE_ONE_MARK,
    BORN_STATE_NO_FIGURES, // no sample came yet
    BORN_STATE_EARLY,      // the moment shown lies before B
    BORN_STATE_LOST,       // a moment is older than what is kept: `which`
    BORN_STATE_DORMANT,    // nothing was counted at a moment: `which`
    BORN_STATE_FAILED,     // no memory, or the recording cannot be read
    BORN_STATE_KNOWN,
};

struct born_facts {
    enum born_state state;
    enum born_moment which;
    char letters[BORN_MOMENTS]; // of the marks; 0 for the moment that is shown
    uint64_t wall_us[BORN_MOMENTS];
    bool counted_ab; // see born_question
    bool counted_bc;
    bool reading;             // the two may become true yet
    const struct model *last; // borrowed: at C
    struct born_classes classes;
    class_id paths_of; // 0: no paths are wanted
    struct born_paths paths;
};

enum born_column {
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
    uint64_t selected;              // class, or node on the wire; 0: the first row
    class_id was;                   // selected in the list of classes
    size_t cursor;
    size_t top;
    // where things are on the screen
    int first_row;
    int page;
    int shown_count;
    enum born_column shown[BORN_COLUMN_COUNT];
    int name_at;
    int name_cells;
};

// Show the classes; or the paths of one alone, when `class` is not NULL.
void born_view_open(struct born_view *born, const struct born_facts *facts,
                    const struct model_class *class);

#endif
