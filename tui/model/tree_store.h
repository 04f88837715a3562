/*
 * The inside of a tree: what messages change, what tree.h reads.
 *
 * A message changes nodes and sites; the sums over them are made in one pass when
 * somebody asks next, children before parents, which is backwards: a node always
 * comes after its parent. Messages with one stamp are one moment: what rates and
 * baselines compare is only ever whole moments.
 */
#ifndef TUI_MODEL_TREE_STORE_H
#define TUI_MODEL_TREE_STORE_H

#include "tui/model/estimate.h"
#include "tui/model/frames.h"
#include "tui/model/index.h"
#include "tui/model/model.h"
#include "tui/model/tree.h"

// A rate's window moves on with the first moment in each step of the clock, as that of
// rates.h does; and when a tree had no news for so long, it begins anew.
#define TREE_RATE_STEP_US (5u * 1000000u)
#define TREE_RATE_GAP_US (30u * 1000000u)

struct tree_place {
    uint32_t id;
    uint32_t parent;
    uint32_t frame; // slot
    uint32_t line;
    uint32_t block;
    uint32_t depth;
    uint32_t first_child;
    uint32_t next_sibling;
    uint32_t first_site; // TREE_NONE for none
};

struct tree_kept_site {
    uint64_t live;
    uint64_t allocated;
    uint64_t bytes;
    uint64_t ages[AGE_BUCKETS];
    uint32_t next; // of the same node
    uint32_t node;
    uint32_t shift;
};

// With everything below. Figures that are not known count 0 and are told by the
// two marks.
struct tree_sum {
    double live;
    double allocated;
    double bytes;
    double weight; // see estimate.h
    double ages[AGE_BUCKETS];
    uint64_t samples;
    bool bytes_known;
    bool ages_known;
};

// Figures of all nodes at one moment: live, and bytes or allocated.
struct tree_moment {
    bool set;
    uint64_t us;
    uint32_t count; // of nodes; those that came later had nothing
    uint32_t capacity;
    double (*values)[2]; // owned
};

enum tree_second {
    TREE_SECOND_BYTES,
    TREE_SECOND_ALLOCATED,
};

struct tree_model {
    class_id class_id;
    struct tree header; // without its lists
    uint64_t last_us;   // stamp of the last message, monotonic
    bool stale;         // sums are of before
    uint64_t version;
    uint64_t generation;
    uint64_t renamed; // grows when a node that was known turns out to be in a block
    struct index ids;
    struct tree_place *nodes; // owned
    struct tree_sum *sums;    // owned, as long as nodes
    uint32_t count;
    uint32_t capacity;
    struct tree_kept_site *sites; // owned
    uint32_t site_count;
    uint32_t site_capacity;
    struct estimate live;
    struct estimate allocated;
    struct tree_moment first;                  // the tree when it came
    struct tree_moment marks[MODEL_MARKS_MAX]; // when they were set
    struct tree_moment pending;                // a mark that is being set
    struct tree_moment anchors[2];             // of rates: older, newer
    uint64_t sums_made;                        // how often; work, for tests

    // set by who hands the tree out
    const struct frames_kept *frames; // borrowed
    const char *class_name;           // borrowed
    int mark;                         // in use, or MODEL_MARK_NONE
};

// A tree with its root alone; NULL when memory ran out.
struct tree_model *tree_store_new(class_id id, uint64_t generation);
void tree_store_free(struct tree_model *tree);
struct tree_model *tree_store_copy(const struct tree_model *tree);

// Take a message for this tree's class; frames get their slots in `frames`. False
// when memory ran out: all figures are as they were.
bool tree_store_apply(struct tree_model *tree, struct frames_kept *frames,
                      const struct tree *message, struct stamp at);

// Bring the sums up to date.
void tree_store_sum(struct tree_model *tree);

// What a node's own sites hold; of the root, what no child accounts for.
struct tree_sum tree_store_self(const struct tree_model *tree, uint32_t node);

// A sum as figures. What was `counted` has no error.
struct tree_counts tree_store_counts(const struct tree_model *tree,
                                     const struct tree_sum *sum, bool counted);

// Whether a node's figures are exact whatever was sampled.
bool tree_store_counted(const struct tree_model *tree, uint32_t node);

// Add up.
void tree_store_add(struct tree_sum *to, const struct tree_sum *from);

// Add what a site holds, estimated, to a sum.
void tree_store_add_site(struct tree_sum *sum, const struct tree_model *tree,
                         const struct tree_kept_site *site);

// Keep all figures of now. False when memory ran out; `moment` is then as it was.
bool tree_store_keep(struct tree_model *tree, struct tree_moment *moment,
                     enum tree_second second);

// The baseline for a mark, or with MODEL_MARK_NONE for when the tree came.
struct tree_moment *tree_store_baseline(struct tree_model *tree, int mark);

// Make `pending` what a message says the figures were, added to those of `before`
// unless it is NULL; no moment when it says nothing of this tree. False when memory
// ran out.
bool tree_store_take(struct tree_model *tree, const struct tree_moment *before,
                     const struct mark_place *places, size_t count);

void tree_store_drop(struct tree_moment *moment);

#endif
