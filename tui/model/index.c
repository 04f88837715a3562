#include "tui/model/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_CAPACITY_MIN 64

void
index_destroy(struct index *index)
{
    free(index->entries);
    *index = (struct index){0};
}

void
index_clear(struct index *index)
{
    for (size_t i = 0; i < index->capacity; i++) {
        index->entries[i].value = INDEX_NONE;
    }
    index->count = 0;
}

// Where a key would like to be.
static size_t
home(const struct index *index, uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(key >> 32) & (index->capacity - 1);
}

static size_t
after(const struct index *index, size_t at)
{
    return (at + 1) & (index->capacity - 1);
}

bool
index_reserve(struct index *index, size_t more)
{
    size_t capacity = index->capacity != 0 ? index->capacity : INDEX_CAPACITY_MIN;
    while (capacity / 2 < index->count + more) {
        capacity *= 2;
    }
    if (capacity == index->capacity) {
        return true;
    }
    struct index grown = {malloc(capacity * sizeof *grown.entries), capacity, 0};
    if (grown.entries == NULL) {
        return false;
    }
    index_clear(&grown);
    for (size_t i = 0; i < index->capacity; i++) {
        if (index->entries[i].value != INDEX_NONE) {
            index_put(&grown, index->entries[i].key, index->entries[i].value);
        }
    }
    free(index->entries);
    *index = grown;
    return true;
}

void
index_put(struct index *index, uint64_t key, uint32_t value)
{
    assert(index->count < index->capacity / 2);
    size_t at = home(index, key);
    while (index->entries[at].value != INDEX_NONE) {
        at = after(index, at);
    }
    index->entries[at] = (struct index_entry){key, value};
    index->count++;
}

uint32_t
index_next(const struct index *index, uint64_t key, size_t *cursor)
{
    while (*cursor < index->capacity) {
        size_t at = (home(index, key) + *cursor) & (index->capacity - 1);
        const struct index_entry *entry = &index->entries[at];
        if (entry->value == INDEX_NONE) {
            break;
        }
        *cursor += 1;
        if (entry->key == key) {
            return entry->value;
        }
    }
    return INDEX_NONE;
}

// Close the hole at `hole`: entries behind it move up unless that would put
// them before their home.
static void
close_hole(struct index *index, size_t hole)
{
    size_t mask = index->capacity - 1;
    for (size_t at = after(index, hole); index->entries[at].value != INDEX_NONE;
         at = after(index, at)) {
        size_t wanted = home(index, index->entries[at].key);
        if (((at - wanted) & mask) >= ((at - hole) & mask)) {
            index->entries[hole] = index->entries[at];
            hole = at;
        }
    }
    index->entries[hole].value = INDEX_NONE;
}

void
index_remove(struct index *index, uint64_t key, uint32_t value)
{
    if (index->capacity == 0) {
        return;
    }
    for (size_t at = home(index, key); index->entries[at].value != INDEX_NONE;
         at = after(index, at)) {
        if (index->entries[at].key == key && index->entries[at].value == value) {
            close_hole(index, at);
            index->count--;
            return;
        }
    }
}

bool
index_copy(struct index *copy, const struct index *index)
{
    *copy = (struct index){0};
    if (index->capacity == 0) {
        return true;
    }
    size_t bytes = index->capacity * sizeof *index->entries;
    copy->entries = malloc(bytes);
    if (copy->entries == NULL) {
        return false;
    }
    memcpy(copy->entries, index->entries, bytes);
    copy->capacity = index->capacity;
    copy->count = index->count;
    return true;
}

uint64_t
index_hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

uint64_t
index_hash(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++ != '\0');
    return hash;
}
