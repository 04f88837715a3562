#include "probe/core/registry.h"

#include <stdlib.h>
#include <string.h>

#include "probe/core/arena.h"

#define FIRST_SLOTS 1024u // room for 512 classes before the first growth
#define CLASS_MAX (REGISTRY_CLASS_SEGMENTS * REGISTRY_SEGMENT)
#define PATH_MAX_COUNT (REGISTRY_SITE_SEGMENTS * REGISTRY_SEGMENT - REGISTRY_FIRST_PATH)

static size_t
slot_bytes(size_t count)
{
    return count * sizeof(struct registry_slot);
}

bool
registry_init(struct registry *registry, uintptr_t (*resolve)(uintptr_t key))
{
    *registry = (struct registry){.slots = arena_map(slot_bytes(FIRST_SLOTS)),
                                  .slot_count = FIRST_SLOTS,
                                  .class_count = 1,
                                  .resolve = resolve};
    return registry->slots != NULL;
}

void
registry_destroy(struct registry *registry)
{
    uint32_t count = registry->slots ? registry->class_count : 0;
    for (uint32_t i = 1; i < count; i++) {
        free(registry_class(registry, i)->name);
    }
    for (size_t i = 0; i < REGISTRY_CLASS_SEGMENTS; i++) {
        arena_unmap(registry->classes[i], REGISTRY_SEGMENT * sizeof(struct class_entry));
    }
    for (size_t i = 0; i < REGISTRY_SITE_SEGMENTS; i++) {
        arena_unmap(registry->sites[i], REGISTRY_SEGMENT * sizeof(struct site));
        arena_unmap(registry->seen[i], REGISTRY_SEGMENT * sizeof(struct site_census));
    }
    arena_unmap(registry->slots, slot_bytes(registry->slot_count));
    arena_unmap(registry->tag_past, TAGS_MAX * sizeof(struct tag_past));
    *registry = (struct registry){0};
}

// Where a key is, or the empty slot where it would be.
static struct registry_slot *
probe_slots(struct registry_slot *slots, size_t count, uintptr_t key)
{
    size_t i = registry_hash(key) & (count - 1);
    while (slots[i].key && slots[i].key != key) {
        i = (i + 1) & (count - 1);
    }
    return &slots[i];
}

static bool
resize_slots(struct registry *registry, size_t count, uintptr_t (*moved)(uintptr_t))
{
    struct registry_slot *slots = arena_map(slot_bytes(count));
    if (!slots) {
        return false;
    }
    for (size_t i = 0; i < registry->slot_count; i++) {
        struct registry_slot slot = registry->slots[i];
        if (slot.key) {
            slot.key = moved ? moved(slot.key) : slot.key;
            *probe_slots(slots, count, slot.key) = slot;
        }
    }
    arena_unmap(registry->slots, slot_bytes(registry->slot_count));
    registry->slots = slots;
    registry->slot_count = count;
    return true;
}

static bool
map_sites(struct registry *registry, site_id site)
{
    struct site **sites = &registry->sites[site / REGISTRY_SEGMENT];
    struct site_census **seen = &registry->seen[site / REGISTRY_SEGMENT];
    if (!*sites) {
        *sites = arena_map(REGISTRY_SEGMENT * sizeof(**sites));
    }
    if (!*seen) {
        *seen = arena_map(REGISTRY_SEGMENT * sizeof(**seen));
    }
    return *sites && *seen;
}

static bool
map_segments(struct registry *registry, uint32_t index)
{
    struct class_entry **classes = &registry->classes[index / REGISTRY_SEGMENT];
    if (!*classes) {
        *classes = arena_map(REGISTRY_SEGMENT * sizeof(**classes));
    }
    return *classes && map_sites(registry, index * SITES_A_CLASS) &&
           map_sites(registry, index * SITES_A_CLASS + SITES_A_CLASS - 1);
}

// A row for a new class: a recycled one, or the next. 0 when there is none.
static uint32_t
take_row(struct registry *registry)
{
    uint32_t index = registry->free_class;
    if (index) {
        registry->free_class = registry_class(registry, index)->next_free;
        return index;
    }
    index = atomic_load_explicit(&registry->class_count, memory_order_relaxed);
    if (index == CLASS_MAX || !map_segments(registry, index)) {
        return 0;
    }
    return index;
}

