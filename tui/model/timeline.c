#include "tui/model/timeline.h"

#define SECOND_US 1000000u

// A step longer than this is a clock that was set, not time that passed.
#define STEP_MAX_SECONDS (24u * 60 * 60)

void
timeline_break(struct timeline *timeline)
{
    timeline->broken = true;
}

static uint64_t
whole_second(uint64_t us)
{
    return us - us % SECOND_US;
}

// The second of a stamp. A clock that runs back, or jumps, goes on at the end.
static uint32_t
second_of(struct timeline *timeline, uint64_t monotonic_us)
{
    uint32_t next = timeline->tick + 1;
    if (monotonic_us >= timeline->last_us) {
        uint64_t seconds = (monotonic_us - timeline->base_us) / SECOND_US;
        if (seconds - (timeline->tick - timeline->base) <= STEP_MAX_SECONDS) {
            return timeline->base + (uint32_t)seconds;
        }
        next = timeline->tick + MODEL_HISTORY;
    }
    timeline->base_us = whole_second(monotonic_us);
    timeline->base = next;
    timeline->broken = true;
    return next;
}

void
timeline_advance(struct timeline *timeline, uint64_t monotonic_us, uint32_t patience)
{
    if (!timeline->started) {
        *timeline = (struct timeline){
            .started = true,
            .last_us = monotonic_us,
            .base_us = whole_second(monotonic_us),
        };
        timeline->known[0] = true;
        return;
    }
    uint32_t tick = second_of(timeline, monotonic_us);
    uint32_t step = tick - timeline->tick;
    bool known = !timeline->broken && step <= patience;
    for (uint32_t i = 1; i < step && i <= MODEL_HISTORY; i++) {
        timeline->known[(tick - i) % MODEL_HISTORY] = known;
    }
    timeline->known[tick % MODEL_HISTORY] = true;
    timeline->tick = tick;
    timeline->last_us = monotonic_us;
    timeline->broken = false;
}

size_t
timeline_length(const struct timeline *timeline)
{
    if (!timeline->started) {
        return 0;
    }
    uint32_t seconds = timeline->tick - timeline->first + 1;
    return seconds < MODEL_HISTORY ? seconds : MODEL_HISTORY;
}

bool
timeline_known(const struct timeline *timeline, uint32_t tick)
{
    return timeline->known[tick % MODEL_HISTORY];
}
