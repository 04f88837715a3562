// Viewers open classes: a real probe, real sockets, a program made of numbers.
#include "probe/core/opened.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/probe/core/client.h"
#include "tests/probe/core/fixture.h"
#include "tests/probe/core/program.h"

static struct settings settings;

static int
start(void **state)
{
    (void)state;
    return program_begin(&settings) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    program_end();
    return 0;
}

static uintptr_t
key_of(size_t number)
{
    return 0x550000000000 + number * 40;
}

static struct class_entry *
entry_of(size_t number)
{
    struct registry *registry = &probe.tally.registry;
    uint32_t row = registry_lookup(registry, key_of(number))->site->class_index;
    return registry_class(registry, row);
}

// A path of the class that has `count` objects: stacks there was no room for.
static void
add_path(size_t number, uint64_t count)
{
    program_lock();
    const struct site *site =
        registry_lookup(&probe.tally.registry, key_of(number))->site;
    struct site *path =
        registry_add_path(&probe.tally.registry, site->class_index, FRAME_OTHER, 0, 0);
    count_add(&path->allocated, count);
    program_unlock();
}

static uint32_t
watchers_of(size_t number)
{
    pthread_mutex_lock(&probe.lock);
    uint32_t watchers = entry_of(number)->watchers;
    pthread_mutex_unlock(&probe.lock);
    return watchers;
}

static const struct result *
ask(struct client *client, uint64_t id, enum request_action action, uint64_t argument)
{
    client_ask(client, id, action, argument);
    return client_result(client, id);
}

static void
expect_done(struct client *client, uint64_t id, enum request_action action,
            uint64_t argument)
{
    assert_int_equal(ask(client, id, action, argument)->status, RESULT_DONE);
}

static void
expect_refused(struct client *client, uint64_t id, enum request_action action,
               uint64_t argument, const char *words)
{
    const struct result *result = ask(client, id, action, argument);
    assert_int_equal(result->status, RESULT_REFUSED);
    assert_true(client_text_has(result->text, words));
}

static uint64_t
sum_of(const struct tree *tree)
{
    uint64_t live = tree->unsampled_live;
    for (size_t i = 0; i < tree->site_count; i++) {
        live += tree->sites[i].live;
    }
    return live;
}

static const struct tree *
wait_for_key_tree(struct client *client)
{
    while (!client_wait(client, MESSAGE_TREE)->tree.key) {
    }
    return &client->message.tree;
}

static void
who_opens_a_class_gets_its_tree_and_what_changes(void **state)
{
    (void)state;
    program_start(&settings, true);
    for (size_t slot = 0; slot < 10; slot++) {
        program_allocate(slot, key_of(slot % 2));
    }
    add_path(0, 7);
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    expect_done(&client, 1, REQUEST_OPEN, 1);
    const struct tree *tree = wait_for_key_tree(&client);
    assert_int_equal(tree->class_id, 1);
    assert_int_equal(tree->live, 12);
    assert_int_equal(sum_of(tree), 12);
    assert_int_equal(tree->node_count, 2);
    add_path(0, 1);
    do {
        tree = &client_wait(&client, MESSAGE_TREE)->tree;
        assert_false(tree->key);
    } while (tree->live != 13);
    expect_done(&client, 2, REQUEST_OPEN, 1); // again: nothing changes
    assert_int_equal(watchers_of(0), 1);
    expect_done(&client, 3, REQUEST_CLOSE, 1);
    expect_done(&client, 4, REQUEST_CLOSE, 1);
    assert_int_equal(watchers_of(0), 0);
    client_close(&client);
    program_stop();
}

static _Atomic bool stop_allocating;

static void *
allocate_on(void *unused)
{
    (void)unused;
    for (size_t slot = 0; !stop_allocating; slot = (slot + 1) % 1000) {
        program_free(slot);
        program_allocate(slot, key_of(0));
        program_allocate(1000 + slot / 2, key_of(0));
        program_free(1000 + slot / 2);
    }
    return NULL;
}