static struct site *
reset_site(struct registry *registry, site_id id, uint32_t class_index)
{
    struct site *site = registry_site(registry, id);
    struct site_census *seen = registry_seen(registry, id);
    site->class_index = class_index;
    site->id = id;
    site->sample_at = SITE_NEVER;
    site->node = 0;
    site->shift = 0;
    atomic_store_explicit(&site->tag, 0, memory_order_relaxed);
    site->followed = false;
    atomic_store_explicit(&site->next, 0, memory_order_relaxed);
    atomic_store_explicit(&site->allocated, 0, memory_order_relaxed);
    atomic_store_explicit(&site->freed, 0, memory_order_relaxed);
    atomic_store_explicit(&site->found, 0, memory_order_relaxed);
    atomic_store_explicit(&seen->bytes, COUNT_UNKNOWN, memory_order_relaxed);
    seen->walk_bytes = 0;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        atomic_store_explicit(&seen->ages[i], 0, memory_order_relaxed);
        seen->walk_ages[i] = 0;
    }
    return site;
}

// The site that new objects of a class are counted in.
static struct site *
counting_site(const struct registry *registry, uint32_t class_index)
{
    const struct class_entry *entry = registry_class(registry, class_index);
    bool traced = atomic_load_explicit(&entry->traced, memory_order_relaxed);
    return registry_site(registry,
                         entry->site + (traced ? SITE_UNSAMPLED : SITE_COUNTED));
}

static void
reset_tracing(struct registry *registry, struct class_entry *entry)
{
    atomic_store_explicit(&entry->paths, 0, memory_order_relaxed);
    bool traced = registry->traces_new || registry->exact_new;
    atomic_store_explicit(&entry->traced, traced, memory_order_relaxed);
    atomic_store_explicit(&entry->shift, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->traced_us, 0, memory_order_relaxed);
    entry->watchers = 0;
    entry->pinned = registry->traces_new;
    entry->left_ns = 0;
    entry->governed_allocated = 0;
    entry->exact = registry->exact_new;
    if (traced) {
        registry_site(registry, entry->site + SITE_UNSAMPLED)->sample_at = 0;
    }
}

static void
reset_following(struct registry *registry, struct class_entry *entry)
{
    entry->followers = entry->key & 1 ? 0 : registry->follows_new;
    entry->lot = 0;
    entry->listener = 0;
    for (site_id i = 0; i < SITES_A_CLASS; i++) {
        registry_site(registry, entry->site + i)->followed = entry->followers > 0;
    }
}

static uint32_t
add_class(struct registry *registry, uintptr_t key)
{
    uint32_t index = take_row(registry);
    if (!index) {
        return 0;
    }
    struct class_entry *entry = registry_class(registry, index);
    entry->key = key;
    entry->site = index * SITES_A_CLASS;
    entry->walk_bytes = 0;
    entry->walk_live = 0;
    for (site_id i = 0; i < SITES_A_CLASS; i++) {
        reset_site(registry, entry->site + i, index);
    }
    reset_tracing(registry, entry);
    reset_following(registry, entry);
    atomic_store_explicit(&entry->flags, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->bytes, COUNT_UNKNOWN, memory_order_relaxed);
    atomic_store_explicit(&entry->state, CLASS_STATE_UNNAMED, memory_order_relaxed);
    atomic_store_explicit(&entry->id, ++registry->last_id, memory_order_release);
    if (index == registry->class_count) {
        atomic_store_explicit(&registry->class_count, index + 1, memory_order_release);
    }
    atomic_fetch_add_explicit(&registry->unnamed, 1, memory_order_relaxed);
    return index;
}

static const struct registry_slot *
insert(struct registry *registry, uintptr_t key, uint32_t class_index)
{
    struct registry_slot *slot = probe_slots(registry->slots, registry->slot_count, key);
    *slot = (struct registry_slot){key, counting_site(registry, class_index)};
    registry->slots_used++;
    return slot;
}

const struct registry_slot *
registry_add(struct registry *registry, uintptr_t key)
{
    const struct registry_slot *slot =
        probe_slots(registry->slots, registry->slot_count, key);
    if (slot->key) {
        return slot;
    }
    if ((registry->slots_used + 2) * 2 > registry->slot_count &&
        !resize_slots(registry, registry->slot_count * 2, NULL)) {
        return NULL;
    }
    uintptr_t real = registry->resolve ? registry->resolve(key) : key;
    slot = probe_slots(registry->slots, registry->slot_count, real);
    uint32_t index = slot->key ? slot->site->class_index : add_class(registry, real);
    if (!index) {
        return NULL;
    }
    if (!slot->key) {
        slot = insert(registry, real, index);
    }
    return real == key ? slot : insert(registry, key, index);
}

