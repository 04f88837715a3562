/*
 * The flight recorder by itself: what it is given comes back from the files it writes,
 * whatever happens to the disk, the names, or the memory (--wrap: malloc and its like
 * pass through here).
 */
#include "probe/core/flight.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol/decoder.h"

#define SECOND UINT64_C(1000000000)
#define PID 4242

/* Memory that runs out. */

static long countdown = -1; // allocations that still succeed; negative: all do

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool
fails_now(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *
__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __real_realloc(memory, size);
}

/* A recorder with a folder of its own. */

static struct settings settings;
static struct registry registry;
static struct judge judge;
static struct flight *flight;
static char folder[64];
static char socket_path[80];
static int wake_fd;
static uint64_t now_ns;
static uint64_t next_sample; // its number, as its wall time

static uintptr_t
itself(uintptr_t key)
{
    return key;
}

static void
fly(void)
{
    flight = flight_new(&settings, socket_path, PID, wake_fd);
    assert_non_null(flight);
}

static int
start(void **state)
{
    (void)state;
    countdown = -1;
    snprintf(folder, sizeof(folder), "/tmp/memtop-test-XXXXXX");
    if (!mkdtemp(folder) || !registry_init(&registry, itself)) {
        return -1;
    }
    snprintf(socket_path, sizeof(socket_path), "%s/p.sock", folder);
    wake_fd = eventfd(0, EFD_CLOEXEC);
    settings_init(&settings);
    snprintf(settings.flight, sizeof(settings.flight), "rss>1M,exit");
    settings.flight_bytes = 65536;
    flight = NULL;
    now_ns = 1000 * SECOND;
    next_sample = 1;
    return 0;
}

static int
end(void **state)
{
    char command[200];
    (void)state;
    countdown = -1;
    flight_free(flight);
    registry_destroy(&registry);
    close(wake_fd);
    snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf '%s'", folder,
             folder);
    return system(command);
}

static void
take_message(const struct message *message)
{
    struct buffer frame = {0};
    assert_true(message_encode(&frame, message));
    assert_true(flight_take(flight, &frame));
    buffer_destroy(&frame);
}

static struct stamp
stamp_now(void)
{
    return (struct stamp){now_ns / 1000, next_sample};
}

static void
take_sample(size_t bytes, bool key)
{
    static char text[MESSAGE_TEXT_MAX];
    memset(text, 'x', sizeof(text));
    for (size_t left = bytes; left > 0;) {
        size_t length = left < 4000 ? left : 4000;
        left -= length;
        take_message(&(struct message){
            .kind = MESSAGE_NOTICE, .at = stamp_now(), .notice = {9, 0, {text, length}}
        });
    }
    take_message(&(struct message){
        .kind = MESSAGE_SAMPLE,
        .at = stamp_now(),
        .sample = {.key = key, .mode = MODE_COUNT, .totals = {next_sample, 0, 0, 0}}
    });
}

// One sample of some `bytes`, as the server has them: after it a key group of the same
// size when one is due.
static void
sample_of(size_t bytes, bool whole)
{
    const struct flight_state state = {.at = stamp_now(),
                                       .live = next_sample,
                                       .rss_bytes = 5,
                                       .gc_count = 6,
                                       .mode = MODE_COUNT};
    take_sample(bytes, false);
    flight_commit(flight, &state, whole);
    if (whole && flight_key_due(flight, now_ns)) {
        flight_begin_key(flight, now_ns);
        take_message(&(struct message){.kind = MESSAGE_HELLO, .at = stamp_now()});
        take_sample(bytes, true);
        flight_commit(flight, &state, true);
    }
    next_sample++;
    now_ns += SECOND;
}

static void
samples(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        sample_of(bytes, true);
    }
}

static void
look(uint64_t rss_bytes)
{
    const struct rule_facts facts = {now_ns, rss_bytes, 100, &registry, &judge};
    flight_look(flight, &facts, stamp_now());
}

// The outcome of what was begun.
static const struct flightfile_result *
landed(void)
{
    flight_wait(flight);
    const struct flightfile_result *result = flight_landed(flight);
    assert_non_null(result);
    assert_null(flight_landed(flight));
    return result;
}

static const struct flightfile_result *
fire(void)
{
    look(2 << 20);
    return landed();
}

