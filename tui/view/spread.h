/*
 * Each process of a merged table beside the sum: its LIVE in a column of its own.
 *
 * The figures are those of the sum's last sample, so that they add up to it; a moment
 * that was gone back to has the sums alone.
 */
#ifndef TUI_VIEW_SPREAD_H
#define TUI_VIEW_SPREAD_H

#include "tui/view/column.h"

// Whether the columns of processes take the place of those to the right of LIVE.
bool spread_shown(const struct scene *scene);

// Cells that are to be left for at least one of them.
#define SPREAD_CELLS 11

// The headings, from column `at` on.
void spread_headings(const struct scene *scene, struct grid *grid, int row, int at);

// A class's figures. A child's that is far from its siblings' is marked.
void spread_row(const struct scene *scene, const struct model_class *class,
                struct grid *grid, int row, int at);

#endif
