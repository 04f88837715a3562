#include "protocol/decoder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/protocol/examples.h"

static void
expect(struct decoder *decoder, const struct message *expected)
{
    struct message message;
    assert_int_equal(decoder_next(decoder, &message), DECODE_MESSAGE);
    assert_true(message.kind == expected->kind);
    assert_true(message.at.monotonic_us == expected->at.monotonic_us);
    assert_true(message.at.wall_us == expected->at.wall_us);
    assert_true(example_same(&message, expected));
}

static void
expect_no_more(struct decoder *decoder)
{
    struct message message;
    assert_int_equal(decoder_next(decoder, &message), DECODE_NEED_MORE);
    assert_string_equal(decoder_error(decoder), "");
}

static void
decodes_every_message_however_it_is_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct buffer frame = {0};
        example_encode(&frame, &examples[i].message);
        for (size_t at = 0; at < frame.length; at++) {
            struct decoder decoder = {0};
            decoder_feed(&decoder, frame.bytes, at);
            expect_no_more(&decoder);
            decoder_feed(&decoder, frame.bytes + at, frame.length - at);
            expect(&decoder, &examples[i].message);
            expect_no_more(&decoder);
            assert_true(decoder_finish(&decoder));
            decoder_destroy(&decoder);
        }
        buffer_destroy(&frame);
    }
}

static void
encode_all(struct buffer *stream)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        example_encode(stream, &examples[i].message);
    }
}

static void
decodes_a_stream_in_pieces_of_any_size(void **state)
{
    (void)state;
    struct buffer stream = {0};
    encode_all(&stream);
    for (size_t piece = 1; piece <= stream.length; piece++) {
        struct decoder decoder = {0};
        struct message message;
        size_t seen = 0;
        for (size_t at = 0; at < stream.length; at += piece) {
            size_t left = stream.length - at;
            decoder_feed(&decoder, stream.bytes + at, left < piece ? left : piece);
            while (decoder_next(&decoder, &message) == DECODE_MESSAGE) {
                assert_true(example_same(&message, &examples[seen].message));
                seen++;
            }
        }
        assert_int_equal(seen, EXAMPLES);
        assert_true(decoder_finish(&decoder));
        decoder_destroy(&decoder);
    }
    buffer_destroy(&stream);
}

// Quadratic work would take minutes here.
static void
decodes_a_large_sample_that_comes_byte_by_byte(void **state)
{
    (void)state;
    static struct class_row rows[50000];
    struct message sample = {
        .kind = MESSAGE_SAMPLE,
        .sample = {.key = true, .rows = rows, .row_count = 50000}
    };
    struct buffer frame = {0};
    struct decoder decoder = {0};
    for (size_t i = 0; i < 50000; i++) {
        rows[i] =
            (struct class_row){(class_id)i, i * 7, i * 1000, i * 993, COUNT_UNKNOWN};
    }
    example_encode(&frame, &sample);
    for (size_t i = 0; i < frame.length; i++) {
        expect_no_more(&decoder);
        decoder_feed(&decoder, frame.bytes + i, 1);
    }
    expect(&decoder, &sample);
    decoder_destroy(&decoder);
    buffer_destroy(&frame);
}

static void
keeps_no_more_input_than_it_still_needs(void **state)
{
    (void)state;
    struct buffer stream = {0};
    struct decoder decoder = {0};
    struct message message;
    encode_all(&stream);
    for (int round = 0; round < 1000; round++) {
        decoder_feed(&decoder, stream.bytes, stream.length);
        while (decoder_next(&decoder, &message) == DECODE_MESSAGE) {
        }
    }
    assert_true(decoder.input.capacity < 8 * stream.length);
    decoder_destroy(&decoder);
    buffer_destroy(&stream);
}

