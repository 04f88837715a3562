// On a real file system, in a folder of its own that goes away with the test.
#include "probe/core/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CONNECTIONS_MAX 500 // more than any backlog here holds

static char folder[64];
static char why[256];

static int
start(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/memtop-test-XXXXXX");
    why[0] = '\0';
    return mkdtemp(folder) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static const char *
path_of(const char *name)
{
    static char path[ENDPOINT_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static mode_t
mode_of(const char *path)
{
    struct stat stat;
    assert_int_equal(lstat(path, &stat), 0);
    return stat.st_mode;
}

static int
connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Names. */

static void
the_default_is_in_the_runtime_folder(void **state)
{
    char path[ENDPOINT_PATH_MAX];
    (void)state;
    setenv("XDG_RUNTIME_DIR", "/dev/shm", 1);
    assert_true(endpoint_default_path(path, 42));
    assert_string_equal(path, "/dev/shm/memtop/42.sock");
}

static void
without_a_runtime_folder_it_is_in_the_temporary_one(void **state)
{
    char path[ENDPOINT_PATH_MAX];
    char expected[ENDPOINT_PATH_MAX];
    (void)state;
    setenv("TMPDIR", "/var/tmp", 1);
    snprintf(expected, sizeof(expected), "/var/tmp/memtop-%lu/42.sock",
             (unsigned long)geteuid());
    for (size_t i = 0; i < 2; i++) { // said to be nowhere, and said to be where none is
        setenv("XDG_RUNTIME_DIR", i == 0 ? "" : "/run/user/no-such-user", 1);
        assert_true(endpoint_default_path(path, 42));
        assert_string_equal(path, expected);
    }
    unsetenv("TMPDIR");
    unsetenv("XDG_RUNTIME_DIR");
    snprintf(expected, sizeof(expected), "/tmp/memtop-%lu/42.sock",
             (unsigned long)geteuid());
    assert_true(endpoint_default_path(path, 42));
    assert_string_equal(path, expected);
}

static void
a_default_that_is_too_long_is_refused(void **state)
{
    char path[ENDPOINT_PATH_MAX];
    char longest[200];
    (void)state;
    unsetenv("XDG_RUNTIME_DIR");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[0] = '/';
    for (size_t length = sizeof(longest) - 1; length > 1; length--) {
        longest[length] = '\0';
        setenv("TMPDIR", longest, 1);
        char rest[64];
        int rest_length =
            snprintf(rest, sizeof(rest), "/memtop-%lu/42.sock", (unsigned long)geteuid());
        bool fits = length + (size_t)rest_length < ENDPOINT_PATH_MAX;
        assert_true(endpoint_default_path(path, 42) == fits);
    }
    unsetenv("TMPDIR");
}

static void
a_child_listens_beside_its_parent(void **state)
{
    static const char *const names[][2] = {
        {"/tmp/app.sock",      "/tmp/app.7.sock"     },
        {"/tmp/app",           "/tmp/app.7"          },
        {"/tmp/app.v1/sock",   "/tmp/app.v1/sock.7"  },
        {"/tmp/app.v1/a.sock", "/tmp/app.v1/a.7.sock"},
        {"/tmp/a.b.sock",      "/tmp/a.b.7.sock"     },
        {"/tmp/.hidden",       "/tmp/.hidden.7"      },
        {"/tmp/.hidden.sock",  "/tmp/.hidden.7.sock" },
        {"/tmp/a.",            "/tmp/a.7."           },
        {"app.sock",           "app.7.sock"          },
        {"app",                "app.7"               },
        {".sock",              ".sock.7"             },
        {"./app",              "./app.7"             },
        {"../app",             "../app.7"            },
    };
    char child[ENDPOINT_PATH_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_true(endpoint_child_path(child, names[i][0], 7));
        assert_string_equal(child, names[i][1]);
    }
}

static void
a_child_whose_name_is_too_long_is_refused(void **state)
{
    char parent[ENDPOINT_PATH_MAX] = {0};
    char child[ENDPOINT_PATH_MAX];
    (void)state;
    memset(parent, 'x', ENDPOINT_PATH_MAX - 1);
    assert_false(endpoint_child_path(child, parent, 1));
    parent[ENDPOINT_PATH_MAX - 3] = '\0';
    assert_true(endpoint_child_path(child, parent, 1));
    assert_false(endpoint_child_path(child, parent, 10));
}

/* Listening. */

static void
it_listens_where_only_this_user_may_connect(void **state)
{
    (void)state;
    const char *path = path_of("a.sock");
    mode_t before = umask(0); // even when the program takes nothing away
    int fd = endpoint_listen(path, false, why, sizeof(why));
    umask(before);
    assert_true(fd >= 0);
    assert_int_equal(mode_of(path) & 07777, 0600);
    assert_true(S_ISSOCK(mode_of(path)));
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    int viewer = connect_to(path);
    assert_true(viewer >= 0);
    int accepted = accept(fd, NULL, NULL);
    assert_true(endpoint_peer_allowed(accepted));
    close(accepted);
    close(viewer);
    close(fd);
}

static void
what_is_no_socket_has_no_peer(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY);
    assert_false(endpoint_peer_allowed(fd));
    assert_false(endpoint_peer_allowed(-1));
    close(fd);
}

static void
another_users_connection_is_not_allowed(void **state)
{
    int ends[2];
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can be somebody else\n");
        skip();
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) {
        // The pair was made by root, whom everybody serves; a pair of this user
        // is not served to another.
        bool root_is_served = seteuid(65534) == 0 && endpoint_peer_allowed(ends[0]);
        int mine[2];
        bool made = socketpair(AF_UNIX, SOCK_STREAM, 0, mine) == 0;
        bool refused = made && seteuid(0) == 0 && seteuid(12345) == 0 &&
                       !endpoint_peer_allowed(mine[0]);
        _exit(root_is_served && refused ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

static void
a_socket_nobody_listens_on_is_replaced(void **state)
{
    (void)state;
    const char *path = path_of("a.sock");
    close(endpoint_listen(path, false, why, sizeof(why))); // as after a crash
    assert_true(S_ISSOCK(mode_of(path)));
    int fd = endpoint_listen(path, false, why, sizeof(why));
    assert_true(fd >= 0);
    int viewer = connect_to(path);
    assert_true(viewer >= 0);
    close(viewer);
    close(fd);
}

static void
a_socket_that_somebody_listens_on_is_left_to_him(void **state)
{
    (void)state;
    const char *path = path_of("a.sock");
    int first = endpoint_listen(path, false, why, sizeof(why));
    assert_int_equal(endpoint_listen(path, false, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "another process listens"));
    int viewer = connect_to(path);
    assert_true(viewer >= 0);
    close(viewer);
    close(first);
}

// Its backlog is full: connecting fails, yet somebody is there.
static void
a_listener_too_busy_to_answer_is_left_alone(void **state)
{
    int viewers[CONNECTIONS_MAX];
    size_t count = 0;
    (void)state;
    const char *path = path_of("a.sock");
    int first = endpoint_listen(path, false, why, sizeof(why));
    for (; count < CONNECTIONS_MAX; count++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        viewers[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(viewers[count], (struct sockaddr *)&address, sizeof(address)) != 0) {
            close(viewers[count]);
            break;
        }
    }
    assert_true(count < CONNECTIONS_MAX);
    assert_int_equal(endpoint_listen(path, false, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "another process listens"));
    while (count > 0) {
        close(viewers[--count]);
    }
    close(first);
}

static void
what_is_no_socket_is_left_alone(void **state)
{
    (void)state;
    const char *path = path_of("precious");
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(file, "data", 4), 4);
    close(file);
    assert_int_equal(endpoint_listen(path, false, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "not a socket"));
    struct stat stat;
    assert_int_equal(lstat(path, &stat), 0);
    assert_int_equal(stat.st_size, 4);

    assert_int_equal(mkdir(path_of("folder"), 0700), 0);
    assert_int_equal(endpoint_listen(path_of("folder"), false, why, sizeof(why)), -1);
    assert_true(S_ISDIR(mode_of(path_of("folder"))));
}

static void
a_symbolic_link_is_not_followed(void **state)
{
    char target[ENDPOINT_PATH_MAX];
    (void)state;
    snprintf(target, sizeof(target), "%s", path_of("stale.sock"));
    close(endpoint_listen(target, false, why, sizeof(why)));
    assert_int_equal(symlink(target, path_of("a.sock")), 0);
    assert_int_equal(endpoint_listen(path_of("a.sock"), false, why, sizeof(why)), -1);
    assert_true(S_ISLNK(mode_of(path_of("a.sock"))));
    assert_true(S_ISSOCK(mode_of(target)));

    assert_int_equal(symlink("nowhere", path_of("dangling.sock")), 0);
    assert_int_equal(endpoint_listen(path_of("dangling.sock"), false, why, sizeof(why)),
                     -1);
    assert_true(S_ISLNK(mode_of(path_of("dangling.sock"))));
}

static void
another_users_socket_is_left_alone(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can give a file away\n");
        skip();
    }
    const char *path = path_of("a.sock");
    close(endpoint_listen(path, false, why, sizeof(why)));
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(endpoint_listen(path, false, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "another user's"));
    assert_true(S_ISSOCK(mode_of(path)));
}

static void
a_path_that_is_too_long_is_refused_in_words(void **state)
{
    char path[ENDPOINT_PATH_MAX + 1];
    (void)state;
    memset(path, 'x', sizeof(path));
    path[ENDPOINT_PATH_MAX] = '\0';
    assert_int_equal(endpoint_listen(path, false, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "longer than 107 bytes"));
}

static void
a_folder_that_is_not_there_is_said(void **state)
{
    (void)state;
    assert_int_equal(endpoint_listen(path_of("no/a.sock"), false, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "No such file"));
    assert_int_equal(endpoint_listen(path_of("no/no/a.sock"), true, why, sizeof(why)),
                     -1);
    assert_non_null(strstr(why, "cannot make the folder"));
}

/* The folder of the default place. */

static void
the_folder_is_made_for_this_user_alone(void **state)
{
    (void)state;
    mode_t before = umask(0);
    int fd = endpoint_listen(path_of("memtop/1.sock"), true, why, sizeof(why));
    umask(before);
    assert_true(fd >= 0);
    assert_int_equal(mode_of(path_of("memtop")) & 07777, 0700);
    close(fd);
}

static void
a_folder_that_others_may_enter_is_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0777, 01777, 0750, 0701};
    assert_int_equal(mkdir(path_of("memtop"), 0700), 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(chmod(path_of("memtop"), modes[i]), 0);
        assert_int_equal(
            endpoint_listen(path_of("memtop/1.sock"), true, why, sizeof(why)), -1);
        assert_non_null(strstr(why, "0700"));
    }
}

