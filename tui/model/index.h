/*
 * A hash table from numbers to slots. A key may be there more than once: names
 * are looked up by their hash, and the caller compares.
 */
#ifndef TUI_MODEL_INDEX_H
#define TUI_MODEL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

#define INDEX_HASH UINT64_C(0xcbf29ce484222325) // where a hash begins

struct index_entry {
    uint64_t key;
    uint32_t value; // INDEX_NONE: free
};

// Starts as all zeroes; destroying it twice is harmless.
struct index {
    struct index_entry *entries; // owned
    size_t capacity;             // a power of two, or 0
    size_t count;
};

void index_destroy(struct index *index);
void index_clear(struct index *index); // keeps its memory

// Room for `more` further entries; false when memory ran out.
bool index_reserve(struct index *index, size_t more);

// Add an entry. Its room must have been reserved.
void index_put(struct index *index, uint64_t key, uint32_t value);

// Values of a key one by one, INDEX_NONE after the last. `*cursor` starts as 0.
uint32_t index_next(const struct index *index, uint64_t key, size_t *cursor);

// Remove one entry; harmless when it is not there.
void index_remove(struct index *index, uint64_t key, uint32_t value);

// False when memory ran out; `copy` is then empty.
bool index_copy(struct index *copy, const struct index *index);

// FNV-1a of a text onto a hash, the terminator included, so that two texts do not run
// together.
uint64_t index_hash(uint64_t hash, const char *text);

// A number mixed into a hash.
uint64_t index_hash_number(uint64_t hash, uint64_t number);

#endif
