// What rows count: sums of their members, and how they changed.

#include <math.h>

#include "tui/model/paths_builder.h"

static double
add_known(double a, double b)
{
    if (isnan(a)) {
        return b;
    }
    return isnan(b) ? a : a + b;
}

void
paths_figures_add_flow(struct paths_flow *to, struct paths_flow from)
{
    to->delta = add_known(to->delta, from.delta);
    to->delta_bytes = add_known(to->delta_bytes, from.delta_bytes);
    to->live_per_second = add_known(to->live_per_second, from.live_per_second);
    to->allocated_per_second =
        add_known(to->allocated_per_second, from.allocated_per_second);
}

struct paths_flow
paths_figures_total_flow(const struct tree_model *tree, uint32_t node)
{
    return (struct paths_flow){
        tree_delta(tree, node),
        tree_delta_bytes(tree, node),
        tree_live_per_second(tree, node),
        tree_allocated_per_second(tree, node),
    };
}

// Differences of sums of fractions: what is left by rounding is nothing.
static double
less(double all, double children)
{
    double left = isnan(children) ? all : all - children;
    return fabs(left) < 1e-6 ? 0 : left;
}

static struct paths_flow
self_flow(const struct tree_model *tree, uint32_t node)
{
    const double unknown = (double)NAN;
    struct paths_flow all = paths_figures_total_flow(tree, node);
    struct paths_flow below = {unknown, unknown, unknown, unknown};
    for (uint32_t at = tree_first_child(tree, node); at != TREE_NONE;
         at = tree_next_sibling(tree, at)) {
        paths_figures_add_flow(&below, paths_figures_total_flow(tree, at));
    }
    return (struct paths_flow){
        less(all.delta, below.delta),
        less(all.delta_bytes, below.delta_bytes),
        less(all.live_per_second, below.live_per_second),
        less(all.allocated_per_second, below.allocated_per_second),
    };
}

// Flat: a place has what is below its topmost nodes, and the own objects of all.
// Others' code is one row, and only has its own.
static void
add_place(const struct paths_builder *builder, struct paths_item *item, uint32_t node)
{
    const struct tree_model *tree = builder->tree;
    struct tree_sum own = tree_store_self(tree, node);
    struct paths_flow flow = self_flow(tree, node);
    tree_store_add(&item->own, &own);
    paths_figures_add_flow(&item->own_flow, flow);
    if (item->kind != PATHS_ROW_NODE) {
        tree_store_add(&item->sum, &own);
        paths_figures_add_flow(&item->flow, flow);
    } else if (builder->state->places.topmost[node]) {
        tree_store_add(&item->sum, &tree->sums[node]);
        paths_figures_add_flow(&item->flow, paths_figures_total_flow(tree, node));
    }
}

void
paths_figures_add(const struct paths_builder *builder, struct paths_item *item,
                  struct paths_member member)
{
    const struct tree_model *tree = builder->tree;
    if (builder->paths->shape == PATHS_FLAT) {
        add_place(builder, item, member.node);
    } else if (builder->paths->shape == PATHS_CALLERS && member.leaf != TREE_NONE) {
        tree_store_add(&item->sum, &tree->sums[member.node]);
        paths_figures_add_flow(&item->flow, paths_figures_total_flow(tree, member.node));
    } else {
        uint32_t of = member.leaf != TREE_NONE ? member.leaf : member.node;
        struct tree_sum self = tree_store_self(tree, of);
        tree_store_add(&item->sum, &self);
        paths_figures_add_flow(&item->flow, self_flow(tree, of));
    }
}

static double
old_share(const struct tree_sum *sum)
{
    double all = 0;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        all += sum->ages[i];
    }
    return sum->ages_known && all > 0 ? (sum->ages[2] + sum->ages[3]) / all : (double)NAN;
}

double
paths_figures_by(const struct paths_item *item, enum paths_order order)
{
    switch (order) {
    case PATHS_BY_DELTA:
        return item->flow.delta;
    case PATHS_BY_RATE:
        return item->flow.live_per_second;
    case PATHS_BY_BYTES:
        return item->sum.bytes_known ? item->sum.bytes : (double)NAN;
    case PATHS_BY_ALLOCATED:
        return item->sum.allocated;
    case PATHS_BY_AGE:
        return old_share(&item->sum);
    default:
        return item->sum.live;
    }
}

struct tree_sum
paths_figures_self(const struct paths_builder *builder, const struct paths_item *item)
{
    struct tree_sum self = {0};
    if (item->kind != PATHS_ROW_NODE) {
        return self;
    }
    if (builder->paths->shape == PATHS_FLAT && item->depth > 0) {
        return item->own;
    }
    if (builder->paths->shape == PATHS_LINES && item->depth > 0) {
        return item->top ? item->sum : self;
    }
    for (size_t i = item->from; i < item->from + item->count; i++) {
        struct tree_sum own = tree_store_self(builder->tree, builder->members[i].node);
        tree_store_add(&self, &own);
    }
    return self;
}
