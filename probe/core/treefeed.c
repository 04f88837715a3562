#include "probe/core/treefeed.h"

#include <stdlib.h>
#include <string.h>

// Of each kind in one frame: far below FRAME_BODY_MAX and DECODE_VALUES_MAX even if
// every row is as long as it may be.
#define FRAMES_A_FRAME 1000u
#define NODES_A_FRAME 50000u
#define SITES_A_FRAME 50000u

#define SET_BITS 64u

#define INTO_UNSAMPLED UINT32_MAX // of a site: it is added to the header's figures

struct treefeed_site {
    site_id id;
    uint32_t node;
    uint32_t into; // the site it is added to, itself without tags
    uint8_t shift;
    bool changed; // by the last reading
    bool aged;    // `ages` are known
    uint32_t ages[AGE_BUCKETS];
    uint64_t live;
    uint64_t allocated;
    uint64_t bytes;
};

/* Lists and sets of numbers. */

static bool
list_add(struct treefeed_list *list, uint32_t id)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity + list->capacity / 2 + 64;
        uint32_t *ids = realloc(list->ids, capacity * sizeof(*ids));
        if (!ids) {
            return false;
        }
        list->ids = ids;
        list->capacity = capacity;
    }
    list->ids[list->count++] = id;
    return true;
}

static bool
set_has(const struct treefeed_set *set, uint32_t id)
{
    return id < set->capacity && (set->bits[id / SET_BITS] >> id % SET_BITS & 1);
}

static bool
set_add(struct treefeed_set *set, uint32_t id)
{
    if (id >= set->capacity) {
        uint32_t words = (id + id / 2) / SET_BITS + 16;
        uint64_t *bits = realloc(set->bits, words * sizeof(*bits));
        if (!bits) {
            return false;
        }
        uint32_t before = set->capacity / SET_BITS;
        memset(bits + before, 0, (words - before) * sizeof(*bits));
        set->bits = bits;
        set->capacity = words * SET_BITS;
    }
    set->bits[id / SET_BITS] |= UINT64_C(1) << id % SET_BITS;
    return true;
}

/* A feed. */

static void
start(struct treefeed *feed, class_id id, uint32_t class_index)
{
    *feed = (struct treefeed){.id = id, .class_index = class_index};
}

struct treefeed *
treefeed_new(class_id id, uint32_t class_index)
{
    struct treefeed *feed = malloc(sizeof(*feed));
    if (feed) {
        start(feed, id, class_index);
    }
    return feed;
}

static void
forget(struct treefeed *feed)
{
    free(feed->sites);
    free(feed->sums);
    free(feed->places);
    free(feed->nodes.ids);
    free(feed->frames.ids);
    free(feed->new_nodes.ids);
    free(feed->new_frames.ids);
    free(feed->waiting.ids);
    free(feed->has_node.bits);
    free(feed->has_frame.bits);
    free(feed->has_name.bits);
    start(feed, feed->id, feed->class_index);
}

void
treefeed_free(struct treefeed *feed)
{
    if (feed) {
        forget(feed);
        free(feed);
    }
}

/* Nodes and frames. */

// A special node stands on the frame of its own number, right below the root.
static struct calltree_node
node_of(const struct calltree *tree, uint32_t node)
{
    return node < CALLTREE_FIRST_NODE ? (struct calltree_node){.frame = node}
                                      : *calltree_node(tree, node);
}

static bool
is_named(const struct calltree *tree, uint32_t frame)
{
    return frame < FRAME_FIRST ||
           atomic_load_explicit(&calltree_frame(tree, frame)->named,
                                memory_order_acquire);
}

// A frame comes before the first node on it, and again once it has a name.
static bool
note_frame(struct treefeed *feed, uint32_t frame, bool named)
{
    if (frame < FRAME_FIRST || set_has(&feed->has_name, frame) ||
        (!named && set_has(&feed->has_frame, frame))) {
        return true;
    }
    bool known = set_has(&feed->has_frame, frame);
    return (!named || set_add(&feed->has_name, frame)) &&
           set_add(&feed->has_frame, frame) && list_add(&feed->new_frames, frame) &&
           (known || list_add(&feed->frames, frame));
}

