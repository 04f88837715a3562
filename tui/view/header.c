#include "tui/view/header.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/format.h"
#include "tui/view/header_time.h"
#include "tui/view/sparkline.h"

#define SUSPECTS_MAX 8
#define SUSPECT_CELLS 30 // of a name
#define PART_BYTES 160
#define PARTS_MAX 8
#define RSS_CELLS 8
#define RUNTIME_CELLS 40
#define REASON_CELLS 60
#define NAME_CELLS 12        // " memtop", and what is between it and the state
#define GRID_TEXT_BYTES 1024 // of a line of text cut to the screen

// A screen so low shows the table rather than the second line.
#define ROWS_FOR_SECOND 11
#define COLUMNS_FOR_SECOND 50

// Heap figures older than this are said to be old, in milliseconds.
#define HEAP_STALE_MS 5000

// How much line 2 tells of a fact.
enum detail {
    DETAIL_SHORT, // the number alone
    DETAIL_MORE,  // with what belongs to it
    DETAIL_EXACT, // and all digits
};

// Samples missing before the data is called late.
#define LATE_INTERVALS 3

// One fact of a line, in one style.
struct part {
    char text[PART_BYTES];
    enum style style;
    int gap; // blanks before it
};

struct parts {
    struct part list[PARTS_MAX];
    int count;
};

