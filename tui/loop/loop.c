#include "tui/loop/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "tui/app_fleet.h"
#include "tui/app_run.h"
#include "tui/loop/child.h"
#include "tui/loop/cluster.h"
#include "tui/loop/company.h"
#include "tui/loop/crash.h"
#include "tui/loop/link.h"
#include "tui/loop/watch.h"

struct loop {
    uv_loop_t uv;
    const char *path;         // borrowed, of the link; of no meaning without one
    struct link *link;        // owned; NULL while nothing was chosen, or for a sum
    struct cluster *cluster;  // owned; NULL but for a sum
    struct scout *scout;      // owned; NULL unless other processes can be looked for
    struct fleet *fleet;      // borrowed, of the scout
    struct app_target target; // what is watched, when it was chosen from all
    uv_timer_t patience;
    struct app *app;     // borrowed, while a function below runs
    struct watch *watch; // owned, while loop_watch() runs
    int signal;
    enum loop_end end;
    char error[700];

    // what is waited for: told of every message and every change
    void (*progress)(struct loop *loop, const struct message *message);
    void (*changed)(struct loop *loop, enum link_state state, const char *detail);
    bool (*ask)(void *context);
    void *context;
    bool counted; // a key sample has come

    // while loop_accompany() runs
    const struct loop_command *command; // borrowed
    struct child *child;                // owned
    struct company *company;            // owned
    uv_timer_t last_words;
    struct child_end *child_end; // borrowed
    bool child_ended;
    uint64_t ended_ms;
    long shown;  // of its processes the one that the viewer shows, 0 for none
    bool chosen; // a person chose what is shown, from all processes
};

uint64_t
loop_now_ms(void)
{
    return uv_hrtime() / 1000000;
}

static void
finish(struct loop *loop, enum loop_end end, const char *why)
{
    loop->end = end;
    if (end != LOOP_DONE) {
        bool asks = *why && why[strlen(why) - 1] == '?';
        snprintf(loop->error, sizeof(loop->error), "cannot watch %s: %s%s",
                 loop->path ? loop->path : "them", why, asks ? "" : ".");
    }
    uv_stop(&loop->uv);
}

static enum loop_end
end_of(enum link_failure failure)
{
    return failure == LINK_BROKEN ? LOOP_BROKEN : LOOP_UNREACHABLE;
}

static void
react(struct loop *loop, unsigned reactions)
{
    if (loop->watch) {
        watch_react(loop->watch, reactions);
    }
}

static void
on_message(void *context, const struct message *message)
{
    struct loop *loop = context;

    react(loop, app_message(loop->app, message, loop_now_ms()));
    if (loop->progress) {
        loop->progress(loop, message);
    }
}

static void
on_state(void *context, enum link_state state, const char *detail)
{
    struct loop *loop = context;

    react(loop, app_link(loop->app, state, detail, loop_now_ms()));
    if (loop->changed) {
        loop->changed(loop, state, detail);
    }
}

// A program that was chosen from all is no reason to end: there are the others.
static void
on_failed(void *context, enum link_failure failure, const char *why)
{
    struct loop *loop = context;

    if (loop->watch && loop->scout) {
        char words[512];
        snprintf(words, sizeof(words), "cannot watch %.100s: %s",
                 loop->link ? loop->path : "them", why);
        react(loop, app_fleet_failed(loop->app, words, loop_now_ms()));
    } else if (!loop->command) { // whose end is the end
        finish(loop, end_of(failure), why);
    }
}

static const struct link_events *
events_of(struct loop *loop, struct link_events *events)
{
    *events = (struct link_events){on_message, on_state, on_failed, loop};
    return events;
}

struct loop *
loop_new(const char *path)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    struct link_events events;

    if (!loop || uv_loop_init(&loop->uv) != 0) {
        goto fail_loop;
    }
    loop->path = path;
    loop->link = path ? link_new(&loop->uv, path, events_of(loop, &events)) : NULL;
    if (path && !loop->link) {
        goto fail_link;
    }
    uv_timer_init(&loop->uv, &loop->patience);
    uv_timer_init(&loop->uv, &loop->last_words);
    loop->patience.data = loop;
    loop->last_words.data = loop;
    return loop;
fail_link:
    uv_loop_close(&loop->uv);
fail_loop:
    free(loop);
    return NULL;
}

void
loop_free(struct loop *loop)
{
    if (!loop) {
        return;
    }
    link_free(loop->link);
    cluster_free(loop->cluster);
    scout_free(loop->scout);
    uv_close((uv_handle_t *)&loop->patience, NULL);
    uv_close((uv_handle_t *)&loop->last_words, NULL);
    // every handle goes in a turn of its own; a stop that came late ends one early
    while (uv_loop_close(&loop->uv) == UV_EBUSY) {
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    }
    free(loop);
}

