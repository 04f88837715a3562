#include "probe/core/probe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "probe/core/attend.h"
#include "probe/core/clock.h"
#include "probe/core/flight.h"
#include "probe/core/server.h"
#include "probe/core/tracing.h"

#define SLICE_NS (2 * (uint64_t)1000000)        // of a census that nobody waits for
#define SLICE_HURRY_NS (10 * (uint64_t)1000000) // of one that somebody waits for
#define MARKING_WAITS_MAX 20                    // slices put off for an incremental mark
#define NAMES_REST_MS 10                        // between two turns of naming frames
#define RENAMES_MAX 2000                        // anonymous classes asked again a census

// The one probe of this process, for the fork handlers. Its own lock, because a
// thread without the GVL may fork while the probe starts or stops.
static struct probe *forked_probe;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

void
probe_signal(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

void
probe_wake(struct probe *probe)
{
    probe_signal(probe->agent_fd);
}

void
probe_ask(struct probe *probe, uint32_t work)
{
    atomic_fetch_or(&probe->work, work);
    probe_wake(probe);
}

void
probe_notice(struct probe *probe, enum probe_notice notice, const char *text)
{
    char *place = probe->notices[notice];
    if (strncmp(place, text, PROBE_TEXT_MAX - 1) != 0) {
        snprintf(place, PROBE_TEXT_MAX, "%s", text);
        probe->notices_edits++;
    }
}

/* The agent's waiting. */

// How long to rest between two slices so that a census stays within its budget.
static int
rest_ms(const struct probe *probe)
{
    if (!probe->census.under_way) {
        return probe->names_wait ? NAMES_REST_MS : -1;
    }
    if (probe->census_hurry) {
        return 1;
    }
    double rest = (double)SLICE_NS / 1e6 * 100 / probe->settings.budget_percent;
    return (int)(rest < 1000 ? rest : 1000);
}

void
probe_wait(struct probe *probe)
{
    struct pollfd poll_fd = {probe->agent_fd, POLLIN, 0};
    if (poll(&poll_fd, 1, rest_ms(probe)) > 0) {
        uint64_t value;
        (void)!read(probe->agent_fd, &value, sizeof(value));
    }
}

/* Names. */

static void
name_class(struct probe *probe, uint32_t index)
{
    const struct class_entry *entry = registry_class(&probe->tally.registry, index);
    uint32_t flags = 0;
    char *name = entry->key ? probe->runtime.class_name(entry->key, &flags)
                            : strdup("(class freed before it was named)");
    if (!name) {
        return; // without memory: another time
    }
    pthread_mutex_lock(&probe->lock);
    bool same = entry->name && strcmp(entry->name, name) == 0;
    if (same) {
        free(name);
    } else {
        registry_name(&probe->tally.registry, index, name, flags);
    }
    pthread_mutex_unlock(&probe->lock);
    if (!same) {
        tracing_named(probe, index);
    }
}

// A class is named once; one that was anonymous is asked again after a census.
// In census mode keys are good only right after the walk that saw them.
static void
name_classes(struct probe *probe, bool again)
{
    struct registry *registry = &probe->tally.registry;
    bool keys_hold = again || mode_counts(probe->mode);
    if (!keys_hold || (!registry->unnamed && !registry->dead && !again)) {
        return;
    }
    bool asks = registry->unnamed || again; // the dead are asked nothing
    if (asks) {
        probe->runtime.hold(true);
    }
    uint32_t count = registry->class_count;
    unsigned renames = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        bool anonymous = entry->flags & CLASS_ANONYMOUS;
        bool ask = entry->id && (!entry->name || (again && entry->key && anonymous &&
                                                  renames++ < RENAMES_MAX));
        // Without hooks nobody tells of a class that dies and leaves its address.
        if (ask || (again && entry->key && probe->mode == MODE_CENSUS)) {
            name_class(probe, i);
        }
    }
    if (asks) {
        probe->runtime.hold(false);
    }
}

static void
recycle_classes(struct probe *probe)
{
    if (probe->tally.registry.dead) {
        pthread_mutex_lock(&probe->lock);
        tally_recycle(&probe->tally);
        pthread_mutex_unlock(&probe->lock);
    }
}

