#include "probe/core/endpoint.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

#define SWEEP_NAMES_MAX 4096 // looked at in a folder; it may be anybody's

static bool
fits(int length)
{
    return length > 0 && length < ENDPOINT_PATH_MAX;
}

bool
endpoint_default_path(char path[ENDPOINT_PATH_MAX], pid_t pid)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime && access(runtime, W_OK | X_OK) == 0) {
        return fits(
            snprintf(path, ENDPOINT_PATH_MAX, "%s/memtop/%ld.sock", runtime, (long)pid));
    }
    const char *temporary = getenv("TMPDIR");
    return fits(snprintf(path, ENDPOINT_PATH_MAX, "%s/memtop-%lu/%ld.sock",
                         temporary && *temporary ? temporary : "/tmp",
                         (unsigned long)geteuid(), (long)pid));
}

bool
endpoint_is_folder(const char *path)
{
    size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
}

bool
endpoint_path_in(char path[ENDPOINT_PATH_MAX], const char *folder, pid_t pid)
{
    return fits(snprintf(path, ENDPOINT_PATH_MAX, "%s%ld.sock", folder, (long)pid));
}

bool
endpoint_child_path(char child[ENDPOINT_PATH_MAX], const char *path, pid_t pid)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path);
    return fits(snprintf(child, ENDPOINT_PATH_MAX, "%.*s.%ld%s", (int)stem, path,
                         (long)pid, path + stem));
}

// The folder of `path`, made when asked for and missing. Refused when another
// user could put something else in the socket's place.
static bool
check_folder(const char *path, bool make, char *why, size_t why_size)
{
    char folder[ENDPOINT_PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    if (make && mkdir(folder, 0700) != 0 && errno != EEXIST) {
        snprintf(why, why_size, "cannot make the folder %s: %s", folder, strerror(errno));
        return false;
    }
    struct stat stat;
    if (make && lstat(folder, &stat) != 0) {
        snprintf(why, why_size, "cannot look at the folder %s: %s", folder,
                 strerror(errno));
        return false;
    }
    if (make && (!S_ISDIR(stat.st_mode) || stat.st_uid != geteuid() ||
                 (stat.st_mode & 077) != 0)) {
        snprintf(why, why_size,
                 "%s is not a folder of this user alone (mode 0700); remove it or set "
                 "MEMTOP_SOCKET",
                 folder);
        return false;
    }
    return true;
}

static bool
somebody_listens(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return true;
    }
    int status = connect(fd, (const struct sockaddr *)address, sizeof(*address));
    bool refused = status != 0 && errno == ECONNREFUSED;
    close(fd);
    return !refused;
}

// Make the name free. Only a socket of our own that nobody listens on goes.
static bool
clear_name(const struct sockaddr_un *address, char *why, size_t why_size)
{
    struct stat stat;
    if (lstat(address->sun_path, &stat) != 0) {
        return true; // nothing there, or bind() will say what is wrong
    }
    const char *reason = NULL;
    if (!S_ISSOCK(stat.st_mode)) {
        reason = "it exists and is not a socket; it was left alone";
    } else if (stat.st_uid != geteuid()) {
        reason = "it is another user's socket";
    } else if (somebody_listens(address)) {
        reason = "another process listens on it";
    } else if (unlink(address->sun_path) != 0) {
        reason = strerror(errno);
    }
    if (reason) {
        snprintf(why, why_size, "cannot listen on %s: %s", address->sun_path, reason);
    }
    return !reason;
}

int
endpoint_listen(const char *path, bool make_folder, char *why, size_t why_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        snprintf(why, why_size, "the socket's path is longer than %zu bytes: %s",
                 sizeof(address.sun_path) - 1, path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!check_folder(path, make_folder, why, why_size) ||
        !clear_name(&address, why, why_size)) {
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        snprintf(why, why_size, "cannot make a socket: %s", strerror(errno));
        return -1;
    }
    // Linux gives the file the mode of the socket before bind: never open to others.
    if (fchmod(fd, 0600) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        chmod(path, 0600) != 0 || listen(fd, BACKLOG) != 0) {
        snprintf(why, why_size, "cannot listen on %s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

// The process that a name "BEFOREpidAFTER" is of; 0 for any other name.
static long
pid_in(const char *name, const char *before, size_t before_length, const char *after)
{
    if (strncmp(name, before, before_length) != 0 || name[before_length] < '1' ||
        name[before_length] > '9') {
        return 0;
    }
    char *end;
    errno = 0;
    long pid = strtol(name + before_length, &end, 10);
    return errno == 0 && pid <= INT_MAX && strcmp(end, after) == 0 ? pid : 0;
}

// What comes before and after the process id in the names of siblings: nothing and
// ".sock" of "/run/77.sock"; "app." and ".sock" of "/run/app.sock" and its children.
static void
split_name(const char *name, char before[ENDPOINT_PATH_MAX + 2], const char **after)
{
    const char *dot = strrchr(name, '.');
    *after = dot && dot > name ? dot : name + strlen(name);
    snprintf(before, ENDPOINT_PATH_MAX, "%.*s", (int)(*after - name), name);
    char *digits = before + strlen(before);
    while (digits > before && digits[-1] >= '0' && digits[-1] <= '9') {
        digits--;
    }
    bool numbered = *digits && (digits == before || digits[-1] == '.');
    if (numbered) {
        *digits = '\0';
    } else {
        snprintf(before + strlen(before), 2, ".");
    }
}

// No process of that id, and nobody listens: a process of another PID namespace may
// have its socket here too.
static void
remove_dead(const char *folder, const char *name, long pid)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length =
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);
    struct stat stat;
    if (length >= (int)sizeof(address.sun_path) || kill((pid_t)pid, 0) == 0 ||
        errno != ESRCH || lstat(address.sun_path, &stat) != 0 ||
        !S_ISSOCK(stat.st_mode) || stat.st_uid != geteuid()) {
        return;
    }
    if (!somebody_listens(&address)) {
        unlink(address.sun_path);
    }
}

void
endpoint_sweep(const char *path)
{
    char before[ENDPOINT_PATH_MAX + 2];
    char folder[ENDPOINT_PATH_MAX];
    const char *after;
    const char *slash = strrchr(path, '/');
    int error = errno;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    split_name(slash ? slash + 1 : path, before, &after);
    DIR *directory = opendir(folder);
    struct dirent *entry;
    for (int i = 0; directory && i < SWEEP_NAMES_MAX && (entry = readdir(directory));
         i++) {
        long pid = pid_in(entry->d_name, before, strlen(before), after);
        if (pid) {
            remove_dead(folder, entry->d_name, pid);
        }
    }
    if (directory) {
        closedir(directory);
    }
    errno = error;
}

bool
endpoint_peer_allowed(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        return false;
    }
    return peer.uid == geteuid() || peer.uid == 0;
}
