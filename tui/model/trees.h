/*
 * The trees a model holds, the frames they share, and which mark they compare with.
 * Trees of a connection that ended mean nothing: a class is opened anew.
 */
#ifndef TUI_MODEL_TREES_H
#define TUI_MODEL_TREES_H

#include "tui/model/classes.h"
#include "tui/model/frames.h"
#include "tui/model/tree_store.h"

// Starts as all zeroes; destroying it twice is harmless.
struct trees {
    struct tree_model *list[TREES_MAX]; // owned; the latest news last
    size_t count;
    struct frames_kept frames;
    uint64_t generation; // of the tree that came last
};

void trees_destroy(struct trees *trees);

// False when memory ran out; `copy` is then empty.
bool trees_copy(struct trees *copy, const struct trees *trees);

// No tree and no frame is known any more; generations go on.
void trees_clear(struct trees *trees);

// Keep the trees of classes that are known.
void trees_sweep(struct trees *trees, const struct classes *classes);

// Take names of frames; a tree. False when memory ran out.
bool trees_name(struct trees *trees, const struct frames *message);
bool trees_apply(struct trees *trees, const struct tree *message, struct stamp at);

// The tree of a class with its sums made, to be read against a mark; or NULL.
const struct tree_model *trees_find(const struct trees *trees,
                                    const struct model_class *class, int mark);

// A mark is being set: keep what the trees are now, for trees_mark_done(), which
// cannot fail. False when memory ran out; marks are as they were.
bool trees_mark(struct trees *trees);
void trees_mark_done(struct trees *trees, int mark);

// The same for a mark that a message tells of, MODEL_MARK_NONE for "since connecting":
// `goes_on` when it adds to the one that is set.
bool trees_take(struct trees *trees, int mark, const struct mark_state *state,
                bool goes_on);

// What the trees show changed: a mark, or a name.
void trees_renew(struct trees *trees);

#endif
