/*
 * A program beside the test: started with pipes, told lines, listened to.
 */
#ifndef TESTS_SUPPORT_PROGRAM_H
#define TESTS_SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define PROGRAM_DEADLINE_S 60

struct program {
    pid_t pid;
    FILE *in;  // owned: its standard input
    FILE *out; // owned: its standard output
    bool ended;
    int status; // as waitpid() gives it, once it has ended
};

// Start it, with "NAME=VALUE" and "NAME" (unset) changes to the environment;
// its standard error is the test's. It dies with the test.
void program_start(struct program *program, const char *const *arguments,
                   const char *const *environment);

// Send a line to its standard input.
void program_tell(struct program *program, const char *line);

// Read its output up to a line that begins so. False when it ended without.
bool program_says(struct program *program, const char *line);

// Wait for its end and return its status.
int program_wait(struct program *program);

// End it at once. A program that never started is harmless.
void program_kill(struct program *program);

// Run it to its end without a terminal; what it wrote is owned by the caller.
struct outcome {
    int status; // its exit status, 128 + n when signal n ended it
    char *out;  // owned
    char *err;  // owned
};

struct outcome program_run(const char *const *arguments, const char *const *environment);
void outcome_destroy(struct outcome *outcome);

// A fresh folder for the test's sockets and files; ended by program_clean().
const char *program_folder(void);
void program_clean(void);

// PATH inside that folder; good until the fourth call after.
const char *program_path(const char *name);

#endif