static bool
note_one(struct treefeed *feed, const struct calltree *tree, uint32_t node)
{
    uint32_t frame = node_of(tree, node).frame;
    bool named = is_named(tree, frame);
    return note_frame(feed, frame, named) && list_add(&feed->nodes, node) &&
           list_add(&feed->new_nodes, node) && (named || list_add(&feed->waiting, node));
}

static void
reverse(uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t id = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
}

// A node and those above it, up to one that is known: its callers are known too.
static bool
note_path(struct treefeed *feed, const struct calltree *tree, uint32_t node)
{
    uint32_t told = feed->nodes.count;
    uint32_t told_now = feed->new_nodes.count;
    while (node && !set_has(&feed->has_node, node)) {
        if (!set_add(&feed->has_node, node) || !note_one(feed, tree, node)) {
            return false;
        }
        node = node_of(tree, node).parent;
    }
    reverse(feed->nodes.ids + told, feed->nodes.count - told);
    reverse(feed->new_nodes.ids + told_now, feed->new_nodes.count - told_now);
    return true;
}

// Nodes whose frames got their names since: only now it is known which of them lie
// in blocks.
static bool
note_names(struct treefeed *feed, const struct calltree *tree)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < feed->waiting.count; i++) {
        uint32_t node = feed->waiting.ids[i];
        uint32_t frame = node_of(tree, node).frame;
        if (!is_named(tree, frame)) {
            feed->waiting.ids[left++] = node;
        } else if (!note_frame(feed, frame, true) || !list_add(&feed->new_nodes, node)) {
            return false;
        }
    }
    feed->waiting.count = left;
    return true;
}

/* Sites. */

static struct treefeed_site *
add_site(struct treefeed *feed)
{
    if (feed->site_count == feed->site_capacity) {
        uint32_t capacity = feed->site_capacity + feed->site_capacity / 2 + 64;
        struct treefeed_site *sites = realloc(feed->sites, capacity * sizeof(*sites));
        if (!sites) {
            return NULL;
        }
        feed->sites = sites;
        feed->site_capacity = capacity;
    }
    struct treefeed_site *site = &feed->sites[feed->site_count++];
    *site = (struct treefeed_site){.live = COUNT_UNKNOWN}; // no reading is like it
    return site;
}

static uint32_t
place_of(const struct treefeed *feed, const struct treefeed_site *site)
{
    uint32_t place = (site->node * 31 + site->shift) * 0x9e3779b9u;
    place = (place ^ place >> 16) & (feed->place_count - 1);
    while (feed->places[place]) {
        const struct treefeed_site *there = &feed->sites[feed->places[place]];
        if (there->node == site->node && there->shift == site->shift) {
            break;
        }
        place = (place + 1) & (feed->place_count - 1);
    }
    return place;
}

// Room for as many sites as there are, and half as many again, at most half full.
static bool
place_all(struct treefeed *feed)
{
    uint32_t count = 64;
    while (count < feed->site_count * 3) {
        count *= 2;
    }
    free(feed->places);
    feed->places = calloc(count, sizeof(*feed->places));
    feed->place_count = feed->places ? count : 0;
    for (uint32_t i = 1; i < feed->site_count && feed->places; i++) {
        uint32_t place = place_of(feed, &feed->sites[i]);
        if (feed->sites[i].into == i && !feed->places[place]) {
            feed->places[place] = i;
        }
    }
    return feed->places != NULL;
}

// Find the site that the last one is to be added to. Without tags there is none twice.
static bool
join(struct treefeed *feed, bool tagged)
{
    uint32_t index = feed->site_count - 1;
    struct treefeed_site *site = &feed->sites[index];
    site->into = site->node == FRAME_ROOT             ? INTO_UNSAMPLED
                 : site->node == FRAME_BEFORE_TRACING ? 0
                                                      : index;
    if (site->into != index) {
        return feed->places || place_all(feed);
    }
    if (!tagged && !feed->places) {
        return true;
    }
    if (feed->site_count * 2 > feed->place_count && !place_all(feed)) {
        return false;
    }
    uint32_t place = place_of(feed, site);
    if (!feed->places[place]) {
        feed->places[place] = index;
    }
    site->into = feed->places[place];
    return true;
}

