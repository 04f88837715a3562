/*
 * Everything the viewer can be told to do beyond one view, as a table: what is
 * typed after ':', what keys are bound to, and what the help lists.
 */
#ifndef TUI_APP_COMMAND_H
#define TUI_APP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/view/help.h"

struct app;

// Run a line as it was typed. Returns reactions; what is wrong with it is said.
unsigned app_command_run(struct app *app, const char *line);

// Run the command that an action stands for.
unsigned app_command_act(struct app *app, enum action action);

// Lines that could be typed, for completion; NULL after the last.
const char *app_command_candidate(size_t index);

// Commands for the help; false after the last.
bool app_command_help(size_t index, struct help_command *command);

#endif
