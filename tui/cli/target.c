#include "tui/cli/target.h"

#include <stdio.h>
#include <unistd.h>

bool
target_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static enum cli_status
complain(enum cli_status status, const char *what)
{
    fprintf(stderr, "memtop: %s\n", what);
    return status;
}

// A person is asked; a script is told what to write.
static const struct found *
pick(const struct found *list, size_t count)
{
    if (count == 1) {
        return &list[0];
    }
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        const struct found *chosen = find_choose(list, count, stdin, stderr);
        if (!chosen) {
            complain(STATUS_WRONG_USE, "that is none of them.");
        }
        return chosen;
    }
    complain(STATUS_WRONG_USE,
             "several programs run under the probe; name one, as in memtop PID:");
    find_print(list, count, stderr);
    return NULL;
}

static enum cli_status
find_any(struct found *found)
{
    static struct found list[FIND_MAX];
    size_t count = find_all(list, FIND_MAX);

    if (count == 0) {
        return complain(STATUS_NO_PROBE, "no Ruby program runs under the probe here.\n"
                                         "Start one with it: ruby -r memtop/auto app.rb\n"
                                         "(or name its socket: memtop --socket PATH)");
    }
    const struct found *chosen = pick(list, count);
    if (!chosen) {
        return STATUS_WRONG_USE;
    }
    *found = *chosen;
    return STATUS_DONE;
}

static enum cli_status
find_named(long pid, struct found *found)
{
    if (!find_exists(pid)) {
        fprintf(stderr, "memtop: there is no process %ld.\n", pid);
        return STATUS_NO_PROBE;
    }
    if (!find_pid(pid, found)) {
        fprintf(stderr,
                "memtop: no probe answers in process %ld (%s).\n"
                "Start it with the probe: ruby -r memtop/auto app.rb\n"
                "(if its MEMTOP_SOCKET is set: memtop --socket PATH)\n",
                pid, found->socket);
        return STATUS_NO_PROBE;
    }
    return STATUS_DONE;
}

bool
target_open(const struct cli *cli)
{
    static struct found list[FIND_MAX];

    return !cli->socket && !cli->pid && find_all(list, FIND_MAX) > 1;
}

const char *
target_socket(const struct cli *cli, struct found *found, enum cli_status *status)
{
    if (cli->socket) {
        return cli->socket;
    }
    *status = cli->pid ? find_named(cli->pid, found) : find_any(found);
    return *status == STATUS_DONE ? found->socket : NULL;
}
