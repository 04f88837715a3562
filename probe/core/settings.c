#include "probe/core/settings.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/rules.h"

#define SHOWN_MAX 81 // bytes of a wrong value that are shown, and a 0
#define FLIGHT_BYTES (16u * 1024 * 1024)
#define FLIGHT_BYTES_LEAST 65536u
#define FLIGHT_BYTES_MOST (UINT64_C(64) * 1024 * 1024 * 1024)

struct setting {
    const char *name;
    const char *variable;
    const char *wants; // in words, for who gave something else
    bool (*take)(struct settings *settings, const char *value);
    // Instead, for who knows better what is wrong.
    bool (*take_or_say)(struct settings *settings, const char *value, char *why,
                        size_t why_size);
};

void
settings_init(struct settings *settings)
{
    *settings = (struct settings){.mode = MODE_COUNT,
                                  .interval_s = 1,
                                  .budget_percent = 3,
                                  .depth = 64,
                                  .flight_bytes = FLIGHT_BYTES,
                                  .flight_limit = RULES_LIMIT,
                                  .flight_pause_s = RULES_PAUSE_S};
}

static bool
parse_number(const char *value, double least, double most, double *number)
{
    char *end;
    errno = 0;
    double parsed = strtod(value, &end);
    if (end == value || *end != '\0' || errno || !isfinite(parsed) || parsed < least ||
        parsed > most) {
        return false;
    }
    *number = parsed;
    return true;
}

static bool
take_path(char path[SETTINGS_PATH_MAX], const char *value)
{
    size_t length = strlen(value);
    if (length == 0 || length >= SETTINGS_PATH_MAX) {
        return false;
    }
    memcpy(path, value, length + 1);
    return true;
}

static bool
take_socket(struct settings *settings, const char *value)
{
    return take_path(settings->socket, value);
}

static bool
take_mode(struct settings *settings, const char *value)
{
    enum probe_mode mode;
    if (!mode_parse(value, &mode)) {
        return false;
    }
    settings->mode = mode;
    return true;
}

static bool
take_interval(struct settings *settings, const char *value)
{
    return parse_number(value, 0.1, 3600, &settings->interval_s);
}

static bool
take_budget(struct settings *settings, const char *value)
{
    return parse_number(value, 0.1, 100, &settings->budget_percent);
}

static bool
parse_whole(const char *value, double least, double most, unsigned *number)
{
    double parsed;
    if (!parse_number(value, least, most, &parsed) || parsed > floor(parsed)) {
        return false;
    }
    *number = (unsigned)parsed;
    return true;
}

static bool
take_depth(struct settings *settings, const char *value)
{
    return parse_whole(value, 1, 4096, &settings->depth);
}

// What the names are names of shows when there are such classes.
static bool
take_trace(struct settings *settings, const char *value)
{
    size_t length = strlen(value);
    size_t odd = strcspn(value, "\t\r\n;'\"#()<>");
    if (length >= sizeof(settings->trace) || odd < length) {
        return false;
    }
    memcpy(settings->trace, value, length + 1);
    return true;
}

static bool
take_readonly(struct settings *settings, const char *value)
{
    static const char *const words[] = {"0", "false", "no", "1", "true", "yes"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(value, words[i]) == 0) {
            settings->readonly = i >= 3;
            return true;
        }
    }
    return false;
}

// "PID" or "PID,gc"
static bool
take_attendant(struct settings *settings, const char *value)
{
    char number[16];
    unsigned pid;
    size_t length = strcspn(value, ",");
    bool collects = strcmp(value + length, ",gc") == 0;
    if (length >= sizeof(number) || (value[length] && !collects)) {
        return false;
    }
    memcpy(number, value, length);
    number[length] = '\0';
    if (!parse_whole(number, 1, INT_MAX, &pid)) {
        return false;
    }
    settings->attendant = (pid_t)pid;
    settings->attendant_gc = collects;
    return true;
}

