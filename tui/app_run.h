/*
 * The viewer beside a command that memtop started: what it writes, and what is to become
 * of it when somebody quits.
 */
#ifndef TUI_APP_RUN_H
#define TUI_APP_RUN_H

#include <stdbool.h>

struct app;

// What somebody who quits wants of a command that still runs.
enum app_parting {
    APP_PARTING_NONE, // was not asked: the terminal went, or a signal came
    APP_PARTING_STOP,
    APP_PARTING_LEAVE,
};

enum app_parting app_parting(const struct app *app);

// The command has ended; how, in words. Returns reactions, as do the others.
unsigned app_command_ended(struct app *app, const char *words);

// It has written something.
unsigned app_command_wrote(const struct app *app);

// Quitting asks first.
bool app_command_runs(const struct app *app);

// Somebody has pressed a key: what is shown is theirs to choose.
bool app_touched(const struct app *app);

bool app_output_shown(const struct app *app);

// The commands.
unsigned app_run_output(struct app *app, const char *argument);
unsigned app_run_find(struct app *app, const char *argument);
unsigned app_run_quit(struct app *app, const char *argument);

// The next line that was looked for, where that is what is shown.
unsigned app_run_next(struct app *app, int by);

#endif
