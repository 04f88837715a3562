/*
 * Callbacks: births and frees of followed objects, told to Ruby blocks.
 *
 * The allocation hook may not run Ruby code; it puts events into a queue
 * (probe/core/follow.h), and the program's next line, or return from a method,
 * runs the callbacks. There an exception of the callback's, a Timeout that strikes
 * it, or Thread#kill goes where it would in the program's own code; Ruby throws away
 * what leaves a postponed job. The next of a line is also still the method that
 * allocated, which the next interrupt check often is not.
 *
 * One thread at a time runs callbacks, in the order of the events, and finds there
 * what others did meanwhile; nothing is dropped.
 */
#include <ruby.h>
#include <ruby/debug.h>

#include "probe/ruby/api.h"

#define CHUNK 256 // a store dirties so many results for the next minor collection

static struct probe *probe;
static bool hooked;
static bool running;           // some thread runs callbacks
static VALUE listeners = Qnil; // [[class, callable] or nil…] by number
static VALUE results = Qnil;   // [[…]…] what callbacks made of births, by record
static ID id_call;
static VALUE sym_newobj;
static VALUE sym_freeobj;

/* Results. */

static void
keep_result(uint32_t record, VALUE result)
{
    VALUE chunk = rb_ary_entry(results, record / CHUNK);
    if (NIL_P(chunk)) {
        chunk = rb_ary_new();
        rb_ary_store(results, record / CHUNK, chunk);
    }
    rb_ary_store(chunk, record % CHUNK, result);
}

static VALUE
take_result(uint32_t record)
{
    VALUE chunk = rb_ary_entry(results, record / CHUNK);
    VALUE result = NIL_P(chunk) ? Qnil : rb_ary_entry(chunk, record % CHUNK);
    if (!NIL_P(result)) {
        rb_ary_store(chunk, record % CHUNK, Qnil);
    }
    return result;
}

/* Running callbacks. */

static VALUE
call(VALUE listener, VALUE event, VALUE data)
{
    return rb_funcall(rb_ary_entry(listener, 1), id_call, 3, rb_ary_entry(listener, 0),
                      event, data);
}

// What ends in an exception has happened all the same: the next event is another.
static void
tell(enum follow_event event, uint32_t record)
{
    VALUE listener =
        rb_ary_entry(listeners, follow_listener_of(&probe->tally.follow, record));
    if (event == FOLLOW_BORN) {
        VALUE result = NIL_P(listener) ? Qnil : call(listener, sym_newobj, Qnil);
        if (!NIL_P(result) && probe->tally.follow.active) {
            keep_result(record, result);
        }
        return;
    }
    VALUE data = take_result(record);
    follow_forget(&probe->tally.follow, record);
    if (!NIL_P(listener)) {
        call(listener, sym_freeobj, data);
    }
}

static VALUE
tell_all(VALUE context)
{
    enum follow_event event;
    uint32_t record;
    (void)context;
    while (follow_next(&probe->tally.follow, &event, &record)) {
        tell(event, record);
    }
    return Qnil;
}

static VALUE
done(VALUE context)
{
    (void)context;
    running = false;
    follow_mute(&probe->tally.follow, false);
    return Qnil;
}

static void
drain(void)
{
    if (running || !probe->tally.follow.queue_count) {
        return;
    }
    running = true;
    follow_mute(&probe->tally.follow, true);
    rb_ensure(tell_all, Qnil, done, Qnil);
}

static void
on_event(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    (void)event;
    drain();
}

static void
hook(bool on)
{
    rb_event_hook_func_t function = (rb_event_hook_func_t)(void (*)(void))on_event;
    if (on && !hooked) {
        rb_add_event_hook2(function,
                           RUBY_EVENT_LINE | RUBY_EVENT_RETURN | RUBY_EVENT_B_RETURN |
                               RUBY_EVENT_C_RETURN,
                           Qnil,
                           RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG);
    } else if (!on && hooked) {
        rb_remove_event_hook(function);
    }
    hooked = on;
}

/* For Ruby. */

// listen(class, callable) -> Integer
static VALUE
native_listen(VALUE self, VALUE class, VALUE callable)
{
    (void)self;
    uint32_t index = api_class_index(probe, class);
    uint32_t number = follow_listen(&probe->tally.follow, &probe->tally.registry, index);
    if (!number) {
        rb_memerror();
    }
    rb_ary_store(listeners, number, rb_ary_new_from_args(2, class, callable));
    hook(true);
    return UINT2NUM(number);
}

// unlisten(number): no more births
static VALUE
native_unlisten(VALUE self, VALUE number)
{
    (void)self;
    if (probe->tally.follow.active) {
        follow_unlisten(&probe->tally.follow, &probe->tally.registry, NUM2UINT(number));
    }
    return Qnil;
}

// forget(number): no more callbacks either
static VALUE
native_forget(VALUE self, VALUE number)
{
    (void)self;
    if (NUM2UINT(number) < (unsigned long)RARRAY_LEN(listeners)) {
        rb_ary_store(listeners, NUM2UINT(number), Qnil);
    }
    return Qnil;
}

// drain: what is known so far is told now, if no other thread is at it
static VALUE
native_drain(VALUE self)
{
    (void)self;
    drain();
    return Qnil;
}

void
api_events_end(void)
{
    hook(false);
    rb_ary_clear(listeners);
    rb_ary_clear(results);
}

void
api_events_init(VALUE native, struct probe *the_probe)
{
    probe = the_probe;
    id_call = rb_intern("call");
    sym_newobj = ID2SYM(rb_intern("newobj"));
    sym_freeobj = ID2SYM(rb_intern("freeobj"));
    rb_gc_register_address(&listeners);
    rb_gc_register_address(&results);
    listeners = rb_ary_new();
    results = rb_ary_new();
    rb_define_singleton_method(native, "listen", native_listen, 2);
    rb_define_singleton_method(native, "unlisten", native_unlisten, 1);
    rb_define_singleton_method(native, "forget", native_forget, 1);
    rb_define_singleton_method(native, "drain", native_drain, 0);
}
