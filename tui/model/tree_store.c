#include "tui/model/tree_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MIN 64u

static bool
grow_nodes(struct tree_model *tree)
{
    if (tree->count < tree->capacity) {
        return true;
    }
    uint32_t capacity = tree->capacity != 0 ? tree->capacity * 2 : NODES_MIN;
    struct tree_place *nodes = realloc(tree->nodes, capacity * sizeof *nodes);
    if (nodes != NULL) {
        tree->nodes = nodes;
    }
    struct tree_sum *sums = realloc(tree->sums, capacity * sizeof *sums);
    if (sums != NULL) {
        tree->sums = sums;
    }
    if (nodes == NULL || sums == NULL) {
        return false;
    }
    tree->capacity = capacity;
    return true;
}

static bool
grow_sites(struct tree_model *tree)
{
    if (tree->site_count < tree->site_capacity) {
        return true;
    }
    uint32_t capacity = tree->site_capacity != 0 ? tree->site_capacity * 2 : NODES_MIN;
    struct tree_kept_site *sites = realloc(tree->sites, capacity * sizeof *sites);
    if (sites == NULL) {
        return false;
    }
    tree->sites = sites;
    tree->site_capacity = capacity;
    return true;
}

// The index of a node on the wire, TREE_NONE when it is not known.
static uint32_t
find(const struct tree_model *tree, uint32_t id)
{
    size_t cursor = 0;
    uint32_t node = id == 0 ? 0 : index_next(&tree->ids, id, &cursor);
    return node != INDEX_NONE ? node : TREE_NONE;
}

// Add a node below a known parent. Room must have been made.
static void
add(struct tree_model *tree, const struct tree_node *node, uint32_t parent, uint32_t slot)
{
    uint32_t index = tree->count++;
    struct tree_place *above = &tree->nodes[parent];
    tree->nodes[index] = (struct tree_place){
        .id = node->id,
        .parent = parent,
        .frame = slot,
        .line = node->line,
        .block = node->block,
        .depth = above->depth + 1,
        .first_child = TREE_NONE,
        .next_sibling = above->first_child,
        .first_site = TREE_NONE,
    };
    tree->sums[index] = (struct tree_sum){0};
    above->first_child = index;
    index_put(&tree->ids, node->id, index);
}

// Add a node below a known parent, if there may be one more. False when memory ran
// out.
static bool
make(struct tree_model *tree, struct frames_kept *frames, const struct tree_node *node,
     uint32_t parent)
{
    uint32_t slot;
    if (tree->count >= TREE_NODES_MAX) {
        return true;
    }
    if (!frames_slot(frames, node->frame, &slot) || !grow_nodes(tree) ||
        !index_reserve(&tree->ids, 1)) {
        return false;
    }
    add(tree, node, parent, slot);
    return true;
}

// The same as find(), but nodes of the special frames are always there: a probe need
// not send them. They have their frames' numbers and hang under the root.
static bool
find_or_make(struct tree_model *tree, struct frames_kept *frames, uint32_t id,
             uint32_t *index)
{
    *index = find(tree, id);
    if (*index != TREE_NONE || id >= FRAME_FIRST) {
        return true;
    }
    struct tree_node special = {.id = id, .frame = id};
    bool made = make(tree, frames, &special, 0);
    *index = find(tree, id);
    return made;
}

// Take a node. One that cannot be is passed over: its objects stay the root's own.
// False when memory ran out.
static bool
enter(struct tree_model *tree, struct frames_kept *frames, const struct tree_node *node)
{
    uint32_t known = find(tree, node->id);
    if (known != TREE_NONE) {
        if (known != 0 && tree->nodes[known].block != node->block) {
            tree->renamed++;
            tree->nodes[known].block = node->block; // found out since
        }
        return true;
    }
    if (node->parent >= node->id) {
        return true;
    }
    uint32_t parent;
    if (!find_or_make(tree, frames, node->parent, &parent)) {
        return false;
    }
    return parent == TREE_NONE || make(tree, frames, node, parent);
}

