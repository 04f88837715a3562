#include "tui/view/process_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/amount.h"
#include "tui/text/text.h"
#include "tui/view/cursor.h"
#include "tui/view/format.h"

#define MARGIN 2 // cells of the cursor's sign
#define WHEEL_ROWS 3
#define WORD_BYTES 64
#define LINE_BYTES 640
#define ROWS_FOR_REASON 10

static struct process_view *
process_of(struct view *view)
{
    return (struct process_view *)(void *)view;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_OPEN, {KEY_CODE_ENTER, KEY_CODE_RIGHT, 'l'}, "classes", "the classes of this process"},
    {ACTION_MERGE, {'M'}, "merge", "the classes of this process and its children, or of its parent and siblings, as one"},
    {ACTION_OUTPUT, {'o', 'O'}, "output", "what the command writes that memtop run started"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_HALF_UP, {KEY_CONTROL('U')}, NULL, "half a screen up"},
    {ACTION_HALF_DOWN, {KEY_CONTROL('D')}, NULL, "half a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the first row"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_FILTER, {'/'}, "filter", "show only some: a part of the command, rss>100M, !not"},
    {ACTION_CLEAR_FILTER, {'\\', KEY_CODE_F1 + 3}, "all", "clear the filter"},
    {ACTION_SORT_MENU, {'s', KEY_CODE_F1 + 5}, "sort", "choose the column that orders siblings"},
    {ACTION_SORT_LEFT, {'<'}, NULL, "order by the column to the left"},
    {ACTION_SORT_RIGHT, {'>'}, NULL, "order by the column to the right"},
    {ACTION_INVERT, {'I'}, NULL, "invert the order"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_SORT_COLUMN, {'1', '2', '3', '4', '5', '6', '7', '8', '9'}, NULL, "order by the n-th column, as F6 numbers them"},
    {ACTION_QUIT, {'q'}, "quit", "back, or quit when no process was chosen yet"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    if (index >= PROCESS_COLUMN_COUNT) {
        return false;
    }
    process_column_title(word->word, (enum process_column_id)index, scene);
    word->meaning = process_columns[index].explain;
    return true;
}

/* Which processes, in which order. */

// In lower case, as long as it is ASCII.
static char
lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool
begins(const char *text, const char *word)
{
    while (*word != '\0' && lower(*text) == lower(*word)) {
        text++;
        word++;
    }
    return *word == '\0';
}

static bool
holds(const char *text, const char *word)
{
    while (*text != '\0' && !begins(text, word)) {
        text++;
    }
    return *text != '\0';
}

// "rss>100M": true when it is such a word; `matches` says whether it holds.
static bool
compare(const struct peer *peer, const char *word, bool *matches)
{
    size_t length = strcspn(word, "<>=");
    uint64_t amount;
    enum process_column_id id = process_column_find(word, length);
    const char *sign = word + length;
    bool equal = sign[0] != '\0' && sign[1] == '=';
    if (id == PROCESS_COLUMN_COUNT || process_columns[id].value == NULL ||
        sign[0] == '\0' || !amount_bytes(sign + (equal ? 2 : 1), &amount)) {
        return false;
    }
    double value = process_columns[id].value(peer);
    double wanted = (double)amount;
    *matches = (sign[0] == '>' && value > wanted) || (sign[0] == '<' && value < wanted) ||
               ((sign[0] == '=' || equal) && value == wanted);
    return true;
}

static bool
word_matches(const struct peer *peer, const char *word)
{
    char pid[32];
    bool matches = false;
    if (compare(peer, word, &matches)) {
        return matches;
    }
    snprintf(pid, sizeof pid, "%llu", (unsigned long long)peer->pid);
    const char *verdict = verdict_name(peer->verdict);
    return holds(pid, word) || holds(process_command(peer), word) ||
           holds(peer->worst, word) ||
           (peer->mode != COUNT_UNKNOWN && holds(mode_name(peer->mode), word)) ||
           (verdict != NULL && holds(verdict, word));
}

static bool
keep(const struct peer *peer, void *context)
{
    const struct process_view *view = context;
    const char *at = view->filter;
    while (*(at += strspn(at, " ")) != '\0') {
        char word[WORD_BYTES];
        size_t length = strcspn(at, " ");
        bool reverse = at[0] == '!' && length > 1;
        snprintf(word, sizeof word, "%.*s", (int)(length - (reverse ? 1 : 0)),
                 at + (reverse ? 1 : 0));
        if (word_matches(peer, word) == reverse) {
            return false;
        }
        at += length;
    }
    return true;
}

static size_t
place_of(const struct process_view *view, const struct peer *peer)
{
    size_t place = 0;
    while (place < view->order_count && view->order[place] != peer->serial) {
        place++;
    }
    return place;
}

