// Start, stop, fork: what is left behind, and what goes on.
#include "probe/core/probe.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

static size_t
entries_of(const char *folder)
{
    size_t count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    while (readdir(stream)) {
        count++;
    }
    closedir(stream);
    return count;
}

static size_t
threads(void)
{
    return entries_of("/proc/self/task");
}

static size_t
descriptors(void)
{
    return entries_of("/proc/self/fd");
}

// Address space, kB: mappings that were not given back show here.
static size_t
mapped_kb(void)
{
    char line[128];
    size_t kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (fgets(line, sizeof(line), status)) {
        sscanf(line, "VmSize: %zu", &kb);
    }
    fclose(status);
    return kb;
}

static bool
exists(const char *path)
{
    struct stat stat;
    return lstat(path, &stat) == 0;
}

/* Start and stop. */

// ASan keeps memory that was freed, so as to notice who still uses it.
#ifdef __SANITIZE_ADDRESS__
#define QUARANTINE_KB (256 * 1024)
#else
#define QUARANTINE_KB 0
#endif

static void
use_once(bool with_viewer)
{
    program_start(&settings, true);
    for (size_t slot = 0; slot < 100; slot++) {
        program_allocate(slot, key_of(slot % 7));
    }
    if (with_viewer) {
        struct client client = client_connect(settings.socket);
        client_wait(&client, MESSAGE_SAMPLE);
        program_stop();
        assert_int_equal(client_drain(&client), BYE_STOP);
        client_close(&client);
    } else {
        program_stop();
    }
}

static void
starting_and_stopping_200_times_leaves_nothing(void **state)
{
    (void)state;
    use_once(true); // what the C library takes once
    size_t descriptors_before = descriptors();
    size_t threads_before = threads();
    size_t mapped_before = mapped_kb();
    for (size_t i = 0; i < 200; i++) {
        use_once(i % 8 == 0);
    }
    assert_int_equal(descriptors(), descriptors_before);
    assert_int_equal(threads(), threads_before);
    // One start maps several MiB, so that one in ten kept would show.
    assert_true(mapped_kb() < mapped_before + 65536 + QUARANTINE_KB);
    assert_false(exists(settings.socket));
    assert_false(heap.hooked);
    assert_int_equal(heap.held, 0);
}

static void
a_start_that_fails_leaves_nothing(void **state)
{
    const struct runtime runtime = heap_runtime();
    char why[256];
    (void)state;
    FILE *file = fopen(settings.socket, "w");
    assert_non_null(file);
    fclose(file);
    size_t descriptors_before = descriptors();
    size_t threads_before = threads();
    for (size_t i = 0; i < 20; i++) {
        assert_false(probe_start(&probe, &settings, &runtime, why, sizeof(why)));
        assert_non_null(strstr(why, "not a socket"));
    }
    memset(settings.socket, 'x', 500);
    settings.socket[500] = '\0';
    assert_false(probe_start(&probe, &settings, &runtime, why, sizeof(why)));
    assert_non_null(strstr(why, "longer than"));
    assert_int_equal(descriptors(), descriptors_before);
    assert_int_equal(threads(), threads_before);
    assert_false(heap.hooked);
}

