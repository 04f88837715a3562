// Rows of a tree: take an item from a stack, make it a row, and when it is open
// find what is below it, group that by place, sum, sort, and put it on the stack.
// An item stands for its members: nodes of the tree, bottom-up each with the node
// whose own objects are counted.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/paths_state.h"
#include "tui/model/tree_store.h"

#define NO_RANK UINT32_MAX

// Frames above rows that one update looks at for recursion; then it is not told.
#define RECURSION_LOOK 20000000u

// A path takes the place of the largest one when it is so many times as large.
#define LEAD_MARGIN 1.5

// Owners named in a folded row; more of them are dots.
#define OWNERS_SHOWN 3u

struct member {
    uint32_t node;
    uint32_t leaf; // whose own objects count; of callers TREE_NONE for `node`'s own
                   // alone, anything else for all below it
};

struct candidate {
    struct member member;
    uint32_t group; // its place; for what is folded one beyond the last
};

struct flow {
    double delta;
    double delta_bytes;
    double live_per_second;
    double allocated_per_second;
};

struct item {
    uint64_t key;
    enum paths_row_kind kind;
    uint32_t group;
    uint32_t depth;
    uint32_t parent; // row
    uint32_t siblings;
    uint32_t rank; // where it was, when the order is held
    size_t from;   // its members
    size_t count;
    struct tree_sum sum;
    struct flow flow;
    struct tree_sum own; // flat only: objects of the place itself
    struct flow own_flow;
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

struct builder {
    struct paths *paths;
    struct paths_state *state;
    const struct tree_model *tree;
    struct member *members; // owned
    size_t member_count;
    size_t member_capacity;
    struct candidate *found; // owned
    size_t found_count;
    size_t found_capacity;
    struct item *stack; // owned
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

// Room for one more. Never smaller than it was.
static void *
room(struct builder *builder, void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return list;
    }
    size_t wanted = *capacity != 0 ? *capacity * 2 : 256;
    void *grown = realloc(list, wanted * size);
    if (grown == NULL) {
        builder->failed = true;
        return list;
    }
    *capacity = wanted;
    return grown;
}

static void
add_member(struct builder *builder, struct member member)
{
    builder->members = room(builder, builder->members, builder->member_count,
                            &builder->member_capacity, sizeof member);
    if (!builder->failed) {
        builder->members[builder->member_count++] = member;
    }
}

static void
push(struct builder *builder, const struct item *item)
{
    builder->stack =
        room(builder, builder->stack, builder->count, &builder->capacity, sizeof *item);
    if (!builder->failed) {
        builder->stack[builder->count++] = *item;
    }
}

static bool
tired(struct builder *builder)
{
    if (builder->looked_at < PATHS_WORK_MAX) {
        return false;
    }
    builder->paths->cut = true;
    return true;
}

static void
find(struct builder *builder, uint32_t node, uint32_t leaf, uint32_t group)
{
    if (tired(builder)) {
        return;
    }
    builder->looked_at++;
    builder->paths->work.candidates++;
    builder->found = room(builder, builder->found, builder->found_count,
                          &builder->found_capacity, sizeof *builder->found);
    if (!builder->failed) {
        builder->found[builder->found_count++] = (struct candidate){
            {node, leaf},
            group
        };
    }
}

static uint32_t
fold_group(const struct builder *builder)
{
    return builder->state->places.count;
}

static bool
folds(const struct builder *builder, uint32_t node)
{
    return builder->paths->own_only && !places_own(&builder->state->places, node);
}

static uint32_t
group_of(const struct builder *builder, uint32_t node)
{
    return folds(builder, node) ? fold_group(builder) : builder->state->places.of[node];
}

static bool
kept(const struct builder *builder, uint32_t node, unsigned ways)
{
    return builder->state->kept == NULL || (builder->state->kept[node] & ways) != 0;
}

#define ANY_WAY ((unsigned)PATHS_KEPT_HIT | PATHS_KEPT_BELOW | PATHS_KEPT_ABOVE)
#define FROM_CALLERS ((unsigned)PATHS_KEPT_HIT | PATHS_KEPT_ABOVE)

// The next node of a folded part of the tree, from the callers down: frames of
// others below `root`, and the program's own that they call, but nothing below those.
static uint32_t
next_folded(const struct builder *builder, uint32_t root, uint32_t node)
{
    bool ends = places_own(&builder->state->places, node);
    uint32_t next = ends ? TREE_NONE : tree_first_child(builder->tree, node);
    while (next == TREE_NONE && node != root) {
        next = tree_next_sibling(builder->tree, node);
        node = tree_parent(builder->tree, node);
    }
    return next;
}

static void
find_callees(struct builder *builder, const struct item *item)
{
    const struct tree_model *tree = builder->tree;
    for (size_t i = item->from; i < item->from + item->count; i++) {
        struct member member = builder->members[i];
        uint32_t at =
            member.leaf != TREE_NONE ? tree_first_child(tree, member.node) : TREE_NONE;
        for (; at != TREE_NONE && !builder->failed; at = tree_next_sibling(tree, at)) {
            if (kept(builder, at, ANY_WAY)) {
                find(builder, at, at, group_of(builder, at));
            }
        }
    }
}

// Below what is folded: the program's own code, and lines of others that allocate.
static void
find_unfolded(struct builder *builder, const struct item *item)
{
    const struct tree_model *tree = builder->tree;
    const struct places *places = &builder->state->places;
    for (size_t i = item->from; i < item->from + item->count; i++) {
        uint32_t root = builder->members[i].node;
        for (uint32_t at = root; at != TREE_NONE && !tired(builder);
             at = next_folded(builder, root, at)) {
            bool own = places_own(places, at);
            builder->looked_at++;
            if ((own || tree->nodes[at].first_site != TREE_NONE) &&
                kept(builder, at, ANY_WAY)) {
                find(builder, at, own ? at : TREE_NONE, places->of[at]);
            }
        }
    }
}

// The program's own line at which something was allocated: in front of what others'
// code, and functions in C, did for it. The leaf itself when there is none.
static uint32_t
own_line(struct builder *builder, uint32_t leaf)
{
    const struct tree_model *tree = builder->tree;
    const uint32_t *own_at = builder->state->places.own_at;
    uint32_t first = own_at[leaf] != 0 ? own_at[leaf] : leaf;
    for (uint32_t at = own_at[leaf]; at != 0 && !tired(builder);
         at = own_at[tree_parent(tree, at)]) {
        const struct tree_frame *frame = tree_frame(tree, at);
        builder->looked_at++;
        if (frame->path[0] != '\0' || frame->id < FRAME_FIRST) {
            return at;
        }
    }
    return first;
}

static void
find_lines(struct builder *builder)
{
    const struct tree_model *tree = builder->tree;
    for (uint32_t leaf = 1; leaf < tree->count && !builder->failed; leaf++) {
        if (tree->nodes[leaf].first_site == TREE_NONE ||
            !kept(builder, leaf, FROM_CALLERS)) {
            continue;
        }
        uint32_t at = builder->paths->own_only ? own_line(builder, leaf) : leaf;
        find(builder, at, leaf, group_of(builder, at));
    }
}

static void
find_callers(struct builder *builder, const struct item *item)
{
    for (size_t i = item->from; i < item->from + item->count && !builder->failed; i++) {
        struct member member = builder->members[i];
        uint32_t caller = item->kind == PATHS_ROW_FOLDED
                              ? builder->state->places.own_at[member.node]
                              : tree_parent(builder->tree, member.node);
        if (caller != 0) {
            find(builder, caller, member.leaf, group_of(builder, caller));
        }
    }
}

static void
find_places(struct builder *builder)
{
    for (uint32_t node = 1; node < builder->tree->count && !builder->failed; node++) {
        if (kept(builder, node, PATHS_KEPT_HIT)) {
            find(builder, node, node, group_of(builder, node));
        }
    }
}

static void
find_below(struct builder *builder, const struct item *item)
{
    builder->found_count = 0;
    if (item->kind == PATHS_ROW_REST) {
        for (size_t i = item->from; i < item->from + item->count; i++) {
            struct member member = builder->members[i];
            find(builder, member.node, member.leaf,
                 builder->state->places.of[member.node]);
        }
        return;
    }
    switch (builder->paths->shape) {
    case PATHS_CALLERS:
        if (item->kind == PATHS_ROW_FOLDED) {
            find_unfolded(builder, item);
        } else {
            find_callees(builder, item);
        }
        return;
    case PATHS_LINES:
        if (item->depth == 0) {
            find_lines(builder);
        } else {
            find_callers(builder, item);
        }
        return;
    case PATHS_FLAT:
        if (item->depth == 0) {
            find_places(builder);
        }
        return;
    }
}

static double
add_known(double a, double b)
{
    if (isnan(a)) {
        return b;
    }
    return isnan(b) ? a : a + b;
}

static void
add_flow(struct flow *to, struct flow from)
{
    to->delta = add_known(to->delta, from.delta);
    to->delta_bytes = add_known(to->delta_bytes, from.delta_bytes);
    to->live_per_second = add_known(to->live_per_second, from.live_per_second);
    to->allocated_per_second =
        add_known(to->allocated_per_second, from.allocated_per_second);
}

static struct flow
total_flow(const struct tree_model *tree, uint32_t node)
{
    return (struct flow){
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

static struct flow
self_flow(const struct tree_model *tree, uint32_t node)
{
    const double unknown = (double)NAN;
    struct flow all = total_flow(tree, node);
    struct flow below = {unknown, unknown, unknown, unknown};
    for (uint32_t at = tree_first_child(tree, node); at != TREE_NONE;
         at = tree_next_sibling(tree, at)) {
        add_flow(&below, total_flow(tree, at));
    }
    return (struct flow){
        less(all.delta, below.delta),
        less(all.delta_bytes, below.delta_bytes),
        less(all.live_per_second, below.live_per_second),
        less(all.allocated_per_second, below.allocated_per_second),
    };
}

// Flat: a place has what is below its topmost nodes, and the own objects of all.
// Others' code is one row, and only has its own.
static void
add_place(const struct builder *builder, struct item *item, uint32_t node)
{
    const struct tree_model *tree = builder->tree;
    struct tree_sum own = tree_store_self(tree, node);
    struct flow flow = self_flow(tree, node);
    tree_store_add(&item->own, &own);
    add_flow(&item->own_flow, flow);
    if (item->kind != PATHS_ROW_NODE) {
        tree_store_add(&item->sum, &own);
        add_flow(&item->flow, flow);
    } else if (builder->state->places.topmost[node]) {
        tree_store_add(&item->sum, &tree->sums[node]);
        add_flow(&item->flow, total_flow(tree, node));
    }
}

// What a member adds to its row.
static void
add_figures(const struct builder *builder, struct item *item, struct member member)
{
    const struct tree_model *tree = builder->tree;
    if (builder->paths->shape == PATHS_FLAT) {
        add_place(builder, item, member.node);
    } else if (builder->paths->shape == PATHS_CALLERS && member.leaf != TREE_NONE) {
        tree_store_add(&item->sum, &tree->sums[member.node]);
        add_flow(&item->flow, total_flow(tree, member.node));
    } else {
        uint32_t of = member.leaf != TREE_NONE ? member.leaf : member.node;
        struct tree_sum self = tree_store_self(tree, of);
        tree_store_add(&item->sum, &self);
        add_flow(&item->flow, self_flow(tree, of));
    }
}

static uint64_t
mix(uint64_t key, uint64_t with)
{
    key = (key ^ with) * UINT64_C(0x9e3779b97f4a7c15);
    return (key ^ (key >> 32)) | 1;
}

uint64_t
paths_build_key(const struct paths_state *state, uint64_t parent,
                enum paths_row_kind kind, uint32_t group)
{
    // a place's identity is odd
    return kind == PATHS_ROW_NODE ? mix(parent, places_identity(&state->places, group))
                                  : mix(parent, 2 * (uint64_t)kind);
}

// An item without members or figures below another one.
static struct item
blank(const struct builder *builder, const struct item *parent, uint32_t row,
      enum paths_row_kind kind, uint32_t group)
{
    const double unknown = (double)NAN;
    struct item item = {
        .key = paths_build_key(builder->state, parent->key, kind, group),
        .kind = kind,
        .group = group,
        .depth = parent->depth + 1,
        .parent = row,
        .rank = NO_RANK,
        .flow = {unknown, unknown, unknown, unknown},
        .own_flow = {unknown, unknown, unknown, unknown},
        .top = parent->depth == 0 || (parent->kind == PATHS_ROW_REST && parent->top),
        .deep_act = parent->deep_act,
        .deep_open = parent->deep_open,
        .inverted = builder->paths->inverted,
    };
    size_t cursor = 0;
    if (builder->paths->held) {
        item.rank = index_next(&builder->ranks, item.key, &cursor);
    }
    return item;
}

// Make an item of each group of candidates: first count and sum, then lay the
// members of each beside each other.
static void
group(struct builder *builder, const struct item *parent, uint32_t row)
{
    size_t base = builder->count;
    builder->stamp++;
    for (size_t i = 0; i < builder->found_count && !builder->failed; i++) {
        const struct candidate *at = &builder->found[i];
        if (builder->group_stamp[at->group] != builder->stamp) {
            enum paths_row_kind kind =
                at->group == fold_group(builder) ? PATHS_ROW_FOLDED : PATHS_ROW_NODE;
            struct item item = blank(builder, parent, row, kind, at->group);
            item.frame = tree_frame(builder->tree, at->member.node);
            item.line = tree_line(builder->tree, at->member.node);
            builder->group_stamp[at->group] = builder->stamp;
            builder->group_item[at->group] = (uint32_t)builder->count;
            push(builder, &item);
        }
        if (builder->failed) {
            return;
        }
        struct item *item = &builder->stack[builder->group_item[at->group]];
        item->count++;
        add_figures(builder, item, at->member);
    }
    size_t from = builder->member_count;
    for (size_t i = base; i < builder->count; i++) {
        builder->stack[i].from = from;
        from += builder->stack[i].count;
        builder->stack[i].count = 0;
    }
    for (size_t i = 0; i < builder->found_count && !builder->failed; i++) {
        add_member(builder, (struct member){0}); // the room
    }
    for (size_t i = 0; i < builder->found_count && !builder->failed; i++) {
        struct item *item = &builder->stack[builder->group_item[builder->found[i].group]];
        builder->members[item->from + item->count++] = builder->found[i].member;
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

static double
figure(const struct item *item, enum paths_order order)
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

static int
compare_places(const struct item *a, const struct item *b)
{
    int order = strcmp(a->frame->label, b->frame->label);
    order = order != 0 ? order : strcmp(a->frame->path, b->frame->path);
    order = order != 0 ? order : (a->line > b->line) - (a->line < b->line);
    return order != 0 ? order : (a->key > b->key) - (a->key < b->key);
}

// Rows that were there before come first while their order is held.
static int
compare(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (a->value != b->value) {
        return a->value > b->value ? -1 : 1;
    }
    return compare_places(a, b);
}

static int
compare_labels(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    int order = compare_places(a, b);
    return a->inverted ? -order : order;
}

static bool
below(double value, double of, double threshold)
{
    return !(fabs(value) >= of * threshold) || of <= 0;
}

// Too little to be a row of its own, in whatever the rows are ordered by.
static bool
small(const struct builder *builder, const struct item *item)
{
    const struct tree_sum *class = &builder->tree->sums[0];
    double threshold = builder->paths->threshold;
    if (item->kind != PATHS_ROW_NODE || item->rank != NO_RANK ||
        (item->frame->id < FRAME_FIRST && item->sum.live > 0)) {
        return false; // what is no place in the program is never left out
    }
    switch (builder->paths->order) {
    case PATHS_BY_BYTES:
        return below(item->sum.bytes, class->bytes, threshold);
    case PATHS_BY_ALLOCATED:
        return below(item->sum.allocated, class->allocated, threshold);
    default:
        return below(item->sum.live, class->live, threshold) &&
               below(item->flow.delta, class->live, threshold);
    }
}

// A row for all that are too small, behind the others. Flat, figures with what is
// below would count things twice: the rest has its own objects alone.
static void
fold_rest(struct builder *builder, const struct item *parent, uint32_t row, size_t big)
{
    struct item rest = blank(builder, parent, row, PATHS_ROW_REST, 0);
    rest.from = builder->member_count;
    rest.siblings = (uint32_t)(builder->count - big);
    rest.frame = builder->stack[big].frame;
    rest.rank = NO_RANK;
    for (size_t i = big; i < builder->count && !builder->failed; i++) {
        const struct item *item = &builder->stack[i];
        for (size_t k = item->from; k < item->from + item->count; k++) {
            struct member member = builder->members[k];
            add_member(builder, member);
        }
        bool flat = builder->paths->shape == PATHS_FLAT;
        tree_store_add(&rest.sum, flat ? &item->own : &item->sum);
        add_flow(&rest.flow, flat ? item->own_flow : item->flow);
    }
    rest.count = builder->member_count - rest.from;
    builder->count = big;
    push(builder, &rest);
}

// Put the small ones last. Returns where they start.
static size_t
part(struct builder *builder, size_t base)
{
    size_t big = base;
    for (size_t i = base; i < builder->count; i++) {
        if (!small(builder, &builder->stack[i])) {
            struct item item = builder->stack[i];
            builder->stack[i] = builder->stack[big];
            builder->stack[big++] = item;
        }
    }
    return big;
}

// The one of these on which the largest path goes on.
static void
choose_lead(struct builder *builder, size_t base, size_t end)
{
    struct item *best = NULL;
    struct item *before = NULL;
    for (size_t i = base; i < end; i++) {
        struct item *item = &builder->stack[i];
        size_t cursor = 0;
        if (item->kind == PATHS_ROW_NODE && item->frame->id < FRAME_FIRST &&
            item->frame->id != FRAME_TRUNCATED) {
            continue; // no path
        }
        if (best == NULL || item->sum.live > best->sum.live) {
            best = item;
        }
        if (index_next(&builder->leads, item->key, &cursor) != INDEX_NONE) {
            before = item;
        }
    }
    if (before != NULL &&
        (builder->paths->held || best->sum.live <= before->sum.live * LEAD_MARGIN)) {
        best = before;
    }
    if (best != NULL) {
        best->lead = true;
    }
}

static void
sort(struct builder *builder, size_t base, size_t end)
{
    const struct paths *paths = builder->paths;
    for (size_t i = base; i < end; i++) {
        double value = figure(&builder->stack[i], paths->order);
        value = paths->inverted ? -value : value;
        builder->stack[i].value = isnan(value) ? -(double)INFINITY : value;
    }
    bool labels = paths->order == PATHS_BY_LABEL;
    qsort(&builder->stack[base], end - base, sizeof *builder->stack,
          labels ? compare_labels : compare);
}

// Put what is below an open row on the stack, the first one on top.
static void
expand(struct builder *builder, const struct item *parent, uint32_t row)
{
    size_t base = builder->count;
    find_below(builder, parent);
    if (builder->failed) {
        return;
    }
    group(builder, parent, row);
    if (builder->failed || builder->count == base) {
        return;
    }
    size_t big = part(builder, base);
    bool rest = parent->kind != PATHS_ROW_REST && builder->paths->threshold > 0 &&
                builder->count - big > 1;
    big = rest ? big : builder->count;
    if (big > base) {
        sort(builder, base, big);
    }
    if (parent->lead) {
        choose_lead(builder, base, big);
    }
    if (rest) {
        fold_rest(builder, parent, row, big);
    }
    builder->stack[builder->count - 1].last = true;
    for (size_t i = base, k = builder->count - 1; i < k; i++, k--) {
        struct item item = builder->stack[i];
        builder->stack[i] = builder->stack[k];
        builder->stack[k] = item;
    }
}

static bool
has_kept_child(const struct builder *builder, uint32_t node)
{
    uint32_t at = tree_first_child(builder->tree, node);
    while (at != TREE_NONE && !kept(builder, at, ANY_WAY)) {
        at = tree_next_sibling(builder->tree, at);
    }
    return at != TREE_NONE;
}

// Whether there is anything below.
static bool
foldable(const struct builder *builder, const struct item *item)
{
    enum paths_shape shape = builder->paths->shape;
    if (item->depth == 0) {
        return builder->tree->count > 1;
    }
    if (item->kind == PATHS_ROW_REST) {
        return item->count > 0;
    }
    if (shape == PATHS_FLAT) {
        return false;
    }
    for (size_t i = item->from; i < item->from + item->count; i++) {
        struct member member = builder->members[i];
        bool more = false;
        if (shape == PATHS_LINES) {
            more = item->kind == PATHS_ROW_FOLDED
                       ? builder->state->places.own_at[member.node] != 0
                       : tree_parent(builder->tree, member.node) != 0;
        } else {
            more = member.leaf != TREE_NONE && (item->kind == PATHS_ROW_FOLDED ||
                                                has_kept_child(builder, member.node));
        }
        if (more) {
            return true;
        }
    }
    return false;
}

// Whether the filter has a hit below a row, so that it opens by itself.
static bool
hides_hit(const struct builder *builder, const struct item *item)
{
    unsigned way =
        builder->paths->shape == PATHS_LINES ? PATHS_KEPT_ABOVE : PATHS_KEPT_BELOW;
    way |= item->kind == PATHS_ROW_FOLDED ? (unsigned)PATHS_KEPT_HIT : 0;
    if (builder->state->kept == NULL || item->kind == PATHS_ROW_REST) {
        return false;
    }
    if (item->depth == 0) {
        return true;
    }
    for (size_t i = item->from; i < item->from + item->count; i++) {
        uint32_t node = builder->members[i].node;
        if ((builder->state->kept[node] & way) != 0) {
            return true;
        }
    }
    return false;
}

// Follow the last of the hands laid on a row, and on all below a row further up.
static bool
handled(const struct index *hands, struct item *item, bool *open)
{
    size_t cursor = 0;
    uint32_t deep = index_next(hands, paths_deep(item->key), &cursor);
    if (deep != INDEX_NONE && deep / 2 > item->deep_act) {
        item->deep_act = deep / 2;
        item->deep_open = deep % 2 != 0;
    }
    cursor = 0;
    uint32_t hand = index_next(hands, item->key, &cursor);
    bool later = hand != INDEX_NONE && hand / 2 > item->deep_act;
    *open = later ? hand % 2 != 0 : item->deep_open;
    return later || item->deep_act > 0;
}

static bool
opens(const struct builder *builder, struct item *item)
{
    const struct paths_state *state = builder->state;
    bool open;
    if (state->kept != NULL && handled(&state->filter_hands, item, &open)) {
        return open;
    }
    if (hides_hit(builder, item)) {
        return true;
    }
    if (handled(&state->hands, item, &open)) {
        return open;
    }
    return item->lead || item->depth < state->level;
}

// Frames in front of a row that are the same as its own.
static uint32_t
recursion(struct builder *builder, const struct item *item, struct member member)
{
    const struct places *places = &builder->state->places;
    uint32_t frame = places->list[places->of[member.node]].frame;
    bool lines = builder->paths->shape == PATHS_LINES;
    uint32_t at = lines ? member.leaf : tree_parent(builder->tree, member.node);
    uint32_t end = lines ? member.node : 0;
    uint32_t count = 0;
    if (item->depth == 0 || builder->paths->shape == PATHS_FLAT) {
        return 0;
    }
    for (; at != end && builder->looked_above < RECURSION_LOOK; builder->looked_above++) {
        count += places->list[places->of[at]].frame == frame;
        at = tree_parent(builder->tree, at);
    }
    return count;
}

// What a folded row hides.
struct fold {
    uint32_t frames;
    uint32_t owners;
    char text[PATHS_OWNERS_BYTES];
    struct tree_sum self;
};

static bool
names(const char *list, const char *owner)
{
    size_t length = strlen(owner);
    for (const char *at = list; (at = strstr(at, owner)) != NULL; at++) {
        bool starts = at == list || at[-1] == ' ';
        if (starts && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void
name_owner(struct fold *fold, const struct tree_frame *frame)
{
    char owner[PATHS_OWNERS_BYTES / 4];
    paths_owner(frame, owner, sizeof owner);
    size_t used = strlen(fold->text);
    if (strcmp(owner, "C") == 0 || fold->owners > OWNERS_SHOWN ||
        names(fold->text, owner)) {
        return;
    }
    const char *comma = used > 0 ? ", " : "";
    bool more = fold->owners++ == OWNERS_SHOWN;
    snprintf(fold->text + used, sizeof fold->text - used, "%s%s", comma,
             more ? "…" : owner);
}

static void
fold_node(struct builder *builder, struct fold *fold, uint32_t node)
{
    const struct places *places = &builder->state->places;
    uint32_t slot = places->list[places->of[node]].frame;
    builder->looked_at++;
    builder->paths->work.folded++;
    if (builder->frame_stamp[slot] != builder->stamp) {
        builder->frame_stamp[slot] = builder->stamp;
        fold->frames++;
        name_owner(fold, tree_frame_in(builder->tree, slot));
    }
}

static void
look_into(struct builder *builder, const struct item *item, struct fold *fold)
{
    const struct places *places = &builder->state->places;
    const struct tree_model *tree = builder->tree;
    builder->stamp++;
    for (size_t i = item->from; i < item->from + item->count; i++) {
        struct member member = builder->members[i];
        if (builder->paths->shape == PATHS_FLAT) {
            fold_node(builder, fold, member.node);
        } else if (builder->paths->shape == PATHS_LINES) {
            uint32_t end = places->own_at[member.node];
            for (uint32_t at = member.node; at != end && !tired(builder);
                 at = tree_parent(tree, at)) {
                fold_node(builder, fold, at);
            }
        } else {
            for (uint32_t at = member.node; at != TREE_NONE && !tired(builder);
                 at = next_folded(builder, member.node, at)) {
                if (!places_own(places, at)) {
                    struct tree_sum self = tree_store_self(tree, at);
                    tree_store_add(&fold->self, &self);
                    fold_node(builder, fold, at);
                }
            }
        }
    }
    if (fold->text[0] == '\0') {
        snprintf(fold->text, sizeof fold->text, "C");
    }
}

static uint32_t
keep_owners(struct builder *builder, const char *text)
{
    struct paths_state *state = builder->state;
    state->owners = room(builder, state->owners, state->owners_count,
                         &state->owners_capacity, sizeof *state->owners);
    if (builder->failed) {
        return 0;
    }
    memcpy(state->owners[state->owners_count], text, PATHS_OWNERS_BYTES);
    return (uint32_t)state->owners_count++;
}

static struct tree_sum
self_of(const struct builder *builder, const struct item *item)
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

static bool
is_hit(const struct builder *builder, const struct item *item)
{
    if (builder->state->kept == NULL || item->kind != PATHS_ROW_NODE) {
        return false;
    }
    uint32_t node = builder->members[item->from].node;
    return (builder->state->kept[node] & PATHS_KEPT_HIT) != 0;
}

static struct paths_row
row_of(struct builder *builder, const struct item *item)
{
    const struct tree_model *tree = builder->tree;
    struct member first = builder->members[item->from];
    bool counted = item->kind == PATHS_ROW_NODE && tree_store_counted(tree, first.node);
    struct tree_sum self = self_of(builder, item);
    double class_live = tree->sums[0].live;
    double parent_live =
        item->depth > 0 ? builder->paths->rows[item->parent].total.live : class_live;
    return (struct paths_row){
        .kind = item->kind,
        .node = first.node,
        .depth = item->depth,
        .frames = item->kind == PATHS_ROW_REST ? item->siblings : 1,
        .recursion = item->kind == PATHS_ROW_NODE ? recursion(builder, item, first) : 0,
        .foldable = foldable(builder, item),
        .last = item->last,
        .matched = is_hit(builder, item),
        .total = tree_store_counts(tree, &item->sum, counted),
        .self = tree_store_counts(tree, &self, counted),
        .delta = item->flow.delta,
        .delta_bytes = item->flow.delta_bytes,
        .live_per_second = item->flow.live_per_second,
        .allocated_per_second = item->flow.allocated_per_second,
        .of_parent = parent_live > 0 ? item->sum.live / parent_live : 0,
        .of_class = class_live > 0 ? item->sum.live / class_live : 0,
    };
}

// Room for a row and what is hidden of it.
static bool
grow_rows(struct builder *builder)
{
    struct paths *paths = builder->paths;
    if (paths->count < paths->capacity) {
        return true;
    }
    size_t hidden_capacity = paths->capacity;
    builder->state->hidden = room(builder, builder->state->hidden, paths->count,
                                  &hidden_capacity, sizeof *builder->state->hidden);
    if (!builder->failed) {
        paths->rows = room(builder, paths->rows, paths->count, &paths->capacity,
                           sizeof *paths->rows);
    }
    return !builder->failed;
}

// Make an item a row. False when memory ran out.
static bool
emit(struct builder *builder, struct item *item)
{
    struct paths *paths = builder->paths;
    if (!grow_rows(builder)) {
        return false;
    }
    struct paths_row row = row_of(builder, item);
    struct paths_hidden hidden = {item->key, item->parent, 0, item->lead};
    if (item->kind == PATHS_ROW_FOLDED) {
        struct fold fold = {0};
        look_into(builder, item, &fold);
        row.frames = fold.frames;
        bool all =
            paths->shape == PATHS_FLAT || (paths->shape == PATHS_LINES && item->top);
        struct tree_sum own = all ? item->sum : fold.self;
        row.self = tree_store_counts(builder->tree, &own, false);
        hidden.owners = keep_owners(builder, fold.text);
    }
    row.open = row.foldable && opens(builder, item);
    paths->rows[paths->count] = row;
    builder->state->hidden[paths->count] = hidden;
    paths->count++;
    return !builder->failed;
}

// Rows end here; what is left is one more.
static void
cut(struct builder *builder)
{
    struct item rest = builder->stack[0];
    rest.kind = PATHS_ROW_REST;
    rest.key = mix(rest.key, 1);
    rest.siblings = (uint32_t)builder->count;
    rest.parent = 0;
    rest.depth = 1;
    rest.last = true;
    for (size_t i = 1; i < builder->count; i++) {
        tree_store_add(&rest.sum, &builder->stack[i].sum);
        add_flow(&rest.flow, builder->stack[i].flow);
    }
    builder->paths->cut = true;
    if (emit(builder, &rest)) {
        struct paths_row *row = &builder->paths->rows[builder->paths->count - 1];
        row->foldable = row->open = false;
    }
}

static void
make_rows(struct builder *builder)
{
    struct item root = {
        .key = 1,
        .kind = PATHS_ROW_NODE,
        .group = builder->state->places.of[0],
        .rank = NO_RANK,
        .count = 1,
        .sum = builder->tree->sums[0],
        .flow = total_flow(builder->tree, 0),
        .last = true,
        .lead = builder->state->leading,
        .frame = tree_frame(builder->tree, 0),
    };
    add_member(builder, (struct member){0, 0});
    push(builder, &root);
    while (builder->count > 0 && !builder->failed) {
        if (builder->paths->count + 1 >= PATHS_ROWS_MAX) {
            cut(builder);
            return;
        }
        struct item item = builder->stack[--builder->count];
        if (!emit(builder, &item)) {
            return;
        }
        uint32_t row = (uint32_t)builder->paths->count - 1;
        if (builder->paths->rows[row].open) {
            expand(builder, &item, row);
        }
    }
}

// What the rows of before say about those to come.
static bool
remember(struct builder *builder)
{
    const struct paths *paths = builder->paths;
    const struct paths_hidden *hidden = builder->state->hidden;
    if (paths->held && !index_reserve(&builder->ranks, paths->count)) {
        return false;
    }
    for (size_t i = 0; i < paths->count; i++) {
        bool ranked = paths->held && paths->rows[i].kind != PATHS_ROW_REST;
        if (ranked) {
            index_put(&builder->ranks, hidden[i].key, (uint32_t)i);
        }
        if (hidden[i].lead) {
            if (!index_reserve(&builder->leads, 1)) {
                return false;
            }
            index_put(&builder->leads, hidden[i].key, (uint32_t)i);
        }
    }
    return true;
}

bool
paths_build(struct paths *paths)
{
    const struct tree_model *tree = paths->tree;
    struct paths_state *state = paths->state;
    size_t groups = state->places.count + 1u;
    struct builder builder = {.paths = paths, .state = state, .tree = tree};
    builder.group_item = malloc(groups * sizeof *builder.group_item);
    builder.group_stamp = calloc(groups, sizeof *builder.group_stamp);
    builder.frame_stamp = calloc(tree_frame_slots(tree), sizeof *builder.frame_stamp);
    builder.failed = builder.group_item == NULL || builder.group_stamp == NULL ||
                     builder.frame_stamp == NULL || !remember(&builder);
    paths->work.builds++;
    paths->count = 0;
    paths->cut = false;
    state->owners_count = 0;
    if (!builder.failed) {
        make_rows(&builder);
    }
    index_destroy(&builder.ranks);
    index_destroy(&builder.leads);
    free(builder.members);
    free(builder.found);
    free(builder.stack);
    free(builder.group_item);
    free(builder.group_stamp);
    free(builder.frame_stamp);
    return !builder.failed;
}
