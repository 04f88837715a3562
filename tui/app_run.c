#include "tui/app_run.h"

#include <string.h>

#include "tui/app_state.h"

enum app_parting
app_parting(const struct app *app)
{
    return app->parting;
}

unsigned
app_command_ended(struct app *app, const char *words)
{
    app->command_runs = false;
    return app_tell(app, false, "%s; q quits", words);
}

bool
app_output_shown(const struct app *app)
{
    return app_view_shown(app, &app->output.view);
}

unsigned
app_command_wrote(const struct app *app)
{
    return app_output_shown(app) ? REACT_DRAW : REACT_NOTHING;
}

bool
app_command_runs(const struct app *app)
{
    return app->command_runs;
}

bool
app_touched(const struct app *app)
{
    return app->touched;
}

static unsigned
open_view(struct app *app, struct view *view)
{
    if (app->depth < APP_STACK_MAX) {
        app->stack[app->depth++] = view;
    }
    return REACT_DRAW;
}

unsigned
app_run_output(struct app *app, const char *argument)
{
    (void)argument;
    if (app->options.output == NULL) {
        return app_tell(app, true,
                        app->options.command
                            ? "output: it goes to the file of --output"
                            : "output: memtop run keeps it, this program was running");
    }
    if (app_output_shown(app)) {
        return REACT_DRAW;
    }
    output_view_init(&app->output, app->options.output);
    return open_view(app, &app->output.view);
}

unsigned
app_run_find(struct app *app, const char *argument)
{
    if (!app_output_shown(app)) {
        return app_tell(app, true, "find: looks in the output, which O shows");
    }
    bool found = output_view_find(&app->output, argument);
    return found || argument[0] == '\0'
               ? REACT_DRAW
               : app_tell(app, true, "no line has \"%.100s\"", argument);
}

unsigned
app_run_next(struct app *app, int by)
{
    return output_view_next(&app->output, by)
               ? REACT_DRAW
               : app_tell(app, true,
                          app->output.find[0] != '\0'
                              ? "no further line has it"
                              : "nothing is looked for: / looks for words");
}

unsigned
app_run_quit(struct app *app, const char *argument)
{
    bool stop = strcmp(argument, "stop") == 0;
    if (!app->command_runs) {
        return REACT_QUIT;
    }
    if (stop || strcmp(argument, "leave") == 0) {
        app->parting = stop ? APP_PARTING_STOP : APP_PARTING_LEAVE;
        return REACT_QUIT;
    }
    confirm_init_leave(&app->leave);
    return open_view(app, &app->leave.view);
}
