#include "tui/view/tree_column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/age.h"
#include "tui/view/format.h"

// A figure that rests on few samples says so by being dim.
static enum style
certain(const struct paths_row *row, double value, enum style style)
{
    bool few = row->total.error > 0 && row->total.samples < TREE_FEW_SAMPLES;
    return few || isnan(value) ? STYLE_DIM : style;
}

static enum style
style_of_change(double value)
{
    return value > 0 ? STYLE_GREW : value < 0 ? STYLE_SHRANK : STYLE_DIM;
}

// "12 490", or "12 490±310" where stacks were sampled.
static void
draw_live(const struct scene *scene, const struct paths_row *row, struct grid *grid,
          int line, int at, int width)
{
    char live[FORMAT_BYTES];
    char error[FORMAT_BYTES];
    char text[FORMAT_BYTES * 2 + 4];
    bool sampled = row->total.error > 0;
    (scene->exact && !sampled ? format_grouped : format_short)(live, scene->glyphs,
                                                               round(row->total.live));
    format_short(error, scene->glyphs, ceil(row->total.error));
    snprintf(text, sizeof text, sampled ? "%s%s%s" : "%s", live, scene->glyphs->around,
             error);
    grid_put_right(grid, line, at, width, certain(row, row->total.live, STYLE_NORMAL),
                   text);
}

static void
draw_share(const struct scene *scene, const struct paths_row *row, double share,
           struct grid *grid, int line, int at, int width)
{
    char text[FORMAT_BYTES];
    format_percent(text, scene->glyphs, 100 * share);
    grid_put_right(grid, line, at, width, certain(row, share, STYLE_NORMAL), text);
}

static void
draw_of_class(const struct scene *scene, const struct paths_row *row, struct grid *grid,
              int line, int at, int width)
{
    draw_share(scene, row, row->of_class, grid, line, at, width);
}

static void
draw_of_parent(const struct scene *scene, const struct paths_row *row, struct grid *grid,
               int line, int at, int width)
{
    draw_share(scene, row, row->of_parent, grid, line, at, width);
}

static void
draw_delta(const struct scene *scene, const struct paths_row *row, struct grid *grid,
           int line, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = round(scene->by_bytes ? row->delta_bytes : row->delta);
    if (scene->by_bytes) {
        format_size_change(text, scene->glyphs, value);
    } else {
        (scene->exact ? format_grouped_change : format_short_change)(text, scene->glyphs,
                                                                     value);
    }
    enum style style = certain(row, value, style_of_change(value));
    const char *arrow = isnan(value) ? " "
                        : value > 0  ? scene->glyphs->up
                        : value < 0  ? scene->glyphs->down
                                     : scene->glyphs->same;
    grid_put_right(grid, line, at, width - 2, style, text);
    grid_put_right(grid, line, at, width, style, arrow);
}

static void
draw_rate(const struct scene *scene, const struct paths_row *row, struct grid *grid,
          int line, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = row->live_per_second;
    format_rate_change(text, scene->glyphs, value);
    enum style style = fabs(value) < 0.05 ? STYLE_DIM : style_of_change(value);
    grid_put_right(grid, line, at, width, certain(row, value, style), text);
}

static void
draw_allocated(const struct scene *scene, const struct paths_row *row, struct grid *grid,
               int line, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = row->allocated_per_second;
    format_rate(text, scene->glyphs, value);
    enum style style = fabs(value) < 0.05 ? STYLE_DIM : STYLE_NORMAL;
    grid_put_right(grid, line, at, width, certain(row, value, style), text);
}

static void
draw_bytes(const struct scene *scene, const struct paths_row *row, struct grid *grid,
           int line, int at, int width)
{
    char text[FORMAT_BYTES];
    format_size(text, scene->glyphs, row->total.bytes);
    grid_put_right(grid, line, at, width, certain(row, row->total.bytes, STYLE_NORMAL),
                   text);
}

static void
draw_age(const struct scene *scene, const struct paths_row *row, struct grid *grid,
         int line, int at, int width)
{
    char text[AGE_BYTES];
    age_histogram(text, scene->glyphs, row->total.ages);
    grid_put_right(grid, line, at, width, certain(row, row->total.live, STYLE_NORMAL),
                   text);
}

static void
draw_bar(const struct scene *scene, const struct paths_row *row, struct grid *grid,
         int line, int at, int width)
{
    const char *full = scene->glyphs->levels[GLYPHS_LEVELS - 1];
    int cells = (int)(row->of_class * (width - 1) + 0.5);
    for (int i = 0; i < cells && i < width - 1; i++) {
        grid_put(grid, line, at + 1 + i, 1, STYLE_ACCENT, full);
    }
}

