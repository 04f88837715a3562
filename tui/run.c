/*
 * memtop run -- COMMAND. In a terminal the viewer is on top, the command has a terminal
 * of its own, and what it writes is kept to be looked at. Without one, nothing stands
 * between the command and its streams; at its end a table is printed.
 *
 * Of several Ruby processes one is shown: the first, until somebody pressed a key
 * another that has twice the objects, and when the shown one ended the one with most;
 * once somebody has chosen in the list of processes, that one alone.
 */
#include "tui/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/app.h"
#include "tui/app_record.h"
#include "tui/app_run.h"
#include "tui/cli/target.h"
#include "tui/export/document.h"
#include "tui/export/table.h"
#include "tui/launch.h"
#include "tui/loop/loop.h"
#include "tui/loop/source.h"
#include "tui/ps.h"
#include "tui/text/scroll.h"

#define OUTPUT_BYTES (4u * 1024 * 1024) // kept of what the command writes
#define TAIL_LINES 20                   // shown again when the viewer is closed

// A Ruby process of the command.
struct process {
    long pid;
    uint64_t live; // objects, COUNT_UNKNOWN before a sample
    bool ended;
    struct model *model; // owned: for the table; NULL where there is a viewer
};

struct ride {
    const struct cli *cli;
    enum theme theme;
    const struct app_options *taste; // borrowed
    bool viewed;                     // there is a terminal
    struct fleet fleet;              // owned: all processes, while somebody looks at them
    struct launch launch;
    struct loop *loop;         // owned
    struct app *app;           // owned: of the viewer, or of a recording
    struct scroll *output;     // owned; NULL when it is not kept
    int file;                  // owned: of --output, -1 for none
    struct process *processes; // owned
    size_t count;
    long shown; // 0 for none
    bool recording;
    bool parted; // the viewer is closed
    struct child_end how;
};

/* Processes. */

static struct process *
find(const struct ride *ride, long pid)
{
    for (size_t i = ride->count; i-- > 0;) {
        if (ride->processes[i].pid == pid) {
            return &ride->processes[i];
        }
    }
    return NULL;
}

static struct process *
add(struct ride *ride, long pid)
{
    struct process *more = realloc(ride->processes, (ride->count + 1) * sizeof(*more));
    if (!more) {
        return NULL;
    }
    ride->processes = more;
    more[ride->count] = (struct process){
        .pid = pid, .live = COUNT_UNKNOWN, .model = ride->app ? NULL : model_new()};
    return &more[ride->count++];
}

static uint64_t
weight(const struct process *process)
{
    return process->live == COUNT_UNKNOWN ? 0 : process->live;
}

static void
show(struct ride *ride, long pid)
{
    ride->shown = pid;
    loop_show(ride->loop, pid);
}

static bool
viewer_is_touched(const struct ride *ride)
{
    return ride->viewed && app_touched(ride->app);
}

// Whether this one should be shown instead.
static void
compare(struct ride *ride, const struct process *process)
{
    const struct process *shown = find(ride, ride->shown);
    bool moves = !viewer_is_touched(ride) && shown && weight(process) / 2 > weight(shown);
    if (shown != process && (!shown || shown->ended || moves)) {
        show(ride, process->pid);
    }
}

// Models of processes that ended are many in a test suite: only the largest is kept.
static void
forget_smaller(struct ride *ride, struct process *ended)
{
    for (size_t i = 0; i < ride->count; i++) {
        struct process *other = &ride->processes[i];
        if (other != ended && other->ended && other->model && ended->model) {
            struct process *smaller = weight(other) < weight(ended) ? other : ended;
            model_free(smaller->model);
            smaller->model = NULL;
        }
    }
}

/* What they say. */

static void
record(struct ride *ride)
{
    const struct writer_options options = {.mode = WRITER_NEW};
    char why[512];
    ride->recording = true;
    if (!app_record_start(ride->app, ride->cli->record, &options, true, why,
                          sizeof(why))) {
        if (ride->viewed) {
            app_say(ride->app, true, why, loop_now_ms());
        } else {
            fprintf(stderr, "memtop: %s.\n", why);
        }
    }
}

static void
on_message(void *context, long pid, const struct message *message)
{
    struct ride *ride = context;
    struct process *process = find(ride, pid);
    if (!process && !(process = add(ride, pid))) {
        return;
    }
    process->ended = false; // the number of one that ended was given again
    if (message->kind == MESSAGE_SAMPLE && message->sample.totals.live != COUNT_UNKNOWN) {
        process->live = message->sample.totals.live;
    }
    if (process->model) {
        model_apply(process->model, message);
    }
    if (ride->app) {
        compare(ride, process);
    }
    // the sample before this message is on the tape
    if (ride->cli->record && !ride->recording && pid == ride->shown &&
        model_sampled(app_model(ride->app))) {
        record(ride);
    }
}

