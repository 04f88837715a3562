// memtop run in a terminal: the viewer on top of a real program, what it writes, and
// what becomes of it when somebody quits.
#include <errno.h>

#include "e2e.h"

// When its orders are there, all before them has been done.
static const char talker[] = "$stdout.sync = true\n"
                             "200.times { |i| puts \"line #{i}\" }\n"
                             "puts \"\\e[31mred\\e[0m \\e]0;title\\a\\e[2Jword\"\n"
                             "puts [$stdout.tty?, $stdin.read.empty?].inspect\n"
                             "warn 'a warning'\n"
                             "trap('TERM') { puts 'ends now'; exit 9 }\n"
                             "File.write(ARGV[0], $$.to_s) if ARGV[0]\n"
                             "class Order; end\n"
                             "KEPT = Array.new(54_321) { Order.new }\n"
                             "sleep\n";

// A parent and a child that has more, which USR1 ends.
static const char family[] =
    "class Order; end; $stdout.sync = true\n"
    "KEPT = Array.new(1111) { Order.new }\n"
    "child = fork do\n"
    "  KEPT.concat(Array.new(54_321) { Order.new }); puts 'the child is there'\n"
    "  sleep\n"
    "end\n"
    "trap('TERM') { exit 9 }\n"
    "trap('USR1') { Process.kill('KILL', child); Process.wait(child); exit 6 }\n"
    "File.write(ARGV[0], $$.to_s); sleep\n";

static struct terminal *
run_with(const char *const *command, const char *const *options)
{
    static char folder[300];
    const char *arguments[16] = {MEMTOP, "run"};
    const char *const environment[] = {
        folder, "RUBYOPT", "RUBYLIB", "MEMTOP_SOCKET", "MEMTOP_INTERVAL=0.2", NULL};
    size_t count = 2;

    snprintf(folder, sizeof(folder), "XDG_RUNTIME_DIR=%s", program_folder());
    for (; options && *options; options++) {
        arguments[count++] = *options;
    }
    arguments[count++] = "--";
    for (; *command; command++) {
        arguments[count++] = *command;
    }
    return terminal_start(&(struct terminal_options){.arguments = arguments,
                                                     .environment = environment,
                                                     .rows = E2E_ROWS,
                                                     .columns = E2E_COLUMNS});
}

static struct terminal *
run_ruby(const char *script, const char *argument)
{
    const char *const command[] = {RUBY, "-e", script, argument, NULL};

    return run_with(command, NULL);
}

static void
expect_end(struct terminal *terminal, int expected)
{
    int status;

    assert_true(terminal_ends(terminal, &status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), expected);
    assert_false(terminal_alternate(terminal));
}

static void
the_viewer_is_on_top_of_a_command(void **state)
{
    struct terminal *terminal = run_ruby(talker, NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "Order"));
    assert_true(terminal_shows(terminal, "54 321"));
    assert_int_equal(terminal_find(terminal, "line 199"), -1);
    terminal_type(terminal, "qy");
    expect_end(terminal, 9);
    terminal_free(terminal);
}

static void
what_the_command_writes_can_be_looked_at(void **state)
{
    struct terminal *terminal = run_ruby(talker, NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "54 321"));
    terminal_type(terminal, "O");
    assert_true(terminal_shows(terminal, "a warning"));
    assert_true(terminal_shows(terminal, "[true, true]"));
    assert_true(terminal_shows(terminal, " red word"));
    assert_true(terminal_shows(terminal, "line 199"));
    terminal_type(terminal, "g");
    assert_true(terminal_row_shows(terminal, 2, " line 0"));
    terminal_type(terminal, "G/line 77\r");
    assert_true(terminal_shows(terminal, "line 77"));
    terminal_type(terminal, "\033");
    assert_true(terminal_shows(terminal, "54 321"));
    terminal_type(terminal, "qy");
    expect_end(terminal, 9);
    terminal_free(terminal);
}

static void
output_is_followed_as_it_comes(void **state)
{
    static const char script[] = "$stdout.sync = true; i = 0\n"
                                 "loop { puts \"tick #{i += 1}\"; sleep 0.02 }";
    struct terminal *terminal = run_ruby(script, NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "String"));
    terminal_type(terminal, "O");
    assert_true(terminal_shows(terminal, "following"));
    assert_true(terminal_shows(terminal, "tick 100"));
    assert_true(terminal_hides(terminal, "tick 100 "));
    assert_true(terminal_shows(terminal, "tick 150"));
    terminal_type(terminal, "Qy");
    expect_end(terminal, 128 + SIGTERM);
    terminal_free(terminal);
}

static void
quitting_stops_the_command_and_shows_its_last_words(void **state)
{
    struct terminal *terminal = run_ruby(talker, NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "54 321"));
    terminal_type(terminal, "q");
    assert_true(terminal_shows(terminal, "The program still runs: stop it?"));
    terminal_type(terminal, "\033");
    assert_true(terminal_hides(terminal, "stop it?"));
    terminal_type(terminal, "\003\003"); // ^C asks, ^C again stops
    expect_end(terminal, 9);
    assert_true(terminal_find(terminal, "line 199") >= 0);
    assert_true(terminal_find(terminal, "ends now") >= 0);
    terminal_free(terminal);
}