// Wrong rules are no rules: the others hold.
static bool
take_flight(struct settings *settings, const char *value, char *why, size_t why_size)
{
    char wrong[400];
    size_t length = strlen(value);
    if (length >= sizeof(settings->flight)) {
        snprintf(why, why_size, "MEMTOP_FLIGHT is longer than %d bytes; it is left out",
                 SETTINGS_FLIGHT_MAX - 1);
        return false;
    }
    struct rules *rules = malloc(sizeof(*rules)); // too much for a small stack
    if (!rules) {
        snprintf(why, why_size, "no memory for MEMTOP_FLIGHT; it is left out");
        return false;
    }
    memcpy(settings->flight, value, length + 1);
    bool right = rules_parse(rules, value, wrong, sizeof(wrong));
    if (!right) {
        snprintf(why, why_size, "MEMTOP_FLIGHT, %s; %s", wrong,
                 rules->count > 0 ? "the other rules hold" : "nothing is recorded");
        settings->flight[0] = rules->count > 0 ? settings->flight[0] : '\0';
    }
    free(rules);
    return right;
}

static bool
take_file(struct settings *settings, const char *value)
{
    return take_path(settings->flight_file, value);
}

static bool
take_size(struct settings *settings, const char *value)
{
    uint64_t bytes;
    if (!rules_size(value, &bytes) || bytes < FLIGHT_BYTES_LEAST ||
        bytes > FLIGHT_BYTES_MOST || bytes > SIZE_MAX) {
        return false;
    }
    settings->flight_bytes = bytes;
    return true;
}

static bool
take_limit(struct settings *settings, const char *value)
{
    return parse_whole(value, 1, 1000, &settings->flight_limit);
}

static bool
take_pause(struct settings *settings, const char *value)
{
    return parse_number(value, 0, 86400, &settings->flight_pause_s);
}

static const struct setting table[] = {
    {"socket",       "MEMTOP_SOCKET",       "a path",                                take_socket,    NULL       },
    {"mode",         "MEMTOP_MODE",         "dormant, census, count or trace",       take_mode,      NULL       },
    {"interval",     "MEMTOP_INTERVAL",     "seconds from 0.1 to 3600",              take_interval,  NULL       },
    {"budget",       "MEMTOP_BUDGET",       "percent of a core, 0.1 to 100",         take_budget,    NULL       },
    {"depth",        "MEMTOP_DEPTH",        "a number of frames from 1 to 4096",     take_depth,     NULL       },
    {"trace",        "MEMTOP_TRACE",        "names of classes, with commas between", take_trace,     NULL       },
    {"readonly",     "MEMTOP_READONLY",     "1 or 0",                                take_readonly,  NULL       },
    {"attendant",    "MEMTOP_ATTENDANT",    "a process id, with or without ,gc",     take_attendant,
     NULL                                                                                                       },
    {"flight",       "MEMTOP_FLIGHT",       "",                                      NULL,           take_flight},
    {"flight_file",  "MEMTOP_FLIGHT_FILE",  "a path",                                take_file,      NULL       },
    {"flight_size",  "MEMTOP_FLIGHT_SIZE",  "a size from 64K to 64G",                take_size,      NULL       },
    {"flight_limit", "MEMTOP_FLIGHT_LIMIT", "a number from 1 to 1000",               take_limit,     NULL       },
    {"flight_pause", "MEMTOP_FLIGHT_PAUSE", "seconds from 0 to 86400",               take_pause,     NULL       },
};

#define SETTING_COUNT (sizeof(table) / sizeof(*table))

// A warning goes to a terminal: what somebody gave must not drive it.
static void
show(char *shown, size_t size, const char *value)
{
    snprintf(shown, size, "%s", value);
    for (char *c = shown; *c; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
}

bool
settings_set(struct settings *settings, const char *name, const char *value, char *why,
             size_t why_size)
{
    char shown[SHOWN_MAX];
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(table[i].name, name) != 0) {
            continue;
        }
        if (table[i].take_or_say) {
            return table[i].take_or_say(settings, value, why, why_size);
        }
        if (table[i].take(settings, value)) {
            return true;
        }
        show(shown, sizeof(shown), value);
        snprintf(why, why_size, "%s \"%s\" is not %s; the default stays",
                 table[i].variable, shown, table[i].wants);
        return false;
    }
    show(shown, sizeof(shown), name);
    snprintf(why, why_size, "there is no setting \"%s\"", shown);
    return false;
}

void
settings_from_environment(struct settings *settings, void (*warn)(const char *why))
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *value = getenv(table[i].variable);
        char why[512];
        if (value && !settings_set(settings, table[i].name, value, why, sizeof(why))) {
            warn(why);
        }
    }
}
