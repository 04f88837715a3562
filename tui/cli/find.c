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
#include <time.h>
#include <unistd.h>

#define FOLDERS_MAX 4
#define LISTENS 0x10000 // among the flags of /proc/net/unix

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

static bool
found_name(struct found *found, const char *folder, long pid)
{
    *found = (struct found){.pid = pid};
    int length =
        snprintf(found->socket, sizeof(found->socket), "%s/%ld.sock", folder, pid);
    return length > 0 && (size_t)length < sizeof(found->socket);
}

static size_t
scan(const char *folder, struct found *list, size_t capacity,
     bool (*fill)(struct found *found, const char *folder, long pid))
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    long pid;

    if (!directory) {
        return 0;
    }
    while (count < capacity && (entry = readdir(directory))) {
        if (parse_name(entry->d_name, &pid) && fill(&list[count], folder, pid)) {
            count++;
        }
    }
    closedir(directory);
    return count;
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

/*
 * Sockets elsewhere.
 */

// A process of this user that has the probe in it.
static bool
has_probe(long pid)
{
    char path[64];
    char line[1024];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *end = strstr(line, "/memtop.so");
        found = end && strchr("\n ", end[10]);
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static bool
holds(long pid, unsigned long inode)
{
    char folder[64];
    char path[400];
    char target[64];
    char wanted[64];
    struct dirent *entry;
    bool found = false;

    snprintf(folder, sizeof(folder), "/proc/%ld/fd", pid);
    snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
    DIR *directory = opendir(folder);
    while (directory && !found && (entry = readdir(directory))) {
        snprintf(path, sizeof(path), "%s/%.300s", folder, entry->d_name);
        ssize_t length = readlink(path, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        found = strcmp(target, wanted) == 0;
    }
    if (directory) {
        closedir(directory);
    }
    return found;
}

struct elsewhere {
    unsigned long inode;
    char socket[FIND_SOCKET_BYTES];
};

// One line of /proc/net/unix, if it is of a socket of this user that listens and has a
// name which others can use.
static bool
parse_listener(const char *line, struct elsewhere *socket)
{
    char flags[20];
    char inode[24];
    char name[FIND_SOCKET_BYTES + 1];
    struct stat status;

    // Num RefCount Protocol Flags Type St Inode Path
    if (sscanf(line, "%*s %*s %*s %19s %*s %*s %23s %108s", flags, inode, name) != 3 ||
        !(strtoul(flags, NULL, 16) & LISTENS) || *name != '/' ||
        strlen(name) >= FIND_SOCKET_BYTES || lstat(name, &status) != 0 ||
        !S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) {
        return false;
    }
    strcpy(socket->socket, name);
    socket->inode = strtoul(inode, NULL, 10);
    return true;
}

static size_t
list_listeners(struct elsewhere *list, size_t capacity)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen("/proc/net/unix", "re");

    while (file && count < capacity && fgets(line, sizeof(line), file)) {
        count += parse_listener(line, &list[count]);
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static bool
is_listed(const struct found *list, size_t count, const char *socket)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].socket, socket) == 0) {
            return true;
        }
    }
    return false;
}

// Whether a setting such as MEMTOP_SOCKET=/run/app.sock makes a probe listen on a socket:
// on that, a child of its on /run/app.77.sock; with /run/ on /run/77.sock.
static bool
leads_to(const char *setting, const char *socket)
{
    const char *slash = strrchr(setting, '/');
    const char *dot = strrchr(setting, '.');
    size_t stem = dot && dot > slash + 1 ? (size_t)(dot - setting) : strlen(setting);
    const char *end = slash && !slash[1] ? ".sock" : setting + stem;

    if (!slash || strcmp(setting, socket) == 0) {
        return slash != NULL;
    }
    if (strncmp(setting, socket, stem) != 0) {
        return false;
    }
    const char *number = socket + stem + (slash[1] != '\0');
    size_t digits = strspn(number, "0123456789");
    return (slash[1] == '\0' || socket[stem] == '.') && digits > 0 &&
           strcmp(number + digits, end) == 0;
}

