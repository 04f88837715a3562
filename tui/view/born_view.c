#include "tui/view/born_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/born_draw.h"
#include "tui/view/born_words.h"
#include "tui/view/path_text.h"

static struct born_view *
born_of(struct view *view)
{
    return (struct born_view *)(void *)view;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_CHOOSE, {KEY_CODE_ENTER, KEY_CODE_RIGHT, 'l'}, "call paths", "which call paths allocated what was kept of the class; on a path: its source, or more rows instead"},
    {ACTION_EDIT, {'o'}, "editor", "open the path's line in $VISUAL or $EDITOR"},
    {ACTION_FILTER, {'/'}, "filter", "show only what has this text in its name, or on its path"},
    {ACTION_CLEAR_FILTER, {'\\', KEY_CODE_F1 + 3}, "all rows", "clear the filter"},
    {ACTION_MARK, {'m'}, "mark", "set a mark: the moment that is shown"},
    {ACTION_PIN, {'T'}, "pin", "take stacks of the class from now on, so that paths are known next time"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the top, and stay there"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_SORT_LEFT, {'<'}, NULL, "order by the column to the left"},
    {ACTION_SORT_RIGHT, {'>'}, NULL, "order by the column to the right"},
    {ACTION_INVERT, {'I'}, NULL, "invert the order"},
    {ACTION_SOURCE, {'S'}, NULL, "show the source of the path, or more rows instead"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_INTERNAL, {'i', 'a'}, NULL, "show what is not a Ruby class as well"},
    {ACTION_GC, {KEY_CONTROL('G')}, NULL, "run the garbage collector in the program (asks first)"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q', 'D', 'h', KEY_CODE_LEFT}, "back", "back"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

/* Rows. */

static bool
has_rows(const struct born_view *born)
{
    const struct born_facts *facts = born->facts;
    return facts->state == BORN_STATE_KNOWN &&
           (born->class == 0 || (facts->paths_of == born->class && facts->paths.known));
}

struct born_line
born_view_line(const struct born_view *born, size_t row)
{
    if (born->class == 0) {
        const struct born_class *class = &born->facts->classes.list[row];
        return (struct born_line){class->range, class->class->now.live, class->allocated,
                                  false};
    }
    const struct born_path *path = &born->facts->paths.list[row];
    return (struct born_line){path->range, path->live, COUNT_UNKNOWN, path->estimated};
}

static uint64_t
row_id(const void *context, size_t row)
{
    const struct born_view *born = context;
    if (born->class == 0) {
        return (uint64_t)born->facts->classes.list[row].class->id + 1;
    }
    uint32_t node = born->facts->paths.list[row].node;
    return (uint64_t)tree_node_id(born->facts->tree, node) + 1;
}

static bool
row_wanted(const void *context, size_t row)
{
    const struct born_view *born = context;
    if (born->class == 0) {
        const struct model_class *class = born->facts->classes.list[row].class;
        bool hidden = !born->internal && (class->flags & CLASS_INTERNAL) != 0;
        return !hidden && list_matches(&born->classes, class->name);
    }
    const struct path_steps steps = path_steps_of(born->facts->tree);
    return born->paths.filter[0] == '\0' ||
           path_has(&steps, born->facts->paths.list[row].node, born->paths.filter);
}

// Larger figures come first; unknown ones are larger than any, and come last.
static int
compare_figures(uint64_t a, uint64_t b)
{
    return (b + 1 > a + 1) - (b + 1 < a + 1);
}

static double
share(struct born_line line)
{
    return line.live > 0 ? (double)line.range.least / (double)line.live : 0;
}

static int
compare_names(const struct born_view *born, size_t a, size_t b)
{
    const struct born_class *list = born->facts->classes.list;
    return born->class == 0 ? strcasecmp(list[a].class->name, list[b].class->name) : 0;
}

// The facts are in the order of what was kept: whatever else is equal stays so.
static int
compare_rows(const void *context, size_t a, size_t b)
{
    const struct born_view *born = context;
    int column = born->class == 0 ? born->classes.sort : born->paths.sort;
    struct born_line left = born_view_line(born, a);
    struct born_line right = born_view_line(born, b);
    switch (column) {
    case BORN_COLUMN_NAME:
        return compare_names(born, a, b);
    case BORN_COLUMN_LIVE:
        return compare_figures(left.live, right.live);
    case BORN_COLUMN_SHARE:
        return (share(right) > share(left)) - (share(right) < share(left));
    case BORN_COLUMN_ALLOCATED:
        return compare_figures(left.allocated, right.allocated);
    default:
        return (a > b) - (a < b);
    }
}

static struct list_rows
rows_of(const struct born_view *born)
{
    size_t count =
        born->class == 0 ? born->facts->classes.count : born->facts->paths.count;
    return (struct list_rows){
        born, has_rows(born) ? count : 0, row_id, row_wanted, compare_rows, NULL};
}

struct list *
born_view_list(struct born_view *born)
{
    return born->class == 0 ? &born->classes : &born->paths;
}

static uint64_t
sum(uint64_t a, uint64_t b)
{
    return a < COUNT_UNKNOWN - b ? a + b : COUNT_UNKNOWN;
}

static void
update(struct view *view, const struct scene *scene)
{
    struct born_view *born = born_of(view);
    struct list *list = born_view_list(born);
    const struct list_rows rows = rows_of(born);
    born->internal = scene->internal;
    born->total = (struct born_range){0, 0};
    born->no_memory = !list_update(list, &rows);
    for (size_t i = 0; i < list->count; i++) {
        struct born_range range = born_view_line(born, list->order[i]).range;
        born->total.least = sum(born->total.least, range.least);
        born->total.most = sum(born->total.most, range.most);
    }
}

const struct model_class *
born_view_class(const struct born_view *born)
{
    size_t row;
    if (born->facts->state != BORN_STATE_KNOWN) {
        return NULL;
    }
    if (born->class != 0) {
        return model_class_find(born->facts->last, born->class);
    }
    return list_row(&born->classes, &row) ? born->facts->classes.list[row].class : NULL;
}

bool
born_view_place(const struct born_view *born, const char **file, const char **title,
                uint32_t *line)
{
    size_t row;
    if (born->class == 0 || !has_rows(born) || !list_row(&born->paths, &row)) {
        return false;
    }
    const struct path_steps steps = path_steps_of(born->facts->tree);
    return path_place(&steps, born->facts->paths.list[row].node, file, title, line);
}

/* Keys. */

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct born_view *born = (const struct born_view *)(const void *)view;
    const struct list *list = born->class == 0 ? &born->classes : &born->paths;
    const char *file;
    const char *title;
    uint32_t line;
    switch (action) {
    case ACTION_CHOOSE:
        return born->class == 0 && list->count > 0;
    case ACTION_EDIT:
        return born_view_place(born, &file, &title, &line);
    case ACTION_FILTER:
        return has_rows(born);
    case ACTION_CLEAR_FILTER:
        return list->filter[0] != '\0';
    case ACTION_MARK:
        return model_sampled(scene->model);
    case ACTION_PIN:
        return !scene->readonly && born_view_class(born) != NULL;
    default:
        return true;
    }
}

static unsigned
choose(struct born_view *born)
{
    size_t row;
    if (born->class != 0) {
        born->no_source = !born->no_source;
        return OUTCOME_DRAW;
    }
    if (!list_row(&born->classes, &row)) {
        return OUTCOME_NONE;
    }
    const struct model_class *class = born->facts->classes.list[row].class;
    born->class = class->id;
    snprintf(born->name, sizeof born->name, "%.*s",
             (int)text_cut(class->name, BORN_NAME_BYTES / 4), class->name);
    list_restart(&born->paths);
    return OUTCOME_DRAW;
}

static unsigned
go_back(struct born_view *born)
{
    struct list *list = born_view_list(born);
    if (list->filter[0] != '\0') {
        list->filter[0] = '\0';
    } else if (born->class == 0 || born->paths_only) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    } else {
        born->class = 0;
    }
    return OUTCOME_DRAW;
}

