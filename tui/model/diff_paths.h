/*
 * Where the change of a class comes from: its call trees of before and after, laid
 * over each other to one, each place with the figures of both.
 *
 * Two places are the same when they have the same label and path and hang under the
 * same place, from the root on. Their lines are compared last: in one process they
 * must be equal. Code of another process may have been edited since, so there lines
 * are matched that are as far from the start of their method, then equal lines, then
 * what is left in the order of the lines; diff_paths_moved() says so. Whether a line
 * is in a block does not count: a probe finds that out later.
 *
 * Where stacks were sampled figures are estimates, and a difference carries a 95 %
 * interval: the variances of both sides together. A difference within it may be none.
 *
 * A side is known when every class of the name that has objects has a tree there;
 * without that no difference of paths can be told, and all are NAN.
 *
 * One pass over all nodes, siblings sorted; some 50 bytes a node. Trees are borrowed:
 * both models must stay as they are meanwhile.
 */
#ifndef TUI_MODEL_DIFF_PATHS_H
#define TUI_MODEL_DIFF_PATHS_H

#include "tui/model/diff.h"
#include "tui/model/tree.h"

// Nodes of all trees together that are looked at; a tree beyond is not, and its side
// is then not known.
#define DIFF_NODES_MAX (2u * TREE_NODES_MAX)

// What a difference of paths is about: what its sites are ordered by, and what kinds
// and significance are judged by.
enum diff_measure {
    DIFF_OF_OBJECTS,
    DIFF_OF_BYTES, // memsize at the last census
};

// Objects; NAN is unknown.
struct diff_figures {
    double live;
    double bytes;
    double allocated;
    double error;       // of live: half-width of a 95 % interval, 0 where exact
    double error_bytes; // the same of bytes, as if all objects here were of one size
};

struct diff_pair {
    struct diff_figures before;
    struct diff_figures after;
    struct diff_figures change; // after less before, its errors are of both together
    bool significant;           // it is not 0, and 0 is outside the interval
    enum diff_kind kind;        // whether it is significant or not
};

// A path: from the root down to a node that has objects of its own.
struct diff_site {
    uint32_t node;
    double change; // of the node's own, in the measure; NAN while unknown
    double size;   // what it is ordered by
};

struct diff_node {
    uint32_t parent; // node, TREE_NONE for the root. Parents come before children
    uint32_t first_child;
    uint32_t child_count; // they are one behind another
    uint32_t frame;       // for diff_paths_frame()
    uint32_t line_before; // 0 when it has none, or was not there
    uint32_t line_after;
    uint32_t block;
    uint32_t depth;
    uint32_t first_member;
    uint32_t member_count;
    bool before; // it was there
    bool after;
};

struct diff_paths {
    enum diff_measure measure;
    bool known_before;
    bool known_after;
    bool exact; // no figure is an estimate
    bool cut;   // DIFF_NODES_MAX was reached
    uint32_t trees_before;
    uint32_t trees_after;
    struct diff_node *nodes; // owned; 0 is the root. None without any tree
    uint32_t node_count;
    struct diff_site *sites; // owned: the largest change first, unknown ones by what
                             // is there after, or before
    uint32_t site_count;
    struct diff_paths_tree *trees;     // owned
    struct diff_paths_member *members; // owned
    const struct tree_frame **frames;  // owned; what it points to is the models'
    const char *name;                  // borrowed: the class's
};

// Of a class of a diff; trees are found in its models. False when memory ran out;
// `paths` is then empty.
bool diff_paths_init(struct diff_paths *paths, const struct diff *diff,
                     const struct diff_class *class, enum diff_measure measure);
void diff_paths_destroy(struct diff_paths *paths);

// With everything below a node, and its own alone; of the root what no path has.
struct diff_pair diff_paths_total(const struct diff_paths *paths, uint32_t node);
struct diff_pair diff_paths_self(const struct diff_paths *paths, uint32_t node);

// Of a pair's figures the one that was asked for, and its interval.
double diff_paths_measured(const struct diff_paths *paths,
                           const struct diff_figures *figures);
double diff_paths_error(const struct diff_paths *paths,
                        const struct diff_figures *figures);

// How large a change is for the order of rows: never NAN. While it is unknown, by what
// is known: objects for bytes, what there is after or before for what changed.
double diff_paths_size(const struct diff_paths *paths, const struct diff_pair *pair);

// As tree_frame() and tree_label(): "block in Cart#add", the class's name for the root.
const struct tree_frame *diff_paths_frame(const struct diff_paths *paths, uint32_t node);
void diff_paths_label(const struct diff_paths *paths, uint32_t node, char *label,
                      size_t size);

// The line after, or before when it is gone; and whether it was another one before.
uint32_t diff_paths_line(const struct diff_paths *paths, uint32_t node);
bool diff_paths_moved(const struct diff_paths *paths, uint32_t node);

#endif
