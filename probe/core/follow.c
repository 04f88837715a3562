#include "probe/core/follow.h"

#include <stdlib.h>

#include "probe/core/arena.h"

#define FIRST_QUEUE 4096u
#define RECORD_BIT (1u << 29) // of the numbers in the shadow: a record, not a lot
#define NUMBERS_MAX (FOLLOW_SEGMENT * FOLLOW_SEGMENTS)

static struct follow_lot *
lot_at(const struct follow *follow, uint32_t number)
{
    return &follow->lots[number / FOLLOW_SEGMENT][number % FOLLOW_SEGMENT];
}

static struct follow_record *
record_at(const struct follow *follow, uint32_t number)
{
    return &follow->records[number / FOLLOW_SEGMENT][number % FOLLOW_SEGMENT];
}

static shadow_entry
pack(uint32_t number, uintptr_t address)
{
    return number << 2 | (shadow_entry)((address >> 3) & 3);
}

static uint32_t
number_of(shadow_entry entry)
{
    return entry >> 2;
}

/* Begin and end. */

bool
follow_begin(struct follow *follow)
{
    *follow = (struct follow){.active = true,
                              .lot_count = 1,
                              .record_count = 1,
                              .queue = arena_map(FIRST_QUEUE * sizeof(uint32_t)),
                              .queue_size = FIRST_QUEUE};
    if (!follow->queue || !shadow_init(&follow->shadow)) {
        arena_unmap(follow->queue, FIRST_QUEUE * sizeof(uint32_t));
        *follow = (struct follow){0};
        return false;
    }
    return true;
}

static void
mark_site(struct registry *registry, site_id site, bool followed)
{
    registry_site(registry, site)->followed = followed;
}

static void
mark_sites(struct registry *registry, const struct class_entry *entry, bool followed)
{
    for (site_id i = 0; i < SITES_A_CLASS; i++) {
        mark_site(registry, entry->site + i, followed);
    }
    for (site_id id = entry->paths; id; id = registry_site(registry, id)->next) {
        mark_site(registry, id, followed);
    }
}

static void
forget_class(struct registry *registry, struct class_entry *entry)
{
    mark_sites(registry, entry, false);
    entry->followers = 0;
    entry->lot = 0;
    entry->listener = 0;
}

void
follow_end(struct follow *follow, struct registry *registry)
{
    uint32_t count = registry->slots ? registry->class_count : 0;
    for (uint32_t i = 1; i < count; i++) {
        forget_class(registry, registry_class(registry, i));
    }
    registry->follows_new = 0;
    for (size_t i = 0; i < FOLLOW_SEGMENTS; i++) {
        arena_unmap(follow->lots[i], FOLLOW_SEGMENT * sizeof(struct follow_lot));
        arena_unmap(follow->records[i], FOLLOW_SEGMENT * sizeof(struct follow_record));
    }
    arena_unmap(follow->queue, follow->queue_size * sizeof(uint32_t));
    free(follow->listeners);
    shadow_destroy(&follow->shadow);
    *follow = (struct follow){0};
}

uint32_t
follow_span(struct follow *follow)
{
    return ++follow->span;
}

/* Which classes. */

// Marks stay until the last capture ends: what was followed is seen to go.
static void
follow_entry(struct registry *registry, struct class_entry *entry, bool on)
{
    entry->followers += on ? 1 : -1u;
    if (on) {
        mark_sites(registry, entry, true);
    }
}

void
follow_class(struct registry *registry, uint32_t class_index, bool on)
{
    follow_entry(registry, registry_class(registry, class_index), on);
}

void
follow_all(struct registry *registry, bool on)
{
    registry->follows_new += on ? 1 : -1u;
    uint32_t count = registry->class_count;
    for (uint32_t i = 1; i < count; i++) {
        struct class_entry *entry = registry_class(registry, i);
        if (entry->id && !(entry->key & 1)) { // not the runtime's own objects
            follow_entry(registry, entry, on);
        }
    }
}

/* Lots. */

static void *
map_row(void **segment, size_t row_bytes)
{
    if (!*segment) {
        *segment = arena_map(FOLLOW_SEGMENT * row_bytes);
    }
    return *segment;
}

static uint32_t
add_lot(struct follow *follow, const struct registry *registry, uint32_t class_index)
{
    uint32_t number = follow->lot_count;
    if (number == NUMBERS_MAX || !map_row((void **)&follow->lots[number / FOLLOW_SEGMENT],
                                          sizeof(struct follow_lot))) {
        return 0;
    }
    struct class_entry *entry = registry_class(registry, class_index);
    *lot_at(follow, number) = (struct follow_lot){.class_index = class_index,
                                                  .id = entry->id,
                                                  .span = follow->span,
                                                  .older = entry->lot};
    entry->lot = number;
    follow->lot_count++;
    return number;
}

// The lot of what a class allocates now; 0 without memory.
static uint32_t
lot_of(struct follow *follow, const struct registry *registry, uint32_t class_index)
{
    uint32_t number = registry_class(registry, class_index)->lot;
    return number && lot_at(follow, number)->span == follow->span
               ? number
               : add_lot(follow, registry, class_index);
}