static int
by_column(const struct peer *left, const struct peer *right, void *context)
{
    const struct process_view *view = context;
    if (view->order_count > 0) { // held: as they were, new ones last
        size_t a = place_of(view, left);
        size_t b = place_of(view, right);
        return (a > b) - (a < b);
    }
    double a = process_columns[view->sort].value(left);
    double b = process_columns[view->sort].value(right);
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b); // what is unknown comes last, either way
    }
    int way = (a < b) - (a > b); // the greatest first
    way = view->sort == PROCESS_PID ? -way : way;
    return view->inverted ? -way : way;
}

static void
remember_order(struct process_view *view)
{
    view->order_count = view->count;
    for (size_t i = 0; i < view->count; i++) {
        view->order[i] = view->rows[i].peer->serial;
    }
}

// The list was opened from a process: that is where the cursor begins.
static void
go_home(struct process_view *view)
{
    for (size_t i = 0; i < view->count && view->home_pid != 0; i++) {
        if (view->rows[i].peer->pid == view->home_pid) {
            view->selected = view->rows[i].peer->serial;
            view->home_pid = 0;
        }
    }
}

static void
find_cursor(struct process_view *view)
{
    go_home(view);
    for (size_t i = 0; i < view->count && view->selected != 0; i++) {
        if (view->rows[i].peer->serial == view->selected) {
            view->cursor = i;
            return;
        }
    }
    if (view->cursor >= view->count) {
        view->cursor = view->count > 0 ? view->count - 1 : 0;
    }
    const struct peer *peer = process_view_selected(view);
    view->selected = view->selected != 0 && peer != NULL ? peer->serial : 0;
}

static void
update(struct view *base, const struct scene *scene)
{
    struct process_view *view = process_of(base);
    if (scene->now_ms >= view->held_until_ms) {
        view->order_count = 0;
    }
    view->count = 0;
    view->filtered = 0;
    if (scene->fleet != NULL) {
        view->count = kin_rows(scene->fleet, by_column, keep, view, view->rows);
        view->filtered = scene->fleet->count - view->count;
    }
    find_cursor(view);
}

/* Drawing. */

// " memtop  5 processes · RSS 568M · 2 154 120 objects · 1 odd"
static void
draw_title(const struct process_view *view, const struct scene *scene, struct grid *grid,
           int row)
{
    char line[LINE_BYTES];
    char rss[FORMAT_BYTES];
    char live[FORMAT_BYTES];
    double rss_bytes = 0;
    double objects = 0;
    size_t count = 0;
    size_t odd = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct peer *peer = view->rows[i].peer;
        if (peer->state == PEER_LIVE) {
            count++;
            odd += peer->oddity != PEER_USUAL;
            rss_bytes += isnan(peer->rss_bytes) ? 0 : peer->rss_bytes;
            objects += isnan(peer->live) ? 0 : peer->live;
        }
    }
    format_size(rss, scene->glyphs, rss_bytes);
    format_grouped(live, scene->glyphs, objects);
    const char *dot = scene->glyphs->dot;
    snprintf(line, sizeof line, "%zu process%s %s RSS %s %s %s objects", count,
             count == 1 ? "" : "es", dot, rss, dot, live);
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, "memtop") + 2;
    at += grid_put(grid, row, at, grid->columns - at, STYLE_NORMAL, line);
    if (odd > 0) {
        snprintf(line, sizeof line, " %s %zu odd", dot, odd);
        at += grid_put(grid, row, at, grid->columns - at, STYLE_WARNING, line);
    }
    if (view->filtered > 0 || view->filter[0] != '\0') {
        snprintf(line, sizeof line, " %s filter %s hides %zu", dot, view->filter,
                 view->filtered);
        grid_put(grid, row, at, grid->columns - at, STYLE_DIM, line);
    }
}