// The row of a sample, until another one comes with it.
static uint64_t
live_in(const struct sample *sample, class_id id, uint64_t before)
{
    for (size_t i = 0; i < sample->row_count; i++) {
        before = sample->rows[i].id == id ? sample->rows[i].live : before;
    }
    return before;
}

static void
the_root_is_the_number_of_the_table_while_the_program_allocates(void **state)
{
    (void)state;
    pthread_t thread;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    add_path(0, 3);
    stop_allocating = false;
    assert_int_equal(pthread_create(&thread, NULL, allocate_on, NULL), 0);
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    uint64_t live = live_in(&client.message.sample, 1, 0);
    client_ask(&client, 1, REQUEST_OPEN, 1);
    for (size_t trees = 0; trees < 10;) {
        client_next(&client);
        if (client.message.kind == MESSAGE_SAMPLE) {
            live = live_in(&client.message.sample, 1, live);
        } else if (client.message.kind == MESSAGE_TREE) {
            assert_true(client.message.tree.live == live);
            assert_true(!client.message.tree.key || sum_of(&client.message.tree) == live);
            trees++;
        }
    }
    stop_allocating = true;
    pthread_join(thread, NULL);
    client_close(&client);
    program_stop();
}

static void
a_class_is_watched_as_long_as_one_viewer_has_it_open(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client one = client_connect(settings.socket);
    struct client two = client_connect(settings.socket);
    client_wait(&one, MESSAGE_SAMPLE);
    client_wait(&two, MESSAGE_SAMPLE);
    expect_done(&one, 1, REQUEST_OPEN, 1);
    expect_done(&two, 1, REQUEST_OPEN, 1);
    wait_for_key_tree(&one);
    wait_for_key_tree(&two);
    assert_int_equal(watchers_of(0), 2);
    client_close(&one); // without a word
    while (client_wait(&two, MESSAGE_SAMPLE)->sample.probe.viewers != 1) {
    }
    assert_int_equal(watchers_of(0), 1);
    assert_true(entry_of(0)->left_ns == 0);
    expect_done(&two, 2, REQUEST_CLOSE, 1);
    assert_int_equal(watchers_of(0), 0);
    assert_true(entry_of(0)->left_ns != 0);
    client_close(&two);
    program_stop();
}

static void
what_cannot_be_opened_is_refused_in_words(void **state)
{
    (void)state;
    program_start(&settings, true);
    for (size_t i = 0; i <= VIEWER_OPEN_MAX; i++) {
        program_allocate(i, key_of(i));
    }
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    expect_refused(&client, 1, REQUEST_OPEN, 999, "no such class");
    expect_refused(&client, 2, REQUEST_OPEN, 0, "no such class");
    expect_refused(&client, 3, REQUEST_PIN, UINT64_MAX, "no such class");
    for (uint64_t id = 1; id <= VIEWER_OPEN_MAX; id++) {
        expect_done(&client, 10 + id, REQUEST_OPEN, id);
    }
    expect_refused(&client, 4, REQUEST_OPEN, VIEWER_OPEN_MAX + 1, "8 classes");
    expect_done(&client, 5, REQUEST_CLOSE, 3);
    expect_done(&client, 6, REQUEST_OPEN, VIEWER_OPEN_MAX + 1);
    expect_done(&client, 7, REQUEST_MODE, MODE_DORMANT);
    expect_refused(&client, 8, REQUEST_OPEN, 1, "mode count or trace");
    client_close(&client);
    program_stop();
}

