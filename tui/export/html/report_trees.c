#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/export/html/figure.h"
#include "tui/export/html/report.h"
#include "tui/export/words.h"

// Rows of a tree, and boxes of a flame graph: when there are more, the small ones are
// put together until there are not.
#define ROWS_MAX 1500u
#define BOXES_MAX 4000u

// Rows further down are beside each other: browsers and parsers nest no deeper than
// some hundred elements.
#define NEST_MAX 100u

// Then what is less than half of the class is together.
#define TRIES 9

#define LABEL_BYTES 1024

// What is too small for a row of its own stays together. False when memory ran out.
static bool
close_rests(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        const struct paths_row *row = &paths->rows[i];
        if (row->kind == PATHS_ROW_REST && row->foldable && row->open &&
            !paths_fold(paths, i, false, false)) {
            return false;
        }
    }
    return true;
}

// All other rows there are, unless they are too many. False when memory ran out.
static bool
make_rows(struct paths *paths, const struct tree_model *tree, bool own_only, size_t most)
{
    paths_init(paths);
    paths->own_only = own_only;
    paths_fold_level(paths, UINT32_MAX);
    bool good =
        paths_update(paths, tree) && close_rests(paths) && paths_update(paths, tree);
    for (int i = 0; good && paths->count > most && i < TRIES; i++) {
        paths->threshold *= 2;
        paths_renew(paths);
        good =
            paths_update(paths, tree) && close_rests(paths) && paths_update(paths, tree);
    }
    return good;
}

/* Rows. */

static size_t
next_sibling(const struct paths *paths, size_t row)
{
    size_t next = row + 1;
    while (next < paths->count && paths->rows[next].depth > paths->rows[row].depth) {
        next++;
    }
    return next;
}

static bool
is_code(const struct paths *paths, size_t row)
{
    return paths->rows[row].kind != PATHS_ROW_REST &&
           tree_frame(paths->tree, paths->rows[row].node)->id >= FRAME_FIRST;
}

// The largest path, down to its allocating line.
static void
find_open(const struct paths *paths, bool *open)
{
    size_t row = 0;
    while (row + 1 < paths->count &&
           paths->rows[row + 1].depth > paths->rows[row].depth) {
        size_t largest = row + 1;
        size_t end = next_sibling(paths, row);
        open[row] = true;
        for (size_t i = row + 1; i < end; i = next_sibling(paths, i)) {
            bool larger = paths->rows[i].total.live > paths->rows[largest].total.live;
            if (is_code(paths, i) > is_code(paths, largest) ||
                (is_code(paths, i) == is_code(paths, largest) && larger)) {
                largest = i;
            }
        }
        if (!(paths->rows[largest].total.live > 0)) {
            return;
        }
        row = largest;
    }
}

static void
write_share(struct page *page, double share)
{
    page_open(page, "svg");
    page_attribute(page, "viewBox", "0 0 60 8");
    page_attribute(page, "aria-hidden", "true");
    page_open(page, "rect");
    page_attribute(page, "height", "8");
    page_place(page, "width", 60 * fmin(fmax(share, 0), 1));
    page_end(page);
    page_close(page);
}

static void
write_row(struct page *page, const struct paths *paths, size_t index, bool exact)
{
    const struct paths_row *row = &paths->rows[index];
    const struct tree_frame *frame = tree_frame(paths->tree, row->node);
    char label[LABEL_BYTES];
    char place[LABEL_BYTES];
    char text[FIGURE_BYTES];
    bool own = index == 0 || (row->kind == PATHS_ROW_NODE && paths_is_own(frame->path));
    paths_label(paths, index, label, sizeof label);
    paths_place(paths, index, place, sizeof place);
    page_element(page, "span", own ? "label own" : "label", label);
    page_element(page, "span", "place", place);
    page_element(page, "span", "n", figure_count(text, row->total.live));
    if (!exact) {
        double error = ceil(row->total.error);
        page_open(page, "span");
        page_attribute(page, "class", "n error");
        page_format(page, "%s%s", error > 0 ? "\xc2\xb1" : "",
                    error > 0 ? figure_count(text, error) : "");
        page_close(page);
    }
    page_element(page, "span", "n share", figure_percent(text, 100 * row->of_class));
    write_share(page, row->of_class);
    page_open(page, "span");
    page_attribute_format(page, "class", "n %s", figure_direction(row->delta));
    page_text(page, figure_change(text, row->delta));
    page_close(page);
    page_element(page, "span", "n", figure_bytes(text, row->total.bytes));
}

static void
write_titles(struct page *page, bool exact)
{
    page_open(page, "div");
    page_attribute(page, "class", "row titles");
    page_element(page, "span", "label", "path, callers first");
    page_element(page, "span", "n", "live");
    if (!exact) {
        page_element(page, "span", "n error", "\xc2\xb1 95\xe2\x80\xaf%");
    }
    page_element(page, "span", "n wide", "of the class");
    page_element(page, "span", "n", "\xce\x94");
    page_element(page, "span", "n", "bytes");
    page_close(page);
    page_line(page);
}

