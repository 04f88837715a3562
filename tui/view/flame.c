#include "tui/view/flame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/format.h"
#include "tui/view/header.h"
#include "tui/view/tree_draw.h"

#define TEXT_BYTES 1024
#define CELLS_MIN 0.5 // of a box of its own

static struct flame *
flame_of(struct view *view)
{
    return (struct flame *)(void *)view;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_UNFOLD, {KEY_CODE_ENTER}, "zoom", "let the box fill the width"},
    {ACTION_FOLD, {KEY_CODE_BACKSPACE, 'z'}, "zoom out", "back to the box around it"},
    {ACTION_OWN, {'p'}, "own code", "gems, the standard library and C as one box, or every frame"},
    {ACTION_SINCE_MARK, {'d'}, "since", "widths of what lives, or of what came since the mark"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "to the caller"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "to the widest box it called"},
    {ACTION_PREVIOUS, {KEY_CODE_LEFT, 'h'}, NULL, "to the box to the left"},
    {ACTION_NEXT, {KEY_CODE_RIGHT, 'l'}, NULL, "to the box to the right"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the class, and zoom out"},
    {ACTION_MARK, {'m'}, NULL, "set a mark: changes are shown since then"},
    {ACTION_BORN, {'D'}, NULL, "which paths made what was born between the last two marks and is still alive"},
    {ACTION_FLAME, {'f'}, "tree", "back to the tree"},
    {ACTION_NONE, {0}, NULL, NULL},
};

static const struct word words[] = {
    {"width", "Live objects of the path and everything below it; with `d`, their change since the mark, whichever way. What was born before tracing has no path and is left out."},
    {"+ -", "Grew or shrank since the mark. Red and green say the same."},
    {"…", "Paths too narrow to be boxes of their own."},
    {"own", "Bold: the program's own code. Dim: gems, the standard library, C."},
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    (void)scene;
    if (index < sizeof words / sizeof words[0]) {
        *word = words[index];
        return true;
    }
    return false;
}

/* Boxes. */

struct flame_row {
    double below; // width of what hangs under it
    int box;      // -1 when it has none
};

static const struct tree_model *
tree_of(const struct flame *flame)
{
    return flame->tree->tree;
}

// What was born before tracing has no path to show, and would crowd out the rest.
static double
width_of(const struct flame *flame, size_t index)
{
    const struct paths_row *row = &flame->paths.rows[index];
    if (tree_frame(tree_of(flame), row->node)->id == FRAME_BEFORE_TRACING) {
        return 0;
    }
    double value = flame->since ? fabs(row->delta) : row->total.live;
    return isnan(value) ? 0 : value;
}

static size_t
row_of(const struct flame *flame, uint64_t key)
{
    size_t row = key != 0 ? paths_find(&flame->paths, key) : 0;
    return row != SIZE_MAX ? row : 0;
}

// False when memory ran out.
static bool
measure(struct flame *flame)
{
    const struct paths *paths = &flame->paths;
    if (paths->count > flame->capacity) {
        struct flame_row *rows = realloc(flame->rows, paths->count * sizeof *rows);
        if (rows == NULL) {
            return false;
        }
        flame->rows = rows;
        flame->capacity = paths->count;
    }
    for (size_t i = 0; i < paths->count; i++) {
        flame->rows[i] = (struct flame_row){0, -1};
        if (i > 0) {
            flame->rows[paths_parent(paths, i)].below += width_of(flame, i);
        }
    }
    return true;
}

static struct flame_box *
add_box(struct flame *flame, size_t row, int level, int from, int to)
{
    if (flame->count == FLAME_BOXES_MAX || from >= to) {
        return NULL;
    }
    // with changes of both signs what is below a box may be more than its own
    double own = row > 0 ? width_of(flame, row) : 0;
    double below = flame->rows[row].below;
    double most = own > below ? own : below;
    struct flame_box *box = &flame->boxes[flame->count++];
    *box = (struct flame_box){.row = row,
                              .level = level,
                              .from = from,
                              .to = to,
                              .place = from,
                              .cells_each = most > 0 ? (to - from) / most : 0};
    return box;
}

// Below its parent's box, beside what is there already.
static void
place_row(struct flame *flame, size_t row)
{
    int above = flame->rows[paths_parent(&flame->paths, row)].box;
    if (above < 0) {
        return;
    }
    struct flame_box *parent = &flame->boxes[above];
    double cells = width_of(flame, row) * parent->cells_each;
    if (cells < CELLS_MIN) {
        parent->narrow += cells > 0;
        return;
    }
    int from = (int)(parent->place + 0.5);
    parent->place += cells;
    int to = (int)(parent->place + 0.5);
    if (add_box(flame, row, parent->level + 1, from, to < parent->to ? to : parent->to) !=
        NULL) {
        flame->rows[row].box = flame->count - 1;
    }
}

