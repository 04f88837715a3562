/*
 * The call paths of one class with whole numbers, for formats that know no fractions:
 * flame graphs, profiles, spreadsheets.
 *
 * A path is a node of the tree that has objects of its own. Where stacks were sampled
 * its figures are estimates; each column is rounded so that it adds up to the tree's
 * own figure, which for live is the class's exactly: the largest fractions go up.
 */
#ifndef TUI_EXPORT_STACKS_H
#define TUI_EXPORT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model/model.h"
#include "tui/model/tree.h"

enum stacks_figure {
    STACKS_LIVE,
    STACKS_ALLOCATED, // while tracing
    STACKS_BYTES,     // memsize at the last census
    STACKS_AGES,      // and the buckets behind it: of live objects, at the last census
    STACKS_FIGURES = STACKS_AGES + AGE_BUCKETS,
};

struct stacks_row {
    uint32_t node; // the innermost frame; 0 for what no path accounts for
    double error;  // of live: half-width of a 95 % interval, 0 where exact
    uint64_t figures[STACKS_FIGURES]; // COUNT_UNKNOWN where nobody measured
};

struct stacks {
    const struct model_class *class; // borrowed
    const struct tree_model *tree;   // borrowed
    const char *name;                // of the class, never empty; borrowed
    struct stacks_row *rows;         // owned; most live first
    size_t count;
    size_t depth;   // frames of the deepest row
    uint32_t *path; // owned; so many
    char spare[32]; // a name for who has none
};

// Take the paths of every class that has a tree, one class after the other, most
// alive first. `take` returns false, with errno set, to end it. False when it did, or
// when memory ran out: errno is then ENOMEM.
typedef bool stacks_taker(void *context, struct stacks *stacks);
bool stacks_each(const struct model *model, stacks_taker *take, void *context);

// Nodes from the outermost frame to a row's innermost, without the root: `*depth` of
// them, 0 for what no path accounts for. Good until the next call.
const uint32_t *stacks_path(struct stacks *stacks, const struct stacks_row *row,
                            size_t *depth);

#endif
