#include <math.h>
#include <stdio.h>

#include "tui/export/html/chart.h"
#include "tui/export/html/figure.h"
#include "tui/export/html/report.h"
#include "tui/export/words.h"

#define GAPS_MAX 50u // told one by one
#define DASH "\xe2\x80\x93"

double
report_delta(const struct model_class *class)
{
    return figure_difference(class->now.live, class->baseline);
}

void
report_since(const struct report *report, char *out, size_t size)
{
    char at[FIGURE_BYTES];
    int used = model_mark_used(report->model);
    const struct model_mark *mark =
        used != MODEL_MARK_NONE ? model_mark(report->model, used) : NULL;
    if (mark != NULL) {
        snprintf(out, size, "since %c, %s", 'A' + used,
                 figure_moment(at, mark->at.wall_us));
    } else if (model_sampled(report->model)) {
        snprintf(out, size, "since %s",
                 figure_moment(at, model_connected(report->model).wall_us));
    } else {
        snprintf(out, size, "since the beginning");
    }
}

/* Who and when. */

static void
write_time(struct page *page, uint64_t wall_us)
{
    char local[FIGURE_BYTES];
    char utc[WORDS_TIME_BYTES];
    words_time(utc, wall_us);
    page_open(page, "time");
    page_attribute(page, "datetime", utc);
    page_text(page, figure_moment(local, wall_us));
    page_close(page);
}

static void
write_span(const struct report *report)
{
    struct page *page = report->page;
    char duration[FIGURE_BYTES];
    char zone[FIGURE_BYTES];
    char from_utc[WORDS_TIME_BYTES];
    char to_utc[WORDS_TIME_BYTES];
    uint64_t from_us;
    uint64_t to_us;
    if (!chart_span(report->series, &from_us, &to_us)) {
        from_us = to_us = model_time(report->model).wall_us;
    }
    page_open(page, "p");
    page_attribute(page, "class", "span");
    if (to_us == 0) {
        page_text(page, "No sample came.");
        page_close(page);
        return;
    }
    write_time(page, from_us);
    if (to_us > from_us) {
        page_text(page, " " DASH " ");
        write_time(page, to_us);
    }
    page_format(page, " %s", figure_zone(zone, to_us));
    if (to_us > from_us) {
        page_format(page, " \xc2\xb7 %s",
                    figure_duration(duration, (double)(to_us - from_us) / 1e6));
    }
    if (figure_offset(to_us) != 0 || figure_offset(from_us) != 0) {
        words_time(from_utc, from_us);
        words_time(to_utc, to_us);
        page_format(page, " \xc2\xb7 %s " DASH " %s", from_utc, to_utc);
    }
    page_close(page);
    page_line(page);
}

static void
write_fact(struct page *page, const char *name, const char *value)
{
    page_element(page, "dt", NULL, name);
    page_element(page, "dd", NULL, value);
}

static void
write_facts(const struct report *report)
{
    struct page *page = report->page;
    const struct hello *hello = model_hello(report->model);
    char text[FIGURE_BYTES];
    page_open(page, "dl");
    page_attribute(page, "class", "facts");
    if (hello->pid != COUNT_UNKNOWN && hello->pid > 0) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)hello->pid);
        write_fact(page, "process", text);
    }
    if (hello->runtime.bytes != NULL && *hello->runtime.bytes != '\0') {
        write_fact(page, "Ruby", words_ruby(hello->runtime.bytes));
    }
    write_fact(page, "mode", mode_name(model_sample(report->model)->mode));
    if (hello->started_us > 0 && hello->started_us != COUNT_UNKNOWN) {
        write_fact(page, "probe started", figure_moment(text, hello->started_us));
    }
    if (report->series->source != NULL) {
        write_fact(page, "read from", report->series->source);
    }
    page_close(page);
    page_line(page);
}

/* Figures at the end. */

