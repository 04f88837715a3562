/*
 * The call tree of one class, with the source of the selected line below it.
 *
 * Rows do not move under the cursor: for TREE_FREEZE_MS after a person moved it the
 * order stands still, and the cursor goes with its path. The view asks nothing of the
 * probe: the app opens the class for it and says how that went.
 */
#ifndef TUI_VIEW_TREE_VIEW_H
#define TUI_VIEW_TREE_VIEW_H

#include "tui/model/paths.h"
#include "tui/view/source.h"
#include "tui/view/tree_column.h"
#include "tui/view/view.h"

#define TREE_FREEZE_MS 5000
#define TREE_NAME_BYTES 256
#define TREE_WORDS_BYTES 256

struct tree_view {
    struct view view;
    struct paths paths;
    struct source source;
    uint32_t slot;                 // of the class, with its serial: ids change
    uint32_t serial;               // 0: no class yet
    char name[TREE_NAME_BYTES];    // of the class
    char words[TREE_WORDS_BYTES];  // why there is no tree, as the probe said; or ""
    const struct tree_model *tree; // borrowed, as of the last update; or NULL
    size_t cursor;
    size_t top;
    uint64_t key;  // of the row under the cursor, 0: the first row with objects
    uint32_t node; // of that row
    uint64_t held_until_ms;
    uint32_t level; // unfolded to, by `+` and `-`
    bool no_source;
    bool no_memory;
    // where things are on the screen
    int page; // rows
    int first_row;
    int heading_row;
    struct tree_column_choice choice; // of columns
    int shown_count;
    enum tree_column_id shown[TREE_COLUMN_COUNT];
    int path_at; // column of the labels
    int path_cells;
};

void tree_view_init(struct tree_view *tree);
void tree_view_destroy(struct tree_view *tree);

// Show this class's tree from now on.
void tree_view_open(struct tree_view *tree, const struct model_class *class);

// The class as the model of the scene has it now; NULL when it is gone for good.
const struct model_class *tree_view_class(const struct tree_view *tree,
                                          const struct scene *scene);

// The model that the rows borrow from is about to go, or another one comes.
void tree_view_forget(struct tree_view *tree);

// Order by a column's word; the one already used is turned round. False when there is
// none.
bool tree_view_sort(struct tree_view *tree, const char *word);

// Keep the paths to what has this in its label or path; "" for all.
void tree_view_filter(struct tree_view *tree, const char *text);

// Move to the next (by 1) or previous (by -1) row that the filter found; false when
// there is none.
bool tree_view_search(struct tree_view *tree, const struct scene *scene, int by);

// The row under the cursor, NULL when there is none.
const struct paths_row *tree_view_row(const struct tree_view *tree);

// The node under the cursor as a place in a file: false when it is none.
bool tree_view_place(const struct tree_view *tree, const char **file, uint32_t *line);

#endif
