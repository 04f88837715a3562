/*
 * Encoding and decoding while the n-th allocation fails, for every n until none
 * is left to fail. The linker sends malloc, calloc and realloc here (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/protocol/examples.h"

// Allocations that still succeed; when it gets to 0 one fails. Negative: all do.
static long countdown = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool
fails_now(void)
{
    if (countdown < 0) {
        return false;
    }
    return countdown-- == 0;
}

void *
__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __real_realloc(memory, size);
}

// Enough rows that lists leave msgpack-c's first chunk of memory.
#define ROWS 2000

static struct class_row rows[ROWS];
static const struct message sample = {
    .kind = MESSAGE_SAMPLE,
    .sample = {.key = true, .rows = rows, .row_count = ROWS},
};

static void
encoding_fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    bool done = false;
    for (long succeed = 0; !done; succeed++) {
        struct buffer out = {0};
        assert_true(buffer_append(&out, "before", 6));
        countdown = succeed;
        done = message_encode(&out, &sample);
        bool failed = countdown == -1;
        countdown = -1;
        assert_true(done != failed);
        assert_true(buffer_ok(&out) == done);
        if (!done) {
            assert_int_equal(out.length, 6);
            assert_memory_equal(out.bytes, "before", 6);
        }
        buffer_destroy(&out);
        assert_true(succeed > 0 || !done); // else the wrap is not in place
    }
}

static void
decoding_fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    struct buffer frame = {0};
    example_encode(&frame, &sample);
    bool done = false;
    for (long succeed = 0; !done; succeed++) {
        struct decoder decoder = {0};
        struct message message;
        countdown = succeed;
        decoder_feed(&decoder, frame.bytes, frame.length);
        enum decode_status status = decoder_next(&decoder, &message);
        bool failed = countdown == -1;
        countdown = -1;
        done = status == DECODE_MESSAGE;
        assert_true(done != failed);
        if (!done) {
            assert_int_equal(status, DECODE_FAILED);
            assert_non_null(strstr(decoder_error(&decoder), "memory"));
        }
        decoder_destroy(&decoder);
        assert_true(succeed > 2 || !done); // else the wrap is not in place
    }
    buffer_destroy(&frame);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoding_fails_cleanly_at_every_allocation),
        cmocka_unit_test(decoding_fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
