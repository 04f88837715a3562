#include "tui/view/menu.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"

#define LINES_MAX 64
#define SIDE 2 // cells from the frame to the text, on both sides

// clang-format off
static const struct binding bindings[] = {
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the first line"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last line"},
    {ACTION_CHOOSE, {KEY_CODE_ENTER, KEY_CODE_RIGHT}, "choose", "choose the line under the cursor"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q', KEY_CODE_LEFT}, "back", "back without a choice"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static struct menu *
menu_of(struct view *view)
{
    return (struct menu *)(void *)view;
}

static bool
line_at(const struct menu *menu, const struct scene *scene, int index,
        struct menu_line *line)
{
    return index < LINES_MAX && menu->class->line(scene, index, line);
}

// Count the lines and the cells of the widest.
static int
measure(const struct menu *menu, const struct scene *scene, int *width)
{
    struct menu_line line;
    int count = 0;
    *width = text_width(menu->class->title);
    for (; line_at(menu, scene, count, &line); count++) {
        int cells = text_width(line.text);
        *width = cells > *width ? cells : *width;
    }
    return count;
}

static void
draw_edge(const struct scene *scene, struct grid *grid, int row, int column, int columns,
          int corner)
{
    grid_put(grid, row, column, 1, STYLE_DIM, scene->glyphs->corners[corner]);
    for (int i = 1; i < columns - 1; i++) {
        grid_put(grid, row, column + i, 1, STYLE_DIM, scene->glyphs->across);
    }
    grid_put(grid, row, column + columns - 1, 1, STYLE_DIM,
             scene->glyphs->corners[corner + 1]);
}

static void
draw_side(const struct scene *scene, struct grid *grid, int row, int column, int columns)
{
    for (int i = 0; i < columns; i++) {
        bool edge = i == 0 || i == columns - 1;
        grid_put(grid, row, column + i, 1, STYLE_DIM, edge ? scene->glyphs->along : " ");
    }
}

struct area
menu_box(const struct scene *scene, struct grid *grid, struct area area,
         const char *title, int rows, int columns)
{
    rows = rows + 2 < area.rows ? rows + 2 : area.rows;
    columns =
        columns + 2 * SIDE + 2 < area.columns ? columns + 2 * SIDE + 2 : area.columns;
    int row = area.row + (area.rows - rows) / 2;
    int column = area.column + (area.columns - columns) / 2;
    draw_edge(scene, grid, row, column, columns, 0);
    for (int i = 1; i < rows - 1; i++) {
        draw_side(scene, grid, row + i, column, columns);
    }
    draw_edge(scene, grid, row + rows - 1, column, columns, 2);
    grid_put(grid, row, column + SIDE, columns - 2 * SIDE, STYLE_ACCENT, title);
    return (struct area){row + 1, column + 1, rows - 2, columns - 2};
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct menu *menu = menu_of(view);
    struct menu_line line;
    int width;
    int count = measure(menu, scene, &width);
    menu->inside = menu_box(scene, grid, area, menu->class->title, count, width);
    menu->cursor = menu->cursor < count ? menu->cursor : count - 1;
    if (menu->cursor >= menu->top + menu->inside.rows) {
        menu->top = menu->cursor - menu->inside.rows + 1;
    } else if (menu->cursor < menu->top) {
        menu->top = menu->cursor;
    }
    for (int i = 0; i < menu->inside.rows && menu->top + i < count; i++) {
        int row = menu->inside.row + i;
        line_at(menu, scene, menu->top + i, &line);
        grid_put(grid, row, menu->inside.column + SIDE, menu->inside.columns - SIDE,
                 STYLE_NORMAL, line.text);
        if (menu->top + i == menu->cursor) {
            grid_put(grid, row, menu->inside.column + 1, 1, STYLE_SELECTED,
                     scene->glyphs->cursor);
            grid_mark(grid, row, menu->inside.column, menu->inside.columns,
                      ATTRIBUTE_SELECTED);
        }
    }
}

static unsigned
choose(const struct menu *menu, struct scene *scene, int index)
{
    struct menu_line line;
    if (!line_at(menu, scene, index, &line)) {
        return OUTCOME_NONE;
    }
    snprintf(scene->command, sizeof scene->command, "%s", line.command);
    return OUTCOME_CLOSE | OUTCOME_COMMAND | OUTCOME_DRAW;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct menu *menu = menu_of(view);
    int width;
    int last = measure(menu, scene, &width) - 1;
    (void)key;
    switch (action) {
    case ACTION_UP:
        menu->cursor = menu->cursor > 0 ? menu->cursor - 1 : 0;
        return OUTCOME_DRAW;
    case ACTION_DOWN:
        menu->cursor = menu->cursor < last ? menu->cursor + 1 : last;
        return OUTCOME_DRAW;
    case ACTION_TOP:
        menu->cursor = 0;
        return OUTCOME_DRAW;
    case ACTION_BOTTOM:
        menu->cursor = last;
        return OUTCOME_DRAW;
    case ACTION_CHOOSE:
        return choose(menu, scene, menu->cursor);
    case ACTION_BACK:
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    default:
        return OUTCOME_PASS;
    }
}

static unsigned
type(struct view *view, struct scene *scene, struct key key)
{
    struct menu *menu = menu_of(view);
    struct menu_line line;
    for (int i = 0; line_at(menu, scene, i, &line); i++) {
        if (line.key == key.code) {
            return choose(menu, scene, i);
        }
    }
    return OUTCOME_PASS;
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct menu *menu = menu_of(view);
    int line = key.row - menu->inside.row;
    int column = key.column - menu->inside.column;
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        return act(view, scene, key.mouse == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN,
                   key);
    }
    if (line < 0 || line >= menu->inside.rows || column < 0 ||
        column >= menu->inside.columns) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    return choose(menu, scene, menu->top + line);
}

void
menu_init(struct menu *menu, const struct menu_class *class, const struct scene *scene,
          const char *command)
{
    struct menu_line line;
    *menu = (struct menu){
        .view = {&menu->view_class},
        .view_class = { .name = class->name,
                 .extent = EXTENT_BOX,
                 .bindings = bindings,
                 .draw = draw,
                 .act = act,
                 .type = type,
                 .mouse = mouse},
        .class = class
    };
    for (int i = 0; line_at(menu, scene, i, &line); i++) {
        if (strcmp(line.command, command) == 0) {
            menu->cursor = i;
        }
    }
}
