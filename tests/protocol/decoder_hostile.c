// What a peer sends that is no memtop, is broken, or means harm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/decoder.h"
#include "tests/protocol/examples.h"

static void
expect_failure(struct decoder *decoder, const char *words)
{
    struct message message;
    assert_int_equal(decoder_next(decoder, &message), DECODE_FAILED);
    assert_string_equal(decoder_error(decoder), words);
    decoder_feed(decoder, "MTOP", 4); // it sticks, and nothing is kept
    assert_int_equal(decoder_next(decoder, &message), DECODE_FAILED);
    assert_string_equal(decoder_error(decoder), words);
    assert_null(decoder->input.bytes);
    assert_false(decoder_finish(decoder));
}

static void
says_so_when_the_peer_is_something_else(void **state)
{
    (void)state;
    const char *const greetings[] = {"H", "HTTP/1.1 400 Bad Request\r\n", "MTO!"};
    for (size_t i = 0; i < sizeof greetings / sizeof greetings[0]; i++) {
        struct decoder decoder = {0};
        decoder_feed(&decoder, greetings[i], strlen(greetings[i]));
        expect_failure(&decoder, "byte 0: not memtop's protocol");
        decoder_destroy(&decoder);
    }
}

static void
says_at_which_byte_the_stream_lost_its_place(void **state)
{
    (void)state;
    struct buffer stream = {0};
    struct decoder decoder = {0};
    struct message message;
    example_frame(&stream, 200, NULL, 0);
    example_encode(&stream, &examples[0].message);
    decoder_feed(&decoder, stream.bytes, stream.length);
    assert_int_equal(decoder_next(&decoder, &message), DECODE_MESSAGE);
    decoder_feed(&decoder, "x", 1);
    assert_int_equal(stream.length, 123);
    expect_failure(&decoder, "byte 123: no frame begins here");
    decoder_destroy(&decoder);
    buffer_destroy(&stream);
}

static void
refuses_four_gigabytes_as_soon_as_the_header_is_there(void **state)
{
    (void)state;
    unsigned char header[FRAME_HEADER_BYTES];
    struct decoder decoder = {0};
    frame_write(header, MESSAGE_SAMPLE, (struct stamp){1, 2}, NULL, 0);
    memset(header + 4, 0xff, 4);
    decoder_feed(&decoder, header, sizeof header);
    expect_failure(&decoder, "byte 0: frame of 4294967295 bytes, the most is 16777216");
    decoder_destroy(&decoder);
}

static void
describes_a_truncated_stream(void **state)
{
    (void)state;
    struct buffer frame = {0};
    example_encode(&frame, &examples[0].message);
    for (size_t length = 0; length <= frame.length; length++) {
        struct decoder decoder = {0};
        struct message message;
        bool whole = length == 0 || length == frame.length;
        decoder_feed(&decoder, frame.bytes, length);
        (void)decoder_next(&decoder, &message);
        assert_int_equal(decoder_finish(&decoder), whole);
        if (length == 7) {
            assert_string_equal(decoder_error(&decoder),
                                "byte 0: the stream ends 7 bytes into a frame");
        }
        decoder_destroy(&decoder);
    }
    buffer_destroy(&frame);
}