static void
read_only_shows_a_tree_and_traces_nothing(void **state)
{
    (void)state;
    settings.readonly = true;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    expect_refused(&client, 1, REQUEST_PIN, 1, "read-only");
    expect_refused(&client, 2, REQUEST_UNPIN, 1, "read-only");
    expect_done(&client, 3, REQUEST_OPEN, 1);
    const struct tree *tree = wait_for_key_tree(&client);
    assert_int_equal(tree->live, 1);
    assert_int_equal(tree->flags & TREE_TRACING, 0);
    assert_int_equal(watchers_of(0), 0);
    expect_done(&client, 4, REQUEST_CLOSE, 1);
    assert_int_equal(watchers_of(0), 0);
    client_close(&client);
    program_stop();
}

static void
a_pinned_class_is_marked_where_classes_are_named(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    expect_done(&client, 1, REQUEST_PIN, 1);
    while (!(client_wait(&client, MESSAGE_NAMES)->names.list[0].flags & CLASS_PINNED)) {
    }
    expect_done(&client, 2, REQUEST_UNPIN, 1);
    while (client_wait(&client, MESSAGE_NAMES)->names.list[0].flags & CLASS_PINNED) {
    }
    assert_true(entry_of(0)->left_ns != 0); // and fades
    client_close(&client);
    program_stop();
}

static void
a_tree_ends_with_its_class(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    program_allocate(1, key_of(1));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    expect_done(&client, 1, REQUEST_OPEN, 1);
    wait_for_key_tree(&client);
    program_lock();
    tally_class_freed(&probe.tally, key_of(0));
    program_unlock();
    program_free(0);
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.gone_count == 0) {
    }
    assert_int_equal(client.message.sample.gone[0], 1);
    for (uint64_t id = 2; id < 5; id++) { // and is not spoken of again
        expect_refused(&client, id, REQUEST_OPEN, 1, "no such class");
    }
    expect_done(&client, 6, REQUEST_CLOSE, 1);
    expect_done(&client, 7, REQUEST_OPEN, 2);
    assert_int_equal(wait_for_key_tree(&client)->class_id, 2);
    client_close(&client);
    program_stop();
}

static void
after_a_change_of_mode_a_class_is_opened_by_its_new_id(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    expect_done(&client, 1, REQUEST_OPEN, 1);
    wait_for_key_tree(&client);
    expect_done(&client, 2, REQUEST_MODE, MODE_CENSUS);
    expect_done(&client, 3, REQUEST_MODE, MODE_COUNT);
    program_allocate(1, key_of(0));
    expect_refused(&client, 4, REQUEST_OPEN, 1, "no such class");
    expect_done(&client, 5, REQUEST_KEY, 0);
    while (!client_wait(&client, MESSAGE_SAMPLE)->sample.key ||
           client.message.sample.row_count == 0) {
    }
    class_id id = client.message.sample.rows[0].id;
    assert_true(id > 1);
    expect_done(&client, 6, REQUEST_OPEN, id);
    assert_int_equal(wait_for_key_tree(&client)->class_id, id);
    client_close(&client);
    program_stop();
}

#define MANY_PATHS 100000u

static void
touch_every_path(bool make)
{
    program_lock();
    struct registry *registry = &probe.tally.registry;
    uint32_t row = registry_lookup(registry, key_of(0))->site->class_index;
    for (size_t i = 0; make && i < MANY_PATHS; i++) {
        registry_add_path(registry, row, FRAME_OTHER, (uint8_t)(i % 4), 0);
    }
    for (site_id id = registry_class(registry, row)->paths; id;) {
        struct site *site = registry_site(registry, id);
        count_up(&site->allocated);
        id = site->next;
    }
    program_unlock();
}

// It loses whole frames, is told so, and gets the whole tree when it reads again.
static void
one_that_does_not_read_gets_the_whole_tree_again(void **state)
{
    (void)state;
    program_start(&settings, false);
    program_allocate(0, key_of(0));
    touch_every_path(true);
    struct client slow = client_connect(settings.socket);
    client_wait(&slow, MESSAGE_SAMPLE);
    expect_done(&slow, 1, REQUEST_OPEN, 1);
    wait_for_key_tree(&slow);
    struct client other = client_connect(settings.socket);
    do {
        touch_every_path(false);
    } while (client_wait(&other, MESSAGE_SAMPLE)->sample.probe.dropped_frames == 0);
    uint64_t live = registry_counts(&probe.tally.registry, 1).live;
    while (wait_for_key_tree(&slow)->live != live) {
    }
    client_close(&slow);
    client_close(&other);
    program_stop();
}