// clang-format off
const struct tree_column tree_columns[TREE_COLUMN_COUNT] = {
    [TREE_COLUMN_LIVE] = {"live", "LIVE", PATHS_BY_LIVE, 12, 0, draw_live,
        "Objects alive now that were allocated on this path. After ± comes the half-width of the 95 % interval, where stacks are sampled; dim: it rests on fewer than 10 of them."},
    [TREE_COLUMN_OF_CLASS] = {NULL, "OF CLASS", PATHS_ORDERS, 9, 2, draw_of_class,
        "Part of all live objects of the class."},
    [TREE_COLUMN_OF_PARENT] = {NULL, "OF PARENT", PATHS_ORDERS, 10, 7, draw_of_parent,
        "Part of the row it hangs under."},
    [TREE_COLUMN_DELTA] = {"delta", "Δ", PATHS_BY_DELTA, 13, 1, draw_delta,
        "Change of LIVE since the mark, or since the tree was opened when the mark is older. `%` makes it bytes."},
    [TREE_COLUMN_RATE] = {"rate", "/s", PATHS_BY_RATE, 9, 4, draw_rate,
        "Change of LIVE per second, over the last 5 to 10 seconds."},
    [TREE_COLUMN_ALLOCATED] = {"alloc", "ALLOC/s", PATHS_BY_ALLOCATED, 9, 6, draw_allocated,
        "Objects allocated per second."},
    [TREE_COLUMN_BYTES] = {"bytes", "BYTES", PATHS_BY_BYTES, 8, 3, draw_bytes,
        "Memory of those objects, as the last census found it."},
    [TREE_COLUMN_AGE] = {"age", "AGE", PATHS_BY_AGE, 6, 5, draw_age,
        "Collections that the objects have survived: fewer than 2, than 8, than 32, more. As of the last census."},
    [TREE_COLUMN_BAR] = {NULL, "", PATHS_ORDERS, 11, 8, draw_bar,
        "The part of the class as a bar."},
};
// clang-format on

void
tree_column_title(char title[TREE_TITLE_BYTES], enum tree_column_id id,
                  const struct scene *scene, const struct tree_model *tree)
{
    if (id != TREE_COLUMN_DELTA) {
        snprintf(title, TREE_TITLE_BYTES, "%s", tree_columns[id].title);
        return;
    }
    const char *unit = scene->by_bytes ? "B" : "";
    int mark = model_mark_used(scene->model);
    if (tree != NULL && mark != MODEL_MARK_NONE && tree_since_mark(tree)) {
        snprintf(title, TREE_TITLE_BYTES, "%s%s since %c", scene->glyphs->change, unit,
                 'A' + mark);
    } else {
        snprintf(title, TREE_TITLE_BYTES, "%s%s opened", scene->glyphs->change, unit);
    }
}

enum paths_order
tree_column_order(const char *word)
{
    for (int id = 0; id < TREE_COLUMN_COUNT; id++) {
        if (tree_columns[id].word != NULL && strcmp(tree_columns[id].word, word) == 0) {
            return tree_columns[id].order;
        }
    }
    return strcmp(word, "path") == 0 ? PATHS_BY_LABEL : PATHS_ORDERS;
}

enum tree_column_id
tree_column_sortable(int n)
{
    int id = 0;
    for (; id < TREE_COLUMN_COUNT; id++) {
        if (tree_columns[id].word != NULL && n-- == 0) {
            break;
        }
    }
    return (enum tree_column_id)id;
}

const char *
tree_column_name(enum tree_column_id id)
{
    static const char *const names[] = {
        [TREE_COLUMN_OF_CLASS] = "of-class",
        [TREE_COLUMN_OF_PARENT] = "of-parent",
        [TREE_COLUMN_BAR] = "bar",
    };
    return tree_columns[id].word != NULL ? tree_columns[id].word : names[id];
}

struct tree_column_choice
tree_column_all(void)
{
    struct tree_column_choice choice = {.count = TREE_COLUMN_COUNT};
    for (int id = 0; id < TREE_COLUMN_COUNT; id++) {
        choice.ids[id] = (enum tree_column_id)id;
    }
    return choice;
}

int
tree_column_layout(const struct tree_column_choice *choice, int width,
                   enum paths_order order, enum tree_column_id shown[TREE_COLUMN_COUNT],
                   int *path)
{
    bool kept[TREE_COLUMN_COUNT] = {false};
    int used = TREE_PATH_CELLS_MIN;
    for (int i = 0; i < choice->count; i++) {
        kept[choice->ids[i]] = true;
        used += tree_columns[choice->ids[i]].width;
    }
    for (int pass = 0; pass < 2; pass++) { // what orders the rows goes last
        for (int rank = TREE_COLUMN_COUNT; rank > 0 && used > width; rank--) {
            for (int id = 0; id < TREE_COLUMN_COUNT; id++) {
                bool goes = kept[id] && tree_columns[id].rank == rank &&
                            (pass == 1 || tree_columns[id].order != order);
                kept[id] = kept[id] && !goes;
                used -= goes ? tree_columns[id].width : 0;
            }
        }
    }
    int count = 0;
    for (int i = 0; i < choice->count; i++) {
        if (kept[choice->ids[i]]) {
            shown[count++] = choice->ids[i];
        }
    }
    *path = TREE_PATH_CELLS_MIN + (width > used ? width - used : 0);
    return count;
}
