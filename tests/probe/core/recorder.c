// The flight recorder in a probe: what the server gives it, and what it gives back.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/core/clock.h"
#include "probe/core/flight.h"
#include "probe/core/opened.h"
#include "probe/core/server.h"
#include "tests/probe/core/client.h"
#include "tests/probe/core/fixture.h"
#include "tests/probe/core/program.h"

#define IDS_MAX 64u

static struct settings settings;

static int
start(void **state)
{
    (void)state;
    bool begun = program_begin(&settings);
    snprintf(settings.flight, sizeof(settings.flight), "on");
    return begun ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    program_end();
    return 0;
}

// Its class is called Class550000000000, and so on.
static uintptr_t
key_of(size_t number)
{
    return 0x550000000000 + number * 40;
}

/* What a file tells who reads it from its begin. */

struct story {
    size_t groups;
    size_t samples;
    uint64_t live[IDS_MAX];
    uint64_t total;
    uint64_t mode;
    uint64_t viewers;
    uint64_t tree_live[IDS_MAX];
    uint64_t tree_sum[IDS_MAX];
    size_t trees;
    size_t hellos;
    size_t names;
    size_t gaps;
    bool bye;
    bool dormant_between;
    char notices[PROBE_NOTICE_COUNT][PROBE_TEXT_MAX];
};

static void
hear_sample(struct story *story, const struct sample *sample)
{
    if (sample->key) {
        memset(story->live, 0, sizeof(story->live));
    }
    for (size_t i = 0; i < sample->row_count; i++) {
        assert_in_range(sample->rows[i].id, 1, IDS_MAX - 1);
        story->live[sample->rows[i].id] = sample->rows[i].live;
    }
    story->samples++;
    story->total = sample->totals.live;
    story->mode = sample->mode;
    story->viewers = sample->probe.viewers;
    story->dormant_between |= sample->mode == MODE_DORMANT;
}

static void
hear_tree(struct story *story, const struct tree *tree)
{
    story->trees++;
    story->tree_live[tree->class_id] = tree->live;
    if (tree->key) {
        story->tree_sum[tree->class_id] = tree->unsampled_live;
        for (size_t i = 0; i < tree->site_count; i++) {
            story->tree_sum[tree->class_id] += tree->sites[i].live;
        }
    }
}

static void
hear(struct story *story, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_HELLO:
        assert_int_equal(message->hello.pid, getpid());
        story->hellos++;
        break;
    case MESSAGE_NAMES:
        story->names += message->names.count;
        break;
    case MESSAGE_SAMPLE:
        hear_sample(story, &message->sample);
        break;
    case MESSAGE_TREE:
        hear_tree(story, &message->tree);
        break;
    case MESSAGE_NOTICE:
        assert_in_range(message->notice.id, 1, PROBE_NOTICE_COUNT - 1);
        snprintf(story->notices[message->notice.id], PROBE_TEXT_MAX, "%.*s",
                 (int)message->notice.text.length, message->notice.text.bytes);
        break;
    case MESSAGE_KEY:
        story->groups += message->key.begin;
        break;
    case MESSAGE_GAP:
        story->gaps++;
        break;
    case MESSAGE_BYE:
        story->bye = true;
        break;
    default:
        fail_msg("kind %d in a recording", message->kind);
    }
}

// Of a kind in a key group; trees come one after another, each with its frames.
static size_t
place_of(enum message_kind kind)
{
    switch (kind) {
    case MESSAGE_HELLO:
        return 1;
    case MESSAGE_NAMES:
        return 2;
    case MESSAGE_SAMPLE:
        return 3;
    case MESSAGE_FRAMES:
    case MESSAGE_TREE:
        return 4;
    case MESSAGE_VERDICTS:
        return 5;
    case MESSAGE_NOTICE:
        return 6;
    default:
        return 0;
    }
}

