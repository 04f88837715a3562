#include "tui/view/born_view.h"

#include <string.h>

#include "tui/view/born_draw.h"
#include "tui/view/born_words.h"
#include "tui/view/drill_draw.h"

const struct born_view *
born_view_of(const struct drill *drill)
{
    return (const struct born_view *)(const void *)drill;
}

class_id
born_view_wants(const struct born_view *born)
{
    return (class_id)born->drill.class;
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
           (born->drill.class == 0 ||
            (facts->paths_of == born->drill.class && facts->paths.known));
}

struct born_line
born_view_line(const struct born_view *born, size_t row)
{
    if (born->drill.class == 0) {
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
    if (born->drill.class == 0) {
        return (uint64_t)born->facts->classes.list[row].class->id + 1;
    }
    uint32_t node = born->facts->paths.list[row].node;
    return (uint64_t)tree_node_id(born->facts->tree, node) + 1;
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
    return born->drill.class == 0 ? strcasecmp(list[a].class->name, list[b].class->name)
                                  : 0;
}

// The facts are in the order of what was kept: whatever else is equal stays so.
static int
compare_rows(const void *context, size_t a, size_t b)
{
    const struct born_view *born = context;
    struct born_line left = born_view_line(born, a);
    struct born_line right = born_view_line(born, b);
    switch (drill_shown(&born->drill)->sort) {
    case BORN_COLUMN_NAME:
        return compare_names(born, a, b);
    case BORN_COLUMN_LIVE:
        return list_compare_counts(left.live, right.live);
    case BORN_COLUMN_SHARE:
        return (share(right) > share(left)) - (share(right) < share(left));
    case BORN_COLUMN_ALLOCATED:
        return list_compare_counts(left.allocated, right.allocated);
    default:
        return (a > b) - (a < b);
    }
}

static struct list_rows
rows_of(const struct drill *drill)
{
    const struct born_view *born = born_view_of(drill);
    const struct born_facts *facts = born->facts;
    size_t count = drill->class == 0 ? facts->classes.count : facts->paths.count;
    return (struct list_rows){
        born, has_rows(born) ? count : 0, row_id, drill_wanted, compare_rows, NULL};
}

static struct drill_subject
class_at(const struct drill *drill, size_t row)
{
    const struct model_class *class = born_view_of(drill)->facts->classes.list[row].class;
    return (struct drill_subject){class->id, class->name,
                                  (class->flags & CLASS_INTERNAL) != 0};
}

static struct path_steps
path_at(const struct drill *drill, size_t row, uint32_t *node)
{
    const struct born_facts *facts = born_view_of(drill)->facts;
    *node = facts->paths.list[row].node;
    return path_steps_of(facts->tree);
}

static uint64_t
sum(uint64_t a, uint64_t b)
{
    return a < COUNT_UNKNOWN - b ? a + b : COUNT_UNKNOWN;
}

static void
update(struct view *view, const struct scene *scene)
{
    struct born_view *born = (struct born_view *)(void *)view;
    const struct list *list = drill_shown(&born->drill);
    drill_update(view, scene);
    born->total = (struct born_range){0, 0};
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
    if (born->drill.class != 0) {
        return model_class_find(born->facts->last, born_view_wants(born));
    }
    return list_row(&born->drill.classes, &row) ? born->facts->classes.list[row].class
                                                : NULL;
}

/* Keys. */

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct born_view *born = (const struct born_view *)(const void *)view;
    switch (action) {
    case ACTION_FILTER:
        return has_rows(born);
    case ACTION_MARK:
        return model_sampled(scene->model);
    case ACTION_PIN:
        return !scene->readonly && born_view_class(born) != NULL;
    default:
        return drill_can(view, scene, action);
    }
}

static const struct drill_class born_class = {
    .view.name = "born between two marks",
    .view.extent = EXTENT_SCREEN,
    .view.bindings = bindings,
    .view.word = born_words_explain,
    .view.update = update,
    .view.draw = drill_draw,
    .view.can = can,
    .view.act = drill_act,
    .view.mouse = drill_mouse,
    .columns = born_draw_columns,
    .column_count = BORN_COLUMN_COUNT,
    .note_rows_max = 8,
    .rows = rows_of,
    .class_at = class_at,
    .path_at = path_at,
    .title = born_words_title,
    .say_reason = born_words_reason,
    .say_notes = born_words_notes,
    .say_nothing = born_words_nothing,
    .figure = born_draw_figure,
    .say_source = born_words_source,
};

/* What the app asks. */

void
born_view_init(struct born_view *born, const struct born_facts *facts)
{
    *born = (struct born_view){.facts = facts};
    drill_init(&born->drill, &born_class, BORN_COLUMN_KEPT);
}

void
born_view_open(struct born_view *born, const struct model_class *class)
{
    drill_open(&born->drill);
    if (class != NULL) {
        born->drill.paths_only = true;
        drill_open_paths(&born->drill, class->id, class->name);
    }
}
