/*
 * The one place of the probe that reads a clock.
 */
#ifndef PROBE_CORE_CLOCK_H
#define PROBE_CORE_CLOCK_H

#include <stdint.h>

#include "protocol/frame.h"

// context: any. Nanoseconds since some moment, never backwards.
uint64_t clock_monotonic_ns(void);

// context: any. CPU time of the calling thread, nanoseconds.
uint64_t clock_thread_ns(void);

// context: any. Both clocks of a frame.
struct stamp clock_stamp(void);

#endif
