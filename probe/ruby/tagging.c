#include "probe/ruby/tagging.h"

#include <pthread.h>
#include <string.h>

#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/thread.h>

#include "probe/ruby/ractors.h"

bool tagging_used;
_Thread_local uint64_t tagging_state;
struct tags tagging_tags;

static bool (*is_running)(void);
static ID state_id; // of the fiber-local variable

/* Which fiber is in which tag. */

#ifdef HAVE_RB_INTERNAL_THREAD_SPECIFIC_KEY_CREATE
static rb_internal_thread_specific_key_t thread_key;

// Several threads of Ruby's may take turns on one native thread.
static void
on_resumed(rb_event_flag_t event, const rb_internal_thread_event_data_t *data,
           void *context)
{
    (void)event;
    (void)context;
    tagging_state = (uintptr_t)rb_internal_thread_specific_get(data->thread, thread_key);
}

static void
keep_for_thread(VALUE thread)
{
    rb_internal_thread_specific_set(thread, thread_key, (void *)(uintptr_t)tagging_state);
}

static void
watch_threads(void)
{
    thread_key = rb_internal_thread_specific_key_create();
    rb_internal_thread_add_event_hook(on_resumed, RUBY_INTERNAL_THREAD_EVENT_RESUMED,
                                      NULL);
}
#else
static void
keep_for_thread(VALUE thread)
{
    (void)thread;
}

static void
watch_threads(void)
{
}
#endif

static void
set_state(uint64_t state)
{
    VALUE thread = rb_thread_current();
    tagging_state = state;
    if (!RB_OBJ_FROZEN(thread)) {
        rb_thread_local_aset(thread, state_id, LONG2FIX((long)state));
    }
    keep_for_thread(thread);
}

// A fiber that has not begun has no frame of its own yet.
static bool
has_begun(void)
{
    VALUE frames[2];
    int lines[2];
    return rb_profile_frames(0, 2, frames, lines) > 0;
}

static void
on_fiber_switch(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    (void)event;
    VALUE thread = rb_thread_current();
    VALUE kept = rb_thread_local_aref(thread, state_id);
    if (FIXNUM_P(kept)) {
        tagging_state = (uint64_t)FIX2LONG(kept);
        keep_for_thread(thread);
    } else if (has_begun()) { // and was never in any
        tagging_state = 0;
        keep_for_thread(thread);
    } else { // what it inherits it did not open
        set_state((uint16_t)tagging_state);
    }
}

// The only thread that is left is the one that forked.
static void
after_fork_in_child(void)
{
    tags_forked(&tagging_tags, tagging_current());
}

static void
begin_tagging(void)
{
    tagging_used = true;
    watch_threads();
    rb_add_event_hook2((rb_event_hook_func_t)(void (*)(void))on_fiber_switch,
                       RUBY_EVENT_FIBER_SWITCH, Qnil,
                       RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG);
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

static uint64_t
deeper(uint64_t state, uint32_t tag)
{
    uint64_t depth = (state >> TAGGING_TAG_BITS) + 1;
    return depth << TAGGING_TAG_BITS | tag;
}

static bool
is_open(uint64_t state)
{
    return state >> TAGGING_TAG_BITS > 0;
}

/* What the program says. */

struct said {
    struct tag_pair pairs[TAG_PAIRS_MAX];
    VALUE values[TAG_PAIRS_MAX]; // on the stack, so that they live
    size_t count;
};

static VALUE
text_of_value(VALUE value)
{
    return RB_TYPE_P(value, T_SYMBOL) ? rb_sym2str(value) : rb_obj_as_string(value);
}

static int
take_pair(VALUE key, VALUE value, VALUE context)
{
    struct said *said = (struct said *)context;
    if (said->count == TAG_PAIRS_MAX) {
        return ST_STOP;
    }
    VALUE name = text_of_value(key); // of a Symbol: it lives as long as the hash does
    VALUE text = text_of_value(value);
    said->values[said->count] = text;
    said->pairs[said->count++] =
        (struct tag_pair){RSTRING_PTR(name), (size_t)RSTRING_LEN(name), RSTRING_PTR(text),
                          (size_t)RSTRING_LEN(text)};
    return ST_CONTINUE;
}

// The tag that the keywords make in the current one.
static uint32_t
find(VALUE given)
{
    struct said said = {.count = 0};
    Check_Type(given, T_HASH);
    rb_hash_foreach(given, take_pair, (VALUE)&said);
    uint32_t tag = tags_find(&tagging_tags, tagging_current(), said.pairs, said.count);
    RB_GC_GUARD(given);
    return tag;
}

static bool
can_tag(void)
{
    return is_running() && ractors_alone();
}

// The previous state.
static uint64_t
open_tag(VALUE given)
{
    uint32_t tag = find(given);
    if (!tagging_used) {
        begin_tagging();
    }
    uint64_t previous = tagging_state;
    tags_enter(&tagging_tags, tag);
    set_state(deeper(previous, tag));
    return previous;
}

static VALUE
close_tag(VALUE previous)
{
    tags_leave(&tagging_tags, tagging_current());
    set_state((uint64_t)FIX2LONG(previous));
    return Qnil;
}

static VALUE
state_value(uint64_t state)
{
    return LONG2FIX((long)state);
}

// Keywords come as a Hash, the last argument. nil for none.
static VALUE
keywords(int argc, const VALUE *argv)
{
    rb_check_arity(argc, 0, 1);
    return argc == 0 ? Qnil : rb_convert_type(argv[0], T_HASH, "Hash", "to_hash");
}

static VALUE
yield(VALUE nothing)
{
    (void)nothing;
    return rb_yield_values(0);
}

// Memtop.tag(route: "orders#show") { }
static VALUE
memtop_tag(int argc, VALUE *argv, VALUE self)
{
    VALUE given = keywords(argc, argv);
    (void)self;
    rb_need_block();
    if (NIL_P(given) || !can_tag()) {
        return yield(Qnil);
    }
    uint64_t previous = open_tag(given);
    return rb_ensure(yield, Qnil, close_tag, state_value(previous));
}

// Memtop.retag(route: "orders#show")
static VALUE
memtop_retag(int argc, VALUE *argv, VALUE self)
{
    VALUE given = keywords(argc, argv);
    (void)self;
    if (NIL_P(given) || !is_open(tagging_state)) {
        return Qfalse;
    }
    uint32_t tag = find(given);
    tags_switch(&tagging_tags, tagging_current(), tag);
    set_state((tagging_state & ~(uint64_t)0xffff) | tag);
    return Qtrue;
}

static VALUE
add_pairs(VALUE tags, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        const char *stop = line ? line : end;
        const char *equals = memchr(text, '=', (size_t)(stop - text));
        if (equals) {
            VALUE key = rb_utf8_str_new(text, equals - text);
            VALUE value = rb_utf8_str_new(equals + 1, stop - equals - 1);
            rb_hash_aset(tags, rb_str_intern(key), value);
        }
        text = stop + 1;
    }
    return tags;
}

