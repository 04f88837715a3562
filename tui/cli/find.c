#include "tui/cli/find.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 4

struct folders {
    char paths[FOLDERS_MAX][FIND_SOCKET_BYTES];
    size_t count;
};

static void
folders_add(struct folders *folders, const char *path)
{
    for (size_t i = 0; i < folders->count; i++) {
        if (strcmp(folders->paths[i], path) == 0) {
            return;
        }
    }
    strcpy(folders->paths[folders->count++], path);
}

// A folder whose sockets would have names too long for a socket is none.
static void
folders_add_run(struct folders *folders, const char *parent)
{
    char path[FIND_SOCKET_BYTES];

    if (parent && *parent == '/' &&
        snprintf(path, sizeof(path), "%s/memtop", parent) < (int)sizeof(path)) {
        folders_add(folders, path);
    }
}

static void
folders_add_temporary(struct folders *folders, const char *parent, uid_t user)
{
    char path[FIND_SOCKET_BYTES];

    if (parent && *parent == '/' &&
        snprintf(path, sizeof(path), "%s/memtop-%lu", parent, (unsigned long)user) <
            (int)sizeof(path)) {
        folders_add(folders, path);
    }
}

// Where the probe puts its socket when nobody told it where.
static void
folders_of(struct folders *folders, uid_t user)
{
    *folders = (struct folders){.count = 0};
    if (user == geteuid()) {
        folders_add_run(folders, getenv("XDG_RUNTIME_DIR"));
    } else {
        char parent[64];
        snprintf(parent, sizeof(parent), "/run/user/%lu", (unsigned long)user);
        folders_add_run(folders, parent);
    }
    folders_add_temporary(folders, getenv("TMPDIR"), user);
    folders_add_temporary(folders, "/tmp", user);
}

static bool
owned_by(const char *folder, uid_t user)
{
    struct stat status;

    return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == user;
}

/*
 * Does anybody listen? Connecting is the only answer that cannot be stale. A
 * full backlog is an answer too. `peer` is who listens, as this machine counts.
 */
static bool
listens(const char *socket_path, long *peer)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred credentials = {.pid = 0};
    socklen_t length = sizeof(credentials);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (descriptor < 0) {
        return false;
    }
    strcpy(address.sun_path, socket_path);
    bool connected =
        connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) == 0;
    bool answered = connected || errno == EAGAIN;
    if (connected) {
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
    }
    close(descriptor);
    *peer = credentials.pid;
    return answered;
}

// The arguments of a process, joined; nothing in them may reach a terminal as
// a control character.
static void
read_command(long pid, char *command, size_t capacity)
{
    char path[64];
    size_t length = 0;

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (file) {
        length = fread(command, 1, capacity - 1, file);
        fclose(file);
    }
    while (length > 0 && command[length - 1] == '\0') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (command[i] == '\0') {
            command[i] = ' ';
        } else if (command[i] < ' ' || command[i] > '~') {
            command[i] = '?';
        }
    }
    strcpy(command + length, length > 0 ? "" : "?");
}

static bool
found_fill(struct found *found, const char *folder, long pid)
{
    long peer;

    found->pid = pid;
    int length =
        snprintf(found->socket, sizeof(found->socket), "%s/%ld.sock", folder, pid);
    if (length < 0 || (size_t)length >= sizeof(found->socket) ||
        !listens(found->socket, &peer)) {
        return false;
    }
    read_command(peer > 0 ? peer : pid, found->command, sizeof(found->command));
    return true;
}

// "PID.sock" and nothing else.
static bool
parse_name(const char *name, long *pid)
{
    char *end;

    if (*name < '1' || *name > '9') {
        return false;
    }
    errno = 0;
    *pid = strtol(name, &end, 10);
    return errno == 0 && *pid <= INT_MAX && strcmp(end, ".sock") == 0;
}

static size_t
scan(const char *folder, struct found *list, size_t capacity)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    long pid;

    if (!directory) {
        return 0;
    }
    while (count < capacity && (entry = readdir(directory))) {
        if (parse_name(entry->d_name, &pid) && found_fill(&list[count], folder, pid)) {
            count++;
        }
    }
    closedir(directory);
    return count;
}

static int
by_pid(const void *left, const void *right)
{
    const struct found *a = left;
    const struct found *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

size_t
find_all(struct found *list, size_t capacity)
{
    struct folders folders;
    size_t count = 0;

    folders_of(&folders, geteuid());
    for (size_t i = 0; i < folders.count; i++) {
        if (owned_by(folders.paths[i], geteuid())) {
            count += scan(folders.paths[i], list + count, capacity - count);
        }
    }
    qsort(list, count, sizeof(*list), by_pid);
    return count;
}

bool
find_exists(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

// Whose process it is; our own user when it cannot be told.
static uid_t
owner_of(long pid)
{
    char path[64];
    struct stat status;

    snprintf(path, sizeof(path), "/proc/%ld", pid);
    return stat(path, &status) == 0 ? status.st_uid : geteuid();
}

bool
find_pid(long pid, struct found *found)
{
    struct folders folders;
    uid_t user = owner_of(pid);

    *found = (struct found){.pid = pid};
    folders_of(&folders, user);
    for (size_t i = 0; i < folders.count; i++) {
        if (owned_by(folders.paths[i], user) &&
            found_fill(found, folders.paths[i], pid)) {
            return true;
        }
    }
    if (folders.count > 0) {
        snprintf(found->socket, sizeof(found->socket), "%.80s/%ld.sock", folders.paths[0],
                 pid);
    }
    return false;
}

void
find_print(const struct found *list, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%4zu  %7ld  %s\n", i + 1, list[i].pid, list[i].command);
    }
}

const struct found *
find_choose(const struct found *list, size_t count, FILE *in, FILE *out)
{
    char answer[32];
    char *end;

    fputs("Several programs run under the probe:\n", out);
    find_print(list, count, out);
    fprintf(out, "Which one, 1 to %zu? ", count);
    fflush(out);
    if (!fgets(answer, sizeof(answer), in)) {
        return NULL;
    }
    unsigned long number = strtoul(answer, &end, 10);
    if (end == answer || number < 1 || number > count) {
        return NULL;
    }
    return &list[number - 1];
}
