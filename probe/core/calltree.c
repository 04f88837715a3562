#include "probe/core/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "probe/core/arena.h"

#define FIRST_BUCKETS 4096u
#define FIRST_SLOTS 1024u
#define NAMES CALLTREE_FRAMES // places in the table of names, a power of two

static uint64_t
mix(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
}

/* Tables. */

static bool
map_nodes(struct calltree *tree, uint32_t node)
{
    struct calltree_node **segment = &tree->nodes[node / CALLTREE_SEGMENT];
    if (!*segment) {
        *segment = arena_map(CALLTREE_SEGMENT * sizeof(**segment));
    }
    return *segment != NULL;
}

static bool
map_frames(struct calltree *tree, uint32_t frame)
{
    struct calltree_frame **segment = &tree->frames[frame / CALLTREE_SEGMENT];
    if (!*segment) {
        *segment = arena_map(CALLTREE_SEGMENT * sizeof(**segment));
    }
    return *segment != NULL;
}

// Nodes below CALLTREE_FIRST_NODE are the special frames': each on the frame of its
// own number, below the root.
static void
add_special_nodes(struct calltree *tree)
{
    for (uint32_t i = 0; i < CALLTREE_FIRST_NODE; i++) {
        calltree_node(tree, i)->frame = i;
        calltree_frame(tree, i)->named = true;
    }
    atomic_store(&tree->node_count, CALLTREE_FIRST_NODE);
    atomic_store(&tree->frame_count, FRAME_FIRST);
    tree->first_unnamed = FRAME_FIRST;
}

bool
calltree_init(struct calltree *tree)
{
    *tree =
        (struct calltree){.node_buckets = arena_map(FIRST_BUCKETS * sizeof(uint32_t)),
                          .node_bucket_count = FIRST_BUCKETS,
                          .slots = arena_map(FIRST_SLOTS * sizeof(struct calltree_slot)),
                          .slot_count = FIRST_SLOTS,
                          .names = arena_map(NAMES * sizeof(uint32_t))};
    bool mapped = map_nodes(tree, 0) && map_frames(tree, 0);
    if (!mapped || !tree->node_buckets || !tree->slots || !tree->names) {
        calltree_destroy(tree);
        return false;
    }
    add_special_nodes(tree);
    return true;
}

void
calltree_destroy(struct calltree *tree)
{
    for (uint32_t i = 0; i < tree->frame_count; i++) {
        struct calltree_frame *frame = calltree_frame(tree, i);
        free(frame->label);
        free(frame->path);
        free(frame->blocks);
    }
    for (size_t i = 0; i < CALLTREE_FRAMES / CALLTREE_SEGMENT; i++) {
        arena_unmap(tree->frames[i], CALLTREE_SEGMENT * sizeof(struct calltree_frame));
    }
    for (size_t i = 0; i < CALLTREE_NODES / CALLTREE_SEGMENT; i++) {
        arena_unmap(tree->nodes[i], CALLTREE_SEGMENT * sizeof(struct calltree_node));
    }
    arena_unmap(tree->node_buckets, tree->node_bucket_count * sizeof(uint32_t));
    arena_unmap(tree->slots, tree->slot_count * sizeof(struct calltree_slot));
    arena_unmap(tree->names, NAMES * sizeof(uint32_t));
    *tree = (struct calltree){0};
}

/* Frames by key. */

static uint32_t
slot_home(uintptr_t key, uint32_t count)
{
    return (uint32_t)mix(key >> 3) & (count - 1);
}

static struct calltree_slot *
find_slot(struct calltree_slot *slots, uint32_t count, uintptr_t key)
{
    uint32_t i = slot_home(key, count);
    while (slots[i].key && slots[i].key != key) {
        i = (i + 1) & (count - 1);
    }
    return &slots[i];
}

// `moved` may be NULL: keys stay.
static bool
resize_slots(struct calltree *tree, uint32_t count, uintptr_t (*moved)(uintptr_t))
{
    struct calltree_slot *slots = arena_map(count * sizeof(*slots));
    if (!slots) {
        return false;
    }
    for (uint32_t i = 0; i < tree->slot_count; i++) {
        struct calltree_slot slot = tree->slots[i];
        if (slot.key) {
            slot.key = moved ? moved(slot.key) : slot.key;
            *find_slot(slots, count, slot.key) = slot;
        }
    }
    arena_unmap(tree->slots, tree->slot_count * sizeof(*slots));
    tree->slots = slots;
    tree->slot_count = count;
    return true;
}

static uint32_t
add_frame(struct calltree *tree, uintptr_t key)
{
    uint32_t frame = atomic_load_explicit(&tree->frame_count, memory_order_relaxed);
    if (frame == CALLTREE_FRAMES || !map_frames(tree, frame) ||
        (tree->slots_used * 2 >= tree->slot_count &&
         !resize_slots(tree, tree->slot_count * 2, NULL))) {
        return 0;
    }
    calltree_frame(tree, frame)->key = key;
    *find_slot(tree->slots, tree->slot_count, key) = (struct calltree_slot){key, frame};
    tree->slots_used++;
    atomic_store_explicit(&tree->frame_count, frame + 1, memory_order_release);
    atomic_fetch_add_explicit(&tree->unnamed, 1, memory_order_relaxed);
    return frame;
}

