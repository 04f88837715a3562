#include "probe/core/trace.h"

#include <math.h>

#include "probe/core/arena.h"
#include "probe/core/clock.h"

#define FIRST_SITES 4096u
#define RESERVE 4096u         // numbers of sites kept for the paths of FRAME_OTHER
#define TAG_RESERVE 786432u   // and for all paths, from tags without a stack
#define MEASURE_EVERY 16u     // stacks; how often one's cost is measured
#define STACK_NS_FIRST 1000u  // until one was measured
#define STACK_NS_MAX 100000u  // more than that, and somebody else had the processor
#define CREDIT_SHARE 2        // of an interval's budget may be spent before brakes set in
#define GOVERN_LEAST_NS 0.5e9 // a rate is not known sooner
#define CALM 0.5              // of the budget: gaps become shorter when that is enough

static uint64_t
mix(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
}

bool
trace_init(struct trace *trace, size_t (*capture)(struct stack_frame *, size_t),
           uint32_t depth, double budget_percent)
{
    depth = depth < TRACE_DEPTH_MAX ? depth : TRACE_DEPTH_MAX;
    *trace = (struct trace){.capture = capture,
                            .depth = depth,
                            .stack = arena_map((depth + 1) * sizeof(struct stack_frame)),
                            .cache = arena_map(TRACE_CACHE * sizeof(struct trace_cached)),
                            .sites = arena_map(FIRST_SITES * sizeof(site_id)),
                            .sites_count = FIRST_SITES,
                            .random = mix(clock_monotonic_ns()) | 1,
                            .credit_ns = (int64_t)(budget_percent * 1e7 * CREDIT_SHARE),
                            .stack_ns = STACK_NS_FIRST,
                            .budget_percent = budget_percent};
    if (!trace->stack || !trace->cache || !trace->sites || !calltree_init(&trace->tree)) {
        trace_destroy(trace);
        return false;
    }
    return true;
}

void
trace_destroy(struct trace *trace)
{
    arena_unmap(trace->stack, (trace->depth + 1) * sizeof(*trace->stack));
    arena_unmap(trace->cache, TRACE_CACHE * sizeof(*trace->cache));
    arena_unmap(trace->sites, trace->sites_count * sizeof(*trace->sites));
    arena_unmap(trace->tagged, TRACE_TAGGED * sizeof(*trace->tagged));
    calltree_destroy(&trace->tree);
    *trace = (struct trace){0};
}

/* Gaps. */

// xorshift64*: 53 good bits, in (0, 1].
static double
uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 0x2545f4914f6cdd1du >> 11) + 1) * 0x1p-53;
}

uint64_t
trace_gap(uint64_t *random, unsigned shift)
{
    if (shift == 0) {
        return 1;
    }
    double gap = ceil(log(uniform(random)) / log1p(-ldexp(1, -(int)shift)));
    return gap > 1 ? (uint64_t)gap : 1;
}

static void
draw(struct trace *trace, struct site *unsampled, uint8_t shift)
{
    unsampled->shift = shift;
    unsampled->sample_at =
        atomic_load_explicit(&unsampled->allocated, memory_order_relaxed) +
        trace_gap(&trace->random, shift) - 1;
}

/* On and off. */

void
trace_class(struct trace *trace, struct registry *registry, uint32_t class_index, bool on,
            uint64_t wall_us)
{
    struct class_entry *entry = registry_class(registry, class_index);
    struct site *unsampled = registry_site(registry, entry->site + SITE_UNSAMPLED);
    if (on && !entry->traced_us) { // also of one that was traced as it came
        entry->traced_us = wall_us;
    }
    if (entry->traced == on) {
        return;
    }
    if (on) {
        entry->governed_allocated = registry_counts(registry, class_index).allocated;
        draw(trace, unsampled, entry->shift);
    } else {
        unsampled->sample_at = SITE_NEVER;
    }
    registry_trace(registry, class_index, on);
}

void
trace_shorten(struct trace *trace, const struct registry *registry, uint32_t class_index)
{
    const struct class_entry *entry = registry_class(registry, class_index);
    struct site *unsampled = registry_site(registry, entry->site + SITE_UNSAMPLED);
    uint8_t shift = atomic_load_explicit(&entry->shift, memory_order_relaxed);
    if (entry->traced && shift < unsampled->shift) {
        draw(trace, unsampled, shift);
    }
}

