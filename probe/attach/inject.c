#include "probe/attach/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <dlfcn.h>

#define EXPORTED __attribute__((visibility("default")))
#define PAUSE_LEAST_MS 1
#define PAUSE_MOST_MS 50
#define LINE_BYTES 1024 // less than a pipe takes in one piece

typedef uintptr_t value; // Ruby's VALUE
typedef void handler(int number, siginfo_t *info, void *context);

// What is called of Ruby, with its own names.
struct ruby {
    value (*protect)(value (*work)(value), value argument, int *failed);
    value (*require)(const char *path);
    value (*path2class)(const char *path);
    value (*str_new_cstr)(const char *text);
    char *(*string_value_cstr)(volatile value *string);
    value (*funcall)(value receiver, uintptr_t name, int count, ...);
    uintptr_t (*intern)(const char *name);
    value (*errinfo)(void);
    value (*thread_create)(value (*work)(void *), void *argument);
    // One of two ways: Ruby 3.3 and later has the first.
    unsigned (*preregister)(unsigned flags, void (*job)(void *), void *argument);
    void (*trigger)(unsigned handle);
    int (*register_one)(unsigned flags, void (*job)(void *), void *argument);
};

enum stage { STAGE_IDLE, STAGE_ASKING, STAGE_LOADING };

static struct {
    struct ruby ruby;
    char folder[PATH_MAX];
    char library[PATH_MAX];
    pid_t pid; // where it was injected: a child of a fork has the job as well
    int report_fd;
    handler *handler; // Ruby's of signals
    unsigned handle;
    _Atomic int stage;
} inject;

/* What is said. */

// False when nobody reads it.
static bool
report(const char *word, const char *rest)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof(line), "%s%s%s", word, *rest ? " " : "", rest);
    size_t end = (size_t)length < sizeof(line) - 1 ? (size_t)length : sizeof(line) - 2;
    for (size_t i = 0; i < end; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i];
    }
    line[end] = '\n';
    // A pipe without a reader is an error here, not the end of the program.
    sigset_t pipe_only;
    sigset_t before;
    const struct timespec now = {0, 0};
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    bool gone = write(inject.report_fd, line, end + 1) < 0 && errno == EPIPE;
    if (gone && !sigismember(&before, SIGPIPE)) {
        sigtimedwait(&pipe_only, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !gone;
}

static void
finish(void)
{
    close(inject.report_fd);
    inject.stage = STAGE_IDLE;
}

/* In a Ruby thread of its own. */

static value
load_probe(value unused)
{
    (void)unused;
    const struct ruby *ruby = &inject.ruby;
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/memtop/attached.rb", inject.library);
    ruby->require(path); // Ruby's own, whoever replaced Kernel#require
    volatile value said =
        ruby->funcall(ruby->path2class("Memtop::Attached"), ruby->intern("start"), 1,
                      ruby->str_new_cstr(inject.folder));
    report(ruby->string_value_cstr(&said), "");
    return said;
}

static value
describe_error(value unused)
{
    (void)unused;
    const struct ruby *ruby = &inject.ruby;
    volatile value words = ruby->funcall(ruby->errinfo(), ruby->intern("message"), 0);
    report("failed", ruby->string_value_cstr(&words));
    return words;
}

static value
thread_main(void *unused)
{
    const struct ruby *ruby = &inject.ruby;
    int failed = 0;
    (void)unused;
    if (!report("running", "")) { // memtop gave up while the thread waited for its turn
        finish();
        return 0;
    }
    value result = ruby->protect(load_probe, 0, &failed);
    if (failed) {
        result = ruby->protect(describe_error, 0, &failed);
        if (failed) {
            report("failed", "the probe cannot be loaded");
        }
    }
    finish();
    return result;
}

static value
make_thread(value unused)
{
    (void)unused;
    return inject.ruby.thread_create(thread_main, NULL);
}

// In whichever Ruby thread next looks for interrupts.
static void
job(void *unused)
{
    int expected = STAGE_ASKING;
    int failed = 0;
    (void)unused;
    if (inject.pid != getpid() ||
        !atomic_compare_exchange_strong(&inject.stage, &expected, STAGE_LOADING)) {
        return;
    }
    inject.ruby.protect(make_thread, 0, &failed);
    if (failed) {
        report("failed", "Ruby makes no new thread: the thread group is enclosed, or "
                         "there are too many");
        finish();
    }
}

/* In a native thread of its own. */

// The first signal that the program leaves to the system: to Ruby it means nothing,
// there is no trap for it.
static int
unused_signal(void)
{
    static const int candidates[] = {SIGURG, SIGWINCH, SIGIO, SIGPWR, SIGXCPU};
    for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
        struct sigaction action;
        if (sigaction(candidates[i], NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL) {
            return candidates[i];
        }
    }
    return 0;
}

static bool
in_ruby(const void *address)
{
    Dl_info one;
    Dl_info other;
    return address && dladdr(address, &one) &&
           dladdr((void *)(uintptr_t)inject.ruby.require, &other) &&
           one.dli_fbase == other.dli_fbase;
}

// Ruby's handler of signals; NULL without one: Ruby was not started, or has ended.
static handler *
find_handler(void)
{
    static const int handled[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD};
    for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++) {
        struct sigaction action;
        if (sigaction(handled[i], NULL, &action) == 0 &&
            in_ruby((void *)(uintptr_t)action.sa_sigaction)) {
            return action.sa_sigaction;
        }
    }
    return NULL;
}

