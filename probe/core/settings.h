/*
 * The probe's settings: from the environment, or from Memtop.start's keywords.
 *
 * A wrong value is refused in words and the default stays: it never stops the
 * program.
 */
#ifndef PROBE_CORE_SETTINGS_H
#define PROBE_CORE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "protocol/message.h"

#define SETTINGS_PATH_MAX 4096
#define SETTINGS_TRACE_MAX 4096
#define SETTINGS_FLIGHT_MAX 4096

struct settings {
    char socket[SETTINGS_PATH_MAX]; // "" for the default path
    enum probe_mode mode;
    double interval_s;
    double budget_percent;          // of one core
    unsigned depth;                 // stack frames kept
    char trace[SETTINGS_TRACE_MAX]; // names of classes, of mode trace; "" for all
    bool readonly;
    pid_t attendant;   // the process of a viewer that started us, 0 for none: attend.h
    bool attendant_gc; // it judges what is left after a collection
    char flight[SETTINGS_FLIGHT_MAX];    // rules of the flight recorder, "" for none
    char flight_file[SETTINGS_PATH_MAX]; // where it writes, "" for beside the socket
    uint64_t flight_bytes;               // that it remembers
    unsigned flight_limit;               // firings of a rule
    double flight_pause_s;               // between two firings of a rule
};

// The defaults.
void settings_init(struct settings *settings);

// Take one setting by its name without MEMTOP_, in lower case ("socket",
// "mode", ...). False when name or value is wrong: `why` then says what was
// given and what would do. Of the rules of the flight recorder those that are right
// are taken even so.
bool settings_set(struct settings *settings, const char *name, const char *value,
                  char *why, size_t why_size);

// Take every setting the environment holds; `warn` is told of each wrong one.
void settings_from_environment(struct settings *settings, void (*warn)(const char *why));

#endif
