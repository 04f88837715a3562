/*
 * The screen of what changed between two moments: its words, columns and rows.
 */
#ifndef TUI_VIEW_DIFF_DRAW_H
#define TUI_VIEW_DIFF_DRAW_H

#include "tui/view/diff_view.h"

void diff_draw(struct view *view, const struct scene *scene, struct grid *grid,
               struct area area);

// The column whose heading is at a cell of the screen; DIFF_COLUMN_COUNT for none.
enum diff_column diff_draw_column(const struct diff_view *view, int column);

// Whether the rows of a group can be ordered by it.
bool diff_draw_sortable(const struct diff_view *view, enum diff_column column);

// The column called so in commands; DIFF_COLUMN_COUNT when there is none.
enum diff_column diff_draw_find(const char *word);

#endif
