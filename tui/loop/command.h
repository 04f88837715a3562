/*
 * A command, and how it ended: for those who do not know libuv.
 */
#ifndef TUI_LOOP_COMMAND_H
#define TUI_LOOP_COMMAND_H

struct child_command {
    const char *const *words;       // borrowed, ended by NULL
    const char *const *environment; // borrowed: all of it, ended by NULL
};

struct child_end {
    int status; // as a shell tells it: 128 + the signal that ended it
    int signal; // 0: none
    char error[128]; // why it could not be started, "" when it was
};

#endif
