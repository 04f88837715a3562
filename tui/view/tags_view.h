/*
 * The view of tags: what each route, job or whatever the program calls its doings
 * allocates and leaves behind; and, one level in, the classes of one of them.
 *
 * Rows do not move under the cursor: the order holds for a while after a key moved it,
 * and the cursor follows its row.
 */
#ifndef TUI_VIEW_TAGS_VIEW_H
#define TUI_VIEW_TAGS_VIEW_H

#include "tui/view/filter.h"
#include "tui/view/tags_column.h"
#include "tui/view/view.h"

// One of the two levels.
struct tags_level {
    struct tags_line *lines; // owned, in order
    size_t count;
    size_t capacity;
    size_t hidden; // by the filter
    size_t cursor;
    size_t top;
    uint32_t selected; // id of the row under the cursor, 0 for none
    enum tags_column_id sort;
    bool inverted;
    char filter[FILTER_BYTES];
};

struct tags_view {
    struct view view;
    struct tags_level tags;
    struct tags_level classes;
    uint32_t opened; // the tag whose classes are shown, 0 for none
    uint64_t held_until_ms;
    bool no_memory;
    int page;
    int heading_row;
    int first_row;
    enum tags_column_id shown[TAGS_COLUMN_COUNT];
    int widths[TAGS_COLUMN_COUNT];
    int shown_count;
};

void tags_view_init(struct tags_view *view);
void tags_view_destroy(struct tags_view *view);

// Show only rows whose name holds the text, capitals or not; "" shows all.
void tags_view_filter(struct tags_view *view, const char *text);

// The filter of the level that is shown.
const char *tags_view_filter_text(const struct tags_view *view);

#endif