// By the column beside the one that orders, of those on the screen.
static void
sort_beside(struct born_view *born, int step)
{
    struct list *list = born_view_list(born);
    int at = 0;
    while (at < born->shown_count && (int)born->shown[at] != list->sort) {
        at++;
    }
    for (at += step; at >= 0 && at < born->shown_count; at += step) {
        if (born_draw_sortable(born, born->shown[at])) {
            list_sort(list, (int)born->shown[at]);
            return;
        }
    }
}

static bool
arrange(struct born_view *born, struct scene *scene, enum action action)
{
    switch (action) {
    case ACTION_SORT_LEFT:
        sort_beside(born, -1);
        return true;
    case ACTION_SORT_RIGHT:
        sort_beside(born, 1);
        return true;
    case ACTION_INVERT:
        born_view_list(born)->inverted = !born_view_list(born)->inverted;
        return true;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return true;
    case ACTION_INTERNAL:
        scene->internal = !scene->internal;
        return true;
    case ACTION_SOURCE:
        born->no_source = !born->no_source;
        return true;
    default:
        return false;
    }
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct born_view *born = born_of(view);
    const struct list_rows rows = rows_of(born);
    (void)key;
    if (list_move(born_view_list(born), &rows, action) || arrange(born, scene, action)) {
        return OUTCOME_DRAW;
    }
    switch (action) {
    case ACTION_CHOOSE:
        return choose(born);
    case ACTION_BACK:
        return go_back(born);
    default:
        return OUTCOME_PASS;
    }
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct born_view *born = born_of(view);
    const struct list_rows rows = rows_of(born);
    bool wheel = key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN;
    (void)scene;
    if (!wheel && key.row == born->heading_row) {
        enum born_column column = born_draw_column(born, key.column);
        if (column != BORN_COLUMN_COUNT && born_draw_sortable(born, column)) {
            list_sort(born_view_list(born), (int)column);
        }
        return OUTCOME_DRAW;
    }
    if (!list_mouse(born_view_list(born), &rows, key)) {
        return OUTCOME_NONE;
    }
    return key.mouse == MOUSE_DOUBLE && born->class == 0 ? choose(born) : OUTCOME_DRAW;
}

