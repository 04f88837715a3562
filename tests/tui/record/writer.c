// Recording into files that exist, are full, grow beyond bounds, and whose writer is
// killed.
#include "tui/record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sched.h>

#include "tests/tui/record/scene.h"
#include "tui/record/verify.h"

#define CLASSES 60
#define CHANGING 20

static const struct writer_options fresh = {WRITER_NEW, 0, 0};
static const struct writer_options again = {WRITER_APPEND, 0, 0};
static struct table table;

static struct writer *
open_writer(const char *name, const struct writer_options *options)
{
    char why[256] = "";
    struct writer *writer = writer_open(scene_path(name), options, why, sizeof why);
    if (writer == NULL) {
        fail_msg("%s", why);
    }
    return writer;
}

static void
expect_refusal(const char *path, const struct writer_options *options, const char *words)
{
    char why[256];
    assert_null(writer_open(path, options, why, sizeof why));
    if (strstr(why, words) == NULL) {
        fail_msg("%s", why);
    }
}

// The table at the end of the file, and that nothing in it is damaged.
static void
expect_right(const char *name)
{
    struct verify_report report;
    struct cursor cursor;
    struct tape *tape = scene_open(scene_path(name));
    assert_true(verify_tape(tape, &report));
    assert_true(verify_sound(&report));
    memset(&table, 0, sizeof table);
    assert_true(cursor_seek(&cursor, tape, UINT64_MAX));
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_true(table_right(&table, CLASSES, CHANGING));
    tape_free(tape);
}

static void
a_file_that_exists_is_overwritten_only_when_told(void **state)
{
    (void)state;
    static const struct writer_options replace = {WRITER_REPLACE, 0, 0};
    scene_write(scene_path("exists"), "a diary", 7);
    expect_refusal(scene_path("exists"), &fresh, "File exists");
    expect_refusal(scene_path("exists"), &again, "no recording");
    struct buffer content = scene_read(scene_path("exists"));
    assert_int_equal(content.length, 7);
    buffer_destroy(&content);
    struct writer *writer = open_writer("exists", &replace);
    struct story story;
    story_begin(&story, CLASSES, CHANGING, SEED);
    assert_true(scene_add(&story, writer, NULL, 5));
    assert_true(writer_close(writer, NULL, 0));
    story_end(&story);
    expect_right("exists");
    expect_refusal("/tmp", &again, "Is a directory");
    expect_refusal("/dev/full", &again, "no regular file");
    expect_refusal(scene_path("no/folder"), &fresh, "No such file");
}

