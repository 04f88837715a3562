/*
 * The screen of what was born between two marks: its columns and rows.
 */
#ifndef TUI_VIEW_BORN_DRAW_H
#define TUI_VIEW_BORN_DRAW_H

#include "tui/view/born_view.h"

void born_draw(struct view *view, const struct scene *scene, struct grid *grid,
               struct area area);

// The column whose heading is at a cell of the screen; BORN_COLUMN_COUNT for none.
enum born_column born_draw_column(const struct born_view *born, int column);

// Whether rows can be ordered by it: paths have no order by name.
bool born_draw_sortable(const struct born_view *born, enum born_column column);

// The column called so in commands; BORN_COLUMN_COUNT when there is none.
enum born_column born_draw_find(const char *word);

#endif