static pid_t
number_in(const char *path)
{
    FILE *file = fopen(path, "r");
    long pid = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pid), 1);
    fclose(file);
    return (pid_t)pid;
}

static void
its_terminal_is_as_large_as_ours(void **state)
{
    static const char script[] =
        "require 'io/console'\n"
        "$stdout.sync = true; changes, change = IO.pipe\n"
        "trap('WINCH') { change.write('!') }\n"
        "puts \"begun #{$stdout.winsize}\"\n"
        "puts \"now #{$stdout.winsize}\" while changes.read(1)\n";
    struct terminal *terminal = run_ruby(script, NULL);
    char words[64];

    (void)state;
    snprintf(words, sizeof(words), "begun [%d, %d]", E2E_ROWS, E2E_COLUMNS);
    assert_true(terminal_shows(terminal, "String"));
    terminal_type(terminal, "O");
    assert_true(terminal_shows(terminal, words));
    terminal_resize(terminal, 31, 103);
    assert_true(terminal_shows(terminal, "now [31, 103]"));
    terminal_type(terminal, "Qy");
    expect_end(terminal, 128 + SIGTERM);
    terminal_free(terminal);
}

static void
a_command_can_be_left_running(void **state)
{
    static const char script[] = "$stdout.sync = true; wakes, wake = IO.pipe\n"
                                 "trap('USR1') { wake.write('!') }\n"
                                 "puts 'begun'; File.write(ARGV[0], $$.to_s)\n"
                                 "wakes.read(1)\n"
                                 "puts 'x' * 100_000; File.write(ARGV[0] + '.on', '')\n";
    char path[300];
    char mark[310];
    struct terminal *terminal;

    (void)state;
    snprintf(path, sizeof(path), "%s", program_path("left"));
    snprintf(mark, sizeof(mark), "%s.on", path);
    terminal = run_ruby(script, path);
    assert_true(terminal_shows(terminal, "String"));
    terminal_type(terminal, "O");
    assert_true(terminal_shows(terminal, "begun"));
    terminal_type(terminal, "Qn");
    expect_end(terminal, 0);
    assert_true(terminal_find(terminal, "the command goes on") >= 0);
    terminal_free(terminal);
    // it can still write, though nobody reads it
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++) {
        usleep(10000);
    }
    assert_int_equal(kill(number_in(path), SIGUSR1), 0);
    for (int i = 0; i < 3000 && access(mark, F_OK) != 0; i++) {
        usleep(10000);
    }
    assert_int_equal(access(mark, F_OK), 0);
}

static void
the_last_data_stays_when_the_command_ends(void **state)
{
    struct terminal *terminal = run_ruby(
        "class Order; end; K = Array.new(54_321) { Order.new }; sleep 0.5; exit 5", NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "GONE"));
    assert_true(terminal_shows(terminal, "54 321"));
    assert_true(terminal_shows(terminal, "the command ended with status 5"));
    terminal_type(terminal, "q");
    expect_end(terminal, 5);
    terminal_free(terminal);
}

static void
a_command_without_ruby_leaves_its_output_and_status(void **state)
{
    const char *const command[] = {"sh", "-c", "echo hello; exit 4", NULL};
    struct terminal *terminal = run_with(command, NULL);

    (void)state;
    expect_end(terminal, 4);
    assert_true(terminal_find(terminal, "hello") >= 0);
    terminal_free(terminal);
}

static void
a_signal_to_memtop_reaches_the_command(void **state)
{
    struct terminal *terminal = run_ruby(talker, NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "54 321"));
    kill(terminal_pid(terminal), SIGTERM);
    expect_end(terminal, 9);
    terminal_free(terminal);
}

static void
a_command_does_not_outlive_its_terminal(void **state)
{
    char path[300];
    struct terminal *terminal;
    int status;

    (void)state;
    snprintf(path, sizeof(path), "%s", program_path("hung"));
    terminal = run_ruby(talker, path);
    assert_true(terminal_shows(terminal, "54 321"));
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++) {
        usleep(10000);
    }
    pid_t pid = number_in(path);
    terminal_hang_up(terminal);
    assert_true(terminal_ends(terminal, &status));
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    terminal_free(terminal);
}

static void
another_process_is_shown_when_the_first_ended(void **state)
{
    const char *const command[] = {
        "sh", "-c",
        RUBY
        " -e 'class First; end; K = Array.new(1111) { First.new }; sleep 0.5'; exec " RUBY
        " "
        "-e 'class Second; end; K = Array.new(54_321) { Second.new }; sleep'",
        NULL};
    struct terminal *terminal = run_with(command, NULL);

    (void)state;
    assert_true(terminal_shows(terminal, "First"));
    assert_true(terminal_shows(terminal, "Second"));
    assert_true(terminal_shows(terminal, "LIVE"));
    terminal_type(terminal, "qy");
    expect_end(terminal, 128 + SIGTERM);
    terminal_free(terminal);
}