static void
on_left(void *context, long pid, const char *how)
{
    struct ride *ride = context;
    struct process *ended = find(ride, pid);
    const struct process *most = NULL;
    (void)how; // the viewer shows it
    if (!ended) {
        return;
    }
    ended->ended = true;
    forget_smaller(ride, ended);
    for (size_t i = 0; i < ride->count; i++) {
        const struct process *other = &ride->processes[i];
        if (!other->ended && (!most || weight(other) > weight(most))) {
            most = other;
        }
    }
    if (ride->app && most && pid == ride->shown) {
        show(ride, most->pid);
    }
}

static void
on_failed(void *context, long pid, const char *why)
{
    struct ride *ride = context;
    char words[256];
    snprintf(words, sizeof(words), "process %ld cannot be watched: %s", pid, why);
    if (ride->viewed && !ride->parted) {
        app_say(ride->app, true, words, loop_now_ms());
    } else {
        fprintf(stderr, "memtop: %s.\n", words);
    }
}

static void
on_output(void *context, const char *bytes, size_t length)
{
    struct ride *ride = context;
    if (ride->parted) {
        (void)!write(STDOUT_FILENO, bytes, length);
    } else {
        scroll_feed(ride->output, bytes, length);
    }
}

static void
describe(const struct child_end *how, char *words, size_t size)
{
    if (how->signal) {
        snprintf(words, size, "the command was ended by signal %d (%s)", how->signal,
                 strsignal(how->signal));
    } else {
        snprintf(words, size, "the command ended with status %d", how->status);
    }
}

static void
on_ended(void *context)
{
    struct ride *ride = context;
    char words[128];
    if (ride->viewed) {
        describe(&ride->how, words, sizeof(words));
        app_command_ended(ride->app, words);
    }
}

static void
on_late(void *context)
{
    (void)context; // run has no --duration
}

/* The end. */

static void
print_tail(const struct ride *ride)
{
    uint64_t end = ride->output ? scroll_end(ride->output) : 0;
    uint64_t first = ride->output ? scroll_first(ride->output) : 0;
    uint64_t from = end - first > TAIL_LINES ? end - TAIL_LINES : first;
    if (from > 0) {
        fprintf(stderr, "memtop: the last %d of %llu lines that the command wrote:\n",
                TAIL_LINES, (unsigned long long)end);
    }
    for (uint64_t i = from; i < end; i++) {
        printf("%s\n", scroll_line(ride->output, i));
    }
    fflush(stdout);
}

// What it wrote so far is shown before what it will write while it is waited for.
static int
on_part(void *context, int number)
{
    struct ride *ride = context;
    bool leaves = app_parting(ride->app) == APP_PARTING_LEAVE;
    ride->parted = true;
    print_tail(ride);
    if (leaves && !number) {
        fputs("memtop: the command goes on.\n", stderr);
        return 0;
    }
    if (number) {
        return number;
    }
    if (app_parting(ride->app) == APP_PARTING_NONE) {
        return SIGHUP;
    }
    fputs("memtop: asked the command to end (SIGTERM); ^C kills it.\n", stderr);
    return SIGTERM;
}

static const struct process *
largest(const struct ride *ride)
{
    const struct process *best = NULL;
    for (size_t i = 0; i < ride->count; i++) {
        const struct process *process = &ride->processes[i];
        if (process->model && model_sampled(process->model) &&
            (!best || weight(process) > weight(best))) {
            best = process;
        }
    }
    return best;
}

static void
print_table(const struct ride *ride)
{
    const struct process *process = largest(ride);
    const struct model *model = ride->app ? app_model(ride->app)
                                : process ? process->model
                                          : NULL;
    if (!model || !model_sampled(model)) {
        fputs("memtop: no Ruby program under the probe was seen.\n", stderr);
        return;
    }
    fflush(stdout);
    if (ride->cli->json) {
        document_write(model, ride->cli->all, stderr);
    } else {
        table_write(model, ride->cli->all, stderr);
    }
    if (ride->count > 1) {
        fprintf(stderr,
                "memtop: %zu Ruby processes ran; this is the one with most "
                "objects.\n",
                ride->count);
    }
}

static void
end_recording(const struct ride *ride)
{
    char why[512] = "";
    if (!ride->recording) {
        if (ride->cli->record) {
            fputs("memtop: nothing came to be recorded.\n", stderr);
        }
        return;
    }
    if (!app_record_stop(ride->app, why, sizeof(why)) && *why) {
        fprintf(stderr, "memtop: the recording ended early: %s.\n", why);
    } else {
        fprintf(stderr, "memtop: recorded into %s.\n", ride->cli->record);
    }
}