static void
read_heap(struct probe *probe)
{
    struct process_state state;
    probe->runtime.heap(&state);
    pthread_mutex_lock(&probe->lock);
    probe->heap = state;
    probe->heap_ns = clock_monotonic_ns();
    pthread_mutex_unlock(&probe->lock);
}

// The runtime keeps a count of its own: where the two differ, frees or
// allocations went by unseen, and a census must look for them soon.
static void
check_balance(struct probe *probe)
{
    if (!mode_counts(probe->mode)) {
        return;
    }
    uint64_t live = registry_totals(&probe->tally.registry).live;
    pthread_mutex_lock(&probe->lock);
    probe->unbalanced = live != probe->heap.heap_slots_live;
    pthread_mutex_unlock(&probe->lock);
}

static void
check_losses(struct probe *probe)
{
    uint64_t missed = probe->tally.missed_frees;
    uint64_t unplaced = probe->tally.unplaced;
    char text[PROBE_TEXT_MAX];
    pthread_mutex_lock(&probe->lock);
    probe_notice(probe, PROBE_NOTICE_MISSED,
                 missed == probe->missed_mended
                     ? ""
                     : "another tool's allocation hook (objspace tracing?) hides frees: "
                       "live may be too high until the next census");
    if (unplaced > 0) {
        snprintf(text, sizeof(text), "no memory to track %llu objects",
                 (unsigned long long)unplaced);
        probe_notice(probe, PROBE_NOTICE_MEMORY, text);
    }
    pthread_mutex_unlock(&probe->lock);
}

static void
refresh(struct probe *probe)
{
    if (probe->tally.lost) {
        probe_refuse_count(probe,
                           "there was no memory to follow a compaction of the heap; "
                           "classes are counted by census");
    }
    read_heap(probe);
    check_balance(probe);
    recycle_classes(probe);
    name_classes(probe, false);
    if (mode_counts(probe->mode)) {
        tracing_follow(probe);
    }
    check_losses(probe);
}

/* Censuses. */

static void
set_result(struct probe *probe, enum request_action action, bool failed, const char *text)
{
    struct work_result *result = &probe->results[action];
    pthread_mutex_lock(&probe->lock);
    result->failed = failed;
    snprintf(result->text, sizeof(result->text), "%s", text);
    pthread_mutex_unlock(&probe->lock);
}

static void
census_finished(struct probe *probe)
{
    const struct census *census = &probe->census;
    uint64_t drift = census->missing + census->phantom;
    char text[PROBE_TEXT_MAX];
    snprintf(text, sizeof(text), "census: %llu objects in %.1f ms, drift %llu",
             (unsigned long long)census->objects, (double)census->cost_ns / 1e6,
             (unsigned long long)drift);
    set_result(probe, REQUEST_CENSUS, false, text);
    pthread_mutex_lock(&probe->lock);
    probe->drift = drift;
    probe->drift_total += drift;
    probe->census_us = clock_stamp().wall_us;
    probe->census_ns = clock_monotonic_ns();
    probe->census_objects = census->objects;
    probe->census_cost_ns = census->cost_ns;
    probe->missed_mended = probe->tally.missed_frees;
    probe->census_hurry = false;
    pthread_mutex_unlock(&probe->lock);
    name_classes(probe, true);
    check_losses(probe);
}

// Let an incremental mark end by itself, but not for ever.
static bool
put_off(struct probe *probe)
{
    if (!probe->census_hurry && probe->runtime.marking() &&
        probe->marking_waits < MARKING_WAITS_MAX) {
        probe->marking_waits++;
        return true;
    }
    probe->marking_waits = 0;
    return false;
}

static bool
step_census(struct probe *probe, uint64_t budget_ns)
{
    bool done = census_step(&probe->census, budget_ns);
    if (done) {
        census_finished(probe);
    }
    return done;
}

