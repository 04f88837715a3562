/*
 * Commands about all probed processes at once.
 */
#ifndef TUI_PS_H
#define TUI_PS_H

#include "tui/cli/cli.h"
#include "tui/loop/scout.h"

// List them: a table, or JSON. What dead ones left behind is removed.
enum cli_status ps_run(const struct cli *cli);

// Finds the sockets of this user's probes, for a scout.
size_t ps_find(struct scout_socket *list, size_t capacity, uint64_t turn);

#endif
