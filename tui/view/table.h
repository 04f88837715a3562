/*
 * The table of classes, with the header above it: what memtop is for.
 */
#ifndef TUI_VIEW_TABLE_H
#define TUI_VIEW_TABLE_H

#include "tui/view/rows.h"
#include "tui/view/view.h"

struct table {
    struct view view;
    struct rows rows;
    struct column_choice choice; // of columns
    struct filter wanted;        // what n and N look for: the last filter there was
    uint64_t drawn;              // rows written into a grid so far
    bool no_memory;              // for the list of rows
    // where things are on the screen, for the mouse and for paging
    int page;      // rows that classes can take
    int first_row; // of the first of them
    int heading_row;
    struct area strip_area; // of the timeline; no rows: there is none
    int reason_row;         // -1 for none
    int shown_count;        // columns
    enum column_id shown[COLUMN_COUNT];
    int widths[COLUMN_COUNT];
};

void table_init(struct table *table);
void table_destroy(struct table *table);

// Show only what a filter lets through. False when it makes no sense or memory ran
// out: `error` says why, and the rows stay.
bool table_filter(struct table *table, const char *text, char error[FILTER_ERROR_BYTES]);

// Move to the next (by 1) or previous (by -1) class that the last filter lets
// through; false when there is none.
bool table_search(struct table *table, const struct scene *scene, int by);

#endif
