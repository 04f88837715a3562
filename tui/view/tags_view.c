#include "tui/view/tags_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/cursor.h"
#include "tui/view/format.h"
#include "tui/view/header.h"

#define MARGIN 2 // cells of the cursor's sign
#define WHEEL_ROWS 3
#define HOLD_MS 5000
#define TITLE_BYTES 400

static struct tags_view *
view_of(struct view *view)
{
    return (struct tags_view *)(void *)view;
}

static struct tags_level *
level_of(struct tags_view *view)
{
    return view->opened != 0 ? &view->classes : &view->tags;
}

static const struct tags_level *
shown_level(const struct tags_view *view)
{
    return view->opened != 0 ? &view->classes : &view->tags;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_CHOOSE, {KEY_CODE_ENTER, KEY_CODE_RIGHT, 'l'}, "classes", "of which classes the tag's objects are; of a class: its call tree"},
    {ACTION_BACK, {KEY_CODE_LEFT, 'h', KEY_CODE_ESCAPE, KEY_CODE_BACKSPACE, 'q'}, "back", "clear the filter, then back"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the top"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_FILTER, {'/'}, "filter", "show only rows whose name holds a text, as you type"},
    {ACTION_CLEAR_FILTER, {'\\', KEY_CODE_F1 + 3}, NULL, "clear the filter"},
    {ACTION_SORT_LEFT, {'<'}, "sort", "order by the column to the left"},
    {ACTION_SORT_RIGHT, {'>', 's', KEY_CODE_F1 + 5}, NULL, "order by the column to the right"},
    {ACTION_INVERT, {'I'}, NULL, "invert the order"},
    {ACTION_MARK, {'m'}, "mark", "set a mark: changes are shown since then"},
    {ACTION_SINCE_MARK, {'d'}, NULL, "changes since the mark, or since memtop connected"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_CENSUS, {'c'}, "census", "take a census now: bytes, and what is retained"},
    {ACTION_GC, {KEY_CONTROL('G')}, NULL, "run the garbage collector in the program (asks first)"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    if (index >= TAGS_COLUMN_COUNT) {
        return false;
    }
    char title[COLUMN_TITLE_BYTES];
    tags_column_title(title, (enum tags_column_id)index, scene, false);
    const char *of = index == TAGS_CALL_RATE          ? "CALLS"
                     : index == TAGS_ALLOCATED_A_CALL ? "ALLOC"
                     : index == TAGS_RETAINED_A_CALL  ? "RETAINED"
                                                      : "";
    snprintf(word->word, sizeof word->word, "%s%s", of, title);
    word->meaning = tags_columns[index].explain;
    return true;
}

/* Lines. */

static bool
put(struct tags_level *level, struct tags_line line)
{
    if (strcasestr(line.name, level->filter) == NULL) {
        level->hidden++;
        return true;
    }
    if (level->count == level->capacity) {
        size_t capacity = level->capacity + level->capacity / 2 + 64;
        struct tags_line *lines = realloc(level->lines, capacity * sizeof *lines);
        if (lines == NULL) {
            return false;
        }
        level->lines = lines;
        level->capacity = capacity;
    }
    level->lines[level->count++] = line;
    return true;
}

static bool
list_tags(struct tags_level *level, const struct scene *scene)
{
    bool good = true;
    for (size_t i = 0; i < model_tag_count(scene->model) && good; i++) {
        const struct model_tag *tag = model_tag_at(scene->model, i);
        good = !tag->listed || put(level, tags_line(tag));
    }
    return good;
}

static bool
list_classes(struct tags_level *level, const struct scene *scene, uint32_t opened)
{
    const struct tag_class *rows = NULL;
    const struct model_tag *tag = model_tag_find(scene->model, opened);
    size_t count = tag != NULL ? model_tag_classes(scene->model, opened, &rows) : 0;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        good = put(level, tags_class_line(scene, tag, &rows[i]));
    }
    return good;
}

// What qsort() is to do; there is one thread.
static enum tags_column_id sort_column;
static bool sort_inverted;

static int
compare(const void *left, const void *right)
{
    const struct tags_line *a = left;
    const struct tags_line *b = right;
    double first = a->values[sort_column];
    double second = b->values[sort_column];
    int order = 0;
    if (sort_column == TAGS_NAME) {
        order = strcmp(a->name, b->name);
    } else if (isnan(first) || isnan(second)) {
        return isnan(first) != isnan(second) ? (isnan(first) ? 1 : -1)
                                             : strcmp(a->name, b->name);
    } else {
        order = (second > first) - (second < first);
    }
    order = sort_inverted ? -order : order;
    return order != 0 ? order : strcmp(a->name, b->name);
}

