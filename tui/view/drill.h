/*
 * A list of classes, and for one of them its call paths with the source below: what the
 * views of what was born between two marks and of what changed have in common. Choosing
 * a class goes one level in, back goes out again; either level has a list of its own.
 *
 * A view embeds a struct drill as its first member, and its class is a drill_class: the
 * columns as a table, and functions that tell the rows and write the words. It puts
 * drill_update(), drill_draw(), drill_act() and drill_mouse() into its view_class, or
 * calls them from its own.
 *
 * The drill knows nothing of where rows come from. Those of a class that was chosen are
 * there only when the app has found them: until then, and where there are none, the list
 * is empty and the view says why. Without memory for the order it is empty as well
 * (no_memory), and says so by itself.
 */
#ifndef TUI_VIEW_DRILL_H
#define TUI_VIEW_DRILL_H

#include "tui/view/list.h"
#include "tui/view/path_text.h"
#include "tui/view/source.h"
#include "tui/view/view.h"

#define DRILL_NAME_BYTES 256
#define DRILL_TITLE_BYTES 64
#define DRILL_TEXT_BYTES 512
#define DRILL_COLUMNS_MAX 8

// The column of names, in every table of columns the first one: of no width, as the name
// has what is left, before the figures of a class and behind those of a path.
#define DRILL_COLUMN_NAME 0

struct drill {
    struct view view;            // its class is a drill_class
    uint64_t class;              // its paths are shown, see drill_subject; 0: the classes
    char name[DRILL_NAME_BYTES]; // of that class
    bool paths_only;             // there is no list of classes to go back to
    bool no_source;
    bool no_memory;
    bool internal;        // as the scene has it
    struct list classes;  // owned
    struct list paths;    // owned
    struct source source; // owned: under the paths
    // where things are on the screen
    int heading_row;
    int shown_count;
    int shown[DRILL_COLUMNS_MAX]; // columns
    int name_at;
    int name_cells;
};

struct drill_column {
    const char *word; // in commands; "": rows have no order by it
    const char *title;
    int width;   // with the space before; the last ones give way first
    bool always; // shown in the narrowest terminal too
    bool paths;  // paths have it as well
    bool left;   // it is words, which begin below each other
};

// A class as a row has it.
struct drill_subject {
    uint64_t id; // the view's own, never 0
    const char *name;
    bool internal;
};

struct page;

// What differs between two such views. Rows are those of rows(), and no places on the
// screen; words are written at the end of a page, which has the scene.
struct drill_class {
    struct view_class view;
    const struct drill_column *columns;
    int column_count;
    int note_rows_max; // and never more than half of the screen
    // Of the list that is shown, with the drill as their context; none while they are
    // not known.
    struct list_rows (*rows)(const struct drill *drill);
    struct drill_subject (*class_at)(const struct drill *drill, size_t row);
    struct path_steps (*path_at)(const struct drill *drill, size_t row, uint32_t *node);
    // The title's last part.
    void (*title)(const struct drill *drill, const struct scene *scene,
                  char title[DRILL_TITLE_BYTES]);
    // Say why there are no figures at all; false, and not a word, when there are.
    bool (*say_reason)(const struct drill *drill, struct page *page);
    // What the figures are of, above the rows.
    void (*say_notes)(const struct drill *drill, struct page *page);
    // Why there is no row, in their place.
    void (*say_nothing)(const struct drill *drill, struct page *page);
    // A cell of any column but the name's.
    enum style (*figure)(const struct drill *drill, const struct scene *scene, size_t row,
                         int column, char text[DRILL_TEXT_BYTES]);
    // Behind the source's title: what the line did.
    void (*say_source)(const struct drill *drill, const struct scene *scene, size_t row,
                       char text[DRILL_TEXT_BYTES]);
};

// Both lists begin in the order of a column.
void drill_init(struct drill *drill, const struct drill_class *class, int sort);
void drill_destroy(struct drill *drill);

// Show the classes, from the first one on; or the paths of one of them.
void drill_open(struct drill *drill);
void drill_open_paths(struct drill *drill, uint64_t class, const char *name);

const struct drill_class *drill_class_of(const struct drill *drill);

// The list that is shown: of classes or of paths.
struct list *drill_list(struct drill *drill);
const struct list *drill_shown(const struct drill *drill);

// For list_rows.wanted: neither hidden nor filtered out. The context is the drill.
bool drill_wanted(const void *context, size_t row);

// Whether the rows that are shown have a column, and an order by it.
bool drill_has(const struct drill *drill, int column);
bool drill_sortable(const struct drill *drill, int column);

// Order by a column's word; false when there is no such order.
bool drill_sort(struct drill *drill, const char *word);

// The path under the cursor as a place in a file: false when it is none.
bool drill_place(const struct drill *drill, const char **file, const char **title,
                 uint32_t *line);

// What a drill_class puts into its view, or asks when it has nothing to say itself.
void drill_update(struct view *view, const struct scene *scene);
bool drill_can(const struct view *view, const struct scene *scene, enum action action);
unsigned drill_act(struct view *view, struct scene *scene, enum action action,
                   struct key key);
unsigned drill_mouse(struct view *view, struct scene *scene, struct key key);

#endif
