// Recordings that were damaged, cut short or made to do harm: read as far as they are
// sound, with words about the rest, and never a crash.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tui/record/scene.h"
#include "tui/record/verify.h"

#define CLASSES 12
#define CHANGING 5
#define SECONDS 9

static const struct writer_options often = {WRITER_NEW, 0, 3000000};

// A small recording with four groups: at the start, where nothing is known yet, after
// a second, and then every three.
static struct buffer
small_recording(void)
{
    scene_record("small", CLASSES, CHANGING, SECONDS, &often);
    struct buffer content = scene_read(scene_path("small"));
    assert_int_equal(unlink(scene_path("small")), 0);
    return content;
}

// How many frames of the recording begin and are sound.
static uint64_t
count_frames(struct tape *tape)
{
    struct verify_report report;
    assert_true(verify_tape(tape, &report));
    return report.frames;
}

static void
any_flipped_bit_costs_one_frame_and_is_told(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    scene_write(scene_path("whole"), content.bytes, content.length);
    struct tape *whole = scene_open(scene_path("whole"));
    uint64_t frames = count_frames(whole);
    assert_int_equal(tape_key_count(whole), 4);
    tape_free(whole);
    for (size_t at = 0; at < content.length; at++) {
        content.bytes[at] ^= (unsigned char)(1u << at % 8);
        scene_write(scene_path("flipped"), content.bytes, content.length);
        struct tape *tape = scene_open(scene_path("flipped"));
        struct verify_report report;
        assert_true(verify_tape(tape, &report));
        assert_int_equal(report.frames, frames - 1);
        // At the end it cannot be told from a frame that is being written.
        assert_true(report.damaged > 0 || report.unfinished > 0);
        assert_true(report.damaged == 0 || report.unfinished == 0);
        if (report.damaged > 0) {
            assert_int_equal(report.damaged_times, 1);
            const struct tape_damage *damage = tape_damage_at(tape, 0);
            assert_true(damage->from <= at && at < damage->to);
            assert_false(verify_sound(&report));
        }
        tape_free(tape);
        content.bytes[at] ^= (unsigned char)(1u << at % 8);
    }
    buffer_destroy(&content);
}

// After damage the next key group makes the table right again.
static void
the_table_is_right_again_after_the_next_group(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    static struct table table;
    struct tape *whole;
    scene_write(scene_path("whole"), content.bytes, content.length);
    whole = scene_open(scene_path("whole"));
    uint64_t healed = tape_key_at(whole, 3)->offset;
    tape_free(whole);
    for (size_t at = 0; at < content.length; at++) {
        content.bytes[at] ^= 0x10;
        scene_write(scene_path("flipped"), content.bytes, content.length);
        struct tape *tape = scene_open(scene_path("flipped"));
        struct cursor cursor;
        memset(&table, 0, sizeof table);
        cursor_start(&cursor, tape);
        assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
        if (at < healed) {
            assert_true(table.lost > 0);
            assert_true(table_right(&table, CLASSES, CHANGING));
            assert_true(table.samples >= SECONDS - 1);
        }
        // Wherever one begins, what is shown was so.
        memset(&table, 0, sizeof table);
        bool found = cursor_seek(&cursor, tape, UINT64_MAX);
        assert_true(found);
        assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
        assert_true(table.lost > 0 || !table.key ||
                    table_right(&table, CLASSES, CHANGING));
        tape_free(tape);
        content.bytes[at] ^= 0x10;
    }
    buffer_destroy(&content);
}

static void
a_recording_cut_short_anywhere_loses_its_last_frame_alone(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    uint64_t sound = 0; // bytes of whole frames below `length`
    uint64_t frames = 0;
    for (size_t length = 0; length <= content.length; length++) {
        struct frame frame;
        if (length >= sound + FRAME_HEADER_BYTES &&
            frame_read(content.bytes + sound, &frame) == FRAME_OK &&
            sound + FRAME_HEADER_BYTES + frame.body_length == length) {
            sound = length;
            frames++;
        }
        scene_write(scene_path("short"), content.bytes, length);
        struct tape *tape = scene_open(scene_path("short"));
        struct verify_report report;
        assert_true(verify_tape(tape, &report));
        assert_int_equal(report.frames, frames);
        assert_int_equal(report.unfinished, length - sound);
        assert_int_equal(tape_unfinished(tape), length - sound);
        assert_int_equal(report.damaged, 0);
        assert_true(verify_sound(&report));
        tape_free(tape);
    }
    assert_int_equal(sound, content.length);
    buffer_destroy(&content);
}

