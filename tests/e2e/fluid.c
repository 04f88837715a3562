/*
 * Fluid at 50 000 classes, asleep when nothing happens. Times are reported and
 * never judged: a busy machine is no failure. What is judged is counted: what
 * the viewer wrote, how often it woke.
 */
#include <poll.h>
#include <time.h>

#include "e2e.h"

#define KEYS 40
#define IDLE_S 5

static double
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// The number behind `name` in a file of /proc, -1 when it is not there.
static long
proc_number(pid_t pid, const char *file, const char *name)
{
    char path[64];
    char line[256];
    long value = -1;

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
    FILE *stream = fopen(path, "r");
    while (stream && value < 0 && fgets(line, sizeof(line), stream)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = strtol(line + strlen(name), NULL, 10);
        }
    }
    if (stream) {
        fclose(stream);
    }
    return value;
}

static long
writes_of(const struct terminal *terminal)
{
    return proc_number(terminal_pid(terminal), "io", "syscw:");
}

static long
wakeups_of(const struct terminal *terminal)
{
    return proc_number(terminal_pid(terminal), "status", "voluntary_ctxt_switches:");
}

// Processor time used, in ticks of the clock: fields 14 and 15, counted from the
// state, which is the third and follows the command in parentheses.
static long
ticks_of(const struct terminal *terminal)
{
    char path[64];
    char line[1024] = "";
    long ticks = 0;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)terminal_pid(terminal));
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof(line), stream));
    fclose(stream);
    char *field = strrchr(line, ')');
    for (int number = 3; field && number <= 15; number++) {
        field = strchr(field + 1, ' ');
        if (field && number >= 14) {
            ticks += strtol(field, NULL, 10);
        }
    }
    assert_non_null(field);
    return ticks;
}

static int
by_size(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return (*a > *b) - (*a < *b);
}

// A key and what the screen shows because of it.
struct press {
    const char *key;
    const char *shown;
};

// Press two keys in turn and take the time until the screen shows what it must,
// and no longer what the other key made it show.
static void
press_and_measure(struct terminal *terminal, const char *what,
                  const struct press presses[2])
{
    double times[KEYS];

    for (int i = 0; i < KEYS; i++) {
        double start = now_ms();
        terminal_type(terminal, presses[i % 2].key);
        assert_true(terminal_shows(terminal, presses[i % 2].shown));
        assert_true(terminal_hides(terminal, presses[(i + 1) % 2].shown));
        times[i] = now_ms() - start;
    }
    qsort(times, KEYS, sizeof(*times), by_size);
    print_message(
        "%s: a key is on the screen in %.1f ms (median), %.1f ms (worst of %d)\n", what,
        times[KEYS / 2], times[KEYS - 1], KEYS);
}

static const struct press moving[] = {
    {"j", "▶Class49998"},
    {"k", "▶Class49999"}
};
static const struct press ordering[] = {
    {"1", "CLASS ↑"},
    {"2", "LIVE ↓" }
};
static const struct press filtering[] = {
    {"\1779", "/49"},
    {"\1778", "/48"}
};

static void
a_key_at_fifty_thousand_classes_writes_a_few_cells(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "50000", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class49999"));
    size_t before = terminal_written_bytes(terminal);
    press_and_measure(terminal, "moving", moving);
    size_t bytes = (terminal_written_bytes(terminal) - before) / KEYS;
    print_message("moving: %zu bytes a key\n", bytes);
    press_and_measure(terminal, "ordering", ordering);
    terminal_type(terminal, "/48");
    assert_true(terminal_shows(terminal, "/48"));
    press_and_measure(terminal, "filtering", filtering);
    // two rows change, and the screen has thirty
    assert_in_range(bytes, 1, 2 * E2E_COLUMNS * 8);
    e2e_quit(terminal);
    program_kill(&feeder);
}

static void
keys_do_not_wait_behind_a_flood_of_data(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "50000", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class49999"));
    program_tell(&feeder, "flood 200");
    press_and_measure(terminal, "moving while 200 times 50 000 rows arrive", moving);
    e2e_quit(terminal);
    program_kill(&feeder);
}

static void
a_flood_is_drawn_a_few_times_only(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class00039"));
    long before = writes_of(terminal);
    if (before < 0) {
        skip();
    }
    double start = now_ms();
    program_tell(&feeder, "flood 1000");
    program_tell(&feeder, "step");
    assert_true(terminal_shows(terminal, "429"));
    long drawn = writes_of(terminal) - before;
    print_message("1000 samples in %.0f ms took %ld writes\n", now_ms() - start, drawn);
    // curses writes at least thrice to draw: one drawing a sample would be 3000
    assert_in_range(drawn, 1, 1500);
    e2e_quit(terminal);
    program_kill(&feeder);
}

static void
an_idle_viewer_sleeps(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "50000", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class49999"));
    long wakeups = wakeups_of(terminal);
    long ticks = ticks_of(terminal);
    poll(NULL, 0, IDLE_S * 1000);
    wakeups = wakeups_of(terminal) - wakeups;
    ticks = ticks_of(terminal) - ticks;
    print_message("idle for %d s: woke %ld times, used %ld ms of processor time\n",
                  IDLE_S, wakeups, ticks * 1000 / sysconf(_SC_CLK_TCK));
    // one tick a second, and whatever was under way when it began
    assert_in_range(wakeups, 0, IDLE_S * 4);
    e2e_quit(terminal);
    program_kill(&feeder);
}

static void
a_lost_program_does_not_keep_the_viewer_busy(void **state)
{
    struct program feeder;
    struct terminal *terminal = e2e_view(e2e_feed(&feeder, "40", "well"));

    (void)state;
    assert_true(terminal_shows(terminal, "▶Class00039"));
    program_kill(&feeder);
    assert_true(terminal_shows(terminal, "GONE"));
    long wakeups = wakeups_of(terminal);
    poll(NULL, 0, IDLE_S * 1000);
    wakeups = wakeups_of(terminal) - wakeups;
    print_message("gone for %d s: woke %ld times\n", IDLE_S, wakeups);
    assert_in_range(wakeups, 0, IDLE_S * 6);
    e2e_quit(terminal);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_at_fifty_thousand_classes_writes_a_few_cells),
        cmocka_unit_test(keys_do_not_wait_behind_a_flood_of_data),
        cmocka_unit_test(a_flood_is_drawn_a_few_times_only),
        cmocka_unit_test(an_idle_viewer_sleeps),
        cmocka_unit_test(a_lost_program_does_not_keep_the_viewer_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
