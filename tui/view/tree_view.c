#include "tui/view/tree_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/cursor.h"
#include "tui/view/tree_draw.h"

#define WHEEL_ROWS 3

static struct tree_view *
tree_of(struct view *view)
{
    return (struct tree_view *)(void *)view;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_UNFOLD, {KEY_CODE_RIGHT, 'l', KEY_CODE_ENTER}, "unfold", "show what was called from here; again: go there"},
    {ACTION_FOLD, {KEY_CODE_LEFT, 'h'}, "fold", "hide what is below, or go to the row it hangs under"},
    {ACTION_TURN, {'i'}, "turn round", "callers first, or the allocating lines first"},
    {ACTION_OWN, {'p'}, "own code", "fold gems, the standard library and C, or show every frame"},
    {ACTION_FLAT, {'t'}, "flat", "every line once, or the tree again"},
    {ACTION_FLAME, {'f'}, "flame", "the same tree as a flame graph"},
    {ACTION_EDIT, {'o'}, "editor", "open the line in $VISUAL or $EDITOR"},
    {ACTION_FILTER, {'/'}, "filter", "keep the paths to what has this text in its label or path"},
    {ACTION_CLEAR_FILTER, {'\\', KEY_CODE_F1 + 3}, "all paths", "clear the filter"},
    {ACTION_NEXT, {'n'}, NULL, "next row that the filter found"},
    {ACTION_PREVIOUS, {'N'}, NULL, "previous one"},
    {ACTION_PIN, {'T'}, "pin", "go on taking stacks of this class when nobody looks, or no longer"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_HALF_UP, {KEY_CONTROL('U')}, NULL, "half a screen up"},
    {ACTION_HALF_DOWN, {KEY_CONTROL('D')}, NULL, "half a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the class"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_TOGGLE, {'e'}, NULL, "fold or unfold the row"},
    {ACTION_UNFOLD_BELOW, {'*'}, NULL, "unfold everything below the row"},
    {ACTION_UNFOLD_ALL, {'E'}, NULL, "unfold everything"},
    {ACTION_FOLD_ALL, {'C'}, NULL, "fold everything"},
    {ACTION_DEEPER, {'+'}, NULL, "unfold one level more, everywhere"},
    {ACTION_SHALLOWER, {'-'}, NULL, "fold the deepest level, everywhere"},
    {ACTION_SOURCE, {'S'}, NULL, "show the source of the line, or more rows instead"},
    {ACTION_SORT_MENU, {'s', KEY_CODE_F1 + 5}, NULL, "choose the column that orders the rows"},
    {ACTION_SORT_LEFT, {'<'}, NULL, "order by the column to the left"},
    {ACTION_SORT_RIGHT, {'>'}, NULL, "order by the column to the right"},
    {ACTION_SORT_COLUMN, {'1', '2', '3', '4', '5', '6', '7', '8', '9'}, NULL, "order by the n-th column, as F6 numbers them"},
    {ACTION_INVERT, {'I'}, NULL, "invert the order"},
    {ACTION_MARK, {'m'}, NULL, "set a mark: changes are shown since then"},
    {ACTION_SINCE_MARK, {'d'}, NULL, "changes since the mark, or since the tree was opened"},
    {ACTION_PICK_MARK, {'\''}, NULL, "pick a mark"},
    {ACTION_BORN, {'D'}, NULL, "which paths made what was born between the last two marks and is still alive"},
    {ACTION_MEASURE, {'%'}, NULL, "changes of objects, or of bytes"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_CENSUS, {'c'}, NULL, "take a census now: bytes, ages, and a check of the counts"},
    {ACTION_GC, {KEY_CONTROL('G')}, NULL, "run the garbage collector in the program (asks first)"},
    {ACTION_NONE, {0}, NULL, NULL},
};

static const struct word words[] = {
    {"(before tracing)", "Objects born before the class was opened, or while nobody looked: no stack was taken."},
    {"(other)", "Stacks for which there was no room left: the tree has a fixed bound."},
    {"(deeper stack, cut)", "Above this were more frames than MEMTOP_DEPTH; the innermost ones are kept."},
    {"(no Ruby frame)", "Allocated where no Ruby method runs, such as by Ruby itself."},
    {"exact", "Every object that was born while tracing has its stack."},
    {"1 of 64 stacks", "The class is allocated too often for the probe's budget (MEMTOP_BUDGET): stacks are taken by random gaps. The class's own number stays exact."},
    {"×2", "This method is on the path above already: recursion."},
    {"… n frames in", "Frames of gems, the standard library or C, folded; `p` shows them."},
    {"… n more paths", "Paths with less than 0.1 % of the class. → shows them."},
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    if (index < TREE_COLUMN_COUNT) {
        tree_column_title(word->word, (enum tree_column_id)index, scene, NULL);
        if (word->word[0] == '\0') {
            snprintf(word->word, sizeof word->word, "the bar");
        }
        word->meaning = tree_columns[index].explain;
        return true;
    }
    index -= TREE_COLUMN_COUNT;
    if (index < sizeof words / sizeof words[0]) {
        *word = words[index];
        return true;
    }
    return false;
}

