/*
 * A command, its processes and how it ended: for those who do not know libuv.
 */
#ifndef TUI_LOOP_COMMAND_H
#define TUI_LOOP_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

#include "protocol/message.h"
#include "tui/view/link.h"

// In the environment of a command: the process that started it and attends to it, for
// the probe (probe/core/attend.h), and to tell its processes by.
#define COMMAND_ATTENDANT "MEMTOP_ATTENDANT"

// What a command has for input, output and error.
enum command_streams {
    COMMAND_OURS,     // those of this process
    COMMAND_FILE,     // nothing, and a file for both
    COMMAND_TERMINAL, // nothing, and a terminal of its own for both
};

struct child_command {
    const char *const *words;       // borrowed, ended by NULL
    const char *const *environment; // borrowed: all of it, ended by NULL
    enum command_streams streams;
    int file; // of COMMAND_FILE: a descriptor, the caller's
};

struct child_end {
    int status;      // as a shell tells it: 128 + the signal that ended it
    int signal;      // 0: none
    char error[128]; // why it could not be started, "" when it was
};

// What is told of the probes of its processes. Each may ask for what is below.
struct company_events {
    void (*message)(void *context, long pid, const struct message *message);
    // The connection to one that has said hello changed. Or NULL.
    void (*state)(void *context, long pid, enum link_state state, const char *detail);
    // One that has said hello has ended; how, in words.
    void (*left)(void *context, long pid, const char *how);
    // No connection can be had to one that lives.
    void (*failed)(void *context, long pid, const char *why);
    void *context;
};

#endif
