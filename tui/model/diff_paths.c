// Trees laid over each other, level by level: what is below the members of one node is
// sorted so that equal frames lie beside each other, their lines are matched, and each
// match is a node with members of its own.

#include "tui/model/diff_paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/index.h"
#include "tui/model/tree_store.h"

#define NO_NUMBER UINT32_MAX

struct diff_paths_tree {
    const struct tree_model *tree; // borrowed
    bool after;
};

// A node of a tree. Those of one place are in the order of the trees.
struct diff_paths_member {
    uint32_t tree;
    uint32_t node;
};

// A member that has no place yet.
struct child {
    uint32_t frame;
    uint32_t line;
    uint32_t start; // first line of its method, 0 when it is not known
    bool after;
    struct diff_paths_member member;
};

// Children of one frame, side and line.
struct run {
    size_t from;
    size_t count;
    uint32_t line;
    uint32_t start;
    uint32_t pair; // run of the other side, or NO_NUMBER
};

struct builder {
    struct diff_paths *paths;
    bool same_process;
    uint32_t *numbers[2]; // owned, by side and slot: the frame, or NO_NUMBER
    struct index by_name;
    uint32_t frame_count;
    bool *frame_after;      // owned, by frame: which model it is of
    struct child *children; // owned
    struct run *runs;       // owned, as long as children
    size_t child_count;
    size_t child_capacity;
};

/* Trees of a class. */

static bool
of_class(const struct model_class *class, const struct diff_class *row)
{
    return class->listed && !class->gone &&
           ((class->flags ^ row->flags) & (CLASS_INTERNAL | CLASS_ANONYMOUS)) == 0 &&
           strcmp(class->name, row->name) == 0;
}

static bool
take_tree(struct diff_paths *paths, const struct tree_model *tree, bool after)
{
    uint32_t count = paths->trees_before + paths->trees_after;
    uint32_t nodes = tree_node_count(tree);
    if (nodes > DIFF_NODES_MAX - paths->node_count || count >= 2 * TREES_MAX) {
        paths->cut = true;
        return false;
    }
    paths->trees[count] = (struct diff_paths_tree){tree, after};
    *(after ? &paths->trees_after : &paths->trees_before) += 1;
    paths->node_count += nodes; // room, until the nodes are made
    paths->exact &= tree_exact(tree);
    return true;
}

// True when every class of the name that has objects has a tree.
static bool
find_trees(struct diff_paths *paths, const struct diff_class *row,
           const struct model *model, bool is_counted, bool after)
{
    bool known = is_counted;
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (!of_class(class, row) || class->now.live == 0) {
            continue;
        }
        const struct tree_model *tree = diff_tree(model, class);
        known &= tree != NULL && take_tree(paths, tree, after);
    }
    return known;
}

/* Frames, numbered over both models. */

// A frame that nobody could name yet is known by its id, and only in its process.
static bool
same_frame(const struct builder *builder, uint32_t number, const struct tree_frame *frame,
           bool after)
{
    const struct tree_frame *other = builder->paths->frames[number];
    bool special = frame->id < FRAME_FIRST || other->id < FRAME_FIRST;
    if (special || frame->label[0] == '\0') {
        bool same_ids =
            special || builder->same_process || builder->frame_after[number] == after;
        return same_ids && other->id == frame->id;
    }
    return strcmp(other->label, frame->label) == 0 &&
           strcmp(other->path, frame->path) == 0;
}

// There is room for it.
static uint32_t
number_of(struct builder *builder, const struct tree_frame *frame, bool after)
{
    uint64_t hash = frame->label[0] == '\0' || frame->id < FRAME_FIRST
                        ? INDEX_HASH + frame->id
                        : index_hash(index_hash(INDEX_HASH, frame->label), frame->path);
    size_t cursor = 0;
    for (uint32_t at;
         (at = index_next(&builder->by_name, hash, &cursor)) != INDEX_NONE;) {
        if (same_frame(builder, at, frame, after)) {
            return at;
        }
    }
    uint32_t number = builder->frame_count++;
    index_put(&builder->by_name, hash, number);
    builder->paths->frames[number] = frame;
    builder->frame_after[number] = after;
    return number;
}