static const struct view_class born_class = {
    .name = "born between two marks",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = born_words_explain,
    .update = update,
    .draw = born_draw,
    .can = can,
    .act = act,
    .mouse = mouse,
};

/* What the app asks. */

void
born_view_init(struct born_view *born, const struct born_facts *facts)
{
    *born = (struct born_view){
        .view = {&born_class},
        .facts = facts,
        .classes = {.sort = BORN_COLUMN_KEPT},
        .paths = {.sort = BORN_COLUMN_KEPT},
    };
}

void
born_view_destroy(struct born_view *born)
{
    list_destroy(&born->classes);
    list_destroy(&born->paths);
    source_destroy(&born->source);
}

void
born_view_open(struct born_view *born, const struct model_class *class)
{
    list_restart(&born->classes);
    list_restart(&born->paths);
    born->paths_only = class != NULL;
    born->class = class != NULL ? class->id : 0;
    if (class != NULL) {
        snprintf(born->name, sizeof born->name, "%.*s",
                 (int)text_cut(class->name, BORN_NAME_BYTES / 4), class->name);
    }
}

bool
born_view_sort(struct born_view *born, const char *word)
{
    enum born_column column = born_draw_find(word);
    if (column == BORN_COLUMN_COUNT || !born_draw_sortable(born, column)) {
        return false;
    }
    list_sort(born_view_list(born), (int)column);
    return true;
}
