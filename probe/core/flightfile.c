#include "probe/core/flightfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probe/core/clock.h"
#include "probe/core/probe.h"

#define SLICE_BYTES (256u * 1024) // of a write, after which the ring may use the place
#define PART ".part"

struct flightfile {
    struct flightfile_plan plan;
    char given[FLIGHTFILE_PATH_MAX];
    char socket[ENDPOINT_PATH_MAX];
    uint64_t from; // positions in the ring
    uint64_t to;
    _Atomic int fd; // -1 while there is none
    struct flightfile_result result;
    pthread_mutex_t lock; // guards the two, and the eventfd
    pthread_cond_t changed;
    bool done;
    bool left; // nobody waits any more: free yourself
};

/* Names. */

static bool
fits(int length, size_t size)
{
    return length > 0 && (size_t)length < size;
}

static bool
is_folder(const char *path)
{
    struct stat stat_of;
    size_t length = strlen(path);
    return path[length - 1] == '/' ||
           (stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode));
}

static bool
path_in(char *path, size_t size, const char *folder, int length, pid_t pid,
        unsigned number)
{
    return fits(snprintf(path, size, "%.*s/memtop-%ld-%u.memtop", length, folder,
                         (long)pid, number),
                size);
}

bool
flightfile_path(char *path, size_t size, const char *given, const char *socket, pid_t pid,
                unsigned number)
{
    const char *slash = strrchr(*given ? given : socket, '/');
    if (!*given) {
        return path_in(path, size, slash ? socket : ".",
                       slash ? (int)(slash - socket) : 1, pid, number);
    }
    if (is_folder(given)) {
        size_t length = strlen(given);
        return path_in(path, size, given, (int)(length - (given[length - 1] == '/')), pid,
                       number);
    }
    const char *name = slash ? slash + 1 : given;
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - given) : strlen(given);
    return fits(snprintf(path, size, "%.*s-%ld-%u%s", (int)stem, given, (long)pid, number,
                         given + stem),
                size);
}

/* Writing. */

static bool
fail(struct flightfile *file, const char *what)
{
    file->result.failed = true;
    snprintf(file->result.why, sizeof(file->result.why), "%s", what);
    return false;
}

// Whether nobody has that name; a symbolic link to nowhere has it too.
static bool
is_free(const char *path)
{
    struct stat stat_of;
    return lstat(path, &stat_of) != 0 && errno == ENOENT;
}

static bool
name_next(struct flightfile *file, char part[FLIGHTFILE_PATH_MAX])
{
    struct flightfile_result *result = &file->result;
    bool fitted = flightfile_path(result->path, sizeof(result->path), file->given,
                                  file->socket, file->plan.pid, result->number);
    if (result->number > FLIGHTFILE_NUMBER_MAX) {
        return fail(file, "there are too many of that name already: remove some");
    }
    return (fitted && fits(snprintf(part, FLIGHTFILE_PATH_MAX, "%s" PART, result->path),
                           FLIGHTFILE_PATH_MAX)) ||
           fail(file, "the path is too long");
}

// The first number whose two names are free.
static int
make(struct flightfile *file, char part[FLIGHTFILE_PATH_MAX])
{
    for (; name_next(file, part); file->result.number++) {
        struct stat folder_or_file;
        if (lstat(file->result.path, &folder_or_file) == 0) {
            continue;
        }
        int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || (errno != EEXIST && errno != ELOOP)) {
            return fd >= 0 ? fd : (fail(file, strerror(errno)), -1);
        }
    }
    return -1;
}

static bool
write_all(struct flightfile *file, int fd, const unsigned char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EINTR) {
            return fail(file, strerror(errno));
        }
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool
write_ring(struct flightfile *file, int fd)
{
    uint64_t at = file->from;
    while (at < file->to) {
        size_t length;
        const unsigned char *bytes = ring_bytes(file->plan.ring, at, &length);
        length = length < SLICE_BYTES ? length : SLICE_BYTES;
        length = length < file->to - at ? length : (size_t)(file->to - at);
        if (!write_all(file, fd, bytes, length)) {
            return false;
        }
        at += length;
        ring_release(file->plan.ring, at);
    }
    return true;
}

