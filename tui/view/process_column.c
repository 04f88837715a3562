#include "tui/view/process_column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/format.h"

#define BRANCH_BYTES 160
#define WORST_BYTES 160
#define VERDICT_CELLS 8 // of the longest verdict, with the blank before it

static double
pid_of(const struct peer *peer)
{
    return (double)peer->pid;
}

static double
rss_of(const struct peer *peer)
{
    return peer->rss_bytes;
}

static double
live_of(const struct peer *peer)
{
    return peer->live;
}

static double
delta_of(const struct peer *peer)
{
    return peer->per_minute;
}

static double
worst_of(const struct peer *peer)
{
    return (double)peer->verdict;
}

static double
since_of(const struct peer *peer)
{
    return peer->age_s;
}

static double
odd_of(const struct peer *peer)
{
    return peer->oddity != PEER_USUAL ? 1 : 0;
}

// What is gone or does not answer is as it was.
static enum style
style_of(const struct peer *peer, enum style style)
{
    return peer->state == PEER_LIVE ? style : STYLE_DIM;
}

static void
draw_pid(const struct scene *scene, const struct kin_row *row, struct grid *grid,
         int line, int at, int width)
{
    char text[BRANCH_BYTES];
    size_t used = 0;
    text[0] = '\0';
    for (int depth = 1; depth <= row->depth && used + 8 < sizeof text; depth++) {
        bool own = depth == row->depth;
        const char *sign =
            own ? (row->last[depth] ? scene->glyphs->branch_last : scene->glyphs->branch)
                : (row->last[depth] ? " " : scene->glyphs->branch_past);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", sign);
    }
    snprintf(text + used, sizeof text - used, "%llu", (unsigned long long)row->peer->pid);
    grid_put(grid, line, at, width, style_of(row->peer, STYLE_NORMAL), text);
}

const char *
process_command(const struct peer *peer)
{
    return peer->command[0] != '\0' ? peer->command : peer->socket;
}

static void
draw_command(const struct scene *scene, const struct kin_row *row, struct grid *grid,
             int line, int at, int width)
{
    char fitted[FLEET_COMMAND_BYTES + 8];
    text_fit(fitted, sizeof fitted, process_command(row->peer), width - 2, scene->ascii);
    grid_put(grid, line, at + 1, width - 2, style_of(row->peer, STYLE_NORMAL), fitted);
}

static void
draw_mode(const struct scene *scene, const struct kin_row *row, struct grid *grid,
          int line, int at, int width)
{
    const struct peer *peer = row->peer;
    const char *words[] = {"...", mode_name(peer->mode), "silent", "GONE"};
    const char *word = peer->state == PEER_LIVE && peer->mode == COUNT_UNKNOWN
                           ? "..."
                           : words[peer->state];
    enum style style = peer->state == PEER_SILENT || peer->state == PEER_GONE
                           ? STYLE_WARNING
                           : style_of(peer, STYLE_NORMAL);
    (void)scene;
    grid_put(grid, line, at + 1, width - 1, style, word);
}

static void
draw_rss(const struct scene *scene, const struct kin_row *row, struct grid *grid,
         int line, int at, int width)
{
    char text[FORMAT_BYTES];
    format_size(text, scene->glyphs, row->peer->rss_bytes);
    grid_put_right(grid, line, at, width,
                   row->peer->oddity == PEER_ODD_RSS ? STYLE_WARNING
                                                     : style_of(row->peer, STYLE_NORMAL),
                   text);
}

static void
draw_live(const struct scene *scene, const struct kin_row *row, struct grid *grid,
          int line, int at, int width)
{
    char text[FORMAT_BYTES];
    (scene->exact ? format_grouped : format_short)(text, scene->glyphs, row->peer->live);
    grid_put_right(grid, line, at, width,
                   row->peer->oddity == PEER_ODD_LIVE ? STYLE_WARNING
                                                      : style_of(row->peer, STYLE_NORMAL),
                   text);
}

