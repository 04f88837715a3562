/*
 * Every call path that allocated something traced: one tree of (caller, frame,
 * line), each path stored once, for all classes together.
 *
 * A frame is known by a key, the runtime's address of its method or code; the key
 * is forgotten when that dies, the frame stays with its name. Nodes are never
 * removed and never move. Both have a fixed bound: beyond it a stack goes to
 * FRAME_OTHER's node, and `refused` counts it.
 *
 * Written in the hook with plain stores to memory of our own, read by the server
 * without the GVL below the counts it loads first.
 */
#ifndef PROBE_CORE_CALLTREE_H
#define PROBE_CORE_CALLTREE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

#define CALLTREE_NODES (1u << 20)
#define CALLTREE_FRAMES (1u << 17)
#define CALLTREE_SEGMENT 4096u // rows of nodes and of frames come in such pieces

// Nodes of the special frames; enum special_frame is their number and frame.
#define CALLTREE_FIRST_NODE 16u

// One frame of a stack, innermost first. The line is 0 when there is none.
struct stack_frame {
    uintptr_t key;
    uint32_t line;
};

struct calltree_node {
    uint32_t parent;
    uint32_t frame;
    uint32_t line;
    uint32_t next; // in its bucket
};

// Lines on which a method's code is certainly that of a block within it.
struct block_line {
    uint32_t line;
    uint32_t levels;
};

struct calltree_frame {
    uintptr_t key;             // 0 once what it stood for is dead
    _Atomic bool named;        // the rest is there, and never changes again
    uint32_t flags;            // enum frame_flag, or-ed
    char *label;               // owned
    char *path;                // owned, "" for none
    uint32_t line;             // first of the method or file
    struct block_line *blocks; // owned, in order of line
    uint32_t block_count;
};

struct calltree_slot {
    uintptr_t key; // 0: empty
    uint32_t frame;
};

struct calltree {
    struct calltree_node *nodes[CALLTREE_NODES / CALLTREE_SEGMENT];    // owned
    struct calltree_frame *frames[CALLTREE_FRAMES / CALLTREE_SEGMENT]; // owned
    _Atomic uint32_t node_count;  // CALLTREE_FIRST_NODE from the start
    _Atomic uint32_t frame_count; // FRAME_FIRST from the start
    _Atomic uint32_t unnamed;     // frames that wait for a name
    uint32_t first_unnamed;       // all below have one
    _Atomic uint64_t refused;     // stacks there was no room for
    uint32_t *node_buckets;       // owned; a power of two of them, grown by doubling
    uint32_t node_bucket_count;
    struct calltree_slot *slots; // owned: frames by key, open addressing, half full
    uint32_t slot_count;
    uint32_t slots_used;
    uint32_t *names; // owned: named frames by what they are called, agent only
};

// context: gvl. False when the kernel has no memory.
bool calltree_init(struct calltree *tree);
void calltree_destroy(struct calltree *tree);

// context: hook. The node of a whole stack, made if need be: the innermost frame's.
// `cut`: there were more frames than these. FRAME_NO_STACK's node for an empty one,
// FRAME_OTHER's when there is no room.
uint32_t calltree_place(struct calltree *tree, const struct stack_frame *stack,
                        size_t count, bool cut);

// context: hook. Whether `node` is the innermost one of exactly this stack.
bool calltree_matches(const struct calltree *tree, uint32_t node,
                      const struct stack_frame *stack, size_t count, bool cut);

// context: hook. What stood behind a key was freed: forget the key before its
// address is used again. Unknown keys are harmless.
void calltree_retire(struct calltree *tree, uintptr_t key);

// context: gvl. Things moved: make every key what `moved` says it is now. False
// when memory ran out; tracing must then stop.
bool calltree_rekey(struct calltree *tree, uintptr_t (*moved)(uintptr_t key));

// context: gvl, under the probe's lock: what a frame is called. Takes ownership.
struct frame_naming {
    char *label; // malloc'd
    char *path;  // malloc'd, "" for none
    uint32_t line;
    uint32_t flags;
    struct block_line *blocks; // malloc'd, NULL for none
    uint32_t block_count;
};
void calltree_name(struct calltree *tree, uint32_t index, struct frame_naming *naming);

// context: gvl. Name a frame whose key died before anybody could ask.
void calltree_name_lost(struct calltree *tree, uint32_t index);

// context: gvl. Frames that have no name yet, their keys 0 when they died: a
// runtime keeps the others alive until they have one.
void calltree_each_unnamed(const struct calltree *tree,
                           void (*visit)(void *context, uint32_t frame, uintptr_t key),
                           void *context);

// context: any, for numbers below the counts.
static inline struct calltree_node *
calltree_node(const struct calltree *tree, uint32_t node)
{
    return &tree->nodes[node / CALLTREE_SEGMENT][node % CALLTREE_SEGMENT];
}

static inline struct calltree_frame *
calltree_frame(const struct calltree *tree, uint32_t frame)
{
    return &tree->frames[frame / CALLTREE_SEGMENT][frame % CALLTREE_SEGMENT];
}

// context: any. Levels of blocks that `line` of a named frame lies in.
uint32_t calltree_block(const struct calltree_frame *frame, uint32_t line);

// context: any. Bytes mapped.
size_t calltree_bytes(const struct calltree *tree);

#endif
