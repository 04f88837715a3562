#include "tui/view/confirm.h"

#include <stdio.h>

#include "tui/view/keymap.h"

// clang-format off
static const struct binding bindings[] = {
    {ACTION_YES, {'y', 'Y'}, "yes", "yes, do it"},
    {ACTION_NO, {'n', 'N', KEY_CODE_ESCAPE}, "no", "no"},
    {ACTION_NONE, {0}, NULL, NULL},
};

static const struct binding leave_bindings[] = {
    {ACTION_YES, {'y', 'Y', KEY_CONTROL('C')}, "stop it", "stop the program, and quit"},
    {ACTION_NO, {'n', 'N'}, "leave it running", "quit, and leave the program running"},
    {ACTION_BACK, {KEY_CODE_ESCAPE}, "stay", "neither"},
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
    const struct confirm *confirm = confirm_of(view);
    (void)scene;
    int used = grid_put(grid, area.row, area.column + 1, area.columns - 1, STYLE_WARNING,
                        confirm->question);
    used += grid_put(grid, area.row, area.column + 1 + used, area.columns - 1 - used,
                     STYLE_ACCENT, confirm->answers);
    grid->cursor_row = area.row;
    grid->cursor_column =
        area.column + 1 + used < grid->columns ? area.column + 1 + used : 0;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    const struct confirm *confirm = confirm_of(view);
    const char *command = action == ACTION_YES  ? confirm->yes
                          : action == ACTION_NO ? confirm->no
                                                : NULL;
    (void)key;
    if (command == NULL) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    snprintf(scene->command, sizeof scene->command, "%s", command);
    return OUTCOME_CLOSE | OUTCOME_COMMAND | OUTCOME_DRAW;
}

// Any other key is no answer: a question about the program is not to be answered by
// chance.
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

static const struct view_class leave_class = {
    .name = "leave",
    .extent = EXTENT_LINE,
    .takes_text = true,
    .bindings = leave_bindings,
    .draw = draw,
    .act = act,
    .type = type,
};

void
confirm_init(struct confirm *confirm, const char *question, const char *command)
{
    *confirm = (struct confirm){{&confirm_class}, question, " y/n ", command, NULL};
}

void
confirm_init_leave(struct confirm *confirm)
{
    *confirm = (struct confirm){{&leave_class},
                                "The program still runs: stop it?",
                                " y stop it  n leave it running  Esc stay ",
                                "quit stop",
                                "quit leave"};
}
