#include "probe/ruby/api.h"

#include "probe/core/tracing.h"
#include "probe/ruby/heap.h"

#define CLEARED_BYTES (256 * 1024) // of stack: deeper than a collection goes

static struct probe *probe;
static bool (*hold)(char *why, size_t why_size);
static VALUE users = Qnil; // of the counting: {span that one's begin made => true}
static uint32_t last_span; // no number comes twice

/* Arguments and results. */

uint32_t
api_class_index(struct probe *of, VALUE class)
{
    if (NIL_P(class)) {
        return FOLLOW_ALL_CLASSES;
    }
    Check_Type(class, T_CLASS);
    const struct registry_slot *slot =
        registry_lookup(&of->tally.registry, rb_class_real(class));
    if (!slot) {
        rb_memerror();
    }
    return slot->site->class_index;
}

VALUE
api_class_in(const struct probe *of, uint32_t class_index)
{
    const struct class_entry *entry = registry_class(&of->tally.registry, class_index);
    return entry->key && !(entry->key & 1) ? (VALUE)entry->key : Qnil;
}

struct follow_spans
api_spans(VALUE from, VALUE to)
{
    return (struct follow_spans){NUM2UINT(from), NIL_P(to) ? UINT32_MAX : NUM2UINT(to)};
}

static struct follow *
follow(void)
{
    return &probe->tally.follow;
}

static VALUE
counts_array(struct follow_counts counts)
{
    return rb_ary_new_from_args(2, ULL2NUM(counts.allocated), ULL2NUM(counts.freed));
}

/* Begin and end. */

static VALUE
new_span(void)
{
    last_span = follow_span(follow());
    return UINT2NUM(last_span);
}

// begin -> Integer: the span that begins, and who ends it. Raises Memtop::Error.
static VALUE
native_begin(VALUE self)
{
    char why[PROBE_TEXT_MAX];
    (void)self;
    if (!hold(why, sizeof(why))) {
        rb_raise(rb_path2class("Memtop::Error"), "%s", why);
    }
    if (!follow()->active && !follow_begin(follow())) {
        probe_release(probe);
        rb_raise(rb_path2class("Memtop::Error"), "no memory to follow objects");
    }
    follow()->span = last_span;
    VALUE user = new_span();
    rb_hash_aset(users, user, Qtrue);
    return user;
}

// end(span) -> nil: undoes that begin, if counting has not ended before.
static VALUE
native_end(VALUE self, VALUE user)
{
    (void)self;
    if (NIL_P(rb_hash_delete(users, user))) {
        return Qnil;
    }
    if (RHASH_EMPTY_P(users)) {
        api_events_end();
        follow_end(follow(), &probe->tally.registry);
    }
    probe_release(probe);
    return Qnil;
}

void
api_counting_ends(void)
{
    if (RHASH_EMPTY_P(users)) {
        return;
    }
    rb_funcall(rb_path2class("Memtop::Capture"), rb_intern("counting_ends"), 0);
    VALUE all = rb_funcall(users, rb_intern("keys"), 0);
    for (long i = 0; i < RARRAY_LEN(all); i++) {
        native_end(Qnil, rb_ary_entry(all, i));
    }
}

// span -> Integer: what is born from now on is of this span.
static VALUE
native_span(VALUE self)
{
    (void)self;
    return new_span();
}

// lasts?(span) -> whether what that begin began goes on.
static VALUE
native_lasts_p(VALUE self, VALUE user)
{
    (void)self;
    return rb_hash_lookup2(users, user, Qfalse);
}

/* Which classes. */

// follow(class or nil, on)
static VALUE
native_follow(VALUE self, VALUE class, VALUE on)
{
    struct registry *registry = &probe->tally.registry;
    (void)self;
    if (!follow()->active) {
        return Qnil;
    }
    uint32_t index = api_class_index(probe, class);
    if (index) {
        follow_class(registry, index, RTEST(on));
    } else {
        follow_all(registry, RTEST(on));
    }
    return Qnil;
}

// trace(class or nil, on): every stack, whatever it costs
static VALUE
native_trace(VALUE self, VALUE class, VALUE on)
{
    (void)self;
    if (follow()->active) {
        tracing_exactly(probe, api_class_index(probe, class), RTEST(on));
    }
    return Qnil;
}

/* Figures. */

// counts(class or nil, from, to) -> [allocated, freed]
static VALUE
native_counts(VALUE self, VALUE class, VALUE from, VALUE to)
{
    struct follow_counts counts = {0};
    (void)self;
    if (follow()->active) {
        counts = follow_count(follow(), &probe->tally.registry,
                              api_class_index(probe, class), api_spans(from, to));
    }
    return counts_array(counts);
}

struct listing {
    struct follow_spans spans;
    VALUE list;
};

