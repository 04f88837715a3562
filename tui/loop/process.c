#include "tui/loop/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STAT_BYTES 1024
#define BEGAN_FIELD 19 // after the state

// What is after the last ')': the command before it may hold anything. "" when there
// is no such process.
static void
read_stat(long pid, char fields[STAT_BYTES])
{
    char path[64];
    char line[STAT_BYTES] = "";

    fields[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return;
    }
    if (!fgets(line, sizeof(line), file)) {
        line[0] = '\0';
    }
    fclose(file);
    const char *end = strrchr(line, ')');
    if (end && end[1] == ' ') {
        strcpy(fields, end + 2);
    }
}

static char
state_of(long pid)
{
    char fields[STAT_BYTES];

    read_stat(pid, fields);
    return *fields ? *fields : '?';
}

long
process_parent(long pid)
{
    char fields[STAT_BYTES];

    read_stat(pid, fields);
    return *fields ? strtol(fields + 1, NULL, 10) : 0;
}

// The 20th field after the command, in ticks since the machine began.
uint64_t
process_began_us(long pid)
{
    char fields[STAT_BYTES];
    struct timespec wall;
    struct timespec machine;
    char *at = fields;
    long hertz = sysconf(_SC_CLK_TCK);

    read_stat(pid, fields);
    for (int i = 0; i < BEGAN_FIELD && at; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    if (!at || hertz <= 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &machine) != 0) {
        return 0;
    }
    double began_s = (double)strtoull(at, NULL, 10) / (double)hertz;
    double ago_s = (double)machine.tv_sec + (double)machine.tv_nsec / 1e9 - began_s;
    double now_s = (double)wall.tv_sec + (double)wall.tv_nsec / 1e9;
    return began_s > 0 && now_s > ago_s ? (uint64_t)((now_s - ago_s) * 1e6) : 0;
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