static void
write_tile(struct page *page, const char *name, const char *value, const char *below,
           double change)
{
    page_open(page, "div");
    page_element(page, "dt", NULL, name);
    page_open(page, "dd");
    page_element(page, "b", NULL, value);
    if (*below != '\0') {
        page_open(page, "span");
        page_attribute(page, "class", isnan(change) ? "even" : figure_direction(change));
        page_text(page, below);
        page_close(page);
    }
    page_close(page);
    page_close(page);
    page_line(page);
}

// What a figure was at the first moment at which it was known.
static double
first_of(const struct html_series *series, bool rss)
{
    for (size_t i = 0; i < series->point_count; i++) {
        uint64_t value = rss ? series->points[i].rss_bytes : series->points[i].live;
        if (value != COUNT_UNKNOWN) {
            return (double)value;
        }
    }
    return (double)NAN;
}

static void
write_memory(const struct report *report)
{
    const struct sample *sample = model_sample(report->model);
    char value[FIGURE_BYTES];
    char number[FIGURE_BYTES];
    char below[2 * FIGURE_BYTES] = "";
    double rss = figure_number(sample->process.rss_bytes);
    double change = rss - first_of(report->series, true);
    if (!isnan(change)) {
        snprintf(below, sizeof below, "%s%s", figure_bytes_change(number, change),
                 figure_arrow(change));
    }
    write_tile(report->page, "resident memory", figure_bytes(value, rss), below, change);
    double live = figure_number(sample->totals.live);
    change = live - first_of(report->series, false);
    below[0] = '\0';
    if (!isnan(change)) {
        snprintf(below, sizeof below, "%s%s", figure_change(number, change),
                 figure_arrow(change));
    }
    write_tile(report->page, "live objects", figure_count(value, live), below, change);
}

static void
write_counts(const struct report *report)
{
    const struct sample *sample = model_sample(report->model);
    const struct process_state *process = &sample->process;
    char value[FIGURE_BYTES];
    char number[FIGURE_BYTES];
    char below[2 * FIGURE_BYTES] = "";
    figure_count(value, figure_number(sample->totals.allocated));
    snprintf(below, sizeof below, "%s freed",
             figure_count(number, figure_number(sample->totals.freed)));
    write_tile(report->page, "allocated since counting", value, below, NAN);
    figure_count(value, figure_number(process->heap_slots_live));
    snprintf(below, sizeof below, "%s free",
             figure_count(number, figure_number(process->heap_slots_free)));
    write_tile(report->page, "heap slots used", value, below, NAN);
    figure_count(value, figure_number(process->gc_count));
    snprintf(below, sizeof below, "%s major",
             figure_count(number, figure_number(process->gc_major_count)));
    write_tile(report->page, "collections", value, below, NAN);
    double cost = figure_number(sample->probe.cost_ppm) / 10000;
    write_tile(report->page, "cost of watching", figure_percent(value, cost),
               isnan(cost) ? "" : "of one core", NAN);
}

void
report_head(struct report *report)
{
    struct page *page = report->page;
    const char *command = model_hello(report->model)->command.bytes;
    page_open(page, "header");
    page_element(page, "p", "brand", "memtop");
    page_element(page, "h1", NULL,
                 command != NULL && *command != '\0' ? command : "Ruby heap");
    write_span(report);
    write_facts(report);
    if (model_sampled(report->model)) {
        page_open(page, "dl");
        page_attribute(page, "class", "tiles");
        page_line(page);
        write_memory(report);
        write_counts(report);
        page_close(page);
    }
    page_close(page);
    page_line(page);
}

/* What is missing. */

