#include "probe/core/settings.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 81 // bytes of a wrong value that are shown, and a 0

struct setting {
    const char *name;
    const char *variable;
    const char *wants; // in words, for who gave something else
    bool (*take)(struct settings *settings, const char *value);
};

void
settings_init(struct settings *settings)
{
    *settings = (struct settings){
        .mode = MODE_COUNT, .interval_s = 1, .budget_percent = 3, .depth = 64};
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
take_socket(struct settings *settings, const char *value)
{
    size_t length = strlen(value);
    if (length == 0 || length >= sizeof(settings->socket)) {
        return false;
    }
    memcpy(settings->socket, value, length + 1);
    return true;
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
take_depth(struct settings *settings, const char *value)
{
    double depth;
    if (!parse_number(value, 1, 4096, &depth) || depth > floor(depth)) {
        return false;
    }
    settings->depth = (unsigned)depth;
    return true;
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

static const struct setting table[] = {
    {"socket",   "MEMTOP_SOCKET",   "a path",                                take_socket  },
    {"mode",     "MEMTOP_MODE",     "dormant, census, count or trace",       take_mode    },
    {"interval", "MEMTOP_INTERVAL", "seconds from 0.1 to 3600",              take_interval},
    {"budget",   "MEMTOP_BUDGET",   "percent of a core, 0.1 to 100",         take_budget  },
    {"depth",    "MEMTOP_DEPTH",    "a number of frames from 1 to 4096",     take_depth   },
    {"trace",    "MEMTOP_TRACE",    "names of classes, with commas between", take_trace   },
    {"readonly", "MEMTOP_READONLY", "1 or 0",                                take_readonly},
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
        char why[256];
        if (value && !settings_set(settings, table[i].name, value, why, sizeof(why))) {
            warn(why);
        }
    }
}