// Number every frame of a side. All trees of a model share its frames.
static bool
number_frames(struct builder *builder, const struct tree_model *tree, bool after)
{
    uint32_t count = tree_frame_slots(tree);
    uint32_t *numbers = malloc((count + 1u) * sizeof *numbers);
    builder->numbers[after] = numbers;
    if (numbers == NULL || !index_reserve(&builder->by_name, count)) {
        return false;
    }
    for (uint32_t slot = 0; slot < count; slot++) {
        numbers[slot] = number_of(builder, tree_frame_in(tree, slot), after);
    }
    return true;
}

static bool
find_frames(struct builder *builder)
{
    struct diff_paths *paths = builder->paths;
    const struct tree_model *trees[2] = {NULL, NULL};
    uint32_t room = 1;
    for (uint32_t i = 0; i < paths->trees_before + paths->trees_after; i++) {
        trees[paths->trees[i].after] = paths->trees[i].tree;
    }
    for (int side = 0; side < 2; side++) {
        room += trees[side] != NULL ? tree_frame_slots(trees[side]) : 0;
    }
    paths->frames = malloc(room * sizeof(struct tree_frame *));
    builder->frame_after = malloc(room * sizeof *builder->frame_after);
    if (paths->frames == NULL || builder->frame_after == NULL) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        if (trees[side] != NULL && !number_frames(builder, trees[side], side == 1)) {
            return false;
        }
    }
    return true;
}

/* What is below a node. */

static int
compare_children(const void *left, const void *right)
{
    const struct child *a = left;
    const struct child *b = right;
    const uint32_t keys[][2] = {
        {a->frame,       b->frame      },
        {a->after,       b->after      },
        {a->line,        b->line       },
        {a->member.tree, b->member.tree},
        {a->member.node, b->member.node},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static bool
room_for_child(struct builder *builder)
{
    if (builder->child_count < builder->child_capacity) {
        return true;
    }
    size_t capacity = builder->child_capacity != 0 ? 2 * builder->child_capacity : 256;
    struct child *children =
        realloc(builder->children, capacity * sizeof *builder->children);
    builder->children = children != NULL ? children : builder->children;
    struct run *runs = realloc(builder->runs, capacity * sizeof *builder->runs);
    builder->runs = runs != NULL ? runs : builder->runs;
    if (children == NULL || runs == NULL) {
        return false;
    }
    builder->child_capacity = capacity;
    return true;
}

static bool
add_children(struct builder *builder, struct diff_paths_member of)
{
    const struct diff_paths_tree *from = &builder->paths->trees[of.tree];
    const struct tree_model *tree = from->tree;
    uint32_t node = tree_first_child(tree, of.node);
    for (; node != TREE_NONE; node = tree_next_sibling(tree, node)) {
        if (!room_for_child(builder)) {
            return false;
        }
        builder->children[builder->child_count++] = (struct child){
            .frame = builder->numbers[from->after][tree_frame_slot(tree, node)],
            .line = tree_line(tree, node),
            .start = tree_frame(tree, node)->line,
            .after = from->after,
            .member = {of.tree, node},
        };
    }
    return true;
}

// Make a node of one run or of two that match.
static void
make_node(struct builder *builder, uint32_t parent, const struct run *before,
          const struct run *after)
{
    struct diff_paths *paths = builder->paths;
    uint32_t number = paths->node_count++;
    struct diff_node *node = &paths->nodes[number];
    const struct diff_node *last = &paths->nodes[number - 1];
    const struct run *runs[] = {before, after};
    *node = (struct diff_node){
        .parent = parent,
        .first_child = TREE_NONE,
        .frame = builder->children[before != NULL ? before->from : after->from].frame,
        .line_before = before != NULL ? before->line : 0,
        .line_after = after != NULL ? after->line : 0,
        .depth = paths->nodes[parent].depth + 1,
        .first_member = last->first_member + last->member_count,
        .before = before != NULL,
        .after = after != NULL,
    };
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; runs[side] != NULL && i < runs[side]->count; i++) {
            struct diff_paths_member member =
                builder->children[runs[side]->from + i].member;
            uint32_t block = tree_block(paths->trees[member.tree].tree, member.node);
            node->block = block > 0 ? block : node->block;
            paths->members[node->first_member + node->member_count++] = member;
        }
    }
}

