/*
 * memtop check -- COMMAND: every Ruby process of the command is judged by itself, from
 * the end of its warm-up to its end. Both moments follow a collection of garbage, and
 * at both the probe holds the program until they are read (probe/core/attend.h), so
 * that figures are exact for a program of any length.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tui/judge.h"
#include "tui/launch.h"
#include "tui/loop/loop.h"
#include "tui/run.h"

#define OPEN_MAX_CLASSES 8 // trees that a probe keeps open for a viewer
#define CANNOT_START 126
#define TERMINATED (128 + 15) // by the signal we send when --duration is over

// What a process goes through.
enum stage {
    STAGE_WARMING,
    STAGE_COLLECTING, // garbage, before the first moment
    STAGE_WEIGHING,   // bytes are wanted as well
    STAGE_READY,      // the next sample is the first moment
    STAGE_JUDGED,     // it was taken
};

struct subject {
    long pid;
    uint64_t since_ms;   // its hello
    uint64_t started_us; // by the probe's clock; another one is another program
    enum stage stage;
    uint64_t request;       // that is waited for
    struct model *model;    // owned
    struct model *baseline; // owned; NULL before the first moment
    class_id open[OPEN_MAX_CLASSES];
};

struct trial {
    const struct cli *cli;
    struct judge judge;
    struct launch launch;
    struct loop *loop;         // owned
    struct subject **subjects; // owned
    size_t count;
    struct child_end how;
    uint64_t request; // of the last one
    bool late;        // --duration is over: we ended it
    bool no_memory;
};

static void
subject_free(struct subject *subject)
{
    if (subject) {
        model_free(subject->model);
        model_free(subject->baseline);
        free(subject);
    }
}

static struct subject *
find(const struct trial *trial, long pid)
{
    for (size_t i = trial->count; i-- > 0;) {
        if (trial->subjects[i]->pid == pid) {
            return trial->subjects[i];
        }
    }
    return NULL;
}

static struct subject *
add(struct trial *trial, long pid)
{
    struct subject **more =
        realloc((void *)trial->subjects, (trial->count + 1) * sizeof(struct subject *));
    struct subject *subject = calloc(1, sizeof(*subject));
    trial->subjects = more ? more : trial->subjects;
    if (subject) {
        subject->pid = pid;
        subject->model = model_new();
    }
    if (!more || !subject || !subject->model) {
        trial->no_memory = true;
        subject_free(subject);
        return NULL;
    }
    trial->subjects[trial->count++] = subject;
    return subject;
}

/* Requests. */

static bool
ask(struct trial *trial, const struct subject *subject, enum request_action action,
    uint64_t argument)
{
    const struct request request = {++trial->request, (uint64_t)action, argument};
    return loop_ask(trial->loop, subject->pid, &request);
}

// What cannot be asked for is done without.
static void
ask_and_wait(struct trial *trial, struct subject *subject, enum request_action action,
             enum stage stage)
{
    subject->stage = ask(trial, subject, action, 0) ? stage : STAGE_READY;
    subject->request = trial->request;
}

static class_id
id_of(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (!class->gone && class->listed && strcmp(class->name, name) == 0) {
            return class->id;
        }
    }
    return 0;
}

static bool
is_open(const struct subject *subject, class_id id)
{
    for (size_t i = 0; i < OPEN_MAX_CLASSES; i++) {
        if (subject->open[i] == id) {
            return true;
        }
    }
    return false;
}

static void
open_class(struct trial *trial, struct subject *subject, class_id id)
{
    for (size_t i = 0; i < OPEN_MAX_CLASSES; i++) {
        if (subject->open[i] == 0 && ask(trial, subject, REQUEST_OPEN, id)) {
            subject->open[i] = id;
            return;
        }
    }
}

// Call paths of who may become a culprit, while they can be had.
static void
open_suspects(struct trial *trial, struct subject *subject)
{
    const char *names[OPEN_MAX_CLASSES];
    size_t count = judge_suspects(&trial->judge, subject->baseline, subject->model, names,
                                  OPEN_MAX_CLASSES);
    for (size_t i = 0; i < count; i++) {
        class_id id = id_of(subject->model, names[i]);
        if (id && !is_open(subject, id)) {
            open_class(trial, subject, id);
        }
    }
}

/* What a process says. */

