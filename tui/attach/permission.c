#include "tui/attach/permission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>

// The line of a file that begins so, or its first; what follows in it.
static bool
read_line(const char *path, const char *name, char *text, size_t size)
{
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(text, (int)size, file)) {
        found = strncmp(text, name, strlen(name)) == 0;
    }
    if (file) {
        fclose(file);
    }
    if (found) {
        memmove(text, text + strlen(name), strlen(text + strlen(name)) + 1);
    }
    return found;
}

int
permission_scope(void)
{
    char text[32];
    bool there = read_line("/proc/sys/kernel/yama/ptrace_scope", "", text, sizeof(text));
    return there ? (int)strtol(text, NULL, 10) : -1;
}

bool
permission_capable(int capability)
{
    char text[256];
    return read_line("/proc/self/status", "CapEff:", text, sizeof(text)) &&
           (strtoull(text, NULL, 16) >> capability & 1) != 0;
}

void
permission_explain(const struct facts *facts, char *words, size_t size)
{
    char user[64];
    int scope = permission_scope();
    facts_user(facts->user, user, sizeof(user));
    if (geteuid() == 0 || permission_capable(CAP_SYS_PTRACE)) {
        snprintf(words, size,
                 "the system does not let memtop debug process %ld%s.\n"
                 "%s",
                 facts->pid, geteuid() == 0 ? ", not even as root" : "",
                 scope == 3 ? "kernel.yama.ptrace_scope is 3, for good until a reboot: "
                              "start the program with the probe: ruby -r memtop/auto "
                              "app.rb"
                            : "In a container, it wants the capability SYS_PTRACE: "
                              "docker run --cap-add SYS_PTRACE");
        return;
    }
    if (facts->user != geteuid()) {
        snprintf(words, size,
                 "process %ld belongs to %s.\n"
                 "Be that user, or root: sudo memtop attach %ld",
                 facts->pid, user, facts->pid);
        return;
    }
    if (scope == 3) {
        snprintf(
            words, size,
            "this system lets nobody debug a process (kernel.yama.ptrace_scope is 3, "
            "until a reboot).\n"
            "Start the program with the probe in it: ruby -r memtop/auto app.rb");
        return;
    }
    if (scope > 0) {
        snprintf(words, size,
                 "this system lets nobody but root debug a process that runs "
                 "(kernel.yama.ptrace_scope is %d).\n"
                 "Attach as root: sudo memtop attach %ld",
                 scope, facts->pid);
        return;
    }
    snprintf(words, size,
             "the system does not let memtop debug process %ld: it has changed its user, "
             "or has forbidden it (prctl PR_SET_DUMPABLE), or this container lacks the "
             "capability SYS_PTRACE.\n"
             "Attach as root: sudo memtop attach %ld",
             facts->pid, facts->pid);
}
