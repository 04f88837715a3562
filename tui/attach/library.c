#include "tui/attach/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTALLED "../" MEMTOP_VENDOR // from the program's folder
#define EXTENSION_BYTES_MAX (64L << 20)

// What probe/ruby/memtop.c puts into the extension.
static const char mark[16] = "memtop-for-ruby";

static bool
exists(const char *folder, const char *name)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, R_OK) == 0;
}

static void
read_version(struct library *library)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/memtop/memtop.so", library->folder);
    FILE *file = fopen(path, "re");
    struct stat status;
    if (!file) {
        return;
    }
    size_t size =
        fstat(fileno(file), &status) == 0 && status.st_size <= EXTENSION_BYTES_MAX
            ? (size_t)status.st_size
            : 0;
    char *bytes = size > 0 ? malloc(size) : NULL;
    if (bytes && fread(bytes, 1, size, file) == size) {
        const char *found = memmem(bytes, size, mark, sizeof(mark));
        size_t rest = found ? size - (size_t)(found - bytes) - sizeof(mark) : 0;
        if (rest >= sizeof(library->version)) {
            memcpy(library->version, found + sizeof(mark), sizeof(library->version));
        }
    }
    free(bytes);
    fclose(file);
}

static bool
take(struct library *library, const char *folder)
{
    char real[PATH_MAX];
    if (!exists(folder, "memtop.rb") || !exists(folder, "memtop/memtop.so") ||
        !realpath(folder, real)) {
        return false;
    }
    strcpy(library->folder, real);
    library->found = true;
    library->injects =
        exists(real, "memtop/inject.so") && exists(real, "memtop/attached.rb");
    read_version(library);
    return true;
}

void
library_find(struct library *library)
{
    static const char *const beside[] = {"../lib", "../../lib", INSTALLED};
    char program[PATH_MAX] = "";
    char folder[PATH_MAX + 32];
    const char *given = getenv("MEMTOP_LIB");

    *library = (struct library){.folder = ""};
    if (given && *given) {
        snprintf(library->folder, sizeof(library->folder), "%s", given);
        take(library, given);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) {
        *slash = '\0';
    }
    for (size_t i = sizeof(beside) / sizeof(*beside); i > 0; i--) {
        snprintf(folder, sizeof(folder), "%s/%s", program, beside[i - 1]);
        if (take(library, folder)) {
            return;
        }
    }
    snprintf(library->folder, sizeof(library->folder), "%.*s", PATH_MAX - 1, folder);
}
