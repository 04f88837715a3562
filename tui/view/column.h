/*
 * The columns of the class table: one table row each, from which come the
 * screen, the sort menu, the words of a filter and the help.
 */
#ifndef TUI_VIEW_COLUMN_H
#define TUI_VIEW_COLUMN_H

#include "tui/view/grid.h"
#include "tui/view/scene.h"

#define COLUMN_TITLE_BYTES 32
#define COLUMN_NAME_CELLS_MIN 14

enum column_id {
    COLUMN_NAME,
    COLUMN_LIVE,
    COLUMN_DELTA,
    COLUMN_RATE,
    COLUMN_HISTORY,
    COLUMN_BYTES,
    COLUMN_ALLOCATED,
    COLUMN_FREED,
    COLUMN_AGE,
    COLUMN_VERDICT,
    COLUMN_SHARE,
    COLUMN_COUNT,
};

enum alignment {
    ALIGN_LEFT,
    ALIGN_RIGHT,
};

struct column {
    const char *word;  // in commands and filters
    const char *title; // heading; column_title() may know a better one
    enum alignment alignment;
    int width; // cells, the space before it included; at least, for the name
    int rank;  // columns of a higher rank give way first; 0 never does
    // The number that orders and filters; NAN while unknown. NULL: it has none.
    double (*value)(const struct scene *scene, const struct model_class *class);
    void (*draw)(const struct scene *scene, const struct model_class *class,
                 struct grid *grid, int row, int at, int width);
    const char *explain; // what it means, for the help
};

extern const struct column columns[COLUMN_COUNT];

// The heading as it is now, such as "Δ since A".
void column_title(char title[COLUMN_TITLE_BYTES], enum column_id id,
                  const struct scene *scene);

// The column called so in commands; COLUMN_COUNT when there is none.
enum column_id column_find(const char *word, size_t length);

// The `n`-th column that has an order, from 0 on; COLUMN_COUNT when there are fewer.
// Digits in the table and lines of the sort menu count them alike.
enum column_id column_sortable(int n);

// The columns that a person wants, left to right; the name is always among them.
struct column_choice {
    int count;
    enum column_id ids[COLUMN_COUNT];
};

// All of them, in their own order.
struct column_choice column_all(void);

// Which of the chosen columns fit into `width` cells, left to right. `sorted` is
// dropped last. Returns how many; widths[] are the cells of each, the space before
// included.
int column_layout(const struct column_choice *choice, int width, enum column_id sorted,
                  enum column_id shown[COLUMN_COUNT], int widths[COLUMN_COUNT]);

#endif
