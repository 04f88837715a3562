/*
 * When an object was born, in eight bits: how old is it, in collections survived?
 *
 * Every shadow entry carries the number of the epoch it was made in. An epoch is
 * one collection as long as there are numbers to spare, and more of them when there
 * are few; a walk over the heap gives old epochs' numbers back by merging them. An
 * age is therefore never too high, and exact for what was born lately.
 *
 * Costs no memory beyond this struct and no store at an allocation: the bits lie in
 * the entry that is written anyway.
 */
#ifndef PROBE_CORE_BIRTH_H
#define PROBE_CORE_BIRTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/message.h"

#define BIRTH_EPOCHS 256u

struct birth {
    uint32_t now;                 // the epoch that objects are born in: hook reads it
    _Atomic uint64_t collections; // seen, those before birth_init() not included
    uint64_t ends[BIRTH_EPOCHS];  // the collection that ended an epoch; of `now`: unset
    uint32_t used;                // numbers in use
    bool in_use[BIRTH_EPOCHS];
    uint8_t merged[BIRTH_EPOCHS]; // of the walk under way: what each becomes
    bool merging;
};

// context: gvl.
void birth_init(struct birth *birth);

// context: hook. A collection began: what is born from now on is younger.
void birth_collection(struct birth *birth);

// context: gvl. Collections that an object of this epoch has survived, at least.
uint64_t birth_age(const struct birth *birth, uint32_t epoch);

// The bucket of struct verdict_row.ages for an age. context: any.
unsigned birth_bucket(uint64_t age);

// context: gvl. A walk over all entries begins: birth_merged() says what each
// entry's epoch is to be from now on. birth_walked() when every entry was visited:
// numbers merged away can be used again.
void birth_walk(struct birth *birth);
static inline uint32_t
birth_merged(const struct birth *birth, uint32_t epoch)
{
    return birth->merged[epoch];
}
void birth_walked(struct birth *birth);

#endif
