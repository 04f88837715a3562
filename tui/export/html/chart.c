#include "tui/export/html/chart.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "protocol/buffer.h"
#include "tui/export/html/axis.h"
#include "tui/export/html/thin.h"

#define GC_STRETCHES 96
#define TICKS_MAX 16
#define GC_STRETCHES_MAX 256u
#define SMALL_DRAWN_MAX 400u
#define SMALL_MOMENTS 32u

// Where things are, in the units of the drawing.
struct canvas {
    struct page *page;
    const struct html_series *series;
    double width, height; // of all
    double left, top, right, bottom;
    double strip; // height of what is between the base and the times
    uint64_t from_us, to_us;
    struct axis axis;
    bool small;
};

void
chart_define(struct page *page)
{
    page_open(page, "svg");
    page_attribute(page, "width", "0");
    page_attribute(page, "height", "0");
    page_attribute(page, "class", "patterns");
    page_attribute(page, "aria-hidden", "true");
    page_open(page, "pattern");
    page_attribute(page, "id", "hatch");
    page_attribute(page, "width", "6");
    page_attribute(page, "height", "6");
    page_attribute(page, "patternUnits", "userSpaceOnUse");
    page_attribute(page, "patternTransform", "rotate(45)");
    page_open(page, "path");
    page_attribute(page, "class", "hatch");
    page_attribute(page, "d", "M0 0V6");
    page_end(page);
    page_close(page);
    page_close(page);
    page_line(page);
}

bool
chart_span(const struct html_series *series, uint64_t *from_us, uint64_t *to_us)
{
    *from_us = UINT64_MAX;
    *to_us = 0;
    for (size_t i = 0; i < series->point_count; i++) {
        uint64_t at = series->points[i].wall_us;
        *from_us = at < *from_us ? at : *from_us;
        *to_us = at > *to_us ? at : *to_us;
    }
    return series->point_count > 0;
}

size_t
chart_moments(size_t count, size_t most)
{
    return count < most ? count : most;
}

size_t
chart_moment(size_t count, size_t moments, size_t moment)
{
    return moments > 1 ? moment * (count - 1) / (moments - 1) : 0;
}

static double
x_of(const struct canvas *canvas, uint64_t wall_us)
{
    double span = (double)(canvas->to_us - canvas->from_us);
    double at = ((double)wall_us - (double)canvas->from_us) / span;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    return canvas->left + at * (canvas->right - canvas->left);
}

static double
y_of(const struct canvas *canvas, double value)
{
    const struct axis *axis = &canvas->axis;
    double at = (value - axis->from) / (axis->to - axis->from);
    return canvas->bottom - at * (canvas->bottom - canvas->top);
}

static bool
known(double value)
{
    return !isnan(value);
}

static struct canvas
canvas_of(struct page *page, const struct html_series *series, bool small, double height,
          double strip)
{
    struct canvas canvas = {.page = page,
                            .series = series,
                            .width = small ? 360 : 1100,
                            .height = height,
                            .left = small ? 52 : 76,
                            .top = small ? 18 : 24,
                            .strip = strip,
                            .small = small};
    canvas.right = canvas.width - (small ? 10 : 16);
    canvas.bottom = height - strip - (small ? 20 : 36);
    chart_span(series, &canvas.from_us, &canvas.to_us);
    if (canvas.to_us - canvas.from_us < 1000000) { // a moment is in the middle
        uint64_t half = canvas.from_us < 30000000 ? canvas.from_us : 30000000;
        canvas.from_us -= half;
        canvas.to_us += 30000000;
    }
    return canvas;
}

/* What all charts have. */

static void
open_drawing(const struct canvas *canvas, const char *label)
{
    page_open(canvas->page, "svg");
    page_attribute_format(canvas->page, "viewBox", "0 0 %.0f %.0f", canvas->width,
                          canvas->height);
    page_attribute(canvas->page, "role", "img");
    page_attribute(canvas->page, "aria-label", label);
    page_line(canvas->page);
}

static void
draw_text(const struct canvas *canvas, double x, double y, const char *class,
          const char *text)
{
    page_open(canvas->page, "text");
    page_place(canvas->page, "x", x);
    page_place(canvas->page, "y", y);
    page_attribute(canvas->page, "class", class);
    page_text(canvas->page, text);
    page_close(canvas->page);
}

static void
draw_rect(const struct canvas *canvas, double left, double top, double right,
          double bottom)
{
    page_open(canvas->page, "rect");
    page_place(canvas->page, "x", left);
    page_place(canvas->page, "y", top);
    page_place(canvas->page, "width", fmax(right - left, 0));
    page_place(canvas->page, "height", fmax(bottom - top, 0));
}

