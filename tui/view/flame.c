#include "tui/view/flame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/format.h"
#include "tui/view/header.h"

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
    {ACTION_SINCE_MARK, {'d'}, "since", "widths of what lives, or of what came since the mark"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "to the caller"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "to the widest box it called"},
    {ACTION_PREVIOUS, {KEY_CODE_LEFT, 'h'}, NULL, "to the box to the left"},
    {ACTION_NEXT, {KEY_CODE_RIGHT, 'l'}, NULL, "to the box to the right"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the class, and zoom out"},
    {ACTION_MARK, {'m'}, NULL, "set a mark: changes are shown since then"},
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

static const struct tree_model *
tree_of(const struct flame *flame)
{
    return flame->tree->tree;
}

// What was born before tracing has no path to show, and would crowd out the rest.
static double
width_of(const struct flame *flame, uint32_t node)
{
    const struct tree_model *tree = tree_of(flame);
    if (tree_frame(tree, node)->id == FRAME_BEFORE_TRACING) {
        return 0;
    }
    double value =
        flame->since ? fabs(tree_delta(tree, node)) : tree_total(tree, node).live;
    return isnan(value) ? 0 : value;
}

// Objects that have no path because nobody took their stacks.
static double
untraced(const struct tree_model *tree)
{
    uint32_t child = tree_first_child(tree, 0);
    while (child != TREE_NONE && tree_frame(tree, child)->id != FRAME_BEFORE_TRACING) {
        child = tree_next_sibling(tree, child);
    }
    return child != TREE_NONE ? tree_total(tree, child).live : 0;
}

// What is below a node: with changes of both signs more than the node's own.
static double
width_below(const struct flame *flame, uint32_t node)
{
    const struct tree_model *tree = tree_of(flame);
    double sum = 0;
    uint32_t child = tree_first_child(tree, node);
    for (; child != TREE_NONE; child = tree_next_sibling(tree, child)) {
        sum += width_of(flame, child);
    }
    return sum;
}

static struct flame_box *
add_box(struct flame *flame, uint32_t node, int level, int from, int to)
{
    if (flame->count == FLAME_BOXES_MAX) {
        return NULL;
    }
    struct flame_box *box = &flame->boxes[flame->count++];
    *box = (struct flame_box){node, level, from, to, 0};
    return box;
}

// Cells of the boxes that are wide enough to be drawn.
static double
wide_cells(const struct flame *flame, uint32_t node, double cells_each)
{
    const struct tree_model *tree = tree_of(flame);
    double sum = 0;
    uint32_t child = tree_first_child(tree, node);
    for (; child != TREE_NONE; child = tree_next_sibling(tree, child)) {
        double cells = width_of(flame, child) * cells_each;
        sum += cells >= CELLS_MIN ? cells : 0;
    }
    return sum;
}

// The boxes of what a box called, side by side in its cells; what is narrower than a
// cell shares one at the end. The tree lists the newest path first: it is drawn last,
// so that boxes stay where they are when paths come.
static void
add_children(struct flame *flame, const struct flame_box *parent)
{
    const struct tree_model *tree = tree_of(flame);
    const struct flame_box at = *parent;
    double own = at.node == 0 ? 0 : width_of(flame, at.node);
    double below = width_below(flame, at.node);
    double cells_each = (at.to - at.from) / (own > below ? own : below > 0 ? below : 1);
    double place = at.from + wide_cells(flame, at.node, cells_each);
    uint32_t narrow = 0;
    int end = (int)(place + 0.5);
    uint32_t child = tree_first_child(tree, at.node);
    for (; child != TREE_NONE; child = tree_next_sibling(tree, child)) {
        double cells = width_of(flame, child) * cells_each;
        if (cells >= CELLS_MIN) {
            int to = (int)(place + 0.5);
            place -= cells;
            int from = (int)(place + 0.5);
            add_box(flame, child, at.level + 1, from, to > from ? to : from + 1);
        } else {
            narrow += cells > 0;
        }
    }
    if (narrow > 0 && end < at.to) {
        struct flame_box *box = add_box(flame, at.node, at.level + 1, end, end + 1);
        if (box != NULL) {
            box->several = narrow;
        }
    }
}

// Breadth first, so that boxes are in order of level and place.
static void
lay_out(struct flame *flame, int columns)
{
    flame->count = 0;
    if (flame->zoom >= tree_node_count(tree_of(flame))) {
        flame->zoom = 0;
    }
    add_box(flame, flame->zoom, 0, 0, columns);
    for (int i = 0; i < flame->count; i++) {
        if (flame->boxes[i].several == 0) {
            add_children(flame, &flame->boxes[i]);
        }
    }
}

static const struct flame_box *
selected_box(const struct flame *flame)
{
    for (int i = 0; i < flame->count; i++) {
        if (flame->boxes[i].node == flame->selected && flame->boxes[i].several == 0) {
            return &flame->boxes[i];
        }
    }
    return flame->count > 0 ? &flame->boxes[0] : NULL;
}

static void
update(struct view *view, const struct scene *scene)
{
    struct flame *flame = flame_of(view);
    (void)scene;
    if (tree_of(flame) != NULL && flame->generation != tree_generation(tree_of(flame))) {
        flame->generation = tree_generation(tree_of(flame));
        flame->zoom = 0;
        flame->selected = 0;
    }
}

/* Drawing. */

static enum style
style_of(const struct flame *flame, const struct flame_box *box)
{
    double delta = tree_delta(tree_of(flame), box->node);
    if (box->several > 0) {
        return STYLE_DIM;
    }
    if (flame->since) {
        return delta > 0 ? STYLE_GREW : delta < 0 ? STYLE_SHRANK : STYLE_DIM;
    }
    const struct tree_frame *frame = tree_frame(tree_of(flame), box->node);
    bool own = box->node == 0 || (frame->path[0] != '\0' && paths_is_own(frame->path));
    return own ? STYLE_ACCENT : STYLE_NORMAL;
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
    double change = tree_delta(tree_of(flame), box->node);
    if (box->several > 0) {
        snprintf(text, sizeof text, "%s", scene->glyphs->more);
    } else {
        tree_label(tree_of(flame), box->node, label, sizeof label);
        (flame->since ? format_grouped_change : format_grouped)(
            number, scene->glyphs,
            round(flame->since ? change : tree_total(tree_of(flame), box->node).live));
        snprintf(text, sizeof text, "%s %s", label, number);
    }
    text_fit(fitted, sizeof fitted, text, room, scene->ascii);
    int used = grid_put(grid, row, box->from, room, style, fitted);
    for (int i = used; i < room; i++) {
        grid_put(grid, row, box->from + i, 1, style, scene->glyphs->across);
    }
    if (cells > 1) {
        grid_put(grid, row, box->to - 1, 1, STYLE_DIM, scene->glyphs->along);
    }
    if (box->node == flame->selected && box->several == 0) {
        grid_mark(grid, row, box->from, cells, ATTRIBUTE_SELECTED | ATTRIBUTE_BOLD);
    }
}

// What colours mean, or what is not drawn.
static void
draw_note(const struct flame *flame, const struct scene *scene, struct grid *grid,
          int row, int at)
{
    char text[TEXT_BYTES] = "";
    char number[FORMAT_BYTES];
    double before = untraced(tree_of(flame));
    if (flame->since) {
        snprintf(text, sizeof text, "red, + grew   green, - shrank");
    } else if (flame->zoom == 0 && before > 0) {
        format_grouped(number, scene->glyphs, round(before));
        snprintf(text, sizeof text, "without %s born before tracing", number);
    }
    grid_put_right(grid, row, at, grid->columns - at - 1, STYLE_DIM, text);
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
    snprintf(text, sizeof text, "classes %s %.200s %s flame, %s%s", into,
             flame->tree->name, into, what, flame->zoom != 0 ? ", zoomed" : "");
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, text);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(text, sizeof text, "%s %.100s", state.word, state.detail);
    at += 3 + grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, text);
    draw_note(flame, scene, grid, row, at);
}

