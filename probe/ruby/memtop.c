/*
 * The Ruby extension: Memtop.start, .stop, .running?, .socket, and what happens
 * when the program forks or ends.
 */
#include <stdio.h>

#include <ruby.h>
#include <ruby/thread.h>
#include <ruby/version.h>

#include "probe/core/probe.h"
#include "probe/ruby/agent.h"
#include "probe/ruby/api.h"
#include "probe/ruby/compat.h"
#include "probe/ruby/heap.h"
#include "probe/ruby/hooks.h"
#include "probe/ruby/ractors.h"
#include "probe/ruby/stacks.h"
#include "probe/ruby/tagging.h"

RUBY_FUNC_EXPORTED void Init_memtop(void);

// For `memtop attach`, which reads it from the file (tui/attach/library.c): the Ruby
// whose headers these were.
static const struct {
    char mark[16];
    int version[2];
} built_for __attribute__((used)) = {
    "memtop-for-ruby", {RUBY_API_VERSION_MAJOR, RUBY_API_VERSION_MINOR}
};

static struct probe probe;
static bool running;
static pid_t stopping; // the process in which it is being stopped, meanwhile
static bool ractors_came;
static char runtime_name[64];

static void
warn(const char *why)
{
    rb_warn("memtop: %s", why);
}

// In a Ruby thread, soon after a fork or after the agent was killed.
static void
revive(void *context)
{
    (void)context;
    char why[PROBE_TEXT_MAX];
    if (!running || probe.agent_alive) {
        return;
    }
    if (probe.pid != getpid() && !probe_after_fork(&probe, why, sizeof(why))) {
        warn(why);
        return;
    }
    agent_start(&probe);
    if (probe.settings.attendant_gc) {
        probe_await(&probe);
    }
}

struct unlocked {
    void (*work)(void *context);
    void *context;
    bool done;
};

static void *
work_unlocked(void *context)
{
    struct unlocked *unlocked = context;
    unlocked->work(unlocked->context);
    unlocked->done = true;
    return NULL;
}

// Ruby does not begin it when an interrupt waits, which is not ours to take.
static void
do_unlocked(void (*work)(void *context), void *context)
{
    struct unlocked unlocked = {work, context, false};
    rb_thread_call_without_gvl2(work_unlocked, &unlocked, NULL, NULL);
    if (!unlocked.done) {
        work(context);
    }
}

static void detach(void);

static struct runtime
ruby_runtime(void)
{
    return (struct runtime){.name = runtime_name,
                            .tags = &tagging_tags,
                            .hooks = hooks_set,
                            .calibrate = hooks_calibrate,
                            .pages = heap_pages,
                            .object = heap_object,
                            .resolve = heap_resolve,
                            .class_name = heap_class_name,
                            .capture = stacks_capture,
                            .frame_name = stacks_frame_name,
                            .hold = heap_hold,
                            .collections = heap_collections,
                            .marking = heap_marking,
                            .heap = heap_figures,
                            .collect = heap_collect,
                            .alone = ractors_alone,
                            .unlocked = do_unlocked,
                            .detach = detach,
                            .revive = compat_run_soon};
}

// No hook may be set once there is a Ractor, not even for a moment.
static void
ractor_comes(void)
{
    ractors_came = true;
    api_counting_ends();
    if (running) {
        probe_refuse_count(&probe, "Ractors: Ruby's allocation hooks do not see their "
                                   "objects; classes are counted by census");
    }
}

static int
take_setting(VALUE name, VALUE value, VALUE context)
{
    struct settings *settings = (struct settings *)context;
    char why[PROBE_TEXT_MAX];
    if (!settings_set(settings, StringValueCStr(name), StringValueCStr(value), why,
                      sizeof(why))) {
        warn(why);
    }
    return ST_CONTINUE;
}

// The exit status the program is about to end with, from what it ends of; as a
// shell has it, 128 and the number for a signal.
static uint64_t
exit_status(void)
{
    VALUE error = rb_errinfo();
    if (NIL_P(error)) {
        return 0;
    }
    if (rb_obj_is_kind_of(error, rb_eSystemExit)) {
        return NUM2UINT(rb_funcall(error, rb_intern("status"), 0)) & 0xff;
    }
    if (rb_obj_is_kind_of(error, rb_eSignal)) {
        return 128 + NUM2UINT(rb_funcall(error, rb_intern("signo"), 0));
    }
    return 1;
}