void
trace_exactly(struct trace *trace, const struct registry *registry, uint32_t class_index,
              bool on)
{
    struct class_entry *entry = registry_class(registry, class_index);
    entry->exact += on ? 1 : -1u;
    if (on) {
        atomic_store_explicit(&entry->shift, 0, memory_order_relaxed);
        trace_shorten(trace, registry, class_index);
    } else if (!entry->exact) { // what came meanwhile is not the budget's
        entry->governed_allocated = registry_counts(registry, class_index).allocated;
    }
}

/* Sites by class, path, weight and tag. */

static uint32_t
site_home(const struct path *path, uint32_t count)
{
    uint64_t key = (uint64_t)path->class_index << 32 | path->node;
    return (uint32_t)mix(key * 31 + path->shift + ((uint64_t)path->tag << 8)) &
           (count - 1);
}

static uint32_t
home_of(const struct registry *registry, site_id id, uint32_t count)
{
    const struct site *site = registry_site(registry, id);
    const struct path path = {site->class_index, site->node, site->tag, site->shift};
    return site_home(&path, count);
}

static void
grow_sites(struct trace *trace, const struct registry *registry)
{
    uint32_t count = trace->sites_count * 2;
    site_id *sites = arena_map(count * sizeof(*sites));
    if (!sites) {
        return; // fuller, until a place is left
    }
    for (uint32_t i = 0; i < trace->sites_count; i++) {
        site_id id = trace->sites[i];
        uint32_t place = id ? home_of(registry, id, count) : 0;
        while (id && sites[place]) {
            place = (place + 1) & (count - 1);
        }
        sites[place] = id ? id : sites[place];
    }
    arena_unmap(trace->sites, trace->sites_count * sizeof(*sites));
    trace->sites = sites;
    trace->sites_count = count;
}

static bool
is_site(const struct site *site, const struct path *path)
{
    return site->class_index == path->class_index && site->node == path->node &&
           site->shift == path->shift && site->tag == path->tag;
}

static uint32_t
reserve_for(const struct path *path)
{
    return path->node == FRAME_OTHER          ? 0
           : path->node < CALLTREE_FIRST_NODE ? TAG_RESERVE
                                              : RESERVE;
}

// NULL when there is no number, no place or no memory left.
static struct site *
site_of(struct trace *trace, struct registry *registry, const struct path *path)
{
    if (trace->sites_used * 2 >= trace->sites_count) {
        grow_sites(trace, registry);
    }
    uint32_t mask = trace->sites_count - 1;
    uint32_t place = site_home(path, trace->sites_count);
    for (; trace->sites[place]; place = (place + 1) & mask) {
        struct site *site = registry_site(registry, trace->sites[place]);
        if (is_site(site, path)) {
            return site;
        }
    }
    if (trace->sites_used + 1 >= trace->sites_count) {
        return NULL;
    }
    struct site *site = registry_add_tagged(registry, path, reserve_for(path));
    if (site) {
        trace->sites[place] = site->id;
        trace->sites_used++;
    }
    return site;
}

static void
remove_site(struct trace *trace, const struct registry *registry, site_id id)
{
    uint32_t mask = trace->sites_count - 1;
    uint32_t hole = home_of(registry, id, trace->sites_count);
    while (trace->sites[hole] != id) {
        if (!trace->sites[hole]) {
            return;
        }
        hole = (hole + 1) & mask;
    }
    for (uint32_t i = (hole + 1) & mask; trace->sites[i]; i = (i + 1) & mask) {
        uint32_t home = home_of(registry, trace->sites[i], trace->sites_count);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            trace->sites[hole] = trace->sites[i];
            hole = i;
        }
    }
    trace->sites[hole] = 0;
    trace->sites_used--;
}

void
trace_forget_class(struct trace *trace, const struct registry *registry,
                   uint32_t class_index)
{
    site_id id = registry_class(registry, class_index)->paths;
    while (id) {
        remove_site(trace, registry, id);
        id = registry_site(registry, id)->next;
    }
}

/* Stacks. */

struct taken {
    size_t count;
    bool cut;
    uint64_t hash; // of the stack, the class, the shift and the tag
};

static struct taken
take_stack(struct trace *trace, const struct site *unsampled, uint32_t tag)
{
    size_t count = trace->capture(trace->stack, trace->depth + 1);
    bool cut = count > trace->depth;
    count = cut ? trace->depth : count;
    uint64_t hash =
        (uint64_t)tag << 40 | (uint64_t)unsampled->class_index << 8 | unsampled->shift;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ trace->stack[i].key) * 0x9e3779b97f4a7c15u + trace->stack[i].line;
        hash ^= hash >> 32;
    }
    atomic_store_explicit(&trace->frames, trace->frames + count, memory_order_relaxed);
    return (struct taken){count, cut, hash};
}

