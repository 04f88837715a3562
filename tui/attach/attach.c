#include "tui/attach/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/attach/inject.h"
#include "tui/attach/gdb.h"
#include "tui/attach/library.h"
#include "tui/attach/meeting.h"
#include "tui/attach/point.h"

#define TRIES_MAX 60
#define NAP_LEAST_MS 3
#define BUSY_REST_MS 500
#define GDB_PATIENCE_MS 60000
#define ANSWER_BYTES (64u << 10)

static const char flags[] = "0x1002"; // RTLD_NOW | RTLD_NODELETE

struct work {
    struct attach *attach;
    struct library library;
    struct meeting meeting;
    struct gdb gdb;
    char *answer; // owned, ANSWER_BYTES
};

static bool
say(struct work *work, const char *what, const char *detail)
{
    snprintf(work->attach->why, sizeof(work->attach->why), "%s%s%.*s", what,
             *detail ? ": " : ".", 1024, detail);
    return false;
}

static bool
lost(struct work *work)
{
    return say(work,
               "gdb does not answer any more. It lets the process go as soon as it can; "
               "try again",
               "");
}

static enum gdb_answer
ask(struct work *work, const char *command)
{
    return gdb_ask(&work->gdb, command, work->answer, ANSWER_BYTES, GDB_PATIENCE_MS);
}

/* Stop it at a harmless place. */

static bool
stop_once(struct work *work, bool *safe)
{
    char command[64];
    snprintf(command, sizeof(command), "-target-attach %ld", work->attach->pid);
    enum gdb_answer how = ask(work, command);
    if (how == GDB_REFUSED) {
        return say(work, "gdb cannot attach to the process", work->gdb.words);
    }
    if (how == GDB_LOST || ask(work, "-thread-select 1") != GDB_DONE ||
        ask(work, "-stack-list-frames 0 120") != GDB_DONE) {
        return lost(work);
    }
    *safe = point_is_safe(work->answer, point_in_system_call(work->attach->pid));
    return true;
}

// Only a moment at which the thread is elsewhere will do, so it is let go and stopped
// again.
static bool
stop(struct work *work)
{
    bool safe = false;
    for (int try = 0; try < TRIES_MAX; try++) {
        if (!stop_once(work, &safe)) {
            return false;
        }
        if (safe) {
            return true;
        }
        if (ask(work, "-target-detach") != GDB_DONE) {
            return lost(work);
        }
        meeting_rest(&work->meeting, NAP_LEAST_MS + try * 7 % 50);
        if (work->meeting.interrupted) {
            return say(work, "interrupted", "");
        }
    }
    return say(work,
               "the program's main thread is always inside the memory allocator or the "
               "loader of libraries, where nothing can be loaded. Nothing was changed; "
               "try again",
               "");
}

/* The calls. */

static void
quote(const char *text, char *out, size_t size)
{
    size_t length = 0;
    for (; *text && length + 3 < size; text++) {
        if (*text == '"' || *text == '\\') {
            out[length++] = '\\';
        }
        out[length++] = *text;
    }
    out[length] = '\0';
}

// Have gdb reckon an expression of C. MI wants it quoted.
static enum gdb_answer
evaluate(struct work *work, const char *expression)
{
    char command[4 * PATH_MAX];
    char quoted[3 * PATH_MAX];
    quote(expression, quoted, sizeof(quoted));
    snprintf(command, sizeof(command), "-data-evaluate-expression \"%s\"", quoted);
    return ask(work, command);
}

// The number in: value="0x55…", also behind a type in parentheses.
static unsigned long long
answered_number(const char *answer)
{
    const char *text = strstr(answer, "value=\"");
    text = text ? text + 7 : "";
    const char *end = *text == '(' ? strchr(text, ')') : NULL;
    return strtoull(end ? end + 1 : text, NULL, 0);
}

// The words in: value="0x55… \"cannot open …\"".
static void
answered_words(const char *answer, char *words, size_t size)
{
    const char *text = strstr(answer, "\\\"");
    snprintf(words, size, "%s", text ? text + 2 : answer);
    char *end = strstr(words, "\\\"");
    if (end) {
        *end = '\0';
    }
}

static bool
refused_call(struct work *work, enum gdb_answer how, const char *what)
{
    return how == GDB_LOST ? lost(work) : say(work, what, work->gdb.words);
}

static bool
say_load_error(struct work *work)
{
    char words[512] = "";
    if (evaluate(work, "((char *(*)(void))dlerror)()") == GDB_DONE) {
        answered_words(work->answer, words, sizeof(words));
    }
    return say(work, "the process cannot load a part of memtop", words);
}

static bool
call_inject(struct work *work, unsigned long long function, int *status)
{
    char expression[3 * PATH_MAX];
    char folder[PATH_MAX];
    char library[PATH_MAX];
    quote(work->meeting.folder, folder, sizeof(folder));
    quote(work->library.folder, library, sizeof(library));
    snprintf(expression, sizeof(expression),
             "((int (*)(const char *, const char *))%#llx)(\"%s\", \"%s\")", function,
             folder, library);
    enum gdb_answer how = evaluate(work, expression);
    *status = (int)answered_number(work->answer);
    return how == GDB_DONE ||
           refused_call(work, how, "gdb cannot call memtop's function");
}