static struct story
read_file(const char *path)
{
    struct story story = {0};
    struct decoder decoder = {0};
    struct message message;
    unsigned char bytes[4096];
    size_t length;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0) {
        decoder_feed(&decoder, bytes, length);
    }
    fclose(file);
    uint64_t before_us = 0;
    bool grouped = false;
    size_t place = 0;
    enum decode_status status;
    while ((status = decoder_next(&decoder, &message)) == DECODE_MESSAGE) {
        assert_true(message.at.monotonic_us >= before_us);
        before_us = message.at.monotonic_us;
        if (message.kind == MESSAGE_KEY) {
            assert_true(grouped != message.key.begin);
            grouped = message.key.begin;
            place = 0;
        } else if (grouped) { // in the order that protocol/README.md has
            assert_true(place_of(message.kind) >= place);
            place = place_of(message.kind);
        }
        assert_true(grouped || story.groups > 0);
        hear(&story, &message);
    }
    assert_int_equal(status, DECODE_NEED_MORE);
    decoder_destroy(&decoder);
    return story;
}

static char asked_path[FLIGHTFILE_PATH_MAX];

// Ask for a file and read it.
static struct story
ask(struct client *client, uint64_t id)
{
    client_ask(client, id, REQUEST_FLIGHT, 0);
    const struct result *result = client_result(client, id);
    assert_int_equal(result->status, RESULT_DONE);
    snprintf(asked_path, sizeof(asked_path), "%.*s", (int)result->text.length,
             result->text.bytes);
    return read_file(asked_path);
}

// A file that comes by itself.
static struct story
wait_for_file(unsigned number)
{
    char path[160];
    struct stat stat_of;
    snprintf(path, sizeof(path), "%s/memtop-%ld-%u.memtop", program_folder,
             (long)getpid(), number);
    uint64_t until_ns = clock_monotonic_ns() + CLIENT_PATIENCE_MS * UINT64_C(1000000);
    while (lstat(path, &stat_of) != 0) {
        const struct timespec moment = {0, 5000000};
        assert_true(clock_monotonic_ns() < until_ns);
        nanosleep(&moment, NULL);
    }
    return read_file(path);
}

// The next one of that id that is not withdrawn.
static const struct notice *
wait_for_notice(struct client *client, uint64_t id)
{
    const struct notice *notice;
    do {
        notice = &client_wait(client, MESSAGE_NOTICE)->notice;
    } while (notice->id != id || notice->text.length == 0);
    return notice;
}

static size_t
recordings(void)
{
    size_t count = 0;
    DIR *stream = opendir(program_folder);
    assert_non_null(stream);
    const struct dirent *entry;
    while ((entry = readdir(stream))) {
        count += strstr(entry->d_name, ".memtop") != NULL;
    }
    closedir(stream);
    return count;
}

static void
who_asks_is_told_where_everything_was_written(void **state)
{
    (void)state;
    program_start(&settings, true);
    for (size_t slot = 0; slot < 10; slot++) {
        program_allocate(slot, key_of(slot % 2));
    }
    struct client client = client_connect(settings.socket);
    assert_true(client_wait(&client, MESSAGE_HELLO)->hello.capabilities &
                CAPABILITY_FLIGHT);
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.totals.live != 10) {
    }
    struct story story = ask(&client, 1);
    assert_int_equal(story.groups, 1);
    assert_int_equal(story.hellos, 1);
    assert_true(story.names >= 2);
    assert_int_equal(story.live[1], 5);
    assert_int_equal(story.live[2], 5);
    assert_int_equal(story.total, 10);
    assert_int_equal(story.gaps, 1);
    assert_non_null(strstr(story.notices[PROBE_NOTICE_FLIGHT], "a viewer asked"));
    const struct notice *notice = wait_for_notice(&client, PROBE_NOTICE_FLIGHT);
    assert_int_equal(notice->severity, NOTICE_INFO);
    assert_true(client_text_has(notice->text, asked_path));
    program_free(0);
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.totals.live != 9) {
    }
    assert_int_equal(ask(&client, 2).live[1], 4);
    assert_int_equal(recordings(), 2);
    client_close(&client);
    program_stop();
}