// The selected box in words: where it is, how much of the class.
static void
draw_words(const struct flame *flame, const struct scene *scene, struct grid *grid,
           int row)
{
    char label[TEXT_BYTES];
    char live[FORMAT_BYTES];
    char change[FORMAT_BYTES];
    char share[FORMAT_BYTES];
    char text[TEXT_BYTES * 2];
    char fitted[TEXT_BYTES * 2];
    const struct tree_model *tree = tree_of(flame);
    const struct flame_box *box = selected_box(flame);
    uint32_t node = box != NULL ? box->node : 0;
    struct tree_counts counts = tree_total(tree, node);
    double whole = tree_total(tree, 0).live;
    tree_label(tree, node, label, sizeof label);
    format_grouped(live, scene->glyphs, round(counts.live));
    format_grouped_change(change, scene->glyphs, round(tree_delta(tree, node)));
    format_percent(share, scene->glyphs,
                   whole > 0 ? 100 * counts.live / whole : (double)NAN);
    snprintf(text, sizeof text, "%.300s   %s live, %s of the class, %s %s", label, live,
             share, scene->glyphs->change, change);
    text_fit(fitted, sizeof fitted, text, grid->columns - 2, scene->ascii);
    grid_put(grid, row, 1, grid->columns - 1, STYLE_NORMAL, fitted);
    const struct tree_frame *frame = tree_frame(tree, node);
    if (frame->path[0] != '\0') {
        snprintf(text, sizeof text, "%.900s:%u", frame->path,
                 (unsigned)tree_line(tree, node));
        text_fit(fitted, sizeof fitted, text, grid->columns - 2, scene->ascii);
        grid_put(grid, row + 1, 1, grid->columns - 1, STYLE_DIM, fitted);
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
        bool beside = at->level == box->level && at->several == 0 &&
                      (by < 0 ? at->to <= box->from : at->from >= box->to);
        if (beside && (best == NULL || by < 0)) {
            best = at;
        }
    }
    flame->selected = best != NULL ? best->node : flame->selected;
}

static void
select_below(struct flame *flame)
{
    const struct flame_box *best = NULL;
    const struct tree_model *tree = tree_of(flame);
    for (int i = 0; i < flame->count; i++) {
        const struct flame_box *at = &flame->boxes[i];
        if (at->several == 0 && at->level > 0 &&
            tree_parent(tree, at->node) == flame->selected &&
            (best == NULL || at->to - at->from > best->to - best->from)) {
            best = at;
        }
    }
    flame->selected = best != NULL ? best->node : flame->selected;
}

static void
select_above(struct flame *flame)
{
    if (flame->selected != flame->zoom) {
        flame->selected = tree_parent(tree_of(flame), flame->selected);
    }
}

static void
zoom_out(struct flame *flame)
{
    uint32_t parent = tree_parent(tree_of(flame), flame->zoom);
    flame->selected = flame->zoom;
    flame->zoom = parent != TREE_NONE ? parent : 0;
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
        flame->zoom = flame->selected;
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
        if (box->level == level && box->several == 0 && key.column >= box->from &&
            key.column < box->to) {
            flame->zoom = flame->selected == box->node ? box->node : flame->zoom;
            flame->selected = box->node;
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
flame_init(struct flame *flame, const struct tree_view *tree)
{
    *flame = (struct flame){.view = {&flame_class}, .tree = tree};
    flame->generation = tree->tree != NULL ? tree_generation(tree->tree) : 0;
    flame->since = false;
}
