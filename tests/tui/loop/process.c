#include "tui/loop/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void
we_are_alive(void **state)
{
    (void)state;
    assert_true(process_alive(getpid()));
    assert_true(process_alive(1));
}

static void
who_ended_is_gone_even_before_its_parent_looked(void **state)
{
    siginfo_t info;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        _exit(0);
    }
    // ended, and still in the table of processes
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_false(process_alive(pid));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(process_alive(pid));
}

static void
who_is_stopped_is_alive(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(process_alive(pid));
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(we_are_alive),
        cmocka_unit_test(who_ended_is_gone_even_before_its_parent_looked),
        cmocka_unit_test(who_is_stopped_is_alive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
