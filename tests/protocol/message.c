#include "protocol/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/protocol/examples.h"

static void
encodes_each_message_to_the_bytes_that_the_specification_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct buffer specified = {0};
        struct buffer encoded = {0};
        print_message("%s\n", examples[i].name);
        example_specified(&specified, examples[i].name);
        example_encode(&encoded, &examples[i].message);
        assert_int_equal(encoded.length, specified.length);
        assert_memory_equal(encoded.bytes, specified.bytes, specified.length);
        buffer_destroy(&encoded);
        buffer_destroy(&specified);
    }
}

// The length of a notice's text after encoding and decoding it.
static size_t
sent_length(const char *bytes, size_t length)
{
    struct message notice = {
        .kind = MESSAGE_NOTICE, .notice = {1, 0, {bytes, length}}
    };
    struct buffer frame = {0};
    struct decoder decoder = {0};
    struct message seen;
    example_encode(&frame, &notice);
    decoder_feed(&decoder, frame.bytes, frame.length);
    assert_int_equal(decoder_next(&decoder, &seen), DECODE_MESSAGE);
    size_t sent = seen.notice.text.length;
    assert_memory_equal(seen.notice.text.bytes, bytes, sent);
    decoder_destroy(&decoder);
    buffer_destroy(&frame);
    return sent;
}

static void
cuts_long_texts_between_characters(void **state)
{
    (void)state;
    char text[MESSAGE_TEXT_MAX + 8];
    memset(text, 'a', sizeof text);
    assert_int_equal(sent_length(text, MESSAGE_TEXT_MAX), MESSAGE_TEXT_MAX);
    assert_int_equal(sent_length(text, sizeof text), MESSAGE_TEXT_MAX);

    memcpy(text + MESSAGE_TEXT_MAX - 2, "\xe2\x82\xac", 3); // €
    assert_int_equal(sent_length(text, sizeof text), MESSAGE_TEXT_MAX - 2);
    assert_int_equal(sent_length(text, MESSAGE_TEXT_MAX + 1), MESSAGE_TEXT_MAX - 2);

    memset(text, 0x80, sizeof text); // no characters at all: cut near the maximum
    assert_int_equal(sent_length(text, sizeof text), MESSAGE_TEXT_MAX - 3);
}

static void
refuses_a_frame_above_the_maximum_and_leaves_the_buffer(void **state)
{
    (void)state;
    size_t count = 400000; // rows of 43 bytes
    struct class_row *rows = malloc(count * sizeof *rows);
    assert_non_null(rows);
    memset(rows, 0xee, count * sizeof *rows);
    struct message sample = {
        .kind = MESSAGE_SAMPLE,
        .sample = {.rows = rows, .row_count = count},
    };
    struct buffer out = {0};
    example_encode(&out, &examples[0].message);
    size_t before = out.length;
    assert_false(message_encode(&out, &sample));
    assert_false(buffer_ok(&out));
    assert_int_equal(out.length, before);
    assert_false(message_encode(&out, &examples[0].message)); // the failure sticks
    buffer_destroy(&out);
    free(rows);
}

static void
names_every_mode_and_reads_the_names_back(void **state)
{
    (void)state;
    for (unsigned mode = MODE_DORMANT; mode <= MODE_TRACE; mode++) {
        enum probe_mode read;
        assert_true(mode_parse(mode_name(mode), &read));
        assert_int_equal(read, mode);
    }
    enum probe_mode untouched = MODE_COUNT;
    assert_false(mode_parse("unknown", &untouched));
    assert_int_equal(untouched, MODE_COUNT);
    assert_string_equal(mode_name(MODE_CENSUS), "census");
    assert_string_equal(mode_name(COUNT_UNKNOWN), "unknown");
}

static void
names_every_verdict_but_the_one_that_is_none(void **state)
{
    (void)state;
    assert_null(verdict_name(VERDICT_NONE));
    assert_string_equal(verdict_name(VERDICT_NEW), "new");
    assert_string_equal(verdict_name(VERDICT_STEADY), "steady");
    assert_string_equal(verdict_name(VERDICT_CHURN), "churn");
    assert_string_equal(verdict_name(VERDICT_GROWING), "growing");
    assert_string_equal(verdict_name(VERDICT_LEAK), "leak?");
    assert_null(verdict_name(VERDICT_LEAK + 1)); // a newer probe's
    assert_null(verdict_name(COUNT_UNKNOWN));
}

static void
labels_every_frame_that_is_no_place_in_the_program(void **state)
{
    (void)state;
    for (uint32_t frame = FRAME_ROOT; frame <= FRAME_NO_STACK; frame++) {
        const char *label = special_frame_label(frame);
        assert_non_null(label);
        assert_int_equal(label[0], '('); // no method is called so
    }
    assert_string_equal(special_frame_label(FRAME_BEFORE_TRACING), "(before tracing)");
    assert_string_equal(special_frame_label(FRAME_OTHER), "(other)");
    assert_null(special_frame_label(FRAME_NO_STACK + 1));
    assert_null(special_frame_label(FRAME_FIRST));
    assert_null(special_frame_label(UINT32_MAX));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_each_message_to_the_bytes_that_the_specification_shows),
        cmocka_unit_test(cuts_long_texts_between_characters),
        cmocka_unit_test(refuses_a_frame_above_the_maximum_and_leaves_the_buffer),
        cmocka_unit_test(names_every_mode_and_reads_the_names_back),
        cmocka_unit_test(names_every_verdict_but_the_one_that_is_none),
        cmocka_unit_test(labels_every_frame_that_is_no_place_in_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
