/*
 * Ruby's allocation hooks, and what becomes of the shadow table when Ruby
 * compacts its heap. Counts into the one tally of the process.
 */
#ifndef PROBE_RUBY_HOOKS_H
#define PROBE_RUBY_HOOKS_H

#include <stdbool.h>

#include "probe/core/tally.h"

// context: gvl. Once, before anything else: what the hooks count into.
void hooks_init(struct tally *into);

// struct runtime's hooks() and calibrate().
bool hooks_set(bool on, const char **why);
void hooks_calibrate(double *allocated_ns, double *freed_ns);

#endif