// The family, at the list of its processes: the machine may run others.
static struct terminal *
run_family(const char *name)
{
    char filter[64];
    struct terminal *terminal = run_ruby(family, program_path(name));

    assert_true(terminal_shows(terminal, "Order"));
    snprintf(filter, sizeof(filter), "P/%s\r", name);
    terminal_type(terminal, filter);
    assert_true(terminal_shows(terminal, "2 processes"));
    return terminal;
}

// Keys for the list; what is on the screen afterwards is of the process they chose.
static void
choose(struct terminal *terminal, const char *keys)
{
    terminal_type(terminal, "P");
    assert_true(terminal_shows(terminal, "TOP GROWING"));
    terminal_type(terminal, keys);
    assert_true(terminal_hides(terminal, "TOP GROWING"));
}

static void
its_processes_are_listed_and_one_is_chosen(void **state)
{
    char name[32];
    struct terminal *terminal;

    (void)state;
    snprintf(name, sizeof(name), "family%d", (int)getpid());
    terminal = run_family(name);
    terminal_type(terminal, "o");
    assert_true(terminal_shows(terminal, "the child is there"));
    terminal_type(terminal, "\033");
    assert_true(terminal_shows(terminal, "2 processes"));
    terminal_type(terminal, "gjM");
    assert_true(terminal_shows(terminal, "2 processes merged"));
    assert_true(terminal_shows(terminal, "56 543"));
    choose(terminal, "gj\r");
    assert_true(terminal_shows(terminal, "55 432"));
    choose(terminal, "g\r");
    assert_true(terminal_shows(terminal, " 1 111 "));
    assert_true(terminal_hides(terminal, "merged"));
    terminal_type(terminal, "qy");
    expect_end(terminal, 9);
    terminal_free(terminal);
}

static void
a_chosen_process_stays_when_others_end(void **state)
{
    char name[32];
    struct terminal *terminal;

    (void)state;
    snprintf(name, sizeof(name), "kin%d", (int)getpid());
    terminal = run_family(name);
    terminal_type(terminal, "gM");
    assert_true(terminal_shows(terminal, "56 543"));
    choose(terminal, "gj\r");
    assert_true(terminal_shows(terminal, "55 432"));
    assert_int_equal(kill(number_in(program_path(name)), SIGUSR1), 0);
    assert_true(terminal_shows(terminal, "the command ended with status 6"));
    assert_true(terminal_shows(terminal, "55 432")); // the last data stays
    terminal_type(terminal, "q");
    expect_end(terminal, 6);
    terminal_free(terminal);
}

static void
the_configuration_holds_beside_a_command(void **state)
{
    char path[300];
    const char *const options[] = {"--config", path, NULL};
    const char *const command[] = {RUBY, "-e", talker, NULL};

    (void)state;
    snprintf(path, sizeof(path), "%s", program_path("config"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("[keys]\nquit = z\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct terminal *terminal = run_with(command, options);
    assert_true(terminal_shows(terminal, "54 321"));
    terminal_type(terminal, "z");
    assert_true(terminal_shows(terminal, "The program still runs: stop it?"));
    terminal_type(terminal, "y");
    expect_end(terminal, 9);
    terminal_free(terminal);
}

static void
the_output_can_go_to_a_file(void **state)
{
    char path[300];
    const char *const options[] = {"--output", path, NULL};
    static const char script[] =
        "puts $stdout.tty?; $stdout.flush\n"
        "class Order; end; KEPT = Array.new(54_321) { Order.new }\n"
        "sleep";
    const char *const command[] = {RUBY, "-e", script, NULL};
    struct terminal *terminal;
    char word[32] = "";

    (void)state;
    snprintf(path, sizeof(path), "%s", program_path("output"));
    terminal = run_with(command, options);
    assert_true(terminal_shows(terminal, "54 321"));
    terminal_type(terminal, "O");
    assert_true(terminal_shows(terminal, "it goes to the file of --output"));
    terminal_type(terminal, "qy");
    expect_end(terminal, 128 + SIGTERM);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(word, sizeof(word), file));
    assert_string_equal(word, "false\n");
    fclose(file);
    terminal_free(terminal);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_viewer_is_on_top_of_a_command),
        cmocka_unit_test(what_the_command_writes_can_be_looked_at),
        cmocka_unit_test(output_is_followed_as_it_comes),
        cmocka_unit_test(quitting_stops_the_command_and_shows_its_last_words),
        cmocka_unit_test(its_terminal_is_as_large_as_ours),
        cmocka_unit_test(a_command_can_be_left_running),
        cmocka_unit_test(the_last_data_stays_when_the_command_ends),
        cmocka_unit_test(a_command_without_ruby_leaves_its_output_and_status),
        cmocka_unit_test(a_signal_to_memtop_reaches_the_command),
        cmocka_unit_test(a_command_does_not_outlive_its_terminal),
        cmocka_unit_test(another_process_is_shown_when_the_first_ended),
        cmocka_unit_test(its_processes_are_listed_and_one_is_chosen),
        cmocka_unit_test(a_chosen_process_stays_when_others_end),
        cmocka_unit_test(the_configuration_holds_beside_a_command),
        cmocka_unit_test(the_output_can_go_to_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
