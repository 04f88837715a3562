// The folder for sockets, attaching, the editor.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/capability.h>

#include "tui/attach/gdb.h"
#include "tui/attach/permission.h"
#include "tui/doctor/checks.h"
#include "tui/doctor/child.h"

#define GDB_PATIENCE_MS 20000

// Where a program of this user would put its socket.
static void
socket_folder(char *path, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *temporary = getenv("TMPDIR");
    if (runtime && *runtime && access(runtime, W_OK | X_OK) == 0) {
        snprintf(path, size, "%s/memtop", runtime);
    } else {
        snprintf(path, size, "%s/memtop-%lu",
                 temporary && *temporary ? temporary : "/tmp", (unsigned long)geteuid());
    }
}

static void
check_folder(struct doctor *doctor)
{
    char path[PATH_MAX];
    struct stat status;
    const char *wrong = NULL;
    socket_folder(path, sizeof(path));
    if ((mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &status) != 0) {
        wrong = strerror(errno);
    } else if (!S_ISDIR(status.st_mode)) {
        wrong = "it is no folder";
    } else if (status.st_uid != geteuid()) {
        wrong = "it belongs to another user";
    } else if (status.st_mode & 077) {
        wrong = "other users may enter it";
    } else if (strlen(path) + sizeof("/4194304.sock") >
               sizeof(((struct sockaddr_un *)0)->sun_path)) {
        wrong = "its name is too long for a socket in it";
    }
    struct doctor_finding *finding =
        doctor_add(doctor, "sockets", wrong ? DOCTOR_BAD : DOCTOR_GOOD);
    snprintf(finding->words, sizeof(finding->words), "%s %.*s%s%s",
             wrong ? "cannot be in" : "are in", 500, path,
             wrong ? ": " : ", which nobody else can enter", wrong ? wrong : "");
    if (wrong) {
        snprintf(
            finding->remedy, sizeof(finding->remedy),
            "Remove it or make it yours alone (chmod 700), or set MEMTOP_SOCKET to a "
            "place that is.");
    }
}

static void
check_gdb(struct doctor *doctor)
{
    char path[PATH_MAX];
    char said[1024] = "";
    bool there = gdb_find(path, sizeof(path));
    const char *const ask[] = {path, "-nx", "--version", NULL};
    bool runs = there && child_says(ask, said, sizeof(said), GDB_PATIENCE_MS);
    struct doctor_finding *finding =
        doctor_add(doctor, "gdb", runs ? DOCTOR_GOOD : DOCTOR_LACKS);
    said[strcspn(said, "\n")] = '\0';
    snprintf(finding->words, sizeof(finding->words), "%.*s", 500,
             runs    ? said
             : there ? "does not run"
                     : "is not in PATH: memtop attach takes it");
    if (!runs) {
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "On Debian: sudo apt-get install gdb");
    }
}

static void
check_permission(struct doctor *doctor)
{
    int scope = permission_scope();
    bool mighty = permission_capable(CAP_SYS_PTRACE);
    bool own = scope <= 0;
    bool good = scope < 3 && (mighty || own);
    struct doctor_finding *finding =
        doctor_add(doctor, "attaching", good ? DOCTOR_GOOD : DOCTOR_LACKS);
    if (good) {
        snprintf(finding->words, sizeof(finding->words), "is allowed to %s",
                 mighty ? "all processes" : "your own processes");
        return;
    }
    snprintf(finding->words, sizeof(finding->words),
             "is allowed to %s (kernel.yama.ptrace_scope is %d)",
             scope == 3 ? "nobody" : "root alone", scope);
    snprintf(finding->remedy, sizeof(finding->remedy), "%s",
             scope == 3 ? "It stays so until a reboot. Start programs with the probe."
             : geteuid() == 0 ? "In a container, it wants the capability SYS_PTRACE."
                              : "Attach as root: sudo memtop attach PID");
}

// Whether a command's first word can be run.
static bool
can_run(const char *command)
{
    char path[PATH_MAX];
    int length = (int)strcspn(command, " ");
    const char *folders = getenv("PATH");
    if (memchr(command, '/', (size_t)length)) {
        snprintf(path, sizeof(path), "%.*s", length, command);
        return access(path, X_OK) == 0;
    }
    while (folders && *folders) {
        size_t part = strcspn(folders, ":");
        snprintf(path, sizeof(path), "%.*s/%.*s", (int)part, folders, length, command);
        if (access(path, X_OK) == 0) {
            return true;
        }
        folders += part + (folders[part] == ':');
    }
    return false;
}

static void
check_editor(struct doctor *doctor)
{
    const char *visual = getenv("VISUAL");
    const char *editor = visual && *visual ? visual : getenv("EDITOR");
    bool set = editor && *editor;
    bool good = set && can_run(editor);
    struct doctor_finding *finding =
        doctor_add(doctor, "editor", good ? DOCTOR_GOOD : DOCTOR_LACKS);
    snprintf(finding->words, sizeof(finding->words), "%.*s%s", 300,
             set ? editor : "neither $VISUAL nor $EDITOR is set",
             good || !set ? "" : " cannot be run");
    if (!good) {
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "`o` opens a line of source in it, such as: export EDITOR=vi");
    }
}

void
doctor_check_machine(struct doctor *doctor)
{
    check_folder(doctor);
    check_gdb(doctor);
    check_permission(doctor);
    check_editor(doctor);
}
