/*
 * The timeline under the header: how a number went, and what happened when.
 *
 *  ▁▁▂▂▃▃▄▄▄▅▅▅▆▆▆▇▇▇████ A·····◆···│·B···gap·······● 12:41
 *
 * In one row the number is on the left and what happened on the right, both over the
 * same time; in two rows they are one above the other, cell for cell; where there is
 * little room, what happened is drawn over the number. Letters are marks, a bar is a
 * change of mode, ◆ is the moment that is shown, ● the end of what goes on.
 *
 * Everything comes with the call: it keeps nothing, reads no clock and allocates
 * nothing. Times are wall times, in microseconds.
 */
#ifndef TUI_VIEW_STRIP_H
#define TUI_VIEW_STRIP_H

#include "tui/view/view.h"

enum strip_series {
    STRIP_LIVE,
    STRIP_RSS,
    STRIP_GCS, // collections in a cell's time
    STRIP_SERIES,
};

// The process at a moment. Any but the time may be COUNT_UNKNOWN.
struct strip_point {
    uint64_t wall_us;
    uint64_t live;
    uint64_t rss_bytes;
    uint64_t gc_count;
    uint64_t mode; // enum probe_mode
};

struct strip_mark {
    uint64_t wall_us;
    char letter;
};

// A time of which nothing is known.
struct strip_gap {
    uint64_t from_us;
    uint64_t to_us;
    const char *reason; // "program ended"; "" for none. // borrowed
};

struct strip_data {
    uint64_t from_us;
    uint64_t to_us;
    uint64_t cursor_us;               // the moment that is shown
    bool growing;                     // there will be more after the end
    bool live;                        // and what is shown follows it
    enum strip_series series;         // what the number is
    const struct strip_point *points; // borrowed; in order of time
    size_t point_count;
    const struct strip_mark *marks; // borrowed; in any order
    size_t mark_count;
    const struct strip_gap *gaps; // borrowed; in order of time
    size_t gap_count;
};

// "live", "RSS", "GCs"
const char *strip_series_name(enum strip_series series);

// Rows the strip takes on a screen of this size: 0, 1 or 2.
int strip_rows(int rows, int columns);

// Draw it into an area of one or two rows.
void strip_draw(const struct strip_data *data, const struct glyphs *glyphs,
                struct grid *grid, struct area area);

// Which time a place on the screen is. A mark's letter is the mark's time; what is
// beside the cells is the nearest one's. False when the place is not in the area.
bool strip_time_at(const struct strip_data *data, struct area area, int row, int column,
                   uint64_t *wall_us);

// The column of the screen that shows what happened at a time.
int strip_column_of(const struct strip_data *data, struct area area, uint64_t wall_us);

#endif
