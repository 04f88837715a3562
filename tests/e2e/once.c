// memtop without a terminal: one table, one document, a stream of tables; and
// what it says and returns when there is nothing to show.
#include <errno.h>
#include <sys/stat.h>

#include "e2e.h"

static struct outcome
once(const char *socket, const char *option, const char *another)
{
    const char *const arguments[] = {MEMTOP, "--socket", socket, option, another, NULL};

    return program_run(arguments, NULL);
}

static void
prints_one_table_and_ends(void **state)
{
    struct program feeder;
    struct outcome outcome = once(e2e_feed(&feeder, "40", "well"), NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.err, "");
    assert_non_null(strstr(outcome.out, "ruby feeder.rb"));
    assert_non_null(strstr(outcome.out, "  Class00039\n"));
    assert_null(strstr(outcome.out, "(iseq)"));
    assert_null(strchr(outcome.out, '\033'));
    outcome_destroy(&outcome);
    outcome = once(program_path("peer.sock"), "--once", "--all");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "  (iseq)\n"));
    outcome_destroy(&outcome);
    program_kill(&feeder);
}

// In another language, as scripts will.
static const char schema[] =
    "d = JSON.parse(STDIN.read)\n"
    "want = ->(h, k, *c) { c.any? { |x| x === h.fetch(k) } or abort \"#{k}: #{h[k]}\" }\n"
    "count = [Integer, nil]\n"
    "p = d.fetch('process')\n"
    "want[p, 'pid', Integer]\n"
    "%w[command ruby mode].each { |k| want[p, k, String] }\n"
    "[p.fetch('started'), d.fetch('time')].each { |t|\n"
    "  t =~ /\\A\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\\z/ or abort t }\n"
    "%w[rss_bytes heap_slots_live heap_slots_free gc_count].each { |k|\n"
    "  want[d['memory'], k, *count] }\n"
    "want[d['probe'], 'cost_percent', Float, Integer, nil]\n"
    "%w[drift dropped_frames].each { |k| want[d['probe'], k, *count] }\n"
    "%w[live allocated freed bytes].each { |k| want[d['totals'], k, *count] }\n"
    "c = d.fetch('classes')\n"
    "c.each { |r| want[r, 'name', String]\n"
    "  r['name'].valid_encoding? && r['name'] !~ /[[:cntrl:]]/ or abort r['name']\n"
    "  %w[live allocated freed bytes].each { |k| want[r, k, *count] } }\n"
    "lives = c.map { |r| r['live'] || -1 }\n"
    "lives == lives.sort.reverse or abort 'order'\n"
    "puts c.size";

static void
expect_schema(const char *socket, const char *classes)
{
    char script[300];
    snprintf(script, sizeof(script),
             MEMTOP " --socket %s --json --all | '%s' -rjson -e \"$0\"", socket, RUBY);
    const char *const arguments[] = {"sh", "-c", script, schema, NULL};
    struct outcome outcome = program_run(arguments, NULL);

    assert_string_equal(outcome.err, "");
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, classes);
    outcome_destroy(&outcome);
}

static void
the_document_keeps_its_promises(void **state)
{
    static const char *const kinds[] = {"well", "hostile-names"};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct program feeder;
        expect_schema(e2e_feed(&feeder, "40", kinds[i]), "40\n");
        program_kill(&feeder);
    }
}

static void
fifty_thousand_classes_are_all_listed(void **state)
{
    struct program feeder;

    (void)state;
    expect_schema(e2e_feed(&feeder, "50000", "well"), "50000\n");
    program_kill(&feeder);
}

static void
plain_prints_a_table_for_every_sample_until_the_end(void **state)
{
    struct program feeder;
    struct program plain;
    const char *const arguments[] = {MEMTOP, "--socket", e2e_feed(&feeder, "40", "well"),
                                     "--plain", NULL};

    (void)state;
    program_start(&plain, arguments, NULL);
    assert_true(program_says(&plain, "totals   live 7807,"));
    program_tell(&feeder, "step");
    assert_true(program_says(&plain, "totals   live 8587,"));
    program_tell(&feeder, "step");
    assert_true(program_says(&plain, "totals   live 9367,"));
    program_tell(&feeder, "bye 0");
    program_wait(&feeder);
    int status = program_wait(&plain);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    program_kill(&plain);
    program_kill(&feeder);
}