// Whether a process was started with such a setting. What else it listens on is its own:
// nobody connects there to find out.
static bool
was_told(long pid, const char *socket)
{
    static const char name[] = "MEMTOP_SOCKET=";
    char path[64];
    char *setting = NULL;
    size_t capacity = 0;
    bool told = false;

    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    FILE *file = fopen(path, "re");
    while (file && !told && getdelim(&setting, &capacity, '\0', file) > 0) {
        told = strncmp(setting, name, strlen(name)) == 0 &&
               leads_to(setting + strlen(name), socket);
    }
    if (file) {
        fclose(file);
    }
    free(setting);
    return told;
}

// The sockets of its probe that a process holds of those which are not listed yet.
static size_t
add_held(long pid, const struct elsewhere *listeners, size_t listener_count,
         struct found *list, size_t count, size_t capacity)
{
    for (size_t i = 0; i < listener_count && count < capacity; i++) {
        if (!is_listed(list, count, listeners[i].socket) &&
            was_told(pid, listeners[i].socket) && holds(pid, listeners[i].inode)) {
            list[count] = (struct found){.pid = pid};
            strcpy(list[count++].socket, listeners[i].socket);
        }
    }
    return count;
}

static size_t
scan_elsewhere(struct found *list, size_t count, size_t capacity)
{
    static struct elsewhere listeners[FIND_MAX];
    size_t listener_count = list_listeners(listeners, FIND_MAX);
    DIR *directory = opendir("/proc");
    struct dirent *entry;

    while (directory && count < capacity && (entry = readdir(directory))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && !*end && owner_of(pid) == geteuid() && has_probe(pid)) {
            count = add_held(pid, listeners, listener_count, list, count, capacity);
        }
    }
    if (directory) {
        closedir(directory);
    }
    return count;
}

/*
 * What nobody listens on.
 */

// Nobody listens: connecting is refused, which is another thing than a full backlog.
static bool
refuses(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (descriptor < 0) {
        return false;
    }
    strcpy(address.sun_path, path);
    bool refused =
        connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
        errno == ECONNREFUSED;
    close(descriptor);
    return refused;
}

static bool
clean_one(const char *folder, long pid, bool thorough)
{
    char path[FIND_SOCKET_BYTES];
    struct stat status;
    int length = snprintf(path, sizeof(path), "%s/%ld.sock", folder, pid);

    if (length >= (int)sizeof(path) || lstat(path, &status) != 0 ||
        !S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) {
        return false;
    }
    bool old = thorough && time(NULL) >= status.st_ctime + FIND_STALE_S;
    return (!find_exists(pid) || old) && refuses(path) && unlink(path) == 0;
}

static size_t
clean_folder(const char *folder, bool thorough)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    long pid;

    while (directory && (entry = readdir(directory))) {
        count += parse_name(entry->d_name, &pid) && clean_one(folder, pid, thorough);
    }
    if (directory) {
        closedir(directory);
    }
    return count;
}

size_t
find_clean(bool thorough)
{
    struct folders folders;
    size_t count = 0;

    folders_of(&folders, geteuid());
    for (size_t i = 0; i < folders.count; i++) {
        if (owned_by(folders.paths[i], geteuid())) {
            count += clean_folder(folders.paths[i], thorough);
        }
    }
    return count;
}

/*
 * All of them.
 */

static int
by_pid(const void *left, const void *right)
{
    const struct found *a = left;
    const struct found *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

static size_t
scan_folders(struct found *list, size_t capacity,
             bool (*fill)(struct found *found, const char *folder, long pid))
{
    struct folders folders;
    size_t count = 0;

    folders_of(&folders, geteuid());
    for (size_t i = 0; i < folders.count; i++) {
        if (owned_by(folders.paths[i], geteuid())) {
            count += scan(folders.paths[i], list + count, capacity - count, fill);
        }
    }
    return count;
}

size_t
find_all(struct found *list, size_t capacity)
{
    size_t count = scan_folders(list, capacity, found_fill);

    qsort(list, count, sizeof(*list), by_pid);
    return count;
}

size_t
find_sockets(struct found *list, size_t capacity, bool everywhere)
{
    size_t count = scan_folders(list, capacity, found_name);

    if (everywhere) {
        count = scan_elsewhere(list, count, capacity);
    }
    qsort(list, count, sizeof(*list), by_pid);
    return count;
}

bool
find_exists(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
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