enum match {
    MATCH_FROM_START, // as far from the start of the method
    MATCH_LINE,
    MATCH_REST,
};

static int64_t
key_of(const struct run *run, enum match match)
{
    switch (match) {
    case MATCH_FROM_START:
        return (int64_t)run->line - (int64_t)run->start;
    case MATCH_LINE:
        return run->line;
    default:
        return 0;
    }
}

static bool
can_match(const struct run *run, enum match match)
{
    return run->pair == NO_NUMBER && (match != MATCH_FROM_START || run->start != 0);
}

// Pair runs with equal keys; both sides are in the order of their lines.
static void
match_runs(struct run *runs, uint32_t before, uint32_t count, enum match match)
{
    uint32_t i = 0;
    uint32_t k = before;
    while (i < before && k < count) {
        int64_t one = key_of(&runs[i], match);
        int64_t other = key_of(&runs[k], match);
        if (!can_match(&runs[i], match) || (can_match(&runs[k], match) && one < other)) {
            i++;
        } else if (!can_match(&runs[k], match) || other < one) {
            k++;
        } else {
            runs[i].pair = k;
            runs[k].pair = i;
            i++;
            k++;
        }
    }
}

// Children of one frame as runs, those of before first; returns how many of each.
static uint32_t
find_runs(const struct builder *builder, size_t from, size_t end, uint32_t *before)
{
    uint32_t count = 0;
    *before = 0;
    for (size_t i = from; i < end; i++) {
        const struct child *child = &builder->children[i];
        const struct child *last = i > from ? child - 1 : NULL;
        if (last != NULL && last->line == child->line && last->after == child->after) {
            builder->runs[count - 1].count++;
            continue;
        }
        builder->runs[count++] = (struct run){i, 1, child->line, child->start, NO_NUMBER};
        *before += !child->after;
    }
    return count;
}

static void
make_nodes_of_frame(struct builder *builder, uint32_t parent, size_t from, size_t end)
{
    struct run *runs = builder->runs;
    uint32_t before;
    uint32_t count = find_runs(builder, from, end, &before);
    if (builder->same_process) {
        match_runs(runs, before, count, MATCH_LINE);
    } else {
        match_runs(runs, before, count, MATCH_FROM_START);
        match_runs(runs, before, count, MATCH_LINE);
        match_runs(runs, before, count, MATCH_REST);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i < before) {
            make_node(builder, parent, &runs[i],
                      runs[i].pair != NO_NUMBER ? &runs[runs[i].pair] : NULL);
        } else if (runs[i].pair == NO_NUMBER) {
            make_node(builder, parent, NULL, &runs[i]);
        }
    }
}

static bool
expand(struct builder *builder, uint32_t parent)
{
    struct diff_paths *paths = builder->paths;
    struct diff_node *node = &paths->nodes[parent];
    builder->child_count = 0;
    for (uint32_t i = 0; i < node->member_count; i++) {
        if (!add_children(builder, paths->members[node->first_member + i])) {
            return false;
        }
    }
    if (builder->child_count == 0) {
        return true;
    }
    qsort(builder->children, builder->child_count, sizeof *builder->children,
          compare_children);
    node->first_child = paths->node_count;
    size_t from = 0;
    for (size_t i = 1; i <= builder->child_count; i++) {
        if (i == builder->child_count ||
            builder->children[i].frame != builder->children[from].frame) {
            make_nodes_of_frame(builder, parent, from, i);
            from = i;
        }
    }
    node->child_count = paths->node_count - node->first_child;
    return true;
}

// The roots of all trees are one place.
static void
make_root(struct builder *builder)
{
    struct diff_paths *paths = builder->paths;
    uint32_t count = paths->trees_before + paths->trees_after;
    for (uint32_t i = 0; i < count; i++) {
        paths->members[i] = (struct diff_paths_member){i, 0};
    }
    paths->nodes[0] = (struct diff_node){
        .parent = TREE_NONE,
        .first_child = TREE_NONE,
        .frame = 0, // that of all roots, which is numbered first
        .member_count = count,
        .before = paths->trees_before > 0,
        .after = paths->trees_after > 0,
    };
    paths->node_count = 1;
}

