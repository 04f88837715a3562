#include "tui/cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/cli/command.h"

#define WORDS_MAX 12

struct tried {
    struct cli cli;
    bool good;
    char *errors; // owned
};

// Split a command line at its blanks and read it.
static struct tried
try(const char *line, bool terminal)
{
    static char copy[256];
    const char *words[WORDS_MAX + 1] = {NULL};
    struct tried tried = {.good = false};
    size_t length;
    int count = 0;

    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    FILE *errors = open_memstream(&tried.errors, &length);
    assert_non_null(errors);
    tried.good = cli_parse(&tried.cli, count, words, terminal, errors);
    fclose(errors);
    return tried;
}

static void
done(struct tried *tried)
{
    cli_destroy(&tried->cli);
    free(tried->errors);
}

static void
expect_task(const char *line, bool terminal, enum cli_task task)
{
    struct tried tried = try(line, terminal);

    assert_true(tried.good);
    assert_string_equal(tried.errors, "");
    assert_int_equal(tried.cli.task, task);
    done(&tried);
}

static void
expect_refusal(const char *line, const char *words)
{
    struct tried tried = try(line, true);

    assert_false(tried.good);
    assert_non_null(strstr(tried.errors, words));
    assert_non_null(strstr(tried.errors, "memtop --help"));
    done(&tried);
}

static void
watches_when_nothing_is_asked_in_a_terminal(void **state)
{
    (void)state;
    expect_task("memtop", true, CLI_WATCH);
    expect_task("memtop 4120", true, CLI_WATCH);
    expect_task("memtop --socket /x", true, CLI_WATCH);
    expect_task("memtop --theme mono --ascii --no-mouse --readonly", true, CLI_WATCH);
}

static void
prints_one_table_without_a_terminal(void **state)
{
    (void)state;
    expect_task("memtop", false, CLI_ONCE);
    expect_task("memtop --all 12", false, CLI_ONCE);
    expect_task("memtop --once", true, CLI_ONCE);
    expect_task("memtop --json", true, CLI_ONCE);
    expect_task("memtop --once --json --all", true, CLI_ONCE);
}

static void
streams_tables_only_when_asked(void **state)
{
    (void)state;
    expect_task("memtop --plain", true, CLI_PLAIN);
    expect_task("memtop --plain --all", false, CLI_PLAIN);
}

static void
help_and_version_win_over_the_rest(void **state)
{
    (void)state;
    expect_task("memtop --help", true, CLI_HELP);
    expect_task("memtop --help --once --plain", false, CLI_HELP);
    expect_task("memtop help", false, CLI_HELP);
    expect_task("memtop help help", false, CLI_HELP);
    expect_task("memtop help tree", false, CLI_HELP);
    expect_task("memtop --version", false, CLI_VERSION);
}

static void
takes_the_values_of_options(void **state)
{
    (void)state;
    struct tried tried = try("memtop --json --all --socket=/run/x.sock", true);

    assert_true(tried.good);
    assert_string_equal(tried.cli.socket, "/run/x.sock");
    assert_null(tried.cli.theme);
    assert_int_equal(tried.cli.pid, 0);
    assert_true(tried.cli.json && tried.cli.all);
    assert_false(tried.cli.ascii || tried.cli.no_mouse || tried.cli.readonly);
    done(&tried);

    tried = try("memtop 4120 --theme colorblind -A -M -r", true);
    assert_true(tried.good);
    assert_int_equal(tried.cli.pid, 4120);
    assert_string_equal(tried.cli.theme, "colorblind");
    assert_true(tried.cli.ascii && tried.cli.no_mouse && tried.cli.readonly);
    done(&tried);
}

static void
refuses_what_makes_no_sense(void **state)
{
    (void)state;
    expect_refusal("memtop --sockett x", "--sockett");
    expect_refusal("memtop --socket", "--socket");
    expect_refusal("memtop --socket /x 12", "exclude each other");
    expect_refusal("memtop --plain --once", "--plain has no end");
    expect_refusal("memtop --plain --json", "--plain has no end");
    expect_refusal("memtop --all", "--all goes with");
    expect_refusal("memtop 12 13", "one argument too many: 13");
    expect_refusal("memtop help nonsense", "nonsense");
}

