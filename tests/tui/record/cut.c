// Parts of recordings, and what is said of whole ones.
#include "tui/record/cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tui/record/scene.h"
#include "tui/record/verify.h"

#define CLASSES 60
#define CHANGING 20
#define SECONDS 900
#define SECOND_US 1000000u

static const struct writer_options fresh = {WRITER_NEW, 0, 0};
static struct table table;

static bool
cut_file(const char *from, const char *to, uint64_t begin_us, uint64_t end_us,
         struct cut_report *report, char *why, size_t why_size)
{
    struct tape *tape = scene_open(scene_path(from));
    struct writer *writer = writer_open(scene_path(to), &fresh, why, why_size);
    assert_non_null(writer);
    bool cut = cut_tape(tape, begin_us, end_us, writer, report, why, why_size);
    assert_true(writer_close(writer, NULL, 0));
    tape_free(tape);
    return cut;
}

static uint64_t
first_wall(const char *name)
{
    struct stamp first;
    struct stamp last;
    struct tape *tape = scene_open(scene_path(name));
    assert_true(tape_span(tape, &first, &last));
    tape_free(tape);
    return first.wall_us;
}

static void
play_all(const char *name)
{
    struct cursor cursor;
    struct tape *tape = scene_open(scene_path(name));
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    tape_free(tape);
}

static void
a_part_is_a_recording_of_its_own(void **state)
{
    (void)state;
    char why[256];
    struct cut_report report;
    struct verify_report verified;
    scene_record("whole", CLASSES, CHANGING, SECONDS, &fresh);
    uint64_t first = first_wall("whole");
    for (uint64_t from = 0; from < SECONDS; from += 211) {
        for (uint64_t to = from; to < SECONDS + 100; to += 173) {
            assert_true(cut_file("whole", "part", first + from * SECOND_US,
                                 first + to * SECOND_US, &report, why, sizeof why));
            struct tape *tape = scene_open(scene_path("part"));
            assert_false(tape_rebuilt(tape));
            assert_true(verify_tape(tape, &verified));
            assert_true(verify_sound(&verified));
            assert_int_equal(verified.unfinished, 0);
            assert_int_equal(verified.frames, report.frames);
            assert_int_equal(verified.bytes, report.bytes);
            assert_int_equal(verified.groups, report.groups);
            assert_int_equal(verified.groups, tape_key_count(tape));
            tape_free(tape);
            play_all("part");
            uint64_t last = to < SECONDS ? to : SECONDS - 1;
            assert_int_equal((table.at.wall_us - first) / SECOND_US, last);
            assert_true(table_right(&table, CLASSES, CHANGING));
            assert_true(report.from.wall_us <= first + from * SECOND_US);
            assert_true(report.from.wall_us + 60 * SECOND_US >= first + from * SECOND_US);
            assert_int_equal(unlink(scene_path("part")), 0);
        }
    }
}

static void
what_was_not_recorded_cannot_be_cut_out(void **state)
{
    (void)state;
    char why[256];
    struct cut_report report;
    uint64_t first = first_wall("whole");
    assert_false(cut_file("whole", "before", 0, first - 1, &report, why, sizeof why));
    assert_string_equal(why, "nothing was recorded between these times");
    // From before it on: all of it
    assert_true(cut_file("whole", "all", 0, UINT64_MAX, &report, why, sizeof why));
    struct buffer one = scene_read(scene_path("whole"));
    struct buffer other = scene_read(scene_path("all"));
    assert_int_equal(one.length, other.length);
    assert_memory_equal(one.bytes, other.bytes, one.length);
    buffer_destroy(&other);
    buffer_destroy(&one);
}