bool
loop_send(void *context, const struct request *request)
{
    struct loop *loop = context;

    if (loop->company && loop->shown) {
        return company_send(loop->company, loop->shown, request);
    }
    return loop->link && link_send(loop->link, request);
}

/*
 * Other processes.
 */

static void
on_fleet(void *context)
{
    struct loop *loop = context;

    if (loop->app) {
        react(loop, app_fleet_changed(loop->app, loop_now_ms()));
    }
}

bool
loop_fleet(struct loop *loop, struct fleet *fleet, scout_finder *find)
{
    loop->fleet = fleet;
    loop->scout = scout_new(&loop->uv, fleet, find, on_fleet, loop);
    return loop->scout != NULL;
}

// What is watched now is left.
static void
leave(struct loop *loop)
{
    app_fleet_merged(loop->app, NULL);
    cluster_free(loop->cluster);
    link_free(loop->link);
    loop->cluster = NULL;
    loop->link = NULL;
}

static bool
watch_sum(struct loop *loop, uint64_t pid)
{
    struct link_events events;

    scout_start(loop->scout);
    loop->cluster =
        cluster_new(&loop->uv, loop->scout, loop->fleet, pid, events_of(loop, &events));
    if (!loop->cluster) {
        return false;
    }
    app_fleet_merged(loop->app, cluster_merge(loop->cluster));
    cluster_start(loop->cluster);
    return true;
}

static bool
watch_one(struct loop *loop)
{
    struct link_events events;

    loop->path = loop->target.socket;
    loop->link = link_new(&loop->uv, loop->path, events_of(loop, &events));
    if (!loop->link) {
        return false;
    }
    link_start(loop->link);
    return true;
}

// The core chose another process, or asks to look for all of them.
static void
on_outside(void *context, unsigned reactions)
{
    struct loop *loop = context;

    if (!loop->scout) {
        return;
    }
    scout_start(loop->scout);
    if (reactions & REACT_TARGET) {
        leave(loop);
        loop->shown = 0;
        loop->chosen = true;
        loop->target = *app_target(loop->app);
        if (!(loop->target.merged ? watch_sum(loop, loop->target.pid)
                                  : watch_one(loop))) {
            react(loop, app_fleet_failed(loop->app, "out of memory", loop_now_ms()));
        }
    }
}

static enum loop_end
run(struct loop *loop, struct app *app)
{
    loop->app = app;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    loop->progress = NULL;
    loop->changed = NULL;
    return loop->end;
}

static void
until_hello(struct loop *loop, const struct message *message)
{
    if (message->kind == MESSAGE_HELLO) {
        finish(loop, LOOP_DONE, "");
    }
}

enum loop_end
loop_connect(struct loop *loop, struct app *app)
{
    loop->app = app;
    loop->progress = until_hello;
    // it may fail at once; uv_stop() then holds for the run to come
    link_start(loop->link);
    return run(loop, app);
}

static void
on_nobody(uv_timer_t *timer)
{
    finish(timer->data, LOOP_UNREACHABLE,
           "no such process under the probe, and none whose parent it is");
}

enum loop_end
loop_merge(struct loop *loop, struct app *app, uint64_t pid)
{
    loop->app = app;
    loop->progress = until_hello;
    if (!watch_sum(loop, pid)) {
        finish(loop, LOOP_NO_MEMORY, "out of memory");
        return loop->end;
    }
    uv_timer_start(&loop->patience, on_nobody, LOOP_MERGE_MS, 0);
    enum loop_end end = run(loop, app);
    uv_timer_stop(&loop->patience);
    return end;
}

static void
on_impatience(uv_timer_t *timer)
{
    struct loop *loop = timer->data;

    if (loop->counted) {
        finish(loop, LOOP_DONE, "");
    } else {
        finish(loop, LOOP_UNREACHABLE, "it said hello, but sends no counts");
    }
}

static void
until_whole(struct loop *loop, const struct message *message)
{
    if (!loop->counted && message->kind == MESSAGE_SAMPLE && message->sample.key) {
        loop->counted = true;
        uv_timer_start(&loop->patience, on_impatience, LOOP_REST_MS, 0);
    }
    if (loop->counted && loop->ask(loop->context)) {
        finish(loop, LOOP_DONE, "");
    }
}

static void
unless_lost(struct loop *loop, enum link_state state, const char *detail)
{
    if (state != LINK_LIVE) {
        enum link_failure failure =
            loop->link ? link_last_failure(loop->link) : LINK_UNREACHABLE;
        finish(loop, end_of(failure), detail);
    }
}