// The job is asked of the thread that ran last; it may be another one that the
// signal wakes. That one then ran last: soon both are the same.
static void
ask(void)
{
    const struct ruby *ruby = &inject.ruby;
    if (find_handler() != inject.handler) {
        return; // the program is ending, or is changing its traps
    }
    if (ruby->trigger) {
        ruby->trigger(inject.handle);
    } else {
        ruby->register_one(0, job, NULL);
    }
    int number = unused_signal();
    if (number) {
        inject.handler(number, NULL,
                       NULL); // as a signal would: it may come at any moment
    }
}

static void *
keep_asking(void *unused)
{
    struct pollfd reader = {.fd = inject.report_fd};
    int pause_ms = PAUSE_LEAST_MS;
    (void)unused;
    prctl(PR_SET_NAME, "memtop-attach");
    report("reached", "");
    while (inject.stage == STAGE_ASKING) {
        ask();
        if (poll(&reader, 1, pause_ms) > 0) { // nobody reads any more
            int expected = STAGE_ASKING;
            if (atomic_compare_exchange_strong(&inject.stage, &expected, STAGE_LOADING)) {
                finish();
            }
            break;
        }
        pause_ms = pause_ms < PAUSE_MOST_MS ? pause_ms * 2 : PAUSE_MOST_MS;
    }
    return NULL;
}

/* In the thread that the debugger stopped. */

static bool
look_up(void)
{
    struct ruby *ruby = &inject.ruby;
    const struct {
        void *place;
        const char *name;
        bool needed;
    } functions[] = {
        {&ruby->protect,           "rb_protect",                    true },
        {&ruby->require,           "rb_require",                    true },
        {&ruby->path2class,        "rb_path2class",                 true },
        {&ruby->str_new_cstr,      "rb_str_new_cstr",               true },
        {&ruby->string_value_cstr, "rb_string_value_cstr",          true },
        {&ruby->funcall,           "rb_funcall",                    true },
        {&ruby->intern,            "rb_intern",                     true },
        {&ruby->errinfo,           "rb_errinfo",                    true },
        {&ruby->thread_create,     "rb_thread_create",              true },
        {&ruby->preregister,       "rb_postponed_job_preregister",  false},
        {&ruby->trigger,           "rb_postponed_job_trigger",      false},
        {&ruby->register_one,      "rb_postponed_job_register_one", false},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        void *found = dlsym(RTLD_DEFAULT, functions[i].name);
        memcpy(functions[i].place, &found, sizeof(found));
        if (!found && functions[i].needed) {
            return false;
        }
    }
    return (ruby->preregister && ruby->trigger) || ruby->register_one;
}

// With no signals of its own: those are for the program's threads.
static bool
start_thread(void)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, keep_asking, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
    }
    return started;
}

static bool
open_report(const char *folder)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/report", folder);
    inject.report_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    return inject.report_fd >= 0;
}

static int
prepare(const char *folder, const char *library)
{
    if (!look_up()) {
        return INJECT_MISSING;
    }
    inject.handler = find_handler();
    if (!inject.handler) {
        return INJECT_ASLEEP;
    }
    if (inject.ruby.trigger) {
        inject.handle = inject.ruby.preregister(0, job, NULL);
        if (inject.handle == UINT_MAX) {
            return INJECT_MISSING;
        }
    }
    if (!open_report(folder)) {
        return INJECT_PIPE;
    }
    snprintf(inject.folder, sizeof(inject.folder), "%s", folder);
    snprintf(inject.library, sizeof(inject.library), "%s", library);
    inject.pid = getpid();
    return INJECT_STARTED;
}

EXPORTED int
memtop_inject(const char *folder, const char *library)
{
    if (inject.stage != STAGE_IDLE && inject.pid == getpid()) {
        return INJECT_BUSY;
    }
    int status = prepare(folder, library);
    if (status != INJECT_STARTED) {
        return status;
    }
    inject.stage = STAGE_ASKING;
    if (!start_thread()) {
        finish();
        return INJECT_NO_THREAD;
    }
    return INJECT_STARTED;
}