// A flip in the length may make the decoder wait for more; any other must fail.
static void
lets_no_flipped_bit_through(void **state)
{
    (void)state;
    struct buffer stream = {0};
    struct message message;
    example_encode(&stream, &examples[0].message);
    size_t first = stream.length;
    example_encode(&stream, &examples[3].message);
    for (size_t bit = 0; bit < stream.length * 8; bit++) {
        struct decoder decoder = {0};
        stream.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        decoder_feed(&decoder, stream.bytes, stream.length);
        if (bit / 8 >= first) {
            assert_int_equal(decoder_next(&decoder, &message), DECODE_MESSAGE);
            assert_true(example_same(&message, &examples[0].message));
        }
        assert_int_not_equal(decoder_next(&decoder, &message), DECODE_MESSAGE);
        assert_false(decoder_finish(&decoder));
        decoder_destroy(&decoder);
        stream.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    buffer_destroy(&stream);
}

struct attack {
    uint8_t kind;
    const char *body;
    size_t length;
    const char *words;
};

static void
names_the_field_that_is_not_what_it_should_be(void **state)
{
    (void)state;
    const struct attack attacks[] = {
        {MESSAGE_HELLO,    "",                                             0,  "byte 0: hello: it ends too early"             },
        {MESSAGE_HELLO,    "\xdd\xff\xff\xff\xff",                         5,
         "byte 0: hello: it claims more than it holds"                                                                        },
        {MESSAGE_HELLO,    "\xdf\xff\xff\xff\xff",                         5,
         "byte 0: hello: it claims more than it holds"                                                                        },
        {MESSAGE_SAMPLE,   "\x81\x05\xdd\xff\xff\xff\xff",                 7,
         "byte 0: sample: it claims more than it holds"                                                                       },
        {MESSAGE_BYE,      "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x00",     10,
         "byte 0: bye: nested too deep"                                                                                       },
        {MESSAGE_BYE,      "\x80\x80",                                     2,  "byte 0: bye: bytes are left behind it"        },
        {MESSAGE_BYE,      "\x90",                                         1,  "byte 0: bye must be a map"                    },
        {MESSAGE_HELLO,    "\x81\x00\xa1x",                                4,
         "byte 0: hello.version must be a number from 0 up"                                                                   },
        {MESSAGE_HELLO,    "\x81\x00\xff",                                 3,
         "byte 0: hello.version must be a number from 0 up"                                                                   },
        {MESSAGE_HELLO,    "\x81\x02\xc0",                                 3,
         "byte 0: hello.pid must be a number from 0 up"                                                                       },
        {MESSAGE_HELLO,    "\x81\x04\x01",                                 3,  "byte 0: hello.command must be a text"         },
        {MESSAGE_BYE,      "\x81\x01\xc3",                                 3,
         "byte 0: bye.status must be a number from 0 up, or nil"                                                              },
        {MESSAGE_SAMPLE,   "\x81\x00\x01",                                 3,  "byte 0: sample.key must be true or false"     },
        {MESSAGE_SAMPLE,   "\x81\x02\xc0",                                 3,  "byte 0: sample.process must be a list"        },
        {MESSAGE_SAMPLE,   "\x81\x02\x92\x01\xc2",                         5,
         "byte 0: sample.process.heap_slots_live must be a number from 0 up, or nil"                                          },
        {MESSAGE_SAMPLE,   "\x81\x05\x91\x05",                             4,  "byte 0: sample.rows must be a list"           },
        {MESSAGE_SAMPLE,   "\x81\x05\x80",                                 3,  "byte 0: sample.rows must be a list"           },
        {MESSAGE_SAMPLE,   "\x81\x05\x91\x91\xcf\0\0\0\1\0\0\0\0",         13,
         "byte 0: sample.rows.id must be a number of 32 bits"                                                                 },
        {MESSAGE_SAMPLE,   "\x81\x06\x91\xc0",                             4,
         "byte 0: sample.gone must be a number of 32 bits"                                                                    },
        {MESSAGE_TREE,     "\x81\x0c\xdd\x7f\xff\xff\xff",                 7,
         "byte 0: tree: it claims more than it holds"                                                                         },
        {MESSAGE_TREE,     "\x81\x01\x01",                                 3,  "byte 0: tree.key must be true or false"       },
        {MESSAGE_TREE,     "\x81\x0b\x91\x91\xff",                         5,
         "byte 0: tree.nodes.id must be a number of 32 bits"                                                                  },
        {MESSAGE_TREE,     "\x81\x0b\x91\x92\x01\xc0",                     6,
         "byte 0: tree.nodes.parent must be a number of 32 bits"                                                              },
        {MESSAGE_TREE,     "\x81\x0c\x91\x01",                             4,  "byte 0: tree.sites must be a list"            },
        {MESSAGE_TREE,     "\x81\x0c\x91\x96\x01\x00\x01\x01\x01\x91",     10,
         "byte 0: tree: it claims more than it holds"                                                                         },
        {MESSAGE_TREE,     "\x81\x0c\x91\x96\x01\x00\x01\x01\x01\x90",     10,
         "byte 0: tree.sites.ages[0] must be a number from 0 up, or nil"                                                      },
        {MESSAGE_FRAMES,   "\x81\x00\x91\x93\x10\x00\xc0",                 7,
         "byte 0: frames.list.label must be a text"                                                                           },
        {MESSAGE_FRAMES,   "\x81\x00\x91\x95\x10\x00\xa0\xa0\xc0",         9,
         "byte 0: frames.list.line must be a number from 0 up"                                                                },
        {MESSAGE_VERDICTS, "\x81\x00\x91\x92\x01\xc0",                     6,
         "byte 0: verdicts.list.verdict must be a number from 0 up"                                                           },
        {MESSAGE_VERDICTS, "\x81\x00\x91\x97\x01\x05\xc0\xc0\xc0\xc0\x01", 11,
         "byte 0: verdicts.list.reason must be a text"                                                                        },
        {MESSAGE_TAGS,     "\x81\x01\x91\x92\x02\x05",                     6,
         "byte 0: tags_state.names.text must be a text"                                                                       },
        {MESSAGE_TAGS,     "\x81\x02\xdd\x7f\xff\xff\xff",                 7,
         "byte 0: tags_state: it claims more than it holds"                                                                   },
        {MESSAGE_TAGS,     "\x81\x03\x91\x93\x02\x01\xa0",                 7,
         "byte 0: tags_state.classes.allocated must be a number from 0 up, or nil"                                            },
        {MESSAGE_MARK,     "\x81\x00\xcf\0\0\0\1\0\0\0\0",                 11,
         "byte 0: mark_state.letter must be a number of 32 bits"                                                              },
        {MESSAGE_MARK,     "\x81\x01\x01",                                 3,
         "byte 0: mark_state.counted must be true or false"                                                                   },
        {MESSAGE_MARK,     "\x81\x04\xc0",                                 3,
         "byte 0: mark_state.at_monotonic_us must be a number from 0 up"                                                      },
        {MESSAGE_MARK,     "\x81\x06\xdd\x7f\xff\xff\xff",                 7,
         "byte 0: mark_state: it claims more than it holds"                                                                   },
        {MESSAGE_MARK,     "\x81\x06\x91\x92\x01\xc2",                     6,
         "byte 0: mark_state.rows.live must be a number from 0 up, or nil"                                                    },
        {MESSAGE_MARK,     "\x81\x07\x91\x93\x01\x00\xc2",                 7,
         "byte 0: mark_state.places.live must be a finite number, or nil"                                                     },
        {MESSAGE_MARK,     "\x81\x07\x91\x93\x01\x00\xca\x7f\x80\0\0",     11,
         "byte 0: mark_state.places.live must be a finite number, or nil"                                                     },
        {MESSAGE_GAP,      "\x81\x00\xa0",                                 3,
         "byte 0: gap.reason must be a number from 0 up, or nil"                                                              },
        {MESSAGE_GAP,      "\x81\x01\x00",                                 3,  "byte 0: gap.text must be a text"              },
        {MESSAGE_LEFT,     "\x81\x00\x91\x92\x01\xa0",                     6,
         "byte 0: left.list.former_id must be a number from 0 up, or nil"                                                     },
        {MESSAGE_KEY,      "\x81\x00\x00",                                 3,  "byte 0: key_group.begin must be true or false"},
        {MESSAGE_KEY,      "\x81\x01\xff",                                 3,
         "byte 0: key_group.previous must be a number from 0 up"                                                              },
        {MESSAGE_KEY,      "\x81\x06\xc3",                                 3,
         "byte 0: key_group.mode must be a number from 0 up, or nil"                                                          },
    };
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        const struct attack *attack = &attacks[i];
        struct buffer frame = {0};
        struct decoder decoder = {0};
        example_frame(&frame, attack->kind, attack->body, attack->length);
        decoder_feed(&decoder, frame.bytes, frame.length);
        expect_failure(&decoder, attack->words);
        decoder_destroy(&decoder);
        buffer_destroy(&frame);
    }
}

