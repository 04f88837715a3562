#include "tui/view/strip.h"

#include <stdio.h>
#include <string.h>

#include "protocol/message.h"
#include "tui/text/text.h"
#include "tui/view/clock.h"
#include "tui/view/sparkline.h"
#include "tui/view/strip_levels.h"

// Screens smaller than these show the table instead, or as well the number above.
#define ROWS_FOR_ONE 14
#define ROWS_FOR_TWO 40
#define COLUMNS_FOR_ONE 20

#define COLUMNS_FOR_TIME 30 // at the right end
#define COLUMNS_FOR_DATE 80
#define CELLS_FOR_BOTH 60 // the number and what happened, side by side
#define GRAPH_PERCENT 59  // of those cells, for the number

#define DAY_US (UINT64_C(86400) * 1000000)
#define MARKS_MAX MODEL_MARKS_MAX
#define GAP_WORD_BYTES 80

// A run of cells over the whole span of time.
struct pane {
    int row;
    int column;
    int cells;
};

struct layout {
    struct pane graph; // no cells when the number is drawn under the track
    struct pane track;
    char end[CLOCK_BYTES]; // "" when there is no room
    int end_column;
};

// What a cell of a pane shows.
struct sign {
    char text[TEXT_CHARACTER_BYTES];
    uint8_t style;      // enum style
    uint8_t attributes; // enum attribute, or-ed
    bool taken;         // something happened here
};

struct signs {
    int cells;
    struct sign list[STRIP_CELLS_MAX];
};

const char *
strip_series_name(enum strip_series series)
{
    static const char *const names[STRIP_SERIES] = {"live", "RSS", "GCs"};
    return names[series];
}

int
strip_rows(int rows, int columns)
{
    if (rows < ROWS_FOR_ONE || columns < COLUMNS_FOR_ONE) {
        return 0;
    }
    return rows < ROWS_FOR_TWO ? 1 : 2;
}

static int
limit_cells(int cells)
{
    return cells < 1 ? 1 : cells > STRIP_CELLS_MAX ? STRIP_CELLS_MAX : cells;
}

static struct layout
lay_out(const struct strip_data *data, struct area area)
{
    struct layout layout = {.end = ""};
    bool days = data->to_us > data->from_us && data->to_us - data->from_us >= DAY_US;
    int right = area.column + area.columns - 1; // the last column stays empty
    int left = area.column + 1;
    if (area.columns >= COLUMNS_FOR_TIME) {
        bool date = days && area.columns >= COLUMNS_FOR_DATE;
        (date ? clock_day : clock_minute)(layout.end, data->to_us);
        right -= (int)strlen(layout.end) + 1;
    }
    int cells = limit_cells(right - left);
    layout.track = (struct pane){area.row + (area.rows > 1 ? 1 : 0), left, cells};
    if (area.rows > 1) {
        layout.graph = (struct pane){area.row, left, cells};
    } else if (cells >= CELLS_FOR_BOTH) {
        int graph = cells * GRAPH_PERCENT / 100;
        layout.graph = (struct pane){area.row, left, graph};
        layout.track = (struct pane){area.row, left + graph + 1, cells - graph - 1};
    }
    layout.end_column = layout.track.column + layout.track.cells + 1;
    return layout;
}

// The columns of the marks, in the order of their times, by index into data->marks:
// each in its own cell, a cell beside its own when that is taken.
struct placed {
    size_t mark[MARKS_MAX];
    int cell[MARKS_MAX];
    int count;
};

static void
sort_marks(const struct strip_data *data, struct placed *placed)
{
    placed->count = 0;
    for (size_t i = 0; i < data->mark_count && placed->count < MARKS_MAX; i++) {
        uint64_t wall_us = data->marks[i].wall_us;
        if (wall_us < data->from_us || wall_us > data->to_us) {
            continue;
        }
        int at = placed->count++;
        while (at > 0 && data->marks[placed->mark[at - 1]].wall_us > wall_us) {
            placed->mark[at] = placed->mark[at - 1];
            at--;
        }
        placed->mark[at] = i;
    }
}

static void
place_marks(const struct strip_data *data, int cells, struct placed *placed)
{
    sort_marks(data, placed);
    int next = 0;
    for (int i = 0; i < placed->count; i++) {
        int own = strip_levels_cell(data, cells, data->marks[placed->mark[i]].wall_us);
        placed->cell[i] = own > next ? own : next;
        next = placed->cell[i] + 1;
    }
    int last = data->growing ? cells - 2 : cells - 1; // the end has its own sign
    for (int i = placed->count - 1; i >= 0 && placed->cell[i] > last; i--) {
        placed->cell[i] = last--;
    }
}

static void
set_sign(struct signs *signs, int cell, const char *text, enum style style,
         unsigned attributes)
{
    if (cell < 0 || cell >= signs->cells) {
        return;
    }
    struct sign *sign = &signs->list[cell];
    snprintf(sign->text, sizeof sign->text, "%s", text);
    sign->style = (uint8_t)style;
    sign->attributes = (uint8_t)attributes;
    sign->taken = true;
}

