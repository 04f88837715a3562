/*
 * gdb, talked to in the language it has for programs (MI).
 *
 * Happy path: gdb is started in a session of its own, so that ^C in our terminal
 * does not reach it; a command goes in, the lines up to its result come out.
 *
 * Failure modes: gdb refuses (its words are kept); it says nothing for too long, or
 * ends. Then it is abandoned, not killed: it may be in the middle of a call in the
 * process, and ends by itself, letting the process go, when its input has an end.
 * It reads no more of that until the call is over.
 */
#ifndef TUI_ATTACH_GDB_H
#define TUI_ATTACH_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GDB_WORDS 512

enum gdb_answer {
    GDB_DONE,
    GDB_REFUSED, // `words` has why
    GDB_LOST,    // it ended, or did not answer in time
};

struct gdb {
    pid_t pid;
    int in;      // owned
    int out;     // owned
    char *lines; // owned: what came and was not read
    size_t length;
    unsigned asked;
    char words[GDB_WORDS]; // of what it refused last
};

// The path of gdb, looked for in PATH. False when there is none.
bool gdb_find(char *path, size_t size);

// False with `why` when it cannot be started.
bool gdb_start(struct gdb *gdb, const char *path, char *why, size_t why_size);

// Give a command and wait for its result: what follows "^done," goes into `answer`, cut.
enum gdb_answer gdb_ask(struct gdb *gdb, const char *command, char *answer, size_t size,
                        int patience_ms);

// Let it end, and wait a little for that. Harmless after a failed start.
void gdb_end(struct gdb *gdb);

#endif
