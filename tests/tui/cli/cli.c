#include "tui/cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/cli/command.h"

#define WORDS_MAX 8

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
says_which_commands_a_later_version_brings(void **state)
{
    static const char *const later[] = {
        "run",  "attach", "ps",    "tree",   "record", "replay",
        "diff", "export", "check", "verify", "cut",    "doctor",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
        char line[64];
        snprintf(line, sizeof(line), "memtop %s", later[i]);
        expect_refusal(line, "not in this version");
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
        "--socket PATH", "--once",    "--json",      "--all",        "--plain",
        "--ascii",       "--theme",   "--no-mouse",  "--readonly",   "First steps:",
        "Keys",          "Examples:", "Exit status", "Environment:", "NO_COLOR",
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

// A terminal of 100 columns wraps nothing of it.
static void
no_line_of_the_help_is_too_long(void **state)
{
    char *help = help_of("");

    (void)state;
    for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n")) {
        assert_in_range(strlen(line), 0, 90);
    }
    free(help);
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
        cmocka_unit_test(refuses_what_is_neither_a_process_nor_a_command),
        cmocka_unit_test(says_which_commands_a_later_version_brings),
        cmocka_unit_test(the_help_teaches),
        cmocka_unit_test(every_command_has_help_with_examples),
        cmocka_unit_test(no_line_of_the_help_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
