/*
 * The floor under every tool of this kind: allocation hooks that do nothing.
 * `require "empty_hook"` installs them.
 */
#include <ruby.h>
#include <ruby/debug.h>

RUBY_FUNC_EXPORTED void Init_empty_hook(void);

static void
on_newobj(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    (void)event;
}

static void
on_freeobj(VALUE data, const rb_trace_arg_t *event)
{
    (void)data;
    (void)event;
}

static void
add_hook(void (*hook)(VALUE, const rb_trace_arg_t *), rb_event_flag_t event)
{
    rb_add_event_hook2((rb_event_hook_func_t)(void (*)(void))hook, event, Qnil,
                       RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG);
}

void
Init_empty_hook(void)
{
    add_hook(on_newobj, RUBY_INTERNAL_EVENT_NEWOBJ);
    add_hook(on_freeobj, RUBY_INTERNAL_EVENT_FREEOBJ);
}
