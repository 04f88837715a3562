#include "tui/loop/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
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

static void
tells_when_it_began(void **state)
{
    struct timespec now;

    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    uint64_t now_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    uint64_t began_us = process_began_us(pid);
    assert_int_equal(process_parent(pid), getpid());
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    // a tick is 10 ms; the clock on the wall may have been set since the machine began
    assert_in_range(began_us, now_us - 1000000, now_us + 60000000);
    assert_true(process_began_us(getpid()) <= began_us);
    assert_int_equal(process_began_us(pid), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(we_are_alive),
        cmocka_unit_test(who_ended_is_gone_even_before_its_parent_looked),
        cmocka_unit_test(who_is_stopped_is_alive),
        cmocka_unit_test(tells_when_it_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
