/*
 * What to think of each class, looked at once an interval: keeps a trend for each row
 * of the registry and says what changed, as VERDICTS. Also while nobody is connected,
 * so that who connects has the verdicts at once.
 *
 * Memory only for rows that exist, some 380 bytes each. A row that became another
 * class's starts anew, and so does everything when counts are forgotten, because ids
 * are never used twice. In mode dormant nothing is known; in mode census a class is
 * looked at when a walk is done, and at no other time.
 *
 * It lies in the probe, not in the server: a child of a fork goes on with it.
 */
#ifndef PROBE_CORE_JUDGE_H
#define PROBE_CORE_JUDGE_H

#include "probe/core/registry.h"
#include "probe/core/verdict.h"
#include "protocol/buffer.h"

struct judged;

struct judge {
    struct judged *rows[REGISTRY_CLASS_SEGMENTS]; // owned, beside the registry's
    struct judge_frame *frame;                    // owned, scratch
    struct trend_window window;
    struct trend_moment started; // at_us is 0 before
    struct trend_moment now;
    uint64_t census_us;  // of the census whose bytes the trends have
    uint32_t newcomers;  // classes that came since the program was last seen warming up
    uint64_t warming_us; // when that was
    uint64_t mode;       // enum probe_mode, as last seen
};

// What the judge has to know beside the registry.
struct judge_facts {
    uint64_t at_us; // monotonic
    uint64_t mode;  // enum probe_mode
    uint64_t collections;
    uint64_t majors;
    uint64_t census_us; // wall time of the last whole census, 0 before one
};

// A judge starts as all zeroes; destroying it twice is harmless.
void judge_destroy(struct judge *judge);

// context: server, under the probe's lock. Look at every class, append what changed
// to `out`, for viewers that know the rest. False when memory ran out; who was left
// out is said at the next look.
bool judge_look(struct judge *judge, const struct registry *registry,
                const struct judge_facts *facts, struct stamp at, struct buffer *out);

// context: server, under the probe's lock. Append everything that was said so far, for
// a viewer that has nothing. False when memory ran out.
bool judge_seed(struct judge *judge, const struct registry *registry, struct stamp at,
                struct buffer *out);

// context: server, under the probe's lock. What was last said of a class, enum verdict.
uint32_t judge_verdict(const struct judge *judge, uint32_t class_index, class_id id);

#endif
