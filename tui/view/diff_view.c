#include "tui/view/diff_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/diff_draw.h"

#define LABEL_BYTES 256

static struct diff_view *
diff_of(struct view *view)
{
    return (struct diff_view *)(void *)view;
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

struct path_steps
diff_view_steps(const struct diff_view *view)
{
    return (struct path_steps){&view->facts->paths, parent_of, frame_of, line_of,
                               label_of};
}

bool
diff_view_has_paths(const struct diff_view *view)
{
    const struct diff_facts *facts = view->facts;
    return facts->known && facts->class != NULL &&
           diff_view_id(facts->class) == view->class;
}

/* Rows. */

// FNV-1a
static uint64_t
hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t
hash_number(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x100000001b3);
}

uint64_t
diff_view_id(const struct diff_class *class)
{
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), class->name);
    return hash_number(hash, class->flags) | 1;
}

// Nodes have other numbers in the next comparison: a path is known by its places.
static uint64_t
path_id(const struct diff_paths *paths, uint32_t node)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t at = node; at != TREE_NONE; at = paths->nodes[at].parent) {
        char label[LABEL_BYTES];
        diff_paths_label(paths, at, label, sizeof label);
        hash = hash_number(hash_text(hash, label), diff_paths_line(paths, at));
    }
    return hash | 1;
}

static uint64_t
row_id(const void *context, size_t row)
{
    const struct diff_view *view = context;
    const struct diff_facts *facts = view->facts;
    return view->class == 0 ? diff_view_id(&facts->diff.classes[row])
                            : path_id(&facts->paths, facts->paths.sites[row].node);
}

static bool
class_wanted(const struct diff_view *view, size_t row)
{
    const struct diff_class *class = &view->facts->diff.classes[row];
    bool hidden = !view->internal && (class->flags & CLASS_INTERNAL) != 0;
    return !hidden && class->kind != DIFF_UNCHANGED &&
           list_matches(&view->classes, class->name);
}

static bool
row_wanted(const void *context, size_t row)
{
    const struct diff_view *view = context;
    if (view->class == 0) {
        return class_wanted(view, row);
    }
    const struct diff_paths *paths = &view->facts->paths;
    uint32_t node = paths->sites[row].node;
    const struct path_steps steps = diff_view_steps(view);
    return diff_paths_self(paths, node).kind != DIFF_UNCHANGED &&
           (view->paths.filter[0] == '\0' || path_has(&steps, node, view->paths.filter));
}