static void
stop(enum bye_reason reason, uint64_t status)
{
    running = false;
    stopping = getpid();
    if (probe.pid == getpid()) {
        agent_stop(&probe);
    }
    probe_stop(&probe, reason, status);
    stopping = 0;
}

// In the agent, for a viewer.
static void
detach(void)
{
    if (running) {
        stop(BYE_STOP, COUNT_UNKNOWN);
    }
}
static bool exit_watched;

static void
at_exit(VALUE context)
{
    (void)context;
    exit_watched = false;
    api_counting_ends();
    if (running) {
        stop(BYE_EXIT, exit_status());
    }
}

static void
watch_exit(void)
{
    if (!exit_watched) {
        exit_watched = true;
        rb_set_end_proc(at_exit, Qnil);
    }
}

// For the program itself, with what the environment says of depth and budget.
static bool
hold(char *why, size_t why_size)
{
    struct settings settings;
    if (stopping == getpid()) {
        snprintf(why, why_size, "another thread is just stopping the probe; try again");
        return false;
    }
    ractors_watch(ractor_comes);
    if (ractors_came) {
        snprintf(why, why_size,
                 "the program has started a Ractor: Ruby's allocation hooks do not see "
                 "what Ractors make, so nothing can be counted exactly any more");
        return false;
    }
    settings_init(&settings);
    settings_from_environment(&settings, warn);
    const struct runtime runtime = ruby_runtime();
    if (!probe_hold(&probe, &settings, &runtime, why, why_size)) {
        return false;
    }
    watch_exit();
    return true;
}

static VALUE
memtop_start(VALUE self, VALUE given)
{
    struct settings settings;
    char why[PROBE_TEXT_MAX];
    (void)self;
    if (running || stopping == getpid()) { // another thread waits for its end
        return Qfalse;
    }
    settings_init(&settings);
    settings_from_environment(&settings, warn);
    rb_hash_foreach(given, take_setting, (VALUE)&settings);
    ractors_watch(ractor_comes);
    if (ractors_came && mode_counts(settings.mode)) {
        settings.mode = MODE_CENSUS;
    }
    const struct runtime runtime = ruby_runtime();
    if (!probe_start(&probe, &settings, &runtime, why, sizeof(why))) {
        rb_raise(rb_path2class("Memtop::Error"), "%s", why);
    }
    running = true;
    agent_start(&probe);
    if (ractors_came) {
        ractor_comes();
    }
    probe_await(&probe);
    watch_exit();
    return Qtrue;
}

// @return [Boolean] true when it ran
static VALUE
memtop_stop(VALUE self)
{
    (void)self;
    if (!running) {
        return Qfalse;
    }
    stop(BYE_STOP, COUNT_UNKNOWN);
    return Qtrue;
}

static VALUE
memtop_running_p(VALUE self)
{
    (void)self;
    return running ? Qtrue : Qfalse;
}

// @return [String, nil] the path viewers connect to
static VALUE
memtop_socket(VALUE self)
{
    (void)self;
    return running && probe.server ? rb_str_new_cstr(probe.path) : Qnil;
}

// @return [String] "dormant", "census" or "count"; "dormant" while it does not run
static VALUE
memtop_mode(VALUE self)
{
    (void)self;
    return rb_str_new_cstr(mode_name(running ? probe.mode : MODE_DORMANT));
}

static bool
is_running(void)
{
    return running;
}

void
Init_memtop(void)
{
    VALUE module = rb_define_module("Memtop");
    snprintf(runtime_name, sizeof(runtime_name), "ruby %s", ruby_version);
    hooks_init(&probe.tally);
    stacks_init();
    compat_prepare_job(revive);
    tagging_init(is_running);
    rb_define_private_method(rb_singleton_class(module), "start_probe", memtop_start, 1);
    rb_define_singleton_method(module, "stop", memtop_stop, 0);
    rb_define_singleton_method(module, "running?", memtop_running_p, 0);
    rb_define_singleton_method(module, "socket", memtop_socket, 0);
    rb_define_singleton_method(module, "mode", memtop_mode, 0);
    api_init(&probe, hold);
}