// Rows come in the order of the tree, each after its parent.
static void
lay_out(struct flame *flame, int columns)
{
    const struct paths *paths = &flame->paths;
    size_t zoom = row_of(flame, flame->zoom);
    flame->count = 0;
    if (paths->count == 0 || !measure(flame)) {
        return;
    }
    add_box(flame, zoom, 0, 0, columns);
    flame->rows[zoom].box = 0;
    for (size_t i = zoom + 1;
         i < paths->count && paths->rows[i].depth > paths->rows[zoom].depth; i++) {
        place_row(flame, i);
    }
    for (int i = 0, count = flame->count; i < count; i++) {
        const struct flame_box box = flame->boxes[i];
        int from = (int)(box.place + 0.5);
        if (box.narrow > 0 && from < box.to) {
            struct flame_box *rest =
                add_box(flame, box.row, box.level + 1, from, from + 1);
            if (rest != NULL) {
                rest->several = true;
            }
        }
    }
}

static const struct flame_box *
selected_box(const struct flame *flame)
{
    size_t row = row_of(flame, flame->selected);
    for (int i = 0; i < flame->count; i++) {
        if (flame->boxes[i].row == row && !flame->boxes[i].several) {
            return &flame->boxes[i];
        }
    }
    return flame->count > 0 ? &flame->boxes[0] : NULL;
}

static void
select_row(struct flame *flame, size_t row)
{
    flame->selected = row < flame->paths.count ? paths_key(&flame->paths, row) : 0;
}

static void
update(struct view *view, const struct scene *scene)
{
    struct flame *flame = flame_of(view);
    (void)scene;
    if (tree_of(flame) == NULL) {
        paths_forget(&flame->paths, true);
    } else {
        paths_update(&flame->paths, tree_of(flame));
    }
}

/* Drawing. */

static enum style
style_of(const struct flame *flame, const struct flame_box *box)
{
    const struct paths_row *row = &flame->paths.rows[box->row];
    if (box->several) {
        return STYLE_DIM;
    }
    if (flame->since) {
        return row->delta > 0 ? STYLE_GREW : row->delta < 0 ? STYLE_SHRANK : STYLE_DIM;
    }
    const struct tree_frame *frame = tree_frame(tree_of(flame), row->node);
    bool own = frame->path[0] != '\0' && paths_is_own(frame->path);
    return box->row == 0 || (row->kind == PATHS_ROW_NODE && own) ? STYLE_ACCENT
                                                                 : STYLE_DIM;
}

// "Cache#fetch +12 310 ", as much as fits, then a wall.
static void
draw_box(const struct flame *flame, const struct scene *scene, struct grid *grid, int row,
         const struct flame_box *box)
{
    char label[TEXT_BYTES];
    char number[FORMAT_BYTES];
    char text[TEXT_BYTES + FORMAT_BYTES];
    char fitted[TEXT_BYTES];
    int cells = box->to - box->from;
    int room = cells > 1 ? cells - 1 : cells;
    enum style style = style_of(flame, box);
    const struct paths_row *at = &flame->paths.rows[box->row];
    if (box->several) {
        snprintf(text, sizeof text, "%s", scene->glyphs->more);
    } else {
        tree_draw_label(&flame->paths, box->row, scene, label, sizeof label);
        (flame->since ? format_grouped_change : format_grouped)(
            number, scene->glyphs, round(flame->since ? at->delta : at->total.live));
        snprintf(text, sizeof text, "%s %s", label, number);
    }
    text_fit(fitted, sizeof fitted, text, room, scene->ascii);
    for (int i = 0; i < room; i++) {
        grid_put(grid, row, box->from + i, 1, style, " ");
    }
    grid_put(grid, row, box->from, room, style, fitted);
    grid_mark(grid, row, box->from, room, ATTRIBUTE_FILLED);
    if (cells > 1) {
        grid_put(grid, row, box->to - 1, 1, STYLE_DIM, scene->glyphs->along);
    }
    if (box == selected_box(flame)) {
        grid_mark(grid, row, box->from, room, ATTRIBUTE_SELECTED | ATTRIBUTE_BOLD);
    }
}

// Objects that have no path because nobody took their stacks.
static double
untraced(const struct flame *flame)
{
    const struct paths *paths = &flame->paths;
    for (size_t i = 1; i < paths->count; i++) {
        const struct paths_row *row = &paths->rows[i];
        if (tree_frame(tree_of(flame), row->node)->id == FRAME_BEFORE_TRACING) {
            return row->total.live;
        }
    }
    return 0;
}

