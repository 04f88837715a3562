#include "tui/attach/meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tui/attach/attach.h"
#include "tui/text/text.h"

#define PROGRESS_MS 2000  // then a person is told that it takes long
#define LOADING_MS 300000 // the most that it may take then: it cannot be taken back

static long long
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void
path_of(const struct meeting *meeting, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 32, meeting->folder, name);
}

static bool
write_settings(const struct meeting *meeting, const struct attach_setting *settings,
               const struct facts *facts)
{
    char path[PATH_MAX];
    path_of(meeting, "settings", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        return false;
    }
    for (; settings && settings->name; settings++) {
        if (settings->value && !strchr(settings->value, '\n')) {
            fprintf(file, "%s=%s\n", settings->name, settings->value);
        }
    }
    bool owned = facts->user == geteuid() || fchown(fd, facts->user, facts->group) == 0;
    return fclose(file) == 0 && owned;
}

// Opened before anybody else can enter the folder.
static bool
make_pipe(struct meeting *meeting, const struct facts *facts)
{
    char path[PATH_MAX];
    path_of(meeting, "report", path);
    if (mkfifo(path, 0600) != 0) {
        return false;
    }
    meeting->pipe_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return meeting->pipe_fd >= 0 &&
           (facts->user == geteuid() ||
            (fchown(meeting->pipe_fd, facts->user, facts->group) == 0));
}

static bool
make_folder(struct meeting *meeting)
{
    const char *temporary = getenv("TMPDIR");
    int length =
        snprintf(meeting->folder, sizeof(meeting->folder) - 64, "%s/memtop-attach-XXXXXX",
                 temporary && *temporary == '/' ? temporary : "/tmp");
    if (length >= (int)sizeof(meeting->folder) - 64) {
        errno = ENAMETOOLONG;
        *meeting->folder = '\0';
        return false;
    }
    if (!mkdtemp(meeting->folder)) {
        *meeting->folder = '\0';
        return false;
    }
    return true;
}

static void
hold_signals(struct meeting *meeting)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending, &meeting->before);
    meeting->signal_fd = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool
meeting_open(struct meeting *meeting, const struct facts *facts,
             const struct attach_setting *settings)
{
    *meeting = (struct meeting){.pipe_fd = -1, .process_fd = -1, .signal_fd = -1};
    hold_signals(meeting);
    if (!make_folder(meeting) || !write_settings(meeting, settings, facts) ||
        !make_pipe(meeting, facts) ||
        (facts->user != geteuid() &&
         chown(meeting->folder, facts->user, facts->group) != 0)) {
        int error = errno;
        meeting_close(meeting);
        errno = error;
        return false;
    }
    meeting->process_fd = (int)syscall(SYS_pidfd_open, (pid_t)facts->pid, 0);
    return true;
}

void
meeting_close(struct meeting *meeting)
{
    static const char *const names[] = {"settings", "report"};
    int *const fds[] = {&meeting->pipe_fd, &meeting->process_fd, &meeting->signal_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
        }
        *fds[i] = -1;
    }
    for (size_t i = 0; *meeting->folder && i < sizeof(names) / sizeof(*names); i++) {
        char path[PATH_MAX];
        path_of(meeting, names[i], path);
        unlink(path);
    }
    if (*meeting->folder) {
        rmdir(meeting->folder);
    }
    sigprocmask(SIG_SETMASK, &meeting->before, NULL);
}

static void
take_words(struct meeting *meeting, const char *words)
{
    text_escape(meeting->words, sizeof(meeting->words), words, strlen(words));
}

static void
take_line(struct meeting *meeting)
{
    static const struct {
        const char *word;
        enum meeting_stage stage;
    } stages[] = {
        {"reached",  MEETING_REACHED},
        {"running",  MEETING_RUNNING},
        {"started ", MEETING_STARTED},
        {"already ", MEETING_ALREADY},
        {"failed ",  MEETING_FAILED },
    };
    for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
        size_t length = strlen(stages[i].word);
        if (strncmp(meeting->line, stages[i].word, length) == 0 &&
            stages[i].stage > meeting->stage) {
            meeting->stage = stages[i].stage;
            take_words(meeting, meeting->line + length);
        }
    }
}

static void
read_lines(struct meeting *meeting)
{
    char bytes[256];
    ssize_t got = read(meeting->pipe_fd, bytes, sizeof(bytes));
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] == '\n') {
            meeting->line[meeting->length] = '\0';
            meeting->length = 0;
            take_line(meeting);
        } else if (meeting->length < sizeof(meeting->line) - 1) {
            meeting->line[meeting->length++] = bytes[i];
        }
    }
}

// Wait for something to come; a pipe that nobody writes to yet, or any more, is left
// out of it for a moment.
static void
wait_once(struct meeting *meeting, int ms)
{
    struct pollfd fds[] = {
        {meeting->signal_fd,  POLLIN, 0},
        {meeting->process_fd, POLLIN, 0},
        {meeting->pipe_fd,    POLLIN, 0},
    };
    poll(fds, sizeof(fds) / sizeof(*fds), ms);
    meeting->interrupted = meeting->interrupted || fds[0].revents & POLLIN;
    if (fds[2].revents & POLLIN) {
        read_lines(meeting);
    } else if (fds[1].revents & POLLIN) {
        meeting->stage = MEETING_GONE;
    } else if (fds[2].revents & POLLHUP) {
        meeting_rest(meeting, ms < 20 ? ms : 20);
    }
}

void
meeting_rest(struct meeting *meeting, int ms)
{
    struct pollfd signals = {meeting->signal_fd, POLLIN, 0};
    if (poll(&signals, 1, ms) > 0) {
        meeting->interrupted = true;
    }
}

void
meeting_wait(struct meeting *meeting, double patience_s,
             void (*progress)(const char *words))
{
    long long began_ms = now_ms();
    long long until_ms = began_ms + (long long)(patience_s * 1000);
    bool told = false;
    while (meeting->stage < MEETING_STARTED && !meeting->interrupted) {
        long long left_ms = until_ms - now_ms();
        wait_once(meeting, left_ms > 200 ? 200 : left_ms > 0 ? (int)left_ms : 0);
        if (meeting->stage == MEETING_RUNNING && until_ms < began_ms + LOADING_MS) {
            until_ms = began_ms + LOADING_MS;
        } else if (left_ms <= 0) {
            break;
        }
        if (!told && progress && now_ms() - began_ms > PROGRESS_MS) {
            told = true;
            progress("waiting for the program to come to a point where Ruby can load the "
                     "probe …");
        }
    }
}