static void
rules_fire_without_any_viewer(void **state)
{
    (void)state;
    snprintf(settings.flight, sizeof(settings.flight), "live(Class550000000028)>50");
    settings.flight_limit = 1;
    program_start(&settings, true);
    for (size_t slot = 0; slot < 60; slot++) {
        program_allocate(slot, key_of(1));
    }
    struct story story = wait_for_file(1);
    assert_int_equal(story.live[1], 60);
    assert_int_equal(story.viewers, 0);
    assert_non_null(
        strstr(story.notices[PROBE_NOTICE_FLIGHT], "live(Class550000000028)>50 (60)"));
    struct client client = client_connect(settings.socket);
    const struct notice *notice = wait_for_notice(&client, PROBE_NOTICE_FLIGHT);
    assert_true(client_text_has(notice->text, "1 of 1"));
    client_close(&client);
    program_stop();
    assert_int_equal(recordings(), 1);
}

static void
a_recorder_takes_no_viewers_place(void **state)
{
    struct client clients[SERVER_VIEWERS_MAX];
    (void)state;
    program_start(&settings, true);
    for (size_t i = 0; i < SERVER_VIEWERS_MAX; i++) {
        clients[i] = client_connect(settings.socket);
        client_wait(&clients[i], MESSAGE_HELLO);
    }
    while (client_wait(&clients[63], MESSAGE_SAMPLE)->sample.probe.viewers !=
           SERVER_VIEWERS_MAX) {
    }
    for (size_t i = 0; i < SERVER_VIEWERS_MAX; i++) {
        client_close(&clients[i]);
    }
    program_stop();
}

static void
without_rules_or_read_only_a_request_is_refused(void **state)
{
    (void)state;
    settings.readonly = true;
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    client_ask(&client, 1, REQUEST_FLIGHT, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_REFUSED);
    assert_true(client_text_has(client.message.result.text, "read-only"));
    client_close(&client);
    program_stop();
    settings.readonly = false;
    settings.flight[0] = '\0';
    program_start(&settings, true);
    client = client_connect(settings.socket);
    assert_int_equal(
        client_wait(&client, MESSAGE_HELLO)->hello.capabilities & CAPABILITY_FLIGHT, 0);
    client_ask(&client, 1, REQUEST_FLIGHT, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_REFUSED);
    assert_true(client_text_has(client.message.result.text, "MEMTOP_FLIGHT"));
    client_close(&client);
    program_stop();
    assert_int_equal(recordings(), 0);
}

static void
a_file_that_cannot_be_written_is_a_result_and_a_notice(void **state)
{
    (void)state;
    snprintf(settings.flight_file, sizeof(settings.flight_file), "%s/none/",
             program_folder);
    program_start(&settings, true);
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    client_ask(&client, 1, REQUEST_FLIGHT, 0);
    assert_int_equal(client_result(&client, 1)->status, RESULT_FAILED);
    assert_true(client_text_has(client.message.result.text, "No such file"));
    const struct notice *notice = wait_for_notice(&client, PROBE_NOTICE_UNWRITTEN);
    assert_int_equal(notice->severity, NOTICE_WARNING);
    client_close(&client);
    program_stop();
}

static struct class_entry *
entry_of(size_t number)
{
    struct registry *registry = &probe.tally.registry;
    return registry_class(registry,
                          registry_lookup(registry, key_of(number))->site->class_index);
}

