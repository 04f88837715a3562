// Reading: the ring in memory, and files that are long, grow, and are replaced.
#include "tui/record/tape.h"

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

#define CLASSES 60
#define CHANGING 20
#define MINUTE_US 60000000u

static struct table table;

static void
play_from(struct tape *tape, uint64_t wall_us, uint64_t until_us)
{
    struct cursor cursor;
    memset(&table, 0, sizeof table);
    assert_true(cursor_seek(&cursor, tape, wall_us));
    (void)table_play(&table, &cursor, tape, until_us);
}

static void
a_ring_keeps_the_newest_groups_and_what_follows_them(void **state)
{
    (void)state;
    const size_t most = 200000;
    struct story story;
    struct tape *ring = tape_new(most);
    assert_non_null(ring);
    story_begin(&story, CLASSES, CHANGING, SEED);
    uint64_t first = tape_first(ring);
    bool dropped = false;
    for (int minute = 0; minute < 40; minute++) {
        struct stamp begin;
        struct stamp end;
        assert_true(scene_add(&story, NULL, ring, 60));
        assert_true(tape_memory(ring) <= most);
        assert_true(tape_first(ring) >= first);
        dropped = dropped || tape_first(ring) > first;
        first = tape_first(ring);
        assert_true(tape_key_at(ring, 0)->offset == first);
        assert_true(tape_span(ring, &begin, &end));
        assert_true(end.wall_us == story.at.wall_us);
        play_from(ring, UINT64_MAX, UINT64_MAX);
        assert_true(table.at.wall_us == end.wall_us);
        assert_true(table_right(&table, CLASSES, CHANGING));
    }
    assert_true(dropped);
    // From the oldest that is there as well
    struct cursor cursor;
    cursor_start(&cursor, ring);
    memset(&table, 0, sizeof table);
    assert_int_equal(table_play(&table, &cursor, ring, UINT64_MAX), TAPE_END);
    assert_true(table_right(&table, CLASSES, CHANGING));
    assert_true(table.samples >= 120);
    assert_true(table.lost == 0);
    story_end(&story);
    tape_free(ring);
}

// Somebody paused there while the ring went on.
static void
who_reads_what_was_dropped_goes_on_at_the_oldest(void **state)
{
    (void)state;
    struct story story;
    struct cursor cursor;
    struct tape *ring = tape_new(100000);
    assert_non_null(ring);
    story_begin(&story, CLASSES, CHANGING, SEED);
    assert_true(scene_add(&story, NULL, ring, 30));
    cursor_start(&cursor, ring);
    memset(&table, 0, sizeof table);
    assert_int_equal(table_play(&table, &cursor, ring, story.at.wall_us), TAPE_END);
    assert_true(table.lost == 0);
    assert_true(scene_add(&story, NULL, ring, 1500));
    assert_true(tape_first(ring) > cursor.offset);
    uint64_t missed = tape_first(ring) - cursor.offset;
    assert_int_equal(table_play(&table, &cursor, ring, UINT64_MAX), TAPE_END);
    assert_int_equal(table.lost, missed);
    assert_true(table_right(&table, CLASSES, CHANGING));
    story_end(&story);
    tape_free(ring);
}

static void
a_ring_that_is_too_small_holds_one_group(void **state)
{
    (void)state;
    struct story story;
    struct tape *ring = tape_new(1);
    assert_non_null(ring);
    story_begin(&story, CLASSES, CHANGING, SEED);
    assert_true(scene_add(&story, NULL, ring, 300));
    assert_true(tape_key_count(ring) >= 1);
    play_from(ring, UINT64_MAX, UINT64_MAX);
    assert_true(table_right(&table, CLASSES, CHANGING));
    assert_true(tape_memory(ring) < 100000);
    story_end(&story);
    tape_free(ring);
}