/* Rows and the cursor. */

const struct model_class *
tree_view_class(const struct tree_view *tree, const struct scene *scene)
{
    const struct model_class *class = tree->slot < model_slots(scene->model)
                                          ? model_class_in(scene->model, tree->slot)
                                          : NULL;
    return class != NULL && class->serial == tree->serial ? class : NULL;
}

const struct paths_row *
tree_view_row(const struct tree_view *tree)
{
    return tree->cursor < tree->paths.count ? &tree->paths.rows[tree->cursor] : NULL;
}

static void
remember(struct tree_view *tree)
{
    const struct paths_row *row = tree_view_row(tree);
    tree->key = row != NULL ? paths_key(&tree->paths, tree->cursor) : 0;
    tree->node = row != NULL ? row->node : 0;
}

// The place of a row, or of the nearest caller that has one: a C function has none.
static bool
place_of(const struct tree_view *tree, size_t index, const char **file, uint32_t *line)
{
    const struct paths *paths = &tree->paths;
    while (index > 0 && index < paths->count) {
        const struct paths_row *row = &paths->rows[index];
        const struct tree_frame *frame = tree_frame(tree->tree, row->node);
        *line = tree_line(tree->tree, row->node);
        *file = frame->file != NULL ? frame->file : "";
        if (row->kind == PATHS_ROW_NODE && (*file)[0] != '\0' && *line > 0) {
            return true;
        }
        if (paths->shape != PATHS_CALLERS || row->kind == PATHS_ROW_REST) {
            return false;
        }
        index = paths_parent(paths, index);
    }
    return false;
}

// Lists of lines: the first one that is a line.
static size_t
first_line(const struct paths *paths)
{
    for (size_t row = 1; row < paths->count; row++) {
        const struct paths_row *at = &paths->rows[row];
        if (at->kind == PATHS_ROW_NODE && tree_line(paths->tree, at->node) > 0) {
            return row;
        }
    }
    return 0;
}

// The line of the largest path that allocates: what a person came for. It is what was
// unfolded last of all.
static size_t
first_choice(const struct tree_view *tree)
{
    const struct paths *paths = &tree->paths;
    if (paths->shape != PATHS_CALLERS) {
        return first_line(paths);
    }
    const char *file;
    uint32_t line;
    size_t row = paths->count > 0 ? paths->count - 1 : 0;
    while (row > 0 && !paths->rows[row].open) {
        row--;
    }
    row += row + 1 < paths->count && paths->rows[row].open;
    while (row > 1 && place_of(tree, row, &file, &line) &&
           tree_frame(tree->tree, paths->rows[row].node)->path[0] == '\0') {
        row = paths_parent(paths, row);
    }
    return row;
}

// Other frames are shown than before, so the path to the row is another one.
static size_t
row_of_node(const struct tree_view *tree)
{
    for (size_t row = 0; row < tree->paths.count; row++) {
        const struct paths_row *at = &tree->paths.rows[row];
        if (at->kind == PATHS_ROW_NODE && at->node == tree->node) {
            return row;
        }
    }
    return SIZE_MAX;
}

static void
find_cursor(struct tree_view *tree)
{
    size_t found =
        tree->key != 0 ? paths_find(&tree->paths, tree->key) : first_choice(tree);
    if (found == SIZE_MAX) {
        found = row_of_node(tree);
    }
    if (found != SIZE_MAX) {
        tree->cursor = found;
    }
    if (tree->cursor >= tree->paths.count) {
        tree->cursor = tree->paths.count > 0 ? tree->paths.count - 1 : 0;
    }
}

static void
update(struct view *view, const struct scene *scene)
{
    struct tree_view *tree = tree_of(view);
    const struct model_class *class = tree_view_class(tree, scene);
    bool held = scene->now_ms < tree->held_until_ms;
    tree->tree = class != NULL ? model_tree(scene->model, class->id) : NULL;
    if (tree->tree == NULL) {
        paths_forget(&tree->paths, true);
        return;
    }
    if (held != tree->paths.held) {
        tree->paths.held = held;
        paths_renew(&tree->paths);
    }
    tree->no_memory = !paths_update(&tree->paths, tree->tree);
    find_cursor(tree);
}

