#include "tui/loop/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

// The letter after the last ')': the command before it may hold anything.
static char
state_of(long pid)
{
    char path[64];
    char line[512] = "";

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return '?';
    }
    if (!fgets(line, sizeof(line), file)) {
        line[0] = '\0';
    }
    fclose(file);
    const char *end = strrchr(line, ')');
    return end && end[1] == ' ' ? end[2] : '?';
}

bool
process_alive(long pid)
{
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
        return false;
    }
    char state = state_of(pid);
    return state != 'Z' && state != 'X';
}
