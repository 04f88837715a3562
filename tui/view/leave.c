#include "tui/view/leave.h"

#include <stdio.h>

// clang-format off
static const struct binding bindings[] = {
    {ACTION_YES, {'y', 'Y', KEY_CONTROL('C')}, "stop it", "stop the program, and quit"},
    {ACTION_NO, {'n', 'N'}, "leave it running", "quit, and leave the program running"},
    {ACTION_BACK, {KEY_CODE_ESCAPE}, "stay", "neither"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    (void)view;
    (void)scene;
    int used = grid_put(grid, area.row, area.column + 1, area.columns - 1, STYLE_WARNING,
                        "The program still runs: stop it?");
    used += grid_put(grid, area.row, area.column + 1 + used, area.columns - 1 - used,
                     STYLE_ACCENT, " y stop it  n leave it running  Esc stay ");
    grid->cursor_row = area.row;
    grid->cursor_column =
        area.column + 1 + used < grid->columns ? area.column + 1 + used : 0;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    (void)view;
    (void)key;
    if (action == ACTION_BACK) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    snprintf(scene->command, sizeof scene->command, "quit %s",
             action == ACTION_YES ? "stop" : "leave");
    return OUTCOME_CLOSE | OUTCOME_COMMAND | OUTCOME_DRAW;
}

// Any other key stays: what is to become of a program is not answered by chance.
static unsigned
type(struct view *view, struct scene *scene, struct key key)
{
    (void)view;
    (void)scene;
    (void)key;
    return OUTCOME_CLOSE | OUTCOME_DRAW;
}

static const struct view_class leave_class = {
    .name = "leave",
    .extent = EXTENT_LINE,
    .takes_text = true,
    .bindings = bindings,
    .draw = draw,
    .act = act,
    .type = type,
};

void
leave_init(struct leave *leave)
{
    *leave = (struct leave){{&leave_class}};
}