// Of classes; the path that changed most comes first, whatever it did.
static int
row_group(const void *context, size_t row)
{
    const struct diff_view *view = context;
    return view->class == 0 ? (int)view->facts->diff.classes[row].kind : 0;
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
compare_counts(uint64_t a, uint64_t b)
{
    return (b + 1 > a + 1) - (b + 1 < a + 1);
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
    switch (view->classes.sort) {
    case DIFF_COLUMN_NAME:
        return strcasecmp(left->name, right->name);
    case DIFF_COLUMN_BYTES:
        return compare_changes(left->change.bytes, right->change.bytes);
    case DIFF_COLUMN_BEFORE:
        return compare_counts(left->before.live, right->before.live);
    case DIFF_COLUMN_AFTER:
        return compare_counts(left->after.live, right->after.live);
    default:
        return (a > b) - (a < b); // as they come: the largest change first
    }
}

static int
compare_rows(const void *context, size_t a, size_t b)
{
    const struct diff_view *view = context;
    if (view->class == 0) {
        return compare_classes(view, a, b);
    }
    const struct diff_paths *paths = &view->facts->paths;
    struct diff_pair left = diff_paths_self(paths, paths->sites[a].node);
    struct diff_pair right = diff_paths_self(paths, paths->sites[b].node);
    switch (view->paths.sort) {
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
rows_of(const struct diff_view *view)
{
    const struct diff_facts *facts = view->facts;
    size_t paths = diff_view_has_paths(view) ? facts->paths.site_count : 0;
    size_t count = view->class != 0 ? paths : facts->known ? facts->diff.count : 0;
    return (struct list_rows){view, count, row_id, row_wanted, compare_rows, row_group};
}

struct list *
diff_view_list(struct diff_view *view)
{
    return view->class == 0 ? &view->classes : &view->paths;
}

static void
update(struct view *view, const struct scene *scene)
{
    struct diff_view *diff = diff_of(view);
    const struct list_rows rows = rows_of(diff);
    diff->internal = scene->internal;
    diff->no_memory = !list_update(diff_view_list(diff), &rows);
}

bool
diff_view_place(const struct diff_view *view, const char **file, const char **title,
                uint32_t *line)
{
    size_t row;
    if (!diff_view_has_paths(view) || !list_row(&view->paths, &row)) {
        return false;
    }
    const struct path_steps steps = diff_view_steps(view);
    return path_place(&steps, view->facts->paths.sites[row].node, file, title, line);
}

/* Keys. */

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct diff_view *diff = (const struct diff_view *)(const void *)view;
    const struct list *list = diff->class == 0 ? &diff->classes : &diff->paths;
    const char *file;
    const char *title;
    uint32_t line;
    (void)scene;
    switch (action) {
    case ACTION_CHOOSE:
        return diff->class == 0 && list->count > 0;
    case ACTION_EDIT:
        return diff_view_place(diff, &file, &title, &line);
    case ACTION_FILTER:
        return diff->facts->known;
    case ACTION_CLEAR_FILTER:
        return list->filter[0] != '\0';
    default:
        return true;
    }
}

static unsigned
choose(struct diff_view *view)
{
    size_t row;
    if (view->class != 0) {
        view->no_source = !view->no_source;
        return OUTCOME_DRAW;
    }
    if (!list_row(&view->classes, &row)) {
        return OUTCOME_NONE;
    }
    const struct diff_class *class = &view->facts->diff.classes[row];
    view->class = diff_view_id(class);
    snprintf(view->name, sizeof view->name, "%.*s",
             (int)text_cut(class->name, DIFF_NAME_BYTES / 4), class->name);
    list_restart(&view->paths);
    return OUTCOME_DRAW;
}

static unsigned
go_back(struct diff_view *view)
{
    struct list *list = diff_view_list(view);
    if (list->filter[0] != '\0') {
        list->filter[0] = '\0';
    } else if (view->class == 0) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    } else {
        view->class = 0;
    }
    return OUTCOME_DRAW;
}

static void
sort_beside(struct diff_view *view, int step)
{
    struct list *list = diff_view_list(view);
    int at = 0;
    while (at < view->shown_count && (int)view->shown[at] != list->sort) {
        at++;
    }
    for (at += step; at >= 0 && at < view->shown_count; at += step) {
        if (diff_draw_sortable(view, view->shown[at])) {
            list_sort(list, (int)view->shown[at]);
            return;
        }
    }
}

static bool
arrange(struct diff_view *view, struct scene *scene, enum action action)
{
    switch (action) {
    case ACTION_SORT_LEFT:
        sort_beside(view, -1);
        return true;
    case ACTION_SORT_RIGHT:
        sort_beside(view, 1);
        return true;
    case ACTION_INVERT:
        diff_view_list(view)->inverted = !diff_view_list(view)->inverted;
        return true;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return true;
    case ACTION_INTERNAL:
        scene->internal = !scene->internal;
        return true;
    case ACTION_SOURCE:
        view->no_source = !view->no_source;
        return true;
    default:
        return false;
    }
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct diff_view *diff = diff_of(view);
    const struct list_rows rows = rows_of(diff);
    (void)key;
    if (list_move(diff_view_list(diff), &rows, action) || arrange(diff, scene, action)) {
        return OUTCOME_DRAW;
    }
    switch (action) {
    case ACTION_CHOOSE:
        return choose(diff);
    case ACTION_BACK:
        return go_back(diff);
    default:
        return OUTCOME_PASS;
    }
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct diff_view *diff = diff_of(view);
    const struct list_rows rows = rows_of(diff);
    bool wheel = key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN;
    (void)scene;
    if (!wheel && key.row == diff->heading_row) {
        enum diff_column column = diff_draw_column(diff, key.column);
        if (column != DIFF_COLUMN_COUNT && diff_draw_sortable(diff, column)) {
            list_sort(diff_view_list(diff), (int)column);
        }
        return OUTCOME_DRAW;
    }
    if (!list_mouse(diff_view_list(diff), &rows, key)) {
        return OUTCOME_NONE;
    }
    return key.mouse == MOUSE_DOUBLE && diff->class == 0 ? choose(diff) : OUTCOME_DRAW;
}

static const struct view_class diff_class = {
    .name = "what changed",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = word_at,
    .update = update,
    .draw = diff_draw,
    .can = can,
    .act = act,
    .mouse = mouse,
};

/* What the app asks. */

void
diff_view_init(struct diff_view *view, const struct diff_facts *facts)
{
    *view = (struct diff_view){
        .view = {&diff_class},
        .facts = facts,
        .classes = {.sort = DIFF_COLUMN_CHANGE},
        .paths = {.sort = DIFF_COLUMN_CHANGE},
    };
}

void
diff_view_destroy(struct diff_view *view)
{
    list_destroy(&view->classes);
    list_destroy(&view->paths);
    source_destroy(&view->source);
}

void
diff_view_open(struct diff_view *view)
{
    list_restart(&view->classes);
    list_restart(&view->paths);
    view->class = 0;
}

bool
diff_view_sort(struct diff_view *view, const char *word)
{
    enum diff_column column = diff_draw_find(word);
    if (column == DIFF_COLUMN_COUNT || !diff_draw_sortable(view, column)) {
        return false;
    }
    list_sort(diff_view_list(view), (int)column);
    return true;
}
