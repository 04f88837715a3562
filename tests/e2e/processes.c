// All processes in the real viewer: a real cluster of Puma, its workers as they come, are
// chosen, summed, restarted and killed.
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "e2e.h"

#define WORKERS 3
#define DEADLINE_S 30

static struct program puma;
static long workers[WORKERS];

static const char config[] =
    "workers 3\n"
    "threads 1, 1\n"
    "bind 'tcp://127.0.0.1:0'\n"
    "tag 'e2eherd'\n"
    "environment 'production'\n"
    "app do |_env|\n"
    "  [200, {}, []]\n"
    "end\n"
    "class Order; end\n"
    "on_worker_boot do\n"
    "  KEPT = Array.new(100) { Order.new } unless defined?(KEPT)\n"
    "  $stdout.puts \"booted #{Process.pid}\"\n"
    "  $stdout.flush\n"
    "end\n";

static void
write_config(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(config, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// The workers as they say that they are there.
static void
await_workers(void)
{
    char line[256];
    int count = 0;

    while (count < WORKERS) {
        struct pollfd ready = {.fd = fileno(puma.out), .events = POLLIN};
        assert_true(poll(&ready, 1, DEADLINE_S * 1000) == 1);
        assert_non_null(fgets(line, sizeof(line), puma.out));
        if (sscanf(line, "booted %ld", &workers[count]) == 1) {
            count++;
        }
    }
}

static const char *
setting(const char *name)
{
    static char text[2][300];
    static int turn;

    turn = !turn;
    snprintf(text[turn], sizeof(text[turn]), "%s=%s", name, program_folder());
    return text[turn];
}

static int
set_up(void **state)
{
    static char path[200];
    static char options[300];
    const char *runtime = setting("XDG_RUNTIME_DIR");
    const char *const environment[] = {runtime, "MEMTOP_INTERVAL=0.2", "MEMTOP_SOCKET",
                                       options, NULL};
    const char *const arguments[] = {RUBY, "-S", "puma", "-q", "-C", path, NULL};

    (void)state;
    snprintf(path, sizeof(path), "%s", program_path("puma.rb"));
    snprintf(options, sizeof(options), "RUBYOPT=-I%s -rmemtop/auto", RUBY_LIB);
    write_config(path);
    program_start(&puma, arguments, environment);
    setvbuf(puma.out, NULL, _IONBF, 0); // what poll() does not see is not read yet
    await_workers();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    kill(puma.pid, SIGTERM); // the master ends its workers
    program_wait(&puma);
    return 0;
}

// The viewer at the list of the cluster alone: the machine may run other programs.
static struct terminal *
open_list(void)
{
    const char *const arguments[] = {MEMTOP, NULL};
    const char *const environment[] = {setting("XDG_RUNTIME_DIR"), NULL};
    struct terminal *terminal =
        terminal_start(&(struct terminal_options){.arguments = arguments,
                                                  .environment = environment,
                                                  .rows = E2E_ROWS,
                                                  .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, "TOP GROWING"));
    terminal_type(terminal, "/e2eherd\r");
    assert_true(terminal_shows(terminal, " 4 processes"));
    return terminal;
}

static const char *
pid_text(long pid)
{
    static char text[4][32];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof(text[turn]), "%ld ", pid);
    return text[turn];
}

static bool
has_socket(long pid)
{
    char path[300];
    struct stat status;

    snprintf(path, sizeof(path), "%s/memtop/%ld.sock", program_folder(), pid);
    return lstat(path, &status) == 0;
}

static int
sockets(void)
{
    char path[300];
    int count = 0;
    struct dirent *entry;

    snprintf(path, sizeof(path), "%s/memtop", program_folder());
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while ((entry = readdir(directory))) {
        count += strstr(entry->d_name, ".sock") != NULL;
    }
    closedir(directory);
    return count;
}

// While the viewer works.
static void
await_no_socket(struct terminal *terminal, long pid)
{
    time_t end = time(NULL) + DEADLINE_S;

    while (has_socket(pid) && time(NULL) < end) {
        terminal_look(terminal);
        poll(NULL, 0, 20);
    }
    assert_false(has_socket(pid));
}

static void
lists_a_cluster_and_opens_one_of_it(void **state)
{
    struct terminal *terminal = open_list();

    (void)state;
    for (int i = 0; i < WORKERS; i++) {
        assert_true(terminal_shows(terminal, pid_text(workers[i])));
    }
    assert_true(terminal_shows(terminal, "├"));
    assert_true(terminal_shows(terminal, "└"));
    terminal_type(terminal, "G\r");
    assert_true(terminal_shows(terminal, "CLASS"));
    assert_true(terminal_shows(terminal, "LIVE 0.2s"));
    terminal_type(terminal, "/Order\r");
    assert_true(terminal_shows(terminal, "  100 "));
    // the filter goes first, then the way back
    terminal_type(terminal, "\033");
    assert_true(terminal_shows(terminal, "String"));
    terminal_type(terminal, "\033");
    assert_true(terminal_shows(terminal, "TOP GROWING"));
    // and to another one, and by its number
    terminal_type(terminal, "g\r");
    assert_true(terminal_shows(terminal, "CLASS"));
    char command[64];
    snprintf(command, sizeof(command), ":process %ld\r", workers[0]);
    terminal_type(terminal, command);
    char title[64];
    snprintf(title, sizeof(title), "[%ld]", workers[0]);
    assert_true(terminal_shows(terminal, title));
    e2e_quit(terminal);
}

static void
sums_the_cluster_and_shows_each_beside_the_sum(void **state)
{
    struct terminal *terminal = open_list();

    (void)state;
    terminal_type(terminal, "M");
    assert_true(terminal_shows(terminal, "4 processes merged"));
    terminal_type(terminal, "/Order\r");
    assert_true(terminal_shows(terminal, "  300 "));
    terminal_type(terminal, "|");
    for (int i = 0; i < WORKERS; i++) {
        char heading[32];
        snprintf(heading, sizeof(heading), " %ld", workers[i]);
        assert_true(terminal_shows(terminal, heading));
    }
    assert_true(terminal_shows(terminal, "  100 "));
    // a worker that is killed is no part of it any more; the one that takes its place is
    kill((pid_t)workers[0], SIGKILL);
    char heading[32];
    snprintf(heading, sizeof(heading), " %ld", workers[0]);
    assert_true(terminal_hides(terminal, heading));
    assert_true(terminal_shows(terminal, "  300 "));
    e2e_quit(terminal);
}

static void
a_phased_restart_leaves_no_rows_and_no_sockets(void **state)
{
    struct terminal *terminal = open_list();
    long old[WORKERS];

    (void)state;
    memcpy(old, workers, sizeof(old));
    kill(puma.pid, SIGUSR1);
    await_workers();
    for (int i = 0; i < WORKERS; i++) {
        assert_true(terminal_shows(terminal, pid_text(workers[i])));
        assert_true(terminal_hides(terminal, pid_text(old[i])));
        assert_false(has_socket(old[i]));
    }
    assert_true(terminal_shows(terminal, " 4 processes"));
    assert_int_equal(sockets(), 1 + WORKERS);
    e2e_quit(terminal);
}

static void
a_killed_worker_is_shown_gone_then_not_at_all(void **state)
{
    struct terminal *terminal = open_list();

    (void)state;
    kill((pid_t)workers[1], SIGKILL);
    assert_true(terminal_shows(terminal, "GONE"));
    assert_true(terminal_hides(terminal, pid_text(workers[1])));
    await_no_socket(terminal, workers[1]);
    assert_true(terminal_shows(terminal, " 4 processes"));
    e2e_quit(terminal);
}

static void
a_stopped_worker_holds_up_neither_the_list_nor_the_others(void **state)
{
    struct terminal *terminal;

    (void)state;
    kill((pid_t)workers[2], SIGSTOP);
    const char *const arguments[] = {MEMTOP, NULL};
    const char *const environment[] = {setting("XDG_RUNTIME_DIR"), NULL};
    terminal = terminal_start(&(struct terminal_options){.arguments = arguments,
                                                         .environment = environment,
                                                         .rows = E2E_ROWS,
                                                         .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, pid_text(workers[0])));
    terminal_type(terminal, "/");
    terminal_type(terminal, pid_text(workers[0]));
    terminal_type(terminal, "\r\r");
    assert_true(terminal_shows(terminal, "LIVE 0.2s"));
    // the machine may run other programs, silent ones too
    terminal_type(terminal, "P\\/");
    terminal_type(terminal, pid_text(workers[2]));
    terminal_type(terminal, "\r");
    assert_true(terminal_shows(terminal, "silent"));
    kill((pid_t)workers[2], SIGCONT);
    assert_true(terminal_hides(terminal, "silent"));
    e2e_quit(terminal);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(lists_a_cluster_and_opens_one_of_it),
        CASE(sums_the_cluster_and_shows_each_beside_the_sum),
        CASE(a_phased_restart_leaves_no_rows_and_no_sockets),
        CASE(a_killed_worker_is_shown_gone_then_not_at_all),
        CASE(a_stopped_worker_holds_up_neither_the_list_nor_the_others),
    };
#undef CASE
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_clean();
    return failed;
}
