#include "probe/core/shadow.h"

#include "probe/core/arena.h"

#define TOP_BYTES (SHADOW_TABLE_ENTRIES * sizeof(struct shadow_middle *))
#define CHUNK_BYTES ((size_t)1024 * 1024)
#define ADDRESS_BITS 48

// What a leaf holds while it is spare.
struct spare_link {
    struct shadow_leaf *next;
};

// The head of a chunk; leaves follow, each on a boundary of its own size.
struct chunk {
    struct chunk *next;
};

bool
shadow_init(struct shadow *shadow)
{
    *shadow = (struct shadow){.top = arena_map(TOP_BYTES)};
    return shadow->top != NULL;
}

void
shadow_destroy(struct shadow *shadow)
{
    if (!shadow->top) {
        return;
    }
    for (size_t i = 0; i < SHADOW_TABLE_ENTRIES; i++) {
        arena_unmap(shadow->top[i], sizeof(struct shadow_middle));
    }
    for (struct chunk *chunk = shadow->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        arena_unmap(chunk, CHUNK_BYTES);
    }
    arena_unmap((void *)shadow->top, TOP_BYTES);
    *shadow = (struct shadow){0};
}

static bool
add_chunk(struct shadow *shadow)
{
    struct chunk *chunk = arena_map(CHUNK_BYTES);
    if (!chunk) {
        return false;
    }
    chunk->next = shadow->chunks;
    shadow->chunks = chunk;
    shadow->chunk_count++;
    shadow->chunk = (unsigned char *)chunk + sizeof(struct shadow_leaf);
    shadow->chunk_left = CHUNK_BYTES - sizeof(struct shadow_leaf);
    return true;
}

static struct shadow_leaf *
take_leaf(struct shadow *shadow)
{
    struct shadow_leaf *leaf = shadow->spare;
    if (leaf) {
        struct spare_link *link = (struct spare_link *)(void *)leaf;
        shadow->spare = link->next;
        *link = (struct spare_link){0};
        return leaf;
    }
    if (shadow->chunk_left < sizeof(*leaf) && !add_chunk(shadow)) {
        return NULL;
    }
    leaf = (struct shadow_leaf *)(void *)shadow->chunk;
    shadow->chunk += sizeof(*leaf);
    shadow->chunk_left -= sizeof(*leaf);
    return leaf;
}

struct shadow_leaf *
shadow_grow(struct shadow *shadow, uintptr_t address)
{
    if (address >> ADDRESS_BITS) {
        return NULL;
    }
    struct shadow_middle **middle = &shadow->top[address >> 32];
    if (!*middle) {
        *middle = arena_map(sizeof(**middle));
        if (!*middle) {
            return NULL;
        }
    }
    struct shadow_leaf **leaf = &(*middle)->leaves[(address >> 16) & 0xffff];
    if (!*leaf) {
        *leaf = take_leaf(shadow);
        shadow->leaf_count += *leaf != NULL;
    }
    return *leaf;
}

static void
each_in_leaf(struct shadow_leaf *leaf, uintptr_t base, uintptr_t from, uintptr_t to,
             void (*visit)(void *, uintptr_t, shadow_entry *), void *context)
{
    size_t first = from > base ? (from - base) / SHADOW_SLOT_BYTES : 0;
    for (size_t i = first; i < SHADOW_LEAF_ENTRIES; i++) {
        shadow_entry *entry = &leaf->entries[i];
        if (base + i * SHADOW_SLOT_BYTES >= to) {
            break;
        }
        uintptr_t address = base + i * SHADOW_SLOT_BYTES + (*entry & 3) * 8;
        if (*entry && address >= from && address < to) {
            visit(context, address, entry);
        }
    }
}

void
shadow_each(struct shadow *shadow, uintptr_t from, uintptr_t to,
            void (*visit)(void *context, uintptr_t address, shadow_entry *entry),
            void *context)
{
    if (from >= to || from >> ADDRESS_BITS) {
        return;
    }
    uintptr_t last =
        (to - 1) >> ADDRESS_BITS ? ((uintptr_t)1 << ADDRESS_BITS) - 1 : to - 1;
    for (uintptr_t high = from >> 32; high <= last >> 32; high++) {
        struct shadow_middle *middle = shadow->top[high];
        if (!middle) {
            continue;
        }
        uintptr_t first_leaf = high == from >> 32 ? (from >> 16) & 0xffff : 0;
        uintptr_t last_leaf = high == last >> 32 ? (last >> 16) & 0xffff : 0xffff;
        for (uintptr_t i = first_leaf; i <= last_leaf; i++) {
            if (middle->leaves[i]) {
                each_in_leaf(middle->leaves[i], high << 32 | i << 16, from, to, visit,
                             context);
            }
        }
    }
}

static bool
leaf_is_empty(const struct shadow_leaf *leaf)
{
    for (size_t i = 0; i < SHADOW_LEAF_ENTRIES; i++) {
        if (leaf->entries[i]) {
            return false;
        }
    }
    return true;
}

static void
spare_leaf(struct shadow *shadow, struct shadow_leaf **place)
{
    *(struct spare_link *)(void *)*place = (struct spare_link){shadow->spare};
    shadow->spare = *place;
    *place = NULL;
    shadow->leaf_count--;
}

void
shadow_reclaim(struct shadow *shadow)
{
    for (size_t high = 0; high < SHADOW_TABLE_ENTRIES; high++) {
        struct shadow_middle *middle = shadow->top[high];
        for (size_t i = 0; middle && i < SHADOW_TABLE_ENTRIES; i++) {
            if (middle->leaves[i] && leaf_is_empty(middle->leaves[i])) {
                spare_leaf(shadow, &middle->leaves[i]);
            }
        }
    }
}

size_t
shadow_bytes(const struct shadow *shadow)
{
    return shadow->chunk_count * CHUNK_BYTES;
}