/* What is in a file. */

struct seen {
    size_t groups;
    size_t gaps;
    size_t samples;
    uint64_t first_sample;
    uint64_t last_sample;
    uint64_t breaks; // samples that are not the one after the sample before
    uint64_t reason; // of the last GAP
    bool bye;
    enum message_kind last;
    char words[512]; // of the last GAP
};

static void
see_sample(struct seen *seen, const struct message *message)
{
    uint64_t number = message->at.wall_us;
    assert_int_equal(message->sample.totals.live, number);
    assert_true(seen->samples > 0 || message->sample.key);
    if (message->sample.key && number == seen->last_sample) {
        return; // who has read all that comes before may pass over it
    }
    seen->breaks += seen->samples > 0 && number != seen->last_sample + 1;
    seen->first_sample = seen->samples++ ? seen->first_sample : number;
    seen->last_sample = number;
}

// Where a key group began, and the one before: distances say so.
static void
see_key(struct seen *seen, const struct key_group *key, uint64_t offset, uint64_t *begin,
        uint64_t *ordinal)
{
    assert_int_equal(key->rss_bytes, 5);
    assert_int_equal(key->gc_count, 6);
    if (!key->begin) {
        assert_int_equal(key->previous, offset - *begin);
        assert_int_equal(key->ordinal, *ordinal);
        return;
    }
    if (seen->groups > 0) {
        assert_int_equal(key->previous, offset - *begin);
        assert_int_equal(key->ordinal, *ordinal + 1);
    }
    seen->groups++;
    *begin = offset;
    *ordinal = key->ordinal;
}

static struct seen
see(const char *path)
{
    struct seen seen = {0};
    struct decoder decoder = {0};
    struct message message;
    unsigned char bytes[4096];
    uint64_t begin = 0;
    uint64_t ordinal = 0;
    size_t length;
    size_t total = 0;
    struct stat stat_of;
    assert_int_equal(lstat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode, S_IFREG | 0600);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0) {
        decoder_feed(&decoder, bytes, length);
        total += length;
    }
    fclose(file);
    uint64_t offset = 0;
    enum decode_status status;
    while ((status = decoder_next(&decoder, &message)) == DECODE_MESSAGE) {
        assert_true(offset > 0 || message.kind == MESSAGE_KEY);
        if (message.kind == MESSAGE_KEY) {
            see_key(&seen, &message.key, offset, &begin, &ordinal);
        } else if (message.kind == MESSAGE_SAMPLE) {
            see_sample(&seen, &message);
        } else if (message.kind == MESSAGE_GAP) {
            seen.gaps++;
            seen.reason = message.gap.reason;
            snprintf(seen.words, sizeof(seen.words), "%.*s", (int)message.gap.text.length,
                     message.gap.text.bytes);
        }
        seen.bye |= message.kind == MESSAGE_BYE;
        seen.last = message.kind;
        struct buffer again = {0};
        assert_true(message_encode(&again, &message));
        offset += again.length;
        buffer_destroy(&again);
    }
    assert_int_equal(status, DECODE_NEED_MORE);
    assert_int_equal(offset, total);
    decoder_destroy(&decoder);
    return seen;
}

static size_t
entries_of(const char *path)
{
    size_t count = 0;
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while (readdir(stream)) {
        count++;
    }
    closedir(stream);
    return count - 2;
}

static size_t
entries(void)
{
    return entries_of(folder);
}

