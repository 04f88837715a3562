/*
 * The columns of the process view, one table row each, as column.h has them of classes.
 */
#ifndef TUI_VIEW_PROCESS_COLUMN_H
#define TUI_VIEW_PROCESS_COLUMN_H

#include "tui/model/kin.h"
#include "tui/view/column.h"

enum process_column_id {
    PROCESS_PID,
    PROCESS_COMMAND,
    PROCESS_MODE,
    PROCESS_RSS,
    PROCESS_LIVE,
    PROCESS_DELTA,
    PROCESS_WORST,
    PROCESS_SINCE,
    PROCESS_ODD,
    PROCESS_COLUMN_COUNT,
};

struct process_column {
    const char *word;
    const char *title;
    enum alignment alignment;
    int width; // cells, the space before it included; at least, for the command
    int rank;  // columns of a higher rank give way first; 0 never does
    // The number that orders and filters; NAN while unknown. NULL: it has none.
    double (*value)(const struct peer *peer);
    void (*draw)(const struct scene *scene, const struct kin_row *row, struct grid *grid,
                 int line, int at, int width);
    const char *explain;
};

extern const struct process_column process_columns[PROCESS_COLUMN_COUNT];

void process_column_title(char title[COLUMN_TITLE_BYTES], enum process_column_id id,
                          const struct scene *scene);

// The column called so; PROCESS_COLUMN_COUNT when there is none.
enum process_column_id process_column_find(const char *word, size_t length);

// The `n`-th column that has an order; PROCESS_COLUMN_COUNT when there are fewer.
enum process_column_id process_column_sortable(int n);

// Which columns fit into `width` cells. Returns how many.
int process_column_layout(int width, enum process_column_id shown[PROCESS_COLUMN_COUNT],
                          int widths[PROCESS_COLUMN_COUNT]);

// The process's command, or what is known instead.
const char *process_command(const struct peer *peer);

// Why it is odd, or silent, or gone: "" for nothing.
void process_reason(char *out, size_t capacity, const struct scene *scene,
                    const struct peer *peer);

#endif
