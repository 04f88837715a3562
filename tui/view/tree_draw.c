#include "tui/view/tree_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/cursor.h"
#include "tui/view/format.h"
#include "tui/view/header.h"

#define MARGIN 2            // cells of the cursor's sign
#define SOURCE_FROM_ROWS 16 // of the screen: below it the tree has all of them
#define LINE_BYTES 1024
#define BRANCHES_MIN 3 // levels that are indented, however narrow the screen

// "exact since 3m10s", "1 of 64 stacks, ± 95 %".
static void
describe_sampling(const struct tree_view *tree, const struct scene *scene, char *out,
                  size_t capacity)
{
    const struct tree *header = tree_header(tree->tree);
    char since[FORMAT_BYTES] = "";
    uint64_t now_us = model_time(scene->model).wall_us;
    bool began = header->since_us != COUNT_UNKNOWN && now_us > header->since_us;
    if (!began) {
        snprintf(out, capacity, "no stacks taken yet");
        return;
    }
    format_duration(since, (now_us - header->since_us) / 1000000);
    if (header->shift > 0) {
        snprintf(out, capacity, "1 of %llu stacks, %s 95 %%",
                 1ULL << (header->shift < 63 ? header->shift : 63),
                 scene->glyphs->around);
    } else if (tree_exact(tree->tree)) {
        snprintf(out, capacity, "exact, for %s", since);
    } else {
        snprintf(out, capacity, "sampled before, %s 95 %%", scene->glyphs->around);
    }
}

static void
describe(const struct tree_view *tree, const struct scene *scene, char *out,
         size_t capacity)
{
    char sampling[LINE_BYTES / 4];
    const struct tree *header = tree_header(tree->tree);
    const char *filter = tree->paths.filter;
    unsigned nodes = (unsigned)tree_node_count(tree->tree) - 1;
    bool tracing = (header->flags & TREE_TRACING) != 0;
    describe_sampling(tree, scene, sampling, sizeof sampling);
    snprintf(out, capacity, "%s%.40s%s%s%s%s %s %u node%s %s depth %llu%s%s",
             filter[0] != '\0' ? "filter " : "", filter, filter[0] != '\0' ? ", " : "",
             sampling, tracing ? "" : ", not now",
             (header->flags & TREE_PINNED) ? ", pinned" : "", scene->glyphs->dot, nodes,
             nodes == 1 ? "" : "s", scene->glyphs->dot, (unsigned long long)header->depth,
             (header->flags & TREE_FULL) ? ", room for paths is used up" : "",
             tree->paths.cut ? ", too many rows: not all are shown" : "");
}

static const char *
shape_name(enum paths_shape shape)
{
    static const char *const names[] = {"call tree, callers first",
                                        "call tree, lines first", "lines, flat"};
    return names[shape];
}

// " classes ▸ Order ▸ call tree, callers first   LIVE 1s       exact · 14 nodes …"
static void
draw_title(const struct tree_view *tree, const struct scene *scene, struct grid *grid,
           int row)
{
    char title[LINE_BYTES];
    char notes[LINE_BYTES] = "";
    char fitted[LINE_BYTES];
    char name[TREE_NAME_BYTES];
    struct header_state state = header_state(scene);
    const char *into = scene->glyphs->into;
    text_fit(name, sizeof name, tree->name, grid->columns / 3, scene->ascii);
    const struct model_class *class = tree_view_class(tree, scene);
    snprintf(title, sizeof title, "classes %s %s%s %s %s", into, name,
             class != NULL && class->gone ? " (gone)" : "", into,
             shape_name(tree->paths.shape));
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, title);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(title, sizeof title, "%s %.100s", state.word, state.detail);
    at += 3 + grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, title);
    if (tree->tree != NULL) {
        describe(tree, scene, notes, sizeof notes);
    }
    bool warn = tree->tree != NULL && (tree_header(tree->tree)->flags & TREE_FULL) != 0;
    int room = grid->columns - at - 3;
    text_fit(fitted, sizeof fitted, notes, room > 0 ? room : 0, scene->ascii);
    if (room > 12) {
        grid_put_right(grid, row, at + 2, room, warn ? STYLE_WARNING : STYLE_DIM, fitted);
    }
}

static void
lay_out(struct tree_view *tree, struct area area)
{
    int path;
    int used = MARGIN;
    tree->heading_row = area.row + 1;
    tree->first_row = area.row + 2;
    tree->page = area.rows - 2;
    if (!tree->no_source && area.rows >= SOURCE_FROM_ROWS) {
        tree->page -= area.rows / 3;
    }
    tree->shown_count = tree_column_layout(&tree->choice, area.columns - MARGIN - 1,
                                           tree->paths.order, tree->shown, &path);
    for (int i = 0; i < tree->shown_count; i++) {
        used += tree_columns[tree->shown[i]].width;
    }
    tree->path_at = used + 2;
    tree->path_cells = area.columns - tree->path_at;
}