static void
any_time_is_reached_by_a_group_and_what_follows_it(void **state)
{
    (void)state;
    static const struct writer_options options = {WRITER_NEW, 0, 0};
    scene_record("hour", CLASSES, CHANGING, 1200, &options);
    struct tape *tape = scene_open(scene_path("hour"));
    struct stamp first;
    struct stamp last;
    assert_true(tape_span(tape, &first, &last));
    assert_int_equal((last.wall_us - first.wall_us) / 1000000, 1199);
    assert_true(tape_key_count(tape) >= 20 && tape_key_count(tape) <= 22);
    for (uint64_t second = 1; second < 1200; second += 37) {
        uint64_t wall = first.wall_us + second * 1000000;
        size_t key = tape_key_before(tape, wall);
        assert_true(key < tape_key_count(tape));
        assert_true(wall - tape_key_at(tape, key)->at.wall_us <= MINUTE_US);
        play_from(tape, wall, wall);
        assert_true(table.at.wall_us == wall);
        assert_true(table_right(&table, CLASSES, CHANGING));
        assert_true(table.samples <= 61);
    }
    assert_int_equal(tape_key_before(tape, first.wall_us - 1), tape_key_count(tape));
    // Keys alone make a timeline
    for (size_t i = 1; i < tape_key_count(tape); i++) {
        const struct tape_key *key = tape_key_at(tape, i);
        assert_true(key->at.wall_us > tape_key_at(tape, i - 1)->at.wall_us || i == 1);
        assert_true(key->ordinal == i + 1);
        assert_true(key->live != COUNT_UNKNOWN && key->rss_bytes >= 100000000);
        assert_int_equal(key->mode, MODE_COUNT);
    }
    tape_free(tape);
}

// Played in turn each second is news once, although groups repeat it.
static void
groups_are_passed_over_while_nothing_is_lost(void **state)
{
    (void)state;
    struct cursor cursor;
    struct tape *tape = scene_open(scene_path("hour"));
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    size_t repeated = 0;
    struct message message;
    while (cursor_next(&cursor, tape, &message) == TAPE_FRAME) {
        repeated += cursor.repeated;
        assert_int_not_equal(message.kind, MESSAGE_KEY);
        table_apply(&table, &cursor, &message);
    }
    assert_int_equal(table.samples, 1200);
    assert_int_equal(repeated, 0);
    assert_true(table_right(&table, CLASSES, CHANGING));
    tape_free(tape);
}

// scripts/bench --recordings does it with 24 hours.
static void
opening_a_long_recording_reads_little_of_it(void **state)
{
    (void)state;
    static const struct writer_options options = {WRITER_NEW, 0, 0};
    scene_record("long", 500, 200, 3600, &options);
    struct tape *tape = scene_open(scene_path("long"));
    assert_true(tape_size(tape) > 5000000);
    assert_false(tape_rebuilt(tape));
    assert_true(tape_bytes_read(tape) < 600000);
    uint64_t before = tape_bytes_read(tape);
    struct stamp first;
    struct stamp last;
    assert_true(tape_span(tape, &first, &last));
    play_from(tape, first.wall_us + 1680000000u, first.wall_us + 1800000000u);
    assert_true(table_right(&table, 500, 200));
    assert_true(tape_bytes_read(tape) - before < 1500000);
    tape_free(tape);
    assert_int_equal(unlink(scene_path("long")), 0);
}

static void
a_tape_follows_a_file_that_grows_by_single_bytes(void **state)
{
    (void)state;
    static const struct writer_options options = {WRITER_NEW, 0, 3000000};
    scene_record("whole", 12, 5, 9, &options);
    struct buffer content = scene_read(scene_path("whole"));
    scene_write(scene_path("grows"), content.bytes, 1);
    struct tape *tape = scene_open(scene_path("grows"));
    FILE *file = fopen(scene_path("grows"), "ab");
    assert_non_null(file);
    struct cursor cursor;
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    for (size_t at = 1; at < content.length; at++) {
        assert_int_equal(fwrite(content.bytes + at, 1, 1, file), 1);
        assert_int_equal(fflush(file), 0);
        assert_int_equal(tape_refresh(tape), TAPE_GREW);
        assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    }
    assert_int_equal(tape_refresh(tape), TAPE_SAME);
    fclose(file);
    assert_int_equal(table.samples, 9);
    assert_true(table.lost == 0);
    assert_true(table_right(&table, 12, 5));
    assert_int_equal(tape_key_count(tape), 4);
    assert_int_equal(tape_unfinished(tape), 0);
    tape_free(tape);
    buffer_destroy(&content);
}