static void
write_rows(struct page *page, const struct paths *paths, const bool *open)
{
    bool exact = tree_exact(paths->tree);
    uint32_t nested = 0;
    for (size_t i = 0; i < paths->count && !page_failed(page); i++) {
        uint32_t depth = paths->rows[i].depth;
        bool parent = i + 1 < paths->count && paths->rows[i + 1].depth > depth;
        for (; nested > depth; nested--) {
            page_close(page);
        }
        if (parent && depth < NEST_MAX) {
            page_open(page, "details");
            if (open[i]) {
                page_attribute(page, "open", "");
            }
            page_open(page, "summary");
            nested = depth + 1;
        } else {
            page_open(page, "div");
        }
        page_attribute(page, "class", "row");
        write_row(page, paths, i, exact);
        page_close(page);
        page_line(page);
    }
    for (; nested > 0; nested--) {
        page_close(page);
    }
}

/* A tree. */

static void
write_facts(const struct report *report, const struct tree_model *tree)
{
    struct page *page = report->page;
    const struct tree *header = tree_header(tree);
    char mark[128];
    char since[FIGURE_BYTES];
    char number[FIGURE_BYTES];
    page_open(page, "p");
    page_attribute(page, "class", "note");
    if (header->since_us == COUNT_UNKNOWN) {
        page_text(page, "No stacks were taken yet.");
    } else {
        page_format(page, "Stacks since %s, ", figure_moment(since, header->since_us));
        page_text(
            page,
            tree_exact(tree)
                ? "of every object: exact."
                : "of some objects: figures are estimates, \xc2\xb1 95\xe2\x80\xaf%.");
        if (header->depth != COUNT_UNKNOWN) {
            page_format(page, " Up to %s frames of each.",
                        figure_count(number, (double)header->depth));
        }
    }
    if ((header->flags & TREE_FULL) != 0) {
        page_text(page, " Room for paths was used up: new ones are under (other).");
    }
    report_since(report, mark, sizeof mark);
    page_format(page, " \xce\x94 is %s.",
                tree_since_mark(tree) ? mark : "since this tree was first seen");
    page_close(page);
    page_line(page);
}

static void
write_rows_of(struct report *report, const struct tree_model *tree, const char *name)
{
    struct page *page = report->page;
    struct paths paths;
    char label[LABEL_BYTES];
    bool *open = NULL;
    if (make_rows(&paths, tree, true, ROWS_MAX)) {
        open = calloc(paths.count + 1, sizeof *open);
    }
    if (open == NULL) {
        page_fail(page, ENOMEM);
    } else {
        find_open(&paths, open);
        page_open(page, "div");
        page_attribute(page, "class", "tree");
        write_titles(page, tree_exact(tree));
        write_rows(page, &paths, open);
        page_close(page);
        page_line(page);
        snprintf(label, sizeof label, "Flame graph of %.900s, own code", name);
        report_flame(report, &paths, label);
    }
    free(open);
    paths_destroy(&paths);
}

static void
write_flame_of(struct report *report, const struct tree_model *tree, const char *name)
{
    struct page *page = report->page;
    struct paths paths;
    char label[LABEL_BYTES];
    if (!make_rows(&paths, tree, false, BOXES_MAX)) {
        page_fail(page, ENOMEM);
    } else {
        page_open(page, "details");
        page_attribute(page, "class", "data");
        page_element(page, "summary", NULL,
                     "All frames, those of gems and of Ruby included");
        snprintf(label, sizeof label, "Flame graph of %.900s, all frames", name);
        report_flame(report, &paths, label);
        page_close(page);
        page_line(page);
    }
    paths_destroy(&paths);
}

static void
write_tree(struct report *report, const struct model_class *class,
           const struct tree_model *tree)
{
    struct page *page = report->page;
    char spare[32];
    const char *name = words_class(class, spare, sizeof spare);
    page_open(page, "article");
    page_attribute(page, "class", "calls");
    page_attribute_format(page, "id", "tree-%lu", (unsigned long)class->id);
    page_open(page, "h3");
    page_element(page, "code", NULL, name);
    page_close(page);
    page_line(page);
    write_facts(report, tree);
    write_rows_of(report, tree, name);
    write_flame_of(report, tree, name);
    page_close(page);
    page_line(page);
}

void
report_trees(struct report *report)
{
    struct page *page = report->page;
    size_t count = 0;
    page_open(page, "section");
    page_attribute(page, "id", "trees");
    page_element(page, "h2", NULL, "Where objects come from");
    for (size_t i = 0; i < report->listing.count && !page_failed(page); i++) {
        const struct model_class *class = report->listing.classes[i];
        const struct tree_model *tree = model_tree(report->model, class->id);
        if (tree != NULL) {
            write_tree(report, class, tree);
            count++;
        }
    }
    if (count == 0) {
        page_element(page, "p", NULL, "No class was traced, so no call tree is known.");
    }
    page_close(page);
    page_line(page);
}
