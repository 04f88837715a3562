#include "probe/core/birth.h"

// From how many numbers in use on an epoch takes two collections, then four, eight …
#define PLENTY 128u
#define STEP 16u

void
birth_init(struct birth *birth)
{
    *birth = (struct birth){.used = 1};
    birth->in_use[0] = true;
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        birth->merged[i] = (uint8_t)i;
    }
}

static uint64_t
epoch_length(const struct birth *birth)
{
    return birth->used < PLENTY ? 1 : UINT64_C(2) << (birth->used - PLENTY) / STEP;
}

static uint32_t
free_number(const struct birth *birth)
{
    uint32_t number = 0;
    while (birth->in_use[number]) {
        number++;
    }
    return number;
}

void
birth_collection(struct birth *birth)
{
    uint64_t collections =
        atomic_load_explicit(&birth->collections, memory_order_relaxed) + 1;
    atomic_store_explicit(&birth->collections, collections, memory_order_relaxed);
    birth->ends[birth->now] = collections;
    if (birth->used < BIRTH_EPOCHS && collections - birth->begun >= epoch_length(birth)) {
        birth->begun = collections;
        birth->now = free_number(birth);
        birth->in_use[birth->now] = true;
        birth->merged[birth->now] = (uint8_t)birth->now;
        birth->ends[birth->now] = collections + 1; // not yet: nothing survived one
        birth->used++;
    }
}

// What was born in an epoch was there when the collection that ended it began; it
// has survived that one when the next begins. In an epoch that goes on over several
// collections, the youngest have seen the last of them at most.
uint64_t
birth_age(const struct birth *birth, uint32_t epoch)
{
    uint64_t end = birth->ends[epoch];
    uint64_t collections =
        atomic_load_explicit(&birth->collections, memory_order_relaxed);
    return epoch == birth->now || collections < end ? 0 : collections - end;
}

unsigned
birth_bucket(uint64_t age)
{
    return age < 2 ? 0 : age < 8 ? 1 : age < 32 ? 2 : 3;
}

// The youngest age that an older epoch may keep of its own: old epochs lie between
// powers of two, a quarter of one apart, so that few are left of any number.
static uint64_t
rank_of(uint64_t age)
{
    unsigned power = 0;
    while (age >> power > 7) {
        power++;
    }
    return (uint64_t)power << 3 | (age >> power & 7);
}

struct epochs {
    uint64_t age[BIRTH_EPOCHS];
    uint64_t rank[BIRTH_EPOCHS]; // 0: stays as it is
};

// The youngest old epoch in use of a rank takes all of that rank: no age becomes
// higher.
static uint8_t
youngest_of_rank(const struct epochs *epochs, uint32_t epoch)
{
    uint32_t best = epoch;
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        bool younger = epochs->age[i] < epochs->age[best] ||
                       (epochs->age[i] == epochs->age[best] && i < best);
        if (epochs->rank[i] == epochs->rank[epoch] && younger) {
            best = i;
        }
    }
    return (uint8_t)best;
}

void
birth_walk(struct birth *birth)
{
    struct epochs epochs;
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        epochs.age[i] = birth_age(birth, i);
        bool old = birth->in_use[i] && epochs.age[i] >= BIRTH_EXACT;
        epochs.rank[i] = old ? rank_of(epochs.age[i]) : 0;
    }
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        birth->merged[i] = epochs.rank[i] ? youngest_of_rank(&epochs, i) : (uint8_t)i;
    }
}

void
birth_walked(struct birth *birth)
{
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        if (birth->in_use[i] && birth->merged[i] != i) {
            birth->in_use[i] = false;
            birth->used--;
        }
        birth->merged[i] = (uint8_t)i;
    }
}
