/*
 * The commands: one row each. A new command is a new row and its case in main.
 */
#ifndef TUI_CLI_COMMAND_H
#define TUI_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/cli/cli.h"

struct command {
    const char *name;      // "" for memtop without a command
    const char *arguments; // as a synopsis shows them
    const char *line;      // what it does, in one line
    const char *help;      // what it does, with examples
    enum cli_task task;
    const char *options; // that go with it, long names with a blank around each; those
                         // that go with all are left out
};

// The row of that name, NULL when there is none.
const struct command *command_find(const char *name);

// The row of a task; there is one for each that has a command.
const struct command *command_of(enum cli_task task);

// The rows in order, "" first; NULL after the last.
const struct command *command_at(size_t index);

#endif
