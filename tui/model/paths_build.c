// Rows of a tree: take an item from a stack, make it a row, and when it is open
// find what is below it, group that by place, sum, sort, and put it on the stack.
// An item stands for its members: nodes of the tree, bottom-up each with the node
// whose own objects are counted.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/paths_builder.h"

#define NO_RANK UINT32_MAX

// Frames above rows that one update looks at for recursion; then it is not told.
#define RECURSION_LOOK 20000000u

// A path takes the place of the largest one when it is so many times as large.
#define LEAD_MARGIN 1.5

void *
paths_build_room(struct paths_builder *builder, void *list, size_t count,
                 size_t *capacity, size_t size)
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
add_member(struct paths_builder *builder, struct paths_member member)
{
    builder->members = paths_build_room(builder, builder->members, builder->member_count,
                                        &builder->member_capacity, sizeof member);
    if (!builder->failed) {
        builder->members[builder->member_count++] = member;
    }
}

static void
push(struct paths_builder *builder, const struct paths_item *item)
{
    builder->stack = paths_build_room(builder, builder->stack, builder->count,
                                      &builder->capacity, sizeof *item);
    if (!builder->failed) {
        builder->stack[builder->count++] = *item;
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
static struct paths_item
blank(const struct paths_builder *builder, const struct paths_item *parent, uint32_t row,
      enum paths_row_kind kind, uint32_t group)
{
    const double unknown = (double)NAN;
    struct paths_item item = {
        .key = paths_build_key(builder->state, parent->key, kind, group),
        .kind = kind,
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
group(struct paths_builder *builder, const struct paths_item *parent, uint32_t row)
{
    size_t base = builder->count;
    builder->stamp++;
    for (size_t i = 0; i < builder->found_count && !builder->failed; i++) {
        const struct paths_candidate *at = &builder->found[i];
        if (builder->group_stamp[at->group] != builder->stamp) {
            enum paths_row_kind kind = at->group == builder->state->places.count
                                           ? PATHS_ROW_FOLDED
                                           : PATHS_ROW_NODE;
            struct paths_item item = blank(builder, parent, row, kind, at->group);
            item.frame = tree_frame(builder->tree, at->member.node);
            item.line = tree_line(builder->tree, at->member.node);
            builder->group_stamp[at->group] = builder->stamp;
            builder->group_item[at->group] = (uint32_t)builder->count;
            push(builder, &item);
        }
        if (builder->failed) {
            return;
        }
        struct paths_item *item = &builder->stack[builder->group_item[at->group]];
        item->count++;
        paths_figures_add(builder, item, at->member);
    }
    size_t from = builder->member_count;
    for (size_t i = base; i < builder->count; i++) {
        builder->stack[i].from = from;
        from += builder->stack[i].count;
        builder->stack[i].count = 0;
    }
    for (size_t i = 0; i < builder->found_count && !builder->failed; i++) {
        add_member(builder, (struct paths_member){0}); // the room
    }
    for (size_t i = 0; i < builder->found_count && !builder->failed; i++) {
        struct paths_item *item =
            &builder->stack[builder->group_item[builder->found[i].group]];
        builder->members[item->from + item->count++] = builder->found[i].member;
    }
}

static int
compare_places(const struct paths_item *a, const struct paths_item *b)
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
    const struct paths_item *a = left;
    const struct paths_item *b = right;
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
    const struct paths_item *a = left;
    const struct paths_item *b = right;
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
small(const struct paths_builder *builder, const struct paths_item *item)
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
fold_rest(struct paths_builder *builder, const struct paths_item *parent, uint32_t row,
          size_t big)
{
    struct paths_item rest = blank(builder, parent, row, PATHS_ROW_REST, 0);
    rest.from = builder->member_count;
    rest.siblings = (uint32_t)(builder->count - big);
    rest.frame = builder->stack[big].frame;
    rest.rank = NO_RANK;
    for (size_t i = big; i < builder->count && !builder->failed; i++) {
        const struct paths_item *item = &builder->stack[i];
        for (size_t k = item->from; k < item->from + item->count; k++) {
            struct paths_member member = builder->members[k];
            add_member(builder, member);
        }
        bool flat = builder->paths->shape == PATHS_FLAT;
        tree_store_add(&rest.sum, flat ? &item->own : &item->sum);
        paths_figures_add_flow(&rest.flow, flat ? item->own_flow : item->flow);
    }
    rest.count = builder->member_count - rest.from;
    builder->count = big;
    push(builder, &rest);
}

// Put the small ones last. Returns where they start.
static size_t
part(struct paths_builder *builder, size_t base)
{
    size_t big = base;
    for (size_t i = base; i < builder->count; i++) {
        if (!small(builder, &builder->stack[i])) {
            struct paths_item item = builder->stack[i];
            builder->stack[i] = builder->stack[big];
            builder->stack[big++] = item;
        }
    }
    return big;
}

// The one of these on which the largest path goes on.
static void
choose_lead(struct paths_builder *builder, size_t base, size_t end)
{
    struct paths_item *best = NULL;
    struct paths_item *before = NULL;
    for (size_t i = base; i < end; i++) {
        struct paths_item *item = &builder->stack[i];
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
sort(struct paths_builder *builder, size_t base, size_t end)
{
    const struct paths *paths = builder->paths;
    for (size_t i = base; i < end; i++) {
        double value = paths_figures_by(&builder->stack[i], paths->order);
        value = paths->inverted ? -value : value;
        builder->stack[i].value = isnan(value) ? -(double)INFINITY : value;
    }
    bool labels = paths->order == PATHS_BY_LABEL;
    qsort(&builder->stack[base], end - base, sizeof *builder->stack,
          labels ? compare_labels : compare);
}

// Put what is below an open row on the stack, the first one on top.
static void
expand(struct paths_builder *builder, const struct paths_item *parent, uint32_t row)
{
    size_t base = builder->count;
    paths_find_below(builder, parent);
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
        struct paths_item item = builder->stack[i];
        builder->stack[i] = builder->stack[k];
        builder->stack[k] = item;
    }
}

// Follow the last of the hands laid on a row, and on all below a row further up.
static bool
handled(const struct index *hands, struct paths_item *item, bool *open)
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
opens(const struct paths_builder *builder, struct paths_item *item)
{
    const struct paths_state *state = builder->state;
    bool open;
    if (state->kept != NULL && handled(&state->filter_hands, item, &open)) {
        return open;
    }
    if (paths_find_hides_hit(builder, item)) {
        return true;
    }
    if (handled(&state->hands, item, &open)) {
        return open;
    }
    return item->lead || item->depth < state->level;
}

// Frames in front of a row that are the same as its own. A block is not the method it
// is in: that one calls it, through another, without calling itself.
static uint32_t
recursion(struct paths_builder *builder, const struct paths_item *item,
          struct paths_member member)
{
    const struct places *places = &builder->state->places;
    struct place own = places->list[places->of[member.node]];
    bool lines = builder->paths->shape == PATHS_LINES;
    uint32_t at = lines ? member.leaf : tree_parent(builder->tree, member.node);
    uint32_t end = lines ? member.node : 0;
    uint32_t count = 0;
    if (item->depth == 0 || builder->paths->shape == PATHS_FLAT) {
        return 0;
    }
    for (; at != end && builder->looked_above < RECURSION_LOOK; builder->looked_above++) {
        const struct place *place = &places->list[places->of[at]];
        count += place->frame == own.frame && place->block == own.block;
        at = tree_parent(builder->tree, at);
    }
    return count;
}

static uint32_t
keep_owners(struct paths_builder *builder, const char *text)
{
    struct paths_state *state = builder->state;
    state->owners = paths_build_room(builder, state->owners, state->owners_count,
                                     &state->owners_capacity, sizeof *state->owners);
    if (builder->failed) {
        return 0;
    }
    memcpy(state->owners[state->owners_count], text, PATHS_OWNERS_BYTES);
    return (uint32_t)state->owners_count++;
}

static struct paths_row
row_of(struct paths_builder *builder, const struct paths_item *item)
{
    const struct tree_model *tree = builder->tree;
    struct paths_member first = builder->members[item->from];
    bool counted = item->kind == PATHS_ROW_NODE && tree_store_counted(tree, first.node);
    struct tree_sum self = paths_figures_self(builder, item);
    double class_live = tree->sums[0].live;
    double parent_live =
        item->depth > 0 ? builder->paths->rows[item->parent].total.live : class_live;
    return (struct paths_row){
        .kind = item->kind,
        .node = first.node,
        .depth = item->depth,
        .frames = item->kind == PATHS_ROW_REST ? item->siblings : 1,
        .recursion = item->kind == PATHS_ROW_NODE ? recursion(builder, item, first) : 0,
        .foldable = paths_find_any(builder, item),
        .last = item->last,
        .matched = paths_find_is_hit(builder, item),
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
grow_rows(struct paths_builder *builder)
{
    struct paths *paths = builder->paths;
    if (paths->count < paths->capacity) {
        return true;
    }
    size_t hidden_capacity = paths->capacity;
    builder->state->hidden =
        paths_build_room(builder, builder->state->hidden, paths->count, &hidden_capacity,
                         sizeof *builder->state->hidden);
    if (!builder->failed) {
        paths->rows = paths_build_room(builder, paths->rows, paths->count,
                                       &paths->capacity, sizeof *paths->rows);
    }
    return !builder->failed;
}

// Make an item a row. False when memory ran out.
static bool
emit(struct paths_builder *builder, struct paths_item *item)
{
    struct paths *paths = builder->paths;
    if (!grow_rows(builder)) {
        return false;
    }
    struct paths_row row = row_of(builder, item);
    struct paths_hidden hidden = {item->key, item->parent, 0, item->lead};
    if (item->kind == PATHS_ROW_FOLDED) {
        struct paths_fold fold = {0};
        paths_owners_look(builder, item, &fold);
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
cut(struct paths_builder *builder)
{
    struct paths_item rest = builder->stack[0];
    rest.kind = PATHS_ROW_REST;
    rest.key = mix(rest.key, 1);
    rest.siblings = (uint32_t)builder->count;
    rest.parent = 0;
    rest.depth = 1;
    rest.last = true;
    for (size_t i = 1; i < builder->count; i++) {
        tree_store_add(&rest.sum, &builder->stack[i].sum);
        paths_figures_add_flow(&rest.flow, builder->stack[i].flow);
    }
    builder->paths->cut = true;
    if (emit(builder, &rest)) {
        struct paths_row *row = &builder->paths->rows[builder->paths->count - 1];
        row->foldable = row->open = false;
    }
}

static void
make_rows(struct paths_builder *builder)
{
    struct paths_item root = {
        .key = 1,
        .kind = PATHS_ROW_NODE,
        .rank = NO_RANK,
        .count = 1,
        .sum = builder->tree->sums[0],
        .flow = paths_figures_total_flow(builder->tree, 0),
        .last = true,
        .lead = builder->state->leading,
        .frame = tree_frame(builder->tree, 0),
    };
    add_member(builder, (struct paths_member){0, 0});
    push(builder, &root);
    while (builder->count > 0 && !builder->failed) {
        if (builder->paths->count + 1 >= PATHS_ROWS_MAX) {
            cut(builder);
            return;
        }
        struct paths_item item = builder->stack[--builder->count];
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
remember(struct paths_builder *builder)
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
    struct paths_builder builder = {.paths = paths, .state = state, .tree = tree};
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