static void
leaves_a_message_alone_while_more_is_fed(void **state)
{
    (void)state;
    struct buffer stream = {0};
    struct decoder decoder = {0};
    struct message message;
    encode_all(&stream);
    decoder_feed(&decoder, stream.bytes, stream.length);
    assert_int_equal(decoder_next(&decoder, &message), DECODE_MESSAGE);
    for (int round = 0; round < 1000; round++) {
        decoder_feed(&decoder, stream.bytes, stream.length);
    }
    assert_true(example_same(&message, &examples[0].message));
    decoder_destroy(&decoder);
    buffer_destroy(&stream);
}

static void
carries_names_of_any_bytes_untouched(void **state)
{
    (void)state;
    const struct class_name hostile[] = {
        {1,          0,          {"\x1b[2J\x1b]0;owned\a", 15}      },
        {2,          0,          {"a\0b", 3}                        },
        {3,          0,          {"\xff\xfe\xc3\x28\xed\xa0\x80", 7}},
        {UINT32_MAX, UINT32_MAX, {"", 0}                            },
    };
    struct message names = {
        .kind = MESSAGE_NAMES, .names = {hostile, 4}
    };
    struct buffer frame = {0};
    struct decoder decoder = {0};
    struct message message;
    example_encode(&frame, &names);
    decoder_feed(&decoder, frame.bytes, frame.length);
    assert_int_equal(decoder_next(&decoder, &message), DECODE_MESSAGE);
    assert_int_equal(message.names.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct class_name *name = &message.names.list[i];
        assert_true(name->id == hostile[i].id && name->flags == hostile[i].flags);
        assert_int_equal(name->name.length, hostile[i].name.length);
        assert_memory_equal(name->name.bytes, hostile[i].name.bytes, name->name.length);
    }
    decoder_destroy(&decoder);
    buffer_destroy(&frame);
}

static void
skips_what_it_does_not_know_and_counts_it(void **state)
{
    (void)state;
    struct buffer stream = {0};
    struct decoder decoder = {0};
    example_frame(&stream, 200, "not even msgpack", 16);
    example_frame(&stream, 0, NULL, 0);
    example_encode(&stream, &examples[0].message);
    example_frame(&stream, 255, "\x80", 1);
    decoder_feed(&decoder, stream.bytes, stream.length);
    expect(&decoder, &examples[0].message);
    assert_int_equal(decoder.skipped, 2);
    expect_no_more(&decoder);
    assert_int_equal(decoder.skipped, 3);
    decoder_destroy(&decoder);
    buffer_destroy(&stream);
}

// Compressed bodies belong into files, and a flag may one day say something else.
static void
skips_a_frame_with_any_flag(void **state)
{
    (void)state;
    for (unsigned flag = FRAME_ZSTD; flag <= 0x80; flag <<= 1) {
        struct buffer stream = {0};
        struct decoder decoder = {0};
        struct frame frame;
        example_encode(&stream, &examples[0].message);
        assert_int_equal(frame_read(stream.bytes, &frame), FRAME_OK);
        frame.flags = (uint8_t)flag;
        frame_seal(stream.bytes, &frame, stream.bytes + FRAME_HEADER_BYTES);
        decoder_feed(&decoder, stream.bytes, stream.length);
        expect_no_more(&decoder);
        assert_int_equal(decoder.skipped, 1);
        decoder_destroy(&decoder);
        buffer_destroy(&stream);
    }
}

static void
checks_the_crc_of_what_it_skips(void **state)
{
    (void)state;
    struct buffer stream = {0};
    struct decoder decoder = {0};
    struct message message;
    example_frame(&stream, 200, "abc", 3);
    stream.bytes[stream.length - 1] ^= 1;
    decoder_feed(&decoder, stream.bytes, stream.length);
    assert_int_equal(decoder_next(&decoder, &message), DECODE_FAILED);
    assert_string_equal(decoder_error(&decoder),
                        "byte 0: damaged frame: its CRC does not fit");
    decoder_destroy(&decoder);
    buffer_destroy(&stream);
}

