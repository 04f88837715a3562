#include "tui/view/spread.h"

#include <math.h>
#include <stdio.h>

#include "tui/model/merge.h"
#include "tui/model/odd.h"
#include "tui/text/text.h"
#include "tui/view/format.h"

#define REST_CELLS 10 // of "… 12 more"

bool
spread_shown(const struct scene *scene)
{
    return scene->merge != NULL && scene->spread;
}

static size_t
column_count(const struct scene *scene)
{
    size_t count = merge_column_count(scene->merge);
    return count < MERGE_MEMBERS_MAX ? count : MERGE_MEMBERS_MAX;
}

// How many columns fit from `at` on; where not all do, less the room to say so.
static size_t
fitting(const struct scene *scene, const struct grid *grid, int at)
{
    size_t count = column_count(scene);
    int room = grid->columns - 1 - at;
    if ((int)count * SPREAD_CELLS <= room) {
        return count;
    }
    room -= REST_CELLS;
    return room > 0 ? (size_t)(room / SPREAD_CELLS) : 0;
}

void
spread_headings(const struct scene *scene, struct grid *grid, int row, int at)
{
    char text[FORMAT_BYTES];
    size_t count = merge_column_count(scene->merge);
    size_t shown = fitting(scene, grid, at);
    for (size_t i = 0; i < shown; i++) {
        snprintf(text, sizeof text, "%llu",
                 (unsigned long long)merge_column_pid(scene->merge, i));
        grid_put_right(grid, row, at + 1, SPREAD_CELLS - 1, STYLE_HEADING, text);
        at += SPREAD_CELLS;
    }
    if (shown < count) {
        snprintf(text, sizeof text, "%s %zu more", scene->glyphs->more, count - shown);
        grid_put_right(grid, row, at, REST_CELLS, STYLE_DIM, text);
    }
}

void
spread_row(const struct scene *scene, const struct model_class *class, struct grid *grid,
           int row, int at)
{
    static const struct odd_measure measure = {100, 0.25};
    double values[MERGE_MEMBERS_MAX] = {0};
    double siblings[MERGE_MEMBERS_MAX] = {0}; // the parent does other work than they do
    struct odd_usual usual;
    size_t count = column_count(scene);
    size_t shown = fitting(scene, grid, at);
    for (size_t i = 0; i < count; i++) {
        uint64_t live = class->gone || scene->paused
                            ? COUNT_UNKNOWN
                            : merge_live(scene->merge, class->id, i);
        values[i] = format_number(live);
        bool parent = merge_column_is_parent(scene->merge, i);
        siblings[i] = parent ? (double)NAN : values[i];
    }
    bool known = odd_usual(siblings, count, &measure, &usual);
    for (size_t i = 0; i < shown && i < MERGE_MEMBERS_MAX; i++) {
        char text[FORMAT_BYTES];
        bool odd = known && odd_distance(&usual, siblings[i]) > 1;
        (scene->exact ? format_grouped : format_short)(text, scene->glyphs, values[i]);
        enum style style = odd                                  ? STYLE_WARNING
                           : isnan(values[i]) || values[i] == 0 ? STYLE_DIM
                                                                : STYLE_NORMAL;
        grid_put_right(grid, row, at, SPREAD_CELLS - 1, style, text);
        if (odd) {
            grid_put(grid, row, at + SPREAD_CELLS - 1, 1, style,
                     values[i] > usual.median ? scene->glyphs->up : scene->glyphs->down);
        }
        at += SPREAD_CELLS;
    }
}