/* Figures. */

static const struct diff_figures unknown = {NAN, NAN, NAN, NAN, NAN};

// Of one side of a node. A sampled tree that has nothing here may have had something
// that no sample met.
static struct diff_figures
figures_of(const struct diff_paths *paths, uint32_t number, bool self, bool after)
{
    const struct diff_node *node = &paths->nodes[number];
    const struct diff_paths_member *member = &paths->members[node->first_member];
    const struct diff_paths_member *end = member + node->member_count;
    struct diff_figures figures = {0, 0, 0, 0, 0};
    bool counted = number == 0 || paths->frames[node->frame]->id == FRAME_BEFORE_TRACING;
    for (uint32_t i = 0; i < paths->trees_before + paths->trees_after; i++) {
        const struct tree_model *tree = paths->trees[i].tree;
        struct tree_sum sum = {0};
        for (; member < end && member->tree == i; member++) {
            struct tree_sum more =
                self ? tree_store_self(tree, member->node) : tree->sums[member->node];
            tree_store_add(&sum, &more);
        }
        if (paths->trees[i].after != after) {
            continue;
        }
        struct tree_counts counts = tree_store_counts(tree, &sum, counted);
        figures.live += counts.live;
        figures.allocated += counts.allocated;
        figures.bytes += counts.live > 0 ? counts.bytes : 0;
        figures.error = hypot(figures.error, counts.error);
        double size = counts.live > 0 ? counts.bytes / counts.live : 0;
        figures.error_bytes = hypot(figures.error_bytes, counts.error * size);
    }
    bool has_trees = (after ? paths->trees_after : paths->trees_before) > 0;
    if (!has_trees && !(after ? paths->known_after : paths->known_before)) {
        return unknown;
    }
    return figures;
}

double
diff_paths_measured(const struct diff_paths *paths, const struct diff_figures *figures)
{
    return paths->measure == DIFF_OF_BYTES ? figures->bytes : figures->live;
}

double
diff_paths_error(const struct diff_paths *paths, const struct diff_figures *figures)
{
    return paths->measure == DIFF_OF_BYTES ? figures->error_bytes : figures->error;
}

double
diff_paths_size(const struct diff_paths *paths, const struct diff_pair *pair)
{
    const double sizes[] = {
        fabs(diff_paths_measured(paths, &pair->change)),
        fabs(pair->change.live),
        pair->after.live,
        pair->before.live,
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!isnan(sizes[i])) {
            return sizes[i];
        }
    }
    return 0;
}

static enum diff_kind
kind_of(const struct diff_paths *paths, const struct diff_pair *pair)
{
    double change = diff_paths_measured(paths, &pair->change);
    if (isnan(change)) {
        return DIFF_UNTOLD;
    }
    if (change == 0) {
        return DIFF_UNCHANGED;
    }
    if (pair->before.live == 0) {
        return DIFF_ADDED;
    }
    if (pair->after.live == 0) {
        return DIFF_GONE;
    }
    return change > 0 ? DIFF_GROWN : DIFF_SHRUNK;
}

// The variances of both sides add up.
static struct diff_figures
subtract(const struct diff_figures *after, const struct diff_figures *before)
{
    return (struct diff_figures){
        .live = after->live - before->live,
        .bytes = after->bytes - before->bytes,
        .allocated = after->allocated - before->allocated,
        .error = hypot(after->error, before->error),
        .error_bytes = hypot(after->error_bytes, before->error_bytes),
    };
}

static struct diff_pair
pair_of(const struct diff_paths *paths, uint32_t node, bool self)
{
    struct diff_pair pair = {
        .before = figures_of(paths, node, self, false),
        .after = figures_of(paths, node, self, true),
    };
    bool known = paths->known_before && paths->known_after;
    pair.change = known ? subtract(&pair.after, &pair.before) : unknown;
    double change = diff_paths_measured(paths, &pair.change);
    double error = diff_paths_error(paths, &pair.change);
    pair.significant = change != 0 && fabs(change) > error; // NAN is not
    pair.kind = kind_of(paths, &pair);
    return pair;
}

