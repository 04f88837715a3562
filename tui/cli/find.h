/*
 * Which Ruby programs run under a probe: their sockets, found.
 *
 * The happy path: the probe's default folders are read, each PID.sock in them
 * is connected to and let go at once, what answers is listed.
 *
 * What can go wrong: no folder, or one that another user owns (passed over: a
 * stranger must not name our processes); a socket nobody listens on (passed
 * over); more programs than FIND_MAX (the rest is passed over).
 */
#ifndef TUI_CLI_FIND_H
#define TUI_CLI_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/un.h>

#define FIND_MAX 256

#define FIND_SOCKET_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

struct found {
    long pid;
    char socket[FIND_SOCKET_BYTES];
    char command[128]; // printable, cut; "?" when unknown
};

// Up to `capacity` programs of this user, by pid. Returns how many.
size_t find_all(struct found *list, size_t capacity);

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
