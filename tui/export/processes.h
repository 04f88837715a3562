/*
 * The processes under a probe, as text and as JSON: what `memtop ps` prints.
 */
#ifndef TUI_EXPORT_PROCESSES_H
#define TUI_EXPORT_PROCESSES_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/model/fleet.h"

// One row each, children below their parents. False when the stream refused; errno
// says why, here and below.
bool processes_write_table(const struct fleet *fleet, bool ascii, FILE *out);

// An array of {"pid", "socket", "command", "mode", "parent", "state", "why", "ruby",
// "started", "rss_bytes", "live", "live_per_minute", "worst", "verdict", "odd"}.
bool processes_write_json(const struct fleet *fleet, FILE *out);

#endif
