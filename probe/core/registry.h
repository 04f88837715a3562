/*
 * Classes and sites: who allocated, and how much of it lives.
 *
 * A class is found by a key, the runtime's address of it (or a small odd number
 * for what is no class). A site is where objects of one class come from: counted as
 * they were allocated; found by a census, and so older than the counting; born while
 * the class is traced, but without a stack; and, of traced classes, one for each
 * call path (trace.h). Sites carry the counters.
 *
 * Written by whoever holds the GVL, the allocation hook included, with plain
 * stores to memory that never moves. Read by the server's thread without it:
 * every field it reads is atomic. Recycling is the exception and takes
 * the lock that the server holds while it reads (probe.h).
 */
#ifndef PROBE_CORE_REGISTRY_H
#define PROBE_CORE_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/core/shadow.h"
#include "probe/core/tags.h"
#include "protocol/message.h"

// Rows of classes and sites come in segments that never move.
#define REGISTRY_SEGMENT 4096u
#define REGISTRY_CLASS_SEGMENTS 256u // about a million classes at once
#define REGISTRY_SITE_SEGMENTS 1024u // SHADOW_SITE_MAX of them
#define REGISTRY_FIRST_PATH (SITES_A_CLASS * REGISTRY_CLASS_SEGMENTS * REGISTRY_SEGMENT)

// The sites that every class has, in this order; after all of those come the paths'.
enum class_site {
    SITE_COUNTED,
    SITE_FOUND,
    SITE_UNSAMPLED,
    SITES_A_CLASS,
};

#define SITE_NEVER UINT64_MAX

struct site {
    uint32_t class_index;
    site_id id; // its own
    _Atomic uint64_t allocated;
    _Atomic uint64_t freed;
    _Atomic uint64_t found; // entered less removed by a census; wraps like a signed
    uint64_t sample_at;     // `allocated` at which a stack is taken, or SITE_NEVER
    uint32_t node;          // of a path's site: in the call tree
    uint8_t shift;          // of a path's site: it stands for 2^shift times its count;
                            // of SITE_UNSAMPLED: that of the gap drawn last
    _Atomic uint16_t tag;   // of a path's site: the tag they were allocated under, 0
                            // for none. With one, `node` may also be FRAME_ROOT, for
                            // what SITE_UNSAMPLED would count without the tag, or
                            // FRAME_BEFORE_TRACING, for SITE_COUNTED
    bool followed;          // follow.h wants to know of births and frees
    _Atomic uint32_t next;  // the class's next path, 0 for none; or the next free one
};

// What the last whole census saw of a site, and the one under way sees. Beside the
// sites, not in them, because no hook needs it. context: gvl to write, any to read.
struct site_census {
    _Atomic uint64_t bytes; // COUNT_UNKNOWN before one, or when not weighed
    _Atomic uint32_t ages[AGE_BUCKETS];
    uint64_t walk_bytes;
    uint32_t walk_ages[AGE_BUCKETS];
};

enum class_state {
    CLASS_STATE_FREE,    // the row is nobody's
    CLASS_STATE_UNNAMED, // alive, its name not asked yet
    CLASS_STATE_NAMED,
    CLASS_STATE_DEAD, // the class was freed; its last objects may still be there
    CLASS_STATE_GONE, // dead, without objects, and every viewer was told
};

struct class_entry {
    uintptr_t key;       // 0 once the class is dead
    _Atomic class_id id; // on the wire; 0 while the row is free
    _Atomic uint32_t state;
    _Atomic uint32_t flags;      // enum class_flag, or-ed
    site_id site;                // SITE_COUNTED; the others of enum class_site follow
    _Atomic uint32_t paths;      // first site of the call paths, 0 for none
    _Atomic bool traced;         // objects born now go to SITE_UNSAMPLED or a path's site
    _Atomic uint8_t shift;       // wanted for the next gap: one stack of 2^shift
    _Atomic uint64_t traced_us;  // wall time at which tracing first began, 0: never
    uint32_t watchers;           // under the lock: viewers that have its tree open
    bool pinned;                 // under the lock: traced whoever looks
    uint32_t exact;              // traced without gaps, for so many that asked
    uint32_t followers;          // follow.h: captures that follow it
    uint32_t lot;                // its newest one there, 0 for none
    uint32_t listener;           // the first one there, 0 for none
    uint64_t left_ns;            // under the lock: when the last watcher left, monotonic
    uint64_t governed_allocated; // `allocated` when trace_govern() last looked
    _Atomic uint64_t bytes;      // memsize at the last whole census, or COUNT_UNKNOWN
    uint64_t walk_bytes;         // of the census under way
    uint64_t walk_live;
    char *name;          // owned, under the lock; NULL until named
    uint32_t name_edits; // under the lock: raised by each naming
    uint32_t next_free;  // a free row: the index of the next one
};

// What classes that are gone, and their sites with them, had under a tag.
struct tag_past {
    _Atomic uint64_t allocated;
    _Atomic uint64_t freed;
};

struct registry_slot {
    uintptr_t key;
    struct site *site; // that counts the key's new objects: SITE_COUNTED, or while
                       // the class is traced SITE_UNSAMPLED; sites never move
};

