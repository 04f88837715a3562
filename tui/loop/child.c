#include "tui/loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CANNOT_RUN 126
#define NOT_FOUND 127
#define SIGNALLED 128
#define READ_BYTES 65536
#define LAST_READS_MAX 256 // of what there is when it has ended
#define KEPT_DESCRIPTOR 3

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

struct child {
    uv_process_t process;
    uv_async_t wake;    // a signal came
    uv_poll_t terminal; // it wrote something
    uv_signal_t size;   // of our own terminal: it changed
    int handles;        // of these, those that libuv still knows
    int master;         // owned: the near end of its terminal, -1 for none
    bool passes;        // signals come to us first
    bool spawned;       // libuv knows the process, if only for having failed
    bool ended;
    bool drained; // nothing more comes from its terminal
    struct child_events events;
    struct sigaction before[NUMBERS];
};

// What the handler may touch.
static struct child *current;
static volatile sig_atomic_t came[NUMBERS];

/* Signals. */

static void
on_signal(int number, siginfo_t *info, void *frame)
{
    (void)frame;
    // from a key the child has it already
    if (info->si_code == SI_KERNEL) {
        return;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i] == number) {
            came[i] = 1;
        }
    }
    uv_async_send(&current->wake);
}

static void
on_wake(uv_async_t *wake)
{
    struct child *child = wake->data;

    for (size_t i = 0; i < NUMBERS; i++) {
        if (came[i]) {
            came[i] = 0;
            if (!child->ended) {
                uv_process_kill(&child->process, numbers[i]);
            }
        }
    }
}

// What somebody had us ignore stays ignored.
static void
catch_signals(struct child *child)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};

    action.sa_sigaction = on_signal;
    sigemptyset(&action.sa_mask);
    current = child;
    child->passes = true;
    for (size_t i = 0; i < NUMBERS; i++) {
        came[i] = 0;
        sigaction(numbers[i], NULL, &child->before[i]);
        if (child->before[i].sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

static void
release_signals(struct child *child)
{
    for (size_t i = 0; child->passes && i < NUMBERS; i++) {
        sigaction(numbers[i], &child->before[i], NULL);
    }
    child->passes = false;
    current = NULL;
}

/* Its terminal. */

// As it would see the one that the viewer has.
static void
set_size(int terminal)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        ioctl(terminal, TIOCSWINSZ, &size);
    }
}

// The far end, or -1.
static int
open_terminal(struct child *child)
{
    char name[128];
    child->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (child->master < 0 || grantpt(child->master) != 0 ||
        unlockpt(child->master) != 0 ||
        ptsname_r(child->master, name, sizeof(name)) != 0) {
        return -1;
    }
    set_size(child->master);
    return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

// The far end is closed, in every process that had it, when reading fails.
static void
stop_reading(struct child *child)
{
    uv_poll_stop(&child->terminal);
    child->drained = true;
}

static bool
read_some(struct child *child)
{
    char bytes[READ_BYTES];
    ssize_t length = read(child->master, bytes, sizeof(bytes));
    if (length > 0) {
        child->events.output(child->events.context, bytes, (size_t)length);
        return true;
    }
    if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
        stop_reading(child);
    }
    return false;
}

static void
on_output(uv_poll_t *poll, int status, int events)
{
    struct child *child = poll->data;
    (void)events;
    if (status < 0) {
        stop_reading(child);
    } else {
        read_some(child);
    }
}

static void
on_resize(uv_signal_t *size, int number)
{
    struct child *child = size->data;
    set_size(child->master);
    // the terminal is no session's: the system tells nobody
    child_signal(child, number);
}

/* Its life. */

// What it wrote before it ended is there to be read; what processes write that it left
// behind is not waited for.
static void
on_exit_of(uv_process_t *process, int64_t status, int number)
{
    struct child *child = process->data;
    const struct child_end how = {.status = number ? SIGNALLED + number : (int)status,
                                  .signal = number};

    child->ended = true;
    for (int i = 0; i < LAST_READS_MAX && !child->drained && read_some(child); i++) {
    }
    child->events.ended(child->events.context, how);
}