// Traced classes are in the file with their trees, without being watched for it.
static void
trees_of_traced_classes_are_recorded_and_of_no_others(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    program_allocate(1, key_of(1));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    client_ask(&client, 1, REQUEST_PIN, 1);
    assert_int_equal(client_result(&client, 1)->status, RESULT_DONE);
    while (!(client_wait(&client, MESSAGE_NAMES)->names.list[0].flags & CLASS_TRACED)) {
    }
    for (size_t slot = 2; slot < 9; slot++) {
        program_allocate(slot, key_of(0));
    }
    struct story story;
    uint64_t id = 2;
    do { // the recorder may have seen less than the viewer
        client_wait(&client, MESSAGE_SAMPLE);
        story = ask(&client, id++);
    } while (story.tree_live[1] != 8);
    assert_int_equal(story.live[1], 8);
    assert_int_equal(story.tree_live[2], 0);
    pthread_mutex_lock(&probe.lock);
    assert_int_equal(entry_of(0)->watchers, 0);
    assert_false(entry_of(1)->traced);
    pthread_mutex_unlock(&probe.lock);
    client_close(&client);
    program_stop();
}

// What has survived many collections and grows through all of them.
static void
make_suspect(size_t number)
{
    struct registry *registry = &probe.tally.registry;
    struct site *site = registry_lookup(registry, key_of(number))->site;
    struct buffer frames = {0};
    for (uint64_t i = 0; i < 60; i++) {
        count_add(&site->allocated, 200);
        registry_seen(registry, site->id)->ages[3] = (uint32_t)site->allocated;
        const struct judge_facts now = {.at_us = (i + 2) * 5000000,
                                        .mode = MODE_COUNT,
                                        .collections = i,
                                        .majors = i / 4,
                                        .census_us = (i + 2) * 5000000};
        assert_true(
            judge_look(&probe.judge, registry, &now, (struct stamp){1, 2}, &frames));
    }
    buffer_destroy(&frames);
}

static bool
has_open(const struct viewer *viewer, size_t number)
{
    for (size_t i = 0; i < viewer->open_count; i++) {
        if (viewer->open[i].id == entry_of(number)->id) {
            return true;
        }
    }
    return false;
}

// More classes are traced than a recording has trees: who looks like a leak is there.
static void
of_many_trees_suspects_come_first_and_most_objects_next(void **state)
{
    struct opened opened = {0};
    (void)state;
    settings.flight[0] = '\0';
    settings.interval_s = 3600;
    program_start(&settings, false);
    pthread_mutex_lock(&probe.lock);
    for (size_t i = 0; i < 50; i++) {
        registry_lookup(&probe.tally.registry, key_of(i))->site->allocated += 100 + 8 * i;
        entry_of(i)->traced = i != 49; // nobody asked for that one
    }
    struct viewer *onlooker = viewer_new_onlooker(flight_take, NULL);
    assert_non_null(onlooker);
    opened_look_on(&opened, &probe, onlooker, 1);
    assert_int_equal(onlooker->open_count, VIEWER_OPEN_ROOM);
    assert_true(has_open(onlooker, 48) && has_open(onlooker, 17));
    assert_false(has_open(onlooker, 16) || has_open(onlooker, 49));
    // What is open stays, though others have more by now, but gives way to a suspect.
    registry_lookup(&probe.tally.registry, key_of(3))->site->allocated += 100000;
    opened_look_on(&opened, &probe, onlooker, 2);
    assert_true(has_open(onlooker, 17) && !has_open(onlooker, 3));
    make_suspect(5);
    opened_look_on(&opened, &probe, onlooker, 3);
    assert_true(has_open(onlooker, 5) && !has_open(onlooker, 17));
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(entry_of(i)->watchers, 0);
        assert_int_equal(entry_of(i)->left_ns, 0);
        entry_of(i)->traced = false;
    }
    opened_look_on(&opened, &probe, onlooker, 4);
    assert_int_equal(onlooker->open_count, 0);
    opened_forget(&opened, &probe, &onlooker, 1, 5);
    viewer_free(onlooker);
    pthread_mutex_unlock(&probe.lock);
    program_stop();
}

