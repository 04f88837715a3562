// Recording and reading while the n-th allocation and all after it fail.
#include "tests/tui/memory.h"

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

static const struct writer_options fresh = {WRITER_NEW, 0, 3000000};
static struct table table;

static void
opening_says_that_memory_ran_out(void **state)
{
    (void)state;
    scene_record("small", CLASSES, CHANGING, 9, &fresh);
    struct tape *tape = NULL;
    for (int allowed = 0; tape == NULL; allowed++) {
        char why[256] = "";
        memory_allow(allowed);
        tape = tape_open(scene_path("small"), why, sizeof why);
        bool ran_out = memory_ran_out();
        memory_allow(-1);
        assert_true(tape != NULL || strstr(why, "Cannot allocate memory") != NULL);
        assert_true(tape == NULL || !ran_out);
        assert_true(allowed > 0 || tape == NULL);
    }
    tape_free(tape);
}

static void
reading_says_that_memory_ran_out_and_takes_nothing_for_damage(void **state)
{
    (void)state;
    struct tape *whole = scene_open(scene_path("small"));
    struct verify_report expected;
    assert_true(verify_tape(whole, &expected));
    tape_free(whole);
    bool read = false;
    for (int allowed = 0; !read; allowed++) {
        struct verify_report report;
        struct tape *tape = scene_open(scene_path("small"));
        memory_allow(allowed);
        read = verify_tape(tape, &report);
        memory_allow(-1);
        assert_true(read || strcmp(tape_error(tape), "Cannot allocate memory") == 0);
        assert_int_equal(tape_damaged_bytes(tape), 0);
        // When there is memory again, all is there.
        assert_true(verify_tape(tape, &report));
        assert_int_equal(report.frames, expected.frames);
        tape_free(tape);
    }
}

static void
a_writer_without_memory_ends_soundly(void **state)
{
    (void)state;
    bool written = false;
    for (int allowed = 0; !written; allowed++) {
        char why[400] = "";
        struct story story;
        struct verify_report report;
        story_begin(&story, CLASSES, CHANGING, SEED);
        memory_allow(allowed);
        struct writer *writer = writer_open(scene_path("out"), &fresh, why, sizeof why);
        written = writer != NULL && scene_add(&story, writer, NULL, 9);
        bool closed = writer != NULL && writer_close(writer, why, sizeof why);
        memory_allow(-1);
        story_end(&story);
        assert_true(written == closed);
        assert_true(written || strstr(why, "Cannot allocate memory") != NULL);
        if (access(scene_path("out"), F_OK) == 0) {
            struct tape *tape = scene_open(scene_path("out"));
            assert_true(verify_tape(tape, &report));
            assert_true(verify_sound(&report));
            assert_int_equal(report.unfinished, 0);
            tape_free(tape);
            assert_int_equal(unlink(scene_path("out")), 0);
        }
    }
}

// What found no room is missing; the next group, when there is memory, heals that.
static void
a_ring_without_memory_goes_on_when_there_is_some(void **state)
{
    (void)state;
    bool all = false;
    for (int allowed = 0; !all; allowed++) {
        struct story story;
        struct tape *ring = tape_new(100000);
        assert_non_null(ring);
        story_begin(&story, CLASSES, CHANGING, SEED);
        memory_allow(allowed);
        // As a viewer does: it goes on whatever becomes of the ring.
        for (int second = 0; second < 70; second++) {
            (void)scene_add(&story, NULL, ring, 1);
        }
        all = !memory_ran_out();
        memory_allow(-1);
        assert_true(scene_add(&story, NULL, ring, 70));
        struct cursor cursor;
        memset(&table, 0, sizeof table);
        assert_true(cursor_seek(&cursor, ring, UINT64_MAX));
        assert_int_equal(table_play(&table, &cursor, ring, UINT64_MAX), TAPE_END);
        assert_true(table_right(&table, CLASSES, CHANGING));
        story_end(&story);
        tape_free(ring);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_says_that_memory_ran_out),
        cmocka_unit_test(reading_says_that_memory_ran_out_and_takes_nothing_for_damage),
        cmocka_unit_test(a_writer_without_memory_ends_soundly),
        cmocka_unit_test(a_ring_without_memory_goes_on_when_there_is_some),
    };
    return cmocka_run_group_tests(tests, scene_enter, scene_leave);
}