enum loop_end
loop_fetch(struct loop *loop, struct app *app, bool (*whole)(void *context),
           void *context)
{
    loop->ask = whole;
    loop->context = context;
    loop->progress = until_whole;
    loop->changed = unless_lost;
    uv_timer_start(&loop->patience, on_impatience, LOOP_COUNTS_MS, 0);
    enum loop_end end = run(loop, app);
    uv_timer_stop(&loop->patience);
    return end;
}

static void
at_each_sample(struct loop *loop, const struct message *message)
{
    if (message->kind == MESSAGE_SAMPLE && !loop->ask(loop->context)) {
        finish(loop, LOOP_DONE, "");
    }
}

static void
until_gone(struct loop *loop, enum link_state state, const char *detail)
{
    if (state == LINK_GONE) {
        finish(loop, LOOP_DONE, "");
        snprintf(loop->error, sizeof(loop->error), "the program is gone: %s.", detail);
    }
}

enum loop_end
loop_follow(struct loop *loop, struct app *app, bool (*each)(void *context),
            void *context)
{
    loop->ask = each;
    loop->context = context;
    loop->progress = at_each_sample;
    loop->changed = until_gone;
    return run(loop, app);
}

static void
while_going(struct loop *loop, const struct message *message)
{
    (void)message;
    if (!loop->ask(loop->context)) {
        finish(loop, LOOP_DONE, "");
    }
}

static void
on_time(uv_timer_t *timer)
{
    finish(timer->data, LOOP_DONE, "");
}

static void
on_told_to_end(uv_signal_t *handle, int number)
{
    (void)number;
    finish(handle->data, LOOP_DONE, "");
}

enum loop_end
loop_stay(struct loop *loop, struct app *app, uint64_t duration_ms, bool until_gone_too,
          bool (*going)(void *context), void *context)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    uv_signal_t handles[2];

    loop->ask = going;
    loop->context = context;
    loop->progress = while_going;
    loop->changed = until_gone_too ? until_gone : NULL;
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&loop->uv, &handles[i]);
        handles[i].data = loop;
        uv_signal_start(&handles[i], on_told_to_end, numbers[i]);
    }
    if (duration_ms > 0) {
        uv_timer_start(&loop->patience, on_time, duration_ms, 0);
    }
    enum loop_end end = run(loop, app);
    uv_timer_stop(&loop->patience);
    for (int i = 0; i < 2; i++) {
        uv_close((uv_handle_t *)&handles[i], NULL);
    }
    uv_run(&loop->uv, UV_RUN_NOWAIT); // the handles are of this function
    return end;
}

/*
 * A command, and the probes in its processes.
 */

static void
from_company(void *context, long pid, const struct message *message)
{
    struct loop *loop = context;

    loop->command->events.message(loop->command->events.context, pid, message);
    if (pid != loop->shown || !loop->app) {
        return;
    }
    if (message->kind == MESSAGE_HELLO) { // it may be shown only since now
        app_link(loop->app, LINK_LIVE, "", loop_now_ms());
    }
    react(loop, app_message(loop->app, message, loop_now_ms()));
}

static void
company_state(void *context, long pid, enum link_state state, const char *detail)
{
    struct loop *loop = context;

    if (pid == loop->shown && loop->app) {
        react(loop, app_link(loop->app, state, detail, loop_now_ms()));
    }
}

static void
company_left(void *context, long pid, const char *how)
{
    struct loop *loop = context;

    company_state(loop, pid, LINK_GONE, how);
    loop->command->events.left(loop->command->events.context, pid, how);
}

static void
company_failed(void *context, long pid, const char *why)
{
    const struct loop *loop = context;

    loop->command->events.failed(loop->command->events.context, pid, why);
}

bool
loop_ask(struct loop *loop, long pid, const struct request *request)
{
    return loop->company && company_send(loop->company, pid, request);
}

void
loop_show(struct loop *loop, long pid)
{
    bool again = loop->shown != 0 && loop->shown != pid;
    struct app_target target = {.pid = (uint64_t)pid};

    if (loop->chosen) {
        return;
    }
    loop->shown = pid;
    if (loop->app) {
        snprintf(target.socket, sizeof(target.socket), "%s/%ld.sock",
                 loop->command->folder, pid);
        app_fleet_target(loop->app, &target);
    }
    if (again) {
        company_again(loop->company, pid);
    }
}

// What probes said last may not be read yet.
static void
on_last_words(uv_timer_t *timer)
{
    struct loop *loop = timer->data;

    if (!company_waits(loop->company) ||
        loop_now_ms() >= loop->ended_ms + LOOP_WORDS_MS) {
        uv_timer_stop(timer);
        loop->command->ended(loop->command->events.context);
        if (!loop->watch || !(loop->shown || loop->chosen)) { // nothing to look at
            finish(loop, LOOP_DONE, "");
        } else {
            react(loop, REACT_DRAW);
        }
    }
}