// Close the gap a removed slot leaves, so that no later key becomes unreachable.
static void
remove_slot(struct registry *registry, struct registry_slot *slot)
{
    size_t mask = registry->slot_count - 1;
    size_t hole = (size_t)(slot - registry->slots);
    for (size_t i = (hole + 1) & mask; registry->slots[i].key; i = (i + 1) & mask) {
        size_t home = registry_hash(registry->slots[i].key) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            registry->slots[hole] = registry->slots[i];
            hole = i;
        }
    }
    registry->slots[hole] = (struct registry_slot){0};
    registry->slots_used--;
}

void
registry_retire(struct registry *registry, uintptr_t key)
{
    struct registry_slot *slot = probe_slots(registry->slots, registry->slot_count, key);
    if (!slot->key) {
        return;
    }
    struct class_entry *entry = registry_class(registry, slot->site->class_index);
    if (entry->key == key) {
        uint32_t before = atomic_exchange_explicit(&entry->state, CLASS_STATE_DEAD,
                                                   memory_order_release);
        if (before == CLASS_STATE_UNNAMED) {
            atomic_fetch_sub_explicit(&registry->unnamed, 1, memory_order_relaxed);
        }
        entry->key = 0;
        atomic_fetch_add_explicit(&registry->dead, 1, memory_order_relaxed);
    }
    remove_slot(registry, slot);
}

bool
registry_rekey(struct registry *registry, uintptr_t (*moved)(uintptr_t key))
{
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_relaxed);
    for (uint32_t i = 1; i < count; i++) {
        struct class_entry *entry = registry_class(registry, i);
        entry->key = entry->key ? moved(entry->key) : 0;
    }
    return resize_slots(registry, registry->slot_count, moved);
}

// False when they were so before.
static bool
set_flags(struct class_entry *entry, uint32_t mask, uint32_t flags)
{
    uint32_t before = atomic_load_explicit(&entry->flags, memory_order_relaxed);
    uint32_t after = (before & ~mask) | (flags & mask);
    atomic_store_explicit(&entry->flags, after, memory_order_relaxed);
    return after != before;
}

void
registry_flag(struct registry *registry, uint32_t index, uint32_t mask, uint32_t flags)
{
    struct class_entry *entry = registry_class(registry, index);
    if (set_flags(entry, mask, flags)) {
        entry->name_edits++; // viewers learn of flags with names
    }
}

void
registry_name(struct registry *registry, uint32_t index, char *name, uint32_t flags)
{
    struct class_entry *entry = registry_class(registry, index);
    free(entry->name);
    entry->name = name;
    entry->name_edits++;
    set_flags(entry, CLASS_INTERNAL | CLASS_ANONYMOUS, flags);
    uint32_t unnamed = CLASS_STATE_UNNAMED;
    if (atomic_compare_exchange_strong(&entry->state, &unnamed, CLASS_STATE_NAMED)) {
        atomic_fetch_sub_explicit(&registry->unnamed, 1, memory_order_relaxed);
    }
}

/* Tracing. */

void
registry_trace(struct registry *registry, uint32_t class_index, bool on)
{
    atomic_store_explicit(&registry_class(registry, class_index)->traced, on,
                          memory_order_release);
    for (size_t i = 0; i < registry->slot_count; i++) {
        struct registry_slot *slot = &registry->slots[i];
        if (slot->key && slot->site->class_index == class_index) {
            slot->site = counting_site(registry, class_index);
        }
    }
}

// The number of a path's site: a free one, or the next, if it leaves `reserve`.
static site_id
take_path(struct registry *registry, uint32_t reserve)
{
    site_id id = registry->free_path;
    if (id) {
        registry->free_path = registry_site(registry, id)->next;
        return id;
    }
    uint32_t used = atomic_load_explicit(&registry->path_count, memory_order_relaxed);
    id = REGISTRY_FIRST_PATH + used;
    if (used + reserve >= PATH_MAX_COUNT || !map_sites(registry, id)) {
        return 0;
    }
    return id;
}

struct site *
registry_add_path(struct registry *registry, uint32_t class_index, uint32_t node,
                  uint8_t shift, uint32_t reserve)
{
    return registry_add_tagged(
        registry, &(struct path){class_index, node, TAG_NONE, shift}, reserve);
}