static void
take_hello(struct subject *subject, const struct hello *hello)
{
    if (subject->started_us == hello->started_us) {
        return;
    }
    model_free(subject->baseline);
    subject->baseline = NULL;
    subject->since_ms = loop_now_ms();
    subject->started_us = hello->started_us;
    subject->stage = STAGE_WARMING;
    memset(subject->open, 0, sizeof(subject->open));
}

static void
take_result(struct trial *trial, struct subject *subject, const struct result *result)
{
    if (result->id != subject->request) {
        return;
    }
    if (subject->stage == STAGE_COLLECTING && judge_weighs(&trial->judge)) {
        ask_and_wait(trial, subject, REQUEST_CENSUS, STAGE_WEIGHING);
    } else if (subject->stage < STAGE_READY) {
        subject->stage = STAGE_READY;
    }
}

// Without a warm-up the first moment is before the program's first line, where the
// probe collected by itself.
static void
take_sample(struct trial *trial, struct subject *subject)
{
    uint64_t warmup_ms = trial->cli->warmup_us / 1000;
    if (subject->stage == STAGE_WARMING && warmup_ms == 0) {
        subject->stage = STAGE_READY;
    }
    if (subject->stage == STAGE_READY) {
        subject->baseline = model_copy(subject->model);
        subject->stage = STAGE_JUDGED;
        trial->no_memory |= !subject->baseline;
        if (warmup_ms > 0) {
            fprintf(stderr, "memtop: process %ld: its warm-up is over.\n", subject->pid);
        }
    }
    if (subject->stage == STAGE_WARMING &&
        loop_now_ms() >= subject->since_ms + warmup_ms) {
        ask_and_wait(trial, subject, REQUEST_GC, STAGE_COLLECTING);
    }
    open_suspects(trial, subject);
}

static void
on_message(void *context, long pid, const struct message *message)
{
    struct trial *trial = context;
    struct subject *subject = find(trial, pid);
    if (!subject && !(subject = add(trial, pid))) {
        return;
    }
    if (message->kind == MESSAGE_HELLO) {
        take_hello(subject, &message->hello);
    }
    trial->no_memory |= !model_apply(subject->model, message);
    if (message->kind == MESSAGE_SAMPLE) {
        take_sample(trial, subject);
    } else if (message->kind == MESSAGE_RESULT) {
        take_result(trial, subject, &message->result);
    }
}

static void
on_left(void *context, long pid, const char *how)
{
    (void)context;
    (void)pid;
    (void)how; // what it left behind is judged at the end
}

static void
on_failed(void *context, long pid, const char *why)
{
    (void)context;
    fprintf(stderr, "memtop: process %ld cannot be judged: %s.\n", pid, why);
}

static void
on_output(void *context, const char *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    (void)length;
}

static void
on_ended(void *context)
{
    (void)context;
}

static void
on_late(void *context)
{
    struct trial *trial = context;
    trial->late = true;
}

/* The verdict. */

static const char *
command_of(const struct subject *subject, char words[81])
{
    snprintf(words, 81, "%s", model_hello(subject->model)->command.bytes);
    return words;
}

static enum cli_status
judge_subject(const struct trial *trial, const struct subject *subject, FILE *out)
{
    char words[81];
    if (!trial->cli->json) {
        fprintf(out, "process %ld: %s\n", subject->pid, command_of(subject, words));
    }
    return judge_print(&trial->judge, subject->baseline, subject->model, trial->cli->json,
                       out);
}

// Processes whose warm-up was never over.
static size_t
tell_unjudged(const struct trial *trial)
{
    size_t short_lived = 0;
    for (size_t i = 0; i < trial->count; i++) {
        short_lived += !trial->subjects[i]->baseline;
    }
    if (short_lived > 0 && short_lived < trial->count) {
        fprintf(stderr, "memtop: %zu more %s not judged: ended before the warm-up did.\n",
                short_lived, short_lived == 1 ? "process is" : "processes are");
    }
    return short_lived;
}

static enum cli_status
judge_all(const struct trial *trial, FILE *out)
{
    enum cli_status worst = STATUS_DONE;
    if (trial->no_memory) {
        fputs("memtop: cannot judge: memory ran out.\n", stderr);
        return STATUS_BROKEN;
    }
    if (trial->count == 0) {
        fputs("memtop: cannot judge: no Ruby program under the probe was seen. Is it a "
              "Ruby program, and does it keep its environment (RUBYOPT)?\n",
              stderr);
        return STATUS_NO_PROBE;
    }
    if (tell_unjudged(trial) == trial->count) {
        fprintf(stderr,
                "memtop: cannot judge: the program ended before its warm-up of %g s was "
                "over. Give it more to do, or a shorter --warmup.\n",
                (double)trial->cli->warmup_us / 1e6);
        return STATUS_CHECK_FAILED;
    }
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->subjects[i]->baseline) {
            enum cli_status status = judge_subject(trial, trial->subjects[i], out);
            worst = status > worst ? status : worst;
        }
    }
    return worst;
}