static void
bytes_put_in_between_are_passed_over(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    struct buffer mixed = {0};
    size_t at = 0;
    size_t frames = 0;
    while (at < content.length) {
        struct frame frame;
        assert_int_equal(frame_read(content.bytes + at, &frame), FRAME_OK);
        size_t length = FRAME_HEADER_BYTES + frame.body_length;
        // Half a frame, that claims more than there is to the next
        assert_true(buffer_append(&mixed, content.bytes + at, length / 2));
        assert_true(buffer_append(&mixed, content.bytes + at, length));
        at += length;
        frames++;
    }
    scene_write(scene_path("mixed"), mixed.bytes, mixed.length);
    struct tape *tape = scene_open(scene_path("mixed"));
    struct verify_report report;
    assert_true(verify_tape(tape, &report));
    assert_int_equal(report.frames, frames);
    assert_int_equal(report.damaged_times, frames);
    assert_true(tape_rebuilt(tape));
    assert_int_equal(report.unfinished, 0);
    struct buffer words = {0};
    assert_true(verify_describe(&report, tape, &words));
    assert_true(buffer_append(&words, "", 1));
    assert_non_null(strstr((const char *)words.bytes, "NOT SOUND"));
    assert_non_null(strstr((const char *)words.bytes, "damaged: bytes 0 to "));
    assert_non_null(strstr((const char *)words.bytes, "chain of key groups is broken"));
    buffer_destroy(&words);
    tape_free(tape);
    buffer_destroy(&mixed);
    buffer_destroy(&content);
}

static void
what_is_no_recording_is_refused_in_words(void **state)
{
    (void)state;
    char why[256];
    scene_write(scene_path("text"), "Lorem ipsum dolor sit amet, consectetur", 39);
    assert_null(tape_open(scene_path("text"), why, sizeof why));
    assert_non_null(strstr(why, "it is no recording of memtop"));
    assert_null(tape_open(scene_path("nothing"), why, sizeof why));
    assert_non_null(strstr(why, "No such file"));
    assert_null(tape_open("/tmp", why, sizeof why));
    assert_non_null(strstr(why, "it is no regular file"));
    assert_null(tape_open("/dev/zero", why, sizeof why));
    assert_non_null(strstr(why, "it is no regular file"));
}

// Every 32 bytes a header that claims a long body: checking each would take an hour.
static void
a_file_of_headers_alone_is_done_with_soon(void **state)
{
    (void)state;
    size_t length = 12u * 1024 * 1024;
    unsigned char *bytes = malloc(length);
    assert_non_null(bytes);
    const struct frame claim = {.kind = MESSAGE_SAMPLE, .body_length = 4u * 1024 * 1024};
    unsigned char header[FRAME_HEADER_BYTES];
    unsigned char *body = calloc(1, claim.body_length);
    assert_non_null(body);
    frame_seal(header, &claim, body);
    free(body);
    for (size_t at = 0; at < length; at += sizeof header) {
        memcpy(bytes + at, header, sizeof header);
    }
    scene_write(scene_path("headers"), bytes, length);
    free(bytes);
    char why[256];
    assert_null(tape_open(scene_path("headers"), why, sizeof why));
}

// A sound frame, a claim, a sound frame, a claim: every sound one is found.
static void
sound_frames_among_claims_are_all_found(void **state)
{
    (void)state;
    struct buffer mixed = {0};
    struct packer packer = {0};
    struct message notice = {.kind = MESSAGE_NOTICE};
    const struct frame claim = {.kind = MESSAGE_SAMPLE, .body_length = 1u << 20};
    unsigned char header[FRAME_HEADER_BYTES];
    unsigned char *body = calloc(1, claim.body_length);
    assert_non_null(body);
    frame_seal(header, &claim, body);
    free(body);
    uint64_t frames = 0;
    while (mixed.length < 6u * 1024 * 1024) {
        notice.notice.id = frames++;
        assert_true(pack_frame(&packer, &mixed, &notice));
        assert_true(buffer_append(&mixed, header, sizeof header));
    }
    packer_destroy(&packer);
    scene_write(scene_path("claims"), mixed.bytes, mixed.length);
    buffer_destroy(&mixed);
    struct tape *tape = scene_open(scene_path("claims"));
    assert_int_equal(count_frames(tape), frames);
    tape_free(tape);
}

// Nothing but holes behind a recording, as a crash of the system may leave it.
static void
a_hole_at_the_end_is_passed_over(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    scene_write(scene_path("hole"), content.bytes, content.length);
    assert_int_equal(truncate(scene_path("hole"), 64 * 1024 * 1024), 0);
    struct tape *tape = scene_open(scene_path("hole"));
    assert_int_equal(tape_key_count(tape), 4);
    assert_int_equal(tape_unfinished(tape), 64 * 1024 * 1024 - content.length);
    tape_free(tape);
    buffer_destroy(&content);
}