static void
waits_a_little_for_names(void **state)
{
    struct program feeder;
    struct outcome outcome = once(e2e_feed(&feeder, "40", "late-names"), NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "  Class00039\n"));
    outcome_destroy(&outcome);
    program_kill(&feeder);
    // and not for ever
    outcome = once(e2e_feed(&feeder, "40", "no-names"), NULL, NULL);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "  (class #40)\n"));
    outcome_destroy(&outcome);
    program_kill(&feeder);
}

static void
says_what_was_wrong_and_returns_it(void **state)
{
    static const struct {
        const char *how;
        int status;
        const char *words;
    } cases[] = {
        {"garbage",   4, "not memtop's protocol"      },
        {"version",   4, "speaks protocol 2"          },
        {"huge",      4, "frame of 4294967295 bytes"  },
        {"cut",       4, "in the middle"              },
        {"damaged",   4, "CRC"                        },
        {"no-hello",  4, "does not say hello"         },
        {"close",     4, "without a word"             },
        {"as-viewer", 4, "speaks as a viewer"         },
        {"refuse",    3, "eight viewers ?[2J are enou"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct program feeder;
        struct outcome outcome = once(e2e_feed(&feeder, "300", cases[i].how), NULL, NULL);
        assert_int_equal(outcome.status, cases[i].status);
        assert_non_null(strstr(outcome.err, cases[i].words));
        assert_non_null(strstr(outcome.err, "memtop: cannot watch /"));
        assert_null(strchr(outcome.err, '\033'));
        assert_string_equal(outcome.out, "");
        outcome_destroy(&outcome);
        program_kill(&feeder);
    }
}

static void
expect_nobody(const char *socket, const char *words)
{
    struct outcome outcome = once(socket, NULL, NULL);

    assert_int_equal(outcome.status, 3);
    assert_non_null(strstr(outcome.err, words));
    outcome_destroy(&outcome);
}

static void
says_why_there_is_nobody(void **state)
{
    const char *file = program_path("plain-file");

    (void)state;
    fclose(fopen(file, "w"));
    expect_nobody(program_path("no-such-socket"), "there is no such file");
    expect_nobody(file, "not a socket");
    expect_nobody("/tmp", "not a socket");
}

static void
only_its_user_and_root_may_watch_a_program(void **state)
{
    struct program feeder;
    char command[400];

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    const char *socket = e2e_feed(&feeder, "3", "well");
    snprintf(command, sizeof(command),
             "exec setpriv --reuid 65534 --regid 65534 --clear-groups " MEMTOP
             " --socket %s",
             socket);
    chmod(program_folder(), 0755);
    chmod(socket, 0600);
    const char *const arguments[] = {"sh", "-c", command, NULL};
    struct outcome outcome = program_run(arguments, NULL);
    chmod(program_folder(), 0700);
    // the build folder itself may be closed to others: then sh says 126
    if (outcome.status == 126 || outcome.status == 127) {
        outcome_destroy(&outcome);
        program_kill(&feeder);
        skip();
    }
    assert_int_equal(outcome.status, 3);
    assert_non_null(strstr(outcome.err, "permission denied"));
    outcome_destroy(&outcome);
    program_kill(&feeder);
}

static void
a_full_disk_is_said_and_returned(void **state)
{
    struct program feeder;
    char command[300];

    (void)state;
    snprintf(command, sizeof(command), "exec " MEMTOP " --socket %s > /dev/full",
             e2e_feed(&feeder, "40", "well"));
    const char *const arguments[] = {"sh", "-c", command, NULL};
    struct outcome outcome = program_run(arguments, NULL);
    assert_int_equal(outcome.status, 4);
    assert_non_null(strstr(outcome.err, "No space left"));
    outcome_destroy(&outcome);
    program_kill(&feeder);
}

/*
 * Finding the program without being told.
 */

static void
run_in(const char *runtime, struct outcome *outcome)
{
    char setting[300];
    snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s", runtime);
    char temporary[300];
    snprintf(temporary, sizeof(temporary), "TMPDIR=%s", runtime);
    const char *const environment[] = {setting, temporary, NULL};
    const char *const arguments[] = {MEMTOP, NULL};

    *outcome = program_run(arguments, environment);
}

static void
start_named(struct program *feeder, const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const char *const arguments[] = {FEEDER, path, "5", NULL};

    program_start(feeder, arguments, NULL);
    assert_true(program_says(feeder, "ready"));
}

static void
takes_the_only_program_and_lists_several(void **state)
{
    struct program feeders[2];
    struct outcome outcome;
    char folder[300];
    const char *runtime = program_path("runtime");

    (void)state;
    snprintf(folder, sizeof(folder), "%s/memtop", runtime);
    assert_int_equal(mkdir(runtime, 0700), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    start_named(&feeders[0], folder, "11.sock");
    run_in(runtime, &outcome);
    // another program of this machine's user may run under a probe: then both are listed
    assert_true(outcome.status == 0 || outcome.status == 2);
    outcome_destroy(&outcome);
    start_named(&feeders[1], folder, "12.sock");
    run_in(runtime, &outcome);
    assert_int_equal(outcome.status, 2);
    assert_non_null(strstr(outcome.err, "     11  "));
    assert_non_null(strstr(outcome.err, "     12  "));
    assert_non_null(strstr(outcome.err, "feeder"));
    outcome_destroy(&outcome);
    program_kill(&feeders[0]);
    program_kill(&feeders[1]);
}

// A person at a terminal chooses from the list, which is live.
static void
lets_a_person_choose_from_the_list(void **state)
{
    struct program feeders[2];
    char folder[300];
    char setting[300];
    char temporary[300];
    const char *runtime = program_path("choice");
    const char *const arguments[] = {MEMTOP, NULL};
    const char *const environment[] = {setting, temporary, NULL};

    (void)state;
    snprintf(folder, sizeof(folder), "%s/memtop", runtime);
    snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s", runtime);
    snprintf(temporary, sizeof(temporary), "TMPDIR=%s", runtime);
    assert_int_equal(mkdir(runtime, 0700), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    start_named(&feeders[0], folder, "11.sock");
    start_named(&feeders[1], folder, "12.sock");
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .environment = environment, .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, "TOP GROWING"));
    terminal_type(terminal, "/feeder\r"); // the machine may run other programs
    assert_true(terminal_shows(terminal, " 2 processes"));
    terminal_type(terminal, "\r");
    assert_true(terminal_shows(terminal, "Class00004"));
    e2e_quit(terminal);
    program_kill(&feeders[0]);
    program_kill(&feeders[1]);
}

static void
says_that_a_process_has_no_probe(void **state)
{
    static const struct {
        const char *argument;
        int status;
        const char *words;
    } cases[] = {
        {"1",       3, "no probe answers in process 1"     },
        {"4194303", 3, "there is no process 4194303"       },
        {"attach",  2, "wants a process id"                },
        {"12x",     2, "neither a process id nor a command"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *const arguments[] = {MEMTOP, cases[i].argument, NULL};
        struct outcome outcome = program_run(arguments, NULL);
        assert_int_equal(outcome.status, cases[i].status);
        assert_non_null(strstr(outcome.err, cases[i].words));
        outcome_destroy(&outcome);
    }
}

static void
tells_its_version_and_how_to_use_it(void **state)
{
    const char *const version[] = {MEMTOP, "--version", NULL};
    const char *const help[] = {MEMTOP, "--help", NULL};
    struct outcome outcome = program_run(version, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_memory_equal(outcome.out, "memtop ", 7);
    outcome_destroy(&outcome);
    outcome = program_run(help, NULL);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "First steps"));
    outcome_destroy(&outcome);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_one_table_and_ends),
        cmocka_unit_test(the_document_keeps_its_promises),
        cmocka_unit_test(fifty_thousand_classes_are_all_listed),
        cmocka_unit_test(plain_prints_a_table_for_every_sample_until_the_end),
        cmocka_unit_test(waits_a_little_for_names),
        cmocka_unit_test(says_what_was_wrong_and_returns_it),
        cmocka_unit_test(says_why_there_is_nobody),
        cmocka_unit_test(only_its_user_and_root_may_watch_a_program),
        cmocka_unit_test(a_full_disk_is_said_and_returned),
        cmocka_unit_test(takes_the_only_program_and_lists_several),
        cmocka_unit_test(lets_a_person_choose_from_the_list),
        cmocka_unit_test(says_that_a_process_has_no_probe),
        cmocka_unit_test(tells_its_version_and_how_to_use_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
