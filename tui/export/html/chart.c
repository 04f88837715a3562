#include "tui/export/html/chart.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "protocol/buffer.h"
#include "tui/export/html/canvas.h"
#include "tui/export/html/thin.h"

#define SMALL_DRAWN_MAX 400u
#define SMALL_MOMENTS 32u

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

/* Lines. */

static void
break_at_gaps(const struct html_series *series, struct thin_pick *picks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        picks[i].breaks |=
            canvas_gap_between(series, series->points[picks[i - 1].index].wall_us,
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
        double x = canvas_x(canvas, canvas->series->points[index].wall_us);
        double y = canvas_y(canvas, (double)values[index]);
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
    canvas_rect(canvas, left, canvas->top, right, canvas->bottom);
    page_end(canvas->page);
    double x = canvas_x(canvas, wall_us);
    if (!isnan(number)) {
        canvas_path(canvas, "here", "M%.1f %.1fV%.1fM%.1f %.1fh0", x, canvas->top,
                    canvas->bottom, x, canvas_y(canvas, number));
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
            right = (canvas_x(canvas, canvas->series->points[index].wall_us) +
                     canvas_x(canvas, canvas->series->points[next].wall_us)) /
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
    canvas_rect(canvas, left, canvas->bottom + 1, right, canvas->bottom + canvas->strip);
    page_attribute_format(canvas->page, "class", "mode %s", mode_name(mode));
    page_element(canvas->page, "title", NULL, mode_name(mode));
    page_close(canvas->page);
    if (right - left > 56) {
        canvas_text(canvas, left + 6, canvas->bottom + canvas->strip - 4, "tick",
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
    for (size_t i = 1; i <= series->point_count && drawn < CANVAS_DRAWN_MAX; i++) {
        bool last = i == series->point_count;
        if (!last && series->points[i].mode == series->points[begin].mode) {
            continue;
        }
        uint64_t until = series->points[last ? i - 1 : i].wall_us;
        draw_mode(canvas, canvas_x(canvas, series->points[begin].wall_us),
                  canvas_x(canvas, until), series->points[begin].mode);
        begin = i;
        drawn++;
    }
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
    struct canvas canvas = canvas_begin(
        page, series, chart->small, (chart->small ? 150 : 230) + 17 * modes, 17 * modes);
    canvas_range(chart->values, series->point_count, &least, &most);
    canvas.axis = axis_values(least, most, chart->bytes, chart->small ? 3 : 5);
    canvas_open(&canvas, chart->label);
    canvas_values(&canvas);
    canvas_times(&canvas);
    if (modes) {
        draw_modes(&canvas);
    }
    draw_line(&canvas, chart->values, chart->small ? SMALL_DRAWN_MAX : HTML_DRAWN_MAX);
    draw_moments(&canvas, chart);
    canvas_gaps(&canvas);
    canvas_marks(&canvas);
    canvas_close(&canvas);
}
