#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tui/export/html/figure.h"
#include "tui/export/html/report.h"
#include "tui/export/words.h"

#define SUSPECTS_MAX 12u
#define PLACES_MAX 3u
#define LABEL_BYTES 1024

static bool
suspect(const struct model_class *class)
{
    return class->verdict == VERDICT_LEAK || class->verdict == VERDICT_GROWING;
}

// Leaks first, then by what they grew.
static int
by_suspicion(const void *left, const void *right)
{
    const struct model_class *a = *(const struct model_class *const *)left;
    const struct model_class *b = *(const struct model_class *const *)right;
    if (a->verdict != b->verdict) {
        return a->verdict < b->verdict ? 1 : -1;
    }
    double x = report_delta(a);
    double y = report_delta(b);
    return x == y || (isnan(x) && isnan(y)) ? 0 : x > y || isnan(y) ? -1 : 1;
}

static bool
is_place(const struct paths *paths, size_t row)
{
    return paths->rows[row].depth == 1 && paths->rows[row].kind != PATHS_ROW_REST &&
           tree_frame(paths->tree, paths->rows[row].node)->id >= FRAME_FIRST;
}

static void
write_place(struct page *page, const struct paths *paths, size_t row)
{
    char label[LABEL_BYTES];
    char place[LABEL_BYTES];
    char live[FIGURE_BYTES];
    char share[FIGURE_BYTES];
    paths_label(paths, row, label, sizeof label);
    paths_place(paths, row, place, sizeof place);
    page_open(page, "li");
    page_element(page, "code", NULL, label);
    if (*place != '\0') {
        page_text(page, " ");
        page_element(page, "span", "place", place);
    }
    page_open(page, "span");
    page_attribute(page, "class", "note");
    page_format(page, " %s live, %s of the class",
                figure_count(live, paths->rows[row].total.live),
                figure_percent(share, 100 * paths->rows[row].of_class));
    page_close(page);
    page_close(page);
}

// What nobody knows the place of.
static void
write_before(struct page *page, const struct paths *paths)
{
    char share[FIGURE_BYTES];
    for (size_t i = 1; i < paths->count; i++) {
        const struct paths_row *row = &paths->rows[i];
        if (tree_frame(paths->tree, row->node)->id == FRAME_BEFORE_TRACING &&
            row->of_class >= 0.001) {
            page_open(page, "p");
            page_attribute(page, "class", "note");
            page_format(page, "%s are older than tracing: from where is not known.",
                        figure_percent(share, 100 * row->of_class));
            page_close(page);
            return;
        }
    }
}

// The program's own lines that allocate it, the largest first.
static void
write_places(struct report *report, const struct tree_model *tree)
{
    struct page *page = report->page;
    struct paths paths;
    unsigned shown = 0;
    paths_init(&paths);
    paths.shape = PATHS_LINES;
    paths_fold_level(&paths, 1);
    if (!paths_update(&paths, tree)) {
        page_fail(page, ENOMEM);
    }
    for (size_t i = 1; i < paths.count && shown < PLACES_MAX; i++) {
        if (!is_place(&paths, i)) {
            continue;
        }
        if (shown++ == 0) {
            page_element(page, "p", "from", "Living objects were allocated at");
            page_open(page, "ol");
        }
        write_place(page, &paths, i);
    }
    if (shown > 0) {
        page_close(page);
    }
    write_before(page, &paths);
    paths_destroy(&paths);
}

static void
write_change(struct page *page, const struct model_class *class)
{
    char spare[32];
    char change[FIGURE_BYTES];
    char live[FIGURE_BYTES];
    double delta = report_delta(class);
    page_open(page, "div");
    page_open(page, "h3");
    page_element(page, "code", NULL, words_class(class, spare, sizeof spare));
    page_text(page, " ");
    page_element(page, "span", "verdict", verdict_name(class->verdict));
    page_close(page);
    page_open(page, "p");
    page_element(page, "b", figure_direction(delta), figure_change(change, delta));
    page_format(page, "%s to %s live", figure_arrow(delta),
                figure_count(live, figure_number(class->now.live)));
    page_close(page);
    page_close(page);
}

static void
write_suspect(struct report *report, const struct model_class *class)
{
    struct page *page = report->page;
    const struct tree_model *tree = model_tree(report->model, class->id);
    page_open(page, "article");
    page_attribute(page, "class", class->verdict == VERDICT_LEAK ? "leak" : "growing");
    write_change(page, class);
    page_open(page, "div");
    if (*class->reason != '\0') {
        page_element(page, "p", "reason", class->reason);
    }
    if (tree != NULL) {
        write_places(report, tree);
        page_open(page, "p");
        page_open(page, "a");
        page_attribute_format(page, "href", "#tree-%lu", (unsigned long)class->id);
        page_text(page, "Its call tree");
        page_close(page);
        page_close(page);
    }
    page_close(page);
    page_close(page);
    page_line(page);
}

static void
write_none(const struct report *report)
{
    page_element(report->page, "p", NULL,
                 model_judged(report->model)
                     ? "No class looks like a leak, and none grows without end."
                     : "The probe has not judged yet: that takes some collections.");
}

void
report_suspects(struct report *report)
{
    struct page *page = report->page;
    size_t known = report->listing.count;
    size_t count = 0;
    const struct model_class **list = calloc(known + 1, sizeof(struct model_class *));
    if (list == NULL) {
        page_fail(page, ENOMEM);
        return;
    }
    for (size_t i = 0; i < known; i++) {
        if (suspect(report->listing.classes[i])) {
            list[count++] = report->listing.classes[i];
        }
    }
    qsort(list, count, sizeof(struct model_class *), by_suspicion);
    page_open(page, "section");
    page_attribute(page, "id", "suspects");
    page_element(page, "h2", NULL, "Suspects");
    page_open(page, "div");
    page_attribute(page, "class", "suspects");
    page_line(page);
    for (size_t i = 0; i < count && i < SUSPECTS_MAX; i++) {
        write_suspect(report, list[i]);
    }
    if (count == 0) {
        write_none(report);
    }
    page_close(page);
    if (count > SUSPECTS_MAX) {
        page_open(page, "p");
        page_format(page, "\xe2\x80\xa6 and %zu more: see the classes.",
                    count - SUSPECTS_MAX);
        page_close(page);
    }
    page_close(page);
    page_line(page);
    free(list);
}
