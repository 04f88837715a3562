#include "tui/view/column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/age.h"
#include "tui/view/format.h"
#include "tui/view/sparkline.h"

#define HISTORY_CELLS 10

static double
difference(uint64_t from, uint64_t to)
{
    return format_number(to) - format_number(from); // NAN when either is
}

static double
live_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return format_number(class->now.live);
}

static double
bytes_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return format_number(class->now.bytes);
}

static double
delta_of(const struct scene *scene, const struct model_class *class)
{
    return scene->by_bytes ? difference(class->baseline_bytes, class->now.bytes)
                           : difference(class->baseline, class->now.live);
}

static double
rate_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return class->live_per_second;
}

static double
allocated_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return class->allocated_per_second;
}

static double
freed_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return class->freed_per_second;
}

static double
age_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return 100 * age_old(class->ages);
}

static double
verdict_of(const struct scene *scene, const struct model_class *class)
{
    (void)scene;
    return class->verdict == VERDICT_NONE ? (double)NAN : (double)class->verdict;
}

static double
share_of(const struct scene *scene, const struct model_class *class)
{
    const struct totals *totals = &model_sample(scene->model)->totals;
    double part = format_number(scene->by_bytes ? class->now.bytes : class->now.live);
    double whole = format_number(scene->by_bytes ? totals->bytes : totals->live);
    return whole > 0 ? 100 * part / whole : (double)NAN;
}

// What a row of a class that is gone, or an unknown value, looks like.
static enum style
style_of(const struct model_class *class, double value, enum style style)
{
    return class->gone || isnan(value) ? STYLE_DIM : style;
}

static void
draw_name(const struct scene *scene, const struct model_class *class, struct grid *grid,
          int row, int at, int width)
{
    char fitted[512];
    char unnamed[40];
    const char *name = class->name;
    if (name[0] == '\0') {
        snprintf(unnamed, sizeof unnamed, "(no name, id %u)", (unsigned)class->id);
        name = unnamed;
    }
    bool pinned = (class->flags & CLASS_PINNED) != 0;
    bool marked = pinned || (class->flags & CLASS_TRACED) != 0;
    text_fit(fitted, sizeof fitted, name, marked ? width - 2 : width, scene->ascii);
    enum style style =
        class->gone || (class->flags & CLASS_INTERNAL) != 0 ? STYLE_DIM : STYLE_NORMAL;
    int used = grid_put(grid, row, at, width, style, fitted);
    if (marked) {
        grid_put(grid, row, at + used + 1, 1, pinned ? STYLE_ACCENT : STYLE_DIM,
                 pinned ? "T" : "t");
    }
}

static void
draw_live(const struct scene *scene, const struct model_class *class, struct grid *grid,
          int row, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = live_of(scene, class);
    (scene->exact ? format_grouped : format_short)(text, scene->glyphs, value);
    grid_put_right(grid, row, at, width, style_of(class, value, STYLE_NORMAL), text);
}

static enum style
style_of_change(double value)
{
    return value > 0 ? STYLE_GREW : value < 0 ? STYLE_SHRANK : STYLE_DIM;
}

static void
draw_delta(const struct scene *scene, const struct model_class *class, struct grid *grid,
           int row, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = delta_of(scene, class);
    if (scene->by_bytes) {
        format_size_change(text, scene->glyphs, value);
    } else {
        (scene->exact ? format_grouped_change : format_short_change)(text, scene->glyphs,
                                                                     value);
    }
    enum style style = style_of(class, value, style_of_change(value));
    grid_put_right(grid, row, at, width - 2, style, text);
    const char *arrow = isnan(value) ? " "
                        : value > 0  ? scene->glyphs->up
                        : value < 0  ? scene->glyphs->down
                                     : scene->glyphs->same;
    grid_put_right(grid, row, at, width, style, arrow);
}

static void
draw_rate(const struct scene *scene, const struct model_class *class, struct grid *grid,
          int row, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = rate_of(scene, class);
    format_rate_change(text, scene->glyphs, value);
    enum style style = fabs(value) < 0.05 ? STYLE_DIM : style_of_change(value);
    grid_put_right(grid, row, at, width, style_of(class, value, style), text);
}

static void
draw_history(const struct scene *scene, const struct model_class *class,
             struct grid *grid, int row, int at, int width)
{
    uint64_t values[MODEL_HISTORY];
    char text[SPARKLINE_BYTES];
    size_t count = model_history(scene->model, class, values, MODEL_HISTORY);
    sparkline(text, HISTORY_CELLS, scene->glyphs, values, count,
              sparkline_span(model_history_seconds(scene->model), HISTORY_CELLS));
    grid_put_right(grid, row, at, width, class->gone ? STYLE_DIM : STYLE_ACCENT, text);
}

