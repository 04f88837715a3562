#include "tui/export/gzip.h"

#include <errno.h>

#include "mixed.h"
#include "tests/tui/memory.h"

#define LENGTH ((size_t)200 * 1024)

// Bytes that hardly shrink, always the same.
static unsigned char *
noise(void)
{
    unsigned char *bytes = malloc(LENGTH);
    uint32_t seed = 1;

    assert_non_null(bytes);
    for (size_t i = 0; i < LENGTH; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    return bytes;
}

// Write the noise in pieces of growing lengths.
static bool
compress_to(FILE *out, const unsigned char *bytes)
{
    struct gzip gzip;
    size_t piece = 0;

    if (!gzip_begin(&gzip, out)) {
        return false;
    }
    for (size_t at = 0; at < LENGTH; at += piece, piece++) {
        gzip_write(&gzip, bytes + at, piece < LENGTH - at ? piece : LENGTH - at);
    }
    return gzip_end(&gzip);
}

static void
what_went_in_comes_out(void **state)
{
    char *packed;
    size_t length;
    unsigned char *bytes = noise();
    unsigned char *again = malloc(LENGTH + 1);
    FILE *out = open_memstream(&packed, &length);

    (void)state;
    assert_non_null(again);
    assert_true(compress_to(out, bytes));
    fclose(out);
    z_stream stream = {.next_in = (const unsigned char *)packed,
                       .avail_in = (unsigned)length,
                       .next_out = again,
                       .avail_out = (unsigned)LENGTH + 1};
    assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, LENGTH);
    assert_int_equal(stream.avail_in, 0);
    assert_memory_equal(bytes, again, LENGTH);
    inflateEnd(&stream);
    free(packed);
    free(again);
    free(bytes);
}

static void
nothing_is_a_file_as_well(void **state)
{
    char *packed;
    size_t length;
    struct gzip gzip;
    FILE *out = open_memstream(&packed, &length);

    (void)state;
    assert_true(gzip_begin(&gzip, out));
    assert_true(gzip_end(&gzip));
    fclose(out);
    assert_int_equal(length, 20);
    assert_memory_equal(packed, "\x1f\x8b\x08\0\0\0\0\0", 8); // no name, no time
    free(packed);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    unsigned char *bytes = noise();
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    errno = 0;
    assert_false(compress_to(full, bytes));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
    free(bytes);
}

static void
says_so_when_memory_runs_out(void **state)
{
    unsigned char *bytes = noise();
    FILE *out = fopen("/dev/null", "w");
    bool done = false;
    int allowed = 0;

    (void)state;
    for (; !done && allowed < 100; allowed++) {
        errno = 0;
        memory_allow(allowed);
        done = compress_to(out, bytes);
        int error = errno;
        memory_allow(-1);
        assert_true(done || error == ENOMEM);
    }
    assert_true(done);
    assert_true(allowed > 1);
    fclose(out);
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_went_in_comes_out),
        cmocka_unit_test(nothing_is_a_file_as_well),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
