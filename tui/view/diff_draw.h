/*
 * The words and columns of what changed between two moments. See drill_class.
 */
#ifndef TUI_VIEW_DIFF_DRAW_H
#define TUI_VIEW_DIFF_DRAW_H

#include "tui/view/diff_view.h"

extern const struct drill_column diff_draw_columns[DIFF_COLUMN_COUNT];

void diff_draw_title(const struct drill *drill, const struct scene *scene,
                     char title[DRILL_TITLE_BYTES]);
bool diff_draw_reason(const struct drill *drill, struct page *page);
void diff_draw_notes(const struct drill *drill, struct page *page);
void diff_draw_nothing(const struct drill *drill, struct page *page);
enum style diff_draw_figure(const struct drill *drill, const struct scene *scene,
                            size_t row, int column, char text[DRILL_TEXT_BYTES]);

// "+974", and the line's number of before where it is another one now.
void diff_draw_source(const struct drill *drill, const struct scene *scene, size_t row,
                      char text[DRILL_TEXT_BYTES]);

#endif