static void draw_path(const struct canvas *canvas, const char *class, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

static void
draw_path(const struct canvas *canvas, const char *class, const char *format, ...)
{
    char path[160];
    va_list values;
    va_start(values, format);
    vsnprintf(path, sizeof path, format, values);
    va_end(values);
    page_open(canvas->page, "path");
    page_attribute(canvas->page, "class", class);
    page_attribute(canvas->page, "d", path);
    page_end(canvas->page);
}

static void
draw_values(const struct canvas *canvas)
{
    char label[FIGURE_BYTES];
    for (int i = 0; i < axis_count(&canvas->axis); i++) {
        double y = y_of(canvas, axis_at(&canvas->axis, i));
        draw_path(canvas, i == 0 ? "base" : "grid", "M%.1f %.1fH%.1f", canvas->left, y,
                  canvas->right);
        axis_label(&canvas->axis, i, label);
        draw_text(canvas, canvas->left - 8, y + 4, "tick value", label);
    }
}

// Dates stand under the first tick of a day, where there is room below.
static void
draw_times(const struct canvas *canvas)
{
    char label[FIGURE_BYTES];
    uint64_t before = 0;
    double seconds = (double)(canvas->to_us - canvas->from_us) / 1e6;
    uint64_t step = axis_time_step(seconds, canvas->small ? 4 : 10);
    uint64_t at = axis_time_first(canvas->from_us, step);
    // times may be any number: the last tick is where the next would be beyond them
    for (int i = 0; i < TICKS_MAX && at <= canvas->to_us; i++, at += step * 1000000) {
        double x = x_of(canvas, at);
        draw_path(canvas, "base", "M%.1f %.1fv4", x, canvas->bottom + canvas->strip);
        // one at the very edge would be cut off
        double edge = fmin(x - canvas->left, canvas->right - x) < 14 ? 14 : 0;
        double shift = x - canvas->left < 14 ? edge : -edge;
        axis_time_label(at, step, label);
        draw_text(canvas, x + (canvas->small ? shift : 0),
                  canvas->bottom + canvas->strip + 16, "tick time", label);
        axis_date_label(at, before, label);
        if (!canvas->small && *label != '\0') {
            draw_text(canvas, x, canvas->bottom + canvas->strip + 30, "tick time date",
                      label);
        }
        before = at;
    }
}

static void
draw_gaps(const struct canvas *canvas)
{
    char from[FIGURE_BYTES];
    char to[FIGURE_BYTES];
    const struct html_series *series = canvas->series;
    for (size_t i = 0; i < series->gap_count && i < CHART_GAPS_MAX; i++) {
        const struct html_gap *gap = &series->gaps[i];
        if (gap->to_us < canvas->from_us || gap->from_us > canvas->to_us) {
            continue;
        }
        double left = x_of(canvas, gap->from_us);
        double right = x_of(canvas, gap->to_us);
        draw_rect(canvas, left, canvas->top, fmax(right, left + 1.5), canvas->bottom);
        page_attribute(canvas->page, "class", "gap");
        page_attribute(canvas->page, "fill", "url(#hatch)");
        page_open(canvas->page, "title");
        page_format(canvas->page, "gap %s \xe2\x80\x93 %s: %s",
                    figure_clock(from, gap->from_us), figure_clock(to, gap->to_us),
                    gap->text != NULL ? gap->text : "");
        page_close(canvas->page);
        page_close(canvas->page);
        if (!canvas->small && right - left > 28) {
            draw_text(canvas, (left + right) / 2, canvas->top + 12, "tick time", "gap");
        }
    }
}

static void
draw_marks(const struct canvas *canvas)
{
    char at[FIGURE_BYTES];
    const struct html_series *series = canvas->series;
    for (size_t i = 0; i < series->mark_count && i < CHART_GAPS_MAX; i++) {
        const struct html_mark *mark = &series->marks[i];
        if (mark->wall_us < canvas->from_us || mark->wall_us > canvas->to_us) {
            continue;
        }
        double x = x_of(canvas, mark->wall_us);
        const char letter[] = {mark->letter, '\0'};
        page_open(canvas->page, "g");
        page_attribute(canvas->page, "class", "mark");
        page_open(canvas->page, "title");
        page_format(canvas->page, "mark %s, %s", letter,
                    figure_moment(at, mark->wall_us));
        page_close(canvas->page);
        draw_path(canvas, "stem", "M%.1f %.1fV%.1f", x, canvas->top - 2, canvas->bottom);
        double size = canvas->small ? 6 : 8;
        draw_rect(canvas, x - size, canvas->top - 2 * size - 2, x + size,
                  canvas->top - 2);
        page_attribute(canvas->page, "rx", "3");
        page_end(canvas->page);
        draw_text(canvas, x, canvas->top + 2 - size, "letter", letter);
        page_close(canvas->page);
    }
}

static void
close_drawing(const struct canvas *canvas)
{
    page_close(canvas->page);
    page_line(canvas->page);
}

/* Lines. */

// Whether nothing is known of some time between two points.
static bool
gap_between(const struct html_series *series, uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < series->gap_count; i++) {
        if (series->gaps[i].from_us < to_us && series->gaps[i].to_us > from_us) {
            return true;
        }
    }
    return false;
}

