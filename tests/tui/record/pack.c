#include "tui/record/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "tests/protocol/examples.h"
#include "tests/tui/memory.h"

#define ROWS 2000

static struct class_row rows[ROWS];
static const struct message large = {
    .kind = MESSAGE_SAMPLE,
    .at = {1,             2                },
    .sample = { .key = true, .rows = rows, .row_count = ROWS},
};

static int
fill_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (struct class_row){(class_id)i, i * 7, i * 1000, i * 993, i << 9};
    }
    return 0;
}

static enum unpack_status
unpack(struct unpacker *unpacker, const struct buffer *bytes, struct message *message)
{
    struct frame frame;
    assert_int_equal(frame_read(bytes->bytes, &frame), FRAME_OK);
    assert_int_equal(frame.body_length + FRAME_HEADER_BYTES, bytes->length);
    assert_int_equal(
        frame_check(bytes->bytes, bytes->bytes + FRAME_HEADER_BYTES, frame.body_length),
        FRAME_OK);
    return unpack_frame(unpacker, &frame, bytes->bytes + FRAME_HEADER_BYTES, message);
}

static void
every_message_comes_out_as_it_went_in(void **state)
{
    (void)state;
    struct packer packer = {0};
    struct unpacker unpacker = {0};
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct buffer out = {0};
        struct message message;
        assert_true(pack_frame(&packer, &out, &examples[i].message));
        assert_int_equal(unpack(&unpacker, &out, &message), UNPACK_MESSAGE);
        assert_true(message.at.wall_us == examples[i].message.at.wall_us);
        assert_true(message.at.monotonic_us == examples[i].message.at.monotonic_us);
        assert_true(example_same(&message, &examples[i].message));
        buffer_destroy(&out);
    }
    unpacker_destroy(&unpacker);
    packer_destroy(&packer);
}

static void
a_body_is_compressed_where_that_makes_it_shorter(void **state)
{
    (void)state;
    struct packer packer = {0};
    struct unpacker unpacker = {0};
    struct buffer plain = {0};
    struct buffer out = {0};
    struct message message;
    example_encode(&plain, &large);
    assert_true(pack_frame(&packer, &out, &large));
    assert_int_equal(out.bytes[9], FRAME_ZSTD);
    assert_true(out.length < plain.length * 3 / 4);
    assert_int_equal(unpack(&unpacker, &out, &message), UNPACK_MESSAGE);
    assert_true(example_same(&message, &large));

    // A KEY has nothing that repeats: byte for byte what goes over a socket
    buffer_clear(&plain);
    buffer_clear(&out);
    const struct message key = {
        .kind = MESSAGE_KEY, .key = {true, 5, 2, 1, 2, 3, 4, 6}
    };
    example_encode(&plain, &key);
    assert_true(pack_frame(&packer, &out, &key));
    assert_int_equal(out.length, plain.length);
    assert_memory_equal(out.bytes, plain.bytes, plain.length);
    buffer_destroy(&out);
    buffer_destroy(&plain);
    unpacker_destroy(&unpacker);
    packer_destroy(&packer);
}

static void
the_dump_of_the_specification_is_understood(void **state)
{
    (void)state;
    static const struct class_name list[] = {
        {4, 0, {"Shop::Catalog::Product", 22}         },
        {5, 0, {"Shop::Catalog::Product::Price", 29}  },
        {6, 0, {"Shop::Catalog::Product::Picture", 31}},
    };
    const struct message expected = {
        .kind = MESSAGE_NAMES, .at = {9000100, 1767225609000100},
             .names = {list,    3               }
    };
    struct buffer specified = {0};
    struct unpacker unpacker = {0};
    struct message message;
    example_specified(&specified, "compressed");
    assert_int_equal(specified.bytes[9], FRAME_ZSTD);
    assert_int_equal(unpack(&unpacker, &specified, &message), UNPACK_MESSAGE);
    assert_true(example_same(&message, &expected));
    assert_true(message.at.wall_us == expected.at.wall_us);
    unpacker_destroy(&unpacker);
    buffer_destroy(&specified);
}

// A frame with flag FRAME_ZSTD around these bytes.
static struct buffer
framed(const void *bytes, size_t length)
{
    struct buffer out = {0};
    const struct frame frame = {
        .kind = MESSAGE_SAMPLE, .flags = FRAME_ZSTD, .body_length = (uint32_t)length};
    unsigned char header[FRAME_HEADER_BYTES];
    frame_seal(header, &frame, bytes);
    assert_true(buffer_append(&out, header, sizeof header));
    assert_true(buffer_append(&out, bytes, length));
    return out;
}

static void
expect_damage(const void *bytes, size_t length)
{
    struct unpacker unpacker = {0};
    struct message message;
    struct buffer out = framed(bytes, length);
    assert_int_equal(unpack(&unpacker, &out, &message), UNPACK_DAMAGED);
    assert_true(unpacker.plain.capacity <= FRAME_BODY_MAX * 2);
    buffer_destroy(&out);
    unpacker_destroy(&unpacker);
}

