#include "tui/view/confirm.h"

#include <stdio.h>

#include "tui/view/keymap.h"

// clang-format off
static const struct binding bindings[] = {
    {ACTION_YES, {'y', 'Y'}, "yes", "yes, do it"},
    {ACTION_NO, {'n', 'N', KEY_CODE_ESCAPE}, "no", "no"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static struct confirm *
confirm_of(struct view *view)
{
    return (struct confirm *)(void *)view;
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    (void)scene;
    int used = grid_put(grid, area.row, area.column + 1, area.columns - 1, STYLE_WARNING,
                        confirm_of(view)->question);
    used += grid_put(grid, area.row, area.column + 1 + used, area.columns - 1 - used,
                     STYLE_ACCENT, " y/n ");
    grid->cursor_row = area.row;
    grid->cursor_column =
        area.column + 1 + used < grid->columns ? area.column + 1 + used : 0;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    (void)key;
    if (action != ACTION_YES) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    snprintf(scene->command, sizeof scene->command, "%s", confirm_of(view)->command);
    return OUTCOME_CLOSE | OUTCOME_COMMAND | OUTCOME_DRAW;
}

// Any other key is a no: a question about the program is not to be answered by chance.
static unsigned
type(struct view *view, struct scene *scene, struct key key)
{
    (void)view;
    (void)scene;
    (void)key;
    return OUTCOME_CLOSE | OUTCOME_DRAW;
}

static const struct view_class confirm_class = {
    .name = "confirm",
    .extent = EXTENT_LINE,
    .takes_text = true,
    .bindings = bindings,
    .draw = draw,
    .act = act,
    .type = type,
};

void
confirm_init(struct confirm *confirm, const char *question, const char *command)
{
    *confirm = (struct confirm){{&confirm_class}, question, command};
}
