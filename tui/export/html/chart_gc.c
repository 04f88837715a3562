// Collections of garbage as bars: how many in each stretch of time.

#include "tui/export/html/canvas.h"
#include "tui/export/html/chart.h"

#define STRETCHES 96
#define STRETCHES_MAX 256u

uint64_t
chart_gc_stretch(const struct html_series *series)
{
    uint64_t from_us;
    uint64_t to_us;
    if (!chart_span(series, &from_us, &to_us)) {
        return 1;
    }
    return axis_time_step((double)(to_us - from_us) / 1e6, STRETCHES);
}

struct stretches {
    uint64_t first_us;
    uint64_t each_us;
    size_t count;
    uint64_t collections[STRETCHES_MAX];
};

// A count that falls is another program's; what went on in a gap is nobody's.
static void
count_collections(const struct canvas *canvas, struct stretches *stretches)
{
    const struct html_series *series = canvas->series;
    for (size_t i = 1; i < series->point_count; i++) {
        const struct html_point *before = &series->points[i - 1];
        const struct html_point *now = &series->points[i];
        if (before->gc_count == COUNT_UNKNOWN || now->gc_count == COUNT_UNKNOWN ||
            now->gc_count <= before->gc_count || now->wall_us <= before->wall_us ||
            canvas_gap_between(series, before->wall_us, now->wall_us)) {
            continue;
        }
        uint64_t at = (now->wall_us - 1 - stretches->first_us) / stretches->each_us;
        if (now->wall_us > stretches->first_us && at < stretches->count) {
            stretches->collections[at] += now->gc_count - before->gc_count;
        }
    }
}

static struct stretches
stretches_of(const struct canvas *canvas, uint64_t seconds)
{
    struct stretches stretches = {.each_us = seconds * 1000000};
    uint64_t second = axis_time_first(canvas->from_us, seconds);
    stretches.first_us = second > stretches.each_us ? second - stretches.each_us : 0;
    uint64_t span = canvas->to_us - stretches.first_us;
    stretches.count = (size_t)(span / stretches.each_us) + 1;
    stretches.count = stretches.count < STRETCHES_MAX ? stretches.count : STRETCHES_MAX;
    count_collections(canvas, &stretches);
    return stretches;
}

static void
draw_bars(const struct canvas *canvas, const struct stretches *stretches)
{
    char at[FIGURE_BYTES];
    char value[FIGURE_BYTES];
    for (size_t i = 0; i < stretches->count; i++) {
        uint64_t from_us = stretches->first_us + i * stretches->each_us;
        double left = canvas_x(canvas, from_us);
        double right = canvas_x(canvas, from_us + stretches->each_us);
        double number = (double)stretches->collections[i];
        if (number <= 0 || right - left <= 0) {
            continue;
        }
        canvas_rect(canvas, left + 0.5, canvas_y(canvas, number), right - 0.5,
                    canvas->bottom);
        page_attribute(canvas->page, "class", "bar");
        page_open(canvas->page, "title");
        page_format(canvas->page, "%s   %s collections", figure_clock(at, from_us),
                    figure_count(value, number));
        page_close(canvas->page);
        page_close(canvas->page);
    }
    page_line(canvas->page);
}

void
chart_gc(struct page *page, const struct html_series *series, uint64_t seconds,
         const char *label)
{
    if (series->point_count == 0) {
        return;
    }
    struct canvas canvas = canvas_begin(page, series, false, 150, 0);
    struct stretches stretches = stretches_of(&canvas, seconds);
    double least;
    double most;
    canvas_range(stretches.collections, stretches.count, &least, &most);
    canvas.axis = axis_values(0, most, false, 3);
    canvas_open(&canvas, label);
    canvas_values(&canvas);
    canvas_times(&canvas);
    draw_bars(&canvas, &stretches);
    canvas_gaps(&canvas);
    canvas_marks(&canvas);
    canvas_close(&canvas);
}
