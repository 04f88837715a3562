#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/export/html/chart.h"
#include "tui/export/html/figure.h"
#include "tui/export/html/report.h"
#include "tui/export/words.h"

#define LABEL_BYTES 640

// How a line went, in numbers.
struct course {
    double first, last, least, most;
    size_t known;
};

static struct course
course_of(const uint64_t *values, size_t count)
{
    struct course course = {NAN, NAN, NAN, NAN, 0};
    for (size_t i = 0; i < count; i++) {
        double value = figure_number(values[i]);
        if (isnan(value)) {
            continue;
        }
        course.first = course.known == 0 ? value : course.first;
        course.last = value;
        course.least = fmin(course.least, value);
        course.most = fmax(course.most, value);
        course.known++;
    }
    return course;
}

static void
describe(char out[LABEL_BYTES], const char *name, bool bytes, const struct course *course)
{
    const char *(*format)(char *, double) = bytes ? figure_bytes : figure_count;
    char first[FIGURE_BYTES];
    char last[FIGURE_BYTES];
    char least[FIGURE_BYTES];
    char most[FIGURE_BYTES];
    snprintf(out, LABEL_BYTES, "%.200s: from %s to %s, between %s and %s", name,
             format(first, course->first), format(last, course->last),
             format(least, course->least), format(most, course->most));
}

static void
write_caption(struct page *page, const char *name, bool bytes, bool code,
              const struct course *course)
{
    char value[FIGURE_BYTES];
    double change = course->last - course->first;
    page_open(page, "figcaption");
    page_element(page, code ? "code" : "b", NULL, name);
    page_text(page, " ");
    page_element(page, "span", "now",
                 (bytes ? figure_bytes : figure_count)(value, course->last));
    page_text(page, " ");
    page_open(page, "span");
    page_attribute(page, "class", figure_direction(change));
    (bytes ? figure_bytes_change : figure_change)(value, change);
    page_format(page, "%s%s", value, figure_arrow(change));
    page_close(page);
    page_close(page);
}

static void
write_line(struct report *report, const char *name, struct chart chart)
{
    struct page *page = report->page;
    char label[LABEL_BYTES];
    struct course course = course_of(chart.values, report->series->point_count);
    describe(label, name, chart.bytes, &course);
    chart.label = label;
    page_open(page, "figure");
    page_attribute(page, "class", chart.small ? "small" : "wide");
    write_caption(page, name, chart.bytes, chart.small, &course);
    if (course.known > 0) {
        chart_line(page, report->series, &chart);
    } else {
        page_element(page, "p", "none", "Nobody measured it.");
    }
    page_close(page);
    page_line(page);
}

// One figure of every point; NULL when memory ran out.
static uint64_t *
column(const struct html_series *series, bool rss)
{
    uint64_t *values = calloc(series->point_count + 1, sizeof *values);
    for (size_t i = 0; values != NULL && i < series->point_count; i++) {
        values[i] = rss ? series->points[i].rss_bytes : series->points[i].live;
    }
    return values;
}

static void
write_totals(struct report *report)
{
    for (int rss = 1; rss >= 0; rss--) {
        uint64_t *values = column(report->series, rss == 1);
        if (values == NULL) {
            page_fail(report->page, ENOMEM);
            return;
        }
        write_line(
            report, rss == 1 ? "Resident memory" : "Live objects",
            (struct chart){.bytes = rss == 1, .modes = rss == 0, .values = values});
        free(values);
    }
}

static void
write_gc(struct report *report)
{
    struct page *page = report->page;
    char duration[FIGURE_BYTES];
    char label[LABEL_BYTES];
    uint64_t seconds = chart_gc_stretch(report->series);
    figure_duration(duration, (double)seconds);
    snprintf(label, sizeof label, "Collections of garbage in every %s", duration);
    page_open(page, "figure");
    page_attribute(page, "class", "wide");
    page_open(page, "figcaption");
    page_element(page, "b", NULL, "Collections");
    page_format(page, " in every %s", duration);
    page_close(page);
    chart_gc(page, report->series, seconds, label);
    page_close(page);
    page_line(page);
}

/* Classes. */

// Those that can be shown; returns how many.
static size_t
find_classes(const struct report *report, const struct model_class *classes[],
             const uint64_t *values[])
{
    const struct html_series *series = report->series;
    size_t count = 0;
    for (size_t i = 0; i < series->class_count && count < HTML_CLASSES_MAX; i++) {
        const struct model_class *class =
            model_class_find(report->model, series->classes[i].id);
        if (class != NULL) {
            classes[count] = class;
            values[count++] = series->classes[i].live;
        }
    }
    return count;
}