static void
a_start_without_descriptors_fails_at_each_of_them(void **state)
{
    const struct runtime runtime = heap_runtime();
    struct rlimit before;
    char why[256];
    (void)state;
    getrlimit(RLIMIT_NOFILE, &before);
    size_t descriptors_before = descriptors();
    bool started = false;
    size_t failures = 0;
    for (rlim_t limit = 3; !started && limit < 64; limit++) {
        const struct rlimit few = {limit, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        started = probe_start(&probe, &settings, &runtime, why, sizeof(why));
        setrlimit(RLIMIT_NOFILE, &before);
        failures += !started;
        assert_true(started || !exists(settings.socket));
    }
    assert_true(started && failures >= 3);
    probe_stop(&probe, BYE_STOP, COUNT_UNKNOWN);
    assert_int_equal(descriptors(), descriptors_before);
}

static void
objects_from_before_the_start_are_counted(void **state)
{
    (void)state;
    for (size_t slot = 0; slot < 50; slot++) {
        program_allocate(slot, key_of(0)); // nobody looks yet
    }
    program_start(&settings, true);
    program_allocate(50, key_of(0));
    program_free(0);
    struct client client = client_connect(settings.socket);
    const struct sample *sample = &client_wait(&client, MESSAGE_SAMPLE)->sample;
    assert_int_equal(sample->rows[0].live, 50);
    assert_int_equal(sample->rows[0].allocated, 1);
    assert_int_equal(sample->rows[0].freed, 1);
    client_close(&client);
    program_stop();
}

static void
every_mode_follows_every_other(void **state)
{
    static const enum probe_mode modes[] = {MODE_CENSUS, MODE_COUNT,   MODE_DORMANT,
                                            MODE_CENSUS, MODE_DORMANT, MODE_COUNT,
                                            MODE_CENSUS};
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    for (uint64_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        client_ask(&client, i, REQUEST_MODE, modes[i]);
        assert_int_equal(client_result(&client, i)->status, RESULT_DONE);
        uint64_t expected = modes[i] == MODE_DORMANT ? COUNT_UNKNOWN : 1;
        const struct sample *sample;
        do {
            sample = &client_wait(&client, MESSAGE_SAMPLE)->sample;
        } while (sample->mode != modes[i] || sample->totals.live != expected);
        assert_true(sample->totals.allocated ==
                    (modes[i] == MODE_COUNT ? 0 : COUNT_UNKNOWN));
        program_lock();
        assert_true(heap.hooked == (modes[i] == MODE_COUNT));
        assert_int_equal(heap.held, 0);
        program_unlock();
    }
    client_close(&client);
    program_stop();
}

static void
a_compaction_that_was_lost_ends_the_counting_in_words(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    program_lock();
    probe.tally.lost = true; // as tally_compacted() does without memory
    program_unlock();
    const struct message *message = client_wait(&client, MESSAGE_NOTICE);
    assert_true(client_text_has(message->notice.text, "compaction"));
    do {
        message = client_wait(&client, MESSAGE_SAMPLE);
    } while (message->sample.mode != MODE_CENSUS || message->sample.totals.live != 1);
    client_ask(&client, 1, REQUEST_MODE, MODE_COUNT);
    assert_int_equal(client_result(&client, 1)->status, RESULT_FAILED);
    client_close(&client);
    program_stop();
}

/* Fork. */

static struct class_row
row_seen_at(const char *path)
{
    struct client client = client_connect(path);
    const struct sample *sample = &client_wait(&client, MESSAGE_SAMPLE)->sample;
    assert_true(sample->key && sample->row_count == 1);
    struct class_row row = sample->rows[0];
    client_close(&client);
    return row;
}

// In the child: exit statuses say which step failed.
static int
live_as_a_child(unsigned revived_before)
{
    char why[256];
    char path[ENDPOINT_PATH_MAX];
    if (heap.revived != revived_before + 1 || probe.agent_alive) {
        return 1; // the fork handler did not ask for this
    }
    if (!probe_after_fork(&probe, why, sizeof(why))) {
        return 2;
    }
    program_start_agent();
    endpoint_child_path(path, settings.socket, getpid());
    program_allocate(1, key_of(0));
    if (strcmp(path, probe.path) != 0 || row_seen_at(path).live != 2) {
        return 3;
    }
    program_stop();
    return exists(path) ? 4 : 0;
}

static int
wait_for(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void
a_child_counts_on_beside_its_parent(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    client_wait(&client, MESSAGE_SAMPLE);
    unsigned revived = heap.revived;
    program_lock(); // who forks has the GVL
    pid_t child = fork();
    program_unlock();
    if (child == 0) {
        _exit(live_as_a_child(revived));
    }
    assert_int_equal(wait_for(child), 0);
    client_wait(&client, MESSAGE_SAMPLE); // the parent's viewer lost nothing
    program_free(0);
    while (client_wait(&client, MESSAGE_SAMPLE)->sample.totals.live != 0) {
    }
    client_close(&client);
    program_stop();
    assert_false(exists(settings.socket));
}

// As a child that goes on to exec, or that ends before it began.
static void
children_that_never_get_to_work_disturb_nobody(void **state)
{
    (void)state;
    program_start(&settings, true);
    program_allocate(0, key_of(0));
    struct client client = client_connect(settings.socket);
    for (size_t i = 0; i < 100; i++) {
        program_lock();
        pid_t child = fork();
        program_unlock();
        if (child == 0 && i % 2 == 0) {
            probe_stop(&probe, BYE_EXIT, 0); // its parent's socket is not its own
            _exit(exists(settings.socket) ? 0 : 1);
        } else if (child == 0) {
            _exit(0);
        }
        assert_int_equal(wait_for(child), 0);
        client_ask(&client, i, REQUEST_KEY, 0);
        assert_int_equal(client_result(&client, i)->status, RESULT_DONE);
    }
    client_close(&client);
    program_stop();
}

// Another thread may fork without the GVL, while the probe stops.
static void *
fork_and_fork(void *argument)
{
    atomic_bool *stop = argument;
    while (!atomic_load(stop)) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return NULL;
}

static void
the_probe_starts_and_stops_while_others_fork(void **state)
{
    atomic_bool stop = false;
    pthread_t forker;
    (void)state;
    assert_int_equal(pthread_create(&forker, NULL, fork_and_fork, &stop), 0);
    for (size_t i = 0; i < 50; i++) {
        use_once(false);
    }
    atomic_store(&stop, true);
    pthread_join(forker, NULL);
}

static void
a_program_that_counts_itself_needs_no_server_and_shares_it_with_one(void **state)
{
    (void)state;
    const struct runtime runtime = heap_runtime();
    char why[PROBE_TEXT_MAX];
    size_t before = threads();
    size_t open_before = descriptors();
    program_allocate(1, key_of(1));
    assert_true(probe_hold(&probe, &settings, &runtime, why, sizeof(why)));
    assert_true(heap.hooked);
    assert_int_equal(probe.mode, MODE_COUNT);
    assert_int_equal(threads(), before);
    assert_int_equal(descriptors(), open_before);
    program_allocate(2, key_of(1));
    settings.mode = MODE_DORMANT;
    assert_true(probe_start(&probe, &settings, &runtime, why, sizeof(why)));
    assert_int_equal(probe.mode, MODE_COUNT); // until the program lets it go
    assert_false(probe_enter(&probe, MODE_CENSUS));
    assert_true(probe_hold(&probe, &settings, &runtime, why, sizeof(why)));
    assert_int_equal(registry_totals(&probe.tally.registry).live, 2);
    probe_release(&probe);
    assert_int_equal(probe.mode, MODE_COUNT);
    probe_release(&probe);
    assert_int_equal(probe.mode, MODE_CENSUS);
    assert_false(heap.hooked);
    assert_true(probe_hold(&probe, &settings, &runtime, why, sizeof(why)));
    probe_stop(&probe, BYE_STOP, COUNT_UNKNOWN);
    assert_true(heap.hooked);
    assert_int_equal(registry_totals(&probe.tally.registry).live, 2);
    assert_int_equal(threads(), before);
    assert_int_equal(descriptors(), open_before);
    probe_release(&probe);
    assert_false(heap.hooked);
    probe_release(&probe); // one too many is harmless
    heap.no_hooks = true;
    assert_false(probe_hold(&probe, &settings, &runtime, why, sizeof(why)));
    assert_non_null(strstr(why, "count"));
    heap.no_hooks = false;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(starting_and_stopping_200_times_leaves_nothing,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_program_that_counts_itself_needs_no_server_and_shares_it_with_one, start,
            end),
        cmocka_unit_test_setup_teardown(a_start_that_fails_leaves_nothing, start, end),
        cmocka_unit_test_setup_teardown(a_start_without_descriptors_fails_at_each_of_them,
                                        start, end),
        cmocka_unit_test_setup_teardown(objects_from_before_the_start_are_counted, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_compaction_that_was_lost_ends_the_counting_in_words, start, end),
        cmocka_unit_test_setup_teardown(every_mode_follows_every_other, start, end),
        cmocka_unit_test_setup_teardown(a_child_counts_on_beside_its_parent, start, end),
        cmocka_unit_test_setup_teardown(children_that_never_get_to_work_disturb_nobody,
                                        start, end),
        cmocka_unit_test_setup_teardown(the_probe_starts_and_stops_while_others_fork,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