static void
write_gaps(const struct report *report, bool *any)
{
    struct page *page = report->page;
    const struct html_series *series = report->series;
    char from[FIGURE_BYTES];
    char to[FIGURE_BYTES];
    char duration[FIGURE_BYTES];
    for (size_t i = 0; i < series->gap_count && i < GAPS_MAX; i++) {
        const struct html_gap *gap = &series->gaps[i];
        double seconds = ((double)gap->to_us - (double)gap->from_us) / 1e6;
        page_open(page, "li");
        page_element(page, "b", NULL, "Gap");
        page_format(page, " %s " DASH " %s (%s)%s%s", figure_moment(from, gap->from_us),
                    figure_clock(to, gap->to_us), figure_duration(duration, seconds),
                    gap->text != NULL && *gap->text != '\0' ? ": " : "",
                    gap->text != NULL ? gap->text : "");
        page_close(page);
        *any = true;
    }
    if (series->gap_count > GAPS_MAX) {
        page_open(page, "li");
        page_format(page, "\xe2\x80\xa6 and %s more gaps.",
                    figure_count(from, (double)(series->gap_count - GAPS_MAX)));
        page_close(page);
    }
}

static void
write_note(struct page *page, bool *any, const char *head, const char *words)
{
    page_open(page, "li");
    page_element(page, "b", NULL, head);
    page_text(page, words);
    page_close(page);
    *any = true;
}

static void
write_probe(const struct report *report, bool *any)
{
    struct page *page = report->page;
    const struct probe_state *probe = &model_sample(report->model)->probe;
    uint64_t mode = model_sample(report->model)->mode;
    char number[FIGURE_BYTES];
    if (probe->dropped_frames != COUNT_UNKNOWN && probe->dropped_frames > 0) {
        write_note(page, any, figure_count(number, (double)probe->dropped_frames),
                   " frames dropped: the program was faster than who read it. Detail in "
                   "time is missing; counts are what they are.");
    }
    if (probe->drift_total != COUNT_UNKNOWN && probe->drift_total > 0) {
        write_note(page, any, figure_count(number, (double)probe->drift_total),
                   " objects miscounted, found by the census and put right.");
    }
    if (mode == MODE_CENSUS) {
        write_note(page, any, "Mode census:",
                   " counts are of the last walk over the heap; nobody saw what was "
                   "allocated and freed between two.");
    } else if (mode == MODE_DORMANT) {
        write_note(page, any, "Mode dormant:", " classes are not counted.");
    }
}

static void
write_model(const struct report *report, bool *any)
{
    struct page *page = report->page;
    const struct model *model = report->model;
    const struct bye *bye = model_bye(model);
    if (!model_sampled(model)) {
        write_note(page, any, "No sample came:", " there are no figures at all.");
        return;
    }
    if (!listing_named(model, false)) {
        write_note(page, any,
                   "Some classes have no name yet:", " they are shown by number.");
    }
    if (model_restarted(model)) {
        write_note(page, any, "The program was started anew",
                   " on the way: counts before and after are of two processes.");
    }
    if (bye != NULL) {
        page_open(page, "li");
        page_element(page, "b", NULL, "The program ended");
        if (bye->status != COUNT_UNKNOWN) {
            page_format(page, " with status %llu", (unsigned long long)bye->status);
        }
        page_format(page, "%s%s; figures are the last it gave.",
                    bye->text.bytes != NULL && *bye->text.bytes != '\0' ? ": " : "",
                    bye->text.bytes != NULL ? bye->text.bytes : "");
        page_close(page);
        *any = true;
    }
    for (size_t i = 0; i < model_notice_count(model); i++) {
        const struct model_notice *notice = model_notice_at(model, i);
        write_note(page, any, notice->severity == NOTICE_WARNING ? "Warning: " : "Note: ",
                   notice->text);
    }
}

void
report_missing(struct report *report)
{
    struct page *page = report->page;
    bool any = false;
    page_open(page, "section");
    page_attribute(page, "id", "missing");
    page_element(page, "h2", NULL, "What is missing");
    page_open(page, "ul");
    page_attribute(page, "class", "notes");
    write_gaps(report, &any);
    write_probe(report, &any);
    write_model(report, &any);
    if (!any) {
        page_element(page, "li", "good",
                     "Nothing: no gaps, no frames dropped, no object miscounted.");
    }
    page_close(page);
    page_close(page);
    page_line(page);
}