// Somebody saved what came over a socket: no group, nothing compressed.
static void
the_bytes_of_a_connection_are_a_recording_too(void **state)
{
    (void)state;
    struct story story;
    struct buffer stream = {0};
    struct cursor cursor;
    story_begin(&story, CLASSES, CHANGING, SEED);
    struct message hello = story_hello(&story);
    struct message names = story_names(&story);
    assert_true(message_encode(&stream, &hello) && message_encode(&stream, &names));
    for (int second = 0; second < 100; second++) {
        struct message sample = story_step(&story);
        assert_true(message_encode(&stream, &sample));
    }
    story_end(&story);
    scene_write(scene_path("stream"), stream.bytes, stream.length);
    buffer_destroy(&stream);
    struct tape *tape = scene_open(scene_path("stream"));
    assert_int_equal(tape_key_count(tape), 0);
    assert_false(tape_rebuilt(tape));
    memset(&table, 0, sizeof table);
    assert_false(cursor_seek(&cursor, tape, UINT64_MAX)); // it begins at the start
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_int_equal(table.samples, 100);
    assert_true(table_right(&table, CLASSES, CHANGING));
    tape_free(tape);
}

// A mapping of such a file would have killed us.
static void
a_file_that_becomes_shorter_is_read_to_its_new_end(void **state)
{
    (void)state;
    struct buffer content = scene_read(scene_path("hour"));
    scene_write(scene_path("shrinks"), content.bytes, content.length);
    struct tape *tape = scene_open(scene_path("shrinks"));
    size_t keys = tape_key_count(tape);
    assert_int_equal(truncate(scene_path("shrinks"), (off_t)content.length / 2), 0);
    play_from(tape, 0 + UINT64_MAX / 2, UINT64_MAX);
    struct cursor cursor;
    cursor_start(&cursor, tape);
    memset(&table, 0, sizeof table);
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_int_equal(tape_refresh(tape), TAPE_GREW);
    assert_true(tape_key_count(tape) < keys && tape_key_count(tape) > 5);
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_true(table_right(&table, CLASSES, CHANGING));
    tape_free(tape);
    buffer_destroy(&content);
}

static void
a_file_replaced_by_another_recording_is_told(void **state)
{
    (void)state;
    static const struct writer_options options = {WRITER_NEW, 0, 3000000};
    scene_record("mine", 12, 5, 9, &options);
    scene_record("other", 13, 5, 8, &options);
    char other[256];
    strcpy(other, scene_path("other"));
    struct tape *tape = scene_open(scene_path("mine"));
    assert_int_equal(rename(other, scene_path("mine")), 0);
    struct cursor cursor;
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_true(table_right(&table, 12, 5)); // what was opened stays readable
    scene_write(scene_path("mine"), "now it is a text", 16);
    assert_int_equal(tape_refresh(tape), TAPE_OTHER);
    tape_free(tape);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_keeps_the_newest_groups_and_what_follows_them),
        cmocka_unit_test(who_reads_what_was_dropped_goes_on_at_the_oldest),
        cmocka_unit_test(a_ring_that_is_too_small_holds_one_group),
        cmocka_unit_test(any_time_is_reached_by_a_group_and_what_follows_it),
        cmocka_unit_test(groups_are_passed_over_while_nothing_is_lost),
        cmocka_unit_test(opening_a_long_recording_reads_little_of_it),
        cmocka_unit_test(a_tape_follows_a_file_that_grows_by_single_bytes),
        cmocka_unit_test(the_bytes_of_a_connection_are_a_recording_too),
        cmocka_unit_test(a_file_that_becomes_shorter_is_read_to_its_new_end),
        cmocka_unit_test(a_file_replaced_by_another_recording_is_told),
    };
    return cmocka_run_group_tests(tests, scene_enter, scene_leave);
}
