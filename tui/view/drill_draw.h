/*
 * The screen of a list of classes, or of the call paths of one: title, notes, rows with
 * their headings, and the source of the path under the cursor where there is room.
 */
#ifndef TUI_VIEW_DRILL_DRAW_H
#define TUI_VIEW_DRILL_DRAW_H

#include "tui/view/drill.h"

// What a drill_class puts into its view.
void drill_draw(struct view *view, const struct scene *scene, struct grid *grid,
                struct area area);

// The column whose heading is at a cell of the screen; false when there is none.
bool drill_draw_column(const struct drill *drill, int cell, int *column);

#endif