static void
a_change_of_mode_is_told_as_to_any_viewer(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    client_ask(&client, 1, REQUEST_MODE, MODE_CENSUS);
    client_result(&client, 1);
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.totals.live != 1) {
    }
    struct story story = ask(&client, 2);
    assert_true(story.dormant_between);
    assert_int_equal(story.mode, MODE_CENSUS);
    assert_int_equal(story.total, 1);
    client_close(&client);
    program_stop();
}

static void
the_end_of_the_program_is_written_before_goodbye_is_said(void **state)
{
    (void)state;
    snprintf(settings.flight, sizeof(settings.flight), "exit");
    program_start(&settings, false);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    program_allocate(1, key_of(0));
    probe_stop(&probe, BYE_EXIT, 3);
    bool said = false;
    do {
        client_next(&client);
        said |= client.message.kind == MESSAGE_NOTICE &&
                client.message.notice.id == PROBE_NOTICE_FLIGHT;
    } while (client.message.kind != MESSAGE_BYE);
    assert_true(said);
    client_close(&client);
    struct story story = wait_for_file(1);
    assert_true(story.bye);
    assert_int_equal(story.total, 2); // the last state
}

static void
a_probe_that_is_stopped_writes_nothing(void **state)
{
    (void)state;
    snprintf(settings.flight, sizeof(settings.flight), "exit");
    program_start(&settings, true);
    program_stop();
    assert_int_equal(recordings(), 0);
}

static void
without_memory_for_a_ring_the_program_is_watched_as_ever(void **state)
{
    (void)state;
    settings.flight_bytes = SIZE_MAX / 4; // no kernel has that
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    const struct hello *hello = &client_wait(&client, MESSAGE_HELLO)->hello;
    assert_int_equal(hello->capabilities & CAPABILITY_FLIGHT, 0);
    const struct notice *notice = wait_for_notice(&client, PROBE_NOTICE_UNKEPT);
    assert_true(client_text_has(notice->text, "no memory"));
    assert_int_equal(client_wait(&client, MESSAGE_SAMPLE)->sample.totals.live, 1);
    client_close(&client);
    program_stop();
}

static void
a_ring_too_small_for_the_program_is_said(void **state)
{
    (void)state;
    settings.flight_bytes = 65536;
    program_start(&settings, false);
    program_lock();
    for (size_t i = 0; i < 5000; i++) {
        count_up(&registry_lookup(&probe.tally.registry, key_of(i))->site->allocated);
    }
    program_unlock();
    struct client client = client_connect(settings.socket);
    const struct notice *notice = wait_for_notice(&client, PROBE_NOTICE_UNKEPT);
    assert_true(client_text_has(notice->text, "MEMTOP_FLIGHT_SIZE"));
    client_close(&client);
    program_stop();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_asks_is_told_where_everything_was_written,
                                        start, end),
        cmocka_unit_test_setup_teardown(rules_fire_without_any_viewer, start, end),
        cmocka_unit_test_setup_teardown(a_recorder_takes_no_viewers_place, start, end),
        cmocka_unit_test_setup_teardown(without_rules_or_read_only_a_request_is_refused,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_file_that_cannot_be_written_is_a_result_and_a_notice, start, end),
        cmocka_unit_test_setup_teardown(
            trees_of_traced_classes_are_recorded_and_of_no_others, start, end),
        cmocka_unit_test_setup_teardown(
            of_many_trees_suspects_come_first_and_most_objects_next, start, end),
        cmocka_unit_test_setup_teardown(a_change_of_mode_is_told_as_to_any_viewer, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            the_end_of_the_program_is_written_before_goodbye_is_said, start, end),
        cmocka_unit_test_setup_teardown(a_probe_that_is_stopped_writes_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            without_memory_for_a_ring_the_program_is_watched_as_ever, start, end),
        cmocka_unit_test_setup_teardown(a_ring_too_small_for_the_program_is_said, start,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
