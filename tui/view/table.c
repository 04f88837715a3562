#include "tui/view/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/cursor.h"
#include "tui/view/format.h"
#include "tui/view/header.h"
#include "tui/view/spread.h"
#include "tui/view/strip.h"

#define MARGIN 2 // cells of the cursor's sign
#define WHEEL_ROWS 3
#define ROWS_FOR_REASON 14
#define REASON_BYTES 640
#define SPREAD_NAME_CELLS 36 // at most for a name while processes have columns

static struct table *
table_of(struct view *view)
{
    return (struct table *)(void *)view;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_OPEN, {KEY_CODE_ENTER, KEY_CODE_RIGHT, 'l'}, "call tree", "which call paths allocated the class's objects, from now on"},
    {ACTION_PIN, {'T'}, NULL, "go on taking stacks of this class when nobody looks, or no longer"},
    {ACTION_TAGS, {'W'}, NULL, "what each tag (a route, a job) allocates and leaves behind"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_HALF_UP, {KEY_CONTROL('U')}, NULL, "half a screen up"},
    {ACTION_HALF_DOWN, {KEY_CONTROL('D')}, NULL, "half a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the top, and stay there whatever class it is"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_FILTER, {'/'}, "filter", "show only some classes, as you type: text, ~regex, delta>100, !not"},
    {ACTION_CLEAR_FILTER, {'\\', KEY_CODE_F1 + 3}, "all classes", "clear the filter"},
    {ACTION_NEXT, {'n'}, NULL, "next class that matches the last filter"},
    {ACTION_PREVIOUS, {'N'}, NULL, "previous one"},
    {ACTION_SORT_MENU, {'s', KEY_CODE_F1 + 5}, "sort", "choose the column that orders the rows"},
    {ACTION_SORT_LEFT, {'<'}, NULL, "order by the column to the left"},
    {ACTION_SORT_RIGHT, {'>'}, NULL, "order by the column to the right"},
    {ACTION_INVERT, {'I'}, NULL, "invert the order"},
    {ACTION_MARK, {'m'}, "mark", "set a mark: changes are shown since then"},
    {ACTION_SINCE_MARK, {'d'}, "since", "changes since the mark, or since memtop connected"},
    {ACTION_PICK_MARK, {'\''}, NULL, "pick a mark"},
    {ACTION_BORN, {'D'}, "born", "what was born between the last two marks and is still alive"},
    {ACTION_SERIES, {'v'}, NULL, "let the timeline show live objects, RSS or collections"},
    {ACTION_FOLLOW, {'F'}, NULL, "let the cursor follow its class, or stay in its row"},
    {ACTION_MEASURE, {'%'}, NULL, "changes and shares of objects, or of bytes"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_INTERNAL, {'i', 'a'}, NULL, "show what is not a Ruby class as well"},
    {ACTION_CENSUS, {'c'}, NULL, "take a census now: bytes, and a check of the counts"},
    {ACTION_GC, {KEY_CONTROL('G')}, NULL, "run the garbage collector in the program (asks first)"},
    {ACTION_SORT_COLUMN, {'1', '2', '3', '4', '5', '6', '7', '8', '9'}, NULL, "order by the n-th column, as F6 numbers them"},
    {ACTION_SPREAD, {'|'}, "each", "of merged processes: each one's LIVE beside the sum"},
    {ACTION_OUTPUT, {'O'}, NULL, "what the command writes that memtop run started"},
    {ACTION_QUIT, {'q'}, "quit", "quit"},
    {ACTION_NONE, {0}, NULL, NULL},
};

