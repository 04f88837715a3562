/*
 * A series over a span of time as one value a cell, whatever the number of points: a
 * day in a hundred cells still shows the second at which memory was gone.
 *
 * A cell keeps the lowest and the highest of its values and shows the highest; the
 * lowest where that is what stands out from its neighbours. A point holds until the
 * next one, but not over a gap. Collections are counted: those of a cell, were all of
 * the cell known.
 */
#ifndef TUI_VIEW_STRIP_LEVELS_H
#define TUI_VIEW_STRIP_LEVELS_H

#include "tui/view/strip.h"

#define STRIP_CELLS_MAX 1024

struct strip_level {
    bool known;
    bool gap;     // not known, because of a gap
    double value; // to be shown
    double low;
    double high;
};

struct strip_levels {
    int cells;
    struct strip_level list[STRIP_CELLS_MAX];
};

// The cell of `cells` that a time falls into; times outside of the span are in the
// first or last one, and all are in the last one while there is no span yet.
int strip_levels_cell(const struct strip_data *data, int cells, uint64_t wall_us);

// `cells` is at most STRIP_CELLS_MAX.
void strip_levels_make(struct strip_levels *levels, const struct strip_data *data,
                       int cells);

#endif