// Keys that point at each other, ahead, or at what is no key.
static void
a_chain_that_leads_nowhere_is_made_anew(void **state)
{
    (void)state;
    static const uint64_t distances[] = {1, 40, UINT64_MAX - 1, 1u << 20};
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        struct buffer content = small_recording();
        struct packer packer = {0};
        struct message begin = {
            .kind = MESSAGE_KEY, .at = {1, 1}
        };
        struct message end = begin;
        begin.key = (struct key_group){true, distances[i], 3, 0, 0, 0, 0, 0};
        end.key = (struct key_group){false, distances[i], 3, 0, 0, 0, 0, 0};
        assert_true(pack_frame(&packer, &content, &begin));
        assert_true(pack_frame(&packer, &content, &end));
        packer_destroy(&packer);
        scene_write(scene_path("chain"), content.bytes, content.length);
        struct tape *tape = scene_open(scene_path("chain"));
        assert_true(tape_rebuilt(tape));
        assert_int_equal(tape_key_count(tape), 5);
        tape_free(tape);
        buffer_destroy(&content);
    }
}

static void
a_frame_of_a_newer_writer_is_passed_over(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    static const struct frame strange[] = {
        {.kind = 77,     .body_length = 5},
        { .kind = MESSAGE_SAMPLE, .flags = 0x40, .body_length = 5},
        { .kind = MESSAGE_SAMPLE, .flags = 0x41, .body_length = 5},
    };
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        unsigned char header[FRAME_HEADER_BYTES];
        frame_seal(header, &strange[i], (const unsigned char *)"hello");
        assert_true(buffer_append(&content, header, sizeof header));
        assert_true(buffer_append(&content, "hello", 5));
    }
    scene_write(scene_path("newer"), content.bytes, content.length);
    struct tape *tape = scene_open(scene_path("newer"));
    struct verify_report report;
    assert_true(verify_tape(tape, &report));
    assert_int_equal(report.unknown, 3);
    assert_true(verify_sound(&report));
    assert_int_equal(report.unfinished, 0);
    tape_free(tape);
    buffer_destroy(&content);
}

// The CRC fits, the body does not.
static void
a_body_that_is_wrong_is_damage(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    size_t before = content.length;
    const struct frame wrong = {.kind = MESSAGE_SAMPLE, .body_length = 4};
    unsigned char header[FRAME_HEADER_BYTES];
    frame_seal(header, &wrong, (const unsigned char *)"\x81\x05\x91\x05");
    assert_true(buffer_append(&content, header, sizeof header));
    assert_true(buffer_append(&content, "\x81\x05\x91\x05", 4));
    assert_true(buffer_append(&content, content.bytes, before));
    scene_write(scene_path("wrong"), content.bytes, content.length);
    struct tape *tape = scene_open(scene_path("wrong"));
    struct verify_report report;
    assert_true(verify_tape(tape, &report));
    assert_int_equal(report.damaged, FRAME_HEADER_BYTES + 4);
    assert_int_equal(tape_damage_at(tape, 0)->from, before);
    tape_free(tape);
    buffer_destroy(&content);
}

// The first frame of a recording is not where reading has to begin.
static void
a_group_that_is_damaged_is_not_started_from(void **state)
{
    (void)state;
    struct buffer content = small_recording();
    scene_write(scene_path("group"), content.bytes, content.length);
    struct tape *tape = scene_open(scene_path("group"));
    size_t last = tape_key_count(tape) - 1;
    assert_int_equal(tape_key_before(tape, UINT64_MAX), last);
    uint64_t inside = tape_key_at(tape, last)->offset + 120;
    tape_free(tape);
    content.bytes[inside] ^= 1;
    scene_write(scene_path("group"), content.bytes, content.length);
    tape = scene_open(scene_path("group"));
    assert_int_equal(tape_key_count(tape), last + 1); // opening reads no bodies
    assert_int_equal(tape_key_before(tape, UINT64_MAX), last - 1);
    tape_free(tape);
    buffer_destroy(&content);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_flipped_bit_costs_one_frame_and_is_told),
        cmocka_unit_test(the_table_is_right_again_after_the_next_group),
        cmocka_unit_test(a_recording_cut_short_anywhere_loses_its_last_frame_alone),
        cmocka_unit_test(bytes_put_in_between_are_passed_over),
        cmocka_unit_test(what_is_no_recording_is_refused_in_words),
        cmocka_unit_test(a_file_of_headers_alone_is_done_with_soon),
        cmocka_unit_test(sound_frames_among_claims_are_all_found),
        cmocka_unit_test(a_hole_at_the_end_is_passed_over),
        cmocka_unit_test(a_chain_that_leads_nowhere_is_made_anew),
        cmocka_unit_test(a_frame_of_a_newer_writer_is_passed_over),
        cmocka_unit_test(a_body_that_is_wrong_is_damage),
        cmocka_unit_test(a_group_that_is_damaged_is_not_started_from),
    };
    return cmocka_run_group_tests(tests, scene_enter, scene_leave);
}
