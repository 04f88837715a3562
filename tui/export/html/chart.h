/*
 * Values over time as SVG: a line, or bars. Axes have round numbers, gaps are hatched
 * and break the line, marks are letters on top. Without any script the browser shows
 * what is under the pointer, and a label says it to screen readers.
 */
#ifndef TUI_EXPORT_HTML_CHART_H
#define TUI_EXPORT_HTML_CHART_H

#include "tui/export/html.h"
#include "tui/export/html/page.h"

// Moments that are shown under the pointer, and in the table of the same figures.
#define CHART_MOMENTS 96u

struct chart {
    const char *label;      // for who cannot see it
    bool bytes;             // what the values are: sizes, else counts
    bool small;             // one of many beside each other
    bool modes;             // with the modes along the bottom
    const uint64_t *values; // one for each point; COUNT_UNKNOWN is a hole
};

// Patterns that charts refer to; once, before them.
void chart_define(struct page *page);

// The time that all charts of a series span. False when there are no points.
bool chart_span(const struct html_series *series, uint64_t *from_us, uint64_t *to_us);

// Which point a moment is, of CHART_MOMENTS at most; `count` of points > 0.
size_t chart_moments(size_t count, size_t most);
size_t chart_moment(size_t count, size_t moments, size_t moment);

void chart_line(struct page *page, const struct html_series *series,
                const struct chart *chart);

// Collections of garbage in each of some hundred stretches; `seconds` is how long one
// is, a round number that chart_gc_stretch() finds.
uint64_t chart_gc_stretch(const struct html_series *series);
void chart_gc(struct page *page, const struct html_series *series, uint64_t seconds,
              const char *label);

#endif