// New paths come to the head of the class's list.
static bool
find_new(struct treefeed *feed, const struct registry *registry,
         const struct calltree *tree, const struct class_entry *entry)
{
    site_id head = atomic_load_explicit(&entry->paths, memory_order_acquire);
    site_id id = head;
    while (id && id != feed->newest) {
        const struct site *site = registry_site(registry, id);
        struct treefeed_site *seen = add_site(feed);
        if (!seen ||
            (site->node != FRAME_BEFORE_TRACING && !note_path(feed, tree, site->node))) {
            return false;
        }
        seen->id = id;
        seen->node = site->node;
        seen->shift = site->shift;
        if (!join(feed, site->tag != TAG_NONE)) {
            return false;
        }
        id = atomic_load_explicit(&site->next, memory_order_acquire);
    }
    feed->newest = head;
    return true;
}

// Adds up one site's counters, and what the last census saw of it.
static void
read_site(struct treefeed_site *sum, struct site_counts *counts,
          const struct registry *registry, site_id id)
{
    const struct site *site = registry_site(registry, id);
    const struct site_census *census = registry_seen(registry, id);
    uint64_t freed = atomic_load_explicit(&site->freed, memory_order_acquire);
    uint64_t found = atomic_load_explicit(&site->found, memory_order_acquire);
    uint64_t allocated = atomic_load_explicit(&site->allocated, memory_order_acquire);
    sum->live += allocated + found - freed;
    sum->allocated += allocated;
    counts->live += allocated + found - freed;
    counts->allocated += allocated;
    counts->freed += freed;
    uint64_t bytes = atomic_load_explicit(&census->bytes, memory_order_acquire);
    if (bytes != COUNT_UNKNOWN) {
        sum->bytes = (sum->bytes == COUNT_UNKNOWN ? 0 : sum->bytes) + bytes;
        sum->aged = true;
    }
    for (size_t i = 0; i < AGE_BUCKETS; i++) {
        uint32_t aged = atomic_load_explicit(&census->ages[i], memory_order_acquire);
        sum->ages[i] += aged;
        sum->aged |= aged > 0; // seen, though nobody could weigh it
    }
}

static bool
same_site(const struct treefeed_site *a, const struct treefeed_site *b)
{
    return a->live == b->live && a->allocated == b->allocated && a->bytes == b->bytes &&
           a->aged == b->aged && memcmp(a->ages, b->ages, sizeof(a->ages)) == 0;
}

static void
renew_site(struct treefeed_site *site, struct treefeed_site now)
{
    now.changed = !same_site(site, &now);
    *site = now;
}

static struct treefeed_site
unread(const struct treefeed_site *site)
{
    return (struct treefeed_site){.id = site->id,
                                  .node = site->node,
                                  .into = site->into,
                                  .shift = site->shift,
                                  .bytes = COUNT_UNKNOWN};
}

// Add the sites of every tag to those they belong to, the first of which, and
// `unsampled`, have something already.
static bool
read_tagged(struct treefeed *feed, const struct registry *registry,
            struct treefeed_site *before, struct treefeed_site *unsampled)
{
    if (feed->sum_capacity < feed->site_capacity) {
        struct treefeed_site *sums =
            realloc(feed->sums, feed->site_capacity * sizeof(*sums));
        if (!sums) {
            return false;
        }
        feed->sums = sums;
        feed->sum_capacity = feed->site_capacity;
    }
    for (uint32_t i = 1; i < feed->site_count; i++) {
        feed->sums[i] = unread(&feed->sites[i]);
    }
    for (uint32_t i = 1; i < feed->site_count; i++) {
        uint32_t into = feed->sites[i].into;
        struct treefeed_site *sum = into == INTO_UNSAMPLED ? unsampled
                                    : into == 0            ? before
                                                           : &feed->sums[into];
        read_site(sum, &feed->counts, registry, feed->sites[i].id);
    }
    for (uint32_t i = 1; i < feed->site_count; i++) {
        if (feed->sites[i].into == i) {
            renew_site(&feed->sites[i], feed->sums[i]);
        } else {
            feed->sites[i].changed = false;
        }
    }
    return true;
}

static bool
read_paths(struct treefeed *feed, const struct registry *registry,
           struct treefeed_site *before, struct treefeed_site *unsampled)
{
    if (feed->places) {
        return read_tagged(feed, registry, before, unsampled);
    }
    for (uint32_t i = 1; i < feed->site_count; i++) {
        struct treefeed_site now = unread(&feed->sites[i]);
        read_site(&now, &feed->counts, registry, now.id);
        renew_site(&feed->sites[i], now);
    }
    return true;
}