static int
finish(struct ride *ride, enum loop_end end, const char *command)
{
    char words[128];
    if (end == LOOP_UNREACHABLE) {
        fprintf(stderr, "memtop: cannot run %s: %s.\n", command, ride->how.error);
        return ride->how.status;
    }
    if (end != LOOP_DONE) {
        fputs("memtop: out of memory.\n", stderr);
        return STATUS_BROKEN;
    }
    if (ride->viewed && !ride->parted) {
        print_tail(ride);
    }
    if (ride->viewed && app_command_runs(ride->app) &&
        app_parting(ride->app) == APP_PARTING_LEAVE) {
        end_recording(ride);
        return STATUS_DONE;
    }
    end_recording(ride);
    if (!ride->viewed) {
        print_table(ride);
    } else if (ride->how.status != 0) {
        describe(&ride->how, words, sizeof(words));
        fprintf(stderr, "memtop: %s.\n", words);
    }
    return ride->how.status;
}

/* The beginning. */

static int
ride_along(struct ride *ride)
{
    const struct screen_options screen = {
        .in = stdin, .out = stdout, .theme = ride->theme, .mouse = ride->taste->mouse};
    const struct child_command child = {
        .words = ride->cli->command,
        .environment = (const char *const *)ride->launch.environment,
        .streams = ride->file >= 0 ? COMMAND_FILE
                   : ride->viewed  ? COMMAND_TERMINAL
                                   : COMMAND_OURS,
        .file = ride->file,
    };
    const struct loop_command command = {
        .command = &child,
        .folder = ride->launch.folder,
        .events = {on_message, NULL, on_left, on_failed, ride},
        .output = on_output,
        .ended = on_ended,
        .late = on_late,
        .part = on_part,
        .screen = ride->viewed ? &screen : NULL,
    };
    enum loop_end end = loop_accompany(ride->loop, ride->app, &command, &ride->how);
    return finish(ride, end, child.words[0]);
}

// A terminal or a pipe may be there already; a file is not written over.
static bool
open_output(struct ride *ride)
{
    const char *path = ride->cli->output;
    ride->file = -1;
    if (!path) {
        return true;
    }
    ride->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0666);
    if (ride->file < 0 && errno == EEXIST) {
        struct stat status;
        if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
            ride->file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        }
    }
    if (ride->file < 0) {
        fprintf(stderr, "memtop: cannot write the command's output to %s: %s.\n", path,
                strerror(errno));
    }
    return ride->file >= 0;
}

static bool
make_app(struct ride *ride)
{
    struct app_options options = *ride->taste;
    options.source = ride->cli->command[0];
    options.fleet = &ride->fleet;
    options.send = loop_send;
    options.read_source = loop_read_source;
    options.context = ride->loop;
    options.command = true;
    options.output = ride->output;
    if (!ride->viewed && !ride->cli->record) {
        return true;
    }
    ride->app = app_new(&options, loop_now_ms());
    return ride->app != NULL;
}

static bool
prepare(struct ride *ride)
{
    bool keeps = ride->viewed && ride->file < 0;
    ride->loop = loop_new("");
    ride->output = keeps ? scroll_new(OUTPUT_BYTES) : NULL;
    if (!ride->loop || !loop_fleet(ride->loop, &ride->fleet, ps_find) ||
        (keeps && !ride->output) || !make_app(ride)) {
        fputs("memtop: out of memory.\n", stderr);
        return false;
    }
    return true;
}

int
run_command(const struct cli *cli, enum theme theme, const struct app_options *taste)
{
    struct ride ride = {
        .cli = cli, .theme = theme, .taste = taste, .viewed = target_terminal()};
    char why[512];
    int status = STATUS_BROKEN;
    if (ride.viewed && !screen_possible(stdout, why, sizeof(why))) {
        fprintf(stderr, "memtop: %s\n", why);
        return STATUS_WRONG_USE;
    }
    if (open_output(&ride) && launch_init(&ride.launch, false) && prepare(&ride)) {
        status = ride_along(&ride);
    }
    if (ride.file >= 0) {
        close(ride.file);
    }
    loop_free(ride.loop);
    app_free(ride.app);
    fleet_destroy(&ride.fleet);
    scroll_free(ride.output);
    launch_destroy(&ride.launch);
    for (size_t i = 0; i < ride.count; i++) {
        model_free(ride.processes[i].model);
    }
    free(ride.processes);
    return status;
}