// A person moved the cursor.
static void
move_to(struct tree_view *tree, const struct scene *scene, size_t row)
{
    size_t last = tree->paths.count > 0 ? tree->paths.count - 1 : 0;
    tree->cursor = row < last ? row : last;
    tree->held_until_ms = scene->now_ms + TREE_FREEZE_MS;
    remember(tree);
}

static void
move_by(struct tree_view *tree, const struct scene *scene, long by)
{
    move_to(tree, scene, cursor_moved(tree->cursor, by));
}

bool
tree_view_place(const struct tree_view *tree, const char **file, uint32_t *line)
{
    return tree->tree != NULL && place_of(tree, tree->cursor, file, line);
}

/* Keys. */

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct tree_view *tree = (const struct tree_view *)(const void *)view;
    const struct paths_row *row = tree_view_row(tree);
    const char *file;
    uint32_t line;
    switch (action) {
    case ACTION_UNFOLD:
        return tree->tree != NULL && row != NULL && row->foldable && !row->open;
    case ACTION_FOLD:
    case ACTION_TURN:
    case ACTION_FLAT:
    case ACTION_OWN:
    case ACTION_FLAME:
    case ACTION_FILTER:
        return tree->tree != NULL;
    case ACTION_EDIT:
        return tree_view_place(tree, &file, &line);
    case ACTION_CLEAR_FILTER:
        return tree->paths.filter[0] != '\0';
    case ACTION_PIN:
        return !scene->readonly;
    default:
        return true;
    }
}

static bool
move(struct tree_view *tree, const struct scene *scene, enum action action)
{
    long by = cursor_step(action, tree->page);
    if (by != 0) {
        move_by(tree, scene, by);
    }
    return by != 0;
}

static void
unfold(struct tree_view *tree, const struct scene *scene)
{
    const struct paths_row *row = tree_view_row(tree);
    if (row != NULL && row->foldable && !row->open) {
        paths_fold(&tree->paths, tree->cursor, true, false);
    } else if (row != NULL && row->open) {
        move_by(tree, scene, 1);
    }
}

static void
fold(struct tree_view *tree, const struct scene *scene)
{
    const struct paths_row *row = tree_view_row(tree);
    if (row != NULL && row->foldable && row->open) {
        paths_fold(&tree->paths, tree->cursor, false, false);
    } else if (row != NULL) {
        move_to(tree, scene, paths_parent(&tree->paths, tree->cursor));
    }
}

static void
fold_to(struct tree_view *tree, uint32_t level)
{
    tree->level = level;
    paths_fold_level(&tree->paths, level);
}

static bool
fold_some(struct tree_view *tree, const struct scene *scene, enum action action)
{
    const struct paths_row *row = tree_view_row(tree);
    switch (action) {
    case ACTION_UNFOLD:
        unfold(tree, scene);
        return true;
    case ACTION_FOLD:
        fold(tree, scene);
        return true;
    case ACTION_TOGGLE:
        if (row != NULL && row->foldable) {
            paths_fold(&tree->paths, tree->cursor, !row->open, false);
        }
        return true;
    case ACTION_UNFOLD_BELOW:
        paths_fold(&tree->paths, tree->cursor, true, true);
        return true;
    case ACTION_UNFOLD_ALL:
        fold_to(tree, UINT32_MAX);
        return true;
    case ACTION_FOLD_ALL:
        fold_to(tree, 0);
        return true;
    case ACTION_DEEPER:
        fold_to(tree, tree->level < UINT32_MAX ? tree->level + 1 : tree->level);
        return true;
    case ACTION_SHALLOWER:
        fold_to(tree, tree->level == UINT32_MAX ? 1 : tree->level - (tree->level > 0));
        return true;
    default:
        return false;
    }
}

// Another shape has other rows: the cursor goes to what a person came for.
static void
reshape(struct tree_view *tree, enum paths_shape shape)
{
    tree->paths.shape = shape;
    tree->key = 0;
    tree->top = 0;
    paths_renew(&tree->paths);
}

static bool
arrange(struct tree_view *tree, struct scene *scene, enum action action)
{
    enum paths_shape shape = tree->paths.shape;
    switch (action) {
    case ACTION_TURN:
        reshape(tree, shape == PATHS_LINES ? PATHS_CALLERS : PATHS_LINES);
        return true;
    case ACTION_FLAT:
        reshape(tree, shape == PATHS_FLAT ? PATHS_CALLERS : PATHS_FLAT);
        return true;
    case ACTION_OWN:
        tree->paths.own_only = !tree->paths.own_only;
        paths_renew(&tree->paths);
        return true;
    case ACTION_INVERT:
        tree->paths.inverted = !tree->paths.inverted;
        paths_renew(&tree->paths);
        return true;
    case ACTION_SOURCE:
        tree->no_source = !tree->no_source;
        return true;
    case ACTION_MEASURE:
        scene->by_bytes = !scene->by_bytes;
        return true;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return true;
    default:
        return false;
    }
}

