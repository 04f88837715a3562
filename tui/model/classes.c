#include "tui/model/classes.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64

static void
free_entry(struct entry *entry)
{
    history_destroy(&entry->history);
    free(entry->name);
    free(entry->reason);
    free(entry);
}

void
classes_destroy(struct classes *classes)
{
    for (size_t i = 0; i < classes->count && classes->block == NULL; i++) {
        free_entry(classes->list[i]);
    }
    free(classes->block);
    free(classes->list);
    free(classes->slots);
    free(classes->free_slots);
    index_destroy(&classes->ids);
    index_destroy(&classes->orphans);
    *classes = (struct classes){0};
}

struct entry *
classes_find(const struct classes *classes, class_id id)
{
    size_t cursor = 0;
    uint32_t slot = index_next(&classes->ids, id, &cursor);
    return slot != INDEX_NONE ? classes->slots[slot] : NULL;
}

static bool
grow(struct classes *classes)
{
    if (classes->count < classes->capacity) {
        return true;
    }
    size_t capacity = classes->capacity != 0 ? classes->capacity * 2 : CAPACITY_MIN;
    struct entry **list = realloc(classes->list, capacity * sizeof *list);
    if (list != NULL) {
        classes->list = list;
    }
    struct entry **slots = realloc(classes->slots, capacity * sizeof *slots);
    if (slots != NULL) {
        classes->slots = slots;
    }
    uint32_t *unused = realloc(classes->free_slots, capacity * sizeof *unused);
    if (unused != NULL) {
        classes->free_slots = unused;
    }
    if (list == NULL || slots == NULL || unused == NULL) {
        return false;
    }
    classes->capacity = capacity;
    return true;
}

struct entry *
classes_add(struct classes *classes, class_id id)
{
    if (classes->count >= MODEL_CLASSES_MAX || !grow(classes) ||
        !index_reserve(&classes->ids, 1)) {
        return NULL;
    }
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        return NULL;
    }
    uint32_t slot = classes->free_count > 0 ? classes->free_slots[--classes->free_count]
                                            : (uint32_t)classes->slot_count++;
    entry->class = (struct model_class){
        .id = id,
        .slot = slot,
        .serial = ++classes->serial,
        .name = "",
        .reason = "",
        .ages = {NAN,            NAN,           NAN,           NAN          },
        .now = { id, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN},
    };
    entry->position = (uint32_t)classes->count;
    classes->slots[slot] = entry;
    classes->list[classes->count++] = entry;
    index_put(&classes->ids, id, slot);
    classes->version++;
    return entry;
}

void
classes_name(struct classes *classes, struct entry *entry, char *name, uint32_t flags)
{
    free(entry->name);
    entry->name = name;
    entry->name_bytes =
        (uint32_t)strlen(name) + 1; // names have a maximum in the protocol
    entry->class.name = name;
    entry->class.flags = flags;
    classes->version++;
}

static double
known(uint64_t count)
{
    return count == COUNT_UNKNOWN ? (double)NAN : (double)count;
}

void
classes_judge(struct entry *entry, const struct verdict_row *row, char *reason)
{
    free(entry->reason);
    entry->reason = reason;
    entry->reason_bytes = (uint32_t)strlen(reason) + 1;
    entry->class.reason = reason;
    entry->class.verdict = row->verdict;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        entry->class.ages[i] = known(row->ages[i]);
    }
}

static void
forget_orphan(struct classes *classes, struct entry *entry)
{
    if (entry->orphan) {
        index_remove(&classes->orphans, index_hash(INDEX_HASH, entry->class.name),
                     entry->class.slot);
        entry->orphan = false;
        classes->orphan_count--;
    }
}

void
classes_remove(struct classes *classes, struct entry *entry)
{
    struct entry *last = classes->list[classes->count - 1];
    if (!entry->orphan) {
        index_remove(&classes->ids, entry->class.id, entry->class.slot);
    }
    forget_orphan(classes, entry);
    classes->list[entry->position] = last;
    last->position = entry->position;
    classes->count--;
    classes->slots[entry->class.slot] = NULL;
    classes->free_slots[classes->free_count++] = entry->class.slot;
    free_entry(entry);
    classes->version++;
}

void
classes_remove_since(struct classes *classes, uint32_t serial)
{
    for (size_t i = classes->count; i-- > 0;) {
        if (classes->list[i]->class.serial > serial) {
            classes_remove(classes, classes->list[i]);
        }
    }
}

void
classes_orphan(struct classes *classes)
{
    index_clear(&classes->ids);
    index_clear(&classes->orphans);
    for (size_t i = 0; i < classes->count; i++) {
        classes->list[i]->orphan = true;
    }
    classes->orphan_count = classes->count;
}

