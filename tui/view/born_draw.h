/*
 * The columns of what was born between two marks, and what stands in them.
 */
#ifndef TUI_VIEW_BORN_DRAW_H
#define TUI_VIEW_BORN_DRAW_H

#include "tui/view/born_view.h"

extern const struct drill_column born_draw_columns[BORN_COLUMN_COUNT];

// See drill_class.
enum style born_draw_figure(const struct drill *drill, const struct scene *scene,
                            size_t row, int column, char text[DRILL_TEXT_BYTES]);

#endif