static void
draw_headings(const struct tree_view *tree, const struct scene *scene, struct grid *grid)
{
    int at = MARGIN;
    const char *arrow =
        tree->paths.inverted ? scene->glyphs->ascending : scene->glyphs->descending;
    for (int i = 0; i < tree->shown_count; i++) {
        char title[TREE_TITLE_BYTES];
        char heading[TREE_TITLE_BYTES + 8];
        const struct tree_column *column = &tree_columns[tree->shown[i]];
        bool sorted = column->word != NULL && column->order == tree->paths.order;
        tree_column_title(title, tree->shown[i], scene, tree->tree);
        snprintf(heading, sizeof heading, sorted ? "%s %s" : "%s", title, arrow);
        grid_put_right(grid, tree->heading_row, at + 1, column->width - 1,
                       sorted ? STYLE_ACCENT : STYLE_HEADING, heading);
        at += column->width;
    }
    bool sorted = tree->paths.order == PATHS_BY_LABEL;
    grid_put(grid, tree->heading_row, tree->path_at, grid->columns - tree->path_at,
             sorted ? STYLE_ACCENT : STYLE_HEADING,
             sorted && tree->paths.inverted ? "PATH, inverted" : "PATH");
    grid_mark(grid, tree->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

// For each depth up to the row's, whether a sibling follows further down.
static bool
branch_goes_on(const struct paths *paths, size_t row, uint32_t depth)
{
    for (size_t at = row; at > 0; at--) {
        if (paths->rows[at].depth == depth) {
            return !paths->rows[at].last;
        }
    }
    return false;
}

// What stands for several rows is shortened with a glyph that ASCII has not.
static void
without_ellipsis(char *label, size_t capacity)
{
    char copy[LINE_BYTES];
    const char *from = copy;
    size_t length = 0;
    const char *sign;
    snprintf(copy, sizeof copy, "%s", label);
    label[0] = '\0';
    while ((sign = strstr(from, "…")) != NULL && length < capacity) {
        length += (size_t)snprintf(label + length, capacity - length, "%.*s...",
                                   (int)(sign - from), from);
        from = sign + strlen("…");
    }
    if (length < capacity) {
        snprintf(label + length, capacity - length, "%s", from);
    }
}

void
tree_draw_label(const struct paths *paths, size_t row, const struct scene *scene,
                char *label, size_t size)
{
    paths_label(paths, row, label, size);
    if (scene->ascii && paths->rows[row].kind != PATHS_ROW_NODE) {
        without_ellipsis(label, size);
    }
}

// Levels that a row is indented by: its own, or as many as leave most of the column to
// the label. What lies deeper starts at the same cell.
static uint32_t
indented(const struct tree_view *tree, uint32_t depth)
{
    uint32_t most = tree->path_cells > 0 ? (uint32_t)tree->path_cells / 5 : 0;
    most = most < BRANCHES_MIN ? BRANCHES_MIN : most;
    return depth < most ? depth : most;
}

// "│ ├▾ " before a label.
static int
draw_branches(const struct tree_view *tree, const struct scene *scene, struct grid *grid,
              int line, size_t index)
{
    const struct paths_row *row = &tree->paths.rows[index];
    const struct glyphs *glyphs = scene->glyphs;
    int at = tree->path_at;
    uint32_t first = row->depth - indented(tree, row->depth) + 1;
    for (uint32_t depth = first; depth < row->depth; depth++, at += 2) {
        if (branch_goes_on(&tree->paths, index, depth)) {
            grid_put(grid, line, at, 1, STYLE_DIM, glyphs->branch_past);
        }
    }
    if (row->depth > 0) {
        grid_put(grid, line, at, 1, STYLE_DIM,
                 row->last ? glyphs->branch_last : glyphs->branch);
        at++;
    }
    if (row->foldable) {
        grid_put(grid, line, at, 1, STYLE_ACCENT,
                 row->open ? glyphs->open : glyphs->folded);
    }
    return at + 2;
}

static void
draw_path(const struct tree_view *tree, const struct scene *scene, struct grid *grid,
          int line, size_t index)
{
    char label[LINE_BYTES];
    char place[LINE_BYTES];
    char fitted[LINE_BYTES];
    char times[FORMAT_BYTES];
    const struct paths_row *row = &tree->paths.rows[index];
    int at = draw_branches(tree, scene, grid, line, index);
    int room = grid->columns - at - 1;
    tree_draw_label(&tree->paths, index, scene, label, sizeof label);
    paths_place(&tree->paths, index, place, sizeof place);
    bool dim = row->kind != PATHS_ROW_NODE ||
               (tree->paths.filter[0] != '\0' && !row->matched && index > 0);
    text_fit(fitted, sizeof fitted, label, room > 0 ? room : 0, scene->ascii);
    int used = grid_put(grid, line, at, room, dim ? STYLE_DIM : STYLE_NORMAL, fitted);
    if (row->recursion > 0 && row->kind == PATHS_ROW_NODE &&
        (tree_frame(tree->tree, row->node)->flags & FRAME_C) == 0) {
        snprintf(times, sizeof times, " %s%u", scene->glyphs->times,
                 (unsigned)row->recursion + 1);
        used += grid_put(grid, line, at + used, room - used, STYLE_WARNING, times);
    }
    text_fit(fitted, sizeof fitted, place, room - used - 2 > 0 ? room - used - 2 : 0,
             scene->ascii);
    if (room - used > 6) {
        grid_put(grid, line, at + used + 2, room - used - 2, STYLE_DIM, fitted);
    }
}

static void
draw_row(const struct tree_view *tree, const struct scene *scene, struct grid *grid,
         int line, size_t index)
{
    const struct paths_row *row = &tree->paths.rows[index];
    int at = MARGIN;
    for (int i = 0; i < tree->shown_count; i++) {
        const struct tree_column *column = &tree_columns[tree->shown[i]];
        column->draw(scene, row, grid, line, at, column->width);
        at += column->width;
    }
    draw_path(tree, scene, grid, line, index);
    if (index == tree->cursor) {
        grid_put(grid, line, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, line, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
}

// "12 488 live, +41.2/s"
static void
describe_row(const struct paths_row *row, const struct scene *scene, char *out,
             size_t capacity)
{
    char live[FORMAT_BYTES];
    char rate[FORMAT_BYTES];
    format_grouped(live, scene->glyphs, round(row->total.live));
    format_rate_change(rate, scene->glyphs, row->live_per_second);
    snprintf(out, capacity, isnan(row->live_per_second) ? "%s live" : "%s live, %s/s",
             live, rate);
}

static void
draw_source(struct tree_view *tree, const struct scene *scene, struct grid *grid,
            struct area area)
{
    struct source_line line = {.file = "", .title = ""};
    char said[FORMAT_BYTES * 3] = "";
    const struct paths_row *row = tree_view_row(tree);
    int first = tree->first_row + tree->page;
    struct area pane = {first, area.column, area.row + area.rows - first, area.columns};
    if (pane.rows < 2) {
        return;
    }
    if (tree_view_place(tree, &line.file, &line.line)) {
        line.title = paths_file(&tree->paths, line.file);
    } else {
        line.file = "";
    }
    if (row != NULL) {
        describe_row(row, scene, said, sizeof said);
    }
    line.words = said;
    source_draw(&tree->source, scene, grid, pane, line);
}

// Why there is no tree, and what would help.
static void
draw_words(const struct tree_view *tree, const struct scene *scene, struct grid *grid)
{
    bool gone = tree_view_class(tree, scene) == NULL;
    const char *first = gone ? "The class is gone, and its tree with it."
                        : tree->words[0] != '\0'
                            ? tree->words
                            : "Stacks are taken of every object that is born from now "
                              "on; the tree is on its way.";
    bool waiting = !gone && tree->words[0] == '\0';
    grid_put(grid, tree->first_row, MARGIN, grid->columns - MARGIN,
             waiting ? STYLE_ACCENT : STYLE_WARNING, first);
    if (waiting && scene->link != LINK_LIVE) {
        grid_put(grid, tree->first_row + 1, MARGIN, grid->columns - MARGIN, STYLE_NORMAL,
                 "Not connected: it comes when the program is back.");
    }
}

void
tree_draw(struct view *view, const struct scene *scene, struct grid *grid,
          struct area area)
{
    struct tree_view *tree = (struct tree_view *)(void *)view;
    lay_out(tree, area);
    draw_title(tree, scene, grid, area.row);
    if (tree->tree == NULL) {
        draw_words(tree, scene, grid);
        return;
    }
    draw_headings(tree, scene, grid);
    tree->top = cursor_top(tree->top, tree->cursor, tree->paths.count,
                           tree->page > 0 ? (size_t)tree->page : 1);
    for (int i = 0; i < tree->page && tree->top + (size_t)i < tree->paths.count; i++) {
        draw_row(tree, scene, grid, tree->first_row + i, tree->top + (size_t)i);
    }
    if (tree->paths.filter[0] != '\0' && tree->paths.count == 1) {
        grid_put(grid, tree->first_row + 2, tree->path_at, grid->columns - tree->path_at,
                 STYLE_DIM, "no path has it; \\ shows all");
    }
    if (tree->page < area.rows - 2) {
        draw_source(tree, scene, grid, area);
    }
}

int
tree_draw_sign(const struct tree_view *tree, size_t row)
{
    uint32_t levels = indented(tree, tree->paths.rows[row].depth);
    return tree->path_at + (levels > 0 ? 2 * (int)levels - 1 : 0);
}
