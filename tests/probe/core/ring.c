// The ring: what it keeps, against a list that keeps everything.
#include "probe/core/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define SIZE 65536u

static struct ring ring;
static unsigned char bytes[SIZE + 1];

static int
start(void **state)
{
    (void)state;
    return ring_init(&ring, SIZE) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    ring_destroy(&ring);
    ring_destroy(&ring);
    return 0;
}

// The byte at a position, so that it can be told afterwards.
static unsigned char
byte_at(uint64_t position)
{
    return (unsigned char)(position * 31 + position / 253);
}

static const unsigned char *
fill(size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bytes[i] = byte_at(ring.end + i);
    }
    return bytes;
}

static enum ring_status
begin(size_t length)
{
    return ring_begin(&ring, fill(length), length);
}

static enum ring_status
append(size_t length)
{
    return ring_append(&ring, fill(length), length);
}

static void
expect_sound(uint64_t from, uint64_t to)
{
    assert_true(to - from <= SIZE);
    while (from < to) {
        size_t length;
        const unsigned char *piece = ring_bytes(&ring, from, &length);
        assert_true(length > 0 && length <= SIZE);
        for (size_t i = 0; i < length && from < to; i++, from++) {
            assert_int_equal(piece[i], byte_at(from));
        }
    }
}

static void
oldest_groups_go_whole(void **state)
{
    (void)state;
    assert_int_equal(ring_oldest(&ring), 0);
    assert_int_equal(append(10), RING_LOST); // to what?
    assert_int_equal(begin(30000), RING_OK);
    assert_int_equal(append(10000), RING_OK);
    assert_int_equal(begin(20000), RING_OK);
    assert_int_equal(append(SIZE - 60000), RING_OK); // full to the last byte
    assert_int_equal(ring_oldest(&ring), 0);
    expect_sound(0, SIZE);
    assert_int_equal(append(1), RING_OK);
    assert_int_equal(ring_oldest(&ring), 40000);
    assert_int_equal(ring.count, 1);
    expect_sound(40000, ring.end);
}

static void
a_group_that_outgrows_the_ring_is_lost_and_another_can_begin(void **state)
{
    (void)state;
    assert_int_equal(begin(SIZE + 1), RING_TOO_BIG);
    assert_int_equal(begin(SIZE), RING_OK);
    assert_int_equal(append(1), RING_LOST);
    assert_int_equal(ring.count, 0);
    assert_int_equal(ring_oldest(&ring), ring.end);
    assert_int_equal(append(SIZE + 1), RING_TOO_BIG);
    assert_int_equal(begin(100), RING_OK);
    expect_sound(ring_oldest(&ring), ring.end);
}

static void
there_are_never_more_groups_than_there_is_room_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * RING_GROUPS_MAX; i++) {
        assert_int_equal(begin(2), RING_OK);
        assert_true(ring.count <= RING_GROUPS_MAX);
    }
    assert_int_equal(ring.end - ring_oldest(&ring), 2 * RING_GROUPS_MAX);
    expect_sound(ring_oldest(&ring), ring.end);
}

static void
what_a_reader_still_needs_is_not_written_over(void **state)
{
    (void)state;
    begin(30000);
    begin(30000);
    ring_hold(&ring);
    uint64_t from = ring_oldest(&ring);
    uint64_t to = ring.end;
    assert_int_equal(begin(10000), RING_HELD);
    assert_int_equal(append(10000), RING_HELD);
    assert_int_equal(append(1000), RING_OK); // there is place for that
    expect_sound(from, to);
    ring_release(&ring, 29999);
    assert_int_equal(begin(10000), RING_HELD);
    ring_release(&ring, 30000);
    assert_int_equal(begin(10000), RING_OK);
    expect_sound(30000, to);
    assert_int_equal(begin(30000), RING_HELD);
    ring_free(&ring);
    assert_int_equal(begin(30000), RING_OK);
    expect_sound(ring_oldest(&ring), ring.end);
}

static void
at_random_it_keeps_as_much_as_fits_and_never_more(void **state)
{
    (void)state;
    uint64_t read = 0;
    uint64_t read_to = 0;
    for (size_t i = 0; i < 30000; i++) {
        size_t length = 1 + random_below(random_below(10) ? 300 : 20000);
        if (random_below(8) == 0) {
            begin(length);
        } else {
            append(length);
        }
        assert_true(ring.end - ring_oldest(&ring) <= SIZE);
        if (!ring.held && random_below(50) == 0) {
            ring_hold(&ring);
            read = ring_oldest(&ring);
            read_to = ring.end;
        } else if (ring.held) {
            expect_sound(read, read_to);
            read += random_below(read_to - read + 1);
            ring_release(&ring, read);
            if (read == read_to) {
                ring_free(&ring);
            }
        }
        if (i % 100 == 0) {
            expect_sound(ring_oldest(&ring), ring.end);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(oldest_groups_go_whole, start, end),
        cmocka_unit_test_setup_teardown(
            a_group_that_outgrows_the_ring_is_lost_and_another_can_begin, start, end),
        cmocka_unit_test_setup_teardown(
            there_are_never_more_groups_than_there_is_room_for, start, end),
        cmocka_unit_test_setup_teardown(what_a_reader_still_needs_is_not_written_over,
                                        start, end),
        cmocka_unit_test_setup_teardown(at_random_it_keeps_as_much_as_fits_and_never_more,
                                        start, end),
    };
    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