static void
break_at_gaps(const struct html_series *series, struct thin_pick *picks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        picks[i].breaks |= gap_between(series, series->points[picks[i - 1].index].wall_us,
                                       series->points[picks[i].index].wall_us);
    }
}

// On a level stretch only its ends are needed.
static size_t
drop_level(const uint64_t *values, struct thin_pick *picks, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool level = kept > 0 && i + 1 < count && !picks[i].breaks &&
                     !picks[i + 1].breaks &&
                     values[picks[i].index] == values[picks[kept - 1].index] &&
                     values[picks[i].index] == values[picks[i + 1].index];
        if (!level) {
            picks[kept++] = picks[i];
        }
    }
    return kept;
}

static void append(struct buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
append(struct buffer *out, const char *format, ...)
{
    char text[96];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    buffer_append(out, text, (size_t)length);
}

// The line, and with `area` what is under it. A point between two breaks is a dot.
static void
trace(const struct canvas *canvas, const uint64_t *values, const struct thin_pick *picks,
      size_t count, bool area, struct buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t index = picks[i].index;
        double x = x_of(canvas, canvas->series->points[index].wall_us);
        double y = y_of(canvas, (double)values[index]);
        bool starts = i == 0 || picks[i].breaks;
        bool ends = i + 1 == count || picks[i + 1].breaks;
        if (starts && area) {
            append(out, "M%.1f %.1fV%.1f", x, canvas->bottom, y);
        } else {
            append(out, "%c%.1f %.1f", starts ? 'M' : 'L', x, y);
        }
        if (ends && area) {
            append(out, "V%.1fZ", canvas->bottom);
        } else if (starts && ends) {
            append(out, "h0");
        }
    }
    buffer_append(out, "", 1);
}

static void
draw_line(const struct canvas *canvas, const uint64_t *values, size_t most)
{
    struct thin_pick *picks = malloc(most * sizeof *picks);
    if (picks == NULL) {
        page_fail(canvas->page, ENOMEM);
        return;
    }
    size_t count = thin(values, canvas->series->point_count, most, picks);
    break_at_gaps(canvas->series, picks, count);
    count = drop_level(values, picks, count);
    for (int area = canvas->axis.from > 0 ? 0 : 1; area >= 0; area--) {
        struct buffer path = {0};
        trace(canvas, values, picks, count, area == 1, &path);
        if (!buffer_ok(&path)) {
            page_fail(canvas->page, ENOMEM);
        } else if (count > 0) {
            page_open(canvas->page, "path");
            page_attribute(canvas->page, "class", area == 1 ? "area" : "line");
            page_attribute(canvas->page, "d", (const char *)path.bytes);
            page_end(canvas->page);
            page_line(canvas->page);
        }
        buffer_destroy(&path);
    }
    free(picks);
}

static void
draw_moment(const struct canvas *canvas, const struct chart *chart, size_t index,
            double left, double right)
{
    char at[FIGURE_BYTES];
    char value[FIGURE_BYTES];
    uint64_t wall_us = canvas->series->points[index].wall_us;
    double number = figure_number(chart->values[index]);
    (chart->bytes ? figure_bytes : figure_count)(value, number);
    page_open(canvas->page, "g");
    page_attribute(canvas->page, "class", "hit");
    page_open(canvas->page, "title");
    page_format(canvas->page, "%s   %s", figure_clock(at, wall_us), value);
    page_close(canvas->page);
    draw_rect(canvas, left, canvas->top, right, canvas->bottom);
    page_end(canvas->page);
    double x = x_of(canvas, wall_us);
    if (known(number)) {
        draw_path(canvas, "here", "M%.1f %.1fV%.1fM%.1f %.1fh0", x, canvas->top,
                  canvas->bottom, x, y_of(canvas, number));
    }
    page_close(canvas->page);
}