// Decode a body of ours; the message is good until decoder_destroy().
static enum decode_status
decode_body(struct decoder *decoder, uint8_t kind, const char *body, size_t length,
            struct message *message)
{
    struct buffer frame = {0};
    example_frame(&frame, kind, body, length);
    decoder_feed(decoder, frame.bytes, frame.length);
    buffer_destroy(&frame);
    return decoder_next(decoder, message);
}

static void
ignores_keys_and_columns_of_a_newer_sender(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    struct message message;
    const char notice[] = "\x84\x00\x07\x63\x93\x01\xa1x\x80\xa1k\xc3\x02\xa2hi";
    assert_int_equal(
        decode_body(&decoder, MESSAGE_NOTICE, notice, sizeof notice - 1, &message),
        DECODE_MESSAGE);
    assert_true(message.notice.id == 7);
    assert_int_equal(message.notice.text.length, 2);

    const char names[] = "\x81\x00\x91\x94\x05\x01\xa1x\xcb\0\0\0\0\0\0\0\0";
    assert_int_equal(
        decode_body(&decoder, MESSAGE_NAMES, names, sizeof names - 1, &message),
        DECODE_MESSAGE);
    assert_int_equal(message.names.count, 1);
    assert_int_equal(message.names.list[0].id, 5);
    decoder_destroy(&decoder);
}

static void
fills_what_an_older_sender_leaves_out(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    struct message message;
    assert_int_equal(decode_body(&decoder, MESSAGE_SAMPLE, "\x80", 1, &message),
                     DECODE_MESSAGE);
    assert_false(message.sample.key);
    assert_true(message.sample.mode == COUNT_UNKNOWN);
    assert_true(message.sample.process.heap_age_ms == COUNT_UNKNOWN);
    assert_true(message.sample.totals.live == COUNT_UNKNOWN);
    assert_int_equal(message.sample.row_count, 0);

    // {5: [[9, 3]]}: a row cut after
    assert_int_equal(
        decode_body(&decoder, MESSAGE_SAMPLE, "\x81\x05\x91\x92\x09\x03", 6, &message),
        DECODE_MESSAGE);
    assert_int_equal(message.sample.row_count, 1);
    assert_true(message.sample.rows[0].id == 9 && message.sample.rows[0].live == 3);
    assert_true(message.sample.rows[0].bytes == COUNT_UNKNOWN);

    assert_int_equal(decode_body(&decoder, MESSAGE_HELLO, "\x80", 1, &message),
                     DECODE_MESSAGE);
    assert_true(message.hello.version == 0 && message.hello.pid == 0);
    assert_true(message.hello.mode == COUNT_UNKNOWN);
    assert_int_equal(message.hello.command.length, 0);
    decoder_destroy(&decoder);
}

static void
takes_binary_for_text(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    struct message message;
    assert_int_equal(
        decode_body(&decoder, MESSAGE_NOTICE, "\x81\x02\xc4\x02\xff!", 6, &message),
        DECODE_MESSAGE);
    assert_int_equal(message.notice.text.length, 2);
    assert_memory_equal(message.notice.text.bytes, "\xff!", 2);
    decoder_destroy(&decoder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_every_message_however_it_is_split),
        cmocka_unit_test(decodes_a_stream_in_pieces_of_any_size),
        cmocka_unit_test(decodes_a_large_sample_that_comes_byte_by_byte),
        cmocka_unit_test(keeps_no_more_input_than_it_still_needs),
        cmocka_unit_test(leaves_a_message_alone_while_more_is_fed),
        cmocka_unit_test(carries_names_of_any_bytes_untouched),
        cmocka_unit_test(skips_what_it_does_not_know_and_counts_it),
        cmocka_unit_test(skips_a_frame_with_any_flag),
        cmocka_unit_test(checks_the_crc_of_what_it_skips),
        cmocka_unit_test(ignores_keys_and_columns_of_a_newer_sender),
        cmocka_unit_test(fills_what_an_older_sender_leaves_out),
        cmocka_unit_test(takes_binary_for_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