struct tree_model *
tree_store_new(class_id id, uint64_t generation)
{
    struct tree_model *tree = calloc(1, sizeof *tree);
    if (tree == NULL || !grow_nodes(tree)) {
        tree_store_free(tree);
        return NULL;
    }
    tree->class_id = id;
    tree->generation = generation;
    tree->header = (struct tree){.class_id = id, .since_us = COUNT_UNKNOWN};
    tree->mark = MODEL_MARK_NONE;
    tree->class_name = "";
    tree->nodes[0] = (struct tree_place){
        .parent = TREE_NONE,
        .frame = FRAME_ROOT,
        .first_child = TREE_NONE,
        .next_sibling = TREE_NONE,
        .first_site = TREE_NONE,
    };
    tree->sums[0] = (struct tree_sum){0};
    tree->count = 1;
    return tree;
}

void
tree_store_drop(struct tree_moment *moment)
{
    free(moment->values);
    *moment = (struct tree_moment){0};
}

void
tree_store_free(struct tree_model *tree)
{
    if (tree == NULL) {
        return;
    }
    tree_store_drop(&tree->first);
    tree_store_drop(&tree->pending);
    tree_store_drop(&tree->anchors[0]);
    tree_store_drop(&tree->anchors[1]);
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        tree_store_drop(&tree->marks[i]);
    }
    index_destroy(&tree->ids);
    free(tree->nodes);
    free(tree->sums);
    free(tree->sites);
    free(tree);
}

static bool
copy_moment(struct tree_moment *copy, const struct tree_moment *moment)
{
    *copy = (struct tree_moment){0};
    if (!moment->set) {
        return true;
    }
    size_t bytes = moment->count * sizeof *moment->values;
    copy->values = malloc(bytes);
    if (copy->values == NULL) {
        return false;
    }
    memcpy(copy->values, moment->values, bytes);
    copy->set = true;
    copy->us = moment->us;
    copy->count = copy->capacity = moment->count;
    return true;
}

// Room for everything that a copy owns; what it holds is the caller's business.
static bool
copy_lists(struct tree_model *copy, const struct tree_model *tree)
{
    copy->nodes = malloc(tree->count * sizeof *copy->nodes);
    copy->sums = malloc(tree->count * sizeof *copy->sums);
    copy->sites = malloc((tree->site_count + 1u) * sizeof *copy->sites);
    if (copy->nodes == NULL || copy->sums == NULL || copy->sites == NULL) {
        return false;
    }
    memcpy(copy->nodes, tree->nodes, tree->count * sizeof *copy->nodes);
    memcpy(copy->sums, tree->sums, tree->count * sizeof *copy->sums);
    if (tree->site_count > 0) {
        memcpy(copy->sites, tree->sites, tree->site_count * sizeof *copy->sites);
    }
    copy->count = copy->capacity = tree->count;
    copy->site_count = copy->site_capacity = tree->site_count;
    return true;
}