static void
a_recording_is_its_owners_alone(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(stat(scene_path("exists"), &status), 0);
    scene_record("private", 3, 1, 2, &fresh);
    assert_int_equal(stat(scene_path("private"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void
two_do_not_record_to_one_file(void **state)
{
    (void)state;
    struct writer *writer = open_writer("locked", &fresh);
    expect_refusal(scene_path("locked"), &again, "another memtop is recording to it");
    assert_true(writer_close(writer, NULL, 0));
    writer = open_writer("locked", &again);
    assert_true(writer_close(writer, NULL, 0));
}

static void
a_recording_is_gone_on_with(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story, CLASSES, CHANGING, SEED);
    struct writer *writer = open_writer("resumed", &fresh);
    assert_true(scene_add(&story, writer, NULL, 70));
    assert_true(writer_close(writer, NULL, 0));
    // Its last frame was cut short, say by a kill.
    struct buffer content = scene_read(scene_path("resumed"));
    assert_int_equal(truncate(scene_path("resumed"), (off_t)content.length - 9), 0);
    buffer_destroy(&content);
    writer = open_writer("resumed", &again);
    struct message gap = {
        .kind = MESSAGE_GAP, .at = story.at, .gap = {GAP_RESUMED, text_of("")}
    };
    struct state known = story_state(&story);
    assert_true(writer_add(writer, &gap, &known));
    assert_true(scene_add(&story, writer, NULL, 70));
    assert_true(writer_close(writer, NULL, 0));
    struct tape *tape = scene_open(scene_path("resumed"));
    struct verify_report report;
    assert_false(tape_rebuilt(tape));
    assert_int_equal(tape_key_count(tape),
                     3 + 3); // at 0, 1, 61; at once, after the gap, at 131
    for (size_t i = 0; i < tape_key_count(tape); i++) {
        assert_int_equal(tape_key_at(tape, i)->ordinal, i + 1);
    }
    assert_true(verify_tape(tape, &report));
    assert_int_equal(report.damaged_times, 1); // what the kill left
    assert_int_equal(report.gaps, 1);
    assert_int_equal(report.gap_list[0].reason, GAP_RESUMED);
    struct cursor cursor;
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_int_equal(table.samples, 139);
    assert_true(table_right(&table, CLASSES, CHANGING));
    tape_free(tape);
    story_end(&story);
}

static void
a_group_comes_each_minute_and_soon_after_a_gap(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story, CLASSES, CHANGING, SEED);
    struct writer *writer = open_writer("gaps", &fresh);
    assert_true(scene_add(&story, writer, NULL, 10));
    struct message gap = {
        .kind = MESSAGE_GAP, .at = story.at, .gap = {GAP_LOST, text_of("")}
    };
    assert_true(writer_add(writer, &gap, NULL));
    assert_true(scene_add(&story, writer, NULL, 20));
    assert_true(writer_close(writer, NULL, 0));
    story_end(&story);
    struct tape *tape = scene_open(scene_path("gaps"));
    struct stamp first;
    struct stamp last;
    assert_true(tape_span(tape, &first, &last));
    assert_int_equal(tape_key_count(tape), 3);
    // Once a sample of what came after the gap is known
    uint64_t third = tape_key_at(tape, 2)->at.wall_us - first.wall_us;
    assert_int_equal(third / 1000000, 10);
    tape_free(tape);
}

// Each begin tells of a group before it, some of them of one that went since.
static size_t
count_earlier(struct tape *tape)
{
    size_t right = 0;
    for (size_t i = 0; i < tape_key_count(tape); i++) {
        uint64_t offset = tape_key_at(tape, i)->offset;
        struct tape_frame frame;
        struct message message;
        assert_int_equal(tape_read(tape, offset, &frame, &message), TAPE_FRAME);
        assert_int_equal(message.kind, MESSAGE_KEY);
        uint64_t earlier = message.key.earlier;
        if (earlier == 0 || earlier > offset - tape_first(tape)) {
            continue;
        }
        size_t at = 0;
        while (at < i && tape_key_at(tape, at)->offset != offset - earlier) {
            at++;
        }
        assert_true(i - at >= 8); // so many are read at once
        right++;
    }
    return right;
}

static void
groups_tell_of_earlier_ones(void **state)
{
    (void)state;
    static const struct writer_options often = {WRITER_NEW, 0, 2000000};
    scene_record("often", CLASSES, CHANGING, 200, &often);
    struct tape *tape = scene_open(scene_path("often"));
    assert_true(tape_key_count(tape) >= 90);
    assert_true(count_earlier(tape) >= tape_key_count(tape) - 40);
    tape_free(tape);
}

static void
a_bound_keeps_the_newest_and_is_never_passed(void **state)
{
    (void)state;
    static const struct writer_options bounded = {WRITER_NEW, 400000, 10000000};
    struct story story;
    story_begin(&story, CLASSES, CHANGING, SEED);
    struct writer *writer = open_writer("bounded", &bounded);
    struct tape *tape = scene_open(scene_path("bounded"));
    struct cursor cursor;
    cursor_start(&cursor, tape);
    memset(&table, 0, sizeof table);
    uint64_t first = 0;
    size_t moved = 0;
    for (int second = 0; second < 3000; second++) {
        struct stat status;
        assert_true(scene_add(&story, writer, NULL, 1));
        assert_int_equal(stat(scene_path("bounded"), &status), 0);
        assert_true(status.st_size <= 400000);
        assert_int_equal(status.st_size, writer_size(writer));
        // Who follows it notices nothing
        assert_int_equal(tape_refresh(tape), TAPE_GREW);
        moved += tape_first(tape) > first;
        first = tape_first(tape);
        assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
        assert_int_equal(table.samples, second + 1);
        assert_true(table.lost == 0);
    }
    assert_true(moved >= 2);
    assert_true(table_right(&table, CLASSES, CHANGING));
    assert_false(tape_rebuilt(tape));
    tape_free(tape);
    assert_true(writer_written(writer) > 800000);
    assert_true(writer_close(writer, NULL, 0));
    story_end(&story);
    expect_right("bounded");
    tape = scene_open(scene_path("bounded"));
    assert_false(tape_rebuilt(tape));
    struct stamp begin;
    struct stamp end;
    assert_true(tape_span(tape, &begin, &end));
    assert_true(end.wall_us - begin.wall_us > 300000000); // it kept what it could
    assert_true(tape_size(tape) > 150000);
    (void)count_earlier(tape);
    tape_free(tape);
    assert_int_equal(access(scene_path("bounded.part"), F_OK), -1);
}

static void
a_file_in_the_way_of_the_copy_is_not_removed(void **state)
{
    (void)state;
    static const struct writer_options bounded = {WRITER_NEW, 65536, 5000000};
    struct story story;
    char why[400];
    story_begin(&story, CLASSES, CHANGING, SEED);
    scene_write(scene_path("way.part"), "a diary", 7);
    struct writer *writer = open_writer("way", &bounded);
    assert_false(scene_add(&story, writer, NULL, 3000));
    assert_non_null(strstr(writer_error(writer), "File exists"));
    assert_false(scene_add(&story, writer, NULL, 1)); // and from then on
    assert_false(writer_close(writer, why, sizeof why));
    assert_non_null(strstr(why, "which are kept"));
    story_end(&story);
    struct buffer content = scene_read(scene_path("way.part"));
    assert_int_equal(content.length, 7);
    buffer_destroy(&content);

    // But the copy of one that was killed is
    scene_write(scene_path("left.part"), "MTOP", 4);
    story_begin(&story, CLASSES, CHANGING, SEED);
    writer = open_writer("left", &bounded);
    assert_true(scene_add(&story, writer, NULL, 1000));
    assert_true(writer_close(writer, NULL, 0));
    story_end(&story);
    expect_right("left");
}

// Record until there is no room. The file is sound then, and the words say why.
static void
expect_sound_end(const char *path, const struct writer_options *options,
                 const char *words)
{
    char why[400];
    struct story story;
    struct verify_report report;
    story_begin(&story, CLASSES, CHANGING, SEED);
    struct writer *writer = writer_open(path, options, why, sizeof why);
    assert_non_null(writer);
    assert_false(scene_add(&story, writer, NULL, 100000));
    story_end(&story);
    assert_false(writer_close(writer, why, sizeof why));
    if (strstr(why, words) == NULL) {
        fail_msg("%s", why);
    }
    struct tape *tape = scene_open(path);
    assert_true(verify_tape(tape, &report));
    assert_true(report.samples > 100);
    assert_int_equal(report.unfinished, 0);
    assert_true(verify_sound(&report));
    struct cursor cursor;
    memset(&table, 0, sizeof table);
    cursor_start(&cursor, tape);
    assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    assert_true(table_right(&table, CLASSES, CHANGING));
    tape_free(tape);
}

static void
a_limit_of_file_size_ends_the_recording_soundly(void **state)
{
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 300000; limit < 300400; limit += 13) {
        struct rlimit low = {limit, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
        expect_sound_end(scene_path("limited"), &fresh, "File too large");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(unlink(scene_path("limited")), 0);
    }
    (void)signal(SIGXFSZ, handler);
}

static void
a_full_disk_ends_the_recording_soundly(void **state)
{
    (void)state;
    char folder[256];
    char path[300];
    (void)snprintf(folder, sizeof folder, "%s", scene_path("disk"));
    assert_int_equal(mkdir(folder, 0700), 0);
    // In a name space of our own: nothing is left mounted, whatever happens.
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=512k") != 0) {
        print_message("mounting a small disk needs root\n");
        skip();
    }
    static const struct writer_options bounded = {WRITER_NEW, 460000, 10000000};
    (void)snprintf(path, sizeof path, "%s/full", folder);
    expect_sound_end(path, &fresh, "No space left on device");
    assert_int_equal(unlink(path), 0);
    // A bound below what the disk has, and no room for the copy
    expect_sound_end(path, &bounded, "No space left on device");
    (void)snprintf(path, sizeof path, "%s/full.part", folder);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(umount(folder), 0);
}

// Records until it is killed, with a pause after each moment.
static pid_t
start_writer(const char *name, const struct writer_options *options, unsigned pause_us)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s", scene_path(name));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) {
        return child;
    }
    char why[256];
    struct story story;
    struct writer *writer = writer_open(path, options, why, sizeof why);
    if (writer == NULL) {
        _exit(2);
    }
    story_begin(&story, CLASSES, CHANGING, SEED);
    while (scene_add(&story, writer, NULL, 1)) {
        usleep(pause_us);
    }
    _exit(3);
}