// What colours mean, or what is not drawn.
static void
draw_note(const struct flame *flame, const struct scene *scene, struct grid *grid,
          int row, int at)
{
    char text[TEXT_BYTES] = "";
    char number[FORMAT_BYTES];
    double before = untraced(flame);
    if (flame->since) {
        snprintf(text, sizeof text, "red, + grew   green, - shrank");
    } else if (flame->zoom == 0 && before > 0) {
        format_grouped(number, scene->glyphs, round(before));
        snprintf(text, sizeof text, "without %s born before tracing", number);
    }
    if (text_width(text) + 3 < grid->columns - at) {
        grid_put_right(grid, row, at, grid->columns - at - 1, STYLE_DIM, text);
    }
}

static void
draw_title(const struct flame *flame, const struct scene *scene, struct grid *grid,
           int row)
{
    char text[TEXT_BYTES];
    char what[TREE_TITLE_BYTES] = "live";
    const char *into = scene->glyphs->into;
    struct header_state state = header_state(scene);
    if (flame->since) {
        tree_column_title(what, TREE_COLUMN_DELTA, scene, tree_of(flame));
    }
    const char *filter = flame->paths.filter;
    snprintf(text, sizeof text, "classes %s %.200s %s flame, %s%s%s%.40s", into,
             flame->tree->name, into, what, flame->zoom != 0 ? ", zoomed" : "",
             filter[0] != '\0' ? ", filter " : "", filter);
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, text);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(text, sizeof text, "%s %.100s", state.word, state.detail);
    at += 3 + grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, text);
    draw_note(flame, scene, grid, row, at);
}

// The selected box in words: where it is, how much of the class.
static void
draw_words(const struct flame *flame, const struct scene *scene, struct grid *grid,
           int line)
{
    char label[TEXT_BYTES];
    char live[FORMAT_BYTES];
    char change[FORMAT_BYTES];
    char share[FORMAT_BYTES];
    char text[TEXT_BYTES * 2];
    char fitted[TEXT_BYTES * 2];
    const struct flame_box *box = selected_box(flame);
    if (box == NULL) {
        return;
    }
    const struct paths_row *row = &flame->paths.rows[box->row];
    tree_draw_label(&flame->paths, box->row, scene, label, sizeof label);
    format_grouped(live, scene->glyphs, round(row->total.live));
    format_grouped_change(change, scene->glyphs, round(row->delta));
    format_percent(share, scene->glyphs, 100 * row->of_class);
    snprintf(text, sizeof text, "%.300s   %s live, %s of the class, %s %s", label, live,
             share, scene->glyphs->change, change);
    text_fit(fitted, sizeof fitted, text, grid->columns - 2, scene->ascii);
    grid_put(grid, line, 1, grid->columns - 1, STYLE_NORMAL, fitted);
    const struct tree_frame *frame = tree_frame(tree_of(flame), row->node);
    if (row->kind == PATHS_ROW_NODE && frame->path[0] != '\0') {
        snprintf(text, sizeof text, "%.900s:%u", frame->path,
                 (unsigned)tree_line(tree_of(flame), row->node));
        text_fit(fitted, sizeof fitted, text, grid->columns - 2, scene->ascii);
        grid_put(grid, line + 1, 1, grid->columns - 1, STYLE_DIM, fitted);
    }
}

// Levels scroll so that the selected one is seen.
static void
scroll(struct flame *flame, int page)
{
    const struct flame_box *box = selected_box(flame);
    int level = box != NULL ? box->level : 0;
    if (level < flame->top) {
        flame->top = level;
    } else if (level >= flame->top + page) {
        flame->top = level - page + 1;
    }
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct flame *flame = flame_of(view);
    flame->area = (struct area){area.row + 1, 0, area.rows - 4, grid->columns};
    if (tree_of(flame) == NULL) {
        grid_put(grid, area.row + 1, 2, grid->columns - 2, STYLE_WARNING,
                 "There is no call tree now; Esc goes back.");
        return;
    }
    draw_title(flame, scene, grid, area.row);
    lay_out(flame, grid->columns);
    scroll(flame, flame->area.rows);
    for (int i = 0; i < flame->count; i++) {
        int line = flame->boxes[i].level - flame->top;
        if (line >= 0 && line < flame->area.rows) {
            draw_box(flame, scene, grid, flame->area.row + line, &flame->boxes[i]);
        }
    }
    draw_words(flame, scene, grid, area.row + area.rows - 2);
}

/* Keys. */

