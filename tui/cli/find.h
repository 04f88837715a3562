/*
 * Which Ruby programs run under a probe: their sockets, found.
 *
 * The happy path: the probe's default folders are read, each PID.sock in them
 * is connected to and let go at once, what answers is listed.
 *
 * What can go wrong: no folder, or one that another user owns (passed over: a
 * stranger must not name our processes); a socket nobody listens on (passed
 * over, and removed by find_clean()); more programs than FIND_MAX (the rest is passed
 * over); a socket that MEMTOP_SOCKET put elsewhere (found by what /proc says of it).
 */
#ifndef TUI_CLI_FIND_H
#define TUI_CLI_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/un.h>

#define FIND_MAX 256

// A process that starts makes its socket a moment before it listens.
#define FIND_STALE_S 10

#define FIND_SOCKET_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

struct found {
    long pid;
    char socket[FIND_SOCKET_BYTES];
    char command[128]; // printable, cut; "?" when unknown
};

// Up to `capacity` programs of this user, by pid. Returns how many.
size_t find_all(struct found *list, size_t capacity);

// Sockets that are called as those of probes, of which nobody is asked whether anybody
// listens: what watches all processes connects anyway. `pid` is of the name, `command`
// is not told. With `everywhere` also those that MEMTOP_SOCKET put elsewhere: sockets
// on which processes of this user listen that have the probe's library loaded; that
// reads much of /proc. Returns how many.
size_t find_sockets(struct found *list, size_t capacity, bool everywhere);

// Remove sockets in the probe's default folders that processes left which are gone:
// sockets of this user, called PID.sock, on which nobody listens, whose process is not
// there. With `thorough` also those of processes that are there, as after an exec of
// something without a probe, and did not listen for FIND_STALE_S seconds; each probe is
// connected to for that. Returns how many.
size_t find_clean(bool thorough);

// The default socket of one process, of whichever user it is. False when
// there is none; `found->socket` then holds the likeliest place.
bool find_pid(long pid, struct found *found);

// Does the process exist, of whichever user?
bool find_exists(long pid);

// Let a person pick one by number. NULL when the answer was none of them.
const struct found *find_choose(const struct found *list, size_t count, FILE *in,
                                FILE *out);

void find_print(const struct found *list, size_t count, FILE *out);

#endif
