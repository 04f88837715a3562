/*
 * What the program says it is doing: "route=orders#show", "job=Mailer tenant=acme".
 *
 * A tag is a set of keys with a value each, known by a small number that never means
 * another: 0 is no tag. Within a tag, another one replaces the value of the keys they
 * share and keeps the rest. There are at most TAGS_MAX of them; what comes when there is
 * no room, or no memory, is TAG_OTHER.
 *
 * Which tag a thread is in is the runtime's to know (probe/ruby/tagging.h); what was
 * allocated under one is counted by sites that carry its number (trace.h). Here are the
 * names, and how often each was entered. They outlast the counts and the probe: numbers
 * are on stacks and in fibers of the program.
 *
 * Written under the GVL. Read by the server without it, below the count it loads first.
 */
#ifndef PROBE_CORE_TAGS_H
#define PROBE_CORE_TAGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAGS_MAX 4096u // numbers, the two below included
#define TAG_NONE 0u
#define TAG_OTHER 1u // "(other)": no room for more
#define TAGS_FIRST 2u

#define TAG_KEY_MAX 64u    // bytes of a key; the rest is cut off
#define TAG_VALUE_MAX 200u // and of a value
#define TAG_PAIRS_MAX 8u   // what comes after is left out

struct tag_pair {
    const char *key; // borrowed, as is the value; not terminated
    size_t key_length;
    const char *value;
    size_t value_length;
};

struct tag_entry {
    char
        *text; // owned: "key=value" in order of the keys, a line each, the last not ended
    size_t length;
    uint32_t hash;
    _Atomic uint64_t calls;  // entered, and left again
    _Atomic uint64_t active; // entered, and not yet left
};

struct tags {
    struct tag_entry *entries; // owned, TAGS_MAX of them once one was asked for
    uint16_t *slots;           // owned: numbers by their text's hash, open addressing
    _Atomic uint32_t count;    // numbers below it are there; 0 before the first
    _Atomic uint64_t refused;  // asked for when there was no room
};

// Tags start as all zeroes; destroying them twice is harmless.
void tags_destroy(struct tags *tags);

// context: gvl. The number of the tag that `pairs` make within `current`. A key's bytes
// other than letters, digits and "_-.:" become "_", a value's control characters "?".
// Never 0 but for no pairs outside any tag.
uint32_t tags_find(struct tags *tags, uint32_t current, const struct tag_pair *pairs,
                   size_t count);

// context: gvl. A tag is entered; it is left, as `calls` counts; another takes its place
// before it is left. 0 is harmless.
void tags_enter(struct tags *tags, uint32_t tag);
void tags_leave(struct tags *tags, uint32_t tag);
void tags_switch(struct tags *tags, uint32_t from, uint32_t to);

// context: gvl, in a child just forked, whose only thread is in `current`: whoever else
// was in a tag is not here.
void tags_forked(struct tags *tags, uint32_t current);

// context: any, for numbers from TAG_OTHER below the count.
static inline const struct tag_entry *
tags_entry(const struct tags *tags, uint32_t tag)
{
    return &tags->entries[tag];
}

#endif