// One slice. Without hooks nobody tells which classes die, so such a walk is
// not cut, and no class may die between it and the asking of names. Another
// Ractor's collection that waits for this thread runs as the walk begins.
static uint32_t
continue_census(struct probe *probe)
{
    if (!probe->census.under_way || put_off(probe)) {
        return 0;
    }
    bool done;
    if (probe->mode == MODE_CENSUS) {
        probe->runtime.hold(true);
        done = step_census(probe, 0);
        probe->runtime.hold(false);
    } else {
        done = step_census(probe, probe->census_hurry ? SLICE_HURRY_NS : SLICE_NS);
    }
    return done ? WORK_CENSUS : 0;
}

// Who asks for a census means the heap as it is now, not as a walk under way has
// seen it.
static uint32_t
start_census(struct probe *probe, bool anew)
{
    if (probe->mode == MODE_DORMANT) {
        set_result(probe, REQUEST_CENSUS, true, "nothing is counted in mode dormant");
        return WORK_CENSUS;
    }
    if (!probe->census.under_way || anew) {
        census_begin(&probe->census,
                     probe->mode == MODE_CENSUS ? CENSUS_COUNT : CENSUS_CHECK,
                     &probe->tally, &probe->runtime);
    }
    return 0;
}

/* Modes. */

static bool
init_tally(struct probe *probe)
{
    struct tally *tally = &probe->tally;
    bool counts = tally_init(tally, probe->runtime.resolve);
    if (counts && !trace_init(&tally->trace, probe->runtime.capture,
                              probe->settings.depth, probe->settings.budget_percent)) {
        tally_destroy(tally);
        return false;
    }
    return counts;
}

// Forget every object and class; ids go on, so that none is used twice.
static bool
forget_counts(struct probe *probe)
{
    pthread_mutex_lock(&probe->lock);
    class_id last_id = probe->tally.registry.last_id;
    tally_destroy(&probe->tally);
    bool ready = init_tally(probe);
    probe->tally.registry.last_id = last_id;
    if (probe->census.under_way) { // who waits for it is answered in the new mode
        probe->census.under_way = false;
        probe_ask(probe, WORK_CENSUS);
    }
    probe->reset = true;
    probe->drift = 0;
    probe->drift_total = 0;
    probe->census_us = 0;
    probe->census_hurry = false;
    probe->missed_mended = 0;
    probe_notice(probe, PROBE_NOTICE_MISSED, "");
    probe_notice(probe, PROBE_NOTICE_MEMORY, "");
    pthread_mutex_unlock(&probe->lock);
    return ready;
}

static bool
count_from_now(struct probe *probe, enum probe_mode mode, const char **why)
{
    tracing_enter(probe, mode);
    if (!probe->runtime.hooks(true, why)) {
        return false;
    }
    census_begin(&probe->census, CENSUS_BASELINE, &probe->tally, &probe->runtime);
    if (!census_step(&probe->census, 0)) {
        probe->runtime.hooks(false, NULL);
        *why = "no memory to list the heap";
        return false;
    }
    return true;
}

static void
stay_out(struct probe *probe, const char *why)
{
    char text[PROBE_TEXT_MAX];
    snprintf(text, sizeof(text), "mode count cannot be had: %s", why);
    set_result(probe, REQUEST_MODE, true, text);
    pthread_mutex_lock(&probe->lock);
    probe_notice(probe, PROBE_NOTICE_MODE, text);
    pthread_mutex_unlock(&probe->lock);
}

// Between counting with and without stacks nothing is forgotten.
static void
change_tracing(struct probe *probe, enum probe_mode mode)
{
    tracing_enter(probe, mode);
    probe->mode = mode;
    tracing_follow(probe);
    set_result(probe, REQUEST_MODE, false, "");
}

static void
calibrate_once(struct probe *probe)
{
    if (probe->allocated_ns <= 0) {
        double allocated_ns = 0;
        double freed_ns = 0;
        probe->runtime.calibrate(&allocated_ns, &freed_ns);
        pthread_mutex_lock(&probe->lock);
        probe->allocated_ns = allocated_ns;
        probe->freed_ns = freed_ns;
        pthread_mutex_unlock(&probe->lock);
    }
}