static void
draw_headings(const struct process_view *view, const struct scene *scene,
              struct grid *grid)
{
    int at = MARGIN;
    for (int i = 0; i < view->shown_count; i++) {
        enum process_column_id id = view->shown[i];
        bool sorted = id == view->sort;
        char title[COLUMN_TITLE_BYTES];
        char heading[COLUMN_TITLE_BYTES + 8];
        process_column_title(title, id, scene);
        bool upwards = (id == PROCESS_PID) != view->inverted;
        snprintf(heading, sizeof heading, sorted ? "%s %s" : "%s", title,
                 upwards ? scene->glyphs->ascending : scene->glyphs->descending);
        enum style style = sorted ? STYLE_ACCENT : STYLE_HEADING;
        if (process_columns[id].alignment == ALIGN_RIGHT) {
            grid_put_right(grid, view->heading_row, at + 1, view->widths[i] - 1, style,
                           heading);
        } else {
            int indent = id == PROCESS_PID                          ? 0
                         : id == PROCESS_WORST || id == PROCESS_ODD ? 2
                                                                    : 1;
            grid_put(grid, view->heading_row, at + indent, view->widths[i] - indent,
                     style, heading);
        }
        at += view->widths[i];
    }
    grid_mark(grid, view->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static void
draw_row(const struct process_view *view, const struct scene *scene, struct grid *grid,
         size_t index, int line)
{
    int at = MARGIN;
    for (int i = 0; i < view->shown_count; i++) {
        process_columns[view->shown[i]].draw(scene, &view->rows[index], grid, line, at,
                                             view->widths[i]);
        at += view->widths[i];
    }
    if (index == view->cursor) {
        grid_put(grid, line, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, line, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
}

// Of the process under the cursor, or why one is the odd one out.
static void
draw_reason(const struct process_view *view, const struct scene *scene, struct grid *grid,
            int row)
{
    char text[LINE_BYTES] = "";
    char fitted[LINE_BYTES];
    const struct peer *selected = process_view_selected(view);
    if (selected != NULL) {
        process_reason(text, sizeof text, scene, selected);
    }
    for (size_t i = 0; i < view->count && text[0] == '\0'; i++) {
        if (view->rows[i].peer->oddity != PEER_USUAL) {
            process_reason(text, sizeof text, scene, view->rows[i].peer);
        }
    }
    text_fit(fitted, sizeof fitted, text, grid->columns - MARGIN - 1, scene->ascii);
    grid_put(grid, row, MARGIN, grid->columns - MARGIN, STYLE_WARNING, fitted);
}

static void
draw_none(const struct process_view *view, const struct scene *scene, struct grid *grid)
{
    const char *const nothing[] = {"No Ruby program runs under the probe here.", "",
                                   "Start one with it:  ruby -r memtop/auto app.rb",
                                   "It then appears by itself."};
    bool hidden = view->filtered > 0;
    size_t lines = hidden ? 1 : sizeof nothing / sizeof nothing[0];
    (void)scene;
    for (size_t i = 0; i < lines; i++) {
        grid_put(grid, view->first_row + (int)i, MARGIN, grid->columns - MARGIN,
                 i == 0 ? STYLE_ACCENT : STYLE_NORMAL,
                 hidden ? "No process passes the filter; \\ clears it." : nothing[i]);
    }
}

static void
draw(struct view *base, const struct scene *scene, struct grid *grid, struct area area)
{
    struct process_view *view = process_of(base);
    int reason = area.rows >= ROWS_FOR_REASON ? 1 : 0;
    view->heading_row = area.row + 1;
    view->first_row = area.row + 2;
    view->page = area.rows - 3 - reason;
    view->page = view->page > 0 ? view->page : 0;
    view->shown_count =
        process_column_layout(area.columns - MARGIN - 1, view->shown, view->widths);
    draw_title(view, scene, grid, area.row);
    if (view->count == 0) {
        draw_none(view, scene, grid);
        return;
    }
    draw_headings(view, scene, grid);
    view->top = cursor_top(view->top, view->cursor, view->count,
                           view->page > 0 ? (size_t)view->page : 1);
    int lines = 0;
    for (; lines < view->page && view->top + (size_t)lines < view->count; lines++) {
        draw_row(view, scene, grid, view->top + (size_t)lines, view->first_row + lines);
    }
    size_t below = view->count - view->top - (size_t)lines;
    if (below + view->top > 0) {
        char text[FORMAT_BYTES + 40];
        snprintf(text, sizeof text, "%s %zu more", scene->glyphs->more,
                 below + view->top);
        grid_put(grid, view->first_row + lines, MARGIN, grid->columns - MARGIN, STYLE_DIM,
                 text);
    }
    if (reason > 0) {
        draw_reason(view, scene, grid, area.row + area.rows - 1);
    }
}

/* Keys. */

static bool
can(const struct view *base, const struct scene *scene, enum action action)
{
    const struct process_view *view = (const struct process_view *)(const void *)base;
    switch (action) {
    case ACTION_OPEN:
    case ACTION_MERGE:
    case ACTION_SORT_MENU:
        return view->count > 0;
    case ACTION_CLEAR_FILTER:
        return view->filter[0] != '\0';
    case ACTION_OUTPUT:
        return scene->attended;
    case ACTION_PAUSE:
    case ACTION_PROCESSES:
        return false;
    case ACTION_BACK:
        return scene->chosen;
    case ACTION_QUIT:
        return !scene->chosen;
    default:
        return true;
    }
}

// A person moved the cursor.
static void
move_to(struct process_view *view, const struct scene *scene, size_t row)
{
    size_t last = view->count > 0 ? view->count - 1 : 0;
    view->cursor = row < last ? row : last;
    view->home_pid = 0;
    const struct peer *peer = process_view_selected(view);
    view->selected = peer != NULL ? peer->serial : 0;
    view->held_until_ms = scene->now_ms + PROCESS_FREEZE_MS;
    remember_order(view);
}

static void
move_by(struct process_view *view, const struct scene *scene, long by)
{
    move_to(view, scene, cursor_moved(view->cursor, by));
}

static bool
move(struct process_view *view, const struct scene *scene, enum action action)
{
    long by = cursor_step(action, view->page);
    if (by != 0) {
        move_by(view, scene, by);
    }
    return by != 0;
}

static void
sort_by(struct process_view *view, enum process_column_id id)
{
    view->inverted = view->sort == id ? !view->inverted : false;
    view->sort = id;
    view->held_until_ms = 0;
    view->order_count = 0;
}

static bool
sort_beside(struct process_view *view, int step)
{
    int place = 0;
    while (place < view->shown_count && view->shown[place] != view->sort) {
        place++;
    }
    for (place += step; place >= 0 && place < view->shown_count; place += step) {
        if (process_columns[view->shown[place]].value != NULL) {
            sort_by(view, view->shown[place]);
            return true;
        }
    }
    return false;
}

static bool
arrange(struct process_view *view, struct scene *scene, enum action action,
        struct key key)
{
    enum process_column_id id;
    switch (action) {
    case ACTION_SORT_LEFT:
        return sort_beside(view, -1);
    case ACTION_SORT_RIGHT:
        return sort_beside(view, 1);
    case ACTION_INVERT:
        sort_by(view, view->sort);
        return true;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return true;
    case ACTION_SORT_COLUMN:
        id = process_column_sortable((int)(key.code - '1'));
        if (id != PROCESS_COLUMN_COUNT) {
            sort_by(view, id);
        }
        return true;
    default:
        return false;
    }
}

static unsigned
choose(const struct process_view *view, struct scene *scene, const char *how)
{
    if (process_view_selected(view) == NULL) {
        return OUTCOME_NONE;
    }
    // by no number: two containers may have the same
    snprintf(scene->command, sizeof scene->command, "%s", how);
    return OUTCOME_COMMAND;
}

static unsigned
act(struct view *base, struct scene *scene, enum action action, struct key key)
{
    struct process_view *view = process_of(base);
    if (action == ACTION_OPEN) {
        return choose(view, scene, "process");
    }
    if (action == ACTION_QUIT && key.code == 'q' && scene->chosen) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    if (action == ACTION_MERGE) {
        return choose(view, scene, "merge");
    }
    if (move(view, scene, action) || arrange(view, scene, action, key)) {
        return OUTCOME_DRAW;
    }
    return OUTCOME_PASS;
}

static unsigned
click_heading(struct process_view *view, int column)
{
    int at = MARGIN;
    for (int i = 0; i < view->shown_count; i++) {
        at += view->widths[i];
        if (column < at) {
            if (process_columns[view->shown[i]].value == NULL) {
                return OUTCOME_NONE;
            }
            sort_by(view, view->shown[i]);
            return OUTCOME_DRAW;
        }
    }
    return OUTCOME_NONE;
}

static unsigned
mouse(struct view *base, struct scene *scene, struct key key)
{
    struct process_view *view = process_of(base);
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        move_by(view, scene, key.mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
        return OUTCOME_DRAW;
    }
    if (key.row == view->heading_row) {
        return click_heading(view, key.column);
    }
    int line = key.row - view->first_row;
    if (line < 0 || line >= view->page || view->top + (size_t)line >= view->count) {
        return OUTCOME_NONE;
    }
    move_to(view, scene, view->top + (size_t)line);
    return key.mouse == MOUSE_DOUBLE ? choose(view, scene, "process") : OUTCOME_DRAW;
}

static const struct view_class process_class = {
    .name = "processes",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = word_at,
    .update = update,
    .draw = draw,
    .can = can,
    .act = act,
    .mouse = mouse,
};

void
process_view_init(struct process_view *view)
{
    *view = (struct process_view){.view = {&process_class}, .sort = PROCESS_PID};
}

bool
process_view_sort(struct process_view *view, const char *word)
{
    enum process_column_id id = process_column_find(word, strlen(word));
    if (id == PROCESS_COLUMN_COUNT || process_columns[id].value == NULL) {
        return false;
    }
    sort_by(view, id);
    return true;
}

void
process_view_filter(struct process_view *view, const char *text)
{
    snprintf(view->filter, sizeof view->filter, "%s", text);
    view->order_count = 0;
}

const struct peer *
process_view_selected(const struct process_view *view)
{
    return view->cursor < view->count ? view->rows[view->cursor].peer : NULL;
}
