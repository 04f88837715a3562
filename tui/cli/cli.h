/*
 * The command line, as tables: one of options, one of commands.
 *
 * cli_parse() turns arguments into what is wanted, and refuses the rest in
 * words. It starts nothing and connects to nothing (find.h does that).
 */
#ifndef TUI_CLI_CLI_H
#define TUI_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

// How memtop ends. Scripts rely on these numbers.
enum cli_status {
    STATUS_DONE = 0,
    STATUS_CHECK_FAILED = 1, // a check that was asked for did not hold
    STATUS_WRONG_USE = 2,    // the command line, or a terminal that cannot show it
    STATUS_NO_PROBE = 3,     // no such process, or no probe in it
    STATUS_BROKEN = 4,       // a file or a peer is broken
};

enum cli_task {
    CLI_WATCH,   // the viewer, in a terminal
    CLI_ONCE,    // one table, or one JSON document
    CLI_PLAIN,   // a table each interval, without end
    CLI_TREE,    // the call tree of one class
    CLI_HELP,    // cli_help()
    CLI_VERSION, // cli_version()
};

struct cli {
    enum cli_task task;
    const char *topic; // of CLI_HELP: a command's name, "" for memtop itself
    char *socket;      // owned; NULL when not given
    char *theme;       // owned; NULL when not given
    char *class_name;  // owned; of CLI_TREE
    double wait_s;     // of CLI_TREE: how long stacks are taken before it prints
    long pid;          // 0 when not given
    int pin;
    int json;
    int all;
    int ascii;
    int no_mouse;
    int readonly;
};

// Read the arguments. Without a terminal the viewer becomes one table. False
// when they make no sense: `errors` has then been told why, and the status is
// STATUS_WRONG_USE. Destroy `cli` either way.
bool cli_parse(struct cli *cli, int argc, const char **argv, bool terminal, FILE *errors);
void cli_destroy(struct cli *cli);

// The help that teaches, of memtop ("") or of one command.
void cli_help(const char *topic, FILE *out);

void cli_version(FILE *out);

#endif
