#include "probe/core/census.h"

#include <stdlib.h>

#include "probe/core/clock.h"

void
census_destroy(struct census *census)
{
    free(census->pages.list);
    *census = (struct census){0};
}

// Of every site that there may be: those of classes, then those of paths.
static void
each_site(struct registry *registry, void (*visit)(struct census *, struct site_census *),
          struct census *census)
{
    site_id classes = registry->class_count * SITES_A_CLASS;
    site_id paths = REGISTRY_FIRST_PATH + registry->path_count;
    for (site_id id = SITES_A_CLASS; id < classes; id++) {
        visit(census, registry_seen(registry, id));
    }
    for (site_id id = REGISTRY_FIRST_PATH; id < paths; id++) {
        visit(census, registry_seen(registry, id));
    }
}

static void
forget_walk(struct census *census, struct site_census *seen)
{
    (void)census;
    seen->walk_bytes = 0;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        seen->walk_ages[i] = 0;
    }
}

void
census_begin(struct census *census, enum census_kind kind, struct tally *tally,
             const struct runtime *runtime)
{
    const struct census before = *census;
    *census = (struct census){.kind = kind,
                              .under_way = true,
                              .weigh = kind != CENSUS_BASELINE && runtime->alone(),
                              .missing = before.under_way ? before.missing : 0,
                              .phantom = before.under_way ? before.phantom : 0,
                              .pages = before.pages,
                              .tally = tally,
                              .runtime = runtime};
    uint32_t count = tally->registry.class_count;
    for (uint32_t i = 1; i < count; i++) {
        struct class_entry *entry = registry_class(&tally->registry, i);
        entry->walk_bytes = 0;
        entry->walk_live = 0;
    }
    each_site(&tally->registry, forget_walk, census);
    birth_walk(&tally->birth);
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        uint64_t age = tally->birth.in_use[i] ? birth_age(&tally->birth, i) : 0;
        census->buckets[i] = (uint8_t)birth_bucket(age);
    }
}

static void
add_found(struct census *census, site_id site, uint64_t amount)
{
    count_add(&registry_site(&census->tally->registry, site)->found, amount);
}

static void
remove_phantom(void *context, uintptr_t address, shadow_entry *entry)
{
    struct census *census = context;
    census->phantom++;
    count_up(&registry_site(&census->tally->registry, shadow_site(*entry))->freed);
    follow_freed(&census->tally->follow, address);
    registry_retire(&census->tally->registry, address);
    calltree_retire(&census->tally->trace.tree, address);
    *entry = 0;
}

// An object's bytes and age, for the site it is counted in. Epochs that began while
// the walk goes on are young.
static void
note_object(struct census *census, shadow_entry *entry, uint64_t bytes)
{
    struct site_census *seen =
        registry_seen(&census->tally->registry, shadow_site(*entry));
    uint32_t epoch = birth_merged(&census->tally->birth, shadow_epoch(*entry));
    *entry = shadow_in_epoch(*entry, epoch);
    seen->walk_bytes += bytes;
    seen->walk_ages[census->buckets[epoch]]++;
}

// Compare the object at `address` with what the shadow table says of it.
static void
check_object(struct census *census, uintptr_t address, const struct registry_slot *slot,
             uint64_t bytes)
{
    shadow_entry *entry = shadow_place(&census->tally->shadow, address);
    const struct class_entry *class =
        registry_class(&census->tally->registry, slot->site->class_index);
    site_id found = class->site + SITE_FOUND;
    if (!entry) {
        count_up(&census->tally->unplaced);
        return;
    }
    uint32_t epoch = *entry ? shadow_epoch(*entry) : census->tally->birth.now;
    if (*entry) {
        site_id was = shadow_site(*entry);
        if (registry_site(&census->tally->registry, was)->class_index ==
            slot->site->class_index) {
            note_object(census, entry, bytes);
            return;
        }
        census->moved++;
        follow_freed(&census->tally->follow, address); // gone from the class it was of
        add_found(census, was, (uint64_t)-1);
    } else {
        census->missing++;
    }
    *entry = shadow_pack(found, epoch, address);
    add_found(census, found, 1);
    note_object(census, entry, bytes);
}

static void
visit_slot(struct census *census, uintptr_t address)
{
    uint64_t bytes = 0;
    uintptr_t key = census->runtime->object(address, census->weigh ? &bytes : NULL);
    if (!key) {
        shadow_entry *entry = census->kind == CENSUS_COUNT
                                  ? NULL
                                  : shadow_find(&census->tally->shadow, address);
        if (entry && *entry) {
            remove_phantom(census, address, entry);
        }
        return;
    }
    const struct registry_slot *slot = registry_lookup(&census->tally->registry, key);
    if (!slot) {
        count_up(&census->tally->unplaced);
        return;
    }
    census->objects++;
    struct class_entry *entry =
        registry_class(&census->tally->registry, slot->site->class_index);
    entry->walk_live++;
    entry->walk_bytes += bytes;
    if (census->kind != CENSUS_COUNT) {
        check_object(census, address, slot, bytes);
    }
}

