#include "tui/export/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

// A head and an end as gzip has them, around deflate's largest window.
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)
#define MEMORY_LEVEL 8 // zlib's default

static void *
take_memory(void *nothing, unsigned count, unsigned size)
{
    (void)nothing;
    return calloc(count, size);
}

static void
give_back(void *nothing, void *memory)
{
    (void)nothing;
    free(memory);
}

bool
gzip_begin(struct gzip *gzip, FILE *out)
{
    gzip->stream = (z_stream){.zalloc = take_memory, .zfree = give_back};
    gzip->out = out;
    gzip->error = 0;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

// Compress what the stream has been given, as far as it goes; with Z_FINISH all of it.
static void
drain(struct gzip *gzip, int flush)
{
    do {
        gzip->stream.next_out = gzip->bytes;
        gzip->stream.avail_out = sizeof(gzip->bytes);
        deflate(&gzip->stream, flush);
        size_t length = sizeof(gzip->bytes) - gzip->stream.avail_out;
        errno = 0;
        if (fwrite(gzip->bytes, 1, length, gzip->out) < length) {
            gzip->error = errno != 0 ? errno : EIO;
        }
    } while (gzip->stream.avail_out == 0 && gzip->error == 0);
}

void
gzip_write(struct gzip *gzip, const void *bytes, size_t length)
{
    const unsigned char *next = bytes;

    while (length > 0 && gzip->error == 0) {
        unsigned some = length < UINT_MAX ? (unsigned)length : UINT_MAX;
        gzip->stream.next_in = next;
        gzip->stream.avail_in = some;
        drain(gzip, Z_NO_FLUSH);
        next += some;
        length -= some;
    }
}

bool
gzip_end(struct gzip *gzip)
{
    if (gzip->error == 0) {
        drain(gzip, Z_FINISH);
    }
    deflateEnd(&gzip->stream);
    errno = gzip->error != 0 ? gzip->error : errno;
    return gzip->error == 0;
}
