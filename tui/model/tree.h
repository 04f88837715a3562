/*
 * The call tree of one class as the probe sent it: nodes, what is known of each,
 * and sums over everything below it.
 *
 * A node's own counts come from its sites. Where stacks were sampled, a node's
 * part of the objects born while tracing is that of its samples, each weighed by
 * what it stands for (estimate.h); `error` is the half-width of the 95 % interval.
 * The root's live is the class's, exactly, what no path accounts for included; where
 * nothing was sampled every figure is exact.
 *
 * Node numbers here are indices: 0 is the root, parents come before children. The
 * wire's ids are `id`. Memory that a probe can make us take is bounded.
 */
#ifndef TUI_MODEL_TREE_H
#define TUI_MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

#define TREE_NODES_MAX 2000000u
#define TREE_FRAMES_MAX 1000000u
#define TREE_SITES_MAX 4000000u
#define TREE_NONE UINT32_MAX // no node

// Trees kept at a time; the one that had no news for the longest goes first.
#define TREES_MAX 8u

// A sampled figure that rests on fewer objects than this is uncertain.
#define TREE_FEW_SAMPLES 10u

struct tree_frame {
    uint32_t id;
    uint32_t flags;    // enum frame_flag, or-ed
    const char *label; // terminated, escaped; "" until known. // owned by the model
    const char *path;  // terminated, escaped for display; "" when it has none
    const char *file;  // the path's own bytes, to open it; "" when none can be
    uint32_t line;     // the first one
    uint32_t bytes;    // of the three texts, 0 while they are not the frame's own
};

// Objects; the node's own, or with everything below it.
struct tree_counts {
    double live;              // whole numbers where exact
    double allocated;         // while tracing
    double bytes;             // memsize at the last census, NAN while unknown
    double error;             // of live: half-width of a 95 % interval, 0 where exact
    uint64_t samples;         // live objects known to be there, what the rest is from
    double ages[AGE_BUCKETS]; // of live objects, at the last census; NAN while unknown
};

struct tree_model; // of one class

// The class's tree, NULL when none came, or when it went: with its class, with its
// connection, or because trees of TREES_MAX other classes had news since. Pointers are
// good until the next model_apply() or model_reconnect().
struct model;
const struct tree_model *model_tree(const struct model *model, class_id id);

// The last tree message: class, flags, shift, since_us, depth, nodes_used,
// nodes_room. Its lists are not kept.
const struct tree *tree_header(const struct tree_model *tree);

// True when every figure is exact: no object of this tree went without a stack.
bool tree_exact(const struct tree_model *tree);

uint32_t tree_node_count(const struct tree_model *tree);            // root included
uint32_t tree_parent(const struct tree_model *tree, uint32_t node); // TREE_NONE: root
uint32_t tree_first_child(const struct tree_model *tree, uint32_t node);
uint32_t tree_next_sibling(const struct tree_model *tree, uint32_t node);
uint32_t tree_node_id(const struct tree_model *tree, uint32_t node); // on the wire
uint32_t tree_line(const struct tree_model *tree, uint32_t node);
uint32_t tree_block(const struct tree_model *tree, uint32_t node);
uint32_t tree_depth(const struct tree_model *tree, uint32_t node); // root is 0

// Never NULL: the special frames have frames as well, and one without a name has
// an empty label.
const struct tree_frame *tree_frame(const struct tree_model *tree, uint32_t node);

// A small number for each frame, below tree_frame_slots(), for what somebody else
// wants to remember of it. Good as long as the generation.
uint32_t tree_frame_slot(const struct tree_model *tree, uint32_t node);
uint32_t tree_frame_slots(const struct tree_model *tree);
const struct tree_frame *tree_frame_in(const struct tree_model *tree, uint32_t slot);

// "block in Cart#add", "(before tracing)", the class's name for the root, "(no name
// yet)" for a frame that the probe could not ask yet.
void tree_label(const struct tree_model *tree, uint32_t node, char *label, size_t size);

struct tree_counts tree_self(const struct tree_model *tree, uint32_t node);
struct tree_counts tree_total(const struct tree_model *tree, uint32_t node);

// Live since the mark in use, or since the tree first came when there was none
// then; and live and allocated per second over the model's window, NAN while
// unknown. With everything below the node.
double tree_delta(const struct tree_model *tree, uint32_t node);
double tree_delta_bytes(const struct tree_model *tree, uint32_t node);
double tree_live_per_second(const struct tree_model *tree, uint32_t node);
double tree_allocated_per_second(const struct tree_model *tree, uint32_t node);

// False when this tree has no baseline from the mark in use: its changes are then
// since the tree first came.
bool tree_since_mark(const struct tree_model *tree);

// Grows whenever a tree message, a name or a mark changed it. Nodes are only ever
// added, but for a new connection, or when the tree was dropped for others: then
// `tree_generation` is another as well.
uint64_t tree_version(const struct tree_model *tree);
uint64_t tree_generation(const struct tree_model *tree);

// Grows when a node that was there gets another label.
uint64_t tree_names_version(const struct tree_model *tree);

#endif
