// memtop tree without a terminal: the call paths of a class as text and as JSON, and
// what it says and returns when there are none.
#include "e2e.h"

static struct outcome
tree(const char *socket, const char *class, const char *option, const char *another)
{
    const char *const arguments[] = {MEMTOP,   "tree", class,  "--socket", socket,
                                     "--wait", "0",    option, another,    NULL};

    return program_run(arguments, NULL);
}

// Run it on a probe that serves this way.
static struct outcome
tree_of(const char *how, const char *class, const char *option, const char *another)
{
    struct program feeder;
    struct outcome outcome = tree(e2e_feed(&feeder, "40", how), class, option, another);

    program_kill(&feeder);
    return outcome;
}

static void
expect_refusal(struct outcome outcome, int status, const char *words)
{
    assert_int_equal(outcome.status, status);
    assert_string_equal(outcome.err, words);
    assert_string_equal(outcome.out, "");
    outcome_destroy(&outcome);
}

static void
prints_the_paths_and_ends(void **state)
{
    struct outcome outcome = tree_of("traced", "Class00039", NULL, NULL);
    static const char rows[] =
        "        LIVE       +-    SHARE        BYTES  PATH\n"
        "         390        0  100.0 %        15600  Class00039\n"
        "         290        0   74.4 %        11600    (before tracing)\n"
        "         100        0   25.6 %         4000    <main>  shop/app.rb:5\n"
        "          30        0    7.7 %         1200      block in Cart#add  "
        "shop/cart.rb:9\n";

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.err, "");
    assert_non_null(strstr(outcome.out, "\nclass    Class00039, live 390\n"));
    assert_non_null(strstr(outcome.out, ", exact, depth 64\n"));
    assert_non_null(strstr(outcome.out, rows));
    outcome_destroy(&outcome);
}

static void
sampled_figures_say_so(void **state)
{
    struct outcome outcome = tree_of("traced-sampled", "Class00039", NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, ", sampled: live is an estimate, +- 95 %"));
    assert_non_null(strstr(outcome.out, "\nrate     one stack of 8 is taken now\n"));
    outcome_destroy(&outcome);
}

static void
nothing_in_a_name_reaches_the_terminal(void **state)
{
    static const char *const options[] = {NULL, "--json"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct outcome outcome =
            tree_of("traced-hostile", "Class00039", options[i], NULL);
        assert_int_equal(outcome.status, 0);
        assert_non_null(strstr(outcome.out, "x1B[2J"));
        assert_null(strchr(outcome.out, '\033'));
        assert_null(strchr(outcome.out, '\007'));
        assert_null(strchr(outcome.out, '\xff'));
        outcome_destroy(&outcome);
    }
}

// In another language, as scripts will.
static const char schema[] =
    "d = JSON.parse(STDIN.read)\n"
    "d.fetch('class') == 'Class00039' or abort 'class'\n"
    "%w[live traced].each { |k| Integer === d.fetch(k) or abort k }\n"
    "[true, false].include?(d.fetch('exact')) or abort 'exact'\n"
    "ids = [0]\n"
    "d.fetch('nodes').each { |n|\n"
    "  ids.include?(n.fetch('parent')) or abort 'parent'\n"
    "  ids << Integer(n.fetch('id'))\n"
    "  String === n.fetch('label') or abort 'label'\n"
    "  n['label'].valid_encoding? && n['label'] !~ /[[:cntrl:]]/ or abort n['label']\n"
    "  [String, NilClass].any? { |c| c === n.fetch('path') } or abort 'path'\n"
    "  [Integer, NilClass].any? { |c| c === n.fetch('line') } or abort 'line'\n"
    "  %w[live allocated self_live self_allocated].each { |k|\n"
    "    Integer === n.fetch(k) or abort k }\n"
    "  [Integer, NilClass].any? { |c| c === n.fetch('bytes') } or abort 'bytes'\n"
    "  Numeric === n.fetch('error') or abort 'error' }\n"
    "puts [d['live'], d['traced'], d['exact'], ids.uniq.size,\n"
    "      d['nodes'].sum { |n| n['self_live'] }].join(' ')";