static void add(struct parts *parts, int gap, enum style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void
add(struct parts *parts, int gap, enum style style, const char *format, ...)
{
    va_list arguments;
    struct part *part = &parts->list[parts->count++];
    part->style = style;
    part->gap = gap;
    va_start(arguments, format);
    vsnprintf(part->text, sizeof part->text, format, arguments);
    va_end(arguments);
}

static int
width_of(const struct parts *parts, int count)
{
    int width = 0;
    for (int i = 0; i < count; i++) {
        width += parts->list[i].gap + text_width(parts->list[i].text);
    }
    return width;
}

static void
draw_parts(const struct parts *parts, int count, struct grid *grid, int row, int column)
{
    for (int i = 0; i < count; i++) {
        const struct part *part = &parts->list[i];
        column += part->gap;
        column +=
            grid_put(grid, row, column, grid->columns - column, part->style, part->text);
    }
}

static uint64_t
seconds_since(const struct scene *scene, uint64_t ms)
{
    return scene->now_ms > ms ? (scene->now_ms - ms) / 1000 : 0;
}

// How many intervals have passed without a sample, in seconds; 0 while all is well.
static uint64_t
lateness(const struct scene *scene)
{
    uint64_t interval_ms = model_hello(scene->model)->interval_ms;
    uint64_t silent_ms =
        scene->now_ms > scene->sample_ms ? scene->now_ms - scene->sample_ms : 0;
    uint64_t patience_ms =
        interval_ms < UINT64_MAX / 8 ? LATE_INTERVALS * interval_ms + 1000 : UINT64_MAX;
    return silent_ms > patience_ms ? silent_ms / 1000 : 0;
}

static struct header_state
live_state(const struct scene *scene)
{
    struct header_state state = {"LIVE", "", STYLE_ACCENT};
    uint64_t late = model_sampled(scene->model) ? lateness(scene) : 0;
    if (late > 0) {
        state.word = "LATE";
        state.style = STYLE_WARNING;
        format_duration(state.detail, late);
        return state;
    }
    uint64_t interval_ms = model_hello(scene->model)->interval_ms;
    if (interval_ms % 1000 == 0) {
        format_duration(state.detail, interval_ms / 1000);
    } else {
        snprintf(state.detail, FORMAT_BYTES, "%.1fs", (double)interval_ms / 1000);
    }
    return state;
}

// Why the data ended, in words; "" when nobody said.
static void
reason(const struct scene *scene, char out[PART_BYTES])
{
    const struct bye *bye = model_bye(scene->model);
    if (bye == NULL) {
        text_fit(out, PART_BYTES, scene->link_detail, REASON_CELLS, scene->ascii);
    } else if (bye->reason == BYE_EXIT && bye->status != COUNT_UNKNOWN) {
        snprintf(out, PART_BYTES, "exit status %llu", (unsigned long long)bye->status);
    } else if (bye->text.length > 0) {
        text_fit(out, PART_BYTES, bye->text.bytes, REASON_CELLS, scene->ascii);
    } else {
        snprintf(out, PART_BYTES, "%s",
                 bye->reason == BYE_EXIT   ? "the program ended"
                 : bye->reason == BYE_STOP ? "the probe was stopped"
                                           : "refused");
    }
}

// "12s ago, exit status 1"
static void
describe_end(const struct scene *scene, const char *ago, struct header_state *state)
{
    char since[FORMAT_BYTES];
    char why[PART_BYTES];
    format_duration(since, seconds_since(scene, scene->link_ms));
    reason(scene, why);
    snprintf(state->detail, sizeof state->detail, "%s%s%s%s", since, ago,
             why[0] != '\0' ? ", " : "", why);
}

struct header_state
header_state(const struct scene *scene)
{
    struct header_state state = {"CONNECTING", "", STYLE_WARNING};
    if (scene->moment != NULL) {
        return header_time(scene->moment, scene->ascii);
    }
    if (scene->paused) {
        state.word = "PAUSED";
        format_duration(state.detail, seconds_since(scene, scene->sample_ms));
        return state;
    }
    switch (scene->link) {
    case LINK_LIVE:
        return live_state(scene);
    case LINK_RECONNECTING:
        state.word = "RECONNECTING";
        describe_end(scene, "", &state);
        return state;
    case LINK_GONE:
        state.word = "GONE";
        describe_end(scene, " ago", &state);
        return state;
    default:
        return state;
    }
}

// The state of the data, cut to a screen on which the program's name is to be seen.
static void
collect_state(const struct scene *scene, struct parts *parts, int columns)
{
    char detail[PART_BYTES];
    struct header_state state = header_state(scene);
    add(parts, 0, state.style, "%s", state.word);
    int room = columns - text_width(state.word) - NAME_CELLS;
    text_fit(detail, sizeof detail, state.detail, room > 0 ? room : 0, scene->ascii);
    if (detail[0] != '\0') {
        add(parts, 1, STYLE_NORMAL, "%s", detail);
    }
}

// The probe about itself, the least important last.
static void
collect_probe(const struct scene *scene, struct parts *parts)
{
    char number[FORMAT_BYTES];
    const struct sample *sample = model_sample(scene->model);
    const char *dot = scene->glyphs->dot;
    if (scene->link == LINK_GONE || scene->link == LINK_RECONNECTING) {
        add(parts, 0, STYLE_DIM, "last data kept %s retrying", dot);
        return;
    }
    if (!model_sampled(scene->model)) {
        return;
    }
    if (scene->moment != NULL && header_time_hint(scene->moment)[0] != '\0') {
        add(parts, 0, STYLE_WARNING, "%s", header_time_hint(scene->moment));
        return;
    }
    if (scene->paused && scene->moment == NULL) {
        add(parts, 0, STYLE_WARNING, "Space goes on");
        return;
    }
    const struct probe_state *probe = &sample->probe;
    if (scene->recording) {
        add(parts, 0, STYLE_GREW, "REC");
        add(parts, 0, STYLE_DIM, "%s", dot);
    }
    add(parts, 0, sample->mode == MODE_DORMANT ? STYLE_WARNING : STYLE_NORMAL, "%s",
        mode_name(sample->mode));
    double cost = format_number(probe->cost_ppm) / 1e4;
    format_percent(number, scene->glyphs, cost);
    add(parts, 1, STYLE_NORMAL, "%s cost %s", dot, number);
    if (probe->drift != COUNT_UNKNOWN) {
        format_grouped(number, scene->glyphs, format_number(probe->drift));
        add(parts, 1, probe->drift > 0 ? STYLE_WARNING : STYLE_NORMAL, "%s drift %s", dot,
            number);
    }
    if (probe->dropped_frames != COUNT_UNKNOWN) {
        format_grouped(number, scene->glyphs, format_number(probe->dropped_frames));
        add(parts, 1, probe->dropped_frames > 0 ? STYLE_WARNING : STYLE_NORMAL,
            "%s drops %s", dot, number);
    }
}

static void
collect_process(const struct scene *scene, struct parts *parts, int command_width)
{
    char command[PART_BYTES];
    const struct hello *hello = model_hello(scene->model);
    add(parts, 1, STYLE_ACCENT, "memtop");
    if (hello->command.bytes == NULL) {
        text_fit(command, sizeof command, scene->source, command_width, scene->ascii);
        add(parts, 2, STYLE_NORMAL, "%s", command);
        return;
    }
    text_fit(command, sizeof command, hello->command.bytes, command_width, scene->ascii);
    add(parts, 2, STYLE_NORMAL, "%s", command);
    add(parts, 1, STYLE_NORMAL, "[%llu]", (unsigned long long)hello->pid);
    text_fit(command, sizeof command, hello->runtime.bytes, RUNTIME_CELLS, scene->ascii);
    add(parts, 2, STYLE_DIM, "%s", command);
}

// How many parts of the process fit into `width`: first goes the version of the
// runtime, then the command is cut, at last only the name of memtop stays.
static int
fit_process(const struct scene *scene, struct parts *parts, int width)
{
    collect_process(scene, parts, PART_BYTES);
    int count = parts->count;
    if (count > 3 && width_of(parts, count) > width) {
        count = 3;
    }
    int over = width_of(parts, count) - width;
    if (over > 0) {
        int command = text_width(parts->list[1].text) - over;
        parts->count = 0;
        collect_process(scene, parts, command > 0 ? command : 0);
        count = command > 0 ? count : 1;
    }
    return count;
}

// Line 1: process, state, probe. The state is always there; of the rest goes first
// what is least needed, and the command is cut.
static void
draw_first(const struct scene *scene, struct grid *grid)
{
    struct parts middle = {.count = 0};
    struct parts probe = {.count = 0};
    struct parts process = {.count = 0};
    collect_state(scene, &middle, grid->columns);
    collect_probe(scene, &probe);
    int columns = grid->columns - 1;
    int middle_width = width_of(&middle, middle.count);
    int right = probe.count;
    while (right > 0 && width_of(&probe, right) + middle_width > columns - 34) {
        right--;
    }
    int right_width = width_of(&probe, right) + (right > 0 ? 2 : 0);
    int left = fit_process(scene, &process, columns - middle_width - right_width - 2);
    int center = grid->columns * 47 / 100;
    int at = width_of(&process, left) + 2;
    at = at > center ? at : center;
    int last = columns - right_width - middle_width;
    draw_parts(&process, left, grid, 0, 0);
    draw_parts(&middle, middle.count, grid, 0, at < last ? at : last);
    draw_parts(&probe, right, grid, 0, columns - right_width + (right > 0 ? 2 : 0));
}

static void
count_text(char *out, const struct scene *scene, uint64_t count, bool exact)
{
    (exact ? format_grouped : format_short)(out, scene->glyphs, format_number(count));
}

static void
add_memory(const struct scene *scene, struct parts *parts, enum detail detail)
{
    char size[FORMAT_BYTES];
    char trend[FORMAT_BYTES];
    char line[SPARKLINE_BYTES] = "";
    uint64_t values[MODEL_HISTORY];
    double per_minute = model_rates(scene->model)->rss_bytes_per_minute;
    format_size(size, scene->glyphs,
                format_number(model_sample(scene->model)->process.rss_bytes));
    add(parts, 1, STYLE_NORMAL, "RSS %s", size);
    if (detail >= DETAIL_MORE) {
        size_t count =
            model_series(scene->model, MODEL_SERIES_RSS, values, MODEL_HISTORY);
        sparkline(line, RSS_CELLS, scene->glyphs, values, count,
                  sparkline_span(count, RSS_CELLS));
        add(parts, 1, STYLE_ACCENT, "%s", line);
    }
    if (!isnan(per_minute)) {
        format_size_change(trend, scene->glyphs, per_minute);
        add(parts, 1,
            per_minute > 0   ? STYLE_GREW
            : per_minute < 0 ? STYLE_SHRANK
                             : STYLE_DIM,
            "%s/min", trend);
    }
}

static void
add_heap(const struct scene *scene, struct parts *parts, enum detail detail)
{
    char live[FORMAT_BYTES];
    char free_slots[FORMAT_BYTES];
    char age[FORMAT_BYTES + 8] = "";
    char duration[FORMAT_BYTES];
    const struct process_state *process = &model_sample(scene->model)->process;
    bool stale =
        process->heap_age_ms != COUNT_UNKNOWN && process->heap_age_ms >= HEAP_STALE_MS;
    if (stale) {
        format_duration(duration, process->heap_age_ms / 1000);
        snprintf(age, sizeof age, ", %s old", duration);
    }
    count_text(live, scene, process->heap_slots_live,
               detail == DETAIL_EXACT && scene->exact);
    count_text(free_slots, scene, process->heap_slots_free,
               detail == DETAIL_EXACT && scene->exact);
    add(parts, 3, stale ? STYLE_WARNING : STYLE_NORMAL, "heap %s live, %s free%s", live,
        free_slots, age);
}

static void
add_gc(const struct scene *scene, struct parts *parts, enum detail detail)
{
    char count[FORMAT_BYTES];
    char major[FORMAT_BYTES];
    char share[FORMAT_BYTES];
    const struct process_state *process = &model_sample(scene->model)->process;
    double percent = model_rates(scene->model)->gc_percent;
    count_text(count, scene, process->gc_count, true);
    count_text(major, scene, process->gc_major_count, true);
    format_percent(share, scene->glyphs, percent);
    if (detail >= DETAIL_MORE) {
        add(parts, 3, STYLE_NORMAL, "GC %s (%s major) %s", count, major, share);
    } else {
        add(parts, 3, STYLE_NORMAL, "GC %s, %s", count, share);
    }
}

static void
add_objects(const struct scene *scene, struct parts *parts, enum detail detail)
{
    char live[FORMAT_BYTES];
    char rate[FORMAT_BYTES];
    double per_second = model_rates(scene->model)->live;
    count_text(live, scene, model_sample(scene->model)->totals.live,
               detail == DETAIL_EXACT && scene->exact);
    add(parts, 3, STYLE_NORMAL, "objects %s", live);
    if (!isnan(per_second)) {
        bool still = fabs(per_second) < 0.05;
        format_rate_change(rate, scene->glyphs, per_second);
        add(parts, 1,
            still            ? STYLE_DIM
            : per_second > 0 ? STYLE_GREW
                             : STYLE_SHRANK,
            "%s %s/s",
            still            ? scene->glyphs->same
            : per_second > 0 ? scene->glyphs->up
                             : scene->glyphs->down,
            rate);
    }
}

// Line 2: memory, heap, collector, objects. First with fewer digits, then with less
// detail, then with fewer facts.
static void
draw_second(const struct scene *scene, struct grid *grid, int row)
{
    static void (*const facts[])(const struct scene *, struct parts *, enum detail) = {
        add_memory, add_heap, add_gc, add_objects};
    static const struct {
        enum detail detail;
        bool wanted[4]; // of facts
    } ways[] = {
        {DETAIL_EXACT, {true, true, true, true}  },
        {DETAIL_MORE,  {true, true, true, true}  },
        {DETAIL_SHORT, {true, true, true, true}  },
        {DETAIL_SHORT, {true, true, false, true} },
        {DETAIL_SHORT, {true, false, false, true}},
    };
    struct parts parts = {.count = 0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        parts.count = 0;
        for (int fact = 0; fact < 4; fact++) {
            if (ways[i].wanted[fact]) {
                facts[fact](scene, &parts, ways[i].detail);
            }
        }
        if (width_of(&parts, parts.count) < grid->columns) {
            break;
        }
    }
    draw_parts(&parts, parts.count, grid, row, 0);
}

static void
draw_notice(const struct scene *scene, struct grid *grid, int row)
{
    char fitted[GRID_TEXT_BYTES];
    char more[40] = "";
    size_t count = model_notice_count(scene->model);
    size_t shown = count - 1; // the newest, but a warning before any other
    for (size_t i = count; i-- > 0;) {
        if (model_notice_at(scene->model, i)->severity == NOTICE_WARNING) {
            shown = i;
            break;
        }
    }
    const struct model_notice *notice = model_notice_at(scene->model, shown);
    if (count > 1) {
        snprintf(more, sizeof more, "  (%zu more: press !)", count - 1);
    }
    int room = grid->columns - 4 - text_width(more);
    text_fit(fitted, sizeof fitted, notice->text, room > 0 ? room : 0, scene->ascii);
    enum style style = notice->severity == NOTICE_WARNING ? STYLE_WARNING : STYLE_NORMAL;
    int at = 1 + grid_put(grid, row, 1, 2, style, "! ");
    at += grid_put(grid, row, at, grid->columns - at, style, fitted);
    grid_put(grid, row, at, grid->columns - at, STYLE_DIM, more);
}

// Classes to look at, the worst first: what is accused, then what grows most.
struct suspects {
    const struct model_class *list[SUSPECTS_MAX];
    int count;
};

static bool
is_worse(const struct model_class *class, const struct model_class *other)
{
    return class->verdict != other->verdict
               ? class->verdict > other->verdict
               : class->live_per_second > other->live_per_second;
}

static void
add_suspect(struct suspects *suspects, const struct model_class *class)
{
    int at = suspects->count;
    while (at > 0 && is_worse(class, suspects->list[at - 1])) {
        at--;
    }
    if (at == SUSPECTS_MAX) {
        return;
    }
    int last = suspects->count < SUSPECTS_MAX ? suspects->count : SUSPECTS_MAX - 1;
    for (int i = last; i > at; i--) {
        suspects->list[i] = suspects->list[i - 1];
    }
    suspects->list[at] = class;
    suspects->count = last + 1;
}

static void
find_suspects(const struct scene *scene, struct suspects *suspects)
{
    suspects->count = 0;
    for (size_t i = 0; i < model_class_count(scene->model); i++) {
        const struct model_class *class = model_class_at(scene->model, i);
        if (class->verdict >= VERDICT_GROWING && !class->gone &&
            (class->flags & CLASS_INTERNAL) == 0) {
            add_suspect(suspects, class);
        }
    }
}

// " suspects  Order leak? · Hash growing", as many as fit.
static void
draw_suspects(const struct scene *scene, struct grid *grid, int row)
{
    struct suspects suspects;
    char name[GRID_TEXT_BYTES];
    find_suspects(scene, &suspects);
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_HEADING, "suspects") + 2;
    if (suspects.count == 0) {
        grid_put(grid, row, at, grid->columns - at, STYLE_DIM, "none now");
    }
    for (int i = 0; i < suspects.count; i++) {
        const struct model_class *class = suspects.list[i];
        bool leak = class->verdict == VERDICT_LEAK;
        const char *verdict = verdict_name(class->verdict);
        text_fit(name, sizeof name, class->name, SUSPECT_CELLS, scene->ascii);
        int width = text_width(name) + 1 + text_width(verdict) + (i > 0 ? 3 : 0);
        if (at + width >= grid->columns) {
            grid_put(grid, row, at, 2, STYLE_DIM, scene->glyphs->more);
            break;
        }
        if (i > 0) {
            at += 1 + grid_put(grid, row, at + 1, 1, STYLE_DIM, scene->glyphs->dot) + 1;
        }
        at += grid_put(grid, row, at, grid->columns - at, STYLE_NORMAL, name) + 1;
        at += grid_put(grid, row, at, grid->columns - at, leak ? STYLE_GREW : STYLE_DIM,
                       verdict);
    }
}

int
header_rows(const struct scene *scene, int rows, int columns)
{
    bool second = rows >= ROWS_FOR_SECOND && columns >= COLUMNS_FOR_SECOND &&
                  model_sampled(scene->model);
    bool notice = model_notice_count(scene->model) > 0;
    // there from the first verdict on: rows do not jump when a suspect comes or goes
    bool suspects = second && model_judged(scene->model);
    return 1 + (second ? 1 : 0) + (suspects ? 1 : 0) + (notice ? 1 : 0);
}

void
header_draw(const struct scene *scene, struct grid *grid, int rows)
{
    bool notice = model_notice_count(scene->model) > 0;
    draw_first(scene, grid);
    if (rows - (notice ? 1 : 0) > 1) {
        draw_second(scene, grid, 1);
    }
    if (rows - (notice ? 1 : 0) > 2) {
        draw_suspects(scene, grid, 2);
    }
    if (notice) {
        draw_notice(scene, grid, rows - 1);
    }
}