bool
classes_forsake(struct classes *classes, struct entry *entry, class_id former)
{
    bool built = classes->orphans.count > 0;
    if (built && !index_reserve(&classes->orphans, 1)) {
        return false;
    }
    if (built) {
        index_put(&classes->orphans, index_hash(INDEX_HASH, entry->class.name),
                  entry->class.slot);
    }
    index_remove(&classes->ids, entry->class.id, entry->class.slot);
    entry->class.id = former;
    entry->class.now.id = former;
    entry->orphan = true;
    classes->orphan_count++;
    return true;
}

bool
classes_prepare_adoption(struct classes *classes)
{
    if (classes->orphan_count == 0 || classes->orphans.count > 0) {
        return true;
    }
    if (!index_reserve(&classes->orphans, classes->orphan_count)) {
        return false;
    }
    for (size_t i = 0; i < classes->count; i++) {
        const struct entry *entry = classes->list[i];
        if (entry->orphan) {
            index_put(&classes->orphans, index_hash(INDEX_HASH, entry->class.name),
                      entry->class.slot);
        }
    }
    return true;
}

// Whether stacks are taken is no matter of what a class is.
static bool
same_kind(uint32_t flags, uint32_t other)
{
    return ((flags ^ other) & (CLASS_INTERNAL | CLASS_ANONYMOUS)) == 0;
}

// Of several the one that came first: which one it is must not hang on what else came
// and went.
static struct entry *
find_orphan(const struct classes *classes, const char *name, uint32_t flags)
{
    struct entry *found = NULL;
    uint64_t hash = index_hash(INDEX_HASH, name);
    size_t cursor = 0;
    for (uint32_t slot;
         (slot = index_next(&classes->orphans, hash, &cursor)) != INDEX_NONE;) {
        struct entry *entry = classes->slots[slot];
        bool earlier = found == NULL || entry->class.serial < found->class.serial;
        if (earlier && same_kind(entry->class.flags, flags) &&
            strcmp(entry->class.name, name) == 0) {
            found = entry;
        }
    }
    return found;
}

struct entry *
classes_adopt(struct classes *classes, class_id id, const char *name, uint32_t flags)
{
    struct entry *entry = find_orphan(classes, name, flags);
    if (entry == NULL || !index_reserve(&classes->ids, 1)) {
        return NULL;
    }
    forget_orphan(classes, entry);
    entry->class.id = id;
    entry->class.now.id = id;
    entry->class.flags = flags;
    index_put(&classes->ids, id, entry->class.slot);
    return entry;
}

// Entries of a copy lie one after another, at addresses good for any of them.
static size_t
aligned(size_t size)
{
    size_t to = _Alignof(max_align_t);
    return (size + to - 1) / to * to;
}

// Bytes of an entry in a copy, its name and history included.
static size_t
copied_bytes(const struct entry *entry)
{
    return aligned(aligned(sizeof *entry) + history_bytes(&entry->history) +
                   entry->name_bytes + entry->reason_bytes);
}

// Copy an entry and what it owns to `to`; returns it.
static struct entry *
copy_entry(const struct entry *entry, char *to)
{
    struct entry *copy = (struct entry *)(void *)to;
    char *points = to + aligned(sizeof *entry);
    char *name = points + history_bytes(&entry->history);
    *copy = *entry;
    copy->history = history_copy(&entry->history, points);
    if (entry->name != NULL) {
        memcpy(name, entry->name, entry->name_bytes);
        copy->name = name;
        copy->class.name = name;
    }
    if (entry->reason != NULL) {
        char *reason = name + entry->name_bytes;
        memcpy(reason, entry->reason, entry->reason_bytes);
        copy->reason = reason;
        copy->class.reason = reason;
    }
    return copy;
}

bool
classes_copy(struct classes *copy, const struct classes *classes)
{
    size_t bytes = 1;
    for (size_t i = 0; i < classes->count; i++) {
        bytes += copied_bytes(classes->list[i]);
    }
    *copy = (struct classes){0};
    struct classes made = {
        .block = malloc(bytes),
        .list = calloc(classes->count + 1, sizeof *made.list),
        .slots = calloc(classes->slot_count + 1, sizeof *made.slots),
    };
    if (made.block == NULL || made.list == NULL || made.slots == NULL ||
        !index_copy(&made.ids, &classes->ids)) {
        classes_destroy(&made);
        return false;
    }
    char *to = made.block;
    for (size_t i = 0; i < classes->count; i++) {
        made.list[i] = copy_entry(classes->list[i], to);
        made.slots[made.list[i]->class.slot] = made.list[i];
        to += copied_bytes(classes->list[i]);
    }
    made.count = classes->count;
    made.slot_count = classes->slot_count;
    made.serial = classes->serial;
    made.version = classes->version;
    *copy = made;
    return true;
}