static void
expect_document(const char *how, const char *figures)
{
    struct program feeder;
    char script[400];

    snprintf(script, sizeof(script),
             MEMTOP
             " tree Class00039 --socket %s --wait 0 --json | '%s' -rjson -e \"$0\"",
             e2e_feed(&feeder, "40", how), RUBY);
    const char *const arguments[] = {"sh", "-c", script, schema, NULL};
    struct outcome outcome = program_run(arguments, NULL);
    program_kill(&feeder);
    assert_string_equal(outcome.err, "");
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, figures);
    outcome_destroy(&outcome);
}

static void
the_document_keeps_its_promises(void **state)
{
    (void)state;
    expect_document("traced", "390 100 true 4 390\n");
    expect_document("traced-hostile", "390 100 true 4 390\n");
    expect_document("traced-sampled", "390 38 false 4 390\n");
}

static void
verdicts_are_in_the_table_and_the_document(void **state)
{
    struct program feeder;
    const char *socket = e2e_feed(&feeder, "40", "traced");
    const char *const text[] = {MEMTOP, "--socket", socket, "--once", NULL};
    const char *const json[] = {MEMTOP, "--socket", socket, "--json", NULL};
    struct outcome outcome = program_run(text, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "  leak?    Class00039\n"));
    assert_non_null(strstr(outcome.out, "  steady   Class00038\n"));
    assert_non_null(strstr(outcome.out, "  -        Class00037\n"));
    outcome_destroy(&outcome);
    outcome = program_run(json, NULL);
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "\"verdict\": \"leak?\""));
    assert_non_null(strstr(outcome.out, "\"reason\": \"grew with every collection\""));
    outcome_destroy(&outcome);
    program_kill(&feeder);
}

// Samples come when the test says so: what is printed shows how long it waited.
static void
waits_as_long_as_it_was_told(void **state)
{
    struct program feeder;
    struct program memtop;
    const char *const arguments[] = {
        MEMTOP,   "tree", "Class00039", "--socket", e2e_feed(&feeder, "40", "traced"),
        "--wait", "1h",   NULL};

    (void)state;
    program_start(&memtop, arguments, NULL);
    assert_true(program_says(&feeder, "request 5"));
    program_tell(&feeder, "step");
    program_tell(&feeder, "later 3000");
    program_tell(&feeder, "step");
    program_tell(&feeder, "later 1000");
    program_tell(&feeder, "step");
    assert_true(program_says(&memtop, "         178        0   38.0 %         7120    "
                                      "<main>  shop/app.rb:5"));
    assert_int_equal(program_wait(&memtop), 0);
    program_kill(&memtop);
    program_kill(&feeder);
}

static void
a_pin_is_asked_for_only_when_it_is_wished(void **state)
{
    struct program feeder;
    const char *socket = e2e_feed(&feeder, "40", "traced");
    struct outcome outcome = tree(socket, "Class00039", NULL, NULL);

    (void)state;
    assert_int_equal(outcome.status, 0);
    outcome_destroy(&outcome);
    outcome = tree(socket, "Class00038", "--pin", NULL);
    assert_int_equal(outcome.status, 0);
    outcome_destroy(&outcome);
    program_tell(&feeder, "bye 0");
    char heard[64];
    assert_non_null(fgets(heard, sizeof(heard), feeder.out));
    assert_string_equal(heard, "request 5\n");
    assert_non_null(fgets(heard, sizeof(heard), feeder.out));
    assert_string_equal(heard, "request 5\n");
    assert_non_null(fgets(heard, sizeof(heard), feeder.out));
    assert_string_equal(heard, "request 7\n");
    program_kill(&feeder);
}

static void
an_old_probe_refuses_and_it_is_said(void **state)
{
    static const char words[] =
        "memtop: No call tree: this probe does not know that request\n";

    (void)state;
    expect_refusal(tree_of("well", "Class00039", NULL, NULL), 1, words);
    expect_refusal(tree_of("well", "Class00039", "--json", NULL), 1, words);
}

// It shows what is traced already, and traces nothing: there is nothing to wait for.
static void
a_read_only_probe_traces_nothing_and_it_is_said(void **state)
{
    static const char words[] =
        "memtop: No call tree: the probe is read-only (MEMTOP_READONLY) and takes no "
        "stacks of this class.\n";

    (void)state;
    expect_refusal(tree_of("readonly", "Class00039", NULL, NULL), 1, words);
    expect_refusal(tree_of("readonly", "Class00039", "--json", NULL), 1, words);
}

static void
a_read_only_probe_pins_nothing(void **state)
{
    (void)state;
    expect_refusal(tree_of("readonly", "Class00039", "--pin", NULL), 1,
                   "memtop: cannot pin the class: the probe is read-only "
                   "(MEMTOP_READONLY).\n");
}

