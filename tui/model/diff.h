/*
 * What changed between two models: two moments of one program, or two programs, or
 * one before and after it was started again.
 *
 * Classes are matched by name and kind; ids mean nothing from one model to another.
 * Classes of one name, such as two anonymous ones, are one row with the sum of both.
 * What nobody counted stays unknown, and so does what it is part of: a sum, a
 * difference. A class that a model which counted does not know had no objects there.
 *
 * Call paths are in diff_paths.h. One pass over all classes and a sort; names and
 * models are borrowed, so that both models must stay as they are meanwhile.
 */
#ifndef TUI_MODEL_DIFF_H
#define TUI_MODEL_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model/model.h"

// A difference of which one side is unknown.
#define DIFF_UNKNOWN INT64_MIN

// By objects; where their number is the same or unknown, by bytes.
enum diff_kind {
    DIFF_ADDED, // was not there before
    DIFF_GROWN,
    DIFF_SHRUNK,
    DIFF_GONE,
    DIFF_UNCHANGED,
    DIFF_UNTOLD, // one side is unknown
    DIFF_KINDS,
};

// Of a sum of classes; any may be COUNT_UNKNOWN. A sum beyond 64 bits stops below it.
struct diff_counts {
    uint64_t live;
    uint64_t bytes;
    uint64_t allocated;
};

// After less before; any may be DIFF_UNKNOWN. One beyond 63 bits stops there.
struct diff_change {
    int64_t live;
    int64_t bytes;
    int64_t allocated;
};

struct diff_class {
    const char *name; // escaped; "" for classes whose names never came
    uint32_t flags;   // CLASS_INTERNAL and CLASS_ANONYMOUS
    enum diff_kind kind;
    bool traced;             // a call tree of it is there, before or after
    uint32_t classes_before; // of this name, 0: it was not there
    uint32_t classes_after;
    struct diff_counts before;
    struct diff_counts after;
    struct diff_change change;
};

struct diff {
    const struct model *before; // borrowed
    const struct model *after;  // borrowed
    bool same_process;          // as far as both said who they are
    bool counted_before;        // false: what is not listed there is not known
    bool counted_after;
    struct diff_class *classes; // owned; the largest change of live first, then of
                                // bytes; unknown ones last
    size_t count;
    size_t kinds[DIFF_KINDS]; // classes of each kind
    struct diff_class total;  // of the process as it said it; named "total"
};

// False when memory ran out; `diff` is then empty.
bool diff_init(struct diff *diff, const struct model *before, const struct model *after);
void diff_destroy(struct diff *diff);

// "added", "grown", "shrunk", "gone", "unchanged", "unknown".
const char *diff_kind_name(enum diff_kind kind);

// The tree of a class of one of the models, NULL when there is none.
struct tree_model;
const struct tree_model *diff_tree(const struct model *model,
                                   const struct model_class *class);

// After less before.
int64_t diff_subtract(uint64_t after, uint64_t before);

#endif
