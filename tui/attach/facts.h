/*
 * What the system knows of a process, and which Ruby it runs: read from /proc,
 * without touching the process.
 */
#ifndef TUI_ATTACH_FACTS_H
#define TUI_ATTACH_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct facts {
    long pid;
    char state;     // as /proc has it: R, S, D, T, t, Z, X
    long leader;    // the process, when `pid` is one of its threads
    long tracer;    // who debugs it; 0 for nobody
    long inner_pid; // its id where it runs, in a container another one
    uid_t user;     // whose files it may open
    gid_t group;
    bool here; // it sees the files that we see
};

// Which Ruby a process runs.
struct facts_ruby {
    char file[PATH_MAX]; // the program, or a library that it loaded
    int version[3];
    bool queues; // it has postponed jobs
};

// False when there is no such process, or none any more.
bool facts_read(struct facts *facts, long pid);

// False when neither the program nor a library that it has loaded is a Ruby, or when
// we may not look.
bool facts_ruby(struct facts_ruby *ruby, long pid);

// Who the user is, for people: a name, or the number.
void facts_user(uid_t user, char *name, size_t size);

#endif