static void
says_which_classes_there_are(void **state)
{
    (void)state;
    expect_refusal(tree_of("traced", "class0003", NULL, NULL), 2,
                   "memtop: this program has no class class0003; there is Class00039, "
                   "Class00038, Class00037, Class00036, Class00035.\n");
    expect_refusal(tree_of("traced", "Nothing", NULL, NULL), 2,
                   "memtop: this program has no class Nothing.\n");
}

static void
a_program_that_ends_meanwhile_has_no_tree(void **state)
{
    struct program feeder;
    char script[400];

    (void)state;
    snprintf(script, sizeof(script),
             "exec " MEMTOP " tree Class00039 --wait 1h --socket %s 2>&1",
             e2e_feed(&feeder, "40", "traced"));
    const char *const arguments[] = {"sh", "-c", script, NULL};
    struct program memtop;
    program_start(&memtop, arguments, NULL);
    assert_true(program_says(&feeder, "request 5"));
    program_tell(&feeder, "bye 0");
    assert_true(program_says(&memtop, "memtop: the program is gone"));
    int status = program_wait(&memtop);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    program_kill(&memtop);
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
        {"garbage", 4, "not memtop's protocol"      },
        {"damaged", 4, "CRC"                        },
        {"close",   4, "without a word"             },
        {"refuse",  3, "eight viewers ?[2J are enou"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct outcome outcome = tree_of(cases[i].how, "Class00039", "--json", NULL);
        assert_int_equal(outcome.status, cases[i].status);
        assert_non_null(strstr(outcome.err, cases[i].words));
        assert_string_equal(outcome.out, "");
        outcome_destroy(&outcome);
    }
    struct outcome nobody =
        tree(program_path("no-such-socket"), "Class00039", NULL, NULL);
    assert_int_equal(nobody.status, 3);
    assert_non_null(strstr(nobody.err, "there is no such file"));
    outcome_destroy(&nobody);
}

static void
wrong_use_is_said_before_anybody_is_asked(void **state)
{
    (void)state;
    struct outcome outcome = tree("/no/such/socket", "Class00039", "--plain", NULL);
    assert_int_equal(outcome.status, 2);
    outcome_destroy(&outcome);
    outcome = tree("/no/such/socket", "Class00039", "--pin", "--readonly");
    assert_int_equal(outcome.status, 2);
    assert_non_null(strstr(outcome.err, "--pin changes the program"));
    outcome_destroy(&outcome);
}

static void
a_full_disk_is_said_and_returned(void **state)
{
    static const char *const options[] = {"", "--json"};
    struct program feeder;
    const char *socket = e2e_feed(&feeder, "40", "traced");

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char command[400];
        snprintf(command, sizeof(command),
                 "exec " MEMTOP " tree Class00039 --wait 0 %s --socket %s > /dev/full",
                 options[i], socket);
        const char *const arguments[] = {"sh", "-c", command, NULL};
        struct outcome outcome = program_run(arguments, NULL);
        assert_int_equal(outcome.status, 4);
        assert_string_equal(outcome.err, "memtop: cannot print the tree: No space left "
                                         "on device.\n");
        outcome_destroy(&outcome);
    }
    program_kill(&feeder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_the_paths_and_ends),
        cmocka_unit_test(sampled_figures_say_so),
        cmocka_unit_test(nothing_in_a_name_reaches_the_terminal),
        cmocka_unit_test(the_document_keeps_its_promises),
        cmocka_unit_test(verdicts_are_in_the_table_and_the_document),
        cmocka_unit_test(waits_as_long_as_it_was_told),
        cmocka_unit_test(a_pin_is_asked_for_only_when_it_is_wished),
        cmocka_unit_test(an_old_probe_refuses_and_it_is_said),
        cmocka_unit_test(a_read_only_probe_traces_nothing_and_it_is_said),
        cmocka_unit_test(a_read_only_probe_pins_nothing),
        cmocka_unit_test(says_which_classes_there_are),
        cmocka_unit_test(a_program_that_ends_meanwhile_has_no_tree),
        cmocka_unit_test(says_what_was_wrong_and_returns_it),
        cmocka_unit_test(wrong_use_is_said_before_anybody_is_asked),
        cmocka_unit_test(a_full_disk_is_said_and_returned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
