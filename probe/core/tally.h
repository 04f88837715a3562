/*
 * What happens at an allocation and at a free. This is the hot path: a lookup,
 * a few loads and stores on the probe's own memory, nothing else, ever.
 *
 * Everything here runs under the GVL.
 */
#ifndef PROBE_CORE_TALLY_H
#define PROBE_CORE_TALLY_H

#include "probe/core/birth.h"
#include "probe/core/follow.h"
#include "probe/core/registry.h"
#include "probe/core/shadow.h"
#include "probe/core/trace.h"

struct tally {
    struct shadow shadow;
    struct registry registry;
    struct birth birth;
    struct trace trace;
    struct follow follow;          // what the program's own captures want to know
    _Atomic uint64_t missed_frees; // seen when a slot was allocated twice
    _Atomic uint64_t unplaced;     // objects not tracked for want of memory
    _Atomic bool lost;             // a compaction could not be followed: stop counting
};

// context: gvl. False when the kernel has no memory. Tracing can be had once
// trace_init() was called on `trace` as well.
bool tally_init(struct tally *tally, uintptr_t (*resolve)(uintptr_t key));
void tally_destroy(struct tally *tally);

// context: gvl, under the probe's lock. Free the rows of classes that are gone.
void tally_recycle(struct tally *tally);

// context: hook. Nobody told of the free of what was at `address` before: some
// other tool's hook ran a collection, and Ruby skips hooks within hooks. If it
// was a class, it is dead. The entry is the caller's to set.
void tally_missed_free(struct tally *tally, uintptr_t address, shadow_entry entry);

// context: hook. The object at `address` belongs to a site from its birth on.
static inline void
tally_place(struct tally *tally, shadow_entry *entry, struct site *site,
            uintptr_t address)
{
    *entry = shadow_pack(site->id, tally->birth.now, address);
    count_up(&site->allocated);
    if (site->followed) {
        follow_born(&tally->follow, &tally->registry, site->class_index, address);
    }
}

// context: hook. An object of the class `key` now lives at `address`.
static inline void
tally_allocated(struct tally *tally, uintptr_t address, uintptr_t key)
{
    const struct registry_slot *slot = registry_lookup(&tally->registry, key);
    shadow_entry *entry = shadow_place(&tally->shadow, address);
    if (!slot || !entry) {
        count_up(&tally->unplaced);
        return;
    }
    struct site *site = slot->site; // the slot itself may move when a class dies
    if (*entry) {
        tally_missed_free(tally, address, *entry);
    }
    if (atomic_load_explicit(&site->allocated, memory_order_relaxed) >= site->sample_at) {
        site = trace_site(&tally->trace, &tally->registry, site, TAG_NONE);
    }
    tally_place(tally, entry, site, address);
}

// context: hook. The same, under a tag. No faster than need be: only those who tag pay.
void tally_allocated_tagged(struct tally *tally, uintptr_t address, uintptr_t key,
                            uint32_t tag);

// context: hook. The object at `address` is being freed. It is not looked at:
// its class may be dead already.
static inline void
tally_freed(struct tally *tally, uintptr_t address)
{
    shadow_entry *entry = shadow_find(&tally->shadow, address);
    if (entry && *entry) {
        struct site *site = registry_site(&tally->registry, shadow_site(*entry));
        count_up(&site->freed);
        *entry = 0;
        if (site->followed) {
            follow_freed(&tally->follow, address);
        }
    }
}

// context: hook. The object at `address` may stand behind a frame of the call tree
// (Ruby's code and method entries do), and is being freed.
static inline void
tally_frame_freed(struct tally *tally, uintptr_t address)
{
    calltree_retire(&tally->trace.tree, address);
}

// context: hook. A collection begins.
static inline void
tally_collection(struct tally *tally)
{
    birth_collection(&tally->birth);
}

// context: hook. The object at `address` is a class, and is being freed.
static inline void
tally_class_freed(struct tally *tally, uintptr_t address)
{
    registry_retire(&tally->registry, address);
}

// context: gvl, from the runtime's compaction. `moved` gives an object's
// address of now, from the one it had. Without memory for that, `lost` is set.
void tally_compacted(struct tally *tally, uintptr_t (*moved)(uintptr_t address));

#endif
