/*
 * The commands that start a program: memtop run and memtop check -- COMMAND.
 */
#ifndef TUI_RUN_H
#define TUI_RUN_H

#include "tui/cli/cli.h"
#include "tui/term/screen.h"

struct app_options;

// Run a command under the probe, with the viewer on top where there is a terminal, as
// `taste` wants it: what of it a person chose. Returns the status memtop ends with,
// mostly the command's.
int run_command(const struct cli *cli, enum theme theme, const struct app_options *taste);

// Run it and judge how its classes grew. The command's status when that is not 0, else
// what the check came to.
int run_check(const struct cli *cli);

#endif