static void
on_child_end(void *context, struct child_end how)
{
    struct loop *loop = context;

    *loop->child_end = how;
    loop->child_ended = true;
    loop->ended_ms = loop_now_ms();
    uv_timer_start(&loop->last_words, on_last_words, 0, LOOP_LOOK_MS);
}

static void
on_child_output(void *context, const char *bytes, size_t length)
{
    struct loop *loop = context;

    loop->command->output(loop->command->events.context, bytes, length);
    if (loop->watch) {
        watch_react(loop->watch, app_command_wrote(loop->app));
    }
}

static void
on_too_long(uv_timer_t *timer)
{
    struct loop *loop = timer->data;

    loop->command->late(loop->command->events.context);
    // in a group of ours it has nobody but itself
    kill((pid_t)child_pid(loop->child), SIGTERM);
}

static bool
start_command(struct loop *loop, const struct loop_command *command,
              struct child_end *how)
{
    const struct child_events events = {on_child_end, on_child_output, loop};

    loop->command = command;
    loop->child_end = how;
    loop->child_ended = false;
    loop->child = child_start(&loop->uv, command->command, &events, how);
    if (loop->child && command->duration_ms > 0) {
        uv_timer_start(&loop->patience, on_too_long, command->duration_ms, 0);
    }
    return loop->child != NULL;
}

// Somebody who cannot wait for the end.
static void
on_impatient(uv_signal_t *handle, int number)
{
    const struct loop *loop = handle->data;

    (void)number;
    child_signal(loop->child, SIGKILL);
}

// After the viewer was closed.
static void
part(struct loop *loop)
{
    int number = loop->command->part(loop->command->events.context, loop->signal);
    uv_signal_t impatience;

    if (number == 0) {
        child_leave(loop->child);
        return;
    }
    uv_signal_init(&loop->uv, &impatience);
    impatience.data = loop;
    uv_signal_start(&impatience, on_impatient, SIGINT);
    child_signal(loop->child, number);
    run(loop, loop->app);
    uv_close((uv_handle_t *)&impatience, NULL);
    uv_run(&loop->uv, UV_RUN_NOWAIT); // the handle is of this function
}

static enum loop_end
watch_command(struct loop *loop)
{
    crash_install();
    loop->watch = watch_open(&loop->uv, loop->app, loop->command->screen);
    if (loop->watch) {
        watch_outside(loop->watch, on_outside, loop);
        run(loop, loop->app);
        loop->signal = watch_signal(loop->watch);
        watch_close(loop->watch);
        loop->watch = NULL;
    }
    if (!loop->child_ended) {
        part(loop);
    }
    return LOOP_DONE;
}

static void
leave_command(struct loop *loop)
{
    uv_timer_stop(&loop->patience);
    uv_timer_stop(&loop->last_words);
    child_free(loop->child);
    company_free(loop->company);
    loop->child = NULL;
    loop->company = NULL;
    loop->command = NULL;
    uv_run(&loop->uv, UV_RUN_NOWAIT);
}

enum loop_end
loop_accompany(struct loop *loop, struct app *app, const struct loop_command *command,
               struct child_end *how)
{
    const struct company_events events = {from_company, company_state, company_left,
                                          company_failed, loop};
    enum loop_end end = LOOP_NO_MEMORY;

    loop->app = app;
    // before the command: nothing it does may go by unseen
    loop->company = company_new(&loop->uv, command->folder, &events);
    if (!loop->company || !start_command(loop, command, how)) {
        end = loop->company ? LOOP_UNREACHABLE : LOOP_NO_MEMORY;
    } else {
        end = command->screen ? watch_command(loop) : run(loop, app);
    }
    leave_command(loop);
    return end;
}

enum loop_end
loop_watch(struct loop *loop, struct app *app, const struct screen_options *options)
{
    crash_install();
    loop->watch = watch_open(&loop->uv, app, options);
    if (!loop->watch) {
        snprintf(loop->error, sizeof(loop->error),
                 "cannot open the viewer: the terminal refused.");
        return LOOP_NO_TERMINAL;
    }
    watch_outside(loop->watch, on_outside, loop);
    if (loop->scout && app_fleet_shown(app)) {
        loop->app = app;
        scout_start(loop->scout);
    }
    run(loop, app);
    loop->signal = watch_signal(loop->watch);
    if (loop->signal) {
        loop->end = LOOP_SIGNALLED;
    } else if (watch_failed(loop->watch)) {
        finish(loop, LOOP_NO_MEMORY, "out of memory");
    }
    watch_close(loop->watch);
    loop->watch = NULL;
    return loop->end;
}

const char *
loop_error(const struct loop *loop)
{
    return loop->error;
}

int
loop_signal(const struct loop *loop)
{
    return loop->signal;
}
