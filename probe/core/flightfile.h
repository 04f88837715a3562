/*
 * One recording of the flight recorder, from the ring to a file, on a thread of its
 * own that needs neither GVL nor lock: a disk may take its time.
 *
 * Happy path: a name that nobody has is found, NAME.part is made with mode 0600, filled
 * and renamed to NAME.
 *
 * Failure modes: a symbolic link or anything else that has the name already (the next
 * number is tried, up to FLIGHTFILE_NUMBER_MAX; nothing is followed, nothing replaced);
 * a missing folder, a full disk, no permission (NAME.part is removed, and why is said);
 * a disk that hangs (whoever waits gives up, and leaves thread and memory to it).
 */
#ifndef PROBE_CORE_FLIGHTFILE_H
#define PROBE_CORE_FLIGHTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "probe/core/ring.h"
#include "protocol/buffer.h"

#define FLIGHTFILE_PATH_MAX 4096
#define FLIGHTFILE_WHY_MAX 256
#define FLIGHTFILE_NUMBER_MAX 100u

struct flightfile;

// What is to be written, and where.
struct flightfile_plan {
    struct ring *ring;     // borrowed, until the file is done or for ever
    struct buffer trailer; // taken: frames behind those of the ring
    const char *given;     // the setting, "" for the socket's folder
    const char *socket;    // path of the probe's socket
    pid_t pid;
    unsigned number; // the first to try
    int wake_fd;     // an eventfd, told when it is done
    bool quiet;      // nothing on standard error, whatever happens
};

struct flightfile_result {
    bool failed;
    char path[FLIGHTFILE_PATH_MAX]; // that was written, or could not be
    char why[FLIGHTFILE_WHY_MAX];   // it failed
    unsigned number;                // of the file
    uint64_t cpu_ns;                // that it took
};

// context: any. The path of the file of that number: memtop-PID-N.memtop in the folder
// of the socket, or in the folder `given`; when `given` names no folder, -PID-N goes
// before its extension. False when it is too long.
bool flightfile_path(char *path, size_t size, const char *given, const char *socket,
                     pid_t pid, unsigned number);

// context: server. Begin to write everything that is in the ring now; it is held until
// flightfile_end(). NULL when there is no memory, or no thread to be had; the trailer is
// freed in any case.
struct flightfile *flightfile_start(const struct flightfile_plan *plan);

// context: server. Whether it is done; waits for that at most so long.
bool flightfile_done(struct flightfile *file, unsigned wait_ms);

// context: server. Of one that is done.
const struct flightfile_result *flightfile_result(const struct flightfile *file);

// context: server. False when it is not done: then it keeps using the ring.
bool flightfile_end(struct flightfile *file);

// context: gvl, in a child just forked, where the thread is not.
void flightfile_abandon(struct flightfile *file);

#endif
