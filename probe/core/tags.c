#include "probe/core/tags.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * TAGS_MAX)
#define TEXT_MAX (TAG_PAIRS_MAX * (TAG_KEY_MAX + TAG_VALUE_MAX + 2))

void
tags_destroy(struct tags *tags)
{
    for (uint32_t i = TAG_OTHER; i < tags->count; i++) {
        free(tags->entries[i].text);
    }
    free(tags->entries);
    free(tags->slots);
    *tags = (struct tags){0};
}

/* A tag's text. */

struct pair {
    char key[TAG_KEY_MAX];
    size_t key_length;
    char value[TAG_VALUE_MAX];
    size_t value_length;
};

struct set {
    struct pair pairs[TAG_PAIRS_MAX]; // in order of the keys
    size_t count;
};

static bool
is_key_byte(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte && strchr("_-.:", byte)) || byte >= 0x80;
}

// Not within a character of UTF-8.
static size_t
cut(const char *bytes, size_t length, size_t most)
{
    if (length <= most) {
        return length;
    }
    while (most > 0 && ((unsigned char)bytes[most] & 0xc0) == 0x80) {
        most--;
    }
    return most;
}

static void
clean(struct pair *pair, const struct tag_pair *given)
{
    pair->key_length = cut(given->key, given->key_length, TAG_KEY_MAX);
    pair->value_length = cut(given->value, given->value_length, TAG_VALUE_MAX);
    for (size_t i = 0; i < pair->key_length; i++) {
        unsigned char byte = (unsigned char)given->key[i];
        pair->key[i] = is_key_byte(byte) ? given->key[i] : '_';
    }
    for (size_t i = 0; i < pair->value_length; i++) {
        unsigned char byte = (unsigned char)given->value[i];
        pair->value[i] = byte < 0x20 || byte == 0x7f ? '?' : given->value[i];
    }
}

static int
compare_keys(const struct pair *a, const struct pair *b)
{
    size_t shorter = a->key_length < b->key_length ? a->key_length : b->key_length;
    int order = memcmp(a->key, b->key, shorter);
    return order ? order
                 : (a->key_length > b->key_length) - (a->key_length < b->key_length);
}

// Replaces the value of a key that is there.
static void
put(struct set *set, const struct tag_pair *given)
{
    struct pair pair;
    clean(&pair, given);
    size_t place = 0;
    while (place < set->count && compare_keys(&set->pairs[place], &pair) < 0) {
        place++;
    }
    bool same = place < set->count && compare_keys(&set->pairs[place], &pair) == 0;
    if (!same && set->count == TAG_PAIRS_MAX) {
        return;
    }
    if (!same) {
        memmove(&set->pairs[place + 1], &set->pairs[place],
                (set->count - place) * sizeof(pair));
        set->count++;
    }
    set->pairs[place] = pair;
}

// Take a tag's text apart again.
static void
put_text(struct set *set, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        const char *stop = line ? line : end;
        const char *equals = memchr(text, '=', (size_t)(stop - text));
        if (equals) {
            put(set, &(struct tag_pair){text, (size_t)(equals - text), equals + 1,
                                        (size_t)(stop - equals - 1)});
        }
        text = stop + 1;
    }
}

static size_t
write_text(const struct set *set, char *text)
{
    size_t length = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct pair *pair = &set->pairs[i];
        if (i > 0) {
            text[length++] = '\n';
        }
        memcpy(text + length, pair->key, pair->key_length);
        length += pair->key_length;
        text[length++] = '=';
        memcpy(text + length, pair->value, pair->value_length);
        length += pair->value_length;
    }
    return length;
}

/* Numbers. */

static uint32_t
hash_of(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static bool
add(struct tags *tags, uint32_t tag, const char *text, size_t length)
{
    struct tag_entry *entry = &tags->entries[tag];
    entry->text = malloc(length + 1);
    if (!entry->text) {
        return false;
    }
    memcpy(entry->text, text, length);
    entry->text[length] = '\0';
    entry->length = length;
    entry->hash = hash_of(text, length);
    atomic_store_explicit(&tags->count, tag + 1, memory_order_release);
    return true;
}

static bool
begin(struct tags *tags)
{
    static const char other[] = "(other)";
    if (tags->count) {
        return true;
    }
    tags->entries = calloc(TAGS_MAX, sizeof(*tags->entries));
    tags->slots = calloc(SLOTS, sizeof(*tags->slots));
    if (tags->entries && tags->slots && add(tags, TAG_OTHER, other, sizeof(other) - 1)) {
        return true;
    }
    free(tags->entries);
    free(tags->slots);
    tags->entries = NULL;
    tags->slots = NULL;
    return false;
}

static uint32_t
number_of(struct tags *tags, const char *text, size_t length)
{
    uint32_t hash = hash_of(text, length);
    uint32_t place = hash & (SLOTS - 1);
    for (; tags->slots[place]; place = (place + 1) & (SLOTS - 1)) {
        const struct tag_entry *entry = &tags->entries[tags->slots[place]];
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->text, text, length) == 0) {
            return tags->slots[place];
        }
    }
    uint32_t tag = tags->count;
    if (tag == TAGS_MAX || !add(tags, tag, text, length)) {
        tags->refused++;
        return TAG_OTHER;
    }
    tags->slots[place] = (uint16_t)tag;
    return tag;
}

uint32_t
tags_find(struct tags *tags, uint32_t current, const struct tag_pair *pairs, size_t count)
{
    struct set set = {.count = 0};
    char text[TEXT_MAX];
    if (count == 0) {
        return current;
    }
    if (!begin(tags)) {
        return TAG_NONE;
    }
    if (current >= TAGS_FIRST) {
        put_text(&set, tags->entries[current].text, tags->entries[current].length);
    }
    for (size_t i = 0; i < count; i++) {
        put(&set, &pairs[i]);
    }
    return number_of(tags, text, write_text(&set, text));
}

/* Calls. */

static void
count_down(_Atomic uint64_t *counter)
{
    if (*counter) { // a child of a fork leaves what its parent entered
        (*counter)--;
    }
}

void
tags_enter(struct tags *tags, uint32_t tag)
{
    if (tag) {
        tags->entries[tag].active++;
    }
}

void
tags_leave(struct tags *tags, uint32_t tag)
{
    if (tag) {
        count_down(&tags->entries[tag].active);
        tags->entries[tag].calls++;
    }
}

void
tags_switch(struct tags *tags, uint32_t from, uint32_t to)
{
    if (from) {
        count_down(&tags->entries[from].active);
    }
    tags_enter(tags, to);
}

void
tags_forked(struct tags *tags, uint32_t current)
{
    for (uint32_t i = TAG_OTHER; i < tags->count; i++) {
        tags->entries[i].active = 0;
    }
    tags_enter(tags, current);
}
