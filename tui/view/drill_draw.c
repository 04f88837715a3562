#include "tui/view/drill_draw.h"

#include <stdio.h>

#include "tui/text/text.h"
#include "tui/view/header.h"
#include "tui/view/pager.h"

#define MARGIN 2 // cells of the cursor's sign
#define NAME_CELLS_MIN 14
#define PATH_CELLS_MIN 24
#define BLANK_FROM_ROWS 16  // of the screen: below it no row is left empty
#define SOURCE_FROM_ROWS 16 // and paths have all of them

/* Where things are. */

static const struct drill_column *
column_of(const struct drill *drill, int column)
{
    return &drill_class_of(drill)->columns[column];
}

static void
lay_out(struct drill *drill, struct area area)
{
    bool paths = drill->class != 0;
    int room = area.columns - MARGIN - 1 - (paths ? PATH_CELLS_MIN : NAME_CELLS_MIN);
    int used = 0;
    drill->shown_count = 0;
    for (int id = 0; id < drill_class_of(drill)->column_count; id++) {
        const struct drill_column *column = column_of(drill, id);
        if (!drill_has(drill, id)) {
            continue;
        }
        if (!column->always && used + column->width > room) {
            break;
        }
        drill->shown[drill->shown_count++] = id;
        used += column->width;
    }
    drill->name_at = MARGIN + (paths ? used + 2 : 0);
    drill->name_cells = area.columns - MARGIN - 1 - used - (paths ? 2 : 0);
}

static int
figures_at(const struct drill *drill)
{
    return drill->class != 0 ? MARGIN : MARGIN + drill->name_cells;
}

bool
drill_draw_column(const struct drill *drill, int cell, int *column)
{
    int at = figures_at(drill);
    if (drill->class == 0 && cell >= MARGIN && cell < at) {
        *column = DRILL_COLUMN_NAME;
        return true;
    }
    for (int i = 0; i < drill->shown_count; i++) {
        int width = column_of(drill, drill->shown[i])->width;
        if (cell >= at && cell < at + width) {
            *column = drill->shown[i];
            return true;
        }
        at += width;
    }
    return false;
}

/* Drawing. */

// " classes ▸ born A to B, alive now   LIVE 1s"
static void
draw_title(const struct drill *drill, const struct scene *scene, struct grid *grid,
           int row)
{
    char title[DRILL_TEXT_BYTES + DRILL_NAME_BYTES];
    char last[DRILL_TITLE_BYTES];
    char name[DRILL_NAME_BYTES];
    const char *into = scene->glyphs->into;
    struct header_state state = header_state(scene);
    drill_class_of(drill)->title(drill, scene, last);
    if (drill->class != 0) {
        text_fit(name, sizeof name, drill->name, grid->columns / 3, scene->ascii);
        snprintf(title, sizeof title, "classes %s %s %s %s", into, name, into, last);
    } else {
        snprintf(title, sizeof title, "classes %s %s", into, last);
    }
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, title);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(title, sizeof title, "%s %.100s", state.word, state.detail);
    if (grid->columns - at - 3 > 0) {
        grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, title);
    }
}

// A heading, or a figure below it. Words have a space more before them.
static void
draw_cell(const struct drill_column *column, struct grid *grid, int row, int at,
          enum style style, const char *text)
{
    if (column->left) {
        grid_put(grid, row, at + 2, column->width - 2, style, text);
    } else {
        grid_put_right(grid, row, at + 1, column->width - 1, style, text);
    }
}

static void
draw_heading(const struct drill *drill, const struct scene *scene, struct grid *grid,
             int id, int at)
{
    char title[DRILL_TITLE_BYTES];
    const struct drill_column *column = column_of(drill, id);
    const struct list *list = drill_shown(drill);
    bool sorted = list->sort == id;
    enum style style = sorted ? STYLE_ACCENT : STYLE_HEADING;
    // names begin with A, figures with the largest
    bool downwards = list->inverted == (id == DRILL_COLUMN_NAME);
    snprintf(title, sizeof title, sorted ? "%s %s" : "%s", column->title,
             downwards ? scene->glyphs->descending : scene->glyphs->ascending);
    if (id == DRILL_COLUMN_NAME) {
        grid_put(grid, drill->heading_row, drill->name_at, drill->name_cells, style,
                 title);
    } else {
        draw_cell(column, grid, drill->heading_row, at, style, title);
    }
}

