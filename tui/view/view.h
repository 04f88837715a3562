/*
 * A view is a struct of functions. The app keeps a stack of views: the lowest
 * fills the screen, others lie over it, the top one gets the keys.
 *
 * A key is looked for in the bindings of the top view, then, if it is text and
 * the view takes text, given to it, then looked for in the bindings that hold
 * everywhere. Bindings are at the same time the help and the bottom line.
 *
 * A view changes what is on the screen by itself. What reaches further (another
 * view, a request to the probe) it asks for with a command, as a person would
 * type it after ':'.
 */
#ifndef TUI_VIEW_VIEW_H
#define TUI_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/view/grid.h"
#include "tui/view/key.h"
#include "tui/view/scene.h"

// What the viewer can be told to do with a key.
enum action {
    ACTION_NONE, // ends a list of bindings
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_HALF_UP,
    ACTION_HALF_DOWN,
    ACTION_TOP,
    ACTION_BOTTOM,
    ACTION_CHOOSE,
    ACTION_COMPLETE,
    ACTION_YES,
    ACTION_NO,
    ACTION_BACK,
    ACTION_QUIT,
    ACTION_SORT_LEFT,
    ACTION_SORT_RIGHT,
    ACTION_SORT_MENU,
    ACTION_SORT_COLUMN, // the n-th, n being the digit
    ACTION_INVERT,
    ACTION_FILTER,
    ACTION_NEXT,
    ACTION_PREVIOUS,
    ACTION_CLEAR_FILTER,
    ACTION_MARK,
    ACTION_PICK_MARK,
    ACTION_SINCE_MARK,
    ACTION_PAUSE,
    ACTION_LIVE,
    ACTION_RECORD,
    ACTION_STEP_BACK,
    ACTION_STEP_ON,
    ACTION_MINUTE_BACK,
    ACTION_MINUTE_ON,
    ACTION_SERIES,
    ACTION_FOLLOW,
    ACTION_MEASURE,
    ACTION_UNITS,
    ACTION_INTERNAL,
    ACTION_CENSUS,
    ACTION_GC,
    ACTION_WRITE,
    ACTION_NOTICES,
    ACTION_COMMAND,
    ACTION_HELP,
    ACTION_REDRAW,
    ACTION_SUSPEND,
    ACTION_OPEN, // the call tree of the class
    ACTION_PIN,
    ACTION_UNFOLD,
    ACTION_FOLD,
    ACTION_TOGGLE,
    ACTION_UNFOLD_BELOW,
    ACTION_UNFOLD_ALL,
    ACTION_FOLD_ALL,
    ACTION_DEEPER,
    ACTION_SHALLOWER,
    ACTION_TURN,
    ACTION_FLAT,
    ACTION_OWN,
    ACTION_SOURCE,
    ACTION_EDIT,
    ACTION_FLAME,
    ACTION_BORN, // between two marks, and alive
    ACTION_TAGS, // what routes and jobs allocate
    ACTION_PROCESSES,
    ACTION_NEXT_VIEW,
    ACTION_MERGE,
    ACTION_SPREAD,
    ACTION_OUTPUT,
};

#define BINDING_KEYS_MAX 9
#define VIEW_WORD_BYTES 40

struct binding {
    enum action action;
    uint32_t keys[BINDING_KEYS_MAX]; // any of them, 0 for none
    const char *label;               // in the bottom line, NULL when it is not there
    const char *help;                // NULL for one that the help need not tell
};

// A word of a view and what it means, for the help.
struct word {
    char word[VIEW_WORD_BYTES];
    const char *meaning;
};

enum extent {
    EXTENT_SCREEN, // the view covers what lies below
    EXTENT_BOX,    // it lies over the middle of the view below
    EXTENT_LINE,   // it takes the bottom line
};

// What a view answers to a key; or-ed.
enum outcome {
    OUTCOME_NONE = 0,
    OUTCOME_DRAW = 1 << 0,    // the screen changes
    OUTCOME_CLOSE = 1 << 1,   // the view is done
    OUTCOME_COMMAND = 1 << 2, // run scene->command
    OUTCOME_PASS = 1 << 3,    // not the view's business
};

struct area {
    int row;
    int column;
    int rows;
    int columns;
};

struct view {
    const struct view_class *class;
};

// Members may be NULL where it says so.
struct view_class {
    const char *name; // one word, for titles and the help
    enum extent extent;
    bool takes_text;                // letters are typed, not bound
    const struct binding *bindings; // ended by ACTION_NONE
    // Words to explain in the help: `index` from 0 on, false after the last. Or NULL.
    bool (*word)(const struct scene *scene, size_t index, struct word *word);
    // The data or the time is another. Called before any of the others. Or NULL.
    void (*update)(struct view *view, const struct scene *scene);
    void (*draw)(struct view *view, const struct scene *scene, struct grid *grid,
                 struct area area);
    // Whether an action makes sense now; the bottom line shows only those. Or NULL.
    bool (*can)(const struct view *view, const struct scene *scene, enum action action);
    // A bound key.
    unsigned (*act)(struct view *view, struct scene *scene, enum action action,
                    struct key key);
    // Any other key. Or NULL.
    unsigned (*type)(struct view *view, struct scene *scene, struct key key);
    // The mouse, anywhere on the screen but the bottom line. Or NULL.
    unsigned (*mouse)(struct view *view, struct scene *scene, struct key key);
};

// The bindings that hold in every view.
extern const struct binding view_everywhere[];

#endif
