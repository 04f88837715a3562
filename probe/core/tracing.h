/*
 * The agent's part in tracing: which classes' stacks are taken is brought in line
 * with who wants them, and the frames of new stacks get their names.
 *
 * Everything here runs under the GVL, and takes the probe's lock itself.
 */
#ifndef PROBE_CORE_TRACING_H
#define PROBE_CORE_TRACING_H

#include "probe/core/probe.h"

// context: agent. Trace the classes that are watched or pinned, or were watched until
// lately, and no others, and follow gaps that became shorter.
void tracing_follow(struct probe *probe);

// context: gvl. The mode is another: pin what mode trace wants (the classes of the
// setting, or all), or nothing any more.
void tracing_enter(struct probe *probe, enum probe_mode mode);

// context: agent. A class got its name: in mode trace it is pinned from now on when the
// setting lists it, and no longer when not.
void tracing_named(struct probe *probe, uint32_t class_index);

// context: gvl. Take every stack of a class from now on, or of all classes with 0, those
// yet to come included; `on` false ends one such wish.
void tracing_exactly(struct probe *probe, uint32_t class_index, bool on);

// context: agent. Name some of the frames that have none. True when more wait.
bool tracing_name_frames(struct probe *probe);

#endif