static const struct word words[] = {
    {"mode count", "Every allocation and free is counted: the figures are exact."},
    {"mode census", "The heap is walked now and then; figures are as of the last walk."},
    {"mode dormant", "The probe is loaded and counts nothing. `:mode count` starts it."},
    {"cost", "What the probe takes of one core, as it measured itself."},
    {"drift", "Objects that the last census found miscounted, and put right."},
    {"drops", "Frames that a viewer was too slow to take. They cost detail in time, never truth."},
    {"RSS", "Memory of the whole process, and how it changed over up to a minute."},
    {"heap", "Slots of Ruby's heap in use, and free. \"old\": the program let nobody read them."},
    {"GC", "Collections so far, and their part of the time, over the last 5 to 10 seconds."},
    {"held", "The order of the rows stands still for 5 s after the cursor moved."},
    {"LATE", "No sample came for three intervals: the figures are that old."},
    {"PAUSED", "The screen stands still. The program runs, and its figures go on arriving."},
    {"GONE", "The program ended. What it last said stays; memtop looks for it again."},
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    if (index < COLUMN_COUNT) {
        column_title(word->word, (enum column_id)index, scene);
        word->meaning = columns[index].explain;
        return true;
    }
    index -= COLUMN_COUNT;
    if (index < sizeof words / sizeof words[0]) {
        *word = words[index];
        return true;
    }
    return false;
}

// Sizes follow from the scene, so that paging is right before anything is drawn.
static void
lay_out(struct table *table, const struct scene *scene, struct area area)
{
    int header = header_rows(scene, area.rows, area.columns);
    int strip = scene->strip != NULL ? strip_rows(area.rows, area.columns) : 0;
    table->strip_area = (struct area){area.row + header, 0, strip, area.columns};
    header += strip;
    table->heading_row = area.row + header;
    table->first_row = table->heading_row + 1;
    table->reason_row = model_judged(scene->model) && area.rows >= ROWS_FOR_REASON
                            ? area.row + area.rows - 1
                            : -1;
    // less the heading, the rest of the classes, and why the class is judged so
    table->page = area.rows - header - 2 - (table->reason_row >= 0);
    if (table->page < 0) {
        table->page = 0;
    }
    table->shown_count = column_layout(&table->choice, area.columns - MARGIN - 1,
                                       table->rows.sort, table->shown, table->widths);
    if (spread_shown(scene)) { // what is right of LIVE makes room
        table->shown_count = 2;
        int third = area.columns / 3;
        table->widths[0] = third < SPREAD_NAME_CELLS ? third : SPREAD_NAME_CELLS;
    }
}

static void
update(struct view *view, const struct scene *scene)
{
    struct table *table = table_of(view);
    table->no_memory = !rows_update(&table->rows, scene);
}