static struct site *
find_site(struct trace *trace, struct registry *registry, const struct site *unsampled,
          uint32_t tag)
{
    struct taken taken = take_stack(trace, unsampled, tag);
    struct trace_cached *cached = &trace->cache[taken.hash & (TRACE_CACHE - 1)];
    struct path path = {unsampled->class_index, 0, (uint16_t)tag, unsampled->shift};
    if (cached->hash == taken.hash && cached->site) {
        struct site *site = registry_site(registry, cached->site);
        path.node = site->node;
        if (is_site(site, &path) &&
            calltree_matches(&trace->tree, site->node, trace->stack, taken.count,
                             taken.cut)) {
            return site;
        }
    }
    path.node = calltree_place(&trace->tree, trace->stack, taken.count, taken.cut);
    struct site *site = site_of(trace, registry, &path);
    if (!site) {
        path.node = FRAME_OTHER;
        site = site_of(trace, registry, &path);
    }
    if (site) {
        *cached = (struct trace_cached){taken.hash, site->id};
    }
    return site;
}

// Every now and then on the clock, which is read without a system call.
static struct site *
find_site_measured(struct trace *trace, struct registry *registry,
                   const struct site *unsampled, uint32_t tag)
{
    uint64_t before_ns = clock_monotonic_ns();
    struct site *site = find_site(trace, registry, unsampled, tag);
    uint64_t took_ns = clock_monotonic_ns() - before_ns;
    if (took_ns < STACK_NS_MAX) {
        uint64_t stack_ns = trace->stack_ns;
        atomic_store_explicit(&trace->stack_ns, stack_ns - stack_ns / 8 + took_ns / 8,
                              memory_order_relaxed);
    }
    return site;
}

// The budget of this interval is used up: the class that goes on asking takes half
// as many from now on.
static void
brake(struct class_entry *entry)
{
    uint8_t shift = atomic_load_explicit(&entry->shift, memory_order_relaxed);
    if (!entry->exact && shift < TRACE_SHIFT_MAX) {
        atomic_store_explicit(&entry->shift, (uint8_t)(shift + 1), memory_order_relaxed);
    }
}

struct site *
trace_site(struct trace *trace, struct registry *registry, struct site *unsampled,
           uint32_t tag)
{
    struct class_entry *entry = registry_class(registry, unsampled->class_index);
    uint64_t stacks = trace->stacks;
    struct site *site = (stacks % MEASURE_EVERY ? find_site : find_site_measured)(
        trace, registry, unsampled, tag);
    atomic_store_explicit(&trace->stacks, stacks + 1, memory_order_relaxed);
    int64_t credit_ns = atomic_fetch_sub_explicit(
        &trace->credit_ns, (int64_t)trace->stack_ns, memory_order_relaxed);
    if (credit_ns <= 0) {
        brake(entry);
    }
    draw(trace, unsampled, entry->shift);
    if (!site) {
        atomic_store_explicit(&trace->lost, trace->lost + 1, memory_order_relaxed);
        return unsampled;
    }
    return site;
}

/* Tags, where no stack is taken. */

static struct site *
tagged_site(struct trace *trace, struct registry *registry, const struct path *path)
{
    uint64_t key = (uint64_t)path->class_index << 32 | path->node << 16 | path->tag;
    if (!trace->tagged) {
        trace->tagged = arena_map(TRACE_TAGGED * sizeof(*trace->tagged));
    }
    if (!trace->tagged) {
        return NULL;
    }
    struct trace_tagged *cached = &trace->tagged[mix(key) & (TRACE_TAGGED - 1)];
    if (cached->key == key && is_site(cached->site, path)) {
        return cached->site;
    }
    struct site *site = site_of(trace, registry, path);
    if (site) {
        *cached = (struct trace_tagged){key, site};
    }
    return site;
}

struct site *
trace_tagged(struct trace *trace, struct registry *registry, struct site *site,
             uint32_t tag)
{
    bool unsampled = site->id % SITES_A_CLASS == SITE_UNSAMPLED;
    const struct path path = {site->class_index,
                              unsampled ? FRAME_ROOT : FRAME_BEFORE_TRACING,
                              (uint16_t)tag, 0};
    struct site *tagged = tagged_site(trace, registry, &path);
    if (!tagged) {
        atomic_store_explicit(&trace->lost, trace->lost + 1, memory_order_relaxed);
        return site;
    }
    if (unsampled) { // one step nearer to the next stack, though `site` counts none
        site->sample_at--;
    }
    return tagged;
}