static size_t
find_line(const struct tags_level *level, uint32_t id)
{
    size_t at = 0;
    while (at < level->count && level->lines[at].id != id) {
        at++;
    }
    return at;
}

// In the order that the ids had before, what is new behind them.
static void
keep_order(struct tags_level *level, const uint32_t *ids, size_t count)
{
    size_t placed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = placed;
        while (at < level->count && level->lines[at].id != ids[i]) {
            at++;
        }
        if (at < level->count) {
            struct tags_line line = level->lines[at];
            level->lines[at] = level->lines[placed];
            level->lines[placed++] = line;
        }
    }
}

static void
order(struct tags_level *level, const uint32_t *ids, size_t count)
{
    if (ids != NULL) {
        keep_order(level, ids, count);
    } else if (level->count > 0) {
        sort_column = level->sort;
        sort_inverted = level->inverted;
        qsort(level->lines, level->count, sizeof *level->lines, compare);
    }
    size_t place = level->selected != 0 ? find_line(level, level->selected) : 0;
    if (place < level->count) {
        level->cursor = place;
    }
    if (level->cursor >= level->count) {
        level->cursor = level->count > 0 ? level->count - 1 : 0;
    }
}

static uint32_t *
ids_of(const struct tags_level *level)
{
    uint32_t *ids = malloc((level->count + 1) * sizeof *ids);
    for (size_t i = 0; i < level->count && ids != NULL; i++) {
        ids[i] = level->lines[i].id;
    }
    return ids;
}

static void
renew(struct tags_view *view, const struct scene *scene, struct tags_level *level)
{
    bool held = scene->now_ms < view->held_until_ms;
    uint32_t *ids = held ? ids_of(level) : NULL;
    size_t count = level->count;
    level->count = 0;
    level->hidden = 0;
    view->no_memory = !(level == &view->classes ? list_classes(level, scene, view->opened)
                                                : list_tags(level, scene));
    order(level, ids, count);
    free(ids);
}

static void
update(struct view *view, const struct scene *scene)
{
    struct tags_view *tags = view_of(view);
    renew(tags, scene, &tags->tags);
    if (tags->opened != 0) {
        renew(tags, scene, &tags->classes);
    }
}

/* Drawing. */

static void
lay_out(struct tags_view *view, const struct scene *scene, struct area area)
{
    int header = header_rows(scene, area.rows, area.columns);
    view->heading_row = area.row + header + 1; // below the title
    view->first_row = view->heading_row + 1;
    view->page = area.rows - header - 3; // less title, heading and what is left out
    view->page = view->page > 0 ? view->page : 0;
    view->shown_count =
        tags_column_layout(area.columns - MARGIN - 1, view->opened != 0,
                           level_of(view)->sort, view->shown, view->widths);
}

static void
draw_title(const struct tags_view *view, const struct scene *scene, struct grid *grid)
{
    char title[TITLE_BYTES];
    char fitted[TITLE_BYTES];
    const struct model_tag *tag =
        view->opened != 0 ? model_tag_find(scene->model, view->opened) : NULL;
    if (tag != NULL) {
        snprintf(title, sizeof title, "tags %s %.300s", scene->glyphs->into, tag->text);
    } else {
        snprintf(title, sizeof title, "tags: what the program was doing");
    }
    int room = grid->columns - MARGIN;
    text_fit(fitted, sizeof fitted, title, room, scene->ascii);
    grid_put(grid, view->heading_row - 1, MARGIN, room, STYLE_ACCENT, fitted);
}