static void
draw_delta(const struct scene *scene, const struct kin_row *row, struct grid *grid,
           int line, int at, int width)
{
    char text[FORMAT_BYTES];
    double value = round(row->peer->per_minute);
    (scene->exact ? format_grouped_change : format_short_change)(text, scene->glyphs,
                                                                 value);
    enum style style = isnan(value) || value == 0 ? STYLE_DIM
                       : value > 0                ? STYLE_GREW
                                                  : STYLE_SHRANK;
    const char *arrow = isnan(value) ? " "
                        : value > 0  ? scene->glyphs->up
                        : value < 0  ? scene->glyphs->down
                                     : scene->glyphs->same;
    style = style_of(row->peer, style);
    grid_put_right(grid, line, at, width - 2, style, text);
    grid_put_right(grid, line, at, width, style, arrow);
}

static void
draw_worst(const struct scene *scene, const struct kin_row *row, struct grid *grid,
           int line, int at, int width)
{
    char name[WORST_BYTES];
    const struct peer *peer = row->peer;
    const char *verdict = verdict_name(peer->verdict);
    if (verdict == NULL) {
        grid_put(grid, line, at + 2, width - 2, STYLE_DIM, scene->glyphs->unknown);
        return;
    }
    text_fit(name, sizeof name, peer->worst, width - 2 - VERDICT_CELLS, scene->ascii);
    int used =
        grid_put(grid, line, at + 2, width - 2, style_of(peer, STYLE_NORMAL), name);
    enum style style = peer->verdict == VERDICT_LEAK ? STYLE_GREW : STYLE_DIM;
    grid_put(grid, line, at + 3 + used, width - 3 - used, style_of(peer, style), verdict);
}

static void
draw_since(const struct scene *scene, const struct kin_row *row, struct grid *grid,
           int line, int at, int width)
{
    char text[FORMAT_BYTES];
    double seconds = row->peer->age_s;
    if (isnan(seconds)) {
        snprintf(text, sizeof text, "%s", scene->glyphs->unknown);
    } else {
        format_duration(text, (uint64_t)seconds);
    }
    grid_put_right(grid, line, at, width, style_of(row->peer, STYLE_NORMAL), text);
}

static void
draw_odd(const struct scene *scene, const struct kin_row *row, struct grid *grid,
         int line, int at, int width)
{
    static const char *const words[] = {"", "RSS", "LIVE", "growth"};
    (void)scene;
    grid_put(grid, line, at + 2, width - 2, STYLE_WARNING, words[row->peer->oddity]);
}

// clang-format off
const struct process_column process_columns[PROCESS_COLUMN_COUNT] = {
    [PROCESS_PID] = {"pid", "PID", ALIGN_LEFT, 11, 0, pid_of, draw_pid,
        "Processes of yours that run under the probe, children below their parents. New ones come by themselves; those that ended stay for 8 s."},
    [PROCESS_COMMAND] = {"command", "COMMAND", ALIGN_LEFT, 12, 0, NULL, draw_command,
        "How it was started, or what it calls itself, as it said when it connected."},
    [PROCESS_MODE] = {"mode", "MODE", ALIGN_LEFT, 9, 3, NULL, draw_mode,
        "What its probe counts. `silent`: it does not answer, the line below says why. GONE: it ended."},
    [PROCESS_RSS] = {"rss", "RSS", ALIGN_RIGHT, 8, 1, rss_of, draw_rss,
        "Memory of the whole process. What it shares with others, as children do with their parent, is in that of each."},
    [PROCESS_LIVE] = {"live", "LIVE", ALIGN_RIGHT, 11, 0, live_of, draw_live,
        "Objects alive in it now."},
    [PROCESS_DELTA] = {"delta", "Δ/min", ALIGN_RIGHT, 13, 1, delta_of, draw_delta,
        "How LIVE changed in the last minute; while memtop has watched for less, as much as it would be in one."},
    [PROCESS_WORST] = {"growing", "TOP GROWING", ALIGN_LEFT, 24, 2, worst_of, draw_worst,
        "The class of which its probe thinks worst: `leak?` or `growing`. As a number it is 5 and 4."},
    [PROCESS_SINCE] = {"since", "SINCE", ALIGN_RIGHT, 8, 4, since_of, draw_since,
        "How long the process has been there."},
    [PROCESS_ODD] = {"odd", "ODD", ALIGN_LEFT, 9, 2, odd_of, draw_odd,
        "Of three and more children of one parent: one whose RSS, LIVE or growth is far from what the others have. Far is five times as far from their median as they usually are, and more than a quarter of it."},
};
// clang-format on