/* The budget. */

// What a class allocated since the last time; 0 for one that is not traced.
static double
new_allocations(const struct registry *registry, uint32_t class_index)
{
    const struct class_entry *entry = registry_class(registry, class_index);
    if (!entry->id || !entry->traced || entry->exact) {
        return 0;
    }
    uint64_t allocated = registry_counts(registry, class_index).allocated;
    return allocated > entry->governed_allocated
               ? (double)(allocated - entry->governed_allocated)
               : 0;
}

// Stacks that classes with a cap of `cap` a class would take.
static double
stacks_under(const struct registry *registry, uint32_t count, double cap)
{
    double sum = 0;
    for (uint32_t i = 1; i < count; i++) {
        double wanted = new_allocations(registry, i);
        sum += wanted < cap ? wanted : cap;
    }
    return sum;
}

// The largest cap a class that keeps all of them within `afford`: rare classes stay
// exact, and those that allocate much share what is left.
static double
find_cap(const struct registry *registry, uint32_t count, double afford)
{
    double low = 0;
    double high = afford;
    if (stacks_under(registry, count, INFINITY) <= afford) {
        return INFINITY;
    }
    for (int i = 0; i < 40 && high - low > 0.5; i++) {
        double middle = (low + high) / 2;
        if (stacks_under(registry, count, middle) <= afford) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low > 1 ? low : 1;
}

// Stacks that each class may have.
struct caps {
    double all;  // of the budget
    double calm; // of its CALM part
};

static uint8_t
smallest_shift(double wanted, double cap)
{
    uint8_t shift = 0;
    while (shift < TRACE_SHIFT_MAX && ldexp(wanted, -shift) > cap) {
        shift++;
    }
    return shift;
}

// One that fits; one smaller than now only when it fits half the budget.
static uint8_t
shift_for(double wanted, const struct caps *caps, uint8_t now)
{
    uint8_t fits = smallest_shift(wanted, caps->all);
    uint8_t fits_well = smallest_shift(wanted, caps->calm);
    return fits >= now ? fits : fits_well < now ? fits_well : now;
}

// Give every traced class the shift that fits the caps. True when one became smaller.
static bool
fit_shifts(const struct registry *registry, uint32_t count, const struct caps *caps)
{
    bool smaller = false;
    for (uint32_t i = 1; i < count; i++) {
        struct class_entry *entry = registry_class(registry, i);
        if (entry->id && entry->traced && !entry->exact) {
            double wanted = new_allocations(registry, i);
            uint8_t before = atomic_load_explicit(&entry->shift, memory_order_relaxed);
            uint8_t after = shift_for(wanted, caps, before);
            atomic_store_explicit(&entry->shift, after, memory_order_relaxed);
            entry->governed_allocated += (uint64_t)wanted;
            smaller |= after < before;
        }
    }
    return smaller;
}

bool
trace_govern(struct trace *trace, struct registry *registry, uint64_t now_ns)
{
    double elapsed_ns = (double)(now_ns - trace->governed_ns);
    bool first = trace->governed_ns == 0;
    if (!first && elapsed_ns < GOVERN_LEAST_NS) {
        return false;
    }
    double budget_ns = elapsed_ns * trace->budget_percent / 100;
    uint64_t stack_ns = trace->stack_ns ? trace->stack_ns : 1;
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    trace->governed_ns = now_ns;
    if (first) {
        return false;
    }
    double afford = budget_ns / (double)stack_ns;
    const struct caps caps = {.all = find_cap(registry, count, afford),
                              .calm = find_cap(registry, count, afford * CALM)};
    bool smaller = fit_shifts(registry, count, &caps);
    atomic_store_explicit(&trace->credit_ns, (int64_t)(budget_ns * CREDIT_SHARE),
                          memory_order_relaxed);
    return smaller;
}

size_t
trace_bytes(const struct trace *trace, const struct registry *registry)
{
    uint32_t paths = registry->path_count + REGISTRY_SEGMENT - 1;
    return calltree_bytes(&trace->tree) + trace->sites_count * sizeof(site_id) +
           TRACE_CACHE * sizeof(struct trace_cached) +
           paths / REGISTRY_SEGMENT * REGISTRY_SEGMENT *
               (sizeof(struct site) + sizeof(struct site_census));
}
