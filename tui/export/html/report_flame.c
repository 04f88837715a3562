// Callers above what they called, as wide as the objects that came that way.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/html/figure.h"
#include "tui/export/html/report.h"
#include "tui/text/text.h"

#define WIDTH 1100.0
#define ROW_HEIGHT 19.0
#define NARROW 0.8     // of a box that is drawn
#define CHARACTER 6.63 // wide, in the style sheet's font
#define LABEL_BYTES 1024

struct box {
    double left, width;
    double place; // where its next child goes
};

// What was born before tracing has no path, and would crowd out the rest.
static double
weight_of(const struct paths *paths, size_t row)
{
    const struct paths_row *at = &paths->rows[row];
    if (tree_frame(paths->tree, at->node)->id == FRAME_BEFORE_TRACING ||
        !(at->total.live > 0)) {
        return 0;
    }
    return at->total.live;
}

// Everything that has a path.
static double
weight_of_all(const struct paths *paths)
{
    double weight = 0;
    for (size_t i = 1; i < paths->count; i++) {
        weight += paths->rows[i].depth == 1 ? weight_of(paths, i) : 0;
    }
    return weight;
}

// Each below its parent, beside what is there already. Returns the levels.
static uint32_t
lay_out(const struct paths *paths, struct box *boxes, double all)
{
    uint32_t levels = 1;
    boxes[0] = (struct box){0, WIDTH, 0};
    for (size_t i = 1; i < paths->count; i++) {
        struct box *parent = &boxes[paths_parent(paths, i)];
        double width = weight_of(paths, i) / all * WIDTH;
        // estimates of the parts may come to more than the whole
        width = fmin(width, parent->left + parent->width - parent->place);
        boxes[i] = (struct box){parent->place, fmax(width, 0), parent->place};
        parent->place += fmax(width, 0);
        if (width >= NARROW && paths->rows[i].depth >= levels) {
            levels = paths->rows[i].depth + 1;
        }
    }
    return levels;
}

static const char *
kind_of(const struct paths *paths, size_t index)
{
    const struct paths_row *row = &paths->rows[index];
    const struct tree_frame *frame = tree_frame(paths->tree, row->node);
    if (index == 0) {
        return "box root";
    }
    if (row->kind == PATHS_ROW_NODE && frame->path[0] != '\0' &&
        paths_is_own(frame->path)) {
        return "box own";
    }
    return (frame->flags & FRAME_C) != 0 || frame->id < FRAME_FIRST ? "box core"
                                                                    : "box gem";
}

static void
write_box(struct page *page, const struct paths *paths, size_t index,
          const struct box *box)
{
    const struct paths_row *row = &paths->rows[index];
    char label[LABEL_BYTES];
    char place[LABEL_BYTES];
    char fitted[LABEL_BYTES];
    char live[FIGURE_BYTES];
    char share[FIGURE_BYTES];
    double top = row->depth * ROW_HEIGHT;
    int columns = (int)((box->width - 8) / CHARACTER);
    paths_label(paths, index, label, sizeof label);
    paths_place(paths, index, place, sizeof place);
    page_open(page, "g");
    page_attribute(page, "class", kind_of(paths, index));
    page_open(page, "title");
    page_format(page, "%s%s%s \xc2\xb7 %s live \xc2\xb7 %s of the class", label,
                *place != '\0' ? " \xc2\xb7 " : "", place,
                figure_count(live, row->total.live),
                figure_percent(share, 100 * row->of_class));
    page_close(page);
    page_open(page, "rect");
    page_place(page, "x", box->left);
    page_place(page, "y", top);
    page_place(page, "width", fmax(box->width - 1, 0.5));
    page_place(page, "height", ROW_HEIGHT - 1);
    page_end(page);
    if (columns >= 3) {
        text_fit(fitted, sizeof fitted, label, columns, false);
        page_open(page, "text");
        page_place(page, "x", box->left + 4);
        page_place(page, "y", top + 13);
        page_text(page, fitted);
        page_close(page);
    }
    page_close(page);
    page_line(page);
}

static void
write_boxes(struct page *page, const struct paths *paths, const struct box *boxes,
            uint32_t levels, const char *label)
{
    page_open(page, "svg");
    page_attribute(page, "class", "flame");
    page_attribute_format(page, "viewBox", "0 0 %.0f %.0f", WIDTH, levels * ROW_HEIGHT);
    page_attribute(page, "role", "img");
    page_attribute(page, "aria-label", label);
    page_line(page);
    for (size_t i = 0; i < paths->count && !page_failed(page); i++) {
        if (boxes[i].width >= NARROW) {
            write_box(page, paths, i, &boxes[i]);
        }
    }
    page_close(page);
    page_line(page);
}

void
report_flame(struct report *report, const struct paths *paths, const char *label)
{
    struct page *page = report->page;
    char number[FIGURE_BYTES];
    double all = weight_of_all(paths);
    if (!(all > 0) || paths->count == 0) {
        return;
    }
    struct box *boxes = calloc(paths->count, sizeof *boxes);
    if (boxes == NULL) {
        page_fail(page, ENOMEM);
        return;
    }
    uint32_t levels = lay_out(paths, boxes, all);
    double before = paths->rows[0].total.live - all;
    page_open(page, "div");
    page_attribute(page, "class", "scroll");
    write_boxes(page, paths, boxes, levels, label);
    page_close(page);
    page_open(page, "p");
    page_attribute(page, "class", "note");
    page_text(page, "Width: live objects. ");
    if (before >= 1) {
        page_format(page, "Without %s that have no path: they are older than tracing.",
                    figure_count(number, before));
    }
    page_close(page);
    page_line(page);
    free(boxes);
}
