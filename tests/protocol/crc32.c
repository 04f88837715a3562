#include "protocol/crc32.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
gives_the_published_check_value(void **state)
{
    (void)state;
    assert_int_equal(crc32_update(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(crc32_update(0, "", 0), 0);
}

static void
does_not_care_how_the_bytes_are_split(void **state)
{
    (void)state;
    unsigned char bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 37);
    }
    uint32_t whole = crc32_update(0, bytes, sizeof bytes);
    for (size_t at = 0; at <= sizeof bytes; at++) {
        uint32_t crc = crc32_update(0, bytes, at);
        assert_int_equal(crc32_update(crc, bytes + at, sizeof bytes - at), whole);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_published_check_value),
        cmocka_unit_test(does_not_care_how_the_bytes_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