static void
write_classes(struct report *report)
{
    struct page *page = report->page;
    char spare[32];
    const struct model_class *classes[HTML_CLASSES_MAX];
    const uint64_t *values[HTML_CLASSES_MAX];
    size_t count = find_classes(report, classes, values);
    if (count == 0) {
        return;
    }
    page_element(page, "h3", NULL, "Classes that grew most");
    page_open(page, "div");
    page_attribute(page, "class", "cards");
    page_line(page);
    for (size_t i = 0; i < count; i++) {
        write_line(report, words_class(classes[i], spare, sizeof spare),
                   (struct chart){.small = true, .values = values[i]});
    }
    page_close(page);
    page_line(page);
}

/* The same as a table. */

static void
write_number(struct page *page, const char *text)
{
    page_element(page, "td", "n", text);
}

static void
write_moment(struct report *report, size_t index, const uint64_t *const values[],
             size_t count)
{
    struct page *page = report->page;
    const struct html_point *point = &report->series->points[index];
    char text[FIGURE_BYTES];
    page_open(page, "tr");
    page_element(page, "th", NULL, figure_moment(text, point->wall_us));
    write_number(page, figure_bytes(text, figure_number(point->rss_bytes)));
    write_number(page, figure_count(text, figure_number(point->live)));
    write_number(page, figure_count(text, figure_number(point->gc_count)));
    page_element(page, "td", NULL, mode_name(point->mode));
    for (size_t i = 0; i < count; i++) {
        write_number(page, figure_count(text, figure_number(values[i][index])));
    }
    page_close(page);
    page_line(page);
}

static void
write_table(struct report *report)
{
    static const char *const heads[] = {"time", "RSS", "live", "GC", "mode"};
    struct page *page = report->page;
    char spare[32];
    const struct model_class *classes[HTML_CLASSES_MAX];
    const uint64_t *values[HTML_CLASSES_MAX];
    size_t count = find_classes(report, classes, values);
    size_t points = report->series->point_count;
    size_t moments = chart_moments(points, CHART_MOMENTS);
    page_open(page, "details");
    page_attribute(page, "class", "data");
    page_element(page, "summary", NULL, "The charts as a table");
    page_open(page, "div");
    page_attribute(page, "class", "scroll");
    page_open(page, "table");
    page_open(page, "thead");
    page_open(page, "tr");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0] + count; i++) {
        bool own = i < sizeof heads / sizeof heads[0];
        page_open(page, "th");
        page_attribute(page, "scope", "col");
        page_attribute(page, "class", i == 0 || i == 4 ? "w" : "n");
        page_text(page,
                  own ? heads[i] : words_class(classes[i - 5], spare, sizeof spare));
        page_close(page);
    }
    page_close(page);
    page_close(page);
    page_open(page, "tbody");
    page_line(page);
    for (size_t i = 0; i < moments; i++) {
        write_moment(report, chart_moment(points, moments, i), values, count);
    }
    page_close(page);
    page_close(page);
    page_close(page);
    page_close(page);
    page_line(page);
}

static void
write_note(const struct report *report)
{
    struct page *page = report->page;
    char zone[FIGURE_BYTES];
    char points[FIGURE_BYTES];
    size_t count = report->series->point_count;
    page_open(page, "p");
    page_attribute(page, "class", "note");
    page_format(page, "Times are %s.",
                figure_zone(zone, report->series->points[count - 1].wall_us));
    if (count > HTML_DRAWN_MAX) {
        page_format(page,
                    " Of %s samples no more than %u are drawn for a line; the least and "
                    "the most of every stretch are among them.",
                    figure_count(points, (double)count), HTML_DRAWN_MAX);
    }
    if (report->series->gap_count > 0) {
        page_text(page, " Hatched: a gap, of which nothing is known.");
    }
    page_close(page);
    page_line(page);
}

void
report_charts(struct report *report)
{
    struct page *page = report->page;
    page_open(page, "section");
    page_attribute(page, "id", "charts");
    page_element(page, "h2", NULL, "Over time");
    if (report->series->point_count > 0) {
        chart_define(page);
        write_totals(report);
        write_gc(report);
        write_classes(report);
        write_note(report);
        write_table(report);
    } else {
        page_element(page, "p", NULL, "There are no samples to draw.");
    }
    page_close(page);
    page_line(page);
}
