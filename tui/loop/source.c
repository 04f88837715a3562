#include "tui/loop/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
refuse(struct source_text *text, const char *words)
{
    snprintf(text->words, sizeof text->words, "not readable here: %s", words);
}

static bool
is_fit(int fd, struct source_text *text, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        refuse(text, strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode) || status.st_size > (off_t)SOURCE_BYTES_MAX) {
        refuse(text, S_ISREG(status.st_mode) ? "it is larger than a megabyte"
                                             : "it is no regular file");
        return false;
    }
    text->changed_us = (uint64_t)status.st_mtime * 1000000;
    *size = (size_t)status.st_size;
    return true;
}

static void
read_all(int fd, struct source_text *text, size_t size)
{
    text->bytes = malloc(size + 1);
    if (!text->bytes) {
        refuse(text, "no memory");
        return;
    }
    ssize_t got = 1;
    while (text->length < size && got > 0) {
        got = read(fd, text->bytes + text->length, size - text->length);
        text->length += got > 0 ? (size_t)got : 0;
    }
    text->bytes[text->length] = '\0';
}

void
loop_read_source(const char *file, struct source_text *text)
{
    size_t size = 0;
    *text = (struct source_text){0};
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        refuse(text, errno == ENOENT ? "there is no such file (another machine, or a "
                                       "container?)"
                                     : strerror(errno));
        return;
    }
    if (is_fit(fd, text, &size)) {
        read_all(fd, text, size);
    }
    close(fd);
}
