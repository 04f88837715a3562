#include "probe/core/settings.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Stacks are not taken yet: trace is a name that this version refuses.
static bool
take_mode(struct settings *settings, const char *value)
{
    enum probe_mode mode;
    if (!mode_parse(value, &mode) || mode == MODE_TRACE) {
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
    if (!parse_number(value, 1, 4096, &depth)) {
        return false;
    }
    settings->depth = (unsigned)depth;
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
    {"socket",   "MEMTOP_SOCKET",   "a path",                            take_socket  },
    {"mode",     "MEMTOP_MODE",     "dormant, census or count",          take_mode    },
    {"interval", "MEMTOP_INTERVAL", "seconds from 0.1 to 3600",          take_interval},
    {"budget",   "MEMTOP_BUDGET",   "percent of a core, 0.1 to 100",     take_budget  },
    {"depth",    "MEMTOP_DEPTH",    "a number of frames from 1 to 4096", take_depth   },
    {"readonly", "MEMTOP_READONLY", "1 or 0",                            take_readonly},
};

#define SETTING_COUNT (sizeof(table) / sizeof(*table))

bool
settings_set(struct settings *settings, const char *name, const char *value, char *why,
             size_t why_size)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(table[i].name, name) != 0) {
            continue;
        }
        if (table[i].take(settings, value)) {
            return true;
        }
        snprintf(why, why_size, "%s \"%.80s\" is not %s; the default stays",
                 table[i].variable, value, table[i].wants);
        return false;
    }
    snprintf(why, why_size, "there is no setting \"%.80s\"", name);
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