static void
refuses_what_is_neither_a_process_nor_a_command(void **state)
{
    (void)state;
    expect_refusal("memtop nonsense", "neither a process id nor a command: nonsense");
    expect_refusal("memtop 0", "neither");
    expect_refusal("memtop 12x", "neither");
    expect_refusal("memtop 99999999999999999999", "neither");
    expect_refusal("memtop 2147483648", "neither");
    expect_refusal("memtop -- -12", "neither");
}

static void
expect_tree(const char *line, const char *name, double wait_s)
{
    struct tried tried = try(line, false);

    assert_true(tried.good);
    assert_string_equal(tried.errors, "");
    assert_int_equal(tried.cli.task, CLI_TREE);
    assert_string_equal(tried.cli.class_name, name);
    assert_true(tried.cli.wait_s == wait_s);
    done(&tried);
}

static void
a_tree_is_of_a_class_whatever_it_is_called(void **state)
{
    (void)state;
    expect_tree("memtop tree Order", "Order", 2);
    expect_tree("memtop tree Shop::Order", "Shop::Order", 2);
    expect_tree("memtop tree (iseq)", "(iseq)", 2);
    expect_tree("memtop tree 4120", "4120", 2);
    expect_tree("memtop tree tree", "tree", 2);
    expect_tree("memtop tree #<Class:0x1>", "#<Class:0x1>", 2);
    expect_tree("memtop tree -- -x", "-x", 2);
}

static void
a_tree_takes_a_process_and_options_anywhere(void **state)
{
    struct tried tried = try("memtop tree Order 4120 --json --pin --wait 1m", true);

    (void)state;
    assert_true(tried.good);
    assert_int_equal(tried.cli.pid, 4120);
    assert_true(tried.cli.json && tried.cli.pin);
    assert_true(tried.cli.wait_s == 60);
    done(&tried);

    tried = try("memtop -w 5 -P --socket /x tree Order", true);
    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_TREE);
    assert_string_equal(tried.cli.socket, "/x");
    assert_int_equal(tried.cli.pid, 0);
    assert_true(tried.cli.pin && !tried.cli.json);
    assert_true(tried.cli.wait_s == 5);
    done(&tried);
}

static void
reads_times_to_wait(void **state)
{
    (void)state;
    expect_tree("memtop tree Order --wait 0", "Order", 0);
    expect_tree("memtop tree Order --wait 500ms", "Order", 0.5);
    expect_tree("memtop tree Order --wait=90s", "Order", 90);
    expect_tree("memtop tree Order -w 10m", "Order", 600);
    expect_tree("memtop tree Order -w 2h", "Order", 7200);
    expect_tree("memtop tree Order -w 1.5m", "Order", 90);
    expect_tree("memtop tree Order -w 24h", "Order", 86400);
    expect_tree("memtop tree Order -w 1d", "Order", 86400);
    expect_tree("memtop tree Order -w 1h20m", "Order", 4800);
}

static void
refuses_times_that_are_none(void **state)
{
    static const char *const wrong[] = {
        "soon", "-1", "25h", "2d", "10mm", "s", "nan", "inf", "1e99", "1s2", "0x10",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char line[64];
        snprintf(line, sizeof(line), "memtop tree Order --wait %s", wrong[i]);
        expect_refusal(line, "--wait wants a time such as 500ms, 90s or 10m");
        expect_refusal(line, wrong[i]);
    }
    expect_refusal("memtop tree Order --wait", "--wait");
}

static void
refuses_a_tree_of_nothing_or_of_too_much(void **state)
{
    (void)state;
    expect_refusal("memtop tree", "tree wants the name of a class");
    expect_refusal("memtop tree --json", "tree wants the name of a class");
    expect_refusal("memtop tree Order 12x", "not a process id: 12x");
    expect_refusal("memtop tree Order 0", "not a process id: 0");
    expect_refusal("memtop tree Order 12 13", "one argument too many: 13");
    expect_refusal("memtop tree Order 12 --socket /x", "exclude each other");
    expect_refusal("memtop tree Order --once", "only --json goes with it");
    expect_refusal("memtop tree Order --plain", "only --json goes with it");
    expect_refusal("memtop tree Order --all", "only --json goes with it");
    expect_refusal("memtop Order tree", "neither a process id nor a command: Order");
}

