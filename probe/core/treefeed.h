/*
 * From the sites of one class to messages: where its objects come from, and what
 * of that changed since the last time.
 *
 * One feed serves all viewers that have the class open. treefeed_read() takes the
 * readings, once a sample; everything else speaks of those: the class's row in the
 * SAMPLE is made from treefeed_counts(), so that the tree's root is the table's
 * number, whatever the program does meanwhile. treefeed_changes() encodes what the
 * last reading brought, once for everybody; treefeed_seed() everything, for a
 * viewer that opened the class just now or lost frames.
 *
 * What a feed remembers is some 60 bytes a site and 4 a node, freed with it; of a class
 * with objects under tags, twice that. Trees know no tags: sites that differ in nothing
 * else are one.
 *
 * Runs in the server's thread, under the probe's lock. The class must be there: the
 * caller has looked for its id.
 */
#ifndef PROBE_CORE_TREEFEED_H
#define PROBE_CORE_TREEFEED_H

#include "probe/core/registry.h"
#include "probe/core/trace.h"
#include "protocol/buffer.h"

struct treefeed_site;

struct treefeed_list {
    uint32_t *ids; // owned
    uint32_t count;
    uint32_t capacity;
};

struct treefeed_set {
    uint64_t *bits; // owned
    uint32_t capacity;
};

struct treefeed {
    class_id id;
    uint32_t class_index;
    struct site_counts counts; // of the class, as last read
    struct tree header;        // of the last reading, without lists
    bool changed;              // the header is another than before
    site_id newest;            // the head of the class's paths as last read, 0 for none

    struct treefeed_site *sites; // owned; the first is for those before tracing
    uint32_t site_count;
    uint32_t site_capacity;

    // Once one of them has a tag: which are added to which.
    struct treefeed_site *sums; // owned, scratch; room for `sum_capacity`
    uint32_t sum_capacity;
    uint32_t *places; // owned: sites by node and shift, open addressing; 0 is empty
    uint32_t place_count;

    // Everything that was told, and what the last reading added to it.
    struct treefeed_list nodes; // parents before children
    struct treefeed_list frames;
    struct treefeed_list new_nodes;
    struct treefeed_list new_frames;
    struct treefeed_list waiting; // nodes told before their frame had a name
    struct treefeed_set has_node;
    struct treefeed_set has_frame;
    struct treefeed_set has_name; // frames told with their names
};

// context: server. A feed that has read nothing; NULL when memory ran out.
struct treefeed *treefeed_new(class_id id, uint32_t class_index);
void treefeed_free(struct treefeed *feed);

// context: server. Read the class's sites: of each, what was freed before what was
// allocated. False when memory ran out: the feed then starts anew, and whoever had
// the tree needs all of it.
bool treefeed_read(struct treefeed *feed, const struct registry *registry,
                   const struct trace *trace);

// context: server. The class's counts, as last read.
static inline struct site_counts
treefeed_counts(const struct treefeed *feed)
{
    return feed->counts;
}

// context: server. Append frames that are new or got their names, new nodes and
// changed sites: FRAMES, then TREE; nothing when nothing changed. False when memory
// ran out.
bool treefeed_changes(const struct treefeed *feed, const struct calltree *tree,
                      struct stamp at, struct buffer *out);

// context: server. Append everything, as last read. False when memory ran out.
bool treefeed_seed(const struct treefeed *feed, const struct calltree *tree,
                   struct stamp at, struct buffer *out);

#endif
