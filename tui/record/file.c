#include "tui/record/file.h"

#include <errno.h>
#include <unistd.h>

bool
file_write(int descriptor, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    while (length > 0) {
        ssize_t wrote = write(descriptor, at, length);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            errno = wrote == 0 ? ENOSPC : errno;
            return false;
        }
        at += wrote;
        length -= (size_t)wrote;
    }
    return true;
}