static int
spawn(uv_loop_t *loop, struct child *child, const struct child_command *command)
{
    int file =
        command->streams == COMMAND_TERMINAL ? open_terminal(child) : command->file;
    bool ours = command->streams == COMMAND_OURS;
    uv_stdio_container_t streams[3];
    for (int i = 0; i < 3; i++) {
        streams[i].flags = ours || i > 0 ? UV_INHERIT_FD : UV_IGNORE;
        streams[i].data.fd = ours ? i : file;
    }
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = command->words[0],
        .args = (char **)command->words,
        .env = (char **)command->environment,
        .flags = ours ? 0 : UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = streams,
    };
    if (!ours && file < 0) {
        return uv_translate_sys_error(errno);
    }
    child->spawned = true;
    child->handles++;
    int error = uv_spawn(loop, &child->process, &options);
    if (command->streams == COMMAND_TERMINAL) {
        close(file);
    }
    return error;
}

// Without it, the terminal keeps its first size.
static void
follow_size(uv_loop_t *loop, struct child *child)
{
    if (uv_signal_init(loop, &child->size) == 0) {
        child->size.data = child;
        child->handles++;
        uv_signal_start(&child->size, on_resize, SIGWINCH);
        uv_unref((uv_handle_t *)&child->size);
    } else {
        child->size.loop = NULL;
    }
}

static void
listen_to(uv_loop_t *loop, struct child *child)
{
    child->drained = child->master < 0;
    if (child->drained) {
        return;
    }
    child->drained = uv_poll_init(loop, &child->terminal, child->master) != 0;
    if (child->drained) {
        child->terminal.loop = NULL;
    } else {
        child->terminal.data = child;
        child->handles++;
        uv_poll_start(&child->terminal, UV_READABLE, on_output);
        follow_size(loop, child);
    }
}

struct child *
child_start(uv_loop_t *loop, const struct child_command *command,
            const struct child_events *events, struct child_end *how)
{
    struct child *child = calloc(1, sizeof(*child));
    int error = child ? uv_async_init(loop, &child->wake, on_wake) : UV_ENOMEM;

    *how = (struct child_end){.status = CANNOT_RUN};
    if (error != 0) {
        free(child);
        child = NULL;
        goto fail;
    }
    child->master = -1;
    child->events = *events;
    child->wake.data = child;
    child->process.data = child;
    child->handles = 1;
    // before it runs: what comes in between waits for on_wake()
    if (command->streams == COMMAND_OURS) {
        catch_signals(child);
    }
    error = spawn(loop, child, command);
    if (error == 0) {
        listen_to(loop, child);
        return child;
    }
    child->ended = true;
fail:
    snprintf(how->error, sizeof(how->error), "%s", uv_strerror(error));
    how->status = error == UV_ENOENT ? NOT_FOUND : CANNOT_RUN;
    child_free(child);
    return NULL;
}

long
child_pid(const struct child *child)
{
    return child->process.pid;
}

void
child_signal(const struct child *child, int number)
{
    if (!child->ended) {
        kill(-child->process.pid, number);
    }
}

// Connections to probes, above all, must not stay open.
static _Noreturn void
keep_open(int master)
{
    char bytes[4096];
    setsid();
    int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < KEPT_DESCRIPTOR; i++) {
        dup2(nothing, i);
    }
    dup2(master, KEPT_DESCRIPTOR);
    fcntl(KEPT_DESCRIPTOR, F_SETFL, 0);
    close_range(KEPT_DESCRIPTOR + 1, ~0U, 0);
    for (;;) {
        ssize_t length = read(KEPT_DESCRIPTOR, bytes, sizeof(bytes));
        if (length == 0 || (length < 0 && errno != EINTR)) {
            _exit(0);
        }
    }
}

// Only what may be called between fork and exec: the loop's threads are not there.
bool
child_leave(struct child *child)
{
    if (child->master < 0) {
        return true;
    }
    // our terminal may be closed before the keeper has left its session
    struct sigaction before;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGHUP, &ignore, &before);
    pid_t keeper = fork();
    if (keeper == 0) {
        keep_open(child->master);
    }
    sigaction(SIGHUP, &before, NULL);
    return keeper > 0;
}

static void
on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;

    if (--child->handles == 0) {
        if (child->master >= 0) {
            close(child->master);
        }
        free(child);
    }
}

void
child_free(struct child *child)
{
    if (!child) {
        return;
    }
    release_signals(child);
    if (child->terminal.loop) {
        uv_close((uv_handle_t *)&child->terminal, on_closed);
    }
    if (child->size.loop) {
        uv_close((uv_handle_t *)&child->size, on_closed);
    }
    if (child->spawned) {
        uv_close((uv_handle_t *)&child->process, on_closed);
    }
    uv_close((uv_handle_t *)&child->wake, on_closed);
}
