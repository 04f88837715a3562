#include "tui/view/born_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/born_words.h"
#include "tui/view/format.h"
#include "tui/view/header.h"
#include "tui/view/path_text.h"

#define MARGIN 2 // cells of the cursor's sign
#define NAME_CELLS_MIN 14
#define PATH_CELLS_MIN 24
#define NOTE_ROWS_MAX 8     // and never more than half of the screen
#define BLANK_FROM_ROWS 16  // of the screen: below it no row is left empty
#define SOURCE_FROM_ROWS 16 // and paths have all of them

// `width` holds the space before; the last ones give way first. The name has what is
// left: before the figures of a class, behind those of a path.
static const struct {
    const char *word;
    const char *title;
    int width;
} columns[BORN_COLUMN_COUNT] = {
    {"name",  "CLASS",         0 },
    {"kept",  "BORN AND KEPT", 20},
    {"",      "KNOWN",         11},
    {"live",  "LIVE",          11},
    {"share", "OF LIVE",       10},
    {"alloc", "BORN",          13},
};

bool
born_draw_sortable(const struct born_view *born, enum born_column column)
{
    return columns[column].word[0] != '\0' &&
           (born->class == 0 ||
            (column != BORN_COLUMN_NAME && column != BORN_COLUMN_ALLOCATED));
}

enum born_column
born_draw_find(const char *word)
{
    int column = 0;
    while (column < BORN_COLUMN_COUNT &&
           (word[0] == '\0' || strcmp(columns[column].word, word) != 0)) {
        column++;
    }
    return (enum born_column)column;
}

/* Where things are. */

static void
lay_out(struct born_view *born, struct area area)
{
    bool paths = born->class != 0;
    int room = area.columns - MARGIN - 1 - (paths ? PATH_CELLS_MIN : NAME_CELLS_MIN);
    int used = 0;
    born->shown_count = 0;
    if (!paths) {
        born->shown[born->shown_count++] = BORN_COLUMN_NAME;
    }
    for (int id = BORN_COLUMN_KEPT; id < BORN_COLUMN_COUNT; id++) {
        bool fits = id == BORN_COLUMN_KEPT || used + columns[id].width <= room;
        if (!fits || (paths && id == BORN_COLUMN_ALLOCATED)) {
            break;
        }
        born->shown[born->shown_count++] = (enum born_column)id;
        used += columns[id].width;
    }
    born->name_at = MARGIN + (paths ? used + 2 : 0);
    born->name_cells = area.columns - MARGIN - 1 - used - (paths ? 2 : 0);
}

static int
figures_at(const struct born_view *born)
{
    return born->class != 0 ? MARGIN : MARGIN + born->name_cells;
}

enum born_column
born_draw_column(const struct born_view *born, int column)
{
    int at = figures_at(born);
    if (born->class == 0 && column >= MARGIN && column < at) {
        return BORN_COLUMN_NAME;
    }
    for (int i = 0; i < born->shown_count; i++) {
        int width = columns[born->shown[i]].width;
        if (width > 0 && column >= at && column < at + width) {
            return born->shown[i];
        }
        at += width;
    }
    return BORN_COLUMN_COUNT;
}

/* Drawing. */

// " classes ▸ born A to B, alive now   LIVE 1s"
static void
draw_title(const struct born_view *born, const struct scene *scene, struct grid *grid,
           int row)
{
    char title[BORN_TEXT_BYTES + BORN_NAME_BYTES * 4];
    char what[BORN_TITLE_BYTES];
    char name[BORN_NAME_BYTES];
    const char *into = scene->glyphs->into;
    struct header_state state = header_state(scene);
    born_words_title(born, scene, what);
    text_fit(name, sizeof name, born->class != 0 ? born->name : "", grid->columns / 3,
             scene->ascii);
    if (born->class != 0) {
        snprintf(title, sizeof title, "classes %s %s %s paths, %s", into, name, into,
                 what);
    } else {
        snprintf(title, sizeof title, "classes %s %s", into, what);
    }
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, title);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(title, sizeof title, "%s %.100s", state.word, state.detail);
    if (grid->columns - at - 3 > 0) {
        grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, title);
    }
}