void
process_column_title(char title[COLUMN_TITLE_BYTES], enum process_column_id id,
                     const struct scene *scene)
{
    if (id == PROCESS_DELTA) {
        snprintf(title, COLUMN_TITLE_BYTES, "%s/min", scene->glyphs->change);
    } else {
        snprintf(title, COLUMN_TITLE_BYTES, "%s", process_columns[id].title);
    }
}

enum process_column_id
process_column_find(const char *word, size_t length)
{
    int id = 0;
    while (id < PROCESS_COLUMN_COUNT &&
           (strlen(process_columns[id].word) != length ||
            strncmp(process_columns[id].word, word, length) != 0)) {
        id++;
    }
    return (enum process_column_id)id;
}

enum process_column_id
process_column_sortable(int n)
{
    int id = 0;
    while (id < PROCESS_COLUMN_COUNT && (process_columns[id].value == NULL || n-- > 0)) {
        id++;
    }
    return (enum process_column_id)id;
}

int
process_column_layout(int width, enum process_column_id shown[PROCESS_COLUMN_COUNT],
                      int widths[PROCESS_COLUMN_COUNT])
{
    bool kept[PROCESS_COLUMN_COUNT];
    int used = 0;
    int count = 0;
    for (int id = 0; id < PROCESS_COLUMN_COUNT; id++) {
        kept[id] = true;
        used += process_columns[id].width;
    }
    for (int rank = PROCESS_COLUMN_COUNT; rank > 0 && used > width; rank--) {
        for (int id = PROCESS_COLUMN_COUNT; id-- > 0 && used > width;) {
            if (process_columns[id].rank == rank) {
                kept[id] = false;
                used -= process_columns[id].width;
            }
        }
    }
    for (int id = 0; id < PROCESS_COLUMN_COUNT; id++) {
        if (kept[id]) {
            bool wide = id == PROCESS_COMMAND && width > used;
            widths[count] = process_columns[id].width + (wide ? width - used : 0);
            shown[count++] = (enum process_column_id)id;
        }
    }
    return count;
}

static void
odd_reason(char *out, size_t capacity, const struct scene *scene, const struct peer *peer)
{
    char value[FORMAT_BYTES] = "";
    char usual[FORMAT_BYTES] = "";
    const char *what = "RSS";
    switch (peer->oddity) {
    case PEER_ODD_RSS:
        format_size(value, scene->glyphs, peer->rss_bytes);
        format_size(usual, scene->glyphs, peer->usual);
        break;
    case PEER_ODD_LIVE:
        what = "LIVE";
        format_grouped(value, scene->glyphs, peer->live);
        format_grouped(usual, scene->glyphs, peer->usual);
        break;
    default:
        what = "growth";
        format_grouped_change(value, scene->glyphs, round(peer->per_minute));
        format_grouped_change(usual, scene->glyphs, round(peer->usual));
        break;
    }
    const char *minute = peer->oddity == PEER_ODD_GROWTH ? "/min" : "";
    snprintf(out, capacity,
             "%llu is the odd one: %s %s%s, the median of %zu siblings is %s%s",
             (unsigned long long)peer->pid, what, value, minute, peer->others + 1, usual,
             minute);
}

void
process_reason(char *out, size_t capacity, const struct scene *scene,
               const struct peer *peer)
{
    out[0] = '\0';
    if (peer->state == PEER_LIVE && peer->oddity != PEER_USUAL) {
        odd_reason(out, capacity, scene, peer);
    } else if (peer->state != PEER_LIVE && peer->why[0] != '\0') {
        snprintf(out, capacity, "%llu: %s", (unsigned long long)peer->pid, peer->why);
    }
}