static bool
load_and_call(struct work *work, int *status)
{
    char expression[2 * PATH_MAX];
    char library[PATH_MAX];
    quote(work->library.folder, library, sizeof(library));
    snprintf(expression, sizeof(expression),
             "((void *(*)(const char *, int))dlopen)(\"%s/memtop/inject.so\", %s)",
             library, flags);
    enum gdb_answer how = evaluate(work, expression);
    if (how != GDB_DONE) {
        return refused_call(work, how, "gdb cannot load a library into the process");
    }
    unsigned long long handle = answered_number(work->answer);
    if (!handle) {
        return say_load_error(work);
    }
    snprintf(expression, sizeof(expression),
             "((void *(*)(void *, const char *))dlsym)((void *)%#llx, \"memtop_inject\")",
             handle);
    how = evaluate(work, expression);
    unsigned long long function = how == GDB_DONE ? answered_number(work->answer) : 0;
    return function ? call_inject(work, function, status)
                    : refused_call(work, how, "gdb does not find what it has loaded");
}

static bool
take_status(struct work *work, int status)
{
    static const char *const words[] = {
        [INJECT_STARTED] = "",
        [INJECT_BUSY] = "another memtop is attaching to this process. Wait for it",
        [INJECT_PIPE] = "the process cannot open memtop's pipe. It may be forbidden to "
                        "open files in the temporary folder; TMPDIR names another one",
        [INJECT_MISSING] = "the process's Ruby lacks functions that attaching takes. "
                           "Start the program with the probe in it: ruby -r "
                           "memtop/auto app.rb",
        [INJECT_ASLEEP] =
            "Ruby is not running in the process: it has just begun, is about "
            "to end, or has none of its signal handlers. Try again",
        [INJECT_NO_THREAD] = "the process can have no more threads. Raise its limit "
                             "(ulimit -u, systemd's TasksMax)",
    };
    if (status < 0 || (size_t)status >= sizeof(words) / sizeof(*words)) {
        return say(work, "memtop's function in the process went wrong", "");
    }
    return status == INJECT_STARTED || say(work, words[status], "");
}

static void
prepare_gdb(struct work *work)
{
    static const char *const commands[] = {
        "-gdb-set confirm off",
        "-gdb-set language c",
        "-gdb-set unwindonsignal on",
        // the program's signals are the program's
        "-interpreter-exec console \"handle all nostop noprint pass\"",
    };
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        ask(work, commands[i]);
    }
}

static bool
inject_once(struct work *work, int *status)
{
    char path[PATH_MAX];
    if (!gdb_find(path, sizeof(path)) ||
        !gdb_start(&work->gdb, path, work->attach->why, sizeof(work->attach->why))) {
        return false;
    }
    prepare_gdb(work);
    bool called = stop(work) && load_and_call(work, status);
    char ignored[1];
    gdb_ask(&work->gdb, "-target-detach", ignored, sizeof(ignored), GDB_PATIENCE_MS);
    gdb_end(&work->gdb);
    return called;
}

// Another memtop, or one that gave up, may still be at it.
static bool
inject(struct work *work)
{
    int tries = (int)(work->attach->patience_s * 1000 / BUSY_REST_MS) + 1;
    int status = INJECT_BUSY;
    while (status == INJECT_BUSY && tries-- > 0 && !work->meeting.interrupted) {
        if (!inject_once(work, &status)) {
            return false;
        }
        if (status == INJECT_BUSY) {
            meeting_rest(&work->meeting, BUSY_REST_MS);
        }
    }
    return take_status(work, status);
}

/* What the process says then. */

static enum attach_end
take_end(struct work *work)
{
    struct attach *attach = work->attach;
    const struct meeting *meeting = &work->meeting;
    switch (meeting->stage) {
    case MEETING_STARTED:
    case MEETING_ALREADY:
        if (strlen(meeting->words) >= sizeof(attach->socket)) {
            say(work, "the probe has a socket that cannot be", meeting->words);
            return ATTACH_REFUSED;
        }
        strcpy(attach->socket, meeting->words);
        return meeting->stage == MEETING_STARTED ? ATTACH_STARTED : ATTACH_ALREADY;
    case MEETING_FAILED:
        say(work, "the probe was not started", meeting->words);
        return ATTACH_REFUSED;
    case MEETING_GONE:
        say(work, "the process ended meanwhile", "");
        return ATTACH_GONE;
    default:
        break;
    }
    if (meeting->interrupted) {
        say(work, "interrupted", "");
    } else if (meeting->stage == MEETING_RUNNING) {
        say(work,
            "the probe is being loaded, but that does not end. It may still start: "
            "look with memtop",
            "");
    } else {
        snprintf(attach->why, sizeof(attach->why),
                 "process %ld did not come to a point where Ruby runs jobs within %g s: "
                 "one call of C code takes so long. Nothing was changed.\n"
                 "Wait longer: memtop attach %ld --wait 10m",
                 attach->pid, attach->patience_s, attach->pid);
    }
    return ATTACH_REFUSED;
}

enum attach_end
attach_run(struct attach *attach)
{
    struct work work = {.attach = attach};
    struct facts facts;
    enum attach_end end = attach_check(attach, &facts);
    if (end != ATTACH_STARTED) {
        return end;
    }
    library_find(&work.library);
    end = ATTACH_REFUSED;
    work.answer = malloc(ANSWER_BYTES);
    if (!work.answer || !meeting_open(&work.meeting, &facts, attach->settings)) {
        say(&work, "cannot make a folder to be told in", strerror(errno));
        free(work.answer);
        return end;
    }
    if (inject(&work)) {
        meeting_wait(&work.meeting, attach->patience_s, attach->progress);
        end = take_end(&work);
    }
    free(work.answer);
    meeting_close(&work.meeting); // signals that came are delivered here
    return end;
}