static bool
map_tag_past(struct registry *registry)
{
    if (!registry->tag_past) {
        registry->tag_past = arena_map(TAGS_MAX * sizeof(struct tag_past));
    }
    return registry->tag_past;
}

struct site *
registry_add_tagged(struct registry *registry, const struct path *path, uint32_t reserve)
{
    site_id id = path->tag && !map_tag_past(registry) ? 0 : take_path(registry, reserve);
    if (!id) {
        return NULL;
    }
    struct class_entry *entry = registry_class(registry, path->class_index);
    struct site *site = reset_site(registry, id, path->class_index);
    site->node = path->node;
    site->shift = path->shift;
    atomic_store_explicit(&site->tag, path->tag, memory_order_relaxed);
    site->followed = registry_site(registry, entry->site)->followed;
    atomic_store_explicit(&site->next, entry->paths, memory_order_relaxed);
    if (id == REGISTRY_FIRST_PATH + registry->path_count) {
        atomic_store_explicit(&registry->path_count, registry->path_count + 1,
                              memory_order_release);
    }
    atomic_store_explicit(&entry->paths, id, memory_order_release);
    return site;
}

static void
remember_tag(struct registry *registry, const struct site *site)
{
    if (site->tag) {
        struct tag_past *past = &registry->tag_past[site->tag];
        count_add(&past->allocated, site->allocated);
        count_add(&past->freed, site->freed);
    }
}

void
registry_free_paths(struct registry *registry, uint32_t class_index)
{
    struct class_entry *entry = registry_class(registry, class_index);
    for (site_id id = entry->paths, next; id; id = next) {
        next = registry_site(registry, id)->next;
        remember_tag(registry, registry_site(registry, id));
        struct site *site = reset_site(registry, id, 0);
        site->next = registry->free_path;
        registry->free_path = id;
    }
    atomic_store_explicit(&entry->paths, 0, memory_order_release);
}

/* The end of a class. */

static void
free_row(struct registry *registry, uint32_t index)
{
    struct class_entry *entry = registry_class(registry, index);
    struct site_counts counts = registry_counts(registry, index);
    registry_free_paths(registry, index);
    count_add(&registry->past_allocated, counts.allocated);
    count_add(&registry->past_freed, counts.freed);
    free(entry->name);
    entry->name = NULL;
    entry->name_edits++;
    atomic_store_explicit(&entry->id, 0, memory_order_release);
    atomic_store_explicit(&entry->state, CLASS_STATE_FREE, memory_order_release);
    entry->next_free = registry->free_class;
    registry->free_class = index;
    atomic_fetch_sub_explicit(&registry->dead, 1, memory_order_relaxed);
}

void
registry_recycle(struct registry *registry)
{
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_relaxed);
    for (uint32_t i = 1; i < count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        if (atomic_load_explicit(&entry->state, memory_order_relaxed) ==
            CLASS_STATE_GONE) {
            free_row(registry, i);
        }
    }
}

// Freed before allocated: a free that comes in between is not one too many.
static void
add_site(struct site_counts *counts, const struct site *site)
{
    uint64_t freed = atomic_load_explicit(&site->freed, memory_order_acquire);
    uint64_t found = atomic_load_explicit(&site->found, memory_order_acquire);
    uint64_t allocated = atomic_load_explicit(&site->allocated, memory_order_acquire);
    counts->freed += freed;
    counts->allocated += allocated;
    counts->live += allocated + found - freed;
}

struct site_counts
registry_counts(const struct registry *registry, uint32_t index)
{
    const struct class_entry *entry = registry_class(registry, index);
    struct site_counts counts = {0};
    for (site_id i = 0; i < SITES_A_CLASS; i++) {
        add_site(&counts, registry_site(registry, index * SITES_A_CLASS + i));
    }
    site_id path = atomic_load_explicit(&entry->paths, memory_order_acquire);
    while (path) {
        const struct site *site = registry_site(registry, path);
        add_site(&counts, site);
        path = atomic_load_explicit(&site->next, memory_order_relaxed);
    }
    return counts;
}

struct site_counts
registry_totals(const struct registry *registry)
{
    struct site_counts totals = {
        .freed = atomic_load_explicit(&registry->past_freed, memory_order_acquire),
        .allocated =
            atomic_load_explicit(&registry->past_allocated, memory_order_acquire)};
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        struct site_counts counts = registry_counts(registry, i);
        totals.live += counts.live;
        totals.allocated += counts.allocated;
        totals.freed += counts.freed;
    }
    return totals;
}