static void
draw_headings(struct tags_view *view, const struct scene *scene, struct grid *grid)
{
    const struct tags_level *level = level_of(view);
    int at = MARGIN;
    for (int i = 0; i < view->shown_count; i++) {
        enum tags_column_id id = view->shown[i];
        bool sorted = id == level->sort;
        char title[COLUMN_TITLE_BYTES];
        char heading[COLUMN_TITLE_BYTES + 8];
        tags_column_title(title, id, scene, view->opened != 0);
        bool upwards = (id == TAGS_NAME) != level->inverted;
        const char *arrow =
            upwards ? scene->glyphs->ascending : scene->glyphs->descending;
        snprintf(heading, sizeof heading, sorted ? "%s %s" : "%s", title, arrow);
        enum style style = sorted ? STYLE_ACCENT : STYLE_HEADING;
        if (id == TAGS_NAME) {
            grid_put(grid, view->heading_row, at, view->widths[i], style, heading);
        } else {
            grid_put_right(grid, view->heading_row, at + 1, view->widths[i] - 1, style,
                           heading);
        }
        at += view->widths[i];
    }
    grid_mark(grid, view->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static enum style
style_of(enum tags_column_id id, double value)
{
    if (id == TAGS_DELTA && value != 0 && !isnan(value)) {
        return value > 0 ? STYLE_GREW : STYLE_SHRANK;
    }
    return isnan(value) ? STYLE_DIM : STYLE_NORMAL;
}

static void
draw_line(const struct tags_view *view, const struct scene *scene, struct grid *grid,
          int row, const struct tags_line *line)
{
    int at = MARGIN;
    for (int i = 0; i < view->shown_count; i++) {
        enum tags_column_id id = view->shown[i];
        int width = view->widths[i];
        char text[TITLE_BYTES];
        if (id == TAGS_NAME) {
            text_fit(text, sizeof text, line->name[0] != '\0' ? line->name : "(unnamed)",
                     width, scene->ascii);
            grid_put(grid, row, at, width, STYLE_NORMAL, text);
        } else {
            tags_columns[id].format(text, scene, line->values[id]);
            grid_put_right(grid, row, at + 1, width - 1, style_of(id, line->values[id]),
                           text);
        }
        at += width;
    }
}

static void
draw_lines(struct tags_view *view, const struct scene *scene, struct grid *grid)
{
    struct tags_level *level = level_of(view);
    level->top = cursor_top(level->top, level->cursor, level->count, (size_t)view->page);
    for (int i = 0; i < view->page && level->top + (size_t)i < level->count; i++) {
        size_t index = level->top + (size_t)i;
        int row = view->first_row + i;
        draw_line(view, scene, grid, row, &level->lines[index]);
        if (index == level->cursor) {
            grid_put(grid, row, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
            grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_SELECTED);
        }
    }
}

// Why there are no rows, and what to do about it.
static void
draw_nothing(const struct tags_view *view, const struct scene *scene, struct grid *grid)
{
    uint64_t capabilities = model_hello(scene->model)->capabilities;
    const char *lines[] = {
        "The program has not used a tag yet.",
        "Memtop.tag(route: \"orders#show\") { ... } makes one; Memtop::Rack, the Railtie",
        "and Memtop::Sidekiq::Middleware make them for requests and jobs."};
    int count = 3;
    if (view->no_memory || shown_level(view)->hidden > 0) {
        lines[0] = view->no_memory ? "There is no memory left to list the tags."
                                   : "No row passes the filter; \\ clears it.";
        count = 1;
    } else if (view->opened != 0) {
        lines[0] =
            scene->link == LINK_LIVE
                ? "The classes of this tag are on their way."
                : "Nobody asked for the classes of this tag while they could be had.";
        count = 1;
    } else if (model_sampled(scene->model) && (capabilities & CAPABILITY_TAGS) == 0) {
        lines[0] = "This probe knows no tags: it is older than this memtop.";
        count = 1;
    }
    for (int i = 0; i < count && i <= view->page; i++) {
        grid_put(grid, view->first_row + i, MARGIN, grid->columns - MARGIN,
                 i == 0 ? STYLE_DIM : STYLE_NORMAL, lines[i]);
    }
}

static void
draw_rest(const struct tags_view *view, const struct scene *scene, struct grid *grid,
          int row)
{
    const struct tags_level *level = shown_level(view);
    char text[FILTER_BYTES + 80] = "";
    size_t drawn = level->count - level->top;
    drawn = drawn < (size_t)view->page ? drawn : (size_t)view->page;
    size_t more = level->count - drawn;
    size_t used = 0;
    if (more > 0) {
        used =
            (size_t)snprintf(text, sizeof text, "%s %zu more", scene->glyphs->more, more);
    }
    if (level->filter[0] != '\0') {
        snprintf(text + used, sizeof text - used, "%sfilter %s, %zu filtered out: \\",
                 used > 0 ? "  " : "", level->filter, level->hidden);
    }
    grid_put(grid, row, MARGIN, grid->columns - MARGIN, STYLE_DIM, text);
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct tags_view *tags = view_of(view);
    const struct tags_level *level = level_of(tags);
    lay_out(tags, scene, area);
    header_draw(scene, grid, tags->heading_row - 1 - area.row);
    draw_title(tags, scene, grid);
    if (level->count == 0) {
        draw_nothing(tags, scene, grid);
        return;
    }
    draw_headings(tags, scene, grid);
    draw_lines(tags, scene, grid);
    int lines = level->count < (size_t)tags->page ? (int)level->count : tags->page;
    draw_rest(tags, scene, grid, tags->first_row + lines);
}

/* Keys. */

static void
select_line(struct tags_view *view, const struct scene *scene, size_t place)
{
    struct tags_level *level = level_of(view);
    size_t last = level->count > 0 ? level->count - 1 : 0;
    level->cursor = place < last ? place : last;
    level->selected = level->count > 0 ? level->lines[level->cursor].id : 0;
    view->held_until_ms = scene->now_ms + HOLD_MS;
}

static bool
move(struct tags_view *view, const struct scene *scene, enum action action)
{
    long by = cursor_step(action, view->page);
    if (by != 0) {
        select_line(view, scene, cursor_moved(level_of(view)->cursor, by));
    }
    return by != 0;
}

// By the n-th column from the sorted one, around the ends.
static void
sort_by(struct tags_view *view, int step)
{
    struct tags_level *level = level_of(view);
    int at = 0;
    while (at < view->shown_count && view->shown[at] != level->sort) {
        at++;
    }
    if (view->shown_count > 0) {
        at = (at + step + view->shown_count) % view->shown_count;
        level->sort = view->shown[at];
    }
    view->held_until_ms = 0;
}

static unsigned
go_in(struct tags_view *view, struct scene *scene)
{
    const struct tags_level *level = level_of(view);
    if (level->count == 0) {
        return OUTCOME_NONE;
    }
    uint32_t id = level->lines[level->cursor].id;
    if (view->opened != 0) {
        snprintf(scene->command, sizeof scene->command, "tags class %lu",
                 (unsigned long)id);
        return OUTCOME_COMMAND;
    }
    view->opened = id;
    view->tags.selected = id;
    view->classes.count = view->classes.cursor = view->classes.top = 0;
    view->classes.selected = 0;
    view->classes.filter[0] = '\0';
    view->held_until_ms = 0;
    snprintf(scene->command, sizeof scene->command, "tags follow");
    return OUTCOME_COMMAND | OUTCOME_DRAW;
}

static unsigned
go_back(struct tags_view *view, struct scene *scene)
{
    struct tags_level *level = level_of(view);
    view->held_until_ms = 0;
    if (level->filter[0] != '\0') {
        level->filter[0] = '\0';
        return OUTCOME_DRAW;
    }
    if (view->opened == 0) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    view->opened = 0;
    snprintf(scene->command, sizeof scene->command, "tags follow");
    return OUTCOME_COMMAND | OUTCOME_DRAW;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct tags_view *tags = view_of(view);
    (void)key;
    if (move(tags, scene, action)) {
        return OUTCOME_DRAW;
    }
    switch (action) {
    case ACTION_CHOOSE:
        return go_in(tags, scene);
    case ACTION_BACK:
        return go_back(tags, scene);
    case ACTION_SORT_LEFT:
    case ACTION_SORT_RIGHT:
        sort_by(tags, action == ACTION_SORT_LEFT ? -1 : 1);
        return OUTCOME_DRAW;
    case ACTION_INVERT:
        level_of(tags)->inverted = !level_of(tags)->inverted;
        tags->held_until_ms = 0;
        return OUTCOME_DRAW;
    case ACTION_CLEAR_FILTER:
        level_of(tags)->filter[0] = '\0';
        return OUTCOME_DRAW;
    case ACTION_FILTER:
        snprintf(scene->command, sizeof scene->command, "tags prompt");
        return OUTCOME_COMMAND;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return OUTCOME_DRAW;
    default:
        return OUTCOME_PASS;
    }
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct tags_view *tags = view_of(view);
    const struct tags_level *level = level_of(tags);
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        long by = key.mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS;
        select_line(tags, scene, cursor_moved(level->cursor, by));
        return OUTCOME_DRAW;
    }
    if (key.row >= tags->first_row && key.row < tags->first_row + tags->page) {
        select_line(tags, scene, level->top + (size_t)(key.row - tags->first_row));
        return OUTCOME_DRAW;
    }
    return OUTCOME_NONE;
}

static const struct view_class tags_class = {
    .name = "tags",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = word_at,
    .update = update,
    .draw = draw,
    .act = act,
    .mouse = mouse,
};

void
tags_view_init(struct tags_view *view)
{
    *view = (struct tags_view){.view = {&tags_class}};
    view->tags.sort = TAGS_ALLOCATED;
    view->classes.sort = TAGS_LIVE;
}

void
tags_view_destroy(struct tags_view *view)
{
    free(view->tags.lines);
    free(view->classes.lines);
    view->tags = view->classes = (struct tags_level){0};
}

void
tags_view_filter(struct tags_view *view, const char *text)
{
    snprintf(level_of(view)->filter, FILTER_BYTES, "%s", text);
    view->held_until_ms = 0;
}

const char *
tags_view_filter_text(const struct tags_view *view)
{
    return shown_level(view)->filter;
}
