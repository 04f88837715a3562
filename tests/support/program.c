#include "support/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/memtop-test-XXXXXX";
static bool folder_made;

static void
die(const char *what)
{
    fprintf(stderr, "program: %s: %s\n", what, strerror(errno));
    abort();
}

static void
change_environment(const char *const *environment)
{
    for (; environment && *environment; environment++) {
        if (strchr(*environment, '=')) {
            putenv(strdup(*environment));
        } else {
            unsetenv(*environment);
        }
    }
}

static pid_t
spawn(const char *const *arguments, const char *const *environment, int in, int out,
      int err)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(127);
        }
        dup2(in, STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        change_environment(environment);
        execvp(arguments[0], (char *const *)arguments);
        fprintf(stderr, "cannot run %s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    if (pid < 0) {
        die("fork");
    }
    return pid;
}

void
program_start(struct program *program, const char *const *arguments,
              const char *const *environment)
{
    int in[2];
    int out[2];

    *program = (struct program){.pid = 0};
    signal(SIGPIPE, SIG_IGN);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        die("pipe");
    }
    program->pid = spawn(arguments, environment, in[0], out[1], STDERR_FILENO);
    close(in[0]);
    close(out[1]);
    program->in = fdopen(in[1], "w");
    program->out = fdopen(out[0], "r");
    if (!program->in || !program->out) {
        die("fdopen");
    }
}

void
program_tell(struct program *program, const char *line)
{
    fprintf(program->in, "%s\n", line);
    fflush(program->in);
}

bool
program_says(struct program *program, const char *line)
{
    char heard[512];

    while (fgets(heard, sizeof(heard), program->out)) {
        if (strncmp(heard, line, strlen(line)) == 0) {
            return true;
        }
    }
    fprintf(stderr, "the program ended without saying: %s\n", line);
    return false;
}

static void
close_pipes(struct program *program)
{
    if (program->in) {
        fclose(program->in);
        fclose(program->out);
        program->in = NULL;
    }
}

int
program_wait(struct program *program)
{
    if (!program->ended && program->pid > 0) {
        waitpid(program->pid, &program->status, 0);
        program->ended = true;
    }
    return program->status;
}

void
program_kill(struct program *program)
{
    if (program->pid > 0 && !program->ended) {
        kill(program->pid, SIGKILL);
        program_wait(program);
    }
    close_pipes(program);
}

static char *
read_all(FILE *file)
{
    size_t capacity = 4096;
    size_t length = 0;
    char *text = malloc(capacity);

    rewind(file);
    while (text) {
        length += fread(text + length, 1, capacity - length - 1, file);
        if (length + 1 < capacity) {
            break;
        }
        capacity *= 2;
        text = realloc(text, capacity);
    }
    if (!text) {
        die("memory");
    }
    text[length] = '\0';
    fclose(file);
    return text;
}

struct outcome
program_run(const char *const *arguments, const char *const *environment)
{
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int status;

    if (!out || !err || nothing < 0) {
        die("tmpfile");
    }
    fcntl(fileno(out), F_SETFD, FD_CLOEXEC);
    fcntl(fileno(err), F_SETFD, FD_CLOEXEC);
    pid_t pid = spawn(arguments, environment, nothing, fileno(out), fileno(err));
    close(nothing);
    waitpid(pid, &status, 0);
    return (struct outcome){
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
        read_all(out),
        read_all(err),
    };
}

void
outcome_destroy(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
    *outcome = (struct outcome){0};
}

const char *
program_folder(void)
{
    if (!folder_made) {
        if (!mkdtemp(folder)) {
            die("mkdtemp");
        }
        folder_made = true;
        atexit(program_clean);
    }
    return folder;
}

void
program_clean(void)
{
    const char *const arguments[] = {"rm", "-rf", folder, NULL};

    if (folder_made) {
        folder_made = false;
        struct outcome outcome = program_run(arguments, NULL);
        outcome_destroy(&outcome);
    }
}

const char *
program_path(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", program_folder(), name);
    return path;
}
