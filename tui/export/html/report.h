/*
 * The parts of a report, each in a file of its own; html.c puts them in order. None
 * of them fails: the page keeps the first failure.
 */
#ifndef TUI_EXPORT_HTML_REPORT_H
#define TUI_EXPORT_HTML_REPORT_H

#include "tui/export/html.h"
#include "tui/export/html/page.h"
#include "tui/export/listing.h"
#include "tui/model/paths.h"

struct report {
    struct page *page;
    const struct model *model;
    const struct html_series *series;
    struct listing listing; // without internal types
};

// Change of live since the baseline; NAN when one of the two is unknown.
double report_delta(const struct model_class *class);

// Since when changes are counted: "since A, 02:00:00".
void report_since(const struct report *report, char *out, size_t size);

// report_head.c: who and when, figures at the end, what is missing.
void report_head(struct report *report);
void report_missing(struct report *report);

// report_suspects.c: classes that look like leaks, why, and where they come from.
void report_suspects(struct report *report);

// report_charts.c: everything over time, and the same as a table.
void report_charts(struct report *report);

// report_classes.c: those that changed most.
void report_classes(struct report *report);

// report_trees.c: where the objects of each class that has a tree were allocated.
void report_trees(struct report *report);

// report_flame.c: a tree's rows as boxes.
void report_flame(struct report *report, const struct paths *paths, const char *label);

#endif