static void
what_is_no_zstd_is_damage(void **state)
{
    (void)state;
    expect_damage("", 0);
    expect_damage("\x81\x00\xc3", 3);
    expect_damage("\x28\xb5\x2f\xfd", 4); // its magic alone
    // A skippable frame, which holds nothing
    expect_damage("\x50\x2a\x4d\x18\x04\x00\x00\x00"
                  "abcd",
                  12);
}

static void
a_content_that_is_longer_than_allowed_is_not_unpacked(void **state)
{
    (void)state;
    static const unsigned char bomb[FRAME_BODY_MAX + 1u];
    static unsigned char packed[4096];
    size_t made = ZSTD_compress(packed, sizeof packed, bomb, sizeof bomb, 3);
    assert_false(ZSTD_isError(made));
    expect_damage(packed, made);

    // Two that are short enough, one behind the other
    made = ZSTD_compress(packed, sizeof packed, "\x80", 1, 3);
    memcpy(packed + made, packed, made);
    expect_damage(packed, made * 2);
    expect_damage(packed, made - 1);
}

// Content sizes from one byte to 16 MiB, none of which is true.
static void
a_content_size_that_lies_is_damage(void **state)
{
    (void)state;
    unsigned char plain[300] = {0x80};
    unsigned char packed[512];
    size_t made = ZSTD_compress(packed, sizeof packed, plain, sizeof plain, 3);
    assert_false(ZSTD_isError(made));
    // A frame of one segment: its content size, less 256, in two bytes behind the head.
    assert_int_equal(packed[4], 0x60);
    for (unsigned claim = 0; claim <= 0xffff; claim += 97) {
        packed[5] = (unsigned char)claim;
        packed[6] = (unsigned char)(claim >> 8);
        expect_damage(packed, made);
    }
    // The same, but not told: streams are made so.
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    made = ZSTD_compress2(context, packed, sizeof packed, "\x80", 1);
    assert_false(ZSTD_isError(made));
    expect_damage(packed, made);
    ZSTD_freeCCtx(context);
}

static void
kinds_and_flags_of_a_newer_writer_are_not_damage(void **state)
{
    (void)state;
    struct unpacker unpacker = {0};
    struct message message;
    struct frame frame = {.kind = 99, .body_length = 1};
    assert_int_equal(
        unpack_frame(&unpacker, &frame, (const unsigned char *)"x", &message),
        UNPACK_UNKNOWN);
    frame = (struct frame){.kind = MESSAGE_HELLO, .flags = 0x82, .body_length = 1};
    assert_int_equal(
        unpack_frame(&unpacker, &frame, (const unsigned char *)"x", &message),
        UNPACK_UNKNOWN);
    unpacker_destroy(&unpacker);
}

static void
without_memory_packing_and_unpacking_say_so_and_keep_what_was(void **state)
{
    (void)state;
    struct buffer sound = {0};
    struct packer first = {0};
    assert_true(pack_frame(&first, &sound, &large));
    packer_destroy(&first);
    bool packed = false;
    for (int allowed = 0; !packed; allowed++) {
        struct packer packer = {0};
        struct buffer out = {0};
        assert_true(buffer_append(&out, "before", 6));
        memory_allow(allowed);
        packed = pack_frame(&packer, &out, &large);
        assert_int_equal(packed, !memory_ran_out());
        memory_allow(-1);
        if (!packed) {
            assert_int_equal(out.length, 6);
            assert_false(buffer_ok(&out));
        }
        buffer_destroy(&out);
        packer_destroy(&packer);
        assert_true(allowed > 0 || !packed);
    }
    bool unpacked = false;
    for (int allowed = 0; !unpacked; allowed++) {
        struct unpacker unpacker = {0};
        struct message message;
        memory_allow(allowed);
        enum unpack_status status = unpack(&unpacker, &sound, &message);
        unpacked = status == UNPACK_MESSAGE;
        assert_true(unpacked || status == UNPACK_NO_MEMORY);
        memory_allow(-1);
        unpacker_destroy(&unpacker);
        assert_true(allowed > 0 || !unpacked);
    }
    buffer_destroy(&sound);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_comes_out_as_it_went_in),
        cmocka_unit_test(a_body_is_compressed_where_that_makes_it_shorter),
        cmocka_unit_test(the_dump_of_the_specification_is_understood),
        cmocka_unit_test(what_is_no_zstd_is_damage),
        cmocka_unit_test(a_content_that_is_longer_than_allowed_is_not_unpacked),
        cmocka_unit_test(a_content_size_that_lies_is_damage),
        cmocka_unit_test(kinds_and_flags_of_a_newer_writer_are_not_damage),
        cmocka_unit_test(without_memory_packing_and_unpacking_say_so_and_keep_what_was),
    };
    return cmocka_run_group_tests(tests, fill_rows, NULL);
}
