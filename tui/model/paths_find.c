// What is below a row: of callers whom they called, of lines who called them, and
// what comes out of a fold on its other side.

#include "tui/model/paths_builder.h"

// What the filter keeps of callers' rows, and of rows that start with the line.
#define ANY_WAY ((unsigned)PATHS_KEPT_HIT | PATHS_KEPT_BELOW | PATHS_KEPT_ABOVE)
#define FROM_CALLERS ((unsigned)PATHS_KEPT_HIT | PATHS_KEPT_ABOVE)

bool
paths_find_tired(struct paths_builder *builder)
{
    if (builder->looked_at < PATHS_WORK_MAX) {
        return false;
    }
    builder->paths->cut = true;
    return true;
}

static void
find(struct paths_builder *builder, uint32_t node, uint32_t leaf, uint32_t group)
{
    if (paths_find_tired(builder)) {
        return;
    }
    builder->looked_at++;
    builder->paths->work.candidates++;
    builder->found = paths_build_room(builder, builder->found, builder->found_count,
                                      &builder->found_capacity, sizeof *builder->found);
    if (!builder->failed) {
        builder->found[builder->found_count++] = (struct paths_candidate){
            {node, leaf},
            group
        };
    }
}

static uint32_t
fold_group(const struct paths_builder *builder)
{
    return builder->state->places.count;
}

static bool
folds(const struct paths_builder *builder, uint32_t node)
{
    return builder->paths->own_only && !places_own(&builder->state->places, node);
}

static uint32_t
group_of(const struct paths_builder *builder, uint32_t node)
{
    return folds(builder, node) ? fold_group(builder) : builder->state->places.of[node];
}

static bool
kept(const struct paths_builder *builder, uint32_t node, unsigned ways)
{
    return builder->state->kept == NULL || (builder->state->kept[node] & ways) != 0;
}

uint32_t
paths_find_next_folded(const struct paths_builder *builder, uint32_t root, uint32_t node)
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
find_callees(struct paths_builder *builder, const struct paths_item *item)
{
    const struct tree_model *tree = builder->tree;
    for (size_t i = item->from; i < item->from + item->count; i++) {
        struct paths_member member = builder->members[i];
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
find_unfolded(struct paths_builder *builder, const struct paths_item *item)
{
    const struct tree_model *tree = builder->tree;
    const struct places *places = &builder->state->places;
    for (size_t i = item->from; i < item->from + item->count; i++) {
        uint32_t root = builder->members[i].node;
        for (uint32_t at = root; at != TREE_NONE && !paths_find_tired(builder);
             at = paths_find_next_folded(builder, root, at)) {
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
own_line(struct paths_builder *builder, uint32_t leaf)
{
    const struct tree_model *tree = builder->tree;
    const uint32_t *own_at = builder->state->places.own_at;
    uint32_t first = own_at[leaf] != 0 ? own_at[leaf] : leaf;
    for (uint32_t at = own_at[leaf]; at != 0 && !paths_find_tired(builder);
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
find_lines(struct paths_builder *builder)
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
find_callers(struct paths_builder *builder, const struct paths_item *item)
{
    for (size_t i = item->from; i < item->from + item->count && !builder->failed; i++) {
        struct paths_member member = builder->members[i];
        uint32_t caller = item->kind == PATHS_ROW_FOLDED
                              ? builder->state->places.own_at[member.node]
                              : tree_parent(builder->tree, member.node);
        if (caller != 0) {
            find(builder, caller, member.leaf, group_of(builder, caller));
        }
    }
}

static void
find_places(struct paths_builder *builder)
{
    for (uint32_t node = 1; node < builder->tree->count && !builder->failed; node++) {
        if (kept(builder, node, PATHS_KEPT_HIT)) {
            find(builder, node, node, group_of(builder, node));
        }
    }
}

void
paths_find_below(struct paths_builder *builder, const struct paths_item *item)
{
    builder->found_count = 0;
    if (item->kind == PATHS_ROW_REST) {
        for (size_t i = item->from; i < item->from + item->count; i++) {
            struct paths_member member = builder->members[i];
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

static bool
has_kept_child(const struct paths_builder *builder, uint32_t node)
{
    uint32_t at = tree_first_child(builder->tree, node);
    while (at != TREE_NONE && !kept(builder, at, ANY_WAY)) {
        at = tree_next_sibling(builder->tree, at);
    }
    return at != TREE_NONE;
}

bool
paths_find_any(const struct paths_builder *builder, const struct paths_item *item)
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
        struct paths_member member = builder->members[i];
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

bool
paths_find_hides_hit(const struct paths_builder *builder, const struct paths_item *item)
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

bool
paths_find_is_hit(const struct paths_builder *builder, const struct paths_item *item)
{
    if (builder->state->kept == NULL || item->kind != PATHS_ROW_NODE) {
        return false;
    }
    uint32_t node = builder->members[item->from].node;
    return (builder->state->kept[node] & PATHS_KEPT_HIT) != 0;
}
