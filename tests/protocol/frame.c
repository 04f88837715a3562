#include "protocol/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const unsigned char body[] = {0x80, 1, 2};

static void
reads_back_what_it_wrote(void **state)
{
    (void)state;
    unsigned char header[FRAME_HEADER_BYTES];
    frame_write(header, 7, (struct stamp){UINT64_MAX - 1, 3}, body, sizeof body);

    struct frame frame;
    assert_int_equal(frame_read(header, &frame), FRAME_OK);
    assert_int_equal(frame.kind, 7);
    assert_int_equal(frame.flags, 0);
    assert_int_equal(frame.body_length, sizeof body);
    assert_true(frame.at.monotonic_us == UINT64_MAX - 1);
    assert_true(frame.at.wall_us == 3);
    assert_int_equal(frame_check(header, body, sizeof body), FRAME_OK);
}

static void
notices_every_flipped_bit(void **state)
{
    (void)state;
    unsigned char bytes[FRAME_HEADER_BYTES + sizeof body];
    frame_write(bytes, 7, (struct stamp){1, 2}, body, sizeof body);
    memcpy(bytes + FRAME_HEADER_BYTES, body, sizeof body);
    for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(frame_check(bytes, bytes + FRAME_HEADER_BYTES, sizeof body),
                         FRAME_BAD_CRC);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void
refuses_foreign_magic_from_its_first_byte(void **state)
{
    (void)state;
    unsigned char header[FRAME_HEADER_BYTES];
    struct frame frame;
    frame_write(header, 7, (struct stamp){1, 2}, body, sizeof body);
    header[3] = 'Q';
    assert_int_equal(frame_read(header, &frame), FRAME_BAD_MAGIC);
    assert_true(frame_may_begin(header, 3));
    assert_false(frame_may_begin(header, 4));
    assert_false(frame_may_begin((const unsigned char *)"H", 1));
    assert_true(frame_may_begin(NULL, 0));
}

static void
believes_the_longest_body_and_no_longer(void **state)
{
    (void)state;
    unsigned char header[FRAME_HEADER_BYTES];
    struct frame frame;
    frame_write(header, 7, (struct stamp){1, 2}, body, sizeof body);
    memcpy(header + 4, "\x01\x00\x00\x00", 4);
    assert_int_equal(frame_read(header, &frame), FRAME_OK);
    memcpy(header + 4, "\x01\x00\x00\x01", 4);
    assert_int_equal(frame_read(header, &frame), FRAME_TOO_LONG);
    assert_int_equal(frame.body_length, FRAME_BODY_MAX + 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_it_wrote),
        cmocka_unit_test(notices_every_flipped_bit),
        cmocka_unit_test(refuses_foreign_magic_from_its_first_byte),
        cmocka_unit_test(believes_the_longest_body_and_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
