/*
 * From counters to messages: what changed since the last sample, and who is new.
 *
 * One feed serves all viewers: feed_sample() encodes the changes once, for
 * everybody; feed_seed() encodes everything, for a viewer that has nothing or
 * that lost frames. Runs in the server's thread, under the probe's lock.
 */
#ifndef PROBE_CORE_FEED_H
#define PROBE_CORE_FEED_H

#include "probe/core/registry.h"
#include "protocol/buffer.h"

struct feed_seen;

// The counts of a class that somebody else has read for the same sample.
struct class_reading {
    uint32_t class_index;
    struct site_counts counts;
};

struct feed {
    struct feed_seen *seen; // owned: what the viewers know of each class row
    uint32_t seen_capacity;
    struct class_row *rows;    // owned, scratch
    struct class_name *names;  // owned, scratch
    class_id *gone;            // owned, scratch
    uint32_t scratch_capacity; // of each of the three
    uint32_t row_count;
    uint32_t name_count;
    uint32_t gone_count;
    struct totals totals; // of the last sample

    // For the sample that comes next, in order of class_index: these rows are not
    // read again. // borrowed
    const struct class_reading *readings;
    size_t reading_count;
};

// context: server. A feed starts as all zeroes; destroying it twice is harmless.
void feed_destroy(struct feed *feed);

// context: server. Forget what viewers know: the next sample says everything.
void feed_forget(struct feed *feed);

// context: server. Append names that are new and a sample of what changed.
// `sample` brings mode, process and probe; the rest is filled in. In census mode
// nothing is known of allocations, and nothing at all before the first census.
// False when memory ran out.
bool feed_sample(struct feed *feed, struct registry *registry, struct sample *sample,
                 struct stamp at, struct buffer *out);

// context: server. Append all names and a key sample, as of the last
// feed_sample(), so that the changes sent after it fit. False when memory ran out.
bool feed_seed(struct feed *feed, const struct registry *registry,
               const struct sample *sample, struct stamp at, struct buffer *out);

#endif
