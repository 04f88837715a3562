#include "tui/view/output_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"

#define WHEEL_LINES 3
#define SIDE_COLUMNS 16
#define LEFT_MAX ((int)SCROLL_LINE_MAX)

// clang-format off
static const struct binding bindings[] = {
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, "scroll", "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B'), KEY_CONTROL('U')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F'), KEY_CONTROL('D')}, NULL, "a screen down"},
    {ACTION_FOLD, {KEY_CODE_LEFT, 'h'}, NULL, "to the left"},
    {ACTION_UNFOLD, {KEY_CODE_RIGHT, 'l'}, NULL, "to the right, of long lines"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the first line that is kept"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END, 'F'}, "follow", "to the last line, and follow"},
    {ACTION_FILTER, {'/'}, "find", "look for words, upwards"},
    {ACTION_NEXT, {'n'}, NULL, "the line above that has them"},
    {ACTION_PREVIOUS, {'N'}, NULL, "the line below that has them"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q', 'O'}, "back", "back"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static struct output_view *
output_of(struct view *view)
{
    return (struct output_view *)(void *)view;
}

// Between a whole screen of the first lines and the last one.
static void
settle(struct output_view *output)
{
    uint64_t first = scroll_first(output->scroll);
    uint64_t end = scroll_end(output->scroll);
    uint64_t least = first + (uint64_t)output->height;
    least = least < end ? least : end;
    if (output->follows || output->bottom > end) {
        output->bottom = end;
    }
    output->bottom = output->bottom < least ? least : output->bottom;
}

static void
update(struct view *view, const struct scene *scene)
{
    (void)scene;
    settle(output_of(view));
}

static void
draw_line(const struct output_view *output, struct grid *grid, struct area area, int row,
          uint64_t number)
{
    char escaped[SCROLL_LINE_MAX * TEXT_ESCAPE_GROWTH + 1];
    const char *line = scroll_line(output->scroll, number);
    text_escape(escaped, sizeof escaped, line, strlen(line));
    bool found = number == output->found && *output->find != '\0';
    grid_put(grid, row, area.column + 1, area.columns - 2,
             found ? STYLE_ACCENT : STYLE_NORMAL,
             escaped + text_cut(escaped, output->left));
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct output_view *output = output_of(view);
    char place[96];
    (void)scene;
    output->height = area.rows > 2 ? area.rows - 2 : 1;
    settle(output);
    uint64_t first = scroll_first(output->scroll);
    uint64_t end = scroll_end(output->scroll);
    uint64_t top = output->bottom - first > (uint64_t)output->height
                       ? output->bottom - (uint64_t)output->height
                       : first;
    for (uint64_t i = top; i < output->bottom; i++) {
        draw_line(output, grid, area, area.row + 2 + (int)(i - top), i);
    }
    grid_put(grid, area.row, 1, area.columns - 2, STYLE_ACCENT,
             "output of the command, standard output and error");
    snprintf(place, sizeof place, "%s%llu of %llu lines%s",
             output->follows ? "following, " : "", (unsigned long long)output->bottom,
             (unsigned long long)end, first > 0 ? ", the oldest left out" : "");
    grid_put_right(grid, area.row, 0, area.columns - 1, STYLE_DIM, place);
    if (end == 0) {
        grid_put(grid, area.row + 2, 1, area.columns - 2, STYLE_DIM,
                 "It has written nothing yet.");
    }
}

static unsigned
move(struct output_view *output, int64_t by)
{
    uint64_t end = scroll_end(output->scroll);
    uint64_t far = by < 0 ? (uint64_t)-by : (uint64_t)by;
    output->follows = false;
    if (by < 0) {
        output->bottom = output->bottom > far ? output->bottom - far : 0;
    } else {
        output->bottom = end - output->bottom > far ? output->bottom + far : end;
        output->follows = output->bottom == end;
    }
    settle(output);
    return OUTCOME_DRAW;
}

static unsigned
move_aside(struct output_view *output, int by)
{
    int left = output->left + by;
    output->left = left < 0 ? 0 : left > LEFT_MAX ? LEFT_MAX : left;
    return OUTCOME_DRAW;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct output_view *output = output_of(view);
    int64_t page = output->height > 1 ? output->height - 1 : 1;
    (void)scene;
    (void)key;
    switch (action) {
    case ACTION_UP:
        return move(output, -1);
    case ACTION_DOWN:
        return move(output, 1);
    case ACTION_PAGE_UP:
        return move(output, -page);
    case ACTION_PAGE_DOWN:
        return move(output, page);
    case ACTION_FOLD:
        return move_aside(output, -SIDE_COLUMNS);
    case ACTION_UNFOLD:
        return move_aside(output, SIDE_COLUMNS);
    case ACTION_TOP:
        return move(output, INT32_MIN);
    case ACTION_BOTTOM:
        output->follows = true;
        settle(output);
        return OUTCOME_DRAW;
    case ACTION_BACK:
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    default:
        return OUTCOME_PASS;
    }
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    (void)scene;
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        return move(output_of(view),
                    key.mouse == MOUSE_WHEEL_UP ? -WHEEL_LINES : WHEEL_LINES);
    }
    return OUTCOME_NONE;
}

static const struct view_class output_class = {
    .name = "output",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .update = update,
    .draw = draw,
    .act = act,
    .mouse = mouse,
};

void
output_view_init(struct output_view *output, const struct scroll *scroll)
{
    *output = (struct output_view){.view = {&output_class},
                                   .scroll = scroll,
                                   .follows = true,
                                   .height = 1,
                                   .found = UINT64_MAX};
    settle(output);
}

// Show the line, with the screen around it.
static bool
go_to(struct output_view *output, uint64_t number)
{
    uint64_t top = output->bottom > (uint64_t)output->height
                       ? output->bottom - (uint64_t)output->height
                       : 0;
    output->found = number;
    if (number < top || number >= output->bottom) {
        output->follows = false;
        output->bottom = number + 1 + (uint64_t)output->height / 2;
        settle(output);
    }
    return true;
}

static bool
seek(struct output_view *output, uint64_t from, int by)
{
    uint64_t first = scroll_first(output->scroll);
    uint64_t end = scroll_end(output->scroll);
    if (*output->find == '\0') {
        return false;
    }
    for (uint64_t i = from; i >= first && i < end; i += (uint64_t)(int64_t)by) {
        if (strstr(scroll_line(output->scroll, i), output->find) != NULL) {
            return go_to(output, i);
        }
    }
    return false;
}

bool
output_view_find(struct output_view *output, const char *words)
{
    snprintf(output->find, sizeof output->find, "%s", words);
    output->found = UINT64_MAX;
    return output->bottom > 0 && seek(output, output->bottom - 1, -1);
}

bool
output_view_next(struct output_view *output, int by)
{
    uint64_t from = output->found != UINT64_MAX ? output->found : output->bottom;
    return seek(output, from + (uint64_t)(int64_t)by, by);
}