static void
draw_bytes(const struct scene *scene, const struct model_class *class, struct grid *grid,
           int row, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = bytes_of(scene, class);
    format_size(text, scene->glyphs, value);
    grid_put_right(grid, row, at, width, style_of(class, value, STYLE_NORMAL), text);
}

static void
draw_per_second(const struct scene *scene, const struct model_class *class, double value,
                struct grid *grid, int row, int at, int width)
{
    char text[FORMAT_BYTES];
    format_rate(text, scene->glyphs, value);
    enum style style = fabs(value) < 0.05 ? STYLE_DIM : STYLE_NORMAL;
    grid_put_right(grid, row, at, width, style_of(class, value, style), text);
}

static void
draw_allocated(const struct scene *scene, const struct model_class *class,
               struct grid *grid, int row, int at, int width)
{
    draw_per_second(scene, class, allocated_of(scene, class), grid, row, at, width);
}

static void
draw_freed(const struct scene *scene, const struct model_class *class, struct grid *grid,
           int row, int at, int width)
{
    draw_per_second(scene, class, freed_of(scene, class), grid, row, at, width);
}

static void
draw_share(const struct scene *scene, const struct model_class *class, struct grid *grid,
           int row, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = share_of(scene, class);
    format_percent(text, scene->glyphs, value);
    enum style style = value < 0.05 ? STYLE_DIM : STYLE_NORMAL;
    grid_put_right(grid, row, at, width, style_of(class, value, style), text);
}

static void
draw_age(const struct scene *scene, const struct model_class *class, struct grid *grid,
         int row, int at, int width)
{
    char text[AGE_BYTES];
    age_histogram(text, scene->glyphs, class->ages);
    grid_put_right(grid, row, at, width, style_of(class, class->ages[0], STYLE_NORMAL),
                   text);
}

// Only an accusation is coloured.
static void
draw_verdict(const struct scene *scene, const struct model_class *class,
             struct grid *grid, int row, int at, int width)
{
    static const enum style styles[] = {
        [VERDICT_NONE] = STYLE_DIM,       [VERDICT_NEW] = STYLE_DIM,
        [VERDICT_STEADY] = STYLE_DIM,     [VERDICT_CHURN] = STYLE_DIM,
        [VERDICT_GROWING] = STYLE_NORMAL, [VERDICT_LEAK] = STYLE_GREW,
    };
    const char *name = verdict_name(class->verdict);
    grid_put_right(grid, row, at, width, class->gone ? STYLE_DIM : styles[class->verdict],
                   name != NULL ? name : scene->glyphs->unknown);
}

// clang-format off
const struct column columns[COLUMN_COUNT] = {
    [COLUMN_NAME] = {"name", "CLASS", ALIGN_LEFT, COLUMN_NAME_CELLS_MIN, 0, NULL, draw_name,
        "What the program calls the class. In parentheses: not a Ruby class, shown on `i`. Dim: gone, kept for a minute. T: pinned, its stacks are taken; t: they are while somebody looks."},
    [COLUMN_LIVE] = {"live", "LIVE", ALIGN_RIGHT, 11, 0, live_of, draw_live,
        "Objects alive now, those older than the probe included. What the garbage collector has not swept yet still counts."},
    [COLUMN_DELTA] = {"delta", "Δ", ALIGN_RIGHT, 13, 0, delta_of, draw_delta,
        "Change of LIVE since the mark named above it, or in the time named above it, since memtop connected. `%` makes it bytes."},
    [COLUMN_RATE] = {"rate", "/s", ALIGN_RIGHT, 10, 1, rate_of, draw_rate,
        "Change of LIVE per second, over the last 5 to 10 seconds."},
    [COLUMN_HISTORY] = {"history", "last 2 min", ALIGN_RIGHT, 2 + HISTORY_CELLS, 2, NULL, draw_history,
        "LIVE over the last two minutes, or since memtop connected. The scale spans a quarter of the highest value, or more where LIVE changed more: a small change looks small."},
    [COLUMN_BYTES] = {"bytes", "BYTES", ALIGN_RIGHT, 9, 3, bytes_of, draw_bytes,
        "Memory of the live objects as the last census found it; `c` takes one now. Unknown before the first."},
    [COLUMN_ALLOCATED] = {"alloc", "ALLOC/s", ALIGN_RIGHT, 10, 4, allocated_of, draw_allocated,
        "Objects allocated per second. Unknown in mode census, which counts no events."},
    [COLUMN_FREED] = {"free", "FREE/s", ALIGN_RIGHT, 10, 5, freed_of, draw_freed,
        "Objects freed per second. They go in bursts, when the garbage collector runs."},
    [COLUMN_AGE] = {"age", "AGE", ALIGN_RIGHT, 6, 6, age_of, draw_age,
        "Collections that the live objects have survived: fewer than 2, than 8, than 32, more. As of the last census. Ordered by the share that survived 8."},
    [COLUMN_VERDICT] = {"verdict", "VERDICT", ALIGN_RIGHT, 10, 2, verdict_of, draw_verdict,
        "What the probe makes of the growth since it started; the reason is below the table. `leak?`: grew through several collections, does not level off, and the survivors are old. `verdict>=4` filters: 5 is leak?, 4 growing, 3 churn, 2 steady, 1 new."},
    [COLUMN_SHARE] = {"share", "SHARE", ALIGN_RIGHT, 9, 7, share_of, draw_share,
        "Part of all live objects, hidden ones included. `%` makes it of bytes."},
};
// clang-format on