// Objects from before tracing have no path: they are counted, or found by a census.
static bool
renew_before(struct treefeed *feed, const struct calltree *tree, struct treefeed_site now)
{
    renew_site(&feed->sites[0], now);
    bool any = now.live || now.allocated;
    feed->sites[0].changed &= any || set_has(&feed->has_node, FRAME_BEFORE_TRACING);
    return !any || note_path(feed, tree, FRAME_BEFORE_TRACING);
}

static struct tree
header_of(const struct treefeed *feed, const struct class_entry *entry,
          const struct trace *trace, const struct treefeed_site *unsampled)
{
    const struct calltree *tree = &trace->tree;
    uint64_t since_us = atomic_load_explicit(&entry->traced_us, memory_order_acquire);
    return (struct tree){
        .class_id = feed->id,
        .flags =
            (atomic_load_explicit(&entry->traced, memory_order_acquire) ? TREE_TRACING
                                                                        : 0u) |
            (entry->pinned ? TREE_PINNED : 0u) |
            (atomic_load_explicit(&tree->refused, memory_order_acquire) ? TREE_FULL : 0u),
        .live = feed->counts.live,
        .since_us = since_us ? since_us : COUNT_UNKNOWN,
        .shift = atomic_load_explicit(&entry->shift, memory_order_acquire),
        .unsampled_live = unsampled->live,
        .unsampled_allocated = unsampled->allocated,
        .depth = trace->depth,
        .nodes_used = atomic_load_explicit(&tree->node_count, memory_order_acquire),
        .nodes_room = CALLTREE_NODES};
}

static bool
same_header(const struct tree *a, const struct tree *b)
{
    return a->class_id == b->class_id && a->flags == b->flags && a->live == b->live &&
           a->since_us == b->since_us && a->shift == b->shift &&
           a->unsampled_live == b->unsampled_live &&
           a->unsampled_allocated == b->unsampled_allocated && a->depth == b->depth &&
           a->nodes_used == b->nodes_used;
}

static bool
read_all(struct treefeed *feed, const struct registry *registry,
         const struct trace *trace)
{
    const struct class_entry *entry = registry_class(registry, feed->class_index);
    const struct calltree *tree = &trace->tree;
    feed->counts = (struct site_counts){0};
    feed->new_nodes.count = 0;
    feed->new_frames.count = 0;
    if ((feed->site_count == 0 && !add_site(feed)) || !note_names(feed, tree) ||
        !find_new(feed, registry, tree, entry)) {
        return false;
    }
    struct treefeed_site before = {.node = FRAME_BEFORE_TRACING, .bytes = COUNT_UNKNOWN};
    struct treefeed_site unsampled = {.bytes = COUNT_UNKNOWN};
    read_site(&before, &feed->counts, registry, entry->site + SITE_COUNTED);
    read_site(&before, &feed->counts, registry, entry->site + SITE_FOUND);
    if (!read_paths(feed, registry, &before, &unsampled) ||
        !renew_before(feed, tree, before)) {
        return false;
    }
    read_site(&unsampled, &feed->counts, registry, entry->site + SITE_UNSAMPLED);
    struct tree header = header_of(feed, entry, trace, &unsampled);
    feed->changed = !same_header(&header, &feed->header);
    feed->header = header;
    return true;
}

bool
treefeed_read(struct treefeed *feed, const struct registry *registry,
              const struct trace *trace)
{
    bool read = read_all(feed, registry, trace);
    if (!read) {
        forget(feed);
    }
    return read;
}

/* Messages. */

static struct frame_name
frame_row(const struct calltree *tree, uint32_t id)
{
    const struct calltree_frame *frame = calltree_frame(tree, id);
    if (!is_named(tree, id)) {
        return (struct frame_name){.id = id};
    }
    return (struct frame_name){id, frame->flags, text_of(frame->label),
                               text_of(frame->path), frame->line};
}

static bool
encode_frames(const struct treefeed_list *frames, const struct calltree *tree,
              struct stamp at, struct buffer *out)
{
    struct frame_name list[FRAMES_A_FRAME];
    uint32_t sent = 0;
    while (sent < frames->count) {
        uint32_t count = 0;
        while (sent < frames->count && count < FRAMES_A_FRAME) {
            list[count++] = frame_row(tree, frames->ids[sent++]);
        }
        struct message message = {
            .kind = MESSAGE_FRAMES, .at = at, .frames = {list, count}
        };
        if (!message_encode(out, &message)) {
            return false;
        }
    }
    return true;
}