static enum cli_status
judge_into_file(const struct trial *trial)
{
    const char *path = trial->cli->output;
    if (!path) {
        return judge_all(trial, stderr);
    }
    FILE *out = fopen(path, "wbx");
    if (!out) {
        fprintf(stderr, "memtop: cannot write %s: %s.\n", path, strerror(errno));
        return STATUS_BROKEN;
    }
    enum cli_status status = judge_all(trial, out);
    if (fclose(out) != 0) {
        fprintf(stderr, "memtop: cannot write %s: %s.\n", path, strerror(errno));
        return STATUS_BROKEN;
    }
    return status;
}

// A failure of the command's own goes before ours: what failed ended early, maybe
// before it leaked.
static int
conclude(const struct trial *trial)
{
    const struct child_end *how = &trial->how;
    bool ours = trial->late && (how->signal == 15 || how->status == TERMINATED);
    int judged = (int)judge_into_file(trial);
    if (how->status == 0 || ours) {
        return judged;
    }
    if (how->signal) {
        fprintf(stderr, "memtop: the command was ended by signal %d (%s).\n", how->signal,
                strsignal(how->signal));
    } else {
        fprintf(stderr, "memtop: the command failed with status %d.\n", how->status);
    }
    return how->status;
}

/* The command. */

// The classes that rules name have their stacks taken from the start; where a rule is
// about whatever class, all have. What somebody set already holds.
static bool
set_trace(struct trial *trial)
{
    const char *names[64];
    char list[2048] = "";
    size_t length = 0;
    if (launch_get(&trial->launch, "MEMTOP_MODE")) {
        return true;
    }
    bool good = launch_set(&trial->launch, "MEMTOP_MODE", "trace");
    if (!judge_names(&trial->judge) || launch_get(&trial->launch, "MEMTOP_TRACE")) {
        return good;
    }
    size_t count = judge_suspects(&trial->judge, NULL, NULL, names, 64);
    for (size_t i = 0; i < count; i++) {
        bool plain = strcspn(names[i], "\\\t\r\n;'\"#()<>, ") == strlen(names[i]);
        if (plain && length + strlen(names[i]) + 2 < sizeof(list)) {
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
                                       length ? "," : "", names[i]);
        }
    }
    // no name that can be given: none is traced
    return good && (length ? launch_set(&trial->launch, "MEMTOP_TRACE", list)
                           : launch_set(&trial->launch, "MEMTOP_MODE", "count"));
}

static int
run(struct trial *trial)
{
    const struct child_command child = {
        .words = trial->cli->command,
        .environment = (const char *const *)trial->launch.environment,
        .streams = COMMAND_OURS,
    };
    const struct loop_command command = {
        .command = &child,
        .folder = trial->launch.folder,
        .duration_ms = trial->cli->duration_us / 1000,
        .events = {on_message, NULL, on_left, on_failed, trial},
        .output = on_output,
        .ended = on_ended,
        .late = on_late,
    };
    switch (loop_accompany(trial->loop, NULL, &command, &trial->how)) {
    case LOOP_DONE:
        return conclude(trial);
    case LOOP_UNREACHABLE:
        fprintf(stderr, "memtop: cannot run %s: %s.\n", child.words[0], trial->how.error);
        return trial->how.status;
    default:
        fputs("memtop: out of memory.\n", stderr);
        return STATUS_BROKEN;
    }
}

int
run_check(const struct cli *cli)
{
    struct trial trial = {.cli = cli};
    int status = STATUS_BROKEN;
    if (!judge_init(&trial.judge, cli->rules)) {
        return STATUS_WRONG_USE;
    }
    trial.loop = loop_new("");
    if (launch_init(&trial.launch, true) && trial.loop && set_trace(&trial)) {
        status = run(&trial);
    }
    loop_free(trial.loop);
    launch_destroy(&trial.launch);
    judge_destroy(&trial.judge);
    for (size_t i = 0; i < trial.count; i++) {
        subject_free(trial.subjects[i]);
    }
    free((void *)trial.subjects);
    return status;
}