struct tree_model *
tree_store_copy(const struct tree_model *tree)
{
    struct tree_model *copy = calloc(1, sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    copy->class_id = tree->class_id;
    copy->header = tree->header;
    copy->last_us = tree->last_us;
    copy->stale = tree->stale;
    copy->version = tree->version;
    copy->generation = tree->generation;
    copy->renamed = tree->renamed;
    copy->live = tree->live;
    copy->allocated = tree->allocated;
    copy->mark = tree->mark;
    copy->class_name = "";
    bool ok = index_copy(&copy->ids, &tree->ids) && copy_lists(copy, tree) &&
              copy_moment(&copy->first, &tree->first) &&
              copy_moment(&copy->anchors[0], &tree->anchors[0]) &&
              copy_moment(&copy->anchors[1], &tree->anchors[1]);
    for (int i = 0; i < MODEL_MARKS_MAX && ok; i++) {
        ok = copy_moment(&copy->marks[i], &tree->marks[i]);
    }
    if (!ok) {
        tree_store_free(copy);
        return NULL;
    }
    return copy;
}

static uint64_t
known(uint64_t count)
{
    return count != COUNT_UNKNOWN ? count : 0;
}

// Objects of before tracing were counted, every one.
static uint32_t
shift_of(const struct tree_site *site)
{
    if (site->node == FRAME_BEFORE_TRACING) {
        return 0;
    }
    return site->shift < ESTIMATE_SHIFT_MAX ? site->shift : ESTIMATE_SHIFT_MAX;
}

static struct tree_kept_site *
find_site(struct tree_model *tree, uint32_t node, uint32_t shift)
{
    for (uint32_t at = tree->nodes[node].first_site; at != TREE_NONE;
         at = tree->sites[at].next) {
        if (tree->sites[at].shift == shift) {
            return &tree->sites[at];
        }
    }
    return NULL;
}

// Make an empty site where there is none. False when memory ran out.
static bool
enter_site(struct tree_model *tree, struct frames_kept *frames,
           const struct tree_site *site)
{
    uint32_t node;
    if (!find_or_make(tree, frames, site->node, &node)) {
        return false;
    }
    uint32_t shift = shift_of(site);
    if (node == TREE_NONE || find_site(tree, node, shift) != NULL ||
        tree->site_count >= TREE_SITES_MAX) {
        return true;
    }
    if (!grow_sites(tree)) {
        return false;
    }
    tree->sites[tree->site_count] = (struct tree_kept_site){
        .next = tree->nodes[node].first_site,
        .node = node,
        .shift = shift,
    };
    tree->nodes[node].first_site = tree->site_count++;
    return true;
}

static void
set_site(struct tree_model *tree, const struct tree_site *from)
{
    uint32_t node = find(tree, from->node);
    struct tree_kept_site *site =
        node != TREE_NONE ? find_site(tree, node, shift_of(from)) : NULL;
    if (site == NULL) {
        return;
    }
    site->live = known(from->live);
    site->allocated = known(from->allocated);
    site->bytes = from->bytes;
    memcpy(site->ages, from->ages, sizeof site->ages);
}

// A key tree lists what there is: the rest has nothing left.
static void
empty_sites(struct tree_model *tree)
{
    for (uint32_t i = 0; i < tree->site_count; i++) {
        struct tree_kept_site *site = &tree->sites[i];
        site->live = site->allocated = site->bytes = 0;
        memset(site->ages, 0, sizeof site->ages);
    }
}

bool
tree_store_keep(struct tree_model *tree, struct tree_moment *moment,
                enum tree_second second)
{
    tree_store_sum(tree);
    if (moment->capacity < tree->count) {
        double(*values)[2] = realloc(moment->values, tree->capacity * sizeof *values);
        if (values == NULL) {
            return false;
        }
        moment->values = values;
        moment->capacity = tree->capacity;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct tree_sum *sum = &tree->sums[i];
        double bytes = sum->bytes_known ? sum->bytes : (double)NAN;
        moment->values[i][0] = sum->live;
        moment->values[i][1] = second == TREE_SECOND_BYTES ? bytes : sum->allocated;
    }
    moment->set = true;
    moment->us = tree->last_us;
    moment->count = tree->count;
    return true;
}

struct tree_moment *
tree_store_baseline(struct tree_model *tree, int mark)
{
    return mark == MODEL_MARK_NONE ? &tree->first : &tree->marks[mark];
}

// Set what the places of this tree say; true when there was one.
static bool
set_places(const struct tree_model *tree, struct tree_moment *moment,
           const struct mark_place *places, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t node =
            places[i].class_id == tree->class_id ? find(tree, places[i].node) : TREE_NONE;
        if (node != TREE_NONE) {
            moment->values[node][0] = isnan(places[i].live) ? 0 : places[i].live;
            moment->values[node][1] = places[i].bytes;
            any = true;
        }
    }
    return any;
}