bool
probe_enter(struct probe *probe, enum probe_mode mode)
{
    const char *why = "another part of the program forbids it";
    if (mode_counts(mode) && probe->count_refused) {
        set_result(probe, REQUEST_MODE, true, probe->notices[PROBE_NOTICE_MODE]);
        return false;
    }
    if (probe->holds && !probe->count_refused) {
        probe->rest_mode = mode;
        if (!mode_counts(mode)) {
            set_result(
                probe, REQUEST_MODE, true,
                "the program itself counts now (Memtop::Capture and its like): the "
                "mode changes when it is done");
            return false;
        }
    }
    if (mode == probe->mode) {
        set_result(probe, REQUEST_MODE, false, "");
        return true;
    }
    if (mode_counts(mode) && mode_counts(probe->mode)) {
        change_tracing(probe, mode);
        return true;
    }
    probe->runtime.hooks(false, NULL);
    probe->mode = MODE_DORMANT;
    if (!forget_counts(probe)) {
        stay_out(probe, "no memory for the counters");
        return false;
    }
    if (mode_counts(mode)) {
        calibrate_once(probe);
        if (!forget_counts(probe) || !count_from_now(probe, mode, &why)) {
            forget_counts(probe);
            stay_out(probe, why);
            return false;
        }
    }
    probe->mode = mode;
    set_result(probe, REQUEST_MODE, false, "");
    return true;
}

void
probe_refuse_count(struct probe *probe, const char *why)
{
    bool counting = mode_counts(probe->mode);
    pthread_mutex_lock(&probe->lock);
    probe->count_refused = true;
    probe_notice(probe, PROBE_NOTICE_MODE, why);
    pthread_mutex_unlock(&probe->lock);
    if (counting) {
        probe_enter(probe, MODE_CENSUS);
        probe_ask(probe, WORK_CENSUS);
    }
}

/* The agent's work. */

static void
collect(struct probe *probe)
{
    uint64_t before_ns = clock_monotonic_ns();
    probe->runtime.collect();
    char text[PROBE_TEXT_MAX];
    snprintf(text, sizeof(text), "garbage collected in %.1f ms",
             (double)(clock_monotonic_ns() - before_ns) / 1e6);
    set_result(probe, REQUEST_GC, false, text);
}

// A census that ends while another is asked for is no answer to that: requests
// are taken under the lock.
static void
report(struct probe *probe, uint32_t done)
{
    pthread_mutex_lock(&probe->lock);
    if (atomic_load(&probe->work) & WORK_ANEW) {
        done &= ~(uint32_t)WORK_CENSUS;
    }
    atomic_fetch_or(&probe->done, done);
    pthread_mutex_unlock(&probe->lock);
    if (done) {
        probe_signal(probe->server_fd);
    }
}

bool
probe_work(struct probe *probe)
{
    uint64_t started_ns = clock_monotonic_ns();
    uint32_t work = atomic_exchange(&probe->work, 0);
    uint32_t done = work & (WORK_REFRESH | WORK_GC | WORK_MODE);
    if (work & WORK_QUIT) {
        return false;
    }
    if (work & WORK_DETACH) {
        probe->runtime.detach();
        return false;
    }
    if (work & WORK_MODE) {
        probe_enter(probe, (enum probe_mode)probe->wanted_mode);
    }
    if (work & WORK_GC) {
        collect(probe);
    }
    if (work & WORK_CENSUS) {
        done |= start_census(probe, work & WORK_ANEW);
    }
    if (work & WORK_TRACE) {
        tracing_follow(probe);
    }
    done |= continue_census(probe);
    if (work & WORK_REFRESH) {
        refresh(probe);
    }
    if (work & WORK_REFRESH || probe->names_wait) {
        probe->names_wait = tracing_name_frames(probe);
    }
    count_add(&probe->agent_ns, clock_monotonic_ns() - started_ns);
    report(probe, done);
    return true;
}

/* Start, stop, fork. */

static void
before_fork(void)
{
    pthread_mutex_lock(&fork_lock);
    if (forked_probe) {
        pthread_mutex_lock(&forked_probe->lock);
    }
}

static void
after_fork_in_parent(void)
{
    if (forked_probe) {
        pthread_mutex_unlock(&forked_probe->lock);
    }
    pthread_mutex_unlock(&fork_lock);
}

