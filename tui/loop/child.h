/*
 * A command that memtop starts and stays beside.
 *
 * The happy path: it runs with memtop's own input, output and error, in memtop's group
 * of processes, and its end is told. What somebody sends memtop to end it (SIGINT,
 * SIGTERM, SIGHUP, SIGQUIT) or to tell it something (SIGUSR1, SIGUSR2) is passed on, and
 * memtop itself ends when the command has. Or it has a file for its output or a terminal
 * of its own, as large as ours, and a session of its own: then signals are for who asks
 * child_signal().
 *
 * What can go wrong:
 * - it cannot be started: the error is told as a shell would, 126 or 127;
 * - a key such as ^C: the terminal has sent the signal to the whole group, so it is not
 *   sent again (a second ^C means more to many programs than the first);
 * - it ignores the signal: then memtop stays as well;
 * - memtop is killed: the command goes on without it.
 *
 * One at a time: signals are the process's.
 */
#ifndef TUI_LOOP_CHILD_H
#define TUI_LOOP_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "tui/loop/command.h"

struct child;

struct child_events {
    void (*ended)(void *context, struct child_end how);
    // Of COMMAND_TERMINAL: what it writes.
    void (*output)(void *context, const char *bytes, size_t length);
    void *context;
};

// NULL when it cannot be started: `how` then has the error and the status of it.
struct child *child_start(uv_loop_t *loop, const struct child_command *command,
                          const struct child_events *events, struct child_end *how);

long child_pid(const struct child *child);

// Send a signal to all of its group, which it must have of its own.
void child_signal(const struct child *child, int number);

// Nothing is read of its terminal any more; a process of its own keeps the terminal
// open, so that the command can go on. False when that cannot be had.
bool child_leave(struct child *child);

// Free it; its handles go at the next turns of the loop. One that runs is left alone.
// NULL is harmless.
void child_free(struct child *child);

#endif
