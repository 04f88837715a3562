#include "tui/model/rates.h"

#include <math.h>

void
rates_break(struct rates *rates)
{
    rates->seeded = false;
}

// Change per second. A count that fell where it can only grow is unknown.
static double
per_second(uint64_t from, uint64_t to, double seconds, bool may_fall)
{
    if (from == COUNT_UNKNOWN || to == COUNT_UNKNOWN || seconds <= 0 ||
        (to < from && !may_fall)) {
        return (double)NAN;
    }
    return to >= from ? (double)(to - from) / seconds : -(double)(from - to) / seconds;
}

static struct anchor
anchor_of(const struct class_row *row)
{
    return (struct anchor){row->live, row->allocated, row->freed};
}

static struct moment
moment_of(const struct sample *sample, struct stamp at)
{
    uint64_t age_us = sample->process.heap_age_ms != COUNT_UNKNOWN
                          ? sample->process.heap_age_ms * 1000
                          : 0;
    return (struct moment){
        .us = sample->mode == MODE_CENSUS ? sample->probe.census_us : at.monotonic_us,
        .heap_us = at.monotonic_us > age_us ? at.monotonic_us - age_us : 0,
        .gc_time_ms = sample->process.gc_time_ms,
        .totals = {sample->totals.live, sample->totals.allocated, sample->totals.freed},
    };
}

static double
seconds_between(uint64_t from_us, uint64_t to_us)
{
    return to_us > from_us ? (double)(to_us - from_us) / 1e6 : 0;
}

// Nothing to compare with yet.
static void
seed(struct rates *rates, struct classes *classes, struct model_rates *totals,
     const struct moment *now)
{
    double unknown = (double)NAN;
    rates->anchors[0] = *now;
    rates->anchors[1] = *now;
    rates->seeded = true;
    totals->live = totals->allocated = totals->freed = totals->gc_percent = unknown;
    for (size_t i = 0; i < classes->count; i++) {
        struct entry *entry = classes->list[i];
        entry->anchors[0] = entry->anchors[1] = anchor_of(&entry->class.now);
        entry->class.live_per_second = unknown;
        entry->class.allocated_per_second = unknown;
        entry->class.freed_per_second = unknown;
    }
}

static void
measure_class(struct entry *entry, double seconds)
{
    struct model_class *class = &entry->class;
    const struct anchor *from = &entry->anchors[0];
    const struct class_row *to = &class->now;
    class->live_per_second = per_second(from->live, to->live, seconds, true);
    class->allocated_per_second =
        per_second(from->allocated, to->allocated, seconds, false);
    class->freed_per_second = per_second(from->freed, to->freed, seconds, false);
}

static void
measure(const struct rates *rates, struct classes *classes, struct model_rates *totals,
        const struct moment *now)
{
    const struct moment *from = &rates->anchors[0];
    double seconds = seconds_between(from->us, now->us);
    for (size_t i = 0; i < classes->count; i++) {
        measure_class(classes->list[i], seconds);
    }
    totals->live = per_second(from->totals.live, now->totals.live, seconds, true);
    totals->allocated =
        per_second(from->totals.allocated, now->totals.allocated, seconds, false);
    totals->freed = per_second(from->totals.freed, now->totals.freed, seconds, false);
    // milliseconds a second are tenths of a percent
    totals->gc_percent = per_second(from->gc_time_ms, now->gc_time_ms,
                                    seconds_between(from->heap_us, now->heap_us), false) /
                         10;
}

static void
step(struct rates *rates, struct classes *classes, const struct moment *now, bool census)
{
    rates->anchors[0] = census ? *now : rates->anchors[1];
    rates->anchors[1] = *now;
    for (size_t i = 0; i < classes->count; i++) {
        struct entry *entry = classes->list[i];
        struct anchor anchor = anchor_of(&entry->class.now);
        entry->anchors[0] = census ? anchor : entry->anchors[1];
        entry->anchors[1] = anchor;
    }
}

void
rates_update(struct rates *rates, struct classes *classes, struct model_rates *totals,
             const struct sample *sample, struct stamp at)
{
    struct moment now = moment_of(sample, at);
    if (!rates->seeded || rates->mode != sample->mode || now.us < rates->anchors[1].us) {
        rates->mode = sample->mode;
        seed(rates, classes, totals, &now);
        return;
    }
    bool census = sample->mode == MODE_CENSUS;
    if (census && now.us == rates->anchors[1].us) {
        return;
    }
    measure(rates, classes, totals, &now);
    if (census || now.us / RATES_STEP_US != rates->anchors[1].us / RATES_STEP_US) {
        step(rates, classes, &now, census);
    }
}