struct diff_pair
diff_paths_total(const struct diff_paths *paths, uint32_t node)
{
    return pair_of(paths, node, false);
}

struct diff_pair
diff_paths_self(const struct diff_paths *paths, uint32_t node)
{
    return pair_of(paths, node, true);
}

/* Sites. */

static bool
has_objects(double live)
{
    return !isnan(live) && live != 0;
}

static int
by_size(const void *left, const void *right)
{
    const struct diff_site *a = left;
    const struct diff_site *b = right;
    if (a->size != b->size) {
        return a->size > b->size ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static bool
find_sites(struct diff_paths *paths)
{
    paths->sites = malloc((paths->node_count + 1u) * sizeof *paths->sites);
    if (paths->sites == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < paths->node_count; i++) {
        struct diff_pair self = diff_paths_self(paths, i);
        if (has_objects(self.before.live) || has_objects(self.after.live)) {
            paths->sites[paths->site_count++] =
                (struct diff_site){i, diff_paths_measured(paths, &self.change),
                                   diff_paths_size(paths, &self)};
        }
    }
    qsort(paths->sites, paths->site_count, sizeof *paths->sites, by_size);
    return true;
}

/* All of it. */

static bool
build(struct builder *builder)
{
    struct diff_paths *paths = builder->paths;
    size_t room = paths->node_count; // see take_tree()
    if (room == 0) {
        return true;
    }
    paths->nodes = malloc(room * sizeof *paths->nodes);
    paths->members = malloc(room * sizeof *paths->members);
    if (paths->nodes == NULL || paths->members == NULL || !find_frames(builder)) {
        return false;
    }
    make_root(builder);
    for (uint32_t i = 0; i < paths->node_count; i++) {
        if (!expand(builder, i)) {
            return false;
        }
    }
    return find_sites(paths);
}

static void
builder_destroy(struct builder *builder)
{
    free(builder->numbers[0]);
    free(builder->numbers[1]);
    free(builder->frame_after);
    free(builder->children);
    free(builder->runs);
    index_destroy(&builder->by_name);
}

bool
diff_paths_init(struct diff_paths *paths, const struct diff *diff,
                const struct diff_class *class, enum diff_measure measure)
{
    *paths = (struct diff_paths){.measure = measure, .exact = true, .name = class->name};
    paths->trees = calloc(2 * TREES_MAX, sizeof *paths->trees);
    if (paths->trees == NULL) {
        return false;
    }
    paths->known_before =
        find_trees(paths, class, diff->before, diff->counted_before, false);
    paths->known_after = find_trees(paths, class, diff->after, diff->counted_after, true);
    struct builder builder = {.paths = paths, .same_process = diff->same_process};
    bool built = build(&builder);
    builder_destroy(&builder);
    if (!built) {
        diff_paths_destroy(paths);
    }
    return built;
}

void
diff_paths_destroy(struct diff_paths *paths)
{
    free(paths->nodes);
    free(paths->sites);
    free(paths->trees);
    free(paths->members);
    free((void *)paths->frames);
    *paths = (struct diff_paths){0};
}

const struct tree_frame *
diff_paths_frame(const struct diff_paths *paths, uint32_t node)
{
    return paths->frames[paths->nodes[node].frame];
}

void
diff_paths_label(const struct diff_paths *paths, uint32_t node, char *label, size_t size)
{
    const char *name = node == 0 ? paths->name : diff_paths_frame(paths, node)->label;
    uint32_t block = paths->nodes[node].block;
    if (node != 0 && name[0] == '\0') {
        name = "(no name yet)";
    }
    if (block == 0) {
        snprintf(label, size, "%s", name);
    } else if (block == 1) {
        snprintf(label, size, "block in %s", name);
    } else {
        snprintf(label, size, "block (%u levels) in %s", (unsigned)block, name);
    }
}

uint32_t
diff_paths_line(const struct diff_paths *paths, uint32_t node)
{
    const struct diff_node *at = &paths->nodes[node];
    return at->after ? at->line_after : at->line_before;
}

bool
diff_paths_moved(const struct diff_paths *paths, uint32_t node)
{
    const struct diff_node *at = &paths->nodes[node];
    return at->line_before != 0 && at->line_after != 0 &&
           at->line_before != at->line_after;
}
