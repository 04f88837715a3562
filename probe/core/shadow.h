/*
 * The shadow table: for every slot of the watched heap, the site that
 * allocated the object in it.
 *
 * Heap slots are at least 32 bytes apart, so an address is turned into a place
 * by arithmetic alone: bits 47..32 pick a middle table, bits 31..16 a leaf of
 * 64 KiB of heap, bits 15..5 one of its 2048 entries. No hash, no growth pause,
 * no memory per object: a leaf is 8 KiB, which is 5 bytes a slot of 40. An entry
 * holds the site, the epoch of birth (birth.h) and where in its 32 bytes it begins.
 *
 * One thread writes at a time (the one that holds the GVL); nobody else reads.
 */
#ifndef PROBE_CORE_SHADOW_H
#define PROBE_CORE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t site_id; // 0 is no site

#define SHADOW_BLOCK_BYTES 65536u // of heap under one leaf
#define SHADOW_SLOT_BYTES 32u     // the least distance of two objects
#define SHADOW_LEAF_ENTRIES (SHADOW_BLOCK_BYTES / SHADOW_SLOT_BYTES)
#define SHADOW_TABLE_ENTRIES 65536u // of the top and of each middle table
#define SHADOW_SITE_MAX ((1u << 22) - 1)

typedef uint32_t shadow_entry; // 0 is untracked

struct shadow_leaf {
    shadow_entry entries[SHADOW_LEAF_ENTRIES];
};

struct shadow_middle {
    struct shadow_leaf *leaves[SHADOW_TABLE_ENTRIES];
};

struct shadow {
    struct shadow_middle **top; // owned, SHADOW_TABLE_ENTRIES
    struct shadow_leaf *spare;  // emptied leaves, linked through their first bytes
    unsigned char *chunk;       // where the next leaf is cut from
    size_t chunk_left;
    void *chunks;       // owned: every chunk, linked
    size_t leaf_count;  // in use
    size_t chunk_count; // mapped
};

// context: gvl. False when the kernel has no memory.
bool shadow_init(struct shadow *shadow);
void shadow_destroy(struct shadow *shadow);

// context: hook. Map the leaf of `address`; NULL when memory ran out or when
// `address` is none of user space.
struct shadow_leaf *shadow_grow(struct shadow *shadow, uintptr_t address);

// context: any. An entry for the object at `address`; its site and epoch again.
static inline shadow_entry
shadow_pack(site_id site, uint32_t epoch, uintptr_t address)
{
    return site << 10 | epoch << 2 | (shadow_entry)((address >> 3) & 3);
}

static inline site_id
shadow_site(shadow_entry entry)
{
    return entry >> 10;
}

static inline uint32_t
shadow_epoch(shadow_entry entry)
{
    return entry >> 2 & 0xff;
}

// context: any. The same entry, of another epoch.
static inline shadow_entry
shadow_in_epoch(shadow_entry entry, uint32_t epoch)
{
    return (entry & ~(shadow_entry)(0xff << 2)) | epoch << 2;
}

// context: hook. The entry of `address`, NULL when nothing near was entered.
static inline shadow_entry *
shadow_find(const struct shadow *shadow, uintptr_t address)
{
    const struct shadow_middle *middle = shadow->top[(address >> 32) & 0xffff];
    if (!middle) {
        return NULL;
    }
    struct shadow_leaf *leaf = middle->leaves[(address >> 16) & 0xffff];
    return leaf ? &leaf->entries[(address & 0xffff) / SHADOW_SLOT_BYTES] : NULL;
}

// context: hook. The entry of `address`, made if need be; NULL without memory.
static inline shadow_entry *
shadow_place(struct shadow *shadow, uintptr_t address)
{
    shadow_entry *entry = shadow_find(shadow, address);
    if (entry) {
        return entry;
    }
    struct shadow_leaf *leaf = shadow_grow(shadow, address);
    return leaf ? &leaf->entries[(address & 0xffff) / SHADOW_SLOT_BYTES] : NULL;
}

// context: gvl. Call `visit` for every entry that is set in [from, to), in
// order of address. `visit` may clear or set entries anywhere.
void shadow_each(struct shadow *shadow, uintptr_t from, uintptr_t to,
                 void (*visit)(void *context, uintptr_t address, shadow_entry *entry),
                 void *context);

// context: gvl. Keep the leaves that hold nothing for use elsewhere.
void shadow_reclaim(struct shadow *shadow);

// context: any. Bytes mapped for leaves and tables.
size_t shadow_bytes(const struct shadow *shadow);

#endif
