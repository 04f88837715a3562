#include "tui/attach/facts.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tui/attach/elf.h"

#define LINE_BYTES (PATH_MAX + 256)

// What follows a name and a blank, NULL when the line has another name.
static const char *
after(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 ? line + length + strspn(line + length, "\t ")
                                            : NULL;
}

// The last of some numbers: of ids the file system's, of a process's numbers the
// innermost.
static long
last_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    while (*end == '\t' || *end == ' ') {
        number = strtol(end, &end, 10);
    }
    return number;
}

// A line of /proc/PID/status.
static void
take_line(struct facts *facts, const char *line)
{
    const char *text;
    if ((text = after(line, "State:"))) {
        facts->state = *text;
    } else if ((text = after(line, "Tgid:"))) {
        facts->leader = last_number(text);
    } else if ((text = after(line, "TracerPid:"))) {
        facts->tracer = last_number(text);
    } else if ((text = after(line, "NSpid:"))) {
        facts->inner_pid = last_number(text);
    } else if ((text = after(line, "Uid:"))) {
        facts->user = (uid_t)last_number(text);
    } else if ((text = after(line, "Gid:"))) {
        facts->group = (gid_t)last_number(text);
    }
}

static bool
same_file(long pid, const char *name, bool *known)
{
    char theirs[64];
    char ours[64];
    struct stat their_stat;
    struct stat our_stat;
    snprintf(theirs, sizeof(theirs), "/proc/%ld/%s", pid, name);
    snprintf(ours, sizeof(ours), "/proc/self/%s", name);
    *known = stat(theirs, &their_stat) == 0 && stat(ours, &our_stat) == 0;
    return *known && their_stat.st_dev == our_stat.st_dev &&
           their_stat.st_ino == our_stat.st_ino;
}

// What we may not look at is left to the question whether we may attach.
static bool
sees_our_files(long pid)
{
    bool known_space;
    bool known_root;
    bool same_space = same_file(pid, "ns/mnt", &known_space);
    bool same_root = same_file(pid, "root/.", &known_root);
    return (same_space || !known_space) && (same_root || !known_root);
}

bool
facts_read(struct facts *facts, long pid)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof(line), "/proc/%ld/status", pid);
    FILE *file = fopen(line, "re");
    *facts = (struct facts){.pid = pid, .leader = pid, .inner_pid = pid};
    if (!file) {
        return false;
    }
    while (fgets(line, sizeof(line), file)) {
        take_line(facts, line);
    }
    fclose(file);
    facts->here = sees_our_files(pid);
    return facts->state && facts->state != 'Z' && facts->state != 'X';
}

static bool
take_file(struct facts_ruby *ruby, const char *path)
{
    if (!elf_symbol(path, "ruby_api_version", ruby->version, sizeof(ruby->version))) {
        return false;
    }
    snprintf(ruby->file, sizeof(ruby->file), "%s", path);
    ruby->queues = elf_symbol(path, "rb_postponed_job_trigger", NULL, 0) ||
                   elf_symbol(path, "rb_postponed_job_register_one", NULL, 0);
    return true;
}

// Of the code that the process has mapped: files that are called like Ruby first.
static bool
take_mapped(struct facts_ruby *ruby, long pid, bool named)
{
    char line[LINE_BYTES];
    char before[LINE_BYTES] = "";
    bool found = false;
    snprintf(line, sizeof(line), "/proc/%ld/maps", pid);
    FILE *file = fopen(line, "re");
    while (file && !found && fgets(line, sizeof(line), file)) {
        char *path = strchr(line, '/');
        char rights[8] = "";
        line[strcspn(line, "\n")] = '\0';
        sscanf(line, "%*s %7s", rights);
        const char *name = path ? strrchr(path, '/') : NULL;
        if (!name || !strchr(rights, 'x') || strcmp(path, before) == 0 ||
            (strstr(name, "ruby") != NULL) != named) {
            continue;
        }
        strcpy(before, path);
        found = take_file(ruby, path);
    }
    if (file) {
        fclose(file);
    }
    return found;
}

bool
facts_ruby(struct facts_ruby *ruby, long pid)
{
    char path[64];
    *ruby = (struct facts_ruby){.file = ""};
    snprintf(path, sizeof(path), "/proc/%ld/exe", pid);
    return take_file(ruby, path) || take_mapped(ruby, pid, true) ||
           take_mapped(ruby, pid, false);
}

void
facts_user(uid_t user, char *name, size_t size)
{
    char memory[1024];
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r(user, &entry, memory, sizeof(memory), &found) == 0 && found) {
        snprintf(name, size, "%s", found->pw_name);
    } else {
        snprintf(name, size, "%lu", (unsigned long)user);
    }
}