static struct tree_node
node_row(const struct calltree *tree, uint32_t id)
{
    struct calltree_node node = node_of(tree, id);
    bool known = node.frame >= FRAME_FIRST && is_named(tree, node.frame);
    uint32_t block =
        known ? calltree_block(calltree_frame(tree, node.frame), node.line) : 0;
    return (struct tree_node){id, node.parent, node.frame, node.line, block};
}

static struct tree_site
site_row(const struct treefeed_site *site)
{
    struct tree_site row = {.node = site->node,
                            .shift = site->shift,
                            .live = site->live,
                            .allocated = site->allocated,
                            .bytes = site->bytes};
    for (size_t i = 0; i < AGE_BUCKETS; i++) {
        row.ages[i] = site->aged ? site->ages[i] : COUNT_UNKNOWN;
    }
    return row;
}

// One part of a tree that may need several frames, and the rows of one of those.
struct part {
    const struct treefeed *feed;
    const struct treefeed_list *nodes;
    bool all; // sites, not only those that changed
    uint32_t nodes_sent;
    uint32_t sites_seen;
    struct tree_node *node_rows; // owned
    struct tree_site *site_rows; // owned
};

static bool
wanted(const struct part *part, uint32_t site)
{
    if (!part->all) {
        return part->feed->sites[site].changed;
    }
    if (site > 0) {
        return part->feed->sites[site].into == site;
    }
    return set_has(&part->feed->has_node, FRAME_BEFORE_TRACING);
}

// All nodes come before the first site.
static void
fill(struct part *part, const struct calltree *tree, struct tree *message)
{
    while (part->nodes_sent < part->nodes->count && message->node_count < NODES_A_FRAME) {
        part->node_rows[message->node_count++] =
            node_row(tree, part->nodes->ids[part->nodes_sent++]);
    }
    while (part->nodes_sent == part->nodes->count &&
           part->sites_seen < part->feed->site_count &&
           message->site_count < SITES_A_FRAME) {
        uint32_t site = part->sites_seen++;
        if (wanted(part, site)) {
            part->site_rows[message->site_count++] = site_row(&part->feed->sites[site]);
        }
    }
}

static bool
encode_part(struct part *part, const struct calltree *tree, struct stamp at,
            struct buffer *out)
{
    struct message message = {.kind = MESSAGE_TREE, .at = at, .tree = part->feed->header};
    message.tree.key = part->all;
    message.tree.nodes = part->node_rows;
    message.tree.sites = part->site_rows;
    do {
        message.tree.node_count = 0;
        message.tree.site_count = 0;
        fill(part, tree, &message.tree);
        bool says = message.tree.node_count || message.tree.site_count ||
                    message.tree.key || part->feed->changed;
        if (says && !message_encode(out, &message)) {
            return false;
        }
        message.tree.key = false;
    } while (part->nodes_sent < part->nodes->count ||
             part->sites_seen < part->feed->site_count);
    return true;
}

static uint32_t
at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

static bool
encode_tree(struct part part, const struct calltree *tree, struct stamp at,
            struct buffer *out)
{
    uint32_t nodes = at_most(part.nodes->count, NODES_A_FRAME);
    uint32_t sites = at_most(part.feed->site_count, SITES_A_FRAME);
    part.node_rows = malloc((nodes + 1) * sizeof(*part.node_rows));
    part.site_rows = malloc((sites + 1) * sizeof(*part.site_rows));
    bool encoded = part.node_rows && part.site_rows && encode_part(&part, tree, at, out);
    free(part.node_rows);
    free(part.site_rows);
    return encoded;
}

bool
treefeed_changes(const struct treefeed *feed, const struct calltree *tree,
                 struct stamp at, struct buffer *out)
{
    struct part part = {.feed = feed, .nodes = &feed->new_nodes};
    return encode_frames(&feed->new_frames, tree, at, out) &&
           encode_tree(part, tree, at, out);
}

bool
treefeed_seed(const struct treefeed *feed, const struct calltree *tree, struct stamp at,
              struct buffer *out)
{
    struct part part = {.feed = feed, .nodes = &feed->nodes, .all = true};
    return encode_frames(&feed->frames, tree, at, out) &&
           encode_tree(part, tree, at, out);
}
