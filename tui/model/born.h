/*
 * The three-mark view: what was born between A and B and is still alive at C. A cache
 * that is filled and emptied is not in it, a leak is.
 *
 * Nobody keeps when each object was born, so this is what the counts of three moments
 * leave possible: never fewer than `least`, never more than `most`, and both can be
 * true (tests/tui/model/born.c tries all small histories). Of live objects L and of
 * objects allocated in between P (A to B) and Q (B to C):
 *
 *   least   L(C) - L(A) - Q    were all of A still alive, and all that came after B
 *   most    L(B), L(C), P      whichever is smallest
 *
 * Where nothing was freed, or everything, the two are equal and the figure is exact.
 * Call paths are bounded each by itself, and their sums bound the class again: a path
 * on which nothing was freed tells exactly what the class alone does not. Ages say more
 * where they are of C itself.
 *
 * Live includes what the collector has not swept yet: that is why `collections` counts
 * how often it ran between B and C.
 */
#ifndef TUI_MODEL_BORN_H
#define TUI_MODEL_BORN_H

#include "tui/model/model.h"
#include "tui/model/tree.h"

// The three moments, in the order of time.
enum born_moment {
    BORN_A,
    BORN_B,
    BORN_C,
    BORN_MOMENTS,
};

// One class or one path at a moment. COUNT_UNKNOWN where nobody counted.
struct born_counts {
    uint64_t live;
    uint64_t allocated; // ever
};

// Objects alive at C of which ages tell that they are older; 0 when they do not.
struct born_older {
    uint64_t than_a;
    uint64_t than_b;
};

struct born_range {
    uint64_t least;
    uint64_t most;
};

struct born_range born_bound(const struct born_counts at[BORN_MOMENTS],
                             struct born_older older);

// What `ages` at C, so many collections after A and after B, tell of older objects.
struct born_older born_older(const double ages[AGE_BUCKETS], uint64_t since_a,
                             uint64_t since_b);

// What to compare. The models are of one program or of one that was restarted; a
// process is taken to begin with its probe.
struct born_question {
    const struct model *at[BORN_MOMENTS]; // borrowed
    bool counted_ab; // every birth between A and B was counted: no other mode than
                     // count and trace, no gap in which the program was another
    bool counted_bc; // the same between B and C
    bool ages_of_c;  // the classes' ages are of C, not of some census before
};

struct born_class {
    const struct model_class *class; // of C's model
    struct born_range range;
    uint64_t allocated; // between A and B, COUNT_UNKNOWN where nobody counted
    bool by_paths;      // the range is narrower thanks to the call tree
};

struct born_path {
    uint32_t node; // of C's tree: the allocating line
    struct born_range range;
    uint64_t live;  // at C
    bool estimated; // stacks were sampled: the range is of estimates
};

// Those of which any can be left, the largest `least` first, then the largest `most`.
struct born_classes {
    struct born_class *list; // owned
    size_t count;
    struct born_range total;
    uint64_t collections; // between B and C, COUNT_UNKNOWN where nobody counted
    bool restarted;       // between B and C: nothing of before is alive
    bool counted_ab;      // every birth between A and B was counted, and
    bool counted_bc;      // between B and C: else only what was alive is compared
};

struct born_paths {
    struct born_path *list; // owned
    size_t count;
    bool known;    // C has a tree of the class, and it is of that moment
    bool complete; // exact trees: the ranges add up to one of the class
    struct born_range total;
};

// False when memory ran out; the result is then empty. Pointers in it are good as long
// as C's model is not applied to. Destroying twice is harmless.
bool born_classes_make(struct born_classes *classes,
                       const struct born_question *question);
void born_classes_destroy(struct born_classes *classes);

// Of a class by its id in C's model. A moment is whole: the sample, and the trees that
// came with it.
bool born_paths_make(struct born_paths *paths, const struct born_question *question,
                     class_id id);
void born_paths_destroy(struct born_paths *paths);

#endif