static void
damage_becomes_a_gap_and_is_told(void **state)
{
    (void)state;
    char why[256];
    struct cut_report report;
    struct buffer content = scene_read(scene_path("whole"));
    content.bytes[content.length / 2] ^= 4;
    scene_write(scene_path("damaged"), content.bytes, content.length);
    buffer_destroy(&content);
    uint64_t first = first_wall("damaged");
    assert_true(
        cut_file("damaged", "mended", first, UINT64_MAX, &report, why, sizeof why));
    assert_true(report.lost > 0);
    assert_int_equal(report.lost_times, 1);
    struct buffer words = {0};
    assert_true(cut_describe(&report, &words));
    assert_true(buffer_append(&words, "", 1));
    assert_non_null(strstr((const char *)words.bytes, "damaged bytes in 1 places"));
    buffer_destroy(&words);
    struct verify_report verified;
    struct tape *tape = scene_open(scene_path("mended"));
    assert_true(verify_tape(tape, &verified));
    assert_true(verify_sound(&verified));
    assert_int_equal(verified.gaps, 1);
    assert_int_equal(verified.gap_list[0].reason, GAP_DROPPED);
    assert_true(verify_describe(&verified, tape, &words));
    assert_true(buffer_append(&words, "", 1));
    assert_non_null(strstr((const char *)words.bytes, "frames were dropped\nsound\n"));
    assert_non_null(strstr((const char *)words.bytes, "14 min 59 s"));
    buffer_destroy(&words);
    tape_free(tape);
    play_all("mended");
    assert_true(table_right(&table, CLASSES, CHANGING));
    assert_int_equal(table.gaps, 1);
}

static void
what_a_ring_holds_becomes_a_file_that_is_gone_on_with(void **state)
{
    (void)state;
    char why[256];
    struct story story;
    struct cut_report report;
    struct tape *ring = tape_new(150000);
    assert_non_null(ring);
    story_begin(&story, CLASSES, CHANGING, SEED);
    assert_true(scene_add(&story, NULL, ring, 1000));
    struct writer *writer = writer_open(scene_path("ring"), &fresh, why, sizeof why);
    assert_non_null(writer);
    assert_true(cut_tape(ring, 0, UINT64_MAX, writer, &report, why, sizeof why));
    // But for the first KEY, which points back to nothing there
    assert_in_range(report.bytes, tape_size(ring) - 8, tape_size(ring));
    assert_true(scene_add(&story, writer, NULL, 100));
    assert_true(writer_close(writer, NULL, 0));
    size_t groups = tape_key_count(ring);
    tape_free(ring);
    story_end(&story);
    struct verify_report verified;
    struct tape *tape = scene_open(scene_path("ring"));
    assert_false(tape_rebuilt(tape));
    assert_true(verify_tape(tape, &verified));
    assert_true(verify_sound(&verified));
    assert_true(tape_key_count(tape) >= groups + 1 && tape_key_count(tape) <= groups + 2);
    tape_free(tape);
    play_all("ring");
    assert_true(table_right(&table, CLASSES, CHANGING));
    assert_true(table.samples > 300);
}

static void
a_program_that_took_anothers_place_is_counted(void **state)
{
    (void)state;
    char why[256];
    struct story story;
    struct writer *writer = writer_open(scene_path("two"), &fresh, why, sizeof why);
    assert_non_null(writer);
    story_begin(&story, CLASSES, CHANGING, SEED);
    struct message hello = story_hello(&story);
    assert_true(writer_add(writer, &hello, NULL));
    assert_true(writer_add(writer, &hello, NULL));
    struct message gap = {.kind = MESSAGE_GAP, .at = story.at};
    gap.gap.reason = 77;
    assert_true(writer_add(writer, &gap, NULL));
    hello.hello.pid++;
    assert_true(writer_add(writer, &hello, NULL));
    assert_true(writer_close(writer, NULL, 0));
    struct verify_report report;
    struct buffer words = {0};
    struct tape *tape = scene_open(scene_path("two"));
    assert_true(verify_tape(tape, &report));
    assert_int_equal(report.processes, 2);
    assert_true(verify_describe(&report, tape, &words));
    assert_true(buffer_append(&words, "", 1));
    assert_non_null(strstr((const char *)words.bytes, "for a reason not known here"));
    buffer_destroy(&words);
    tape_free(tape);
    story_end(&story);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_a_recording_of_its_own),
        cmocka_unit_test(what_was_not_recorded_cannot_be_cut_out),
        cmocka_unit_test(damage_becomes_a_gap_and_is_told),
        cmocka_unit_test(what_a_ring_holds_becomes_a_file_that_is_gone_on_with),
        cmocka_unit_test(a_program_that_took_anothers_place_is_counted),
    };
    return cmocka_run_group_tests(tests, scene_enter, scene_leave);
}
