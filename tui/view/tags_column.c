#include "tui/view/tags_column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/view/format.h"

#define NAME_CELLS_MAX 72 // wider, and figures are too far from what they belong to

static void
format_count(char out[FORMAT_BYTES], const struct scene *scene, double value)
{
    (scene->exact ? format_grouped : format_short)(out, scene->glyphs, value);
}

static void
format_change(char out[FORMAT_BYTES], const struct scene *scene, double value)
{
    (scene->exact ? format_grouped_change : format_short_change)(out, scene->glyphs,
                                                                 value);
}

static void
format_each(char out[FORMAT_BYTES], const struct scene *scene, double value)
{
    format_rate(out, scene->glyphs, value);
}

static void
format_bytes(char out[FORMAT_BYTES], const struct scene *scene, double value)
{
    format_size(out, scene->glyphs, value);
}

// clang-format off
const struct tags_column tags_columns[TAGS_COLUMN_COUNT] = {
    [TAGS_NAME] = {"TAG", COLUMN_NAME_CELLS_MIN, 0, true, NULL, "What the program says it is doing: Memtop.tag, requests by route, jobs by class."},
    [TAGS_CALLS] = {"CALLS", 10, 1, false, format_count, "How often the program did it, to the end."},
    [TAGS_CALL_RATE] = {"/s", 8, 5, false, format_each, "The same a second, over the last 5 to 10 seconds."},
    [TAGS_ACTIVE] = {"NOW", 5, 9, false, format_count, "How often it is doing it now."},
    [TAGS_ALLOCATED] = {"ALLOC", 13, 6, true, format_count, "Objects born meanwhile, since counting began."},
    [TAGS_ALLOCATED_A_CALL] = {"/call", 9, 3, true, format_each, "The same for each call."},
    [TAGS_LIVE] = {"LIVE", 11, 0, true, format_count, "Of those objects, how many are alive now, garbage not yet collected included."},
    [TAGS_DELTA] = {"", 11, 4, false, format_change, "How much LIVE changed since the mark, or since memtop connected."},
    [TAGS_RETAINED] = {"RETAINED", 10, 2, true, format_count, "Of those objects, how many survived two collections or more, at the last census."},
    [TAGS_RETAINED_A_CALL] = {"/call", 8, 7, true, format_each, "The same for each call: what a call leaves behind."},
    [TAGS_BYTES] = {"BYTES", 8, 8, true, format_bytes, "Memory of the live ones, at the last census."},
};
// clang-format on

static double
share(double value, double calls)
{
    return calls > 0 ? value / calls : (double)NAN;
}

struct tags_line
tags_line(const struct model_tag *tag)
{
    double calls = format_number(tag->now.calls) + format_number(tag->now.active);
    double allocated = format_number(tag->now.allocated);
    double live = format_number(tag->now.live);
    return (struct tags_line){
        .id = tag->id,
        .name = tag->text,
        .values = {[TAGS_NAME] = (double)NAN,
                   [TAGS_CALLS] = format_number(tag->now.calls),
                   [TAGS_CALL_RATE] = tag->calls_per_second,
                   [TAGS_ACTIVE] = format_number(tag->now.active),
                   [TAGS_ALLOCATED] = allocated,
                   [TAGS_ALLOCATED_A_CALL] = share(allocated, calls),
                   [TAGS_LIVE] = live,
                   [TAGS_DELTA] = live - tag->baseline_live,
                   [TAGS_RETAINED] = tag->retained,
                   [TAGS_RETAINED_A_CALL] = share(tag->retained, calls),
                   [TAGS_BYTES] = format_number(tag->now.bytes)}
    };
}

struct tags_line
tags_class_line(const struct scene *scene, const struct model_tag *tag,
                const struct tag_class *row)
{
    const struct model_class *class = model_class_find(scene->model, row->class_id);
    double calls = format_number(tag->now.calls) + format_number(tag->now.active);
    double allocated = format_number(row->allocated);
    double retained = model_retained(row->ages);
    double unknown = (double)NAN;
    return (struct tags_line){
        .id = row->class_id,
        .name = class != NULL ? class->name : "",
        .values = {unknown, unknown, unknown, unknown, allocated, share(allocated, calls),
                   format_number(row->live), unknown, retained, share(retained, calls),
                   format_number(row->bytes)}
    };
}

void
tags_column_title(char title[COLUMN_TITLE_BYTES], enum tags_column_id id,
                  const struct scene *scene, bool classes)
{
    if (id == TAGS_DELTA) {
        column_title(title, COLUMN_DELTA, scene);
        return;
    }
    snprintf(title, COLUMN_TITLE_BYTES, "%s",
             id == TAGS_NAME && classes ? "CLASS" : tags_columns[id].title);
}

static bool
has_column(const bool *dropped, bool classes, int id)
{
    return !dropped[id] && (!classes || tags_columns[id].of_classes);
}

static int
width_of(const bool *dropped, bool classes)
{
    int width = 0;
    for (int i = 0; i < TAGS_COLUMN_COUNT; i++) {
        width += has_column(dropped, classes, i) ? tags_columns[i].width : 0;
    }
    return width;
}

// The one that gives way next; TAGS_COLUMN_COUNT when none does.
static int
least(const bool *dropped, bool classes, enum tags_column_id sorted)
{
    int found = TAGS_COLUMN_COUNT;
    for (int i = 0; i < TAGS_COLUMN_COUNT; i++) {
        bool may = has_column(dropped, classes, i) && tags_columns[i].rank > 0 &&
                   i != (int)sorted;
        if (may && (found == TAGS_COLUMN_COUNT ||
                    tags_columns[i].rank > tags_columns[found].rank)) {
            found = i;
        }
    }
    return found;
}

int
tags_column_layout(int width, bool classes, enum tags_column_id sorted,
                   enum tags_column_id shown[TAGS_COLUMN_COUNT],
                   int widths[TAGS_COLUMN_COUNT])
{
    bool dropped[TAGS_COLUMN_COUNT] = {false};
    int count = 0;
    while (width_of(dropped, classes) > width) {
        int next = least(dropped, classes, sorted);
        if (next == TAGS_COLUMN_COUNT) {
            break;
        }
        dropped[next] = true;
    }
    int left = width - width_of(dropped, classes);
    for (int i = 0; i < TAGS_COLUMN_COUNT; i++) {
        if (has_column(dropped, classes, i)) {
            int wider = tags_columns[TAGS_NAME].width + (left > 0 ? left : 0);
            int name = wider < NAME_CELLS_MAX ? wider : NAME_CELLS_MAX;
            shown[count] = (enum tags_column_id)i;
            widths[count++] = i == TAGS_NAME ? name : tags_columns[i].width;
        }
    }
    return count;
}