static uint64_t
size_of(const char *name)
{
    struct stat status;
    return stat(scene_path(name), &status) == 0 ? (uint64_t)status.st_size : 0;
}

// It writes until it is killed; one that ended has failed.
static void
wait_for_size(const char *name, uint64_t size, pid_t child)
{
    while (size_of(name) < size) {
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    }
}

static void
end_writer(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

// The moments are as random as the scheduler: when the file has some more bytes.
static void
a_writer_killed_at_any_moment_leaves_at_most_one_unfinished_frame(void **state)
{
    (void)state;
    static const struct writer_options bounded = {WRITER_NEW, 200000, 5000000};
    for (int round = 0; round < 40; round++) {
        const struct writer_options *options = round % 2 == 0 ? &fresh : &bounded;
        uint64_t enough = 30000 + (uint64_t)round * 3701;
        pid_t child = start_writer("killed", options, 0);
        wait_for_size("killed", enough, child);
        end_writer(child);
        struct verify_report report;
        struct tape *tape = scene_open(scene_path("killed"));
        assert_false(tape_rebuilt(tape));
        assert_true(verify_tape(tape, &report));
        assert_int_equal(report.damaged, 0);
        assert_true(report.unfinished < 60000);
        struct cursor cursor;
        memset(&table, 0, sizeof table);
        cursor_start(&cursor, tape);
        assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
        assert_true(table_right(&table, CLASSES, CHANGING));
        tape_free(tape);
        assert_int_equal(unlink(scene_path("killed")), 0);
        (void)unlink(scene_path("killed.part"));
    }
}

// Another process writes and keeps to a bound; we follow.
static void
a_growing_file_is_followed_while_another_process_writes_it(void **state)
{
    (void)state;
    static const struct writer_options bounded = {WRITER_NEW, 2000000, 5000000};
    // a bound's worth takes long enough that a busy machine does not keep us from it
    pid_t child = start_writer("tailed", &bounded, 100);
    wait_for_size("tailed", 1, child);
    struct tape *tape = scene_open(scene_path("tailed"));
    struct cursor cursor;
    cursor_start(&cursor, tape);
    memset(&table, 0, sizeof table);
    uint64_t first = tape_first(tape);
    while (table.samples < 3000 || tape_first(tape) == first) {
        enum tape_refresh refresh = tape_refresh(tape);
        assert_true(refresh == TAPE_SAME || refresh == TAPE_GREW);
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
        assert_int_equal(table_play(&table, &cursor, tape, UINT64_MAX), TAPE_END);
    }
    assert_true(table_right(&table, CLASSES, CHANGING));
    end_writer(child);
    assert_int_equal(tape_damaged_bytes(tape), 0);
    tape_free(tape);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_exists_is_overwritten_only_when_told),
        cmocka_unit_test(a_recording_is_its_owners_alone),
        cmocka_unit_test(two_do_not_record_to_one_file),
        cmocka_unit_test(a_recording_is_gone_on_with),
        cmocka_unit_test(a_group_comes_each_minute_and_soon_after_a_gap),
        cmocka_unit_test(groups_tell_of_earlier_ones),
        cmocka_unit_test(a_bound_keeps_the_newest_and_is_never_passed),
        cmocka_unit_test(a_file_in_the_way_of_the_copy_is_not_removed),
        cmocka_unit_test(a_limit_of_file_size_ends_the_recording_soundly),
        cmocka_unit_test(a_full_disk_ends_the_recording_soundly),
        cmocka_unit_test(
            a_writer_killed_at_any_moment_leaves_at_most_one_unfinished_frame),
        cmocka_unit_test(a_growing_file_is_followed_while_another_process_writes_it),
    };
    return cmocka_run_group_tests(tests, scene_enter, scene_leave);
}
