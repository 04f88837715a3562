/*
 * All processes under a probe, live: which is large, which grows, which is unlike its
 * siblings. Choosing one shows its classes; merging shows those of a parent and its
 * children as one.
 *
 * Rows do not move under the cursor: for PROCESS_FREEZE_MS after a person moved it the
 * order stands still, and the cursor goes with its process.
 */
#ifndef TUI_VIEW_PROCESS_VIEW_H
#define TUI_VIEW_PROCESS_VIEW_H

#include "tui/view/process_column.h"
#include "tui/view/view.h"

#define PROCESS_FREEZE_MS 5000
#define PROCESS_FILTER_BYTES 256

struct process_view {
    struct view view;
    enum process_column_id sort;
    bool inverted;
    char filter[PROCESS_FILTER_BYTES];
    uint32_t selected; // serial of the process under the cursor, 0: the first row
    uint64_t home_pid; // where the cursor goes as soon as it is there, 0: nowhere
    uint64_t held_until_ms;
    size_t cursor;
    size_t top;
    struct kin_row rows[FLEET_MAX];
    size_t count;
    size_t filtered;           // processes that the filter hides
    uint32_t order[FLEET_MAX]; // serials as they were last shown, while held
    size_t order_count;
    // where things are on the screen
    int page;
    int first_row;
    int heading_row;
    int shown_count;
    enum process_column_id shown[PROCESS_COLUMN_COUNT];
    int widths[PROCESS_COLUMN_COUNT];
};

void process_view_init(struct process_view *view);

// Order by a column's word; the one already used is turned round. False when there is
// none.
bool process_view_sort(struct process_view *view, const char *word);

// Keep the processes that match all words: a part of the pid, the command, the mode or
// the class that grows; rss>100M, live>=1e6 and so on; !word is the reverse.
void process_view_filter(struct process_view *view, const char *text);

// The one under the cursor, NULL when there is none.
const struct peer *process_view_selected(const struct process_view *view);

#endif