/* Records and their events. */

// As a ring that grows: what is in it moves to the beginning of the new one.
static bool
grow_queue(struct follow *follow)
{
    uint32_t size = follow->queue_size * 2;
    uint32_t *queue = size ? arena_map(size * sizeof(*queue)) : NULL;
    if (!queue) {
        return false;
    }
    for (uint32_t i = 0; i < follow->queue_count; i++) {
        queue[i] = follow->queue[(follow->queue_first + i) & (follow->queue_size - 1)];
    }
    arena_unmap(follow->queue, follow->queue_size * sizeof(*queue));
    follow->queue = queue;
    follow->queue_size = size;
    follow->queue_first = 0;
    return true;
}

static bool
put_event(struct follow *follow, uint32_t record, enum follow_event event)
{
    if (follow->queue_count == follow->queue_size && !grow_queue(follow)) {
        follow->lost++;
        return false;
    }
    uint32_t place =
        (follow->queue_first + follow->queue_count) & (follow->queue_size - 1);
    follow->queue[place] = record << 1 | (event == FOLLOW_FREED);
    follow->queue_count++;
    return true;
}

static uint32_t
take_record(struct follow *follow)
{
    uint32_t number = follow->free_record;
    if (number) {
        follow->free_record = record_at(follow, number)->next;
        return number;
    }
    number = follow->record_count;
    if (number == NUMBERS_MAX ||
        !map_row((void **)&follow->records[number / FOLLOW_SEGMENT],
                 sizeof(struct follow_record))) {
        follow->lost++;
        return 0;
    }
    follow->record_count++;
    return number;
}

// A record for each listener of the class; the first one's number, 0 for none.
static uint32_t
add_records(struct follow *follow, const struct class_entry *entry, uint32_t lot)
{
    uint32_t first = 0;
    uint32_t listener = entry->listener;
    for (; listener; listener = follow->listeners[listener].next) {
        uint32_t number = take_record(follow);
        if (!number) {
            break;
        }
        *record_at(follow, number) =
            (struct follow_record){.listener = listener, .lot = lot, .next = first};
        if (!put_event(follow, number, FOLLOW_BORN)) {
            follow_forget(follow, number);
            break;
        }
        first = number;
    }
    return first;
}

uint32_t
follow_listen(struct follow *follow, struct registry *registry, uint32_t class_index)
{
    uint32_t number = follow->listener_count ? follow->listener_count : 1;
    struct follow_listener *listeners =
        realloc(follow->listeners, (number + 1) * sizeof(*listeners));
    if (!listeners) {
        return 0;
    }
    struct class_entry *entry = registry_class(registry, class_index);
    listeners[number] = (struct follow_listener){class_index, entry->id, entry->listener};
    entry->listener = number;
    follow->listeners = listeners;
    follow->listener_count = number + 1;
    return number;
}

void
follow_unlisten(struct follow *follow, struct registry *registry, uint32_t listener)
{
    struct follow_listener *leaving = &follow->listeners[listener];
    struct class_entry *entry = registry_class(registry, leaving->class_index);
    if (!leaving->id || entry->id != leaving->id) {
        return;
    }
    uint32_t *place = &entry->listener;
    while (*place && *place != listener) {
        place = &follow->listeners[*place].next;
    }
    *place = *place ? leaving->next : 0;
    leaving->id = 0;
}

bool
follow_next(struct follow *follow, enum follow_event *event, uint32_t *record)
{
    if (!follow->queue_count) {
        return false;
    }
    uint32_t entry = follow->queue[follow->queue_first];
    follow->queue_first = (follow->queue_first + 1) & (follow->queue_size - 1);
    follow->queue_count--;
    *record = entry >> 1;
    *event = entry & 1 ? FOLLOW_FREED : FOLLOW_BORN;
    return true;
}

void
follow_forget(struct follow *follow, uint32_t record)
{
    record_at(follow, record)->next = follow->free_record;
    follow->free_record = record;
}

uint32_t
follow_listener_of(const struct follow *follow, uint32_t record)
{
    return record_at(follow, record)->listener;
}

void
follow_mute(struct follow *follow, bool on)
{
    follow->muted_thread = pthread_self();
    follow->muted = on;
}

static bool
is_muted(const struct follow *follow)
{
    return follow->muted && pthread_equal(follow->muted_thread, pthread_self());
}

/* Births and frees. */

void
follow_born(struct follow *follow, const struct registry *registry, uint32_t class_index,
            uintptr_t address)
{
    const struct class_entry *entry = registry_class(registry, class_index);
    if (!entry->followers || is_muted(follow)) {
        return;
    }
    uint32_t lot = lot_of(follow, registry, class_index);
    shadow_entry *place = lot ? shadow_place(&follow->shadow, address) : NULL;
    if (!place) {
        follow->lost++;
        return;
    }
    uint32_t record = entry->listener ? add_records(follow, entry, lot) : 0;
    *place = pack(record ? record | RECORD_BIT : lot, address);
    lot_at(follow, lot)->allocated++;
}