static void
draw_moments(const struct canvas *canvas, const struct chart *chart)
{
    size_t count = canvas->series->point_count;
    size_t moments = chart_moments(count, chart->small ? SMALL_MOMENTS : CHART_MOMENTS);
    double left = canvas->left;
    for (size_t i = 0; i < moments; i++) {
        size_t index = chart_moment(count, moments, i);
        double right = canvas->right;
        if (i + 1 < moments) {
            size_t next = chart_moment(count, moments, i + 1);
            right = (x_of(canvas, canvas->series->points[index].wall_us) +
                     x_of(canvas, canvas->series->points[next].wall_us)) /
                    2;
        }
        draw_moment(canvas, chart, index, left, right);
        left = right;
    }
    page_line(canvas->page);
}

/* Modes. */

static void
draw_mode(const struct canvas *canvas, double left, double right, uint64_t mode)
{
    draw_rect(canvas, left, canvas->bottom + 1, right, canvas->bottom + canvas->strip);
    page_attribute_format(canvas->page, "class", "mode %s", mode_name(mode));
    page_element(canvas->page, "title", NULL, mode_name(mode));
    page_close(canvas->page);
    if (right - left > 56) {
        draw_text(canvas, left + 6, canvas->bottom + canvas->strip - 4, "tick",
                  mode_name(mode));
    }
}

static bool
mode_changes(const struct html_series *series)
{
    for (size_t i = 1; i < series->point_count; i++) {
        if (series->points[i].mode != series->points[0].mode) {
            return true;
        }
    }
    return false;
}

// A program that changes it all the time is shown as far as there is room.
static void
draw_modes(const struct canvas *canvas)
{
    const struct html_series *series = canvas->series;
    size_t begin = 0;
    size_t drawn = 0;
    for (size_t i = 1; i <= series->point_count && drawn < CHART_GAPS_MAX; i++) {
        bool last = i == series->point_count;
        if (!last && series->points[i].mode == series->points[begin].mode) {
            continue;
        }
        uint64_t until = series->points[last ? i - 1 : i].wall_us;
        draw_mode(canvas, x_of(canvas, series->points[begin].wall_us),
                  x_of(canvas, until), series->points[begin].mode);
        begin = i;
        drawn++;
    }
}

static void
find_range(const uint64_t *values, size_t count, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != COUNT_UNKNOWN) {
            *least = fmin(*least, (double)values[i]);
            *most = fmax(*most, (double)values[i]);
        }
    }
    *least = isinf(*least) ? 0 : *least;
}

void
chart_line(struct page *page, const struct html_series *series, const struct chart *chart)
{
    double least;
    double most;
    if (series->point_count == 0) {
        return;
    }
    bool modes = chart->modes && mode_changes(series);
    struct canvas canvas = canvas_of(page, series, chart->small,
                                     (chart->small ? 150 : 230) + 17 * modes, 17 * modes);
    find_range(chart->values, series->point_count, &least, &most);
    canvas.axis = axis_values(least, most, chart->bytes, chart->small ? 3 : 5);
    open_drawing(&canvas, chart->label);
    draw_values(&canvas);
    draw_times(&canvas);
    if (modes) {
        draw_modes(&canvas);
    }
    draw_line(&canvas, chart->values, chart->small ? SMALL_DRAWN_MAX : HTML_DRAWN_MAX);
    draw_moments(&canvas, chart);
    draw_gaps(&canvas);
    draw_marks(&canvas);
    close_drawing(&canvas);
}

/* Collections of garbage. */

uint64_t
chart_gc_stretch(const struct html_series *series)
{
    uint64_t from_us;
    uint64_t to_us;
    if (!chart_span(series, &from_us, &to_us)) {
        return 1;
    }
    return axis_time_step((double)(to_us - from_us) / 1e6, GC_STRETCHES);
}

struct stretches {
    uint64_t first_us;
    uint64_t each_us;
    size_t count;
    uint64_t collections[GC_STRETCHES_MAX];
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
            gap_between(series, before->wall_us, now->wall_us)) {
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
    stretches.count =
        stretches.count < GC_STRETCHES_MAX ? stretches.count : GC_STRETCHES_MAX;
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
        double left = x_of(canvas, from_us);
        double right = x_of(canvas, from_us + stretches->each_us);
        double number = (double)stretches->collections[i];
        if (number <= 0 || right - left <= 0) {
            continue;
        }
        draw_rect(canvas, left + 0.5, y_of(canvas, number), right - 0.5, canvas->bottom);
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
    struct canvas canvas = canvas_of(page, series, false, 150, 0);
    struct stretches stretches = stretches_of(&canvas, seconds);
    double least;
    double most;
    find_range(stretches.collections, stretches.count, &least, &most);
    canvas.axis = axis_values(0, most, false, 3);
    open_drawing(&canvas, label);
    draw_values(&canvas);
    draw_times(&canvas);
    draw_bars(&canvas, &stretches);
    draw_gaps(&canvas);
    draw_marks(&canvas);
    close_drawing(&canvas);
}