static void
draw_headings(const struct table *table, const struct scene *scene, struct grid *grid)
{
    int at = MARGIN;
    for (int i = 0; i < table->shown_count; i++) {
        enum column_id id = table->shown[i];
        bool sorted = id == table->rows.sort;
        char title[COLUMN_TITLE_BYTES];
        char heading[COLUMN_TITLE_BYTES + 8];
        column_title(title, id, scene);
        bool upwards = (id == COLUMN_NAME) != table->rows.inverted;
        const char *arrow =
            upwards ? scene->glyphs->ascending : scene->glyphs->descending;
        snprintf(heading, sizeof heading, sorted ? "%s %s" : "%s", title, arrow);
        enum style style = sorted ? STYLE_ACCENT : STYLE_HEADING;
        if (columns[id].alignment == ALIGN_LEFT) {
            grid_put(grid, table->heading_row, at, table->widths[i], style, heading);
        } else {
            // one blank at least to the column before
            grid_put_right(grid, table->heading_row, at + 1, table->widths[i] - 1, style,
                           heading);
        }
        at += table->widths[i];
    }
    if (spread_shown(scene)) {
        spread_headings(scene, grid, table->heading_row, at);
    }
    grid_mark(grid, table->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static void
draw_row(struct table *table, const struct scene *scene, struct grid *grid, int line)
{
    size_t index = table->rows.top + (size_t)line;
    const struct model_class *class = table->rows.list[index];
    int row = table->first_row + line;
    int at = MARGIN;
    for (int i = 0; i < table->shown_count; i++) {
        columns[table->shown[i]].draw(scene, class, grid, row, at, table->widths[i]);
        at += table->widths[i];
    }
    if (spread_shown(scene)) {
        spread_row(scene, class, grid, row, at);
    }
    if (index == table->rows.cursor) {
        grid_put(grid, row, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
    table->drawn++;
}

// Sum of what is drawn; the rest is told in the line below.
static struct rows_sum
sum_of(const struct table *table, const struct scene *scene, int lines)
{
    struct rows_sum sum = {0};
    for (int line = 0; line < lines; line++) {
        const struct model_class *class =
            table->rows.list[table->rows.top + (size_t)line];
        double live = format_number(class->now.live);
        double delta = columns[COLUMN_DELTA].value(scene, class);
        sum.count++;
        sum.live += isnan(live) ? 0 : live;
        sum.delta += isnan(delta) ? 0 : delta;
    }
    return sum;
}

static int
describe_hidden(const struct rows *rows, const struct scene *scene, char *out,
                size_t capacity)
{
    char internal[40] = "";
    char filtered[40] = "";
    if (rows->internal > 0) {
        snprintf(internal, sizeof internal, "%zu internal: i", rows->internal);
    }
    if (rows->filtered > 0) {
        snprintf(filtered, sizeof filtered, "%zu filtered out: \\", rows->filtered);
    }
    if (internal[0] == '\0' && filtered[0] == '\0') {
        return 0;
    }
    bool both = internal[0] != '\0' && filtered[0] != '\0';
    return snprintf(out, capacity, "  (%s%s%s%s%s)", filtered, both ? " " : "",
                    both ? scene->glyphs->dot : "", both ? " " : "", internal);
}

// "… 412 more classes, 3.1 % of objects, Δ +88  (why)" in as many of its four parts
// as fit. Returns the cells used.
static int
draw_more(const struct table *table, const struct scene *scene, struct grid *grid,
          int row, const struct rows_sum *drawn)
{
    char count[FORMAT_BYTES];
    char number[FORMAT_BYTES];
    char parts[4][120] = {"", "", "", ""};
    const struct rows_sum *all = &table->rows.all;
    size_t more = all->count - drawn->count;
    int used = 0;
    if (more == 0) {
        return 0;
    }
    format_grouped(count, scene->glyphs, (double)more);
    snprintf(parts[0], sizeof parts[0], "%s %s more class%s", scene->glyphs->more, count,
             more > 1 ? "es" : "");
    format_percent(number, scene->glyphs,
                   all->live > 0 ? 100 * (all->live - drawn->live) / all->live
                                 : (double)NAN);
    snprintf(parts[1], sizeof parts[1], ", %s of objects", number);
    (scene->by_bytes ? format_size_change : format_grouped_change)(
        number, scene->glyphs, all->delta - drawn->delta);
    snprintf(parts[2], sizeof parts[2], ", %s %s", scene->glyphs->change, number);
    describe_hidden(&table->rows, scene, parts[3], sizeof parts[3]);
    for (int i = 0; i < 4; i++) {
        int room = grid->columns - MARGIN - used;
        if (text_width(parts[i]) <= room) {
            used += grid_put(grid, row, MARGIN + used, room, STYLE_DIM, parts[i]);
        }
    }
    return used;
}

// The line below the rows: what is not above it, and why the order is as it is.
static void
draw_rest(const struct table *table, const struct scene *scene, struct grid *grid,
          int row, int lines)
{
    char line[FILTER_BYTES + 8] = "";
    char fitted[FILTER_BYTES + 8];
    const struct rows *rows = &table->rows;
    struct rows_sum drawn = sum_of(table, scene, lines);
    int used = draw_more(table, scene, grid, row, &drawn);
    int room = grid->columns - MARGIN - used - 3;
    if (rows->filter.text[0] != '\0') {
        snprintf(line, sizeof line, "filter %s", rows->filter.text);
    } else if (rows->frozen && !scene->paused) {
        snprintf(line, sizeof line, "order held");
    }
    text_fit(fitted, sizeof fitted, line, room, scene->ascii);
    if (room >= 10) { // less says nothing
        grid_put_right(grid, row, MARGIN + used + 2, room, STYLE_DIM, fitted);
    }
}

// "Order leak?: +12 310 objects over 38 collections, …"
static void
draw_reason(const struct table *table, const struct scene *scene, struct grid *grid)
{
    char text[REASON_BYTES];
    char fitted[REASON_BYTES];
    const struct model_class *class = rows_selected(&table->rows);
    const char *verdict = class != NULL ? verdict_name(class->verdict) : NULL;
    if (table->reason_row < 0 || verdict == NULL) {
        return;
    }
    snprintf(text, sizeof text, "%.100s %s: %.400s", class->name, verdict, class->reason);
    text_fit(fitted, sizeof fitted, text, grid->columns - MARGIN - 1, scene->ascii);
    grid_put(grid, table->reason_row, MARGIN, grid->columns - MARGIN,
             class->verdict == VERDICT_LEAK ? STYLE_GREW : STYLE_DIM, fitted);
}

// Say in the place of rows why there are none.
static void
draw_words(const struct table *table, struct grid *grid, enum style style,
           const char *const *lines)
{
    for (int i = 0; lines[i] != NULL && i < table->page + 1; i++) {
        grid_put(grid, table->first_row + i, MARGIN, grid->columns - MARGIN,
                 i == 0 ? style : STYLE_NORMAL, lines[i]);
    }
}

static void
draw_waiting(const struct table *table, const struct scene *scene, struct grid *grid)
{
    char first[400];
    snprintf(first, sizeof first,
             scene->link == LINK_LIVE
                 ? "Connected to %.300s; the first sample is on its way."
                 : "Connecting to %.300s",
             scene->source);
    const char *const lines[] = {first, scene->link_detail, NULL};
    draw_words(table, grid, STYLE_ACCENT, lines);
}

static void
draw_dormant(const struct table *table, const struct scene *scene, struct grid *grid)
{
    bool refused = scene->readonly ||
                   (model_hello(scene->model)->capabilities & CAPABILITY_READONLY) != 0;
    const char *const lines[] = {
        "The probe is dormant: it is loaded, costs nothing and counts nothing.",
        "",
        refused ? "It cannot be started from here: read-only."
                : "Type  :mode count  to start counting.",
        NULL,
    };
    draw_words(table, grid, STYLE_WARNING, lines);
}

static void
draw_nothing(const struct table *table, struct grid *grid)
{
    const char *line = "No classes yet.";
    if (table->no_memory) {
        line = "There is no memory left to list the classes.";
    } else if (table->rows.filter.count > 0) {
        line = "No class passes the filter; \\ clears it.";
    }
    const char *const lines[] = {line, NULL};
    draw_words(table, grid, table->no_memory ? STYLE_WARNING : STYLE_DIM, lines);
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct table *table = table_of(view);
    lay_out(table, scene, area);
    header_draw(scene, grid, table->strip_area.row - area.row);
    if (table->strip_area.rows > 0) {
        strip_draw(scene->strip, scene->glyphs, grid, table->strip_area);
    }
    if (!model_sampled(scene->model)) {
        draw_waiting(table, scene, grid);
        return;
    }
    if (model_sample(scene->model)->mode == MODE_DORMANT) {
        draw_dormant(table, scene, grid);
        return;
    }
    draw_headings(table, scene, grid);
    rows_show_cursor(&table->rows, (size_t)table->page);
    size_t below = table->rows.count - table->rows.top;
    int lines = below < (size_t)table->page ? (int)below : table->page;
    for (int line = 0; line < lines; line++) {
        draw_row(table, scene, grid, line);
    }
    if (lines == 0) {
        draw_nothing(table, grid);
    }
    draw_rest(table, scene, grid, table->first_row + (lines > 0 ? lines : 1), lines);
    draw_reason(table, scene, grid);
}

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct table *table = (const struct table *)(const void *)view;
    bool figures =
        model_sampled(scene->model) && model_sample(scene->model)->mode != MODE_DORMANT;
    switch (action) {
    case ACTION_OPEN:
        return figures && scene->merge == NULL;
    case ACTION_FILTER:
    case ACTION_SORT_MENU:
    case ACTION_PAUSE:
        return figures;
    case ACTION_CLEAR_FILTER:
        return table->rows.filter.text[0] != '\0';
    case ACTION_SINCE_MARK:
        return model_mark(scene->model, 0) != NULL;
    case ACTION_BORN:
        return model_mark(scene->model, 1) != NULL;
    case ACTION_MARK:
        return figures;
    case ACTION_SPREAD:
        return scene->merge != NULL;
    case ACTION_BACK:
        return false;
    default:
        return true;
    }
}

static bool
sort_by(struct table *table, int from, int step)
{
    for (int i = from; i >= 0 && i < table->shown_count; i += step) {
        if (rows_sort(&table->rows, table->shown[i])) {
            return true;
        }
        if (step == 0) {
            break;
        }
    }
    return false;
}

static int
sorted_place(const struct table *table)
{
    int place = 0;
    while (place < table->shown_count && table->shown[place] != table->rows.sort) {
        place++;
    }
    return place;
}

// Moves in the list; false for an action that is none.
static bool
move(struct table *table, const struct scene *scene, enum action action)
{
    long by = cursor_step(action, table->page);
    if (action == ACTION_TOP) {
        rows_move_to(&table->rows, 0, (size_t)table->page, scene->now_ms);
    } else if (by != 0) {
        rows_move_by(&table->rows, by, (size_t)table->page, scene->now_ms);
    }
    return by != 0;
}

static bool
arrange(struct table *table, struct scene *scene, enum action action)
{
    switch (action) {
    case ACTION_SORT_LEFT:
        return sort_by(table, sorted_place(table) - 1, -1);
    case ACTION_SORT_RIGHT:
        return sort_by(table, sorted_place(table) + 1, 1);
    case ACTION_INVERT:
        rows_invert(&table->rows);
        return true;
    case ACTION_MEASURE:
        scene->by_bytes = !scene->by_bytes;
        rows_renew(&table->rows);
        return true;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return true;
    case ACTION_INTERNAL:
        scene->internal = !scene->internal;
        rows_renew(&table->rows);
        return true;
    default:
        return false;
    }
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct table *table = table_of(view);
    if (action == ACTION_SORT_COLUMN) {
        enum column_id column = column_sortable((int)(key.code - '1'));
        return column < COLUMN_COUNT && rows_sort(&table->rows, column) ? OUTCOME_DRAW
                                                                        : OUTCOME_NONE;
    }
    if (move(table, scene, action) || arrange(table, scene, action)) {
        return OUTCOME_DRAW;
    }
    return OUTCOME_PASS;
}

static unsigned
click_heading(struct table *table, int column)
{
    int at = MARGIN;
    for (int i = 0; i < table->shown_count; i++) {
        at += table->widths[i];
        if (column < at) {
            return sort_by(table, i, 0) ? OUTCOME_DRAW : OUTCOME_NONE;
        }
    }
    return OUTCOME_NONE;
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct table *table = table_of(view);
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        rows_scroll(&table->rows, key.mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS,
                    (size_t)table->page, scene->now_ms);
        return OUTCOME_DRAW;
    }
    if (key.row == table->heading_row) {
        return click_heading(table, key.column);
    }
    int line = key.row - table->first_row;
    if (line < 0 || line >= table->page ||
        table->rows.top + (size_t)line >= table->rows.count) {
        return OUTCOME_NONE;
    }
    rows_move_to(&table->rows, table->rows.top + (size_t)line, (size_t)table->page,
                 scene->now_ms);
    table->rows.held = true;
    return OUTCOME_DRAW;
}

static const struct view_class table_class = {
    .name = "classes",
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
table_init(struct table *table)
{
    *table = (struct table){.view = {&table_class}, .choice = column_all()};
    rows_init(&table->rows);
}

void
table_destroy(struct table *table)
{
    rows_destroy(&table->rows);
    filter_destroy(&table->wanted);
}

bool
table_search(struct table *table, const struct scene *scene, int by)
{
    return rows_search(&table->rows, scene, &table->wanted, by, (size_t)table->page);
}

bool
table_filter(struct table *table, const char *text, char error[FILTER_ERROR_BYTES])
{
    if (!filter_parse(&table->rows.filter, text, error)) {
        return false;
    }
    if (table->rows.filter.count > 0) {
        filter_parse(&table->wanted, text, error); // the same text: no error but memory
    }
    rows_renew(&table->rows);
    return true;
}
