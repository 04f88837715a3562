#include "tui/attach/gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINES_BYTES (256u << 10) // of one line and what came behind it
#define END_PATIENCE_MS 5000

static long long
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

bool
gdb_find(char *path, size_t size)
{
    const char *folders = getenv("PATH");
    folders = folders ? folders : "/usr/bin:/bin";
    while (*folders) {
        size_t length = strcspn(folders, ":");
        int written = snprintf(path, size, "%.*s/gdb", (int)length, folders);
        if (length > 0 && written > 0 && (size_t)written < size &&
            access(path, X_OK) == 0) {
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

// In the child: no settings of anybody's, no files from the network, plain words.
static void
become_gdb(const char *path, int in, int out)
{
    static const char *const arguments[] = {
        "gdb", "-nx", "-quiet", "--interpreter=mi2", "-iex", "set auto-load off", NULL};
    int nothing = open("/dev/null", O_WRONLY);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN); // we may be gone while it is in a call
    setsid();
    unsetenv("DEBUGINFOD_URLS");
    setenv("LC_ALL", "C", 1);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        (nothing < 0 || dup2(nothing, STDERR_FILENO) >= 0)) {
        execv(path, (char *const *)(uintptr_t)arguments);
    }
    _exit(127);
}

static void
close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0) {
            close(pair[i]);
        }
    }
}

bool
gdb_start(struct gdb *gdb, const char *path, char *why, size_t why_size)
{
    int in[2] = {-1, -1};
    int out[2] = {-1, -1};
    *gdb = (struct gdb){.pid = -1, .in = -1, .out = -1, .lines = malloc(LINES_BYTES)};
    if (!gdb->lines || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        goto fail;
    }
    gdb->pid = fork();
    if (gdb->pid == 0) {
        become_gdb(path, in[0], out[1]);
    }
    if (gdb->pid < 0) {
        goto fail;
    }
    close(in[0]);
    close(out[1]);
    gdb->in = in[1];
    gdb->out = out[0];
    return true;

fail:
    snprintf(why, why_size, "cannot start %s: %s", path, strerror(errno));
    close_pair(in);
    close_pair(out);
    free(gdb->lines);
    gdb->lines = NULL;
    return false;
}

// Drop the first line.
static void
drop_line(struct gdb *gdb)
{
    const char *end = memchr(gdb->lines, '\n', gdb->length);
    size_t gone = end ? (size_t)(end - gdb->lines) + 1 : gdb->length;
    gdb->length -= gone;
    memmove(gdb->lines, gdb->lines + gone, gdb->length);
}

// The next line, terminated in place; it stays until drop_line(). What is longer than
// there is room is cut in two.
static char *
next_line(struct gdb *gdb, long long until_ms)
{
    while (gdb->length < LINES_BYTES - 1) {
        char *end = memchr(gdb->lines, '\n', gdb->length);
        long long left_ms = until_ms - now_ms();
        struct pollfd poll_fd = {gdb->out, POLLIN, 0};
        if (end) {
            return gdb->lines;
        }
        if (left_ms <= 0 || left_ms > INT_MAX ||
            (poll(&poll_fd, 1, (int)left_ms) < 0 && errno != EINTR)) {
            return NULL;
        }
        if (!(poll_fd.revents & (POLLIN | POLLHUP))) {
            continue;
        }
        ssize_t got =
            read(gdb->out, gdb->lines + gdb->length, LINES_BYTES - 1 - gdb->length);
        if (got <= 0) {
            return NULL;
        }
        gdb->length += (size_t)got;
    }
    gdb->lines[LINES_BYTES - 2] = '\n';
    return gdb->lines;
}

// What gdb puts between quotes, as it was.
static void
take_words(struct gdb *gdb, const char *text)
{
    size_t length = 0;
    const char *from = strstr(text, "msg=\"");
    from = from ? from + 5 : text;
    while (*from && *from != '"' && *from != '\n' && length < sizeof(gdb->words) - 1) {
        from += *from == '\\' && from[1] ? 1 : 0;
        gdb->words[length++] = *from == '\n' ? ' ' : *from;
        from++;
    }
    gdb->words[length] = '\0';
}

static enum gdb_answer
take_result(struct gdb *gdb, const char *result, char *answer, size_t size)
{
    if (strncmp(result, "^error", 6) == 0) {
        take_words(gdb, result);
        return GDB_REFUSED;
    }
    const char *comma = strpbrk(result, ",\n");
    size_t length = *comma == ',' ? strcspn(comma + 1, "\n") : 0;
    snprintf(answer, size, "%.*s", (int)(length < INT_MAX ? length : 0), comma + 1);
    return GDB_DONE;
}

enum gdb_answer
gdb_ask(struct gdb *gdb, const char *command, char *answer, size_t size, int patience_ms)
{
    char token[16];
    long long until_ms = now_ms() + patience_ms;
    int length = snprintf(token, sizeof(token), "%u^", ++gdb->asked);
    *answer = '\0';
    if (dprintf(gdb->in, "%u%s\n", gdb->asked, command) < 0) {
        return GDB_LOST;
    }
    const char *line;
    while ((line = next_line(gdb, until_ms))) {
        bool result = strncmp(line, token, (size_t)length) == 0;
        enum gdb_answer how =
            result ? take_result(gdb, line + length - 1, answer, size) : GDB_LOST;
        drop_line(gdb);
        if (result) {
            return how;
        }
    }
    return GDB_LOST;
}

void
gdb_end(struct gdb *gdb)
{
    char ignored[1];
    if (gdb->pid > 0) {
        gdb_ask(gdb, "-gdb-exit", ignored, sizeof(ignored), 1000);
        close(gdb->in);
        // Until it has closed its output; its own child it is not, so none is left.
        long long until_ms = now_ms() + END_PATIENCE_MS;
        while (next_line(gdb, until_ms)) {
            drop_line(gdb);
        }
        waitpid(gdb->pid, NULL, now_ms() < until_ms ? 0 : WNOHANG);
        close(gdb->out);
    }
    free(gdb->lines);
    *gdb = (struct gdb){.pid = -1, .in = -1, .out = -1};
}
