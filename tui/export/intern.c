#include "tui/export/intern.h"

#include <stdlib.h>
#include <string.h>

#include "tui/model/index.h"

static uint64_t
hash_of(struct intern_key key)
{
    uint64_t hash = index_hash(INDEX_HASH, key.text);
    hash = index_hash(hash, key.file);
    return index_hash_number(hash, key.number);
}

static bool
same(struct intern_key a, struct intern_key b)
{
    return a.number == b.number && strcmp(a.text, b.text) == 0 &&
           strcmp(a.file, b.file) == 0;
}

static bool
reserve(struct intern *intern)
{
    if (!index_reserve(&intern->index, 1)) {
        return false;
    }
    if (intern->count < intern->capacity) {
        return true;
    }
    uint32_t capacity = intern->capacity > 0 ? 2 * intern->capacity : 64;
    void *keys = capacity > intern->count
                     ? realloc(intern->keys, capacity * sizeof(*intern->keys))
                     : NULL;
    if (!keys) {
        return false;
    }
    intern->keys = keys;
    intern->capacity = capacity;
    return true;
}

// Both texts in one piece of memory.
static bool
keep(struct intern_key *kept, struct intern_key key)
{
    size_t text = strlen(key.text) + 1;
    size_t file = strlen(key.file) + 1;
    char *bytes = malloc(text + file);
    if (!bytes) {
        return false;
    }
    memcpy(bytes, key.text, text);
    memcpy(bytes + text, key.file, file);
    *kept = (struct intern_key){bytes, bytes + text, key.number};
    return true;
}

bool
intern_find(struct intern *intern, struct intern_key key, uint32_t *number)
{
    uint64_t hash = hash_of(key);
    size_t cursor = 0;

    while ((*number = index_next(&intern->index, hash, &cursor)) != INDEX_NONE) {
        if (same(intern->keys[*number], key)) {
            return true;
        }
    }
    if (!reserve(intern) || !keep(&intern->keys[intern->count], key)) {
        return false;
    }
    *number = intern->count++;
    index_put(&intern->index, hash, *number);
    return true;
}

void
intern_destroy(struct intern *intern)
{
    for (uint32_t i = 0; i < intern->count; i++) {
        free((char *)intern->keys[i].text);
    }
    free(intern->keys);
    index_destroy(&intern->index);
    *intern = (struct intern){.count = 0};
}