static void
list_lot(void *context, const struct follow_lot *lot)
{
    const struct listing *listing = context;
    const struct class_entry *entry =
        registry_class(&probe->tally.registry, lot->class_index);
    VALUE class = entry->id == lot->id ? api_class_in(probe, lot->class_index) : Qnil;
    if (!NIL_P(class)) {
        rb_ary_push(listing->list, class);
    }
}

static VALUE
list_classes(VALUE context)
{
    struct listing *listing = (struct listing *)context;
    follow_each_lot(follow(), listing->spans, list_lot, listing);
    return listing->list;
}

static VALUE
release_collections(VALUE context)
{
    (void)context;
    heap_hold(false);
    return Qnil;
}

// classes(from, to) -> [Class…] that allocated, some perhaps twice
static VALUE
native_classes(VALUE self, VALUE from, VALUE to)
{
    (void)self;
    struct listing listing = {api_spans(from, to), rb_ary_new()};
    if (!follow()->active) {
        return listing.list;
    }
    heap_hold(true);
    return rb_ensure(list_classes, (VALUE)&listing, release_collections, Qnil);
}

/* Objects. */

struct finding {
    uint32_t class_index;
    struct follow_spans spans;
    size_t count;
    VALUE list;
};

static void
count_object(void *context, uintptr_t address, uint32_t class_index)
{
    struct finding *finding = context;
    (void)address;
    (void)class_index;
    finding->count++;
}

// Not what Ruby has hidden since, and is nobody's to see.
static void
add_object(void *context, uintptr_t address, uint32_t class_index)
{
    struct finding *finding = context;
    const struct class_entry *entry = registry_class(&probe->tally.registry, class_index);
    if (entry->key && !(entry->key & 1) && heap_object(address, NULL) == entry->key) {
        rb_ary_push(finding->list, (VALUE)address);
    }
}

// Collections are held, and the one under way has ended: what is followed is alive.
static VALUE
find_objects(VALUE context)
{
    struct finding *finding = (struct finding *)context;
    follow_each(follow(), finding->class_index, finding->spans, count_object, finding);
    finding->list = rb_ary_new_capa((long)finding->count);
    follow_each(follow(), finding->class_index, finding->spans, add_object, finding);
    return finding->list;
}

// objects(class or nil, from, to) -> [Object…], which the Array keeps alive
static VALUE
native_objects(VALUE self, VALUE class, VALUE from, VALUE to)
{
    struct finding finding = {.spans = api_spans(from, to)};
    (void)self;
    if (!follow()->active) {
        return rb_ary_new();
    }
    finding.class_index = api_class_index(probe, class);
    heap_hold(true);
    return rb_ensure(find_objects, (VALUE)&finding, release_collections, Qnil);
}

// address(object) -> Integer
static VALUE
native_address(VALUE self, VALUE object)
{
    (void)self;
    return ULL2NUM((uintptr_t)object);
}

/* Collections. */

// What earlier calls left on the stack below us is laid over, so that a collection
// does not take it for references.
static void __attribute__((noinline)) clear_stack(void)
{
    volatile char room[CLEARED_BYTES];
    for (size_t i = 0; i < sizeof(room); i += sizeof(uint64_t)) {
        *(volatile uint64_t *)(volatile void *)&room[i] = 0;
    }
}

// collect: a full collection
static VALUE
native_collect(VALUE self)
{
    (void)self;
    clear_stack();
    rb_gc();
    return Qnil;
}

// apart { } -> nil: the block, in frames of its own, which the next collection does
// not see any more.
static VALUE __attribute__((noinline)) native_apart(VALUE self)
{
    (void)self;
    rb_yield_values(0);
    return Qnil;
}

void
api_init(struct probe *the_probe, bool (*hold_it)(char *why, size_t why_size))
{
    probe = the_probe;
    hold = hold_it;
    rb_gc_register_address(&users);
    users = rb_hash_new();
    VALUE native = rb_define_module_under(rb_path2class("Memtop"), "Native");
    rb_define_singleton_method(native, "begin", native_begin, 0);
    rb_define_singleton_method(native, "end", native_end, 1);
    rb_define_singleton_method(native, "span", native_span, 0);
    rb_define_singleton_method(native, "lasts?", native_lasts_p, 1);
    rb_define_singleton_method(native, "follow", native_follow, 2);
    rb_define_singleton_method(native, "trace", native_trace, 2);
    rb_define_singleton_method(native, "counts", native_counts, 3);
    rb_define_singleton_method(native, "classes", native_classes, 2);
    rb_define_singleton_method(native, "objects", native_objects, 3);
    rb_define_singleton_method(native, "address", native_address, 1);
    rb_define_singleton_method(native, "collect", native_collect, 0);
    rb_define_singleton_method(native, "apart", native_apart, 0);
    api_paths_init(native, probe);
    api_events_init(native, probe);
}