static void
refuses_a_class_without_a_letter(void **state)
{
    const char *words[] = {"memtop", "tree", "", NULL};
    struct cli cli;
    char *text;
    size_t length;
    FILE *errors = open_memstream(&text, &length);

    (void)state;
    assert_non_null(errors);
    assert_false(cli_parse(&cli, 3, words, false, errors));
    fclose(errors);
    assert_non_null(strstr(text, "tree wants the name of a class"));
    free(text);
    cli_destroy(&cli);
}

static void
what_belongs_to_trees_is_refused_elsewhere(void **state)
{
    (void)state;
    expect_refusal("memtop --wait 5s", "--wait and --pin go with memtop tree");
    expect_refusal("memtop --once --wait 5s", "--wait and --pin go with memtop tree");
    expect_refusal("memtop --pin 12", "--wait and --pin go with memtop tree");
}

static void
a_pin_is_refused_where_nothing_may_be_changed(void **state)
{
    (void)state;
    expect_tree("memtop tree Order --readonly", "Order", 2);
    expect_refusal("memtop tree Order --pin --readonly", "--pin changes the program");
}

static void
expect_topic(const char *line, const char *topic)
{
    struct tried tried = try(line, false);

    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_HELP);
    assert_string_equal(tried.cli.topic, topic);
    done(&tried);
}

static void
help_after_a_command_is_that_commands(void **state)
{
    (void)state;
    expect_topic("memtop --help", "");
    expect_topic("memtop help", "");
    expect_topic("memtop help tree", "tree");
    expect_topic("memtop tree --help", "tree");
    expect_topic("memtop -h tree Order --wait soon", "tree");
}

static void
attaches_first_and_then_does_as_without(void **state)
{
    struct tried tried = try("memtop attach 4120 --mode census --budget 1.5 -w 2m", true);

    (void)state;
    assert_true(tried.good);
    assert_true(tried.cli.attach);
    assert_int_equal(tried.cli.task, CLI_WATCH);
    assert_int_equal(tried.cli.pid, 4120);
    assert_string_equal(tried.cli.mode, "census");
    assert_string_equal(tried.cli.budget, "1.5");
    assert_true(tried.cli.wait_s > 119 && tried.cli.wait_s < 121);
    done(&tried);
    expect_task("memtop attach 4120", false, CLI_ONCE);
    expect_task("memtop attach 4120 --json", true, CLI_ONCE);
    expect_task("memtop attach 4120 --plain", true, CLI_PLAIN);
}

static void
a_setting_that_the_probe_would_refuse_is_refused_at_once(void **state)
{
    static const char *const lines[] = {
        "memtop attach",
        "memtop attach nobody",
        "memtop attach 1 2",
        "memtop attach 1 --mode fast",
        "memtop attach 1 --mode c",
        "memtop attach 1 --interval 0",
        "memtop attach 1 --budget lots",
        "memtop attach 1 --depth 5000",
        "memtop attach 1 --socket /x",
        "memtop attach 1 --pin",
        "memtop --mode count",
        "memtop doctor now",
        "memtop doctor --once",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct tried tried = try(lines[i], true);
        assert_false(tried.good);
        assert_string_not_equal(tried.errors, "");
        done(&tried);
    }
    expect_task("memtop doctor --json", false, CLI_DOCTOR);
}

static void
reads_what_recordings_take(void **state)
{
    struct tried tried = try("memtop record 12 -o f --duration 8h --max-size 256M", true);

    (void)state;
    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_RECORD);
    assert_int_equal(tried.cli.pid, 12);
    assert_string_equal(tried.cli.output, "f");
    assert_true(tried.cli.duration_us == UINT64_C(8) * 3600 * 1000000);
    assert_true(tried.cli.max_size == UINT64_C(256) << 20);
    done(&tried);
    tried = try("memtop check f --max-growth Order:+5 --max-growth total:+9 --warmup 60s",
                false);
    assert_true(tried.good);
    assert_string_equal(tried.cli.rules[1], "total:+9");
    assert_null(tried.cli.rules[2]);
    assert_true(tried.cli.warmup_us == 60000000);
    done(&tried);
    expect_task("memtop replay f --json --at 03:00", false, CLI_REPLAY);
    expect_task("memtop diff a b --json", false, CLI_DIFF);
    expect_task("memtop diff a -v --from start", true, CLI_DIFF);
    expect_task("memtop cut f --from start --to end -o g", true, CLI_CUT);
    expect_task("memtop export f --format csv", true, CLI_EXPORT);
    expect_task("memtop verify f", true, CLI_VERIFY);
}

