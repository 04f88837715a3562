/*
 * One update of a projection, while it runs: items become rows (paths_build.c), what
 * is below an open one is found (paths_find.c), counted (paths_figures.c), and what
 * folded rows hide is named (paths_owners.c). For these four alone.
 */
#ifndef TUI_MODEL_PATHS_BUILDER_H
#define TUI_MODEL_PATHS_BUILDER_H

#include "tui/model/paths_state.h"
#include "tui/model/tree_store.h"

struct paths_member {
    uint32_t node;
    uint32_t leaf; // whose own objects count; of callers TREE_NONE for `node`'s own
                   // alone, anything else for all below it
};

struct paths_candidate {
    struct paths_member member;
    uint32_t group; // its place; for what is folded one beyond the last
};

struct paths_flow {
    double delta;
    double delta_bytes;
    double live_per_second;
    double allocated_per_second;
};

struct paths_item {
    uint64_t key;
    enum paths_row_kind kind;
    uint32_t depth;
    uint32_t parent; // row
    uint32_t siblings;
    uint32_t rank; // where it was, when the order is held
    size_t from;   // its members
    size_t count;
    struct tree_sum sum;
    struct paths_flow flow;
    struct tree_sum own; // flat only: objects of the place itself
    struct paths_flow own_flow;
    double value;      // to sort by
    uint32_t deep_act; // the last act on everything below a row further up
    bool deep_open;
    bool last;
    bool lead;
    bool inverted;
    bool top; // directly below the class, in the rest or not
    const struct tree_frame *frame;
    uint32_t line;
};

struct paths_builder {
    struct paths *paths;
    struct paths_state *state;
    const struct tree_model *tree;
    struct paths_member *members; // owned
    size_t member_count;
    size_t member_capacity;
    struct paths_candidate *found; // owned
    size_t found_count;
    size_t found_capacity;
    struct paths_item *stack; // owned
    size_t count;
    size_t capacity;
    uint32_t *group_item;  // owned, by group: its item on the stack
    uint32_t *group_stamp; // owned, by group: the expansion that made it
    uint32_t *frame_stamp; // owned, by slot: the fold that counted it
    uint32_t stamp;
    struct index ranks; // rows of before by key, when their order is held
    struct index leads; // rows of before that were on the largest path
    uint64_t looked_at;
    uint64_t looked_above;
    bool failed; // memory ran out
};

// What a folded row hides.
struct paths_fold {
    uint32_t frames;
    uint32_t owners;
    char text[PATHS_OWNERS_BYTES];
    struct tree_sum self;
};

// Room for one more in a list, which may move; the list as it is, and `failed` set,
// when memory ran out.
void *paths_build_room(struct paths_builder *builder, void *list, size_t count,
                       size_t *capacity, size_t size);

// True when this update looked at as much as it may.
bool paths_find_tired(struct paths_builder *builder);

// Fill `found` with what is directly below an open row.
void paths_find_below(struct paths_builder *builder, const struct paths_item *item);

// Whether there is anything below a row.
bool paths_find_any(const struct paths_builder *builder, const struct paths_item *item);

// Whether the filter has a hit below a row, so that it opens by itself; or in it.
bool paths_find_hides_hit(const struct paths_builder *builder,
                          const struct paths_item *item);
bool paths_find_is_hit(const struct paths_builder *builder,
                       const struct paths_item *item);

// The next node of a folded part of the tree, from the callers down: frames of
// others below `root`, and the program's own that they call, but nothing below those.
uint32_t paths_find_next_folded(const struct paths_builder *builder, uint32_t root,
                                uint32_t node);

// Changes add up; what is unknown adds nothing to what is known.
void paths_figures_add_flow(struct paths_flow *to, struct paths_flow from);
struct paths_flow paths_figures_total_flow(const struct tree_model *tree, uint32_t node);

// What a member adds to its item.
void paths_figures_add(const struct paths_builder *builder, struct paths_item *item,
                       struct paths_member member);

// An item's own objects.
struct tree_sum paths_figures_self(const struct paths_builder *builder,
                                   const struct paths_item *item);

// What items are ordered by, NAN while unknown.
double paths_figures_by(const struct paths_item *item, enum paths_order order);

// Count and name what a folded item hides.
void paths_owners_look(struct paths_builder *builder, const struct paths_item *item,
                       struct paths_fold *fold);

#endif
