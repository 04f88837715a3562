#include "probe/core/tally.h"

bool
tally_init(struct tally *tally, uintptr_t (*resolve)(uintptr_t key))
{
    *tally = (struct tally){0};
    birth_init(&tally->birth);
    if (!shadow_init(&tally->shadow)) {
        return false;
    }
    if (!registry_init(&tally->registry, resolve)) {
        shadow_destroy(&tally->shadow);
        return false;
    }
    return true;
}

void
tally_destroy(struct tally *tally)
{
    follow_end(&tally->follow, &tally->registry);
    shadow_destroy(&tally->shadow);
    registry_destroy(&tally->registry);
    trace_destroy(&tally->trace);
}

void
tally_recycle(struct tally *tally)
{
    struct registry *registry = &tally->registry;
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_relaxed);
    for (uint32_t i = 1; i < count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        if (entry->state == CLASS_STATE_GONE && entry->paths) {
            trace_forget_class(&tally->trace, registry, i);
        }
    }
    registry_recycle(registry);
}

void
tally_missed_free(struct tally *tally, uintptr_t address, shadow_entry entry)
{
    count_up(&tally->missed_frees);
    count_up(&registry_site(&tally->registry, shadow_site(entry))->freed);
    follow_freed(&tally->follow, address);
    registry_retire(&tally->registry, address);
    calltree_retire(&tally->trace.tree, address);
}

void
tally_allocated_tagged(struct tally *tally, uintptr_t address, uintptr_t key,
                       uint32_t tag)
{
    const struct registry_slot *slot = registry_lookup(&tally->registry, key);
    shadow_entry *entry = shadow_place(&tally->shadow, address);
    if (!slot || !entry) {
        count_up(&tally->unplaced);
        return;
    }
    struct site *site = slot->site;
    if (*entry) {
        tally_missed_free(tally, address, *entry);
    }
    bool turn =
        atomic_load_explicit(&site->allocated, memory_order_relaxed) >= site->sample_at;
    site = (turn ? trace_site : trace_tagged)(&tally->trace, &tally->registry, site, tag);
    tally_place(tally, entry, site, address);
}

struct compaction {
    struct tally *tally;
    uintptr_t (*moved)(uintptr_t address);
    bool failed;
};

// The slot an object moves to was free: an entry there is a free nobody told
// of. The slot it left is no other object's destination in the same compaction.
static void
move_entry(void *context, uintptr_t address, shadow_entry *entry)
{
    struct compaction *compaction = context;
    struct tally *tally = compaction->tally;
    uintptr_t now = compaction->moved(address);
    if (now == address) {
        return;
    }
    const shadow_entry was = *entry;
    *entry = 0;
    shadow_entry *place = shadow_place(&tally->shadow, now);
    if (!place) {
        compaction->failed = true;
        return;
    }
    if (*place) {
        tally_missed_free(tally, now, *place);
    }
    *place = shadow_pack(shadow_site(was), shadow_epoch(was), now);
}

void
tally_compacted(struct tally *tally, uintptr_t (*moved)(uintptr_t address))
{
    struct compaction compaction = {.tally = tally, .moved = moved};
    shadow_each(&tally->shadow, 0, UINTPTR_MAX, move_entry, &compaction);
    compaction.failed |= !follow_compacted(&tally->follow, moved);
    bool keyed = registry_rekey(&tally->registry, moved) &&
                 calltree_rekey(&tally->trace.tree, moved);
    if (!keyed || compaction.failed) {
        tally->lost = true;
    }
}
