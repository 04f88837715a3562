/*
 * The probe's socket in the file system.
 *
 * Happy path: the folder exists or is made with mode 0700, the socket is bound
 * with mode 0600, and whoever connects is the same user or root.
 *
 * Failure modes: the default folder belongs to somebody else or others may enter
 * it (refused); a folder that was named is the user's own choice (not judged); something
 * that is no socket has the name, a symbolic link included (refused, nothing is removed);
 * a socket nobody listens on (replaced); one that somebody listens on (refused); a path
 * longer than a socket may have (refused).
 *
 * A process that is killed, or calls exit!, leaves its socket behind: the next one that
 * listens beside it removes it.
 */
#ifndef PROBE_CORE_ENDPOINT_H
#define PROBE_CORE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ENDPOINT_PATH_MAX 108 // of a socket's address, the last byte is 0

// context: any. Where `pid` listens when nobody said otherwise:
// $XDG_RUNTIME_DIR/memtop/PID.sock, else (unset, or not there) memtop-UID/PID.sock
// in the temporary folder. False when that is too long.
bool endpoint_default_path(char path[ENDPOINT_PATH_MAX], pid_t pid);

// context: any. Whether a path names a folder, by its last "/", in which every process
// has a socket of its own; and which: FOLDER/PID.sock. False when that is too long.
bool endpoint_is_folder(const char *path);
bool endpoint_path_in(char path[ENDPOINT_PATH_MAX], const char *folder, pid_t pid);

// context: any. Where a child listens whose parent listens on `path`: beside it.
bool endpoint_child_path(char child[ENDPOINT_PATH_MAX], const char *path, pid_t pid);

// context: any. Listen on `path`; `make_folder` for the default place. Returns a
// non-blocking descriptor that exec closes, or -1 with `why` in words.
int endpoint_listen(const char *path, bool make_folder, char *why, size_t why_size);

// context: any. Remove what processes that are gone left beside `path`: sockets of this
// user, called as those of `path`'s siblings are, on which nobody listens.
void endpoint_sweep(const char *path);

// context: any. May who is at the other end of `fd` be served?
bool endpoint_peer_allowed(int fd);

#endif
