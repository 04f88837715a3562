/*
 * What all charts over time have: where things are, axes, gaps and marks. Places are in
 * the units of the drawing, from the top left; attributes may be added to what
 * canvas_rect() opened, and whoever called it ends it.
 */
#ifndef TUI_EXPORT_HTML_CANVAS_H
#define TUI_EXPORT_HTML_CANVAS_H

#include "tui/export/html.h"
#include "tui/export/html/axis.h"
#include "tui/export/html/page.h"

#define CANVAS_DRAWN_MAX 200u // gaps, marks, modes: as many of each

struct canvas {
    struct page *page;
    const struct html_series *series;
    double width, height;            // of all
    double left, top, right, bottom; // of where values are
    double strip;                    // height of what is between the base and the times
    uint64_t from_us, to_us;
    struct axis axis; // the caller's to set
    bool small;
};

// For a series that has points.
struct canvas canvas_begin(struct page *page, const struct html_series *series,
                           bool small, double height, double strip);

double canvas_x(const struct canvas *canvas, uint64_t wall_us);
double canvas_y(const struct canvas *canvas, double value);

void canvas_open(const struct canvas *canvas, const char *label);
void canvas_close(const struct canvas *canvas);

void canvas_values(const struct canvas *canvas);
void canvas_times(const struct canvas *canvas);
void canvas_gaps(const struct canvas *canvas);
void canvas_marks(const struct canvas *canvas);

void canvas_text(const struct canvas *canvas, double x, double y, const char *class,
                 const char *text);
void canvas_rect(const struct canvas *canvas, double left, double top, double right,
                 double bottom);
void canvas_path(const struct canvas *canvas, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Whether nothing is known of some time between two moments.
bool canvas_gap_between(const struct html_series *series, uint64_t from_us,
                        uint64_t to_us);

// The least and the most of what is known; 0 when nothing is.
void canvas_range(const uint64_t *values, size_t count, double *least, double *most);

#endif