static void
visit_gap(struct census *census, uintptr_t from, uintptr_t to)
{
    if (census->kind != CENSUS_COUNT) {
        shadow_each(&census->tally->shadow, from, to, remove_phantom, census);
    }
}

struct grid {
    struct census *census;
    const struct heap_page *page;
};

// An entry between two slots is left from a page of another layout.
static void
remove_between_slots(void *context, uintptr_t address, shadow_entry *entry)
{
    const struct grid *grid = context;
    uint32_t offset = (uint32_t)(address - grid->page->start);
    if (offset % (uint32_t)grid->page->stride != 0) {
        remove_phantom(grid->census, address, entry);
    }
}

static void
visit_page(struct census *census, const struct heap_page *page)
{
    visit_gap(census, census->cursor, page->start);
    if (census->kind == CENSUS_CHECK) {
        struct grid grid = {census, page};
        shadow_each(&census->tally->shadow, page->start, page->end, remove_between_slots,
                    &grid);
    }
    uintptr_t first = page->start;
    if (census->cursor > first) { // a page of another layout where one was left
        first +=
            (census->cursor - first + page->stride - 1) / page->stride * page->stride;
    }
    for (uintptr_t address = first; address < page->end; address += page->stride) {
        visit_slot(census, address);
    }
    census->cursor = page->end;
}

// Walk the pages as they are now. True when the end was reached; false when
// time is up or a collection made the list stale.
static bool
walk_pages(struct census *census, uint64_t deadline_ns)
{
    uint64_t collections = census->runtime->collections();
    for (size_t i = 0; i < census->pages.count; i++) {
        const struct heap_page *page = &census->pages.list[i];
        if (page->end <= census->cursor) {
            continue;
        }
        visit_page(census, page);
        if (census->runtime->collections() != collections ||
            (deadline_ns && clock_monotonic_ns() >= deadline_ns)) {
            return false;
        }
    }
    return true;
}

// In census mode the walk is the count: what it did not see is not there.
static void
publish_class(struct census *census, uint32_t index)
{
    struct class_entry *entry = registry_class(&census->tally->registry, index);
    uint64_t bytes = census->weigh ? entry->walk_bytes : COUNT_UNKNOWN;
    if (census->kind != CENSUS_BASELINE) {
        atomic_store_explicit(&entry->bytes, bytes, memory_order_release);
    }
    if (census->kind == CENSUS_COUNT) {
        struct site *site =
            registry_site(&census->tally->registry, entry->site + SITE_FOUND);
        atomic_store_explicit(&site->found, entry->walk_live, memory_order_release);
        if (!entry->walk_live && entry->key) {
            registry_retire(&census->tally->registry, entry->key);
        }
    }
}

static void
publish_site(struct census *census, struct site_census *seen)
{
    uint64_t bytes = census->weigh ? seen->walk_bytes : COUNT_UNKNOWN;
    atomic_store_explicit(&seen->bytes, bytes, memory_order_release);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        atomic_store_explicit(&seen->ages[i], seen->walk_ages[i], memory_order_release);
    }
}

static void
finish(struct census *census)
{
    visit_gap(census, census->cursor, UINTPTR_MAX);
    uint32_t count = census->tally->registry.class_count;
    for (uint32_t i = 1; i < count; i++) {
        if (registry_class(&census->tally->registry, i)->id) {
            publish_class(census, i);
        }
    }
    if (census->kind == CENSUS_CHECK) {
        each_site(&census->tally->registry, publish_site, census);
        shadow_reclaim(&census->tally->shadow);
    }
    if (census->kind != CENSUS_COUNT) {
        birth_walked(&census->tally->birth);
    }
    census->under_way = false;
}

bool
census_step(struct census *census, uint64_t budget_ns)
{
    uint64_t started_ns = clock_monotonic_ns();
    uint64_t deadline_ns = budget_ns ? started_ns + budget_ns : 0;
    bool done = false;
    do {
        census->pages.count = 0;
        if (!census->runtime->pages(&census->pages)) {
            break;
        }
        done = walk_pages(census, deadline_ns);
    } while (!done && (!deadline_ns || clock_monotonic_ns() < deadline_ns));
    if (done) {
        finish(census);
    }
    census->cost_ns += clock_monotonic_ns() - started_ns;
    return done;
}