static void
draw_heading(const struct born_view *born, const struct scene *scene, struct grid *grid,
             enum born_column id, int at)
{
    char title[BORN_TITLE_BYTES];
    const struct list *list = born->class == 0 ? &born->classes : &born->paths;
    bool sorted = list->sort == (int)id;
    enum style style = sorted ? STYLE_ACCENT : STYLE_HEADING;
    // names begin with A, figures with the largest
    bool downwards = list->inverted == (id == BORN_COLUMN_NAME);
    snprintf(title, sizeof title, sorted ? "%s %s" : "%s", columns[id].title,
             downwards ? scene->glyphs->descending : scene->glyphs->ascending);
    if (id == BORN_COLUMN_NAME) {
        grid_put(grid, born->heading_row, born->name_at, born->name_cells, style, title);
    } else if (id == BORN_COLUMN_KNOWN) {
        grid_put(grid, born->heading_row, at + 2, columns[id].width - 2, style, title);
    } else {
        grid_put_right(grid, born->heading_row, at + 1, columns[id].width - 1, style,
                       title);
    }
}

static void
draw_headings(const struct born_view *born, const struct scene *scene, struct grid *grid)
{
    int at = figures_at(born);
    for (int i = 0; i < born->shown_count; i++) {
        draw_heading(born, scene, grid, born->shown[i], at);
        at += columns[born->shown[i]].width;
    }
    if (born->class != 0) {
        grid_put(grid, born->heading_row, born->name_at, born->name_cells, STYLE_HEADING,
                 "PATH, the allocating line last");
    }
    grid_mark(grid, born->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static void
draw_kept(const struct scene *scene, struct born_range range, struct grid *grid, int row,
          int at)
{
    char text[BORN_TEXT_BYTES];
    int room = columns[BORN_COLUMN_KEPT].width - 1;
    born_words_range(text, scene, range, "", scene->glyphs->unknown, scene->exact);
    if (text_width(text) > room) {
        born_words_range(text, scene, range, "", scene->glyphs->unknown, false);
    }
    grid_put_right(grid, row, at + 1, room, range.least == 0 ? STYLE_DIM : STYLE_NORMAL,
                   text);
}

static void
draw_figure(const struct scene *scene, const struct born_line *line, enum born_column id,
            struct grid *grid, int row, int at)
{
    char text[FORMAT_BYTES];
    bool exact = line->range.least == line->range.most && !line->estimated;
    double least = format_number(line->range.least);
    void (*format)(char *, const struct glyphs *, double) =
        scene->exact ? format_grouped : format_short;
    switch (id) {
    case BORN_COLUMN_NAME:
        return;
    case BORN_COLUMN_KEPT:
        draw_kept(scene, line->range, grid, row, at);
        return;
    case BORN_COLUMN_KNOWN:
        grid_put(grid, row, at + 2, columns[id].width - 2,
                 exact ? STYLE_NORMAL : STYLE_DIM,
                 exact             ? "exact"
                 : line->estimated ? "estimated"
                                   : "by counts");
        return;
    case BORN_COLUMN_LIVE:
        format(text, scene->glyphs, format_number(line->live));
        break;
    case BORN_COLUMN_SHARE:
        format_percent(text, scene->glyphs,
                       line->live > 0 ? 100 * least / format_number(line->live)
                                      : (double)NAN);
        break;
    default:
        format(text, scene->glyphs, format_number(line->allocated));
        break;
    }
    grid_put_right(grid, row, at + 1, columns[id].width - 1, STYLE_NORMAL, text);
}

static void
draw_name(const struct born_view *born, const struct scene *scene, struct grid *grid,
          int row, size_t index)
{
    char text[PATH_TEXT_BYTES];
    const struct born_facts *facts = born->facts;
    if (born->class == 0) {
        const char *name = facts->classes.list[index].class->name;
        text_fit(text, sizeof text, name[0] != '\0' ? name : "(no name yet)",
                 born->name_cells - 1, scene->ascii);
    } else {
        const struct path_steps steps = path_steps_of(facts->tree);
        path_text(&steps, facts->paths.list[index].node, scene, born->name_cells, text);
    }
    grid_put(grid, row, born->name_at, born->name_cells, STYLE_NORMAL, text);
}

static void
draw_row(const struct born_view *born, const struct scene *scene, struct grid *grid,
         int row, const struct list *list, size_t place)
{
    size_t index = list->order[place];
    struct born_line line = born_view_line(born, index);
    int at = figures_at(born);
    draw_name(born, scene, grid, row, index);
    for (int i = 0; i < born->shown_count; i++) {
        draw_figure(scene, &line, born->shown[i], grid, row, at);
        at += columns[born->shown[i]].width;
    }
    if (place == list->cursor) {
        grid_put(grid, row, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
}

static void
draw_source(struct born_view *born, const struct scene *scene, struct grid *grid,
            struct area pane)
{
    struct source_line line = {.file = "", .title = ""};
    char range[BORN_TEXT_BYTES];
    char text[BORN_TEXT_BYTES + 8] = "";
    size_t row;
    if (!born_view_place(born, &line.file, &line.title, &line.line)) {
        line.file = "";
    }
    if (list_row(&born->paths, &row)) {
        born_words_range(range, scene, born_view_line(born, row).range, "", " to ", true);
        snprintf(text, sizeof text, "%s kept", range);
    }
    line.words = text;
    source_draw(&born->source, scene, grid, pane, line);
}

// The rows, below the notes; and the source of the path under the cursor.
static void
draw_rows(struct born_view *born, const struct scene *scene, struct grid *grid,
          struct area area)
{
    struct list *list = born_view_list(born);
    int bottom = area.row + area.rows;
    bool source = born->class != 0 && !born->no_source && grid->rows >= SOURCE_FROM_ROWS;
    struct area pane = {bottom - grid->rows / 3, area.column, grid->rows / 3,
                        area.columns};
    lay_out(born, area);
    born->heading_row = area.row;
    list_scroll(list, area.row + 1, (source ? pane.row : bottom) - area.row - 1);
    draw_headings(born, scene, grid);
    for (int i = 0; i < list->page && list->top + (size_t)i < list->count; i++) {
        draw_row(born, scene, grid, list->first_row + i, list, list->top + (size_t)i);
    }
    if (source && pane.row > area.row + 1) {
        draw_source(born, scene, grid, pane);
    }
}

void
born_draw(struct view *view, const struct scene *scene, struct grid *grid,
          struct area area)
{
    struct born_view *born = (struct born_view *)(void *)view;
    bool known = born->facts->state == BORN_STATE_KNOWN;
    int notes = area.rows / 2 < NOTE_ROWS_MAX ? area.rows / 2 : NOTE_ROWS_MAX;
    struct page page = {scene, grid, area, 0, 0};
    draw_title(born, scene, grid, area.row);
    page.area.row += known ? 1 : 2;
    page.area.rows = known ? notes : area.rows - 2;
    born->heading_row = -1;
    born_view_list(born)->page = 0;
    if (!known) {
        born_words_reason(born, scene, &page);
        return;
    }
    born_words_notes(born, scene, &page);
    int below = page.area.row + (page.lines < notes ? page.lines : notes);
    below += area.rows >= BLANK_FROM_ROWS;
    struct area rest = {below, area.column, area.row + area.rows - below, area.columns};
    if (born_view_list(born)->count > 0) {
        draw_rows(born, scene, grid, rest);
        return;
    }
    page = (struct page){scene, grid, rest, 0, 0};
    born_words_nothing(born, scene, &page);
}