// An older probe's rows are shorter, a newer one's longer.
static void
takes_rows_of_other_versions(void **state)
{
    (void)state;
    static const char body[] = "\x83\x00\x07\x0b\x91\x93\x10\x00\x11\x0c\x92"
                               "\x93\x10\x00\x05"
                               "\x9a\x10\x02\x01\x02\x03\x04\x05\x06\x07\xa1x";
    struct buffer frame = {0};
    struct decoder decoder = {0};
    struct message message;
    example_frame(&frame, MESSAGE_TREE, body, sizeof body - 1);
    decoder_feed(&decoder, frame.bytes, frame.length);
    assert_int_equal(decoder_next(&decoder, &message), DECODE_MESSAGE);
    const struct tree *tree = &message.tree;
    assert_int_equal(tree->class_id, 7);
    assert_true(tree->live == COUNT_UNKNOWN && tree->since_us == COUNT_UNKNOWN);
    assert_int_equal(tree->node_count, 1);
    assert_int_equal(tree->nodes[0].frame, 17);
    assert_int_equal(tree->nodes[0].block, 0);
    assert_int_equal(tree->site_count, 2);
    assert_int_equal(tree->sites[0].live, 5);
    assert_true(tree->sites[0].bytes == COUNT_UNKNOWN);
    assert_true(tree->sites[0].ages[AGE_BUCKETS - 1] == COUNT_UNKNOWN);
    assert_int_equal(tree->sites[1].ages[AGE_BUCKETS - 1], 7);
    decoder_destroy(&decoder);
    buffer_destroy(&frame);
}

static void
refuses_texts_above_the_maximum(void **state)
{
    (void)state;
    unsigned char body[5 + MESSAGE_TEXT_MAX + 1] = {0x81, 0x02, 0xda, 0x10, 0x01};
    struct buffer frame = {0};
    struct decoder decoder = {0};
    example_frame(&frame, MESSAGE_BYE, body, sizeof body);
    decoder_feed(&decoder, frame.bytes, frame.length);
    expect_failure(&decoder, "byte 0: bye.text is a text above the longest allowed");
    decoder_destroy(&decoder);
    buffer_destroy(&frame);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_so_when_the_peer_is_something_else),
        cmocka_unit_test(says_at_which_byte_the_stream_lost_its_place),
        cmocka_unit_test(refuses_four_gigabytes_as_soon_as_the_header_is_there),
        cmocka_unit_test(describes_a_truncated_stream),
        cmocka_unit_test(lets_no_flipped_bit_through),
        cmocka_unit_test(names_the_field_that_is_not_what_it_should_be),
        cmocka_unit_test(takes_rows_of_other_versions),
        cmocka_unit_test(refuses_texts_above_the_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
