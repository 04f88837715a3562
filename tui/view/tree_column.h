/*
 * The columns of a call tree: one table row each, from which come the screen, the
 * sort menu and the help. The path comes last and takes what is left.
 */
#ifndef TUI_VIEW_TREE_COLUMN_H
#define TUI_VIEW_TREE_COLUMN_H

#include "tui/model/paths.h"
#include "tui/view/grid.h"
#include "tui/view/scene.h"

#define TREE_TITLE_BYTES 32
#define TREE_PATH_CELLS_MIN 50

enum tree_column_id {
    TREE_COLUMN_LIVE,
    TREE_COLUMN_OF_CLASS,
    TREE_COLUMN_OF_PARENT,
    TREE_COLUMN_DELTA,
    TREE_COLUMN_RATE,
    TREE_COLUMN_ALLOCATED,
    TREE_COLUMN_BYTES,
    TREE_COLUMN_AGE,
    TREE_COLUMN_BAR,
    TREE_COLUMN_COUNT,
};

struct tree_column {
    const char *word; // in commands; NULL when nothing is ordered by it
    const char *title;
    enum paths_order order; // PATHS_ORDERS: none
    int width;              // cells, the space before it included
    int rank;               // columns of a higher rank give way first; 0 never does
    void (*draw)(const struct scene *scene, const struct paths_row *row,
                 struct grid *grid, int line, int at, int width);
    const char *explain;
};

extern const struct tree_column tree_columns[TREE_COLUMN_COUNT];

// The heading as it is now, such as "Δ since A".
void tree_column_title(char title[TREE_TITLE_BYTES], enum tree_column_id id,
                       const struct scene *scene, const struct tree_model *tree);

// The order called so in commands; PATHS_ORDERS when there is none.
enum paths_order tree_column_order(const char *word);

// The `n`-th column with an order, from 0 on; TREE_COLUMN_COUNT when there are fewer.
// After those comes the order by label, "path", which is no column.
enum tree_column_id tree_column_sortable(int n);

// The columns that a person wants, left to right.
struct tree_column_choice {
    int count;
    enum tree_column_id ids[TREE_COLUMN_COUNT];
};

// All of them, in their own order.
struct tree_column_choice tree_column_all(void);

// What a column is called in the configuration file.
const char *tree_column_name(enum tree_column_id id);

// Which of the chosen columns fit beside the path. Returns how many; `path` is the
// path's cells.
int tree_column_layout(const struct tree_column_choice *choice, int width,
                       enum paths_order order,
                       enum tree_column_id shown[TREE_COLUMN_COUNT], int *path);

#endif
