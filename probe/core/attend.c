#include "probe/core/attend.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "probe/core/clock.h"

// One of another user's is as good as none: it could not connect.
bool
attend_wanted(const struct probe *probe)
{
    pid_t attendant = probe->settings.attendant;
    return attendant > 0 && attendant != getpid() && kill(attendant, 0) == 0;
}

void
attend_first(struct probe *probe)
{
    uint64_t until_ns = clock_monotonic_ns() + ATTEND_MS * UINT64_C(1000000);
    while (!probe->attended && attend_wanted(probe) && clock_monotonic_ns() < until_ns) {
        poll(NULL, 0, ATTEND_LOOK_MS);
    }
}
