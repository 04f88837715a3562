/*
 * What the end-to-end tests share: the viewer in a terminal, the feeder or a
 * real Ruby program for it to watch.
 */
#ifndef TESTS_E2E_E2E_H
#define TESTS_E2E_E2E_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/program.h"
#include "support/terminal.h"

#define E2E_COLUMNS 118
#define E2E_ROWS 30

// A feeder that listens: its socket.
static inline const char *
e2e_feed(struct program *feeder, const char *classes, const char *how)
{
    const char *path = program_path("peer.sock");
    const char *const arguments[] = {FEEDER, path, classes, how, NULL};

    program_start(feeder, arguments, NULL);
    assert_true(program_says(feeder, "ready"));
    return path;
}

// The viewer on a socket, with options up to a NULL.
static inline struct terminal *
e2e_view_with(const char *socket, const char *const *environment,
              const char *const *options)
{
    const char *arguments[16] = {MEMTOP, "--socket", socket, NULL};

    for (size_t i = 0; options && options[i] && i < 12; i++) {
        arguments[3 + i] = options[i];
    }
    return terminal_start(&(struct terminal_options){.arguments = arguments,
                                                     .environment = environment,
                                                     .rows = E2E_ROWS,
                                                     .columns = E2E_COLUMNS});
}

static inline struct terminal *
e2e_view(const char *socket)
{
    return e2e_view_with(socket, NULL, NULL);
}

// Leave with Q; it must end well.
static inline void
e2e_quit(struct terminal *terminal)
{
    int status;

    terminal_type(terminal, "\033"); // out of whatever is open
    terminal_type(terminal, "Q");
    assert_true(terminal_ends(terminal, &status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    terminal_free(terminal);
}

#endif