bool
tree_store_take(struct tree_model *tree, const struct tree_moment *before,
                const struct mark_place *places, size_t count)
{
    struct tree_moment *moment = &tree->pending;
    tree_store_drop(moment);
    moment->values = calloc(tree->capacity, sizeof *moment->values);
    if (moment->values == NULL) {
        return false;
    }
    moment->capacity = tree->capacity;
    moment->count = tree->count;
    if (before != NULL && before->set) {
        memcpy(moment->values, before->values, before->count * sizeof *before->values);
        moment->set = true;
    }
    moment->set |= set_places(tree, moment, places, count);
    return true;
}

// Rates start anew with the moment that begins, or compare with the one that ended.
// A window that there is no memory for is none: a rate is then unknown.
static void
move_window(struct tree_model *tree, uint64_t now_us)
{
    struct tree_moment *anchors = tree->anchors;
    bool gap = now_us < tree->last_us || now_us - tree->last_us > TREE_RATE_GAP_US;
    if (gap) {
        anchors[0].set = anchors[1].set = false;
        return;
    }
    if (!anchors[0].set) {
        anchors[1].set = false;
        (void)tree_store_keep(tree, &anchors[0], TREE_SECOND_ALLOCATED);
        return;
    }
    uint64_t from_us = anchors[1].set ? anchors[1].us : anchors[0].us;
    if (tree->last_us / TREE_RATE_STEP_US == from_us / TREE_RATE_STEP_US) {
        return;
    }
    if (anchors[1].set) {
        struct tree_moment oldest = anchors[0];
        anchors[0] = anchors[1];
        anchors[1] = oldest;
    }
    anchors[1].set = false;
    (void)tree_store_keep(tree, &anchors[1], TREE_SECOND_ALLOCATED);
}

// The moment that the messages so far made is whole. False when memory ran out.
static bool
end_moment(struct tree_model *tree, uint64_t now_us)
{
    if (tree->version == 0 || now_us == tree->last_us) {
        return true;
    }
    if (!tree->first.set && !tree_store_keep(tree, &tree->first, TREE_SECOND_BYTES)) {
        return false;
    }
    move_window(tree, now_us);
    return true;
}