static bool
sort_beside(struct tree_view *tree, int step)
{
    int at = 0;
    while (at < tree->shown_count &&
           (tree_columns[tree->shown[at]].word == NULL ||
            tree_columns[tree->shown[at]].order != tree->paths.order)) {
        at++;
    }
    for (at += step; at >= 0 && at < tree->shown_count; at += step) {
        const char *word = tree_columns[tree->shown[at]].word;
        if (word != NULL) {
            return tree_view_sort(tree, word);
        }
    }
    return false;
}

static bool
sort_by_key(struct tree_view *tree, enum action action, struct key key)
{
    if (action == ACTION_SORT_COLUMN) {
        enum tree_column_id id = tree_column_sortable((int)(key.code - '1'));
        return id < TREE_COLUMN_COUNT && tree_view_sort(tree, tree_columns[id].word);
    }
    return (action == ACTION_SORT_LEFT && sort_beside(tree, -1)) ||
           (action == ACTION_SORT_RIGHT && sort_beside(tree, 1));
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct tree_view *tree = tree_of(view);
    if (tree->key == 0) {
        remember(tree); // what a key is pressed at is where the cursor stays
    }
    if (fold_some(tree, scene, action) || arrange(tree, scene, action)) {
        tree->held_until_ms = action == ACTION_TURN ? 0 : tree->held_until_ms;
        return OUTCOME_DRAW;
    }
    return move(tree, scene, action) || sort_by_key(tree, action, key) ? OUTCOME_DRAW
                                                                       : OUTCOME_PASS;
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct tree_view *tree = tree_of(view);
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        move_by(tree, scene, key.mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
        return OUTCOME_DRAW;
    }
    int line = key.row - tree->first_row;
    size_t row = tree->top + (size_t)(line > 0 ? line : 0);
    if (line < 0 || line >= tree->page || row >= tree->paths.count) {
        return OUTCOME_NONE;
    }
    const struct paths_row *clicked = &tree->paths.rows[row];
    int sign = tree_draw_sign(tree, row);
    move_to(tree, scene, row);
    if (clicked->foldable && key.column >= sign - 1 && key.column <= sign + 1) {
        paths_fold(&tree->paths, row, !clicked->open, false);
    }
    return OUTCOME_DRAW;
}

static const struct view_class tree_class = {
    .name = "call tree",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = word_at,
    .update = update,
    .draw = tree_draw,
    .can = can,
    .act = act,
    .mouse = mouse,
};

/* What the app asks. */

void
tree_view_init(struct tree_view *tree)
{
    *tree = (struct tree_view){.view = {&tree_class}, .choice = tree_column_all()};
    paths_init(&tree->paths);
}

void
tree_view_destroy(struct tree_view *tree)
{
    paths_destroy(&tree->paths);
    source_destroy(&tree->source);
}

void
tree_view_open(struct tree_view *tree, const struct model_class *class)
{
    paths_forget(&tree->paths, false);
    tree->paths.filter[0] = '\0';
    tree->slot = class->slot;
    tree->serial = class->serial;
    tree->key = 0;
    tree->cursor = 0;
    tree->top = 0;
    tree->level = 1;
    tree->words[0] = '\0';
    tree->tree = NULL;
    snprintf(tree->name, sizeof tree->name, "%.*s",
             (int)text_cut(class->name, TREE_NAME_BYTES / 4), class->name);
}

void
tree_view_forget(struct tree_view *tree)
{
    paths_forget(&tree->paths, true);
    tree->tree = NULL;
}

bool
tree_view_sort(struct tree_view *tree, const char *word)
{
    enum paths_order order = tree_column_order(word);
    if (order == PATHS_ORDERS) {
        return false;
    }
    tree->paths.inverted = order == tree->paths.order && !tree->paths.inverted;
    tree->paths.order = order;
    tree->held_until_ms = 0;
    paths_renew(&tree->paths);
    return true;
}

void
tree_view_filter(struct tree_view *tree, const char *text)
{
    snprintf(tree->paths.filter, sizeof tree->paths.filter, "%s", text);
    tree->held_until_ms = 0;
    paths_renew(&tree->paths);
}

bool
tree_view_search(struct tree_view *tree, const struct scene *scene, int by)
{
    size_t count = tree->paths.count;
    for (size_t i = 1; tree->paths.filter[0] != '\0' && i < count; i++) {
        size_t row = (tree->cursor + (by > 0 ? i : count - i)) % count;
        if (tree->paths.rows[row].matched) {
            move_to(tree, scene, row);
            return true;
        }
    }
    return false;
}
