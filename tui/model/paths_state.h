/*
 * The inside of a projection: what is unfolded, what rows are called between two
 * updates, what the filter kept; and what makes rows of a tree.
 */
#ifndef TUI_MODEL_PATHS_STATE_H
#define TUI_MODEL_PATHS_STATE_H

#include "tui/model/index.h"
#include "tui/model/paths.h"
#include "tui/model/places.h"

#define PATHS_NO_ROW UINT32_MAX
#define PATHS_OWNERS_BYTES 80

// What a row is beside what is shown of it.
struct paths_hidden {
    uint64_t key;
    uint32_t parent; // row, itself for row 0
    uint32_t owners; // of a folded row: index into the state's
    bool lead;       // on the largest path, which is open by itself
};

// What the filter says of a node.
enum paths_kept {
    PATHS_KEPT_HIT = 1 << 0,
    PATHS_KEPT_BELOW = 1 << 1, // a hit is somewhere below it
    PATHS_KEPT_ABOVE = 1 << 2, // a hit is among its callers
};

struct paths_state {
    struct places places;
    struct index hands;        // by key: number of the act * 2, + 1 for open. The last
                               // act wins, on a row or on all below one further up
    struct index filter_hands; // the same, while a filter opens rows by itself
    uint32_t acts;
    uint32_t level;              // rows above this depth are open
    bool leading;                // nobody folded or unfolded anything yet
    struct paths_hidden *hidden; // owned, as long as the rows' capacity
    uint64_t *renamed;           // owned: pairs of keys, of before and now
    size_t renamed_count;
    char (*owners)[PATHS_OWNERS_BYTES]; // owned
    size_t owners_count;
    size_t owners_capacity;
    uint8_t *kept; // owned, by node: enum paths_kept; NULL without a filter
    uint32_t kept_nodes;
    char kept_for[256]; // the filter
    uint64_t generation;
    uint64_t names_version;
};

// Where a hand on all below a row is kept. Keys are odd.
static inline uint64_t
paths_deep(uint64_t key)
{
    return key - 1;
}

// Make the rows. False when memory ran out.
bool paths_build(struct paths *paths);

// The key of a row below another; `group` is the place of a plain one.
uint64_t paths_build_key(const struct paths_state *state, uint64_t parent,
                         enum paths_row_kind kind, uint32_t group);

// Bring `kept` up to date with the filter. False when memory ran out.
bool paths_keep(struct paths *paths);

// "puma/thread_pool.rb:106"
void paths_state_place(const struct paths_state *state, const struct tree_frame *frame,
                       uint32_t line, char *place, size_t size);

#endif
