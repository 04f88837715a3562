/*
 * A stream that is compressed as gzip has it. The same bytes always give the same
 * file: no name and no time go into its head.
 *
 * Errors stick: write without looking, gzip_end() tells.
 */
#ifndef TUI_EXPORT_GZIP_H
#define TUI_EXPORT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define ZLIB_CONST
#include <zlib.h>

struct gzip {
    z_stream stream; // knows its own address: the struct must stay where it is
    FILE *out;       // borrowed
    int error;       // the first one's errno
    unsigned char bytes[16384];
};

// False when memory ran out, errno is then ENOMEM: there is nothing to end.
bool gzip_begin(struct gzip *gzip, FILE *out);
void gzip_write(struct gzip *gzip, const void *bytes, size_t length);

// Write what is left and give the memory back. False when anything was not written;
// errno is that of the first failure. Does not flush the stream.
bool gzip_end(struct gzip *gzip);

#endif