// To a name that is still free, else to the next number's.
static bool
publish(struct flightfile *file, const char *part)
{
    char next[FLIGHTFILE_PATH_MAX];
    do {
        if (renameat2(AT_FDCWD, part, AT_FDCWD, file->result.path, RENAME_NOREPLACE) ==
            0) {
            return true;
        }
        // Not every file system can refuse to replace.
        if ((errno == EINVAL || errno == ENOSYS) && is_free(file->result.path)) {
            return rename(part, file->result.path) == 0 || fail(file, strerror(errno));
        }
        if (errno != EEXIST) {
            return fail(file, strerror(errno));
        }
        file->result.number++;
    } while (name_next(file, next));
    return false;
}

static void
write_file(struct flightfile *file)
{
    char part[FLIGHTFILE_PATH_MAX];
    int fd = make(file, part);
    if (fd < 0) {
        return;
    }
    file->fd = fd;
    const struct buffer *trailer = &file->plan.trailer;
    bool written =
        write_ring(file, fd) && write_all(file, fd, trailer->bytes, trailer->length);
    file->fd = -1;
    if (close(fd) != 0 && written) { // some file systems find out only now
        written = fail(file, strerror(errno));
    }
    if (!written || !publish(file, part)) {
        unlink(part);
    }
}

/* The thread. */

static void
destroy(struct flightfile *file)
{
    buffer_destroy(&file->plan.trailer);
    pthread_cond_destroy(&file->changed);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

static void *
run(void *argument)
{
    struct flightfile *file = argument;
    write_file(file);
    file->result.cpu_ns = clock_thread_ns();
    if (file->result.failed && !file->plan.quiet) {
        dprintf(STDERR_FILENO, "memtop: cannot write the flight recording %s: %s\n",
                file->result.path, file->result.why);
    }
    pthread_mutex_lock(&file->lock);
    file->done = true;
    bool left = file->left;
    if (!left) {
        probe_signal(file->plan.wake_fd);
    }
    pthread_cond_signal(&file->changed);
    pthread_mutex_unlock(&file->lock);
    if (left) {
        destroy(file);
    }
    return NULL;
}

// Detached, and no signal of the program's is ever delivered to it.
static bool
start_thread(struct flightfile *file)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = pthread_create(&thread, NULL, run, file) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_setname_np(thread, "memtop-flight");
        pthread_detach(thread);
    }
    return started;
}

struct flightfile *
flightfile_start(const struct flightfile_plan *plan)
{
    struct flightfile *file = calloc(1, sizeof(*file));
    struct buffer trailer = plan->trailer;
    if (!file) {
        buffer_destroy(&trailer);
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&file->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&file->lock, NULL);
    file->plan = *plan;
    snprintf(file->given, sizeof(file->given), "%s", plan->given);
    snprintf(file->socket, sizeof(file->socket), "%s", plan->socket);
    file->fd = -1;
    file->result.number = plan->number;
    file->from = ring_oldest(plan->ring);
    file->to = plan->ring->end;
    ring_hold(plan->ring);
    if (!start_thread(file)) {
        ring_free(plan->ring);
        destroy(file);
        return NULL;
    }
    return file;
}

bool
flightfile_done(struct flightfile *file, unsigned wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&file->lock);
    int error = 0;
    while (!file->done && wait_ms > 0 && error == 0) {
        error = pthread_cond_timedwait(&file->changed, &file->lock, &until);
    }
    bool done = file->done;
    pthread_mutex_unlock(&file->lock);
    return done;
}

const struct flightfile_result *
flightfile_result(const struct flightfile *file)
{
    return &file->result;
}

bool
flightfile_end(struct flightfile *file)
{
    struct ring *ring = file->plan.ring;
    pthread_mutex_lock(&file->lock);
    bool done = file->done;
    file->left = true;
    pthread_mutex_unlock(&file->lock);
    if (done) {
        ring_free(ring);
        destroy(file);
    }
    return done;
}

// Its lock may be held by the thread that is not here: left alone, as is its memory.
void
flightfile_abandon(struct flightfile *file)
{
    int fd = file->fd;
    if (fd >= 0) {
        close(fd);
    }
    buffer_destroy(&file->plan.trailer);
}