// Most children of a fork go on to exec: nothing is done here but to ask for
// probe_after_fork() where the runtime gets to it.
static void
after_fork_in_child(void)
{
    if (forked_probe) {
        pthread_mutex_unlock(&forked_probe->lock);
        forked_probe->agent_alive = false;
        forked_probe->runtime.revive();
    }
    pthread_mutex_unlock(&fork_lock);
}

// NULL: there is no probe any more.
static void
watch_forks(struct probe *probe)
{
    static bool watching;
    pthread_mutex_lock(&fork_lock);
    forked_probe = probe;
    pthread_mutex_unlock(&fork_lock);
    if (probe && !watching) {
        watching =
            pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    }
}

static bool
open_descriptors(struct probe *probe, char *why, size_t why_size)
{
    probe->agent_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    probe->server_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (probe->agent_fd < 0 || probe->server_fd < 0) {
        snprintf(why, why_size, "no file descriptors: %s", strerror(errno));
        return false;
    }
    return true;
}

static void
close_descriptors(struct probe *probe)
{
    int *const fds[] = {&probe->agent_fd, &probe->server_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
        }
        *fds[i] = -1;
    }
}

static bool
serve_on_path(struct probe *probe, bool make_folder, char *why, size_t why_size)
{
    int listen_fd = endpoint_listen(probe->path, make_folder, why, why_size);
    if (listen_fd < 0) {
        return false;
    }
    probe->server = server_start(probe, listen_fd, why, why_size);
    if (!probe->server) {
        unlink(probe->path);
    }
    endpoint_sweep(probe->path);
    return probe->server != NULL;
}

static bool
choose_path(struct probe *probe, bool child, char *why, size_t why_size)
{
    const char *given = probe->settings.socket;
    bool chosen = true;
    if (!*given) {
        chosen = endpoint_default_path(probe->path, getpid());
    } else if (endpoint_is_folder(given)) {
        chosen = endpoint_path_in(probe->path, given, getpid());
    } else if (child) {
        chosen = endpoint_child_path(probe->path, given, getpid());
    } else {
        int length =
            snprintf(probe->path, sizeof(probe->path), "%.*s", ENDPOINT_PATH_MAX, given);
        chosen = length < ENDPOINT_PATH_MAX;
    }
    if (!chosen) {
        snprintf(
            why, why_size,
            "the socket's path would be longer than %d bytes; set MEMTOP_SOCKET to a "
            "shorter one",
            ENDPOINT_PATH_MAX - 1);
    }
    return chosen;
}

// Counters, and nothing that counts or serves yet.
static bool
set_up(struct probe *probe, const struct settings *settings,
       const struct runtime *runtime, char *why, size_t why_size)
{
    *probe = (struct probe){.settings = *settings,
                            .runtime = *runtime,
                            .pid = getpid(),
                            .started_us = clock_stamp().wall_us,
                            .notices_edits = 1,
                            .agent_fd = -1,
                            .server_fd = -1};
    pthread_mutex_init(&probe->lock, NULL);
    if (!init_tally(probe)) {
        snprintf(why, why_size, "no memory for the counters");
        pthread_mutex_destroy(&probe->lock);
        return false;
    }
    return true;
}

static void
tear_down(struct probe *probe)
{
    watch_forks(NULL);
    probe->runtime.hooks(false, NULL);
    census_destroy(&probe->census);
    judge_destroy(&probe->judge);
    tally_destroy(&probe->tally);
    pthread_mutex_destroy(&probe->lock);
}

bool
probe_start(struct probe *probe, const struct settings *settings,
            const struct runtime *runtime, char *why, size_t why_size)
{
    if (probe->holds) {
        probe->settings = *settings;
        probe->pid = getpid();
        atomic_store(&probe->work, 0);
        probe->tally.trace.budget_percent = settings->budget_percent;
    } else if (!set_up(probe, settings, runtime, why, why_size)) {
        return false;
    }
    if (!open_descriptors(probe, why, why_size) ||
        !choose_path(probe, false, why, why_size) ||
        !serve_on_path(probe, !*settings->socket, why, why_size)) {
        close_descriptors(probe);
        if (!probe->holds) {
            tear_down(probe);
        }
        return false;
    }
    probe->serves = true;
    watch_forks(probe);
    probe_enter(probe, settings->mode);
    return true;
}

