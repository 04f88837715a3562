/*
 * A program that is watched: the heap of fixture.h, a lock that stands for the
 * GVL, and a thread that is the agent.
 */
#ifndef TESTS_PROBE_CORE_PROGRAM_H
#define TESTS_PROBE_CORE_PROGRAM_H

#include "probe/core/probe.h"

extern struct probe probe;
extern char program_folder[64];

// Make a heap with a few pages and a folder of its own for sockets; the settings
// are: a socket there, mode count, the shortest interval.
bool program_begin(struct settings *settings);
void program_end(void);

// The GVL.
void program_lock(void);
void program_unlock(void);

// Start the probe, fail the test when it does not start. `agent`: with a thread
// that does its work.
void program_start(const struct settings *settings, bool agent);
void program_start_agent(void);
void program_stop(void);

// Allocate or free, as the hooks see it. Slots are numbered.
void program_allocate(size_t slot, uintptr_t key);
void program_free(size_t slot);

#endif