static void
draw_headings(const struct drill *drill, const struct scene *scene, struct grid *grid)
{
    int at = figures_at(drill);
    for (int i = 0; i < drill->shown_count; i++) {
        draw_heading(drill, scene, grid, drill->shown[i], at);
        at += column_of(drill, drill->shown[i])->width;
    }
    if (drill->class != 0) {
        grid_put(grid, drill->heading_row, drill->name_at, drill->name_cells,
                 STYLE_HEADING, "PATH, the allocating line last");
    }
    grid_mark(grid, drill->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static void
draw_name(const struct drill *drill, const struct scene *scene, struct grid *grid,
          int row, size_t index)
{
    char text[PATH_TEXT_BYTES];
    const struct drill_class *class = drill_class_of(drill);
    if (drill->class == 0) {
        const char *name = class->class_at(drill, index).name;
        text_fit(text, sizeof text, name[0] != '\0' ? name : "(no name yet)",
                 drill->name_cells - 1, scene->ascii);
    } else {
        uint32_t node;
        const struct path_steps steps = class->path_at(drill, index, &node);
        path_text(&steps, node, scene, drill->name_cells, text);
    }
    grid_put(grid, row, drill->name_at, drill->name_cells, STYLE_NORMAL, text);
}

static void
draw_row(const struct drill *drill, const struct scene *scene, struct grid *grid, int row,
         size_t place)
{
    char text[DRILL_TEXT_BYTES];
    const struct list *list = drill_shown(drill);
    size_t index = list->order[place];
    int at = figures_at(drill);
    draw_name(drill, scene, grid, row, index);
    for (int i = 0; i < drill->shown_count; i++) {
        int id = drill->shown[i];
        if (id != DRILL_COLUMN_NAME) {
            enum style style =
                drill_class_of(drill)->figure(drill, scene, index, id, text);
            draw_cell(column_of(drill, id), grid, row, at, style, text);
        }
        at += column_of(drill, id)->width;
    }
    if (place == list->cursor) {
        grid_put(grid, row, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
}

static void
draw_source(struct drill *drill, const struct scene *scene, struct grid *grid,
            struct area pane)
{
    struct source_line line = {.file = "", .title = ""};
    char text[DRILL_TEXT_BYTES] = "";
    size_t row;
    if (!drill_place(drill, &line.file, &line.title, &line.line)) {
        line.file = "";
    }
    if (list_row(&drill->paths, &row)) {
        drill_class_of(drill)->say_source(drill, scene, row, text);
    }
    line.words = text;
    source_draw(&drill->source, scene, grid, pane, line);
}

// The rows, below the notes; and the source of the path under the cursor.
static void
draw_rows(struct drill *drill, const struct scene *scene, struct grid *grid,
          struct area area)
{
    struct list *list = drill_list(drill);
    int bottom = area.row + area.rows;
    bool source =
        drill->class != 0 && !drill->no_source && grid->rows >= SOURCE_FROM_ROWS;
    struct area pane = {bottom - grid->rows / 3, area.column, grid->rows / 3,
                        area.columns};
    lay_out(drill, area);
    drill->heading_row = area.row;
    list_scroll(list, area.row + 1, (source ? pane.row : bottom) - area.row - 1);
    draw_headings(drill, scene, grid);
    for (int i = 0; i < list->page && list->top + (size_t)i < list->count; i++) {
        draw_row(drill, scene, grid, list->first_row + i, list->top + (size_t)i);
    }
    if (source && pane.row > area.row + 1) {
        draw_source(drill, scene, grid, pane);
    }
}

// Returns how many rows of the page the notes took.
static int
draw_notes(const struct drill *drill, struct page *page)
{
    const struct list *list = drill_shown(drill);
    if (list->filter[0] != '\0') {
        char text[LIST_FILTER_BYTES];
        snprintf(text, sizeof text, "filter %.200s", list->filter);
        page_add(page, 0, STYLE_ACCENT, "", text);
    }
    drill_class_of(drill)->say_notes(drill, page);
    return page->lines < page->area.rows ? page->lines : page->area.rows;
}

static void
draw_nothing(const struct drill *drill, struct page *page)
{
    if (drill->no_memory) {
        page_add(page, 0, STYLE_WARNING, "", "There is no memory for the rows.");
    } else {
        drill_class_of(drill)->say_nothing(drill, page);
    }
}

void
drill_draw(struct view *view, const struct scene *scene, struct grid *grid,
           struct area area)
{
    struct drill *drill = (struct drill *)(void *)view;
    const struct drill_class *class = drill_class_of(drill);
    struct area rest = {area.row + 1, area.column, area.rows - 1, area.columns};
    struct page page = {scene, grid, rest, 0, 0};
    draw_title(drill, scene, grid, area.row);
    drill->heading_row = -1;
    drill_list(drill)->page = 0;
    if (class->say_reason(drill, &page)) {
        return;
    }
    page.area.rows =
        area.rows / 2 < class->note_rows_max ? area.rows / 2 : class->note_rows_max;
    int below = draw_notes(drill, &page) + (area.rows >= BLANK_FROM_ROWS);
    rest.row += below;
    rest.rows -= below;
    if (drill_shown(drill)->count > 0) {
        draw_rows(drill, scene, grid, rest);
        return;
    }
    page = (struct page){scene, grid, rest, 0, 0};
    draw_nothing(drill, &page);
}
