/*
 * Memory that runs out when a test says so. Programs that link tui_memory have
 * their allocations go through here.
 */
#ifndef TESTS_TUI_MEMORY_H
#define TESTS_TUI_MEMORY_H

#include <stdbool.h>

// So many allocations more succeed, then none; negative: all do, as from the start.
void memory_allow(int allocations);

// True when an allocation failed since memory_allow() was called last.
bool memory_ran_out(void);

#endif
