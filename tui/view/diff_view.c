#include "tui/view/diff_view.h"

#include <math.h>
#include <string.h>

#include "tui/model/index.h"
#include "tui/view/diff_draw.h"
#include "tui/view/drill_draw.h"

#define LABEL_BYTES 256

const struct diff_view *
diff_view_of(const struct drill *drill)
{
    return (const struct diff_view *)(const void *)drill;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_CHOOSE, {KEY_CODE_ENTER, KEY_CODE_RIGHT, 'l'}, "call paths", "which call paths changed of the class; on a path: its source, or more rows instead"},
    {ACTION_EDIT, {'o'}, "editor", "open the path's line in $VISUAL or $EDITOR"},
    {ACTION_FILTER, {'/'}, "filter", "show only what has this text in its name, or on its path"},
    {ACTION_CLEAR_FILTER, {'\\', KEY_CODE_F1 + 3}, "all rows", "clear the filter"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the top, and stay there"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_SORT_LEFT, {'<'}, NULL, "order by the column to the left, each group of classes by itself"},
    {ACTION_SORT_RIGHT, {'>'}, NULL, "order by the column to the right"},
    {ACTION_INVERT, {'I'}, NULL, "invert the order"},
    {ACTION_SOURCE, {'S'}, NULL, "show the source of the path, or more rows instead"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_INTERNAL, {'i', 'a'}, NULL, "show what is not a Ruby class as well"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q', 'h', KEY_CODE_LEFT}, "back", "back"},
    {ACTION_NONE, {0}, NULL, NULL},
};

static const struct word words[] = {
    {"added", "Classes, or call paths, that had no objects before."},
    {"grown, shrunk", "By objects; where their number is the same, by bytes."},
    {"gone", "They had objects before, and have none after."},
    {"unknown", "One side was not counted, or has no call tree: no difference can be told."},
    {"CHANGE", "Objects after less before. A change of a call path of which only some stacks were taken has its 95 % interval; one within it may be none, and is dim."},
    {"a line's number", "Two recordings may be of code that was edited between them: a line as far from the start of its method is the same line."},
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    (void)scene;
    if (index >= sizeof words / sizeof words[0]) {
        return false;
    }
    *word = words[index];
    return true;
}

/* Paths. */

static uint32_t
parent_of(const void *tree, uint32_t node)
{
    const struct diff_paths *paths = tree;
    return paths->nodes[node].parent;
}

static const struct tree_frame *
frame_of(const void *tree, uint32_t node)
{
    return diff_paths_frame(tree, node);
}

static uint32_t
line_of(const void *tree, uint32_t node)
{
    return diff_paths_line(tree, node);
}

static void
label_of(const void *tree, uint32_t node, char *label, size_t size)
{
    diff_paths_label(tree, node, label, size);
}

static struct path_steps
path_at(const struct drill *drill, size_t row, uint32_t *node)
{
    const struct diff_paths *paths = &diff_view_of(drill)->facts->paths;
    *node = paths->sites[row].node;
    return (struct path_steps){paths, parent_of, frame_of, line_of, label_of};
}

bool
diff_view_has_paths(const struct diff_view *view)
{
    const struct diff_facts *facts = view->facts;
    return facts->known && facts->class != NULL &&
           diff_view_id(facts->class) == view->drill.class;
}

/* Rows. */

uint64_t
diff_view_id(const struct diff_class *class)
{
    uint64_t hash = index_hash(INDEX_HASH, class->name);
    return index_hash_number(hash, class->flags) | 1;
}

// Nodes have other numbers in the next comparison: a path is known by its places.
static uint64_t
path_id(const struct diff_paths *paths, uint32_t node)
{
    uint64_t hash = INDEX_HASH;
    for (uint32_t at = node; at != TREE_NONE; at = paths->nodes[at].parent) {
        char label[LABEL_BYTES];
        diff_paths_label(paths, at, label, sizeof label);
        hash = index_hash_number(index_hash(hash, label), diff_paths_line(paths, at));
    }
    return hash | 1;
}

static uint64_t
row_id(const void *context, size_t row)
{
    const struct diff_view *view = context;
    const struct diff_facts *facts = view->facts;
    return view->drill.class == 0 ? diff_view_id(&facts->diff.classes[row])
                                  : path_id(&facts->paths, facts->paths.sites[row].node);
}

static bool
row_wanted(const void *context, size_t row)
{
    const struct diff_view *view = context;
    const struct diff_paths *paths = &view->facts->paths;
    enum diff_kind kind = view->drill.class == 0
                              ? view->facts->diff.classes[row].kind
                              : diff_paths_self(paths, paths->sites[row].node).kind;
    return kind != DIFF_UNCHANGED && drill_wanted(context, row);
}

// Of classes; the path that changed most comes first, whatever it did.
static int
row_group(const void *context, size_t row)
{
    const struct diff_view *view = context;
    return view->drill.class == 0 ? (int)view->facts->diff.classes[row].kind : 0;
}

// Larger ones first, whichever sign they have; unknown ones last.
static int
compare_changes(int64_t a, int64_t b)
{
    double left = a == DIFF_UNKNOWN ? -1 : fabs((double)a);
    double right = b == DIFF_UNKNOWN ? -1 : fabs((double)b);
    return (right > left) - (right < left);
}

static int
compare_numbers(double a, double b)
{
    double left = isnan(a) ? -1 : a;
    double right = isnan(b) ? -1 : b;
    return (right > left) - (right < left);
}

static int
compare_classes(const struct diff_view *view, size_t a, size_t b)
{
    const struct diff_class *left = &view->facts->diff.classes[a];
    const struct diff_class *right = &view->facts->diff.classes[b];
    switch (view->drill.classes.sort) {
    case DIFF_COLUMN_NAME:
        return strcasecmp(left->name, right->name);
    case DIFF_COLUMN_BYTES:
        return compare_changes(left->change.bytes, right->change.bytes);
    case DIFF_COLUMN_BEFORE:
        return list_compare_counts(left->before.live, right->before.live);
    case DIFF_COLUMN_AFTER:
        return list_compare_counts(left->after.live, right->after.live);
    default:
        return (a > b) - (a < b); // as they come: the largest change first
    }
}

static int
compare_rows(const void *context, size_t a, size_t b)
{
    const struct diff_view *view = context;
    if (view->drill.class == 0) {
        return compare_classes(view, a, b);
    }
    const struct diff_paths *paths = &view->facts->paths;
    struct diff_pair left = diff_paths_self(paths, paths->sites[a].node);
    struct diff_pair right = diff_paths_self(paths, paths->sites[b].node);
    switch (view->drill.paths.sort) {
    case DIFF_COLUMN_BEFORE:
        return compare_numbers(diff_paths_measured(paths, &left.before),
                               diff_paths_measured(paths, &right.before));
    case DIFF_COLUMN_AFTER:
        return compare_numbers(diff_paths_measured(paths, &left.after),
                               diff_paths_measured(paths, &right.after));
    default:
        return (a > b) - (a < b);
    }
}

static struct list_rows
rows_of(const struct drill *drill)
{
    const struct diff_view *view = diff_view_of(drill);
    const struct diff_facts *facts = view->facts;
    size_t paths = diff_view_has_paths(view) ? facts->paths.site_count : 0;
    size_t count = drill->class != 0 ? paths : facts->known ? facts->diff.count : 0;
    return (struct list_rows){view, count, row_id, row_wanted, compare_rows, row_group};
}

static struct drill_subject
class_at(const struct drill *drill, size_t row)
{
    const struct diff_class *class = &diff_view_of(drill)->facts->diff.classes[row];
    return (struct drill_subject){diff_view_id(class), class->name,
                                  (class->flags & CLASS_INTERNAL) != 0};
}

/* Keys. */

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct diff_view *diff = (const struct diff_view *)(const void *)view;
    return action == ACTION_FILTER ? diff->facts->known : drill_can(view, scene, action);
}

static const struct drill_class diff_class = {
    .view.name = "what changed",
    .view.extent = EXTENT_SCREEN,
    .view.bindings = bindings,
    .view.word = word_at,
    .view.update = drill_update,
    .view.draw = drill_draw,
    .view.can = can,
    .view.act = drill_act,
    .view.mouse = drill_mouse,
    .columns = diff_draw_columns,
    .column_count = DIFF_COLUMN_COUNT,
    .note_rows_max = 6,
    .rows = rows_of,
    .class_at = class_at,
    .path_at = path_at,
    .title = diff_draw_title,
    .say_reason = diff_draw_reason,
    .say_notes = diff_draw_notes,
    .say_nothing = diff_draw_nothing,
    .figure = diff_draw_figure,
    .say_source = diff_draw_source,
};

void
diff_view_init(struct diff_view *view, const struct diff_facts *facts)
{
    *view = (struct diff_view){.facts = facts};
    drill_init(&view->drill, &diff_class, DIFF_COLUMN_CHANGE);
}
