#include "tui/record/keys.h"

#include <stdlib.h>
#include <string.h>

void
keys_destroy(struct keys *keys)
{
    free(keys->list);
    *keys = (struct keys){0};
}

bool
keys_add(struct keys *keys, const struct tape_key *key)
{
    if (keys->count == KEYS_MAX) {
        return true;
    }
    if (keys->count == keys->room) {
        size_t room = keys->room == 0 ? 64 : keys->room * 2;
        struct tape_key *grown = realloc(keys->list, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        keys->list = grown;
        keys->room = room;
    }
    keys->list[keys->count++] = *key;
    return true;
}

void
keys_reverse(struct keys *keys)
{
    for (size_t i = 0; i < keys->count / 2; i++) {
        struct tape_key *one = &keys->list[i];
        struct tape_key *other = &keys->list[keys->count - 1 - i];
        struct tape_key held = *one;
        *one = *other;
        *other = held;
    }
}

void
keys_drop_before(struct keys *keys, uint64_t offset)
{
    size_t gone = 0;
    while (gone < keys->count && keys->list[gone].offset < offset) {
        gone++;
    }
    if (gone > 0) {
        keys->count -= gone;
        memmove(keys->list, keys->list + gone, keys->count * sizeof *keys->list);
    }
}

void
keys_shift(struct keys *keys, uint64_t by)
{
    for (size_t i = 0; i < keys->count; i++) {
        keys->list[i].offset += by;
    }
}

struct tape_key
key_of(const struct message *begin, uint64_t offset)
{
    const struct key_group *key = &begin->key;
    return (struct tape_key){offset,         key->ordinal,  begin->at, key->live,
                             key->rss_bytes, key->gc_count, key->mode};
}

const struct tape_key *
keys_same(const struct keys *keys, const struct tape_key *key)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct tape_key *other = &keys->list[i];
        if (other->ordinal == key->ordinal && other->at.wall_us == key->at.wall_us &&
            other->at.monotonic_us == key->at.monotonic_us) {
            return other;
        }
    }
    return NULL;
}
