/*
 * All probed processes, listed once: a loop of its own around a scout.
 */
#ifndef TUI_LOOP_MUSTER_H
#define TUI_LOOP_MUSTER_H

#include "tui/loop/scout.h"

// How long a process may take to answer before it is listed as one that does not.
#define MUSTER_PATIENCE_MS 3000

// Look for all processes, fill the fleet, go on for `watch_ms` more to see them grow,
// and disconnect. False when memory ran out.
bool muster(struct fleet *fleet, scout_finder *find, uint64_t watch_ms);

#endif
