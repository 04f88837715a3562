/*
 * When an object was born, in eight bits: how old is it, in collections survived?
 *
 * Every shadow entry carries the number of the epoch it was made in. An epoch ends
 * with a collection as long as there are numbers to spare, and with fewer of them
 * when there are few; a walk over the heap gives old epochs' numbers back by merging
 * them. An age is therefore never too high, and exact for what was born lately.
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
#define BIRTH_EXACT 32u // the youngest epochs, which a walk leaves as they are

struct birth {
    uint32_t now;                 // the epoch that objects are born in: hook reads it
    _Atomic uint64_t collections; // begun since birth_init()
    uint64_t begun;               // collections, when `now` began
    uint64_t ends[BIRTH_EPOCHS];  // collections, when an epoch ended: all born in it
                                  // were there when that one began
    bool in_use[BIRTH_EPOCHS];    // something may have been born in it
    uint32_t used;                // of them
    uint8_t merged[BIRTH_EPOCHS]; // what each becomes in the walk under way
};

// context: gvl.
void birth_init(struct birth *birth);

// context: hook. A collection begins: what is born from now on is younger.
void birth_collection(struct birth *birth);

// context: gvl. Collections that an object of this epoch has survived, at least: the
// one under way, or whose garbage is not swept yet, does not count.
uint64_t birth_age(const struct birth *birth, uint32_t epoch);

// The bucket of struct verdict_row.ages for an age. context: any.
unsigned birth_bucket(uint64_t age);

// context: gvl. A walk over all entries begins: birth_merged() says what each entry's
// epoch is to be from now on. birth_walked() when every entry was visited: numbers
// merged away can be used again. A walk may be begun anew at any time.
void birth_walk(struct birth *birth);
static inline uint32_t
birth_merged(const struct birth *birth, uint32_t epoch)
{
    return birth->merged[epoch];
}
void birth_walked(struct birth *birth);

#endif
