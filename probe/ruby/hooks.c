#include "probe/ruby/hooks.h"

#include <ruby.h>
#include <ruby/debug.h>

#include "probe/core/clock.h"
#include "probe/ruby/heap.h"
#include "probe/ruby/tagging.h"

#define CALIBRATE_ROUNDS 5
#define CALIBRATE_OBJECTS 300

static struct tally *tally;
static bool hooked;

/* The hot path. */

static void
on_newobj(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    VALUE object = rb_tracearg_object((rb_trace_arg_t *)event);
    uint32_t tag = RB_UNLIKELY(tagging_used) ? tagging_current() : TAG_NONE;
    if (RB_UNLIKELY(tag)) {
        tally_allocated_tagged(tally, object, heap_key(object), tag);
        return;
    }
    tally_allocated(tally, object, heap_key(object));
}

static void
on_freeobj(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    VALUE object = rb_tracearg_object((rb_trace_arg_t *)event);
    enum ruby_value_type type = RB_BUILTIN_TYPE(object);
    if (type == RUBY_T_CLASS || type == RUBY_T_MODULE) {
        tally_class_freed(tally, object);
    } else if (type == RUBY_T_IMEMO) { // perhaps code, or a method
        tally_frame_freed(tally, object);
    }
    tally_freed(tally, object);
}

static void
on_collection(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    (void)event;
    tally_collection(tally);
}

/* Compaction. */

#define BLOCK_BYTES ((uintptr_t)SHADOW_BLOCK_BYTES)

static uintptr_t mapped_block; // known to be mapped, in this compaction

// An entry whose free nobody told of may point to a page that Ruby freed. The
// table is walked in order, so a block is asked about once.
static bool
is_readable(uintptr_t address)
{
    uintptr_t block = address & ~(BLOCK_BYTES - 1);
    if (block != mapped_block && heap_is_mapped(block, BLOCK_BYTES)) {
        mapped_block = block;
    }
    return block == mapped_block || heap_is_mapped(address, sizeof(struct RBasic));
}

static uintptr_t
moved_to(uintptr_t address)
{
    return address & 7 || !is_readable(address) ? address
                                                : rb_gc_location((VALUE)address);
}

static void
on_compaction(void *context)
{
    (void)context;
    mapped_block = 0;
    if (hooked) {
        tally_compacted(tally, moved_to);
    }
}

// What has no name yet must live, and stay where it is, until it was asked for it.
static void
keep_frame(void *context, uint32_t frame, uintptr_t key)
{
    (void)context;
    (void)frame;
    if (key) {
        rb_gc_mark((VALUE)key);
    }
}

// Not write-barrier protected: Ruby comes here in every collection, and finds what
// was taken since the last one.
static void
on_mark(void *context)
{
    (void)context;
    if (hooked) {
        calltree_each_unnamed(&tally->trace.tree, keep_frame, NULL);
    }
}

static const rb_data_type_t listener_type = {
    .wrap_struct_name = "memtop/listener",
    .function = {.dmark = on_mark, .dcompact = on_compaction},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

void
hooks_init(struct tally *into)
{
    static VALUE listener; // Ruby tells live objects of collections and compactions
    tally = into;
    listener = TypedData_Wrap_Struct(0, &listener_type, into);
    rb_gc_register_address(&listener);
}

/* On and off. */

// With RAW_ARG Ruby calls a hook with other arguments than its type says: that
// spares building a TracePoint, a third of a hook's price.
static rb_event_hook_func_t
raw_hook(void (*hook)(VALUE, const rb_trace_arg_t *))
{
    return (rb_event_hook_func_t)(void (*)(void))hook;
}

static void
add_hook(void (*hook)(VALUE, const rb_trace_arg_t *), rb_event_flag_t event)
{
    rb_add_event_hook2(raw_hook(hook), event, Qnil,
                       RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG);
}

bool
hooks_set(bool on, const char **why)
{
    (void)why;
    if (on && !hooked) {
        add_hook(on_newobj, RUBY_INTERNAL_EVENT_NEWOBJ);
        add_hook(on_freeobj, RUBY_INTERNAL_EVENT_FREEOBJ);
        add_hook(on_collection, RUBY_INTERNAL_EVENT_GC_START);
    } else if (!on && hooked) {
        rb_remove_event_hook(raw_hook(on_newobj));
        rb_remove_event_hook(raw_hook(on_freeobj));
        rb_remove_event_hook(raw_hook(on_collection));
    }
    hooked = on;
    return true;
}

/* What it costs. */

// The objects are hidden, so that they do not show among the program's own until
// they are collected. Arrays, as Ruby's own hidden ones: one of class Object without a
// class, found on the stack by a collection, crashes Ruby 3.3.
static double
allocation_ns(void)
{
    double best = 1e9;
    for (int round = 0; round < CALIBRATE_ROUNDS; round++) {
        uint64_t before_ns = clock_thread_ns();
        for (int i = 0; i < CALIBRATE_OBJECTS; i++) {
            rb_obj_hide(rb_ary_new());
        }
        double each = (double)(clock_thread_ns() - before_ns) / CALIBRATE_OBJECTS;
        best = each < best ? each : best;
    }
    return best;
}

// The best of some rounds, so that no collection and no other process is in it.
// Frees cannot be had one by one: they pass the same dispatch and about the same
// arithmetic, and are taken to cost the same.
void
hooks_calibrate(double *allocated_ns, double *freed_ns)
{
    double without = allocation_ns();
    hooks_set(true, NULL);
    double with = allocation_ns();
    hooks_set(false, NULL);
    double each = with > without ? with - without : 0;
    *allocated_ns = each;
    *freed_ns = each;
}
