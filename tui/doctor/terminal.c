// Can this terminal show the viewer, and how well?
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "tui/doctor/checks.h"

#define ROWS_LEAST 8 // as tui/app.c has it
#define COLUMNS_LEAST 40

static void
check_encoding(struct doctor *doctor)
{
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    struct doctor_finding *finding =
        doctor_add(doctor, "encoding", utf8 ? DOCTOR_GOOD : DOCTOR_LACKS);
    snprintf(finding->words, sizeof(finding->words), "%s%s", nl_langinfo(CODESET),
             utf8 ? "" : ": memtop draws with ASCII");
    if (!utf8) {
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "Lines and other letters want UTF-8, such as: export LC_ALL=C.UTF-8");
    }
}

static int
colour_count(const char *name)
{
    int error;
    if (setupterm(name, STDOUT_FILENO, &error) != OK) {
        return -1;
    }
    int colours = tigetnum("colors");
    del_curterm(cur_term);
    return colours > 0 ? colours : 0;
}

static void
check_colours(struct doctor *doctor)
{
    const char *name = getenv("TERM");
    const char *none = getenv("NO_COLOR");
    int colours = name && *name ? colour_count(name) : -1;
    bool good = colours > 0;
    struct doctor_finding *finding =
        doctor_add(doctor, "terminal", good ? DOCTOR_GOOD : DOCTOR_LACKS);
    if (colours < 0) {
        snprintf(finding->words, sizeof(finding->words),
                 "TERM is %.100s, which is not known here",
                 name && *name ? name : "not set");
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "Set it to what yours is, such as: export TERM=xterm-256color");
        return;
    }
    snprintf(finding->words, sizeof(finding->words), "%.100s, %d colours%s", name,
             colours, none && *none ? ", none used (NO_COLOR)" : "");
    if (!good) {
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "Signs stand for colours; with another TERM there would be some.");
    }
}

static void
check_size(struct doctor *doctor)
{
    struct winsize size = {0};
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    bool known = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    bool large = known && size.ws_row >= ROWS_LEAST && size.ws_col >= COLUMNS_LEAST;
    struct doctor_finding *finding =
        doctor_add(doctor, "screen", large || !terminal ? DOCTOR_GOOD : DOCTOR_LACKS);
    if (!terminal) {
        snprintf(finding->words, sizeof(finding->words),
                 "none: memtop prints a table instead");
        return;
    }
    snprintf(finding->words, sizeof(finding->words), "%d columns, %d rows", size.ws_col,
             size.ws_row);
    if (!large) {
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "memtop wants %d columns and %d rows.", COLUMNS_LEAST, ROWS_LEAST);
    }
}

void
doctor_check_terminal(struct doctor *doctor)
{
    check_encoding(doctor);
    check_colours(doctor);
    check_size(doctor);
}