static void
a_folder_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can give a folder away\n");
        skip();
    }
    assert_int_equal(mkdir(path_of("memtop"), 0700), 0);
    assert_int_equal(chown(path_of("memtop"), 65534, 65534), 0);
    assert_int_equal(endpoint_listen(path_of("memtop/1.sock"), true, why, sizeof(why)),
                     -1);
}

static void
a_link_in_the_folders_place_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", path_of("memtop")), 0);
    assert_int_equal(endpoint_listen(path_of("memtop/1.sock"), true, why, sizeof(why)),
                     -1);
    assert_int_not_equal(access(path_of("elsewhere/1.sock"), F_OK), 0);
}

/* What is left behind. */

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

// A socket file nobody listens on.
static const char *
leave_socket(const char *format, long pid)
{
    char name[40];
    snprintf(name, sizeof(name), format, pid);
    const char *path = path_of(name);
    int fd = endpoint_listen(path, false, why, sizeof(why));
    assert_true(fd >= 0);
    close(fd);
    return path;
}

static bool
is_there(const char *format, long pid)
{
    char name[40];
    struct stat stat;
    snprintf(name, sizeof(name), format, pid);
    return lstat(path_of(name), &stat) == 0;
}

static void
sweeps_away_what_dead_siblings_left(void **state)
{
    (void)state;
    long dead = dead_pid();
    leave_socket("%ld.sock", dead);
    leave_socket("app.%ld.sock", dead);
    endpoint_sweep(path_of("77.sock"));
    assert_false(is_there("%ld.sock", dead));
    assert_true(is_there("app.%ld.sock", dead));
    endpoint_sweep(path_of("app.sock"));
    assert_false(is_there("app.%ld.sock", dead));
    leave_socket("app.%ld.sock", dead);
    endpoint_sweep(path_of("app.77.sock"));
    assert_false(is_there("app.%ld.sock", dead));
}