// The number in every cell.
static void
sign_levels(struct signs *signs, const struct strip_levels *levels,
            const struct glyphs *glyphs)
{
    double low = 0;
    double high = 0;
    bool any = false;
    for (int i = 0; i < levels->cells; i++) {
        if (levels->list[i].known) {
            double value = levels->list[i].value;
            low = !any || value < low ? value : low;
            high = !any || value > high ? value : high;
            any = true;
        }
    }
    struct sparkline_scale scale = sparkline_scale(low, high);
    for (int i = 0; i < levels->cells; i++) {
        const struct strip_level *level = &levels->list[i];
        set_sign(signs, i,
                 level->known ? sparkline_level(glyphs, scale, level->value) : " ",
                 STYLE_ACCENT, 0);
        signs->list[i].taken = false;
    }
}

// Dots in every cell.
static void
sign_track(struct signs *signs, const struct glyphs *glyphs)
{
    for (int i = 0; i < signs->cells; i++) {
        set_sign(signs, i, glyphs->track, STYLE_DIM, 0);
        signs->list[i].taken = false;
    }
}

static void
sign_modes(struct signs *signs, const struct strip_data *data,
           const struct glyphs *glyphs)
{
    uint64_t mode = COUNT_UNKNOWN;
    for (size_t i = 0; i < data->point_count; i++) {
        const struct strip_point *point = &data->points[i];
        if (mode != COUNT_UNKNOWN && point->mode != COUNT_UNKNOWN &&
            point->mode != mode && point->wall_us >= data->from_us &&
            point->wall_us <= data->to_us) {
            set_sign(signs, strip_levels_cell(data, signs->cells, point->wall_us),
                     glyphs->along, STYLE_NORMAL, 0);
        }
        mode = point->mode != COUNT_UNKNOWN ? point->mode : mode;
    }
}

static void
sign_marks(struct signs *signs, const struct strip_data *data)
{
    struct placed placed;
    place_marks(data, signs->cells, &placed);
    for (int i = 0; i < placed.count; i++) {
        char letter[2] = {data->marks[placed.mark[i]].letter, '\0'};
        set_sign(signs, placed.cell[i], letter, STYLE_NORMAL, ATTRIBUTE_BOLD);
    }
}

static void
sign_cursor(struct signs *signs, const struct strip_data *data,
            const struct glyphs *glyphs)
{
    bool follows = data->live && data->growing;
    if (data->growing) {
        set_sign(signs, signs->cells - 1, glyphs->newest,
                 follows ? STYLE_ACCENT : STYLE_DIM, follows ? ATTRIBUTE_BOLD : 0u);
    }
    if (!follows) {
        set_sign(signs, strip_levels_cell(data, signs->cells, data->cursor_us),
                 glyphs->moment, STYLE_ACCENT, ATTRIBUTE_BOLD);
    }
}

// Cells from `at` on in which nothing happened, at most `count`.
static int
free_run(const struct signs *signs, int at, int count)
{
    int run = 0;
    while (run < count && !signs->list[at + run].taken) {
        run++;
    }
    return run;
}

// Put a word into the middle of a stretch, or beside it where the middle is taken.
static bool
sign_word(struct signs *signs, int from, int cells, const char *word)
{
    int width = (int)strlen(word);
    for (int aside = 0; aside <= cells - width; aside++) {
        // the middle, one to the right of it, one to the left, two to the right …
        int at =
            from + (cells - width) / 2 + (aside % 2 == 1 ? 1 : -1) * ((aside + 1) / 2);
        if (at < from || at + width > from + cells ||
            free_run(signs, at, width) < width) {
            continue;
        }
        for (int i = 0; i < width; i++) {
            char letter[2] = {word[i], '\0'};
            set_sign(signs, at + i, letter, STYLE_WARNING, 0);
        }
        return true;
    }
    return false;
}

static bool
is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            return false;
        }
    }
    return true;
}

// A stretch of cells without a number becomes dots, with as much of "gap: program
// ended" as there is room for.
static void
sign_stretch(struct signs *signs, int from, int cells, const char *reason,
             const struct glyphs *glyphs)
{
    char word[GAP_WORD_BYTES];
    for (int i = from; i < from + cells; i++) {
        if (!signs->list[i].taken) {
            set_sign(signs, i, glyphs->track, STYLE_WARNING, 0);
            signs->list[i].taken = false;
        }
    }
    int length = snprintf(word, sizeof word, "gap: %s", reason);
    if (reason[0] != '\0' && is_plain(reason) && length < (int)sizeof word &&
        length + 2 <= cells && sign_word(signs, from, cells, word)) {
        return;
    }
    if (sign_word(signs, from, cells, "gap")) {
        return;
    }
    for (int i = from; i < from + cells; i++) {
        if (!signs->list[i].taken) {
            set_sign(signs, i, glyphs->hole, STYLE_WARNING, 0);
        }
    }
}

