/*
 * Which classes' stacks are taken, which of their allocations, and what becomes of
 * them: a site for each (class, path, weight).
 *
 * While a class is traced its objects go to a site of their own: the site of their
 * path, or, when their stack was not taken, the class's SITE_UNSAMPLED. Which ones
 * are taken is decided by geometric gaps, so that each allocation is taken with the
 * chance of 1 / 2^shift, whatever came before it: a stride would be biased. Weights
 * are powers of two and part of the site, so that the estimate stays true while the
 * shift changes.
 *
 * A class is exact (shift 0) as long as the stacks fit the budget. trace_govern()
 * fits the shifts of all classes to it once an interval; between two of those a
 * credit bounds what the hook may spend: when it is used up, every stack taken
 * doubles its class's gap.
 */
#ifndef PROBE_CORE_TRACE_H
#define PROBE_CORE_TRACE_H

#include "probe/core/calltree.h"
#include "probe/core/registry.h"

#define TRACE_DEPTH_MAX 4096u // as MEMTOP_DEPTH has it
#define TRACE_SHIFT_MAX 20u
#define TRACE_CACHE (1u << 14)  // stacks seen lately, a power of two
#define TRACE_TAGGED (1u << 13) // (class, tag)s seen lately, a power of two

struct trace_cached {
    uint64_t hash;
    site_id site;
};

// Where the objects of a class that are allocated under a tag are counted.
struct trace_tagged {
    uint64_t key;
    struct site *site;
};

struct trace {
    struct calltree tree;
    // Fill `stack` with the frames that run now, innermost first, at most `limit`;
    // returns how many. Allocates nothing. context: hook.
    size_t (*capture)(struct stack_frame *stack, size_t limit);
    uint32_t depth;             // frames kept, at most TRACE_DEPTH_MAX
    struct stack_frame *stack;  // owned, depth + 1
    struct trace_cached *cache; // owned
    site_id *sites;             // owned: by (class, node, shift), open addressing
    uint32_t sites_count;       // a power of two
    uint32_t sites_used;
    struct trace_tagged *tagged; // owned: those used lately; NULL before the first
    uint64_t random;             // state of the gaps' generator
    _Atomic int64_t credit_ns;   // left until the next trace_govern()
    _Atomic uint64_t stacks;     // taken
    _Atomic uint64_t frames;     // in them
    _Atomic uint64_t lost;       // not taken for want of a site
    _Atomic uint64_t stack_ns;   // what one costs now, measured on every 16th
    double budget_percent;       // of one core, for stacks alone
    uint64_t governed_ns;        // when trace_govern() last ran, 0: never
};

// context: gvl. False when the kernel has no memory.
bool trace_init(struct trace *trace, size_t (*capture)(struct stack_frame *, size_t),
                uint32_t depth, double budget_percent);
void trace_destroy(struct trace *trace);

// context: gvl, under the probe's lock. Take stacks of a class from now on, or no
// longer; what was taken stays.
void trace_class(struct trace *trace, struct registry *registry, uint32_t class_index,
                 bool on, uint64_t wall_us);

// context: hook. An object of the class that `unsampled` counts is being born under
// `tag`, 0 for none, and its stack's turn has come: the site to count it in, `unsampled`
// itself when there is no memory for another.
struct site *trace_site(struct trace *trace, struct registry *registry,
                        struct site *unsampled, uint32_t tag);

// context: hook. An object of the class that `site` counts is being born under a tag and
// no stack is taken: the site to count it in, which is `site` itself when there is no
// room for another. Gaps go on as if it had been `site`.
struct site *trace_tagged(struct trace *trace, struct registry *registry,
                          struct site *site, uint32_t tag);

// context: server, under the probe's lock. Fit the shifts to the budget, by what
// each class allocated since the last call, and refill the credit. True when one
// became smaller: trace_shorten() is to follow.
bool trace_govern(struct trace *trace, struct registry *registry, uint64_t now_ns);

// context: gvl, under the probe's lock. When the class's shift became smaller since its
// gap was drawn, draw another, instead of waiting for the end of one that was meant for
// a busier time. That is no bias: what comes next never depends on what was passed over.
void trace_shorten(struct trace *trace, const struct registry *registry,
                   uint32_t class_index);

// context: gvl, under the probe's lock. One more, or one less, who needs every stack of
// a class, whatever they cost. The class must be traced as well: trace_class().
void trace_exactly(struct trace *trace, const struct registry *registry,
                   uint32_t class_index, bool on);

// context: gvl, under the probe's lock. The class's row is about to be freed, and
// its paths' sites with it.
void trace_forget_class(struct trace *trace, const struct registry *registry,
                        uint32_t class_index);

// context: any. Draw a gap: allocations up to and with the one that is taken, at
// least 1, 2^shift on average.
uint64_t trace_gap(uint64_t *random, unsigned shift);

// context: any. Bytes mapped for stacks, paths and the sites of paths.
size_t trace_bytes(const struct trace *trace, const struct registry *registry);

#endif
