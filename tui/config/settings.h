/*
 * The settings as a table: what each is called, what it takes, what it means.
 */
#ifndef TUI_CONFIG_SETTINGS_H
#define TUI_CONFIG_SETTINGS_H

#include "tui/config/config.h"

#define SETTINGS_WHY_BYTES 160
#define SETTINGS_VALUE_BYTES 256

struct setting {
    const char *section;
    const char *name;
    const char *explain;
    // False when the value makes no sense: `why` has then been told what would.
    bool (*set)(struct config *config, const char *value, char why[SETTINGS_WHY_BYTES]);
    void (*get)(const struct config *config, char value[SETTINGS_VALUE_BYTES]);
};

// The rows in the order of a file; NULL after the last.
const struct setting *settings_at(size_t index);

// NULL when there is none.
const struct setting *settings_find(const char *section, const char *name);

#endif