struct registry {
    struct registry_slot *slots; // owned, open addressing, a power of two
    size_t slot_count;
    size_t slots_used;
    struct class_entry *classes[REGISTRY_CLASS_SEGMENTS]; // owned
    struct site *sites[REGISTRY_SITE_SEGMENTS];           // owned
    struct site_census *seen[REGISTRY_SITE_SEGMENTS];     // owned, mapped with `sites`
    _Atomic uint32_t path_count;                          // sites of paths ever used
    uint32_t free_path;                                   // first free one, 0 for none
    bool traces_new;              // classes that come are traced from their first object
    uint32_t exact_new;           // classes that come: struct class_entry's `exact`
    uint32_t follows_new;         // and `followers`
    _Atomic uint32_t class_count; // rows ever used; 0 is no class
    uint32_t free_class;          // first free row, 0 for none
    class_id last_id;
    _Atomic uint32_t unnamed;        // classes that wait for a name
    _Atomic uint32_t dead;           // classes dead and not yet recycled
    _Atomic uint64_t past_allocated; // of recycled classes
    _Atomic uint64_t past_freed;
    struct tag_past *_Atomic tag_past; // owned, TAGS_MAX; NULL before the first tag
    // For a key that is new: what the key stands for, when it is an alias (a
    // singleton class for the class of its object). context: hook.
    uintptr_t (*resolve)(uintptr_t key);
};

// context: gvl. False when the kernel has no memory.
bool registry_init(struct registry *registry, uintptr_t (*resolve)(uintptr_t key));
void registry_destroy(struct registry *registry);

static inline struct class_entry *
registry_class(const struct registry *registry, uint32_t index)
{
    return &registry->classes[index / REGISTRY_SEGMENT][index % REGISTRY_SEGMENT];
}

static inline struct site *
registry_site(const struct registry *registry, site_id site)
{
    return &registry->sites[site / REGISTRY_SEGMENT][site % REGISTRY_SEGMENT];
}

// context: any.
static inline struct site_census *
registry_seen(const struct registry *registry, site_id site)
{
    return &registry->seen[site / REGISTRY_SEGMENT][site % REGISTRY_SEGMENT];
}

// context: hook. A site for a call path of a class, all counters 0, linked into the
// class's list at its head, where treefeed.c looks for what is new. NULL when memory or
// numbers ran out; `reserve` numbers are left for those who ask with 0.
struct site *registry_add_path(struct registry *registry, uint32_t class_index,
                               uint32_t node, uint8_t shift, uint32_t reserve);

// context: hook. The same for what is allocated under a tag, 0 for none.
struct path {
    uint32_t class_index;
    uint32_t node;
    uint16_t tag;
    uint8_t shift;
};
struct site *registry_add_tagged(struct registry *registry, const struct path *path,
                                 uint32_t reserve);

// context: gvl, under the lock. Free the sites of a class's paths; nothing lives
// there any more.
void registry_free_paths(struct registry *registry, uint32_t class_index);

// context: gvl. Objects born of a class from now on count in SITE_UNSAMPLED, whose
// `sample_at` is the caller's to set, or no longer.
void registry_trace(struct registry *registry, uint32_t class_index, bool on);

// context: hook. The slot of a key that is not where registry_lookup() looked
// first; makes class and sites when the key is new. NULL when memory ran out.
const struct registry_slot *registry_add(struct registry *registry, uintptr_t key);

static inline size_t
registry_hash(uintptr_t key)
{
    return (size_t)((key >> 3) * 0x9e3779b97f4a7c15u >> 32);
}

// context: hook. The slot of a key, made if need be; NULL when memory ran out.
static inline const struct registry_slot *
registry_lookup(struct registry *registry, uintptr_t key)
{
    const struct registry_slot *slot =
        &registry->slots[registry_hash(key) & (registry->slot_count - 1)];
    return slot->key == key ? slot : registry_add(registry, key);
}

// context: hook. The class behind a key was freed: forget the key before its
// address is used again. Unknown keys are harmless.
void registry_retire(struct registry *registry, uintptr_t key);

// context: gvl. Classes moved: make every key what `moved` says it is now.
// False when memory ran out; counting must then stop.
bool registry_rekey(struct registry *registry, uintptr_t (*moved)(uintptr_t key));

// context: gvl, under the lock. Take `name` (owned from now on) for a class, and what
// kind of class it is.
void registry_name(struct registry *registry, uint32_t index, char *name, uint32_t flags);

// context: gvl, under the lock. Set those of enum class_flag that `mask` names.
void registry_flag(struct registry *registry, uint32_t index, uint32_t mask,
                   uint32_t flags);

// context: gvl, under the lock. Free the rows of classes that are gone.
void registry_recycle(struct registry *registry);

// context: any. Objects of a class by its sites; freed is read before
// allocated, so that a count never falls below zero while others write.
struct site_counts {
    uint64_t live;
    uint64_t allocated;
    uint64_t freed;
};
struct site_counts registry_counts(const struct registry *registry, uint32_t index);

// context: any. The same over all classes, those recycled included.
struct site_counts registry_totals(const struct registry *registry);

// One writer at a time, any reader: a plain store that no reader sees torn.
static inline void
count_up(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter,
                          atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_release);
}

static inline void
count_add(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_store_explicit(counter,
                          atomic_load_explicit(counter, memory_order_relaxed) + amount,
                          memory_order_release);
}

#endif
