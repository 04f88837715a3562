/*
 * The Ruby thread that does the probe's work under the GVL and sleeps without
 * it. It is named "memtop" and marked as safe to fork with, as Puma asks.
 *
 * Thread.list and the default ThreadGroup leave it out: programs that join, kill
 * or count all threads do what they did without it.
 */
#ifndef PROBE_RUBY_AGENT_H
#define PROBE_RUBY_AGENT_H

#include "probe/core/probe.h"

// context: gvl. Start the thread, unless it runs.
void agent_start(struct probe *probe);

// context: gvl. End it and wait for that; in the thread itself, let it end.
void agent_stop(struct probe *probe);

#endif