// Columns of this rank and more give way to names that need room.
#define RANK_LUXURY 4
#define NAME_CELLS_MORE 10

// "Δ since A", or how long ago "since connecting" began: "Δ in 4m10s".
static void
delta_title(char title[COLUMN_TITLE_BYTES], const struct scene *scene)
{
    const char *change = scene->glyphs->change;
    const char *unit = scene->by_bytes ? "B" : "";
    int mark = model_mark_used(scene->model);
    if (mark != MODEL_MARK_NONE) {
        snprintf(title, COLUMN_TITLE_BYTES, "%s%s since %c", change, unit, 'A' + mark);
        return;
    }
    char duration[FORMAT_BYTES];
    uint64_t from = model_connected(scene->model).monotonic_us;
    uint64_t to = model_time(scene->model).monotonic_us;
    format_duration(duration, to > from ? (to - from) / 1000000 : 0);
    snprintf(title, COLUMN_TITLE_BYTES, "%s%s in %.16s", change, unit, duration);
}

// "last 2 min", or less as long as there is less.
static void
history_title(char title[COLUMN_TITLE_BYTES], const struct scene *scene)
{
    char duration[FORMAT_BYTES];
    size_t seconds = sparkline_span(model_history_seconds(scene->model), HISTORY_CELLS);
    if (seconds == MODEL_HISTORY) {
        snprintf(title, COLUMN_TITLE_BYTES, "%s", columns[COLUMN_HISTORY].title);
        return;
    }
    format_duration(duration, seconds);
    snprintf(title, COLUMN_TITLE_BYTES, "last %.16s", duration);
}

void
column_title(char title[COLUMN_TITLE_BYTES], enum column_id id, const struct scene *scene)
{
    if (id == COLUMN_DELTA) {
        delta_title(title, scene);
    } else if (id == COLUMN_HISTORY) {
        history_title(title, scene);
    } else if (id == COLUMN_SHARE && scene->by_bytes) {
        snprintf(title, COLUMN_TITLE_BYTES, "SHARE B");
    } else {
        snprintf(title, COLUMN_TITLE_BYTES, "%s", columns[id].title);
    }
}

enum column_id
column_find(const char *word, size_t length)
{
    int id = 0;
    while (id < COLUMN_COUNT && (strlen(columns[id].word) != length ||
                                 strncmp(columns[id].word, word, length) != 0)) {
        id++;
    }
    return (enum column_id)id;
}

enum column_id
column_sortable(int n)
{
    int id = 0;
    for (; id < COLUMN_COUNT; id++) {
        if ((columns[id].value != NULL || id == COLUMN_NAME) && n-- == 0) {
            break;
        }
    }
    return (enum column_id)id;
}

struct column_choice
column_all(void)
{
    struct column_choice choice = {.count = COLUMN_COUNT};
    for (int id = 0; id < COLUMN_COUNT; id++) {
        choice.ids[id] = (enum column_id)id;
    }
    return choice;
}

static void
drop(bool kept[COLUMN_COUNT], enum column_id id, int *used)
{
    *used -= kept[id] ? columns[id].width : 0;
    kept[id] = false;
}

int
column_layout(const struct column_choice *choice, int width, enum column_id sorted,
              enum column_id shown[COLUMN_COUNT], int widths[COLUMN_COUNT])
{
    bool kept[COLUMN_COUNT] = {false};
    int used = 0;
    for (int i = 0; i < choice->count; i++) {
        kept[choice->ids[i]] = true;
        used += columns[choice->ids[i]].width;
    }
    for (int rank = COLUMN_COUNT; rank > 0; rank--) {
        if (used + (rank >= RANK_LUXURY ? NAME_CELLS_MORE : 0) <= width) {
            break;
        }
        for (int id = 0; id < COLUMN_COUNT; id++) {
            if (columns[id].rank == rank && (enum column_id)id != sorted) {
                drop(kept, (enum column_id)id, &used);
            }
        }
    }
    // the column that orders the rows stays, unless not even that fits
    if (used > width && columns[sorted].rank > 0) {
        drop(kept, sorted, &used);
    }
    int count = 0;
    for (int i = 0; i < choice->count; i++) {
        enum column_id id = choice->ids[i];
        if (kept[id]) {
            widths[count] = columns[id].width + (id == COLUMN_NAME ? width - used : 0);
            shown[count++] = id;
        }
    }
    return count;
}
