#include "tui/view/mark_menu.h"

#include <stdio.h>
#include <time.h>

#include "tui/view/format.h"

// Of the marks that are set, the `index`-th; MODEL_MARKS_MAX when there are fewer.
static int
set_mark(const struct scene *scene, int index)
{
    int mark = 0;
    for (; mark < MODEL_MARKS_MAX; mark++) {
        if (model_mark(scene->model, mark) != NULL && index-- == 0) {
            break;
        }
    }
    return mark;
}

static void
describe(const struct scene *scene, struct stamp at, char ago[FORMAT_BYTES],
         char clock[FORMAT_BYTES])
{
    uint64_t now_us = model_time(scene->model).monotonic_us;
    uint64_t from_us = at.monotonic_us;
    time_t wall = (time_t)(at.wall_us / 1000000 % INT32_MAX);
    struct tm local;
    format_duration(ago, now_us > from_us ? (now_us - from_us) / 1000000 : 0);
    strftime(clock, FORMAT_BYTES, "%H:%M:%S", localtime_r(&wall, &local));
}

static bool
line_at(const struct scene *scene, int index, struct menu_line *line)
{
    char ago[FORMAT_BYTES];
    char clock[FORMAT_BYTES];
    char live[FORMAT_BYTES];
    if (index == 0) {
        describe(scene, model_connected(scene->model), ago, clock);
        snprintf(line->text, sizeof line->text, "-  %s  %7s ago  since memtop connected",
                 clock, ago);
        snprintf(line->command, sizeof line->command, "since connecting");
        line->key = '-';
        return true;
    }
    int mark = set_mark(scene, index - 1);
    if (mark == MODEL_MARKS_MAX) {
        return false;
    }
    const struct model_mark *set = model_mark(scene->model, mark);
    describe(scene, set->at, ago, clock);
    format_grouped(live, scene->glyphs, format_number(set->live));
    snprintf(line->text, sizeof line->text, "%c  %s  %7s ago  %s objects%s", 'A' + mark,
             clock, ago, live, mark == model_mark_used(scene->model) ? "  (in use)" : "");
    snprintf(line->command, sizeof line->command, "since %c", 'A' + mark);
    line->key = (uint32_t)('A' + mark);
    return true;
}

const struct menu_class mark_menu = {"marks", " changes since ", line_at};