static const char *
at(const char *name)
{
    static char paths[4][160];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

/* Recording. */

static void
settings_without_rules_want_no_recorder(void **state)
{
    (void)state;
    assert_true(flight_wanted(&settings));
    snprintf(settings.flight, sizeof(settings.flight), "%s", "");
    assert_false(flight_wanted(&settings));
    snprintf(settings.flight, sizeof(settings.flight), "%s", " , ");
    assert_false(flight_wanted(&settings));
}

static void
a_rule_that_fires_has_everything_until_then_written(void **state)
{
    (void)state;
    fly();
    samples(150, 10);
    look(1000); // not above
    assert_null(flight_landed(flight));
    const struct flightfile_result *result = fire();
    assert_false(result->failed);
    assert_string_equal(result->path, at("memtop-4242-1.memtop"));
    struct seen seen = see(result->path);
    assert_int_equal(seen.samples, 150);
    assert_int_equal(seen.first_sample, 1);
    assert_int_equal(seen.breaks, 0);
    assert_int_equal(seen.groups, 3); // at seconds 0, 60 and 120
    assert_int_equal(seen.gaps, 1);
    assert_int_equal(seen.reason, GAP_STOPPED);
    assert_int_equal(seen.last, MESSAGE_GAP);
    assert_string_equal(seen.words, "flight recorder: rss>1M (2.0M)");
    assert_non_null(strstr(flight_words(flight), "rss>1M (2.0M), 1 of 3 of that rule"));
    assert_non_null(strstr(flight_words(flight), result->path));
    uint64_t woken = 0;
    assert_int_equal(read(wake_fd, &woken, sizeof(woken)), sizeof(woken));
    assert_int_equal(woken, 1);
    assert_int_equal(entries(), 1);
}

static void
it_keeps_the_newest_that_fits(void **state)
{
    (void)state;
    fly();
    samples(2000, 200);
    struct seen seen = see(fire()->path);
    assert_int_equal(seen.last_sample, 2000);
    assert_int_equal(seen.breaks, 0);
    assert_true(seen.first_sample > 1000);
    assert_true(seen.groups >= 3); // so that one that goes is no great loss
    struct stat stat_of;
    assert_int_equal(stat(at("memtop-4242-1.memtop"), &stat_of), 0);
    assert_in_range(stat_of.st_size, 65536 / 2, 65536 + 1024);
}

static void
samples_that_were_not_whole_are_a_gap_and_a_key_group_follows(void **state)
{
    (void)state;
    fly();
    samples(10, 10);
    sample_of(10, false);
    samples(10, 10);
    struct seen seen = see(fire()->path);
    assert_int_equal(seen.samples, 20);
    assert_int_equal(seen.breaks, 1);
    assert_int_equal(seen.groups, 2);
    assert_int_equal(seen.gaps, 2);
}

static void
a_state_that_does_not_fit_is_said_until_it_does(void **state)
{
    const char *why = "";
    (void)state;
    fly();
    samples(3, 40000);
    assert_non_null(strstr(flight_trouble(flight), "MEMTOP_FLIGHT_SIZE"));
    assert_false(flight_ask(flight, stamp_now(), &why));
    assert_string_equal(why, flight_trouble(flight));
    assert_false(flight_key_due(flight, now_ns)); // not at once
    samples(120, 100);
    assert_string_equal(flight_trouble(flight), "");
    struct seen seen = see(fire()->path);
    assert_int_equal(seen.breaks, 0);
    assert_int_equal(seen.last_sample, 123);
}

// One that is greater than the whole ring, of a state that is not.
static void
a_change_that_does_not_fit_is_a_gap_and_a_key_group_follows(void **state)
{
    const struct flight_state now = {.rss_bytes = 5, .gc_count = 6};
    (void)state;
    fly();
    samples(5, 10);
    take_sample(100000, false);
    flight_commit(flight, &now, true);
    next_sample++;
    samples(5, 10);
    struct seen seen = see(fire()->path);
    assert_int_equal(seen.samples, 10);
    assert_int_equal(seen.last_sample, 11);
    assert_int_equal(seen.breaks, 1);
    assert_int_equal(seen.groups, 2);
    assert_int_equal(seen.gaps, 2);
}

// The minute's key group does not fit; what came before goes on.
static void
a_key_group_that_fails_costs_no_changes(void **state)
{
    const struct flight_state now = {.rss_bytes = 5, .gc_count = 6};
    (void)state;
    fly();
    samples(60, 10);
    take_sample(10, false);
    flight_commit(flight, &now, true);
    next_sample++;
    now_ns += SECOND;
    assert_true(flight_key_due(flight, now_ns));
    flight_begin_key(flight, now_ns);
    take_sample(50000, true);
    flight_commit(flight, &now, true);
    assert_non_null(strstr(flight_trouble(flight), "MEMTOP_FLIGHT_SIZE"));
    samples(100, 10);
    struct seen seen = see(fire()->path);
    assert_int_equal(seen.samples, 161);
    assert_int_equal(seen.breaks, 0);
    assert_int_equal(seen.gaps, 1);
    assert_int_equal(seen.groups, 2);
    assert_string_equal(flight_trouble(flight), "");
}

static void
nothing_recorded_is_nothing_to_write(void **state)
{
    const char *why = "";
    (void)state;
    fly();
    assert_false(flight_ask(flight, stamp_now(), &why));
    assert_string_equal(why, "nothing has been recorded yet");
    look(2 << 20);
    assert_null(flight_landed(flight));
    samples(1, 10);
    assert_false(fire()->failed); // that was no firing
    assert_non_null(strstr(flight_words(flight), "1 of 3"));
}

static void
who_asks_gets_a_file_but_not_two_at_once(void **state)
{
    const char *why = "";
    (void)state;
    fly();
    samples(3, 10);
    assert_true(flight_ask(flight, stamp_now(), &why));
    assert_false(flight_ask(flight, stamp_now(), &why));
    assert_non_null(strstr(why, "already"));
    look(2 << 20); // a rule waits for its turn
    assert_string_equal(see(landed()->path).words, "flight recorder: a viewer asked");
    assert_string_equal(see(fire()->path).words, "flight recorder: rss>1M (2.0M)");
    assert_int_equal(entries(), 2);
}

static void
exit_is_written_once_with_the_goodbye_in_it(void **state)
{
    const struct bye stopped = {.reason = BYE_STOP};
    const struct bye ended = {.reason = BYE_EXIT, .status = 3};
    (void)state;
    fly();
    samples(3, 10);
    flight_end(flight, &stopped, stamp_now());
    assert_null(flight_landed(flight));
    flight_end(flight, &ended, stamp_now());
    struct seen seen = see(landed()->path);
    assert_true(seen.bye);
    assert_int_equal(seen.reason, GAP_ENDED);
    assert_string_equal(seen.words, "flight recorder: exit");
}

static void
without_that_rule_the_end_writes_nothing(void **state)
{
    const struct bye ended = {.reason = BYE_EXIT};
    (void)state;
    snprintf(settings.flight, sizeof(settings.flight), "on");
    fly();
    samples(3, 10);
    flight_end(flight, &ended, stamp_now());
    assert_null(flight_landed(flight));
    assert_int_equal(entries(), 0);
}

// What is being written stays, though the ring goes round meanwhile.
static void
what_comes_while_it_writes_harms_nothing(void **state)
{
    (void)state;
    settings.flight_limit = 1000;
    settings.flight_pause_s = 0;
    fly();
    samples(200, 200);
    for (size_t i = 0; i < 100; i++) {
        uint64_t last = next_sample - 1;
        look(2 << 20);
        samples(30, 1000);
        const struct flightfile_result *result = landed();
        assert_false(result->failed);
        assert_int_equal(see(result->path).last_sample, last);
        unlink(result->path);
        assert_int_equal(flight_cpu_ns(flight) > 0, 1);
        samples(60, 100);
    }
}

/* Names. */

static void
names_have_the_process_and_a_number(void **state)
{
    char path[FLIGHTFILE_PATH_MAX];
    char expected[FLIGHTFILE_PATH_MAX];
    (void)state;
    const struct {
        const char *given;
        const char *socket;
        const char *path;
    } names[] = {
        {"",                  "/run/p.sock", "/run/memtop-7-3.memtop"    },
        {"",                  "p.sock",      "./memtop-7-3.memtop"       },
        {"/nowhere/",         "/run/p.sock", "/nowhere/memtop-7-3.memtop"},
        {"/nowhere/a.memtop", "/run/p.sock", "/nowhere/a-7-3.memtop"     },
        {"/no.where/a",       "/run/p.sock", "/no.where/a-7-3"           },
        {"a.b.c",             "/run/p.sock", "a.b-7-3.c"                 },
        {"/x/.hidden",        "/run/p.sock", "/x/.hidden-7-3"            },
        {"/",                 "/run/p.sock", "/memtop-7-3.memtop"        },
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_true(
            flightfile_path(path, sizeof(path), names[i].given, names[i].socket, 7, 3));
        assert_string_equal(path, names[i].path);
    }
    assert_true(flightfile_path(path, sizeof(path), folder, "/run/p.sock", 7, 3));
    snprintf(expected, sizeof(expected), "%s/memtop-7-3.memtop", folder);
    assert_string_equal(path, expected);
    assert_false(flightfile_path(path, 10, folder, "/run/p.sock", 7, 3));
}

static void
a_name_that_somebody_has_is_passed_over(void **state)
{
    (void)state;
    fly();
    samples(3, 10);
    assert_int_equal(symlink(at("target"), at("memtop-4242-1.memtop")), 0);
    assert_int_equal(symlink(at("target"), at("memtop-4242-2.memtop.part")), 0);
    assert_int_equal(mkdir(at("memtop-4242-3.memtop"), 0700), 0);
    int fd = open(at("memtop-4242-4.memtop"), O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    const struct flightfile_result *result = fire();
    assert_false(result->failed);
    assert_string_equal(result->path, at("memtop-4242-5.memtop"));
    struct stat stat_of;
    assert_int_not_equal(lstat(at("target"), &stat_of), 0); // no link was followed
    assert_int_equal(lstat(at("memtop-4242-4.memtop"), &stat_of), 0);
    assert_int_equal(stat_of.st_size, 0);
}

static void
a_hundred_files_are_enough(void **state)
{
    (void)state;
    settings.flight_limit = 1000;
    settings.flight_pause_s = 0;
    fly();
    samples(1, 10);
    for (size_t i = 0; i < FLIGHTFILE_NUMBER_MAX; i++) {
        assert_false(fire()->failed);
    }
    assert_true(fire()->failed);
    assert_non_null(strstr(flight_words(flight), "too many"));
    assert_int_equal(entries(), FLIGHTFILE_NUMBER_MAX);
}

/* What goes wrong. */

// Runs `fails`, and returns what was said on standard error.
static const char *
said(void (*fails)(void))
{
    static char words[16384];
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0);
    dup2(fileno(file), STDERR_FILENO);
    fails();
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    size_t length = fread(words, 1, sizeof(words) - 1, file);
    words[length] = '\0';
    fclose(file);
    return words;
}

static void
fire_in_vain(void)
{
    settings.flight_limit = 1000;
    settings.flight_pause_s = 0;
    fly();
    samples(100, 200);
    for (size_t i = 0; i < 3; i++) {
        assert_true(fire()->failed);
    }
}

static void
a_missing_folder_is_said_once(void **state)
{
    (void)state;
    snprintf(settings.flight_file, sizeof(settings.flight_file), "%s", at("none/"));
    const char *words = said(fire_in_vain);
    assert_non_null(strstr(words, "memtop: cannot write the flight recording"));
    assert_non_null(strstr(words, "No such file or directory"));
    assert_ptr_equal(strchr(words, '\n'), words + strlen(words) - 1);
    assert_non_null(strstr(flight_words(flight), "No such file or directory"));
    assert_int_equal(mkdir(at("none"), 0700), 0);
    assert_false(fire()->failed); // and as soon as it can, it does
}

static void
fire_on_a_full_disk(void)
{
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    const struct rlimit little = {10000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    fire_in_vain();
    setrlimit(RLIMIT_FSIZE, &before);
}

static void
a_file_that_cannot_be_finished_is_removed(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    const char *words = said(fire_on_a_full_disk);
    assert_non_null(strstr(words, "File too large"));
    assert_int_equal(entries(), 0);
    assert_false(fire()->failed);
}

static void
a_path_that_is_too_long_is_said(void **state)
{
    (void)state;
    memset(settings.flight_file, 'x', sizeof(settings.flight_file) - 1);
    settings.flight_file[sizeof(settings.flight_file) - 1] = '\0';
    assert_non_null(strstr(said(fire_in_vain), "too long"));
}

// At each allocation of many: nothing is lost but what could not be had, and what is
// written is sound.
static void
memory_that_runs_out_costs_frames_and_nothing_else(void **state)
{
    const struct bye ended = {.reason = BYE_EXIT};
    (void)state;
    for (long i = 0; i < 30; i++) {
        countdown = i;
        flight = flight_new(&settings, socket_path, PID, wake_fd);
        if (!flight) {
            continue;
        }
        struct buffer frame = {0};
        for (size_t j = 0; j < 6; j++) {
            if (flight_key_due(flight, now_ns)) {
                flight_begin_key(flight, now_ns);
            }
            const struct message message = {
                .kind = MESSAGE_SAMPLE,
                .at = stamp_now(),
                .sample = {.key = true, .totals = {next_sample, 0, 0, 0}}
            };
            bool taken = message_encode(&frame, &message) && flight_take(flight, &frame);
            buffer_destroy(&frame);
            const struct flight_state now = {
                .at = stamp_now(), .rss_bytes = 5, .gc_count = 6};
            flight_commit(flight, &now, taken);
            now_ns += SECOND;
            next_sample++;
            look(j == 3 ? 2 << 20 : 0);
        }
        flight_wait(flight);
        flight_landed(flight);
        flight_end(flight, &ended, stamp_now());
        flight_wait(flight);
        const struct flightfile_result *result = flight_landed(flight);
        bool ran_out = countdown < 0;
        countdown = -1;
        assert_true(result || ran_out);
        if (result) {
            assert_true(see(result->path).last_sample < next_sample); // sound, at least
        }
        flight_free(flight);
        flight = NULL;
    }
}

// The allocator of ASan, unlike glibc's, stays locked in a child when another thread was
// in it: there the parent's writer has to be at its end.
static void
wait_until_forks_are_safe(void)
{
#ifdef __SANITIZE_ADDRESS__
    while (entries_of("/proc/self/task") > 1) {
        usleep(1000);
    }
#endif
}

static void
fork_and_record(void)
{
    wait_until_forks_are_safe();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { // the thread that writes is not here
        flight_abandon(flight);
        flight = flight_new(&settings, socket_path, PID + 1, wake_fd);
        samples(3, 10);
        look(2 << 20);
        flight_wait(flight);
        const struct flightfile_result *result = flight_landed(flight);
        _exit(result && !result->failed ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// Whatever the parent's writer is at when it happens.
static void
a_child_of_a_fork_leaves_its_parents_file_alone(void **state)
{
    (void)state;
    settings.flight_bytes = 4 << 20;
    settings.flight_limit = 1000;
    settings.flight_pause_s = 0;
    fly();
    samples(1000, 4000);
    for (size_t i = 0; i < 20; i++) {
        look(2 << 20);
        fork_and_record();
        const struct flightfile_result *result = landed();
        assert_false(result->failed);
        assert_int_equal(see(result->path).last_sample, 1000);
        unlink(result->path);
        assert_int_equal(see(at("memtop-4243-1.memtop")).samples, 3);
        unlink(at("memtop-4243-1.memtop"));
        assert_int_equal(entries(), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(settings_without_rules_want_no_recorder, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_rule_that_fires_has_everything_until_then_written, start, end),
        cmocka_unit_test_setup_teardown(it_keeps_the_newest_that_fits, start, end),
        cmocka_unit_test_setup_teardown(
            samples_that_were_not_whole_are_a_gap_and_a_key_group_follows, start, end),
        cmocka_unit_test_setup_teardown(a_state_that_does_not_fit_is_said_until_it_does,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_change_that_does_not_fit_is_a_gap_and_a_key_group_follows, start, end),
        cmocka_unit_test_setup_teardown(a_key_group_that_fails_costs_no_changes, start,
                                        end),
        cmocka_unit_test_setup_teardown(nothing_recorded_is_nothing_to_write, start, end),
        cmocka_unit_test_setup_teardown(who_asks_gets_a_file_but_not_two_at_once, start,
                                        end),
        cmocka_unit_test_setup_teardown(exit_is_written_once_with_the_goodbye_in_it,
                                        start, end),
        cmocka_unit_test_setup_teardown(without_that_rule_the_end_writes_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_comes_while_it_writes_harms_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(names_have_the_process_and_a_number, start, end),
        cmocka_unit_test_setup_teardown(a_name_that_somebody_has_is_passed_over, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_hundred_files_are_enough, start, end),
        cmocka_unit_test_setup_teardown(a_missing_folder_is_said_once, start, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_finished_is_removed, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_said, start, end),
        cmocka_unit_test_setup_teardown(
            memory_that_runs_out_costs_frames_and_nothing_else, start, end),
        cmocka_unit_test_setup_teardown(a_child_of_a_fork_leaves_its_parents_file_alone,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
