/*
 * The command line, as tables: one of options, one of commands.
 *
 * cli_parse() turns arguments into what is wanted, and refuses the rest in
 * words. It starts nothing and connects to nothing (find.h does that).
 */
#ifndef TUI_CLI_CLI_H
#define TUI_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_FILES_MAX 2

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
    CLI_ATTACH,  // only in tables: becomes one of the first three, with `attach`
    CLI_TAGS,    // what each tag has
    CLI_PS,      // all probed processes
    CLI_RECORD,  // into a file, without a screen
    CLI_REPLAY,  // a recording in the viewer, or one table of it
    CLI_VERIFY,  // whether a recording is sound
    CLI_CUT,     // a part of a recording into another
    CLI_EXPORT,  // a moment of a recording in another format
    CLI_DIFF,    // what changed between two moments
    CLI_CHECK,   // whether anything grew more than it may
    CLI_DOCTOR,  // what works on this machine
    CLI_RUN,     // a command, with the viewer on top or a table at its end
    CLI_HELP,    // cli_help()
    CLI_VERSION, // cli_version()
    CLI_CONFIG,  // print the default configuration
    CLI_TABLES,  // cli_tables()
};

struct cli {
    enum cli_task task;
    const char *topic; // of CLI_HELP: a command's name, "" for memtop itself
    char *socket;      // owned; NULL when not given
    char *theme;       // owned; NULL when not given
    char *config;      // owned; NULL when not given
    char *class_name;  // owned; of CLI_TREE
    double wait_s;     // how long CLI_TREE takes stacks and CLI_PS looks on before
                       // it prints; of `attach`: how long the program may take
    long pid;          // 0 when not given
    char *files[CLI_FILES_MAX]; // owned: recordings; NULL when not given
    char *output;               // owned; NULL when not given, as all that follow
    char *format;               // owned
    char *at;                   // owned: times, as when.h reads them
    char *from;                 // owned
    char *to;                   // owned
    char **rules;               // owned: of CLI_CHECK, ended by NULL
    const char **command;       // borrowed: of CLI_RUN and CLI_CHECK, what is behind --,
                                // ended by NULL; NULL when there is none
    char *record;               // owned: of CLI_RUN
    uint64_t duration_us;       // 0: without end
    uint64_t warmup_us;         // of CLI_CHECK
    uint64_t max_size;          // bytes; 0: no bound
    double speed;               // of CLI_REPLAY; 0: not given
    bool attach;                // the probe is put into `pid` first
    char *mode;                 // owned: settings of that probe
    char *interval;             // owned
    char *budget;               // owned
    char *depth;                // owned
    char *trace;                // owned
    int once;
    int bytes;
    int pin;
    int json;
    int merged; // the process and its children as one
    int all;
    int ascii;
    int view; // of CLI_DIFF: in the viewer
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

// The tables of commands and options for scripts/manual, which makes man pages and
// completions of them: lines of fields with tabs between.
void cli_tables(FILE *out);

#endif
