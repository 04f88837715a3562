#include "tui/doctor/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void
become(const char *const arguments[], int out)
{
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
        dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    }
    _exit(127);
}

// Until the end; false when that does not come in time.
static bool
read_all(int fd, char *words, size_t size, long long until_ms)
{
    size_t length = 0;
    char surplus[512];
    for (;;) {
        struct pollfd poll_fd = {fd, POLLIN, 0};
        long long left_ms = until_ms - now_ms();
        if (left_ms <= 0 || (poll(&poll_fd, 1, (int)left_ms) < 0 && errno != EINTR)) {
            return false;
        }
        if (!poll_fd.revents) {
            continue;
        }
        size_t room = size - 1 - length;
        ssize_t got =
            read(fd, room ? words + length : surplus, room ? room : sizeof(surplus));
        if (got <= 0) {
            return got == 0;
        }
        length += room ? (size_t)got : 0;
        words[length] = '\0';
    }
}

bool
child_says(const char *const arguments[], char *words, size_t size, int patience_ms)
{
    int ends[2];
    int status = -1;
    *words = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become(arguments, ends[1]);
    }
    close(ends[1]);
    bool whole = pid > 0 && read_all(ends[0], words, size, now_ms() + patience_ms);
    close(ends[0]);
    if (pid > 0) {
        if (!whole) {
            kill(pid, SIGKILL);
        }
        waitpid(pid, &status, 0);
    }
    return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
