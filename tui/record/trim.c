#include "tui/record/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/frame.h"
#include "tui/record/file.h"

#define PIECE_BYTES 65536u

// Whether it is the copy of a recorder that was killed, and not a file of somebody's.
static bool
left_behind(const char *part)
{
    unsigned char head[FRAME_HEADER_BYTES];
    int descriptor = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    ssize_t got = read(descriptor, head, sizeof head);
    close(descriptor);
    return got >= 0 && frame_may_begin(head, (size_t)got);
}

bool
trim_begin(struct trim *trim, const char *path, uint64_t from)
{
    size_t length = strlen(path) + sizeof ".part";
    char *part = malloc(length);
    if (part == NULL) {
        errno = ENOMEM;
        return false;
    }
    (void)snprintf(part, length, "%s.part", path);
    if (left_behind(part)) {
        (void)unlink(part);
    }
    int descriptor =
        open(part, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, FILE_MODE);
    if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        int error = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        free(part);
        errno = error;
        return false;
    }
    *trim = (struct trim){descriptor, part, from, from};
    return true;
}

static bool
copy_piece(struct trim *trim, int old, uint64_t length)
{
    unsigned char bytes[PIECE_BYTES];
    ssize_t got = pread(old, bytes, length < sizeof bytes ? (size_t)length : sizeof bytes,
                        (off_t)trim->copied);
    if (got < 0 && errno == EINTR) {
        return true;
    }
    if (got <= 0) {
        errno = got < 0 ? errno : EIO; // somebody cut our file short
        return false;
    }
    if (!file_write(trim->descriptor, bytes, (size_t)got)) {
        return false;
    }
    trim->copied += (uint64_t)got;
    return true;
}

static enum trim_status
fail(struct trim *trim)
{
    int error = errno;
    trim_end(trim);
    errno = error;
    return TRIM_FAILED;
}

enum trim_status
trim_step(struct trim *trim, const char *path, int old, uint64_t size, uint64_t bytes)
{
    uint64_t end = size - trim->copied < bytes ? size : trim->copied + bytes;
    while (trim->copied < end) {
        if (!copy_piece(trim, old, end - trim->copied)) {
            return fail(trim);
        }
    }
    if (trim->copied < size) {
        return TRIM_GOES_ON;
    }
    if (rename(trim->part, path) != 0) {
        return fail(trim);
    }
    free(trim->part);
    trim->part = NULL;
    return TRIM_DONE;
}

void
trim_end(struct trim *trim)
{
    if (trim->descriptor >= 0) {
        close(trim->descriptor);
        (void)unlink(trim->part);
    }
    free(trim->part);
    *trim = (struct trim){.descriptor = -1};
}
