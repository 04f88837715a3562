/*
 * Which program is meant: the one that was named, the only one, or the one a
 * person picks from a list.
 */
#ifndef TUI_CLI_TARGET_H
#define TUI_CLI_TARGET_H

#include <stdbool.h>

#include "tui/cli/cli.h"
#include "tui/cli/find.h"

// Standard input and output both belong to a terminal.
bool target_terminal(void);

// Nobody said which process, and there are several: the viewer shows them all.
bool target_open(const struct cli *cli);

// The path of the socket to connect to; `found` is memory it may point into.
// NULL when there is none: standard error has then been told why, and `status`
// is what memtop ends with.
const char *target_socket(const struct cli *cli, struct found *found,
                          enum cli_status *status);

#endif