// The next record is read before the event: who takes that may forget this one.
static uint32_t
free_records(struct follow *follow, uint32_t first)
{
    uint32_t lot = record_at(follow, first)->lot;
    for (uint32_t number = first, next; number; number = next) {
        next = record_at(follow, number)->next;
        put_event(follow, number, FOLLOW_FREED);
    }
    return lot;
}

static uint32_t
lot_behind(const struct follow *follow, shadow_entry entry)
{
    uint32_t number = number_of(entry);
    return number & RECORD_BIT ? record_at(follow, number & ~RECORD_BIT)->lot : number;
}

static void
free_entry(struct follow *follow, shadow_entry *place)
{
    uint32_t number = number_of(*place);
    *place = 0;
    uint32_t lot =
        number & RECORD_BIT ? free_records(follow, number & ~RECORD_BIT) : number;
    lot_at(follow, lot)->freed++;
}

void
follow_freed(struct follow *follow, uintptr_t address)
{
    shadow_entry *place = follow->active ? shadow_find(&follow->shadow, address) : NULL;
    if (place && *place) {
        free_entry(follow, place);
    }
}

struct move {
    struct follow *follow;
    uintptr_t (*moved)(uintptr_t address);
    bool failed;
};

static void
move_entry(void *context, uintptr_t address, shadow_entry *entry)
{
    struct move *move = context;
    uintptr_t now = move->moved(address);
    if (now == address) {
        return;
    }
    uint32_t number = number_of(*entry);
    shadow_entry *place = shadow_place(&move->follow->shadow, now);
    if (!place) {
        move->failed = true;
        return;
    }
    *entry = 0;
    if (*place) {
        free_entry(move->follow, place);
    }
    *place = pack(number, now);
}

bool
follow_compacted(struct follow *follow, uintptr_t (*moved)(uintptr_t address))
{
    struct move move = {.follow = follow, .moved = moved};
    if (follow->active) {
        shadow_each(&follow->shadow, 0, UINTPTR_MAX, move_entry, &move);
    }
    return !move.failed;
}

/* Figures. */

static bool
is_within(const struct follow_lot *lot, struct follow_spans spans)
{
    return lot->span >= spans.from && lot->span < spans.to;
}

static void
add_counts(void *context, const struct follow_lot *lot)
{
    struct follow_counts *counts = context;
    counts->allocated += lot->allocated;
    counts->freed += lot->freed;
}

void
follow_each_lot(const struct follow *follow, struct follow_spans spans,
                void (*visit)(void *context, const struct follow_lot *lot), void *context)
{
    for (uint32_t i = 1; i < follow->lot_count; i++) {
        if (is_within(lot_at(follow, i), spans)) {
            visit(context, lot_at(follow, i));
        }
    }
}

struct follow_counts
follow_count(const struct follow *follow, const struct registry *registry,
             uint32_t class_index, struct follow_spans spans)
{
    struct follow_counts counts = {0};
    if (class_index == FOLLOW_ALL_CLASSES) {
        follow_each_lot(follow, spans, add_counts, &counts);
        return counts;
    }
    uint32_t number = registry_class(registry, class_index)->lot;
    while (number && lot_at(follow, number)->span >= spans.from) {
        if (is_within(lot_at(follow, number), spans)) {
            add_counts(&counts, lot_at(follow, number));
        }
        number = lot_at(follow, number)->older;
    }
    return counts;
}

struct search {
    struct follow *follow;
    uint32_t class_index;
    struct follow_spans spans;
    void (*visit)(void *context, uintptr_t address, uint32_t class_index);
    void *context;
};

// As shadow_each() wants it.
static void
visit_if_wanted(void *context, uintptr_t address,
                shadow_entry *entry) // NOLINT(readability-non-const-parameter)
{
    const struct search *search = context;
    const struct follow_lot *lot =
        lot_at(search->follow, lot_behind(search->follow, *entry));
    bool wanted = search->class_index == FOLLOW_ALL_CLASSES ||
                  search->class_index == lot->class_index;
    if (wanted && is_within(lot, search->spans)) {
        search->visit(search->context, address, lot->class_index);
    }
}

void
follow_each(struct follow *follow, uint32_t class_index, struct follow_spans spans,
            void (*visit)(void *context, uintptr_t address, uint32_t class_index),
            void *context)
{
    struct search search = {follow, class_index, spans, visit, context};
    if (follow->active) {
        shadow_each(&follow->shadow, 0, UINTPTR_MAX, visit_if_wanted, &search);
    }
}

size_t
follow_bytes(const struct follow *follow)
{
    uint32_t lots = (follow->lot_count + FOLLOW_SEGMENT - 1) / FOLLOW_SEGMENT;
    uint32_t records = (follow->record_count + FOLLOW_SEGMENT - 1) / FOLLOW_SEGMENT;
    return follow->active
               ? shadow_bytes(&follow->shadow) + follow->queue_size * sizeof(uint32_t) +
                     lots * FOLLOW_SEGMENT * sizeof(struct follow_lot) +
                     records * FOLLOW_SEGMENT * sizeof(struct follow_record)
               : 0;
}
