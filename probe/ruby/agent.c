#include "probe/ruby/agent.h"

#include <ruby.h>
#include <ruby/thread.h>

static VALUE thread = Qnil;

static void *
wait_without_gvl(void *context)
{
    probe_wait(context);
    return NULL;
}

static void
stop_waiting(void *context)
{
    probe_wake(context);
}

static VALUE
work(VALUE context)
{
    return probe_work((struct probe *)context) ? Qtrue : Qfalse;
}

// An exception of the program's (Thread#raise, a finalizer) is not ours to die
// of; Thread#kill is.
static bool
work_protected(struct probe *probe)
{
    int failed = 0;
    VALUE go_on = rb_protect(work, (VALUE)probe, &failed);
    if (!failed) {
        return RTEST(go_on);
    }
    if (!rb_obj_is_kind_of(rb_errinfo(), rb_eException)) {
        rb_jump_tag(failed);
    }
    rb_set_errinfo(Qnil);
    return true;
}

static VALUE
run(VALUE context)
{
    struct probe *probe = (struct probe *)context;
    do {
        rb_thread_call_without_gvl(wait_without_gvl, probe, stop_waiting, probe);
    } while (work_protected(probe));
    return Qnil;
}

static VALUE
ended(VALUE context)
{
    struct probe *probe = (struct probe *)context;
    // Not for the next one: the probe may have been started again meanwhile.
    if (NIL_P(thread) || thread == rb_thread_current()) {
        probe->agent_alive = false;
    }
    return Qnil;
}

// A thread can be killed before it ever gets here.
static VALUE
thread_main(void *context)
{
    struct probe *probe = context;
    probe->agent_alive = true;
    return rb_ensure(run, (VALUE)context, ended, (VALUE)context);
}

// In front of Thread.list.
static VALUE
list_without_agent(VALUE self)
{
    (void)self;
    VALUE list = rb_call_super(0, NULL);
    rb_ary_delete(list, thread);
    return list;
}

static void
hide(void)
{
    static VALUE group;
    if (!group) {
        rb_gc_register_address(&thread);
        rb_gc_register_address(&group);
        group = rb_obj_alloc(rb_path2class("ThreadGroup"));
        VALUE module = rb_define_module_under(rb_path2class("Memtop"), "HiddenThread");
        rb_ext_ractor_safe(true);
        rb_define_method(module, "list", list_without_agent, 0);
        rb_ext_ractor_safe(false);
        rb_prepend_module(rb_singleton_class(rb_cThread), module);
    }
    rb_funcall(group, rb_intern("add"), 1, thread);
}

static bool
exists(void)
{
    return !NIL_P(thread) && RTEST(rb_funcall(thread, rb_intern("alive?"), 0));
}

void
agent_start(struct probe *probe)
{
    if (exists()) {
        return;
    }
    thread = rb_thread_create(thread_main, probe);
    hide();
    rb_funcall(thread, rb_intern("name="), 1, rb_str_new_cstr("memtop"));
    rb_funcall(thread, rb_intern("report_on_exception="), 1, Qfalse);
    rb_funcall(thread, rb_intern("thread_variable_set"), 2,
               ID2SYM(rb_intern("fork_safe")), Qtrue);
}

void
agent_stop(struct probe *probe)
{
    if (exists() && thread != rb_thread_current()) {
        probe_ask(probe, WORK_QUIT);
        rb_funcall(thread, rb_intern("join"), 0);
    }
    thread = Qnil;
}