// Memtop.tags
static VALUE
memtop_tags(VALUE self)
{
    VALUE tags = rb_hash_new();
    uint32_t tag = tagging_current();
    (void)self;
    if (tag < TAGS_FIRST) {
        return tags;
    }
    const struct tag_entry *entry = tags_entry(&tagging_tags, tag);
    return add_pairs(tags, entry->text, entry->length);
}

/* For what does not end with a block: a response is still being sent when the
   application has returned. */

// Open a tag; returns what close() is to be given, nil when nothing was opened.
static VALUE
tags_open(VALUE self, VALUE given)
{
    (void)self;
    return can_tag() ? state_value(open_tag(given)) : Qnil;
}

static VALUE
tags_close(VALUE self, VALUE previous)
{
    (void)self;
    return FIXNUM_P(previous) ? close_tag(previous) : Qnil;
}

// Leave the tag for now, without an end to the call; returns the state to resume with.
static VALUE
tags_suspend(VALUE self, VALUE previous)
{
    uint64_t state = tagging_state;
    (void)self;
    if (!FIXNUM_P(previous)) {
        return Qnil;
    }
    set_state((uint64_t)FIX2LONG(previous));
    return state_value(state);
}

// Be in a suspended tag again; returns what to suspend it with.
static VALUE
tags_resume(VALUE self, VALUE state)
{
    uint64_t previous = tagging_state;
    (void)self;
    if (!FIXNUM_P(state)) {
        return Qnil;
    }
    set_state(deeper(previous, (uint16_t)FIX2LONG(state)));
    return state_value(previous);
}

// A suspended tag's call has come to its end.
static VALUE
tags_finish(VALUE self, VALUE state)
{
    (void)self;
    if (FIXNUM_P(state)) {
        tags_leave(&tagging_tags, (uint16_t)FIX2LONG(state));
    }
    return Qnil;
}

void
tagging_init(bool (*running)(void))
{
    VALUE memtop = rb_define_module("Memtop");
    VALUE tags = rb_define_module_under(memtop, "Tags");
    is_running = running;
    state_id = rb_intern("__memtop_tag__");
    rb_define_singleton_method(memtop, "tag", memtop_tag, -1);
    rb_define_singleton_method(memtop, "retag", memtop_retag, -1);
    rb_define_singleton_method(memtop, "tags", memtop_tags, 0);
    rb_define_singleton_method(tags, "open", tags_open, 1);
    rb_define_singleton_method(tags, "close", tags_close, 1);
    rb_define_singleton_method(tags, "suspend", tags_suspend, 1);
    rb_define_singleton_method(tags, "resume", tags_resume, 1);
    rb_define_singleton_method(tags, "finish", tags_finish, 1);
}