static void
reads_what_all_processes_take(void **state)
{
    struct tried tried = try("memtop ps --json --wait 5s", false);

    (void)state;
    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_PS);
    assert_true(tried.cli.wait_s == 5);
    done(&tried);
    tried = try("memtop ps", true);
    assert_true(tried.cli.wait_s == 0);
    done(&tried);
    tried = try("memtop --once --json --merged 4101", true);
    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_ONCE);
    assert_true(tried.cli.merged);
    assert_int_equal(tried.cli.pid, 4101);
    done(&tried);
    expect_task("memtop --merged 4101", true, CLI_WATCH);
}

static void
refuses_what_all_processes_do_not_take(void **state)
{
    static const char *const wrong[][2] = {
        {"memtop ps 12",                   "one argument too many"     },
        {"memtop ps --once",               "--once does not go with"   },
        {"memtop ps --wait soon",          "--wait wants a time"       },
        {"memtop ps --pin",                "--pin go with memtop tree" },
        {"memtop --merged",                "--merged wants the process"},
        {"memtop tree Order --merged 12",  "--merged does not go with" },
        {"memtop record 12 -o f --merged", "--merged does not go with" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct tried tried = try(wrong[i][0], true);
        assert_false(tried.good);
        assert_non_null(strstr(tried.errors, wrong[i][1]));
        done(&tried);
    }
}

static void
refuses_what_recordings_do_not_take(void **state)
{
    static const char *const wrong[][2] = {
        {"memtop record",                      "-o says which file to write"},
        {"memtop record f -o g",               "not a process id"           },
        {"memtop record -o f --duration soon", "--duration wants a time"    },
        {"memtop record -o f --max-size big",  "--max-size wants a size"    },
        {"memtop replay",                      "the name of a recording"    },
        {"memtop replay f g",                  "one argument too many"      },
        {"memtop replay f --speed fast",       "--speed wants a number"     },
        {"memtop replay f --speed -1",         "--speed wants a number"     },
        {"memtop replay f --output g",         "--output does not go with"  },
        {"memtop cut f -o g",                  "cut wants --from and --to"  },
        {"memtop export f",                    "export wants --format"      },
        {"memtop check f",                     "check wants --max-growth"   },
        {"memtop diff f g --from start",       "moments of one recording"   },
        {"memtop diff f --view --json",        "--view shows"               },
        {"memtop replay f --view",             "--view does not go with"    },
        {"memtop diff f g h",                  "one argument too many"      },
        {"memtop verify f --json",             "--json does not go with"    },
        {"memtop --speed 3",                   "--speed does not go with"   },
        {"memtop tree Order --at 3",           "--at does not go with"      },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        expect_refusal(wrong[i][0], wrong[i][1]);
    }
}

static void
a_command_to_run_is_what_stands_behind_two_dashes(void **state)
{
    struct tried tried = try("memtop run --output f -A -- ruby -e 1 -- --json", true);

    (void)state;
    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_RUN);
    assert_string_equal(tried.cli.output, "f");
    assert_true(tried.cli.ascii);
    assert_false(tried.cli.json);
    assert_string_equal(tried.cli.command[0], "ruby");
    assert_string_equal(tried.cli.command[3], "--");
    assert_string_equal(tried.cli.command[4], "--json");
    assert_null(tried.cli.command[5]);
    done(&tried);
    tried = try("memtop check -g Order:+5 --warmup 1m -d 5m -- rake test", false);
    assert_true(tried.good);
    assert_int_equal(tried.cli.task, CLI_CHECK);
    assert_string_equal(tried.cli.command[1], "test");
    assert_null(tried.cli.files[0]);
    done(&tried);
    expect_task("memtop run --json -- check", false, CLI_RUN);
    expect_task("memtop -g a:+1 check -- run", false, CLI_CHECK);
}

