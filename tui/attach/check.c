// What is asked of the system before a process is touched.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tui/attach/attach.h"
#include "tui/attach/gdb.h"
#include "tui/attach/library.h"
#include "tui/attach/permission.h"

static enum attach_end
refuse(struct attach *attach, enum attach_end end, const char *what, const char *remedy)
{
    snprintf(attach->why, sizeof(attach->why), "%s\n%s", what, remedy);
    return end;
}

// Is it a process that runs, and not a part of one?
static enum attach_end
check_state(struct attach *attach, const struct facts *facts)
{
    char what[128];
    char remedy[160];
    if (facts->leader != facts->pid) {
        snprintf(what, sizeof(what), "%ld is a thread of process %ld.", facts->pid,
                 facts->leader);
        snprintf(remedy, sizeof(remedy), "Attach to the process: memtop attach %ld",
                 facts->leader);
        return refuse(attach, ATTACH_REFUSED, what, remedy);
    }
    if (facts->tracer) {
        snprintf(what, sizeof(what), "process %ld is being debugged by process %ld.",
                 facts->pid, facts->tracer);
        return refuse(attach, ATTACH_REFUSED, what,
                      "A process has one debugger at a time: end that one first.");
    }
    if (facts->state == 'T') {
        snprintf(what, sizeof(what), "process %ld is stopped.", facts->pid);
        snprintf(remedy, sizeof(remedy),
                 "Only a program that runs can load the probe: kill -CONT %ld",
                 facts->pid);
        return refuse(attach, ATTACH_REFUSED, what, remedy);
    }
    return ATTACH_STARTED;
}

static enum attach_end
check_place(struct attach *attach, const struct facts *facts)
{
    char what[192];
    char remedy[256];
    if (facts->here) {
        return ATTACH_STARTED;
    }
    snprintf(what, sizeof(what),
             "process %ld sees other files than memtop does: it runs in a container or a "
             "chroot.",
             facts->pid);
    snprintf(remedy, sizeof(remedy),
             "Install memtop and gdb in there, and run inside (docker exec, nsenter, "
             "chroot): memtop attach %ld",
             facts->inner_pid);
    return refuse(attach, ATTACH_REFUSED, what, remedy);
}

// The same question that the kernel asks of a debugger, without any effect.
static bool
may_trace(long pid)
{
    char ours;
    struct iovec into = {&ours, 1};
    struct iovec from = {(void *)(uintptr_t)1, 1}; // an address that nobody has
    return process_vm_readv((pid_t)pid, &into, 1, &from, 1, 0) >= 0 || errno == EFAULT;
}

static enum attach_end
check_permission(struct attach *attach, const struct facts *facts)
{
    if (may_trace(facts->pid)) {
        return ATTACH_STARTED;
    }
    permission_explain(facts, attach->why, sizeof(attach->why));
    return ATTACH_REFUSED;
}

static enum attach_end
check_ruby(struct attach *attach, const struct library *library)
{
    struct facts_ruby ruby;
    if (!facts_ruby(&ruby, attach->pid)) {
        snprintf(
            attach->why, sizeof(attach->why),
            "process %ld is not a Ruby: neither its program nor a library that it "
            "has loaded is one.\n"
            "memtop attaches to MRI; the process id of a wrapper (bundle, foreman, a "
            "shell) is not that of the Ruby it starts.",
            attach->pid);
        return ATTACH_REFUSED;
    }
    if (!ruby.queues) {
        snprintf(attach->why, sizeof(attach->why),
                 "the Ruby of process %ld (%d.%d) has no postponed jobs, by which the "
                 "probe is loaded.\n"
                 "Start the program with the probe in it: ruby -r memtop/auto app.rb",
                 attach->pid, ruby.version[0], ruby.version[1]);
        return ATTACH_REFUSED;
    }
    if (library->version[0] && (library->version[0] != ruby.version[0] ||
                                library->version[1] != ruby.version[1])) {
        snprintf(
            attach->why, sizeof(attach->why),
            "process %ld runs Ruby %d.%d, the probe in %s was built for Ruby %d.%d.\n"
            "Build it with that Ruby: cmake -S . -B build "
            "-DRUBY_EXECUTABLE=/path/to/ruby (the process uses %s)",
            attach->pid, ruby.version[0], ruby.version[1], library->folder,
            library->version[0], library->version[1], ruby.file);
        return ATTACH_REFUSED;
    }
    return ATTACH_STARTED;
}

static enum attach_end
check_tools(struct attach *attach, struct library *library)
{
    char path[PATH_MAX];
    library_find(library);
    if (!library->found || !library->injects) {
        snprintf(attach->why, sizeof(attach->why),
                 "the probe is not in %s.\n"
                 "Build it (cmake --build build), or name the folder that has memtop.rb: "
                 "MEMTOP_LIB=/path/to/lib",
                 library->folder);
        return ATTACH_BROKEN;
    }
    if (!gdb_find(path, sizeof(path))) {
        return refuse(attach, ATTACH_REFUSED,
                      "attaching takes gdb, which is not in PATH.",
                      "On Debian: sudo apt-get install gdb");
    }
    return ATTACH_STARTED;
}

enum attach_end
attach_check(struct attach *attach, struct facts *facts)
{
    struct library library;
    enum attach_end end;
    if (!facts_read(facts, attach->pid)) {
        snprintf(attach->why, sizeof(attach->why), "there is no process %ld.",
                 attach->pid);
        return ATTACH_GONE;
    }
    if ((end = check_state(attach, facts)) != ATTACH_STARTED ||
        (end = check_permission(attach, facts)) != ATTACH_STARTED ||
        (end = check_place(attach, facts)) != ATTACH_STARTED ||
        (end = check_tools(attach, &library)) != ATTACH_STARTED) {
        return end;
    }
    return check_ruby(attach, &library);
}
