#include "tui/loop/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
write_all(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(descriptor, text, length);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            return false;
        }
        text += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

// As a file made by open() would be, where mkostemp() makes it private.
static bool
set_usual_mode(int descriptor)
{
    mode_t mask = umask(0);

    umask(mask);
    return fchmod(descriptor, 0666 & ~mask) == 0;
}

// Give `from` the name `to`, unless something has it.
static bool
name_it(const char *from, const char *to)
{
    struct stat status;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    // a file system that cannot promise it
    if (errno != EINVAL) {
        return false;
    }
    if (lstat(to, &status) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

static bool
save(const char *path, const char *text)
{
    char temporary[PATH_MAX];
    int error;

    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >=
        (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return false;
    }
    int descriptor = mkostemp(temporary, O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    if (!write_all(descriptor, text, strlen(text)) || !set_usual_mode(descriptor)) {
        error = errno;
        close(descriptor);
        goto fail;
    }
    // some file systems tell of a full disk only now
    if (close(descriptor) != 0 || !name_it(temporary, path)) {
        error = errno;
        goto fail;
    }
    return true;
fail:
    unlink(temporary);
    errno = error;
    return false;
}

bool
save_text(const char *path, const char *text, char *words, size_t capacity)
{
    if (save(path, text)) {
        snprintf(words, capacity, "written to %s", path);
        return true;
    }
    if (errno == EEXIST) {
        snprintf(words, capacity, "not written: %s exists; name another file", path);
    } else {
        snprintf(words, capacity, "cannot write %s: %s; nothing was left there", path,
                 strerror(errno));
    }
    return false;
}