// The frame of a key, made if need be; 0 when there is no room.
static uint32_t
frame_of(struct calltree *tree, uintptr_t key)
{
    const struct calltree_slot *slot = find_slot(tree->slots, tree->slot_count, key);
    return slot->key ? slot->frame : add_frame(tree, key);
}

// Close the gap a removed slot leaves, so that no later key becomes unreachable.
static void
remove_slot(struct calltree *tree, struct calltree_slot *slot)
{
    uint32_t mask = tree->slot_count - 1;
    uint32_t hole = (uint32_t)(slot - tree->slots);
    for (uint32_t i = (hole + 1) & mask; tree->slots[i].key; i = (i + 1) & mask) {
        uint32_t home = slot_home(tree->slots[i].key, tree->slot_count);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            tree->slots[hole] = tree->slots[i];
            hole = i;
        }
    }
    tree->slots[hole] = (struct calltree_slot){0};
    tree->slots_used--;
}

void
calltree_retire(struct calltree *tree, uintptr_t key)
{
    if (!tree->slots_used) {
        return;
    }
    struct calltree_slot *slot = find_slot(tree->slots, tree->slot_count, key);
    if (!slot->key) {
        return;
    }
    struct calltree_frame *frame = calltree_frame(tree, slot->frame);
    frame->key = frame->key == key ? 0 : frame->key;
    remove_slot(tree, slot);
}

bool
calltree_rekey(struct calltree *tree, uintptr_t (*moved)(uintptr_t key))
{
    uint32_t count = tree->frame_count;
    for (uint32_t i = FRAME_FIRST; i < count; i++) {
        struct calltree_frame *frame = calltree_frame(tree, i);
        frame->key = frame->key ? moved(frame->key) : 0;
    }
    return !tree->slots || resize_slots(tree, tree->slot_count, moved);
}

/* Nodes. */

static uint32_t
node_hash(uint32_t parent, uint32_t frame, uint32_t line)
{
    return (uint32_t)mix(((uint64_t)parent << 32 | frame) * 31 + line);
}

// A pause of some nanoseconds a node, each time their number doubles.
static void
grow_buckets(struct calltree *tree)
{
    uint32_t count = tree->node_bucket_count * 2;
    uint32_t *buckets = arena_map(count * sizeof(*buckets));
    if (!buckets) {
        return; // chains become longer, that is all
    }
    for (uint32_t i = CALLTREE_FIRST_NODE; i < tree->node_count; i++) {
        struct calltree_node *node = calltree_node(tree, i);
        uint32_t *bucket =
            &buckets[node_hash(node->parent, node->frame, node->line) & (count - 1)];
        node->next = *bucket;
        *bucket = i;
    }
    arena_unmap(tree->node_buckets, tree->node_bucket_count * sizeof(*buckets));
    tree->node_buckets = buckets;
    tree->node_bucket_count = count;
}

static uint32_t
add_node(struct calltree *tree, uint32_t parent, uint32_t frame, uint32_t line)
{
    uint32_t index = atomic_load_explicit(&tree->node_count, memory_order_relaxed);
    if (index == CALLTREE_NODES || !map_nodes(tree, index)) {
        return 0;
    }
    if (index >= tree->node_bucket_count) {
        grow_buckets(tree);
    }
    uint32_t *bucket = &tree->node_buckets[node_hash(parent, frame, line) &
                                           (tree->node_bucket_count - 1)];
    *calltree_node(tree, index) = (struct calltree_node){parent, frame, line, *bucket};
    *bucket = index;
    atomic_store_explicit(&tree->node_count, index + 1, memory_order_release);
    return index;
}

// The node of a frame called from `parent`, made if need be; 0 without room.
static uint32_t
child_of(struct calltree *tree, uint32_t parent, uint32_t frame, uint32_t line)
{
    uint32_t index = tree->node_buckets[node_hash(parent, frame, line) &
                                        (tree->node_bucket_count - 1)];
    while (index) {
        const struct calltree_node *node = calltree_node(tree, index);
        if (node->parent == parent && node->frame == frame && node->line == line) {
            return index;
        }
        index = node->next;
    }
    return add_node(tree, parent, frame, line);
}

uint32_t
calltree_place(struct calltree *tree, const struct stack_frame *stack, size_t count,
               bool cut)
{
    uint32_t node = cut ? FRAME_TRUNCATED : FRAME_ROOT;
    if (!count) {
        return FRAME_NO_STACK;
    }
    for (size_t i = count; i-- > 0;) {
        uint32_t frame = frame_of(tree, stack[i].key);
        node = frame ? child_of(tree, node, frame, stack[i].line) : 0;
        if (!node) {
            atomic_fetch_add_explicit(&tree->refused, 1, memory_order_relaxed);
            return FRAME_OTHER;
        }
    }
    return node;
}

