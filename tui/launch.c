#include "tui/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tui/attach/library.h"
#include "tui/loop/command.h"

#define REQUIRE "-rmemtop/auto"
#define NAME_BYTES 20 // of "/PID.sock", the longest

/* The environment. */

static char **
place_of(const struct launch *launch, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < launch->count; i++) {
        if (strncmp(launch->environment[i], name, length) == 0 &&
            launch->environment[i][length] == '=') {
            return &launch->environment[i];
        }
    }
    return NULL;
}

const char *
launch_get(const struct launch *launch, const char *name)
{
    char **place = place_of(launch, name);
    return place ? *place + strlen(name) + 1 : NULL;
}

static bool
add(struct launch *launch, char *entry)
{
    char **more = realloc(launch->environment, (launch->count + 2) * sizeof(*more));
    if (!entry || !more) {
        launch->environment = more ? more : launch->environment;
        free(entry);
        return false;
    }
    more[launch->count++] = entry;
    more[launch->count] = NULL;
    launch->environment = more;
    return true;
}

bool
launch_set(struct launch *launch, const char *name, const char *value)
{
    char **place = place_of(launch, name);
    char *entry;
    if (asprintf(&entry, "%s=%s", name, value) < 0) {
        return false;
    }
    if (!place) {
        return add(launch, entry);
    }
    free(*place);
    *place = entry;
    return true;
}

static bool
copy_environment(struct launch *launch)
{
    for (char **entry = environ; *entry; entry++) {
        if (!add(launch, strdup(*entry))) {
            return false;
        }
    }
    return true;
}

static bool
holds_word(const char *list, const char *word, char separator)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, separator)) {
        at += *at == separator;
        if (strncmp(at, word, length) == 0 &&
            (at[length] == '\0' || at[length] == separator)) {
            return true;
        }
    }
    return false;
}

// In front of what there is, once.
static bool
put_in_front(struct launch *launch, const char *name, const char *word, char separator)
{
    const char *before = launch_get(launch, name);
    char *value;
    if (!before || !*before) {
        return launch_set(launch, name, word);
    }
    if (holds_word(before, word, separator)) {
        return true;
    }
    if (asprintf(&value, "%s%c%s", word, separator, before) < 0) {
        return false;
    }
    bool good = launch_set(launch, name, value);
    free(value);
    return good;
}

/* The probe. */

static bool
find_library(char folder[LAUNCH_PATH_BYTES])
{
    struct library library;
    library_find(&library);
    snprintf(folder, LAUNCH_PATH_BYTES, "%s", library.folder);
    if (!library.found) {
        bool given = getenv("MEMTOP_LIB") != NULL;
        fprintf(
            stderr,
            "memtop: there is no probe in %s%s. Set MEMTOP_LIB to the folder that has "
            "memtop.rb.\n",
            given ? "MEMTOP_LIB: " : "", folder);
    }
    return library.found;
}

/* The folder of the sockets. */

static bool
fits(char folder[LAUNCH_PATH_BYTES], int length)
{
    size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - NAME_BYTES;
    if (length > 0 && (size_t)length < most) {
        return true;
    }
    fprintf(stderr,
            "memtop: the folder of the probes' sockets has too long a name: %s. Set "
            "MEMTOP_SOCKET to a shorter one, with a / at its end.\n",
            folder);
    return false;
}

// Where the probe puts its socket by itself, so that other viewers find it there.
static int
default_folder(char folder[LAUNCH_PATH_BYTES])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *temporary = getenv("TMPDIR");
    if (runtime && *runtime && access(runtime, W_OK | X_OK) == 0) {
        return snprintf(folder, LAUNCH_PATH_BYTES, "%s/memtop", runtime);
    }
    return snprintf(folder, LAUNCH_PATH_BYTES, "%s/memtop-%lu",
                    temporary && *temporary ? temporary : "/tmp",
                    (unsigned long)geteuid());
}

static bool
make_folder(const char *folder)
{
    struct stat status;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        fprintf(stderr, "memtop: cannot make the folder %s: %s.\n", folder,
                strerror(errno));
        return false;
    }
    if (lstat(folder, &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
        fprintf(stderr,
                "memtop: %s is not a folder of this user alone (mode 0700). Remove it, "
                "or set MEMTOP_SOCKET to another one, with a / at its end.\n",
                folder);
        return false;
    }
    return true;
}

// A folder that somebody chose is theirs; the path of one socket would not do for
// several processes.
static bool
find_folder(char folder[LAUNCH_PATH_BYTES])
{
    const char *given = getenv("MEMTOP_SOCKET");
    size_t length = given ? strlen(given) : 0;
    if (length < 2 || given[length - 1] != '/') {
        return fits(folder, default_folder(folder)) && make_folder(folder);
    }
    struct stat status;
    if (!fits(folder,
              snprintf(folder, LAUNCH_PATH_BYTES, "%.*s", (int)length - 1, given))) {
        return false;
    }
    if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)) {
        return true;
    }
    fprintf(stderr, "memtop: MEMTOP_SOCKET=%s is not a folder.\n", given);
    return false;
}

/* All of it. */

static bool
set_all(struct launch *launch, const char *library, bool collects)
{
    char folder[LAUNCH_PATH_BYTES + 2];
    char attendant[32];
    snprintf(folder, sizeof(folder), "%s/", launch->folder);
    snprintf(attendant, sizeof(attendant), "%ld%s", (long)getpid(),
             collects ? ",gc" : "");
    return copy_environment(launch) && launch_set(launch, "MEMTOP_SOCKET", folder) &&
           launch_set(launch, COMMAND_ATTENDANT, attendant) &&
           put_in_front(launch, "RUBYLIB", library, ':') &&
           put_in_front(launch, "RUBYOPT", REQUIRE, ' ');
}

bool
launch_init(struct launch *launch, bool collects)
{
    char library[LAUNCH_PATH_BYTES];
    *launch = (struct launch){.count = 0};
    if (!find_library(library) || !find_folder(launch->folder)) {
        return false;
    }
    if (strchr(library, ':')) {
        fprintf(stderr,
                "memtop: the probe's folder has a colon in its name, which Ruby's load "
                "path cannot take: %s. Set MEMTOP_LIB to another name of it.\n",
                library);
        return false;
    }
    if (!set_all(launch, library, collects)) {
        fputs("memtop: out of memory.\n", stderr);
        launch_destroy(launch);
        return false;
    }
    return true;
}

void
launch_destroy(struct launch *launch)
{
    for (size_t i = 0; i < launch->count; i++) {
        free(launch->environment[i]);
    }
    free((void *)launch->environment);
    *launch = (struct launch){.count = 0};
}
