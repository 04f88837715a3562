/*
 * The sentences of the view of what was born between two marks: what the figures are of,
 * how far they can be believed, and where there are none, why and what to do.
 */
#ifndef TUI_VIEW_BORN_WORDS_H
#define TUI_VIEW_BORN_WORDS_H

#include "tui/view/born_view.h"
#include "tui/view/pager.h"

#define BORN_TEXT_BYTES DRILL_TEXT_BYTES
#define BORN_TITLE_BYTES 48

// "1 170", "12–40": one number where both are equal.
void born_words_range(char out[BORN_TEXT_BYTES], const struct scene *scene,
                      struct born_range range, const char *before, const char *between,
                      bool exact);

// "12–40 kept"
void born_words_source(const struct drill *drill, const struct scene *scene, size_t row,
                       char text[DRILL_TEXT_BYTES]);

// "paths, born A to B, alive now"; "born and kept" while there are no such marks.
void born_words_title(const struct drill *drill, const struct scene *scene,
                      char title[DRILL_TITLE_BYTES]);

// See drill_class: no marks or no figures, what they are of, nothing that was kept.
bool born_words_reason(const struct drill *drill, struct page *page);
void born_words_notes(const struct drill *drill, struct page *page);
void born_words_nothing(const struct drill *drill, struct page *page);

// For the help.
bool born_words_explain(const struct scene *scene, size_t index, struct word *word);

#endif
