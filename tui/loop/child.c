#include "tui/loop/child.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CANNOT_RUN 126
#define NOT_FOUND 127
#define SIGNALLED 128

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

struct child {
    uv_process_t process;
    uv_async_t wake; // a signal came
    int handles;     // of these two, those libuv still knows
    bool ended;
    void (*tell)(void *context, struct child_end how);
    void *context; // borrowed
    struct sigaction before[NUMBERS];
};

// What the handler may touch.
static struct child *current;
static volatile sig_atomic_t came[NUMBERS];

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

static void
on_exit_of(uv_process_t *process, int64_t status, int number)
{
    struct child *child = process->data;

    child->ended = true;
    child->tell(child->context,
                (struct child_end){.status = number ? SIGNALLED + number : (int)status,
                                   .signal = number});
}

// What somebody had us ignore stays ignored.
static void
catch_signals(struct child *child)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};

    action.sa_sigaction = on_signal;
    sigemptyset(&action.sa_mask);
    current = child;
    for (size_t i = 0; i < NUMBERS; i++) {
        came[i] = 0;
        sigaction(numbers[i], NULL, &child->before[i]);
        if (child->before[i].sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

static int
spawn(uv_loop_t *loop, struct child *child, const struct child_command *command)
{
    uv_stdio_container_t streams[3];
    for (int i = 0; i < 3; i++) {
        streams[i].flags = UV_INHERIT_FD;
        streams[i].data.fd = i;
    }
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = command->words[0],
        .args = (char **)command->words,
        .env = (char **)command->environment,
        .stdio_count = 3,
        .stdio = streams,
    };
    return uv_spawn(loop, &child->process, &options);
}

struct child *
child_start(uv_loop_t *loop, const struct child_command *command,
            void (*ended)(void *context, struct child_end how), void *context,
            struct child_end *how)
{
    struct child *child = calloc(1, sizeof(*child));
    int error = child ? uv_async_init(loop, &child->wake, on_wake) : UV_ENOMEM;

    *how = (struct child_end){.status = CANNOT_RUN};
    if (error != 0) {
        free(child);
        child = NULL;
        goto fail;
    }
    child->tell = ended;
    child->context = context;
    child->wake.data = child;
    child->process.data = child;
    child->handles = 2;
    // before it runs: what comes in between waits for on_wake()
    catch_signals(child);
    error = spawn(loop, child, command);
    if (error == 0) {
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

static void
on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;

    if (--child->handles == 0) {
        free(child);
    }
}

void
child_free(struct child *child)
{
    if (!child) {
        return;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], &child->before[i], NULL);
    }
    current = NULL;
    uv_close((uv_handle_t *)&child->wake, on_closed);
    uv_close((uv_handle_t *)&child->process, on_closed);
}