static void
tracing_fades_a_while_after_the_last_viewer_left(void **state)
{
    (void)state;
    settings.interval_s = 3600; // this test is the clock
    program_start(&settings, false);
    program_allocate(0, key_of(0));
    pthread_mutex_lock(&probe.lock);
    struct class_entry *entry = entry_of(0);
    const uint64_t left_ns = 5;
    entry->left_ns = left_ns;
    assert_true(opened_wanted(entry, left_ns + OPENED_FADE_NS - 1));
    opened_tick(&probe, left_ns + OPENED_FADE_NS - 1);
    assert_false(probe.work & WORK_TRACE);
    assert_false(opened_wanted(entry, left_ns + OPENED_FADE_NS));
    opened_tick(&probe, left_ns + OPENED_FADE_NS);
    assert_true(probe.work & WORK_TRACE);
    assert_true(entry->left_ns == 0);
    entry->watchers = 1;
    assert_true(opened_wanted(entry, UINT64_MAX));
    entry->watchers = 0;
    entry->pinned = true;
    assert_true(opened_wanted(entry, UINT64_MAX));
    pthread_mutex_unlock(&probe.lock);
    program_stop();
}

static void
work(void)
{
    program_lock();
    assert_true(probe_work(&probe));
    program_unlock();
}

static void
tick(uint64_t now_ns)
{
    pthread_mutex_lock(&probe.lock);
    opened_tick(&probe, now_ns);
    pthread_mutex_unlock(&probe.lock);
}

// As after a burst: few stacks were taken then, and now there is room for all.
static void
a_class_that_calms_down_gets_its_stacks_without_waiting(void **state)
{
    (void)state;
    const uint64_t second_ns = 1000000000;
    settings.interval_s = 3600; // this test is the clock, and the agent
    program_start(&settings, false);
    program_allocate(0, key_of(0));
    entry_of(0)->pinned = true;
    probe_ask(&probe, WORK_TRACE);
    work();
    entry_of(0)->shift = TRACE_SHIFT_MAX;
    program_allocate(1, key_of(0)); // draws the gap
    tick(second_ns);
    for (uint64_t i = 2; i < 30; i++) {
        tick(i * second_ns);
        work();
    }
    assert_int_equal(entry_of(0)->shift, 0);
    uint64_t stacks = probe.tally.trace.stacks;
    program_allocate(2, key_of(0));
    program_allocate(3, key_of(0));
    assert_int_equal(probe.tally.trace.stacks, stacks + 2);
    program_stop();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_opens_a_class_gets_its_tree_and_what_changes,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            the_root_is_the_number_of_the_table_while_the_program_allocates, start, end),
        cmocka_unit_test_setup_teardown(
            a_class_is_watched_as_long_as_one_viewer_has_it_open, start, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_opened_is_refused_in_words, start,
                                        end),
        cmocka_unit_test_setup_teardown(read_only_shows_a_tree_and_traces_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_pinned_class_is_marked_where_classes_are_named,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_tree_ends_with_its_class, start, end),
        cmocka_unit_test_setup_teardown(
            after_a_change_of_mode_a_class_is_opened_by_its_new_id, start, end),
        cmocka_unit_test_setup_teardown(one_that_does_not_read_gets_the_whole_tree_again,
                                        start, end),
        cmocka_unit_test_setup_teardown(tracing_fades_a_while_after_the_last_viewer_left,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_class_that_calms_down_gets_its_stacks_without_waiting, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