bool
probe_hold(struct probe *probe, const struct settings *settings,
           const struct runtime *runtime, char *why, size_t why_size)
{
    bool first = !probe->holds;
    if (first && !probe->serves && !set_up(probe, settings, runtime, why, why_size)) {
        return false;
    }
    probe->rest_mode = first ? probe->mode : probe->rest_mode;
    if (mode_counts(probe->mode) || probe_enter(probe, MODE_COUNT)) {
        probe->holds++;
        watch_forks(probe);
        return true;
    }
    snprintf(why, why_size, "%s", probe->results[REQUEST_MODE].text);
    if (!probe->serves) {
        tear_down(probe);
    }
    return false;
}

void
probe_release(struct probe *probe)
{
    if (!probe->holds || --probe->holds) {
        return;
    }
    if (!probe->serves) {
        tear_down(probe);
    } else if (probe->rest_mode != (enum probe_mode)probe->mode) {
        probe_enter(probe, probe->rest_mode);
    }
}

struct ending {
    struct server *server;
    struct bye bye;
};

static void
end_server(void *context)
{
    struct ending *ending = context;
    server_stop(ending->server, &ending->bye);
}

static void
attend(void *context)
{
    attend_first(context);
}

void
probe_await(struct probe *probe)
{
    if (!attend_wanted(probe)) {
        return;
    }
    if (probe->settings.attendant_gc && !probe->settings.readonly) {
        probe->runtime.collect();
    }
    refresh(probe); // the first counts have names
    probe->awaits = true;
    if (probe->runtime.unlocked) {
        probe->runtime.unlocked(attend, probe);
    } else {
        attend(probe);
    }
    probe->awaits = false;
}

// What is known of the end is read by somebody: with names, and, who judges what is
// left, without garbage.
static void
look_last(struct probe *probe)
{
    bool attended = attend_wanted(probe);
    if (attended && probe->settings.attendant_gc && !probe->settings.readonly) {
        probe->runtime.collect();
        probe->census_hurry = true;
        start_census(probe, true);
        while (probe->census.under_way) {
            continue_census(probe);
        }
    }
    if (attended || flight_wanted(&probe->settings)) {
        refresh(probe);
    }
    while (attended && tracing_name_frames(probe)) {
    }
}

void
probe_stop(struct probe *probe, enum bye_reason reason, uint64_t status)
{
    if (probe->server && probe->pid == getpid() && reason == BYE_EXIT) {
        look_last(probe);
    }
    if (!probe->holds) {
        watch_forks(NULL);
        probe->runtime.hooks(false, NULL);
    }
    if (probe->server && probe->pid != getpid()) {
        server_abandon(probe->server); // a child that ends before it began
    } else if (probe->server) {
        struct ending ending = {
            probe->server, {.reason = reason, .status = status}
        };
        if (probe->runtime.unlocked) {
            probe->runtime.unlocked(end_server, &ending);
        } else {
            end_server(&ending);
        }
        unlink(probe->path);
    }
    close_descriptors(probe);
    probe->server = NULL;
    probe->serves = false;
    if (probe->holds) {
        probe->census.under_way = false;
        probe_enter(probe, MODE_COUNT);
        probe->rest_mode = MODE_DORMANT;
    } else {
        tear_down(probe);
    }
}

bool
probe_after_fork(struct probe *probe, char *why, size_t why_size)
{
    if (probe->server) {
        server_abandon(probe->server);
        probe->server = NULL;
    }
    close_descriptors(probe);
    atomic_store(&probe->work, 0);
    atomic_store(&probe->done, 0);
    atomic_store(&probe->agent_ns, 0);
    probe->reset = true;
    probe->attended = false;
    probe->pid = getpid();
    return open_descriptors(probe, why, why_size) &&
           choose_path(probe, true, why, why_size) &&
           serve_on_path(probe, !*probe->settings.socket, why, why_size);
}