static void
refuses_commands_that_stand_elsewhere(void **state)
{
    static const char *const wrong[][2] = {
        {"memtop run",                           "run wants a command"       },
        {"memtop run --",                        "no command behind --"      },
        {"memtop run ruby app.rb",               "belongs behind --"         },
        {"memtop run 12 -- ruby",                "belongs behind --"         },
        {"memtop run --warmup 1m -- ruby",       "--warmup does not go with" },
        {"memtop check f -g a:+1 -- ruby",       "belongs behind --"         },
        {"memtop check -g a:+1 --",              "no command behind --"      },
        {"memtop check -- ruby",                 "check wants --max-growth"  },
        {"memtop check -g a:+1 -j -- ruby",      "--json wants --output FILE"},
        {"memtop check -g a:+1 --to 3 -- ruby",  "moments of a recording"    },
        {"memtop check f -g a:+1 --duration 1m", "go with check -- COMMAND"  },
        {"memtop record -o f --record g",        "--record does not go with" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        expect_refusal(wrong[i][0], wrong[i][1]);
    }
}

static char *
help_of(const char *topic)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    cli_help(topic, out);
    fclose(out);
    return text;
}

static void
the_help_teaches(void **state)
{
    static const char *const told[] = {
        "--socket PATH", "--once",       "--json",     "--all",      "--plain",
        "--ascii",       "--theme",      "--no-mouse", "--readonly", "First steps:",
        "--wait TIME",   "--pin",        "tree CLASS", "Keys",       "Examples:",
        "Exit status",   "Environment:", "NO_COLOR",
    };
    char *help = help_of("");

    (void)state;
    for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
        assert_non_null(strstr(help, told[i]));
    }
    free(help);
}

static void
every_command_has_help_with_examples(void **state)
{
    const struct command *command;

    (void)state;
    for (size_t i = 0; (command = command_at(i)); i++) {
        char *help = help_of(command->name);
        assert_non_null(strstr(help, command->line));
        assert_non_null(strstr(help, "Examples:"));
        free(help);
    }
}

static void
the_help_of_trees_tells_what_its_figures_are(void **state)
{
    static const char *const told[] = {
        "memtop tree CLASS [PID]", "--wait",        "--pin", "--json",
        "(before tracing)",        "95 % interval",
    };
    char *help = help_of("tree");

    (void)state;
    for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
        assert_non_null(strstr(help, told[i]));
    }
    free(help);
}

// A terminal of 100 columns wraps nothing of it.
static void
no_line_of_the_help_is_too_long(void **state)
{
    const struct command *command;

    (void)state;
    for (size_t i = 0; (command = command_at(i)); i++) {
        char *help = help_of(command->name);
        for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n")) {
            assert_in_range(strlen(line), 0, 90);
        }
        free(help);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_when_nothing_is_asked_in_a_terminal),
        cmocka_unit_test(prints_one_table_without_a_terminal),
        cmocka_unit_test(streams_tables_only_when_asked),
        cmocka_unit_test(help_and_version_win_over_the_rest),
        cmocka_unit_test(takes_the_values_of_options),
        cmocka_unit_test(refuses_what_makes_no_sense),
        cmocka_unit_test(a_command_to_run_is_what_stands_behind_two_dashes),
        cmocka_unit_test(refuses_commands_that_stand_elsewhere),
        cmocka_unit_test(refuses_what_is_neither_a_process_nor_a_command),
        cmocka_unit_test(a_tree_is_of_a_class_whatever_it_is_called),
        cmocka_unit_test(a_tree_takes_a_process_and_options_anywhere),
        cmocka_unit_test(reads_times_to_wait),
        cmocka_unit_test(refuses_times_that_are_none),
        cmocka_unit_test(refuses_a_tree_of_nothing_or_of_too_much),
        cmocka_unit_test(refuses_a_class_without_a_letter),
        cmocka_unit_test(what_belongs_to_trees_is_refused_elsewhere),
        cmocka_unit_test(a_pin_is_refused_where_nothing_may_be_changed),
        cmocka_unit_test(help_after_a_command_is_that_commands),
        cmocka_unit_test(attaches_first_and_then_does_as_without),
        cmocka_unit_test(a_setting_that_the_probe_would_refuse_is_refused_at_once),
        cmocka_unit_test(reads_what_recordings_take),
        cmocka_unit_test(reads_what_all_processes_take),
        cmocka_unit_test(refuses_what_all_processes_do_not_take),
        cmocka_unit_test(refuses_what_recordings_do_not_take),
        cmocka_unit_test(the_help_teaches),
        cmocka_unit_test(every_command_has_help_with_examples),
        cmocka_unit_test(the_help_of_trees_tells_what_its_figures_are),
        cmocka_unit_test(no_line_of_the_help_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
