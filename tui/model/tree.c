#include "tui/model/tree.h"

#include <math.h>
#include <stdio.h>

#include "tui/model/tree_store.h"

const struct tree *
tree_header(const struct tree_model *tree)
{
    return &tree->header;
}

bool
tree_exact(const struct tree_model *tree)
{
    return tree->live.unsampled <= 0 && tree->allocated.unsampled <= 0;
}

uint32_t
tree_node_count(const struct tree_model *tree)
{
    return tree->count;
}

uint32_t
tree_parent(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].parent;
}

uint32_t
tree_first_child(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].first_child;
}

uint32_t
tree_next_sibling(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].next_sibling;
}

uint32_t
tree_node_id(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].id;
}

uint32_t
tree_line(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].line;
}

uint32_t
tree_block(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].block;
}

uint32_t
tree_depth(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].depth;
}

uint32_t
tree_frame_slot(const struct tree_model *tree, uint32_t node)
{
    return tree->nodes[node].frame;
}

uint32_t
tree_frame_slots(const struct tree_model *tree)
{
    return tree->frames->count;
}

const struct tree_frame *
tree_frame_in(const struct tree_model *tree, uint32_t slot)
{
    static const struct tree_frame nothing = {.label = "", .path = "", .file = ""};
    return slot < tree->frames->count ? &tree->frames->list[slot] : &nothing;
}

const struct tree_frame *
tree_frame(const struct tree_model *tree, uint32_t node)
{
    return tree_frame_in(tree, tree->nodes[node].frame);
}

void
tree_label(const struct tree_model *tree, uint32_t node, char *label, size_t size)
{
    const struct tree_place *place = &tree->nodes[node];
    const char *name = node == 0 ? tree->class_name : tree_frame(tree, node)->label;
    if (node != 0 && name[0] == '\0') {
        name = "(no name yet)";
    }
    if (place->block == 0) {
        snprintf(label, size, "%s", name);
    } else if (place->block == 1) {
        snprintf(label, size, "block in %s", name);
    } else {
        snprintf(label, size, "block (%u levels) in %s", (unsigned)place->block, name);
    }
}

struct tree_counts
tree_total(const struct tree_model *tree, uint32_t node)
{
    return tree_store_counts(tree, &tree->sums[node], tree_store_counted(tree, node));
}

struct tree_counts
tree_self(const struct tree_model *tree, uint32_t node)
{
    struct tree_sum self = tree_store_self(tree, node);
    return tree_store_counts(tree, &self, tree_store_counted(tree, node));
}

// What the changes of now are compared with.
static const struct tree_moment *
baseline(const struct tree_model *tree)
{
    return tree_since_mark(tree) ? &tree->marks[tree->mark] : &tree->first;
}

// Nodes that came later than the baseline had nothing then. A tree that only just
// came is its own baseline.
static double
since(const struct tree_moment *moment, uint32_t node, int which, double now)
{
    if (!moment->set) {
        return isnan(now) ? now : 0;
    }
    return node < moment->count ? now - moment->values[node][which] : now;
}

double
tree_delta(const struct tree_model *tree, uint32_t node)
{
    return since(baseline(tree), node, 0, tree->sums[node].live);
}

double
tree_delta_bytes(const struct tree_model *tree, uint32_t node)
{
    const struct tree_sum *sum = &tree->sums[node];
    return since(baseline(tree), node, 1, sum->bytes_known ? sum->bytes : (double)NAN);
}

static double
per_second(const struct tree_model *tree, uint32_t node, int which, double now)
{
    const struct tree_moment *from = &tree->anchors[0];
    if (!from->set || tree->last_us <= from->us) {
        return (double)NAN;
    }
    double seconds = (double)(tree->last_us - from->us) / 1e6;
    return since(from, node, which, now) / seconds;
}

double
tree_live_per_second(const struct tree_model *tree, uint32_t node)
{
    return per_second(tree, node, 0, tree->sums[node].live);
}

double
tree_allocated_per_second(const struct tree_model *tree, uint32_t node)
{
    return per_second(tree, node, 1, tree->sums[node].allocated);
}

bool
tree_since_mark(const struct tree_model *tree)
{
    return tree->mark != MODEL_MARK_NONE && tree->marks[tree->mark].set;
}

uint64_t
tree_names_version(const struct tree_model *tree)
{
    return tree->frames->renamed + tree->renamed;
}

uint64_t
tree_version(const struct tree_model *tree)
{
    return tree->version;
}

uint64_t
tree_generation(const struct tree_model *tree)
{
    return tree->generation;
}
