#include "tui/cli/find.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

#define SOCKETS_MAX 4

// A runtime folder and a temporary folder of the test's own.
struct places {
    char root[64];
    char run[96];
    char temporary[96];
    int sockets[SOCKETS_MAX];
    int count;
};

static int
set_up(void **state)
{
    static struct places places;

    places.count = 0;
    strcpy(places.root, "/tmp/memtop-find-XXXXXX");
    if (!mkdtemp(places.root)) {
        return -1;
    }
    snprintf(places.run, sizeof(places.run), "%s/memtop", places.root);
    snprintf(places.temporary, sizeof(places.temporary), "%s/memtop-%lu", places.root,
             (unsigned long)geteuid());
    setenv("XDG_RUNTIME_DIR", places.root, 1);
    setenv("TMPDIR", places.root, 1);
    *state = &places;
    return mkdir(places.run, 0700) + mkdir(places.temporary, 0700);
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int
tear_down(void **state)
{
    const struct places *places = *state;

    for (int i = 0; i < places->count; i++) {
        close(places->sockets[i]);
    }
    return nftw(places->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
listen_at(struct places *places, const char *folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%.70s/%.30s", folder, name);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)),
                     0);
    assert_int_equal(listen(listener, 4), 0);
    places->sockets[places->count++] = listener;
}

// Real programs of this machine may be listed too: look for ours alone.
static size_t
ours(const struct places *places, struct found *mine)
{
    static struct found list[FIND_MAX];
    size_t count = find_all(list, FIND_MAX);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (strncmp(list[i].socket, places->root, strlen(places->root)) == 0) {
            mine[kept++] = list[i];
        }
    }
    return kept;
}

static void
finds_programs_in_both_folders_by_pid(void **state)
{
    struct places *places = *state;
    struct found mine[FIND_MAX];

    listen_at(places, places->temporary, "77.sock");
    listen_at(places, places->run, "5.sock");
    assert_int_equal(ours(places, mine), 2);
    assert_int_equal(mine[0].pid, 5);
    assert_int_equal(mine[1].pid, 77);
    assert_non_null(strstr(mine[1].socket, "/77.sock"));
}

static void
passes_over_what_nobody_listens_on(void **state)
{
    struct places *places = *state;
    struct found mine[FIND_MAX];
    char path[160];

    listen_at(places, places->run, "8.sock");
    close(places->sockets[--places->count]);
    snprintf(path, sizeof(path), "%s/9.sock", places->run);
    fclose(fopen(path, "w"));
    listen_at(places, places->run, "x.sock");
    listen_at(places, places->run, "7.sock.old");
    assert_int_equal(ours(places, mine), 0);
}

static void
passes_over_a_folder_of_another_user(void **state)
{
    struct places *places = *state;
    struct found mine[FIND_MAX];

    if (geteuid() != 0) {
        print_message("only root can give a folder away\n");
        skip();
    }
    listen_at(places, places->temporary, "77.sock");
    assert_int_equal(chown(places->temporary, 12345, 12345), 0);
    assert_int_equal(ours(places, mine), 0);
}

static void
passes_over_a_folder_that_is_a_link(void **state)
{
    struct places *places = *state;
    struct found mine[FIND_MAX];
    char other[160];

    listen_at(places, places->temporary, "77.sock");
    snprintf(other, sizeof(other), "%s-moved", places->temporary);
    assert_int_equal(rename(places->temporary, other), 0);
    assert_int_equal(symlink(other, places->temporary), 0);
    assert_int_equal(ours(places, mine), 0);
}

static void
finds_one_process_by_its_pid(void **state)
{
    struct places *places = *state;
    struct found found;
    char name[32];

    snprintf(name, sizeof(name), "%ld.sock", (long)getpid());
    listen_at(places, places->temporary, name);
    assert_true(find_pid(getpid(), &found));
    assert_non_null(strstr(found.socket, name));
    assert_non_null(strstr(found.command, "find"));
}

static void
says_where_a_process_without_a_probe_was_looked_for(void **state)
{
    struct found found;

    (void)state;
    assert_false(find_pid(getpid(), &found));
    assert_non_null(strstr(found.socket, ".sock"));
    assert_true(find_exists(getpid()));
}

// A process id that was in use and is no more.
static long
dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static bool
is_there(const char *folder, const char *name)
{
    char path[160];
    struct stat status;

    snprintf(path, sizeof(path), "%.100s/%.40s", folder, name);
    return lstat(path, &status) == 0;
}

// A socket that nobody listens on any more.
static void
leave(struct places *places, const char *folder, const char *name)
{
    listen_at(places, folder, name);
    close(places->sockets[--places->count]);
}

static void
lists_sockets_without_asking_who_listens(void **state)
{
    struct places *places = *state;
    static struct found list[FIND_MAX];
    size_t mine = 0;

    leave(places, places->run, "8.sock");
    listen_at(places, places->temporary, "77.sock");
    listen_at(places, places->run, "x.sock");
    size_t count = find_sockets(list, FIND_MAX, false);
    for (size_t i = 0; i < count; i++) {
        mine += strncmp(list[i].socket, places->root, strlen(places->root)) == 0;
    }
    assert_int_equal(mine, 2);
}

static void
removes_what_processes_left_that_are_gone(void **state)
{
    struct places *places = *state;
    char dead[32];

    snprintf(dead, sizeof(dead), "%ld.sock", dead_pid());
    leave(places, places->run, dead);
    leave(places, places->temporary, dead);
    find_clean(false);
    assert_false(is_there(places->run, dead));
    assert_false(is_there(places->temporary, dead));
}

static void
leaves_what_may_be_somebodys(void **state)
{
    struct places *places = *state;
    char own[32], dead[32], link[160];

    snprintf(own, sizeof(own), "%ld.sock", (long)getpid());
    leave(places, places->run, own); // a process that starts: soon it listens
    snprintf(dead, sizeof(dead), "%ld.sock", dead_pid());
    listen_at(places, places->temporary, dead); // of another PID namespace
    snprintf(link, sizeof(link), "%s/%s", places->run, dead);
    fclose(fopen(link, "w")); // no socket
    leave(places, places->run, "x.sock");
    find_clean(true);
    assert_true(is_there(places->run, own));
    assert_true(is_there(places->run, dead));
    assert_true(is_there(places->run, "x.sock"));
    assert_true(is_there(places->temporary, dead));
    assert_int_equal(unlink(link), 0);
    char target[160];
    leave(places, places->root, "target.sock");
    snprintf(target, sizeof(target), "%s/target.sock", places->root);
    assert_int_equal(symlink(target, link), 0);
    find_clean(true);
    assert_true(is_there(places->run, dead));
    assert_true(is_there(places->root, "target.sock"));
}

static void
cleans_no_folder_of_another_user(void **state)
{
    struct places *places = *state;
    char dead[32];

    if (geteuid() != 0) {
        skip();
    }
    snprintf(dead, sizeof(dead), "%ld.sock", dead_pid());
    leave(places, places->temporary, dead);
    assert_int_equal(chown(places->temporary, 12345, 12345), 0);
    find_clean(true);
    assert_true(is_there(places->temporary, dead));
}

static const struct found two[] = {
    {11, "/run/11.sock", "ruby a.rb"},
    {12, "/run/12.sock", "ruby b.rb"},
};

static const struct found *
choose(const char *answer, char **asked)
{
    size_t length;
    FILE *in = fmemopen((void *)(uintptr_t)answer, strlen(answer), "r");
    FILE *out = open_memstream(asked, &length);
    const struct found *chosen = find_choose(two, 2, in, out);

    fclose(in);
    fclose(out);
    return chosen;
}

static void
lets_a_person_choose_by_number(void **state)
{
    char *asked;

    (void)state;
    assert_ptr_equal(choose("2\n", &asked), &two[1]);
    assert_non_null(strstr(asked, "ruby a.rb"));
    assert_non_null(strstr(asked, "12"));
    free(asked);
}

static void
an_answer_that_is_no_number_of_the_list_chooses_nothing(void **state)
{
    static const char *const answers[] = {"\n", "0\n", "3\n", "12\n", "ruby\n", "-1\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        char *asked;
        assert_null(choose(answers[i], &asked));
        free(asked);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_programs_in_both_folders_by_pid, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(passes_over_what_nobody_listens_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(passes_over_a_folder_of_another_user, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(passes_over_a_folder_that_is_a_link, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(finds_one_process_by_its_pid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            says_where_a_process_without_a_probe_was_looked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_sockets_without_asking_who_listens, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(removes_what_processes_left_that_are_gone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(leaves_what_may_be_somebodys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cleans_no_folder_of_another_user, set_up,
                                        tear_down),
        cmocka_unit_test(lets_a_person_choose_by_number),
        cmocka_unit_test(an_answer_that_is_no_number_of_the_list_chooses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