// A key stands for its frame, or for an earlier one of the same name: see
// calltree_name().
static bool
stands_for(const struct calltree *tree, uintptr_t key, uint32_t frame)
{
    return calltree_frame(tree, frame)->key == key ||
           find_slot(tree->slots, tree->slot_count, key)->frame == frame;
}

bool
calltree_matches(const struct calltree *tree, uint32_t node,
                 const struct stack_frame *stack, size_t count, bool cut)
{
    for (size_t i = 0; i < count; i++) {
        const struct calltree_node *at = calltree_node(tree, node);
        if (node < CALLTREE_FIRST_NODE || at->line != stack[i].line ||
            !stands_for(tree, stack[i].key, at->frame)) {
            return false;
        }
        node = at->parent;
    }
    return node == (!count ? FRAME_NO_STACK : cut ? FRAME_TRUNCATED : FRAME_ROOT);
}

/* Names. */

static uint32_t
name_hash(const struct calltree_frame *frame)
{
    uint64_t hash = frame->line;
    for (const char *at = frame->label; *at; at++) {
        hash = hash * 31 + (unsigned char)*at;
    }
    for (const char *at = frame->path; *at; at++) {
        hash = hash * 31 + (unsigned char)*at;
    }
    return (uint32_t)mix(hash) & (NAMES - 1);
}

static bool
same_name(const struct calltree_frame *a, const struct calltree_frame *b)
{
    return a->line == b->line && a->flags == b->flags &&
           strcmp(a->label, b->label) == 0 && strcmp(a->path, b->path) == 0;
}

// The first frame that was called so: this one, when there is none. The table is
// as large as there can be frames, but never filled by equal ones.
static uint32_t
first_so_named(struct calltree *tree, uint32_t index)
{
    const struct calltree_frame *frame = calltree_frame(tree, index);
    uint32_t place = name_hash(frame);
    while (tree->names[place]) {
        if (same_name(calltree_frame(tree, tree->names[place]), frame)) {
            return tree->names[place];
        }
        place = (place + 1) & (NAMES - 1);
    }
    tree->names[place] = index;
    return index;
}

// Code that is loaded again, or evaluated again and again, is another piece of
// memory each time, and the same place for people. From now on this key's stacks
// go to the nodes of the first; the nodes made meanwhile stay.
static void
join(struct calltree *tree, uint32_t index)
{
    uintptr_t key = calltree_frame(tree, index)->key;
    uint32_t first = first_so_named(tree, index);
    if (key && first != index) {
        find_slot(tree->slots, tree->slot_count, key)->frame = first;
        calltree_frame(tree, index)->key = 0;
    }
}

void
calltree_name(struct calltree *tree, uint32_t index, struct frame_naming *naming)
{
    struct calltree_frame *frame = calltree_frame(tree, index);
    frame->label = naming->label;
    frame->path = naming->path;
    frame->line = naming->line;
    frame->flags = naming->flags;
    frame->blocks = naming->blocks;
    frame->block_count = naming->block_count;
    join(tree, index);
    atomic_store_explicit(&frame->named, true, memory_order_release);
    atomic_fetch_sub_explicit(&tree->unnamed, 1, memory_order_relaxed);
    while (tree->first_unnamed < tree->frame_count &&
           calltree_frame(tree, tree->first_unnamed)->named) {
        tree->first_unnamed++;
    }
}

void
calltree_name_lost(struct calltree *tree, uint32_t index)
{
    struct frame_naming naming = {.label = strdup("(code freed before it was named)"),
                                  .path = strdup("")};
    if (naming.label && naming.path) {
        calltree_name(tree, index, &naming);
    } else {
        free(naming.label);
        free(naming.path);
    }
}

void
calltree_each_unnamed(const struct calltree *tree,
                      void (*visit)(void *context, uint32_t frame, uintptr_t key),
                      void *context)
{
    uint32_t count = tree->unnamed ? tree->frame_count : 0;
    for (uint32_t i = tree->first_unnamed; i < count; i++) {
        const struct calltree_frame *frame = calltree_frame(tree, i);
        if (!frame->named) {
            visit(context, i, frame->key);
        }
    }
}

uint32_t
calltree_block(const struct calltree_frame *frame, uint32_t line)
{
    uint32_t from = 0;
    uint32_t to = frame->block_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (frame->blocks[middle].line == line) {
            return frame->blocks[middle].levels;
        }
        if (frame->blocks[middle].line < line) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return 0;
}

size_t
calltree_bytes(const struct calltree *tree)
{
    uint32_t nodes = tree->node_count + CALLTREE_SEGMENT - 1;
    uint32_t frames = tree->frame_count + CALLTREE_SEGMENT - 1;
    return nodes / CALLTREE_SEGMENT * CALLTREE_SEGMENT * sizeof(struct calltree_node) +
           frames / CALLTREE_SEGMENT * CALLTREE_SEGMENT * sizeof(struct calltree_frame) +
           tree->node_bucket_count * sizeof(uint32_t) +
           tree->slot_count * sizeof(struct calltree_slot) + NAMES * sizeof(uint32_t);
}