static void
leaves_what_may_still_be_somebodys(void **state)
{
    (void)state;
    long dead = dead_pid();
    char name[40];
    leave_socket("%ld.sock", (long)getpid()); // about to listen
    leave_socket("x%ld.sock", dead);
    leave_socket("%ld.socket", dead);
    snprintf(name, sizeof(name), "%ld.sock", dead); // of another PID namespace
    int listener = endpoint_listen(path_of(name), false, why, sizeof(why));
    assert_true(listener >= 0);
    endpoint_sweep(path_of("77.sock"));
    assert_true(is_there("%ld.sock", getpid()));
    assert_true(is_there("x%ld.sock", dead));
    assert_true(is_there("%ld.socket", dead));
    assert_true(is_there("%ld.sock", dead));
    close(listener);
    assert_int_equal(unlink(path_of(name)), 0);
    close(open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); // no socket
    endpoint_sweep(path_of("77.sock"));
    assert_true(is_there("%ld.sock", dead));
}

static void
a_folder_that_is_not_there_needs_no_sweeping(void **state)
{
    (void)state;
    errno = EEXIST;
    endpoint_sweep("/nonexistent/77.sock");
    assert_int_equal(errno, EEXIST);
}

static void
a_folder_has_a_socket_for_each_process(void **state)
{
    char path[ENDPOINT_PATH_MAX];
    char name[ENDPOINT_PATH_MAX];
    (void)state;
    assert_true(endpoint_is_folder("/run/x/"));
    assert_false(endpoint_is_folder("/run/x"));
    assert_false(endpoint_is_folder(""));
    assert_true(endpoint_path_in(path, "/run/x/", 4120));
    assert_string_equal(path, "/run/x/4120.sock");
    memset(name, 'x', sizeof(name));
    name[0] = '/';
    name[sizeof(name) - 1] = '\0';
    assert_false(endpoint_path_in(path, name, 4120));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_has_a_socket_for_each_process),
        cmocka_unit_test_setup_teardown(the_default_is_in_the_runtime_folder, start, end),
        cmocka_unit_test_setup_teardown(
            without_a_runtime_folder_it_is_in_the_temporary_one, start, end),
        cmocka_unit_test_setup_teardown(a_default_that_is_too_long_is_refused, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_child_listens_beside_its_parent, start, end),
        cmocka_unit_test_setup_teardown(a_child_whose_name_is_too_long_is_refused, start,
                                        end),
        cmocka_unit_test_setup_teardown(it_listens_where_only_this_user_may_connect,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_is_no_socket_has_no_peer, start, end),
        cmocka_unit_test_setup_teardown(another_users_connection_is_not_allowed, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_socket_nobody_listens_on_is_replaced, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_socket_that_somebody_listens_on_is_left_to_him,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_listener_too_busy_to_answer_is_left_alone,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_is_no_socket_is_left_alone, start, end),
        cmocka_unit_test_setup_teardown(a_symbolic_link_is_not_followed, start, end),
        cmocka_unit_test_setup_teardown(another_users_socket_is_left_alone, start, end),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_refused_in_words,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_said, start, end),
        cmocka_unit_test_setup_teardown(the_folder_is_made_for_this_user_alone, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_folder_that_others_may_enter_is_refused, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_folder_of_another_user_is_refused, start, end),
        cmocka_unit_test_setup_teardown(a_link_in_the_folders_place_is_refused, start,
                                        end),
        cmocka_unit_test_setup_teardown(sweeps_away_what_dead_siblings_left, start, end),
        cmocka_unit_test_setup_teardown(leaves_what_may_still_be_somebodys, start, end),
        cmocka_unit_test(a_folder_that_is_not_there_needs_no_sweeping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
