#include "protocol/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
keeps_what_is_appended(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    for (unsigned i = 0; i < 1000; i++) {
        unsigned char byte = (unsigned char)i;
        assert_true(buffer_append(&buffer, &byte, 1));
    }
    assert_int_equal(buffer.length, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(buffer.bytes[i], (unsigned char)i);
    }
    buffer_destroy(&buffer);
}

static void
takes_nothing_from_nowhere(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_append(&buffer, NULL, 0));
    assert_int_equal(buffer.length, 0);
    buffer_destroy(&buffer);
}

static void
drops_from_the_front(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_append(&buffer, "abcdef", 6));
    buffer_consume(&buffer, 2);
    assert_int_equal(buffer.length, 4);
    assert_memory_equal(buffer.bytes, "cdef", 4);
    buffer_consume(&buffer, 99);
    assert_int_equal(buffer.length, 0);
    buffer_destroy(&buffer);
}

static void
stays_as_it_was_after_a_failure(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_append(&buffer, "abc", 3));
    assert_null(buffer_reserve(&buffer, SIZE_MAX));
    assert_false(buffer_ok(&buffer));
    assert_false(buffer_append(&buffer, "d", 1));
    assert_int_equal(buffer.length, 3);
    assert_memory_equal(buffer.bytes, "abc", 3);
    buffer_clear(&buffer);
    assert_true(buffer_append(&buffer, "d", 1));
    buffer_destroy(&buffer);
}

static void
is_destroyed_twice_without_harm(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_append(&buffer, "abc", 3));
    buffer_destroy(&buffer);
    buffer_destroy(&buffer);
    assert_null(buffer.bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_appended),
        cmocka_unit_test(takes_nothing_from_nowhere),
        cmocka_unit_test(drops_from_the_front),
        cmocka_unit_test(stays_as_it_was_after_a_failure),
        cmocka_unit_test(is_destroyed_twice_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