static void
sign_gaps(struct signs *signs, const struct strip_data *data,
          const struct strip_levels *levels, const struct glyphs *glyphs)
{
    for (size_t i = 0; i < data->gap_count; i++) {
        const struct strip_gap *gap = &data->gaps[i];
        if (gap->to_us < data->from_us || gap->from_us > data->to_us) {
            continue;
        }
        int from = strip_levels_cell(data, signs->cells, gap->from_us);
        int last = strip_levels_cell(data, signs->cells, gap->to_us);
        int short_gap = from; // within cells that have a number, it still shows
        while (from <= last && !levels->list[from].gap) {
            from++;
        }
        while (last >= from && !levels->list[last].gap) {
            last--;
        }
        if (last >= from) {
            sign_stretch(signs, from, last - from + 1, gap->reason, glyphs);
        } else if (!signs->list[short_gap].taken) {
            set_sign(signs, short_gap, glyphs->hole, STYLE_WARNING, 0);
        }
    }
}

static void
put(const struct signs *signs, struct pane pane, struct grid *grid)
{
    for (int i = 0; i < signs->cells; i++) {
        const struct sign *sign = &signs->list[i];
        grid_put(grid, pane.row, pane.column + i, 1, sign->style, sign->text);
        grid_mark(grid, pane.row, pane.column + i, 1, sign->attributes);
    }
}

// The number alone, the moment that is shown marked on it.
static void
draw_graph(const struct strip_data *data, const struct glyphs *glyphs, struct grid *grid,
           struct pane pane)
{
    struct signs signs = {.cells = pane.cells};
    struct strip_levels levels;
    strip_levels_make(&levels, data, pane.cells);
    sign_levels(&signs, &levels, glyphs);
    for (int i = 0; i < levels.cells; i++) {
        if (levels.list[i].gap) { // dots; in ASCII a dot is a low level
            set_sign(&signs, i, glyphs->track[0] == '.' ? " " : glyphs->track,
                     STYLE_WARNING, 0);
        }
    }
    if (!(data->live && data->growing)) {
        int cell = strip_levels_cell(data, pane.cells, data->cursor_us);
        signs.list[cell].attributes |= ATTRIBUTE_SELECTED;
    }
    put(&signs, pane, grid);
}

static void
draw_track(const struct strip_data *data, const struct glyphs *glyphs, struct grid *grid,
           struct pane pane, bool over_levels)
{
    struct signs signs = {.cells = pane.cells};
    struct strip_levels levels;
    strip_levels_make(&levels, data, pane.cells);
    if (over_levels) {
        sign_levels(&signs, &levels, glyphs);
    } else {
        sign_track(&signs, glyphs);
    }
    sign_modes(&signs, data, glyphs);
    sign_marks(&signs, data);
    sign_cursor(&signs, data, glyphs);
    sign_gaps(&signs, data, &levels, glyphs);
    put(&signs, pane, grid);
}

void
strip_draw(const struct strip_data *data, const struct glyphs *glyphs, struct grid *grid,
           struct area area)
{
    struct layout layout = lay_out(data, area);
    int room = area.column + area.columns - layout.end_column;
    if (layout.graph.cells > 0) {
        draw_graph(data, glyphs, grid, layout.graph);
    }
    if (area.rows > 1) {
        grid_put(grid, area.row, layout.end_column, room, STYLE_DIM,
                 strip_series_name(data->series));
    }
    draw_track(data, glyphs, grid, layout.track, layout.graph.cells == 0);
    grid_put(grid, layout.track.row, layout.end_column, room, STYLE_NORMAL, layout.end);
}

// The middle of a cell; of the first and the last one the ends.
static uint64_t
time_of(const struct strip_data *data, int cells, int cell)
{
    if (cell <= 0 || data->from_us >= data->to_us) {
        return cell <= 0 && cells > 1 ? data->from_us : data->to_us;
    }
    if (cell >= cells - 1) {
        return data->to_us;
    }
    double share = ((double)cell + 0.5) / (double)cells;
    return data->from_us + (uint64_t)((double)(data->to_us - data->from_us) * share);
}

bool
strip_time_at(const struct strip_data *data, struct area area, int row, int column,
              uint64_t *wall_us)
{
    if (row < area.row || row >= area.row + area.rows || column < area.column ||
        column >= area.column + area.columns) {
        return false;
    }
    struct layout layout = lay_out(data, area);
    bool graph = layout.graph.cells > 0 &&
                 (area.rows > 1 ? row == layout.graph.row : column < layout.track.column);
    struct pane pane = graph ? layout.graph : layout.track;
    int cell = column - pane.column;
    cell = cell < 0 ? 0 : cell >= pane.cells ? pane.cells - 1 : cell;
    *wall_us = time_of(data, pane.cells, cell);
    struct placed placed;
    place_marks(data, pane.cells, &placed);
    for (int i = 0; i < placed.count && !graph; i++) {
        if (placed.cell[i] == cell) {
            *wall_us = data->marks[placed.mark[i]].wall_us;
        }
    }
    return true;
}

int
strip_column_of(const struct strip_data *data, struct area area, uint64_t wall_us)
{
    struct pane pane = lay_out(data, area).track;
    return pane.column + strip_levels_cell(data, pane.cells, wall_us);
}
