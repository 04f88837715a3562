#include "probe/core/clock.h"

#include <time.h>

static uint64_t
read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
clock_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t
clock_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

struct stamp
clock_stamp(void)
{
    return (struct stamp){read_clock(CLOCK_MONOTONIC) / 1000,
                          read_clock(CLOCK_REALTIME) / 1000};
}