static void
select_beside(struct flame *flame, int by)
{
    const struct flame_box *box = selected_box(flame);
    const struct flame_box *best = NULL;
    for (int i = 0; box != NULL && i < flame->count; i++) {
        const struct flame_box *at = &flame->boxes[i];
        bool beside = at->level == box->level && !at->several &&
                      (by < 0 ? at->to <= box->from : at->from >= box->to);
        if (beside && (best == NULL || by < 0)) {
            best = at;
        }
    }
    if (best != NULL) {
        select_row(flame, best->row);
    }
}

static void
select_below(struct flame *flame)
{
    const struct flame_box *box = selected_box(flame);
    const struct flame_box *best = NULL;
    for (int i = 0; box != NULL && i < flame->count; i++) {
        const struct flame_box *at = &flame->boxes[i];
        if (!at->several && at->level == box->level + 1 && at->from >= box->from &&
            at->to <= box->to &&
            (best == NULL || at->to - at->from > best->to - best->from)) {
            best = at;
        }
    }
    if (best != NULL) {
        select_row(flame, best->row);
    }
}

static void
select_above(struct flame *flame)
{
    const struct flame_box *box = selected_box(flame);
    if (box != NULL && box->level > 0) {
        select_row(flame, paths_parent(&flame->paths, box->row));
    }
}

static void
zoom_to(struct flame *flame, size_t row)
{
    flame->zoom = row > 0 && row < flame->paths.count ? paths_key(&flame->paths, row) : 0;
}

static void
zoom_out(struct flame *flame)
{
    size_t row = row_of(flame, flame->zoom);
    flame->selected = flame->zoom;
    zoom_to(flame, row > 0 ? paths_parent(&flame->paths, row) : 0);
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct flame *flame = flame_of(view);
    (void)scene;
    (void)key;
    if (action == ACTION_FLAME || tree_of(flame) == NULL) {
        return action == ACTION_FLAME || action == ACTION_BACK
                   ? (unsigned)(OUTCOME_CLOSE | OUTCOME_DRAW)
                   : (unsigned)OUTCOME_PASS;
    }
    switch (action) {
    case ACTION_UNFOLD:
        zoom_to(flame, row_of(flame, flame->selected));
        break;
    case ACTION_FOLD:
        zoom_out(flame);
        break;
    case ACTION_BACK:
        if (flame->zoom == 0) {
            return OUTCOME_PASS;
        }
        flame->zoom = 0;
        break;
    case ACTION_SINCE_MARK:
        flame->since = !flame->since;
        break;
    case ACTION_OWN:
        flame->paths.own_only = !flame->paths.own_only;
        paths_renew(&flame->paths);
        break;
    case ACTION_UP:
        select_above(flame);
        break;
    case ACTION_DOWN:
        select_below(flame);
        break;
    case ACTION_PREVIOUS:
        select_beside(flame, -1);
        break;
    case ACTION_NEXT:
        select_beside(flame, 1);
        break;
    case ACTION_TOP:
        flame->zoom = 0;
        flame->selected = 0;
        break;
    default:
        return OUTCOME_PASS;
    }
    return OUTCOME_DRAW;
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct flame *flame = flame_of(view);
    int level = key.row - flame->area.row + flame->top;
    (void)scene;
    for (int i = 0; tree_of(flame) != NULL && i < flame->count; i++) {
        const struct flame_box *box = &flame->boxes[i];
        if (box->level == level && !box->several && key.column >= box->from &&
            key.column < box->to) {
            if (box == selected_box(flame)) {
                zoom_to(flame, box->row);
            }
            select_row(flame, box->row);
            return OUTCOME_DRAW;
        }
    }
    return OUTCOME_NONE;
}

static const struct view_class flame_class = {
    .name = "flame graph",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = word_at,
    .update = update,
    .draw = draw,
    .act = act,
    .mouse = mouse,
};

void
flame_init(struct flame *flame)
{
    *flame = (struct flame){.view = {&flame_class}};
    paths_init(&flame->paths);
}

void
flame_destroy(struct flame *flame)
{
    paths_destroy(&flame->paths);
    free(flame->rows);
    flame_init(flame);
}

void
flame_open(struct flame *flame, const struct tree_view *tree)
{
    flame->tree = tree;
    flame->since = false;
    flame->zoom = 0;
    flame->selected = 0;
    flame->top = 0;
    flame->paths.own_only = tree->paths.own_only;
    memcpy(flame->paths.filter, tree->paths.filter, sizeof flame->paths.filter);
    flame->paths.order = PATHS_BY_LABEL; // boxes stay where they are
    paths_forget(&flame->paths, false);
    paths_fold_level(&flame->paths, UINT32_MAX);
}
