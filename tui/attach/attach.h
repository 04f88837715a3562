/*
 * memtop attach: put the probe into a Ruby process that runs without it.
 *
 * Happy path: everything that can be known beforehand is asked of the system; gdb
 * stops the process where that is harmless, loads inject.so into it and lets it go,
 * within a fraction of a second; Ruby runs the job when it can, starts the probe, and
 * says where its socket is.
 *
 * Failure modes: each is told with what to do. Before gdb has begun nothing was
 * changed; from then on until Ruby runs the job it is taken back when we give up.
 * When we are interrupted (SIGINT, SIGTERM, SIGHUP), that is what happens first.
 */
#ifndef TUI_ATTACH_ATTACH_H
#define TUI_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "tui/attach/facts.h"

#define ATTACH_WORDS (2 * PATH_MAX + 1024)
#define ATTACH_SOCKET_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)
#define ATTACH_SETTINGS_MAX 16

enum attach_end {
    ATTACH_STARTED,
    ATTACH_ALREADY, // the probe ran before
    ATTACH_REFUSED, // it cannot be attached to; `why` has the remedy
    ATTACH_GONE,    // no such process
    ATTACH_BROKEN,  // our own files are not what they should be
};

struct attach_setting {
    const char *name;
    const char *value; // NULL: not given
};

struct attach {
    long pid;
    double patience_s; // until Ruby runs the job
    // Of Memtop.start, ended by a name that is NULL.
    const struct attach_setting *settings;
    void (*progress)(const char *words); // told what takes long; may be NULL

    char socket[ATTACH_SOCKET_BYTES]; // set when it is started, or was
    char why[ATTACH_WORDS];           // set otherwise
};

// What can be said without touching the process. ATTACH_STARTED: nothing is in the way.
enum attach_end attach_check(struct attach *attach, struct facts *facts);

enum attach_end attach_run(struct attach *attach);

#endif
