#include "tui/export/html/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "tui/export/html/chart.h"

#define TICKS_MAX 16

double
canvas_x(const struct canvas *canvas, uint64_t wall_us)
{
    double span = (double)(canvas->to_us - canvas->from_us);
    double at = ((double)wall_us - (double)canvas->from_us) / span;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    return canvas->left + at * (canvas->right - canvas->left);
}

double
canvas_y(const struct canvas *canvas, double value)
{
    const struct axis *axis = &canvas->axis;
    double at = (value - axis->from) / (axis->to - axis->from);
    return canvas->bottom - at * (canvas->bottom - canvas->top);
}

struct canvas
canvas_begin(struct page *page, const struct html_series *series, bool small,
             double height, double strip)
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

void
canvas_open(const struct canvas *canvas, const char *label)
{
    page_open(canvas->page, "svg");
    page_attribute_format(canvas->page, "viewBox", "0 0 %.0f %.0f", canvas->width,
                          canvas->height);
    page_attribute(canvas->page, "role", "img");
    page_attribute(canvas->page, "aria-label", label);
    page_line(canvas->page);
}

void
canvas_text(const struct canvas *canvas, double x, double y, const char *class,
            const char *text)
{
    page_open(canvas->page, "text");
    page_place(canvas->page, "x", x);
    page_place(canvas->page, "y", y);
    page_attribute(canvas->page, "class", class);
    page_text(canvas->page, text);
    page_close(canvas->page);
}

void
canvas_rect(const struct canvas *canvas, double left, double top, double right,
            double bottom)
{
    page_open(canvas->page, "rect");
    page_place(canvas->page, "x", left);
    page_place(canvas->page, "y", top);
    page_place(canvas->page, "width", fmax(right - left, 0));
    page_place(canvas->page, "height", fmax(bottom - top, 0));
}

void
canvas_path(const struct canvas *canvas, const char *class, const char *format, ...)
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

void
canvas_values(const struct canvas *canvas)
{
    char label[FIGURE_BYTES];
    for (int i = 0; i < axis_count(&canvas->axis); i++) {
        double y = canvas_y(canvas, axis_at(&canvas->axis, i));
        canvas_path(canvas, i == 0 ? "base" : "grid", "M%.1f %.1fH%.1f", canvas->left, y,
                    canvas->right);
        axis_label(&canvas->axis, i, label);
        canvas_text(canvas, canvas->left - 8, y + 4, "tick value", label);
    }
}

// Dates stand under the first tick of a day, where there is room below.
void
canvas_times(const struct canvas *canvas)
{
    char label[FIGURE_BYTES];
    uint64_t before = 0;
    double seconds = (double)(canvas->to_us - canvas->from_us) / 1e6;
    uint64_t step = axis_time_step(seconds, canvas->small ? 4 : 10);
    uint64_t at = axis_time_first(canvas->from_us, step);
    // times may be any number: the last tick is where the next would be beyond them
    for (int i = 0; i < TICKS_MAX && at <= canvas->to_us; i++, at += step * 1000000) {
        double x = canvas_x(canvas, at);
        canvas_path(canvas, "base", "M%.1f %.1fv4", x, canvas->bottom + canvas->strip);
        // one at the very edge would be cut off
        double edge = fmin(x - canvas->left, canvas->right - x) < 14 ? 14 : 0;
        double shift = x - canvas->left < 14 ? edge : -edge;
        axis_time_label(at, step, label);
        canvas_text(canvas, x + (canvas->small ? shift : 0),
                    canvas->bottom + canvas->strip + 16, "tick time", label);
        axis_date_label(at, before, label);
        if (!canvas->small && *label != '\0') {
            canvas_text(canvas, x, canvas->bottom + canvas->strip + 30, "tick time date",
                        label);
        }
        before = at;
    }
}

void
canvas_gaps(const struct canvas *canvas)
{
    char from[FIGURE_BYTES];
    char to[FIGURE_BYTES];
    const struct html_series *series = canvas->series;
    for (size_t i = 0; i < series->gap_count && i < CANVAS_DRAWN_MAX; i++) {
        const struct html_gap *gap = &series->gaps[i];
        if (gap->to_us < canvas->from_us || gap->from_us > canvas->to_us) {
            continue;
        }
        double left = canvas_x(canvas, gap->from_us);
        double right = canvas_x(canvas, gap->to_us);
        canvas_rect(canvas, left, canvas->top, fmax(right, left + 1.5), canvas->bottom);
        page_attribute(canvas->page, "class", "gap");
        page_attribute(canvas->page, "fill", "url(#hatch)");
        page_open(canvas->page, "title");
        page_format(canvas->page, "gap %s \xe2\x80\x93 %s: %s",
                    figure_clock(from, gap->from_us), figure_clock(to, gap->to_us),
                    gap->text != NULL ? gap->text : "");
        page_close(canvas->page);
        page_close(canvas->page);
        if (!canvas->small && right - left > 28) {
            canvas_text(canvas, (left + right) / 2, canvas->top + 12, "tick time", "gap");
        }
    }
}

void
canvas_marks(const struct canvas *canvas)
{
    char at[FIGURE_BYTES];
    const struct html_series *series = canvas->series;
    for (size_t i = 0; i < series->mark_count && i < CANVAS_DRAWN_MAX; i++) {
        const struct html_mark *mark = &series->marks[i];
        if (mark->wall_us < canvas->from_us || mark->wall_us > canvas->to_us) {
            continue;
        }
        double x = canvas_x(canvas, mark->wall_us);
        const char letter[] = {mark->letter, '\0'};
        page_open(canvas->page, "g");
        page_attribute(canvas->page, "class", "mark");
        page_open(canvas->page, "title");
        page_format(canvas->page, "mark %s, %s", letter,
                    figure_moment(at, mark->wall_us));
        page_close(canvas->page);
        canvas_path(canvas, "stem", "M%.1f %.1fV%.1f", x, canvas->top - 2,
                    canvas->bottom);
        double size = canvas->small ? 6 : 8;
        canvas_rect(canvas, x - size, canvas->top - 2 * size - 2, x + size,
                    canvas->top - 2);
        page_attribute(canvas->page, "rx", "3");
        page_end(canvas->page);
        canvas_text(canvas, x, canvas->top + 2 - size, "letter", letter);
        page_close(canvas->page);
    }
}

void
canvas_close(const struct canvas *canvas)
{
    page_close(canvas->page);
    page_line(canvas->page);
}

bool
canvas_gap_between(const struct html_series *series, uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < series->gap_count; i++) {
        if (series->gaps[i].from_us < to_us && series->gaps[i].to_us > from_us) {
            return true;
        }
    }
    return false;
}

void
canvas_range(const uint64_t *values, size_t count, double *least, double *most)
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
