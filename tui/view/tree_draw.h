/*
 * What the view of a call tree looks like: title, rows with their branches, the pane
 * of source below.
 */
#ifndef TUI_VIEW_TREE_DRAW_H
#define TUI_VIEW_TREE_DRAW_H

#include "tui/view/tree_view.h"

// A view_class's draw.
void tree_draw(struct view *view, const struct scene *scene, struct grid *grid,
               struct area area);

// The label of a row, in ASCII where the scene wants it.
void tree_draw_label(const struct paths *paths, size_t row, const struct scene *scene,
                     char *label, size_t size);

// The column of the sign that folds and unfolds a row.
int tree_draw_sign(const struct tree_view *tree, size_t row);

#endif
