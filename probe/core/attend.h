/*
 * The attendant: the viewer that started the program, `memtop run` or `memtop check`,
 * and wants to see all of it. MEMTOP_ATTENDANT has its process id.
 *
 * For it the program waits: at its start, before the first line of the program runs,
 * until a viewer has a whole set of counts; at its end until the last counts are read.
 * Each at most ATTEND_MS, and never when that process is not alive. A child of a fork
 * waits at its start only for a check (MEMTOP_ATTENDANT=PID,gc).
 */
#ifndef PROBE_CORE_ATTEND_H
#define PROBE_CORE_ATTEND_H

#include "probe/core/probe.h"

#define ATTEND_MS 2000
#define ATTEND_LOOK_MS 2 // between two looks whether it has come, or is gone

// context: any. There is one, and it lives.
bool attend_wanted(const struct probe *probe);

// context: any without the GVL. Wait until somebody has the first counts.
void attend_first(struct probe *probe);

#endif
