/*
 * From the sites that carry tags to TAGS messages: what was allocated under each, what
 * lives of it, and what of that changed since the last time.
 *
 * One feed serves all viewers. tagfeed_read() takes the readings, right after those of
 * the sample; tagfeed_changes() encodes what they brought, for everybody;
 * tagfeed_seed() everything, for a viewer that has nothing. A tag's classes are added
 * for those tags that somebody asked for.
 *
 * Readings are of one moment as far as counters can be while the program runs: of each
 * site, what was freed before what was allocated.
 *
 * No memory before the program's first tag; then some 400 KiB.
 *
 * Runs in the server's thread, under the probe's lock.
 */
#ifndef PROBE_CORE_TAGFEED_H
#define PROBE_CORE_TAGFEED_H

#include "probe/core/registry.h"
#include "probe/core/tags.h"
#include "protocol/buffer.h"

struct tagfeed {
    struct tag_row *rows;      // owned, TAGS_MAX: as last read
    struct tag_row *now;       // owned, TAGS_MAX: scratch
    bool *changed;             // owned, TAGS_MAX: by the last reading
    bool *wanted;              // owned, TAGS_MAX: whose classes are read
    uint32_t count;            // rows that were read
    uint32_t named;            // of them, whose names viewers know
    bool anew;                 // viewers know nothing, or something that is void
    struct tag_class *classes; // owned, scratch: of what is wanted, in order of tags
    uint32_t class_count;
    uint32_t class_capacity;
};

// A feed starts as all zeroes; destroying it twice is harmless.
void tagfeed_destroy(struct tagfeed *feed);

// context: server. Forget what viewers know: the next changes are everything.
void tagfeed_forget(struct tagfeed *feed);

// context: server. Send classes of a tag with every reading from now on; unwant all.
void tagfeed_want(struct tagfeed *feed, uint32_t tag);
void tagfeed_want_none(struct tagfeed *feed);

// context: server. Read what there is; `counted`: the mode counts objects. False when
// memory ran out: nothing is known then.
bool tagfeed_read(struct tagfeed *feed, const struct tags *tags,
                  const struct registry *registry, bool counted);

// context: server. Append what the last reading brought, nothing when that is nothing.
// False when memory ran out.
bool tagfeed_changes(struct tagfeed *feed, const struct tags *tags, struct stamp at,
                     struct buffer *out);

// context: server. Append everything, as last read. False when memory ran out.
bool tagfeed_seed(const struct tagfeed *feed, const struct tags *tags, struct stamp at,
                  struct buffer *out);

#endif