bool
tree_store_apply(struct tree_model *tree, struct frames_kept *frames,
                 const struct tree *message, struct stamp at)
{
    uint32_t root; // stands on a frame even when nothing hangs under it
    if (!frames_slot(frames, FRAME_ROOT, &root) || !end_moment(tree, at.monotonic_us)) {
        return false;
    }
    tree->stale = true; // nodes without objects may be added before memory runs out
    for (size_t i = 0; i < message->node_count; i++) {
        if (!enter(tree, frames, &message->nodes[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < message->site_count; i++) {
        if (!enter_site(tree, frames, &message->sites[i])) {
            return false;
        }
    }
    if (message->key) {
        empty_sites(tree);
    }
    for (size_t i = 0; i < message->site_count; i++) {
        set_site(tree, &message->sites[i]);
    }
    tree->header = *message;
    tree->header.nodes = NULL;
    tree->header.node_count = 0;
    tree->header.sites = NULL;
    tree->header.site_count = 0;
    tree->last_us = at.monotonic_us;
    tree->version++;
    return true;
}

static void
measure_samples(struct tree_model *tree)
{
    tree->live = (struct estimate){(double)known(tree->header.unsampled_live), 0, 0, 0};
    tree->allocated =
        (struct estimate){(double)known(tree->header.unsampled_allocated), 0, 0, 0};
    for (uint32_t i = 0; i < tree->site_count; i++) {
        const struct tree_kept_site *site = &tree->sites[i];
        estimate_add(&tree->live, (double)site->live, site->shift);
        estimate_add(&tree->allocated, (double)site->allocated, site->shift);
    }
}

void
tree_store_add_site(struct tree_sum *sum, const struct tree_model *tree,
                    const struct tree_kept_site *site)
{
    double live = (double)site->live;
    double scale = estimate_scale(&tree->live, site->shift);
    sum->live += live * scale;
    sum->allocated +=
        (double)site->allocated * estimate_scale(&tree->allocated, site->shift);
    sum->weight += live * estimate_weight(site->shift);
    sum->samples += site->live;
    if (site->bytes != COUNT_UNKNOWN) {
        sum->bytes += (double)site->bytes * scale;
        sum->bytes_known = true;
    }
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        if (site->ages[i] != COUNT_UNKNOWN) {
            sum->ages[i] += (double)site->ages[i] * scale;
            sum->ages_known = true;
        }
    }
}

void
tree_store_add(struct tree_sum *to, const struct tree_sum *from)
{
    to->live += from->live;
    to->allocated += from->allocated;
    to->bytes += from->bytes;
    to->weight += from->weight;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        to->ages[i] += from->ages[i];
    }
    to->samples += from->samples;
    to->bytes_known |= from->bytes_known;
    to->ages_known |= from->ages_known;
}

void
tree_store_sum(struct tree_model *tree)
{
    if (!tree->stale) {
        return;
    }
    measure_samples(tree);
    memset(tree->sums, 0, tree->count * sizeof *tree->sums);
    for (uint32_t i = 0; i < tree->site_count; i++) {
        const struct tree_kept_site *site = &tree->sites[i];
        tree_store_add_site(&tree->sums[site->node], tree, site);
    }
    for (uint32_t i = tree->count; --i > 0;) {
        tree_store_add(&tree->sums[tree->nodes[i].parent], &tree->sums[i]);
    }
    if (tree->header.live != COUNT_UNKNOWN) {
        tree->sums[0].live = (double)tree->header.live;
    }
    tree->stale = false;
    tree->sums_made++;
}

bool
tree_store_counted(const struct tree_model *tree, uint32_t node)
{
    return node == 0 || tree->nodes[node].id == FRAME_BEFORE_TRACING;
}

struct tree_counts
tree_store_counts(const struct tree_model *tree, const struct tree_sum *sum, bool counted)
{
    struct tree_counts counts = {
        .live = sum->live,
        .allocated = sum->allocated,
        .bytes = sum->bytes_known ? sum->bytes : (double)NAN,
        .error = counted ? 0 : estimate_error(&tree->live, sum->weight),
        .samples = sum->samples,
    };
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        counts.ages[i] = sum->ages_known ? sum->ages[i] : (double)NAN;
    }
    return counts;
}

// What is left of the root's figure. Where stacks are sampled the children are sums
// of fractions: what they miss by rounding is nothing.
static double
rest(double all, double children)
{
    double left = all - children;
    return left > 1e-9 * all ? left : 0;
}

static struct tree_sum
self_of_root(const struct tree_model *tree)
{
    struct tree_sum below = {0};
    for (uint32_t at = tree->nodes[0].first_child; at != TREE_NONE;
         at = tree->nodes[at].next_sibling) {
        tree_store_add(&below, &tree->sums[at]);
    }
    struct tree_sum self = tree->sums[0];
    self.live = rest(self.live, below.live);
    self.allocated = rest(self.allocated, below.allocated);
    self.bytes = rest(self.bytes, below.bytes);
    self.samples -= below.samples;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        self.ages[i] = rest(self.ages[i], below.ages[i]);
    }
    return self;
}

struct tree_sum
tree_store_self(const struct tree_model *tree, uint32_t node)
{
    if (node == 0) {
        return self_of_root(tree);
    }
    struct tree_sum self = {0};
    for (uint32_t at = tree->nodes[node].first_site; at != TREE_NONE;
         at = tree->sites[at].next) {
        tree_store_add_site(&self, tree, &tree->sites[at]);
    }
    return self;
}
