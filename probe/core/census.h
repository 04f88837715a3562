/*
 * A walk over the whole heap, in slices short enough not to be felt.
 *
 * In count mode it compares every slot with the shadow table: an object nobody
 * counted is entered, an entry without object is removed, an object whose class
 * changed since (Ruby hides and reveals some) is moved. The first two are drift
 * and are reported; the walk that starts the counting enters everything and
 * calls nothing drift. In census mode there is no shadow: it counts. Either way
 * it can weigh the objects.
 *
 * Slots are compared one by one while the program stands still, so it does not
 * matter that it runs between two slices. Everything here runs under the GVL.
 */
#ifndef PROBE_CORE_CENSUS_H
#define PROBE_CORE_CENSUS_H

#include "probe/core/runtime.h"
#include "probe/core/tally.h"

enum census_kind {
    CENSUS_BASELINE, // enter everything, in count mode, once
    CENSUS_CHECK,    // compare, in count mode
    CENSUS_COUNT,    // no hooks: count by walking
};

struct census {
    enum census_kind kind;
    bool under_way;
    bool weigh;
    uintptr_t cursor;              // everything below was seen
    uint64_t objects;              // seen by the walk under way
    uint64_t missing;              // alive, not counted: entered
    uint64_t phantom;              // counted, not alive: removed
    uint64_t moved;                // counted under another class
    uint64_t cost_ns;              // spent by the walk under way
    uint8_t buckets[BIRTH_EPOCHS]; // of ages, for epochs as the walk began
    struct heap_pages pages;
    struct tally *tally;
    const struct runtime *runtime;
};

void census_destroy(struct census *census);

// Start a walk. Of one that was under way, only the drift it found is kept.
void census_begin(struct census *census, enum census_kind kind, struct tally *tally,
                  const struct runtime *runtime);

// Walk on for about `budget_ns` (0: to the end). True when the walk is done and
// its results, the bytes of every class among them, stand in the tally.
bool census_step(struct census *census, uint64_t budget_ns);

#endif
