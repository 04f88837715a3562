/*
 * The configuration file: how a person wants the viewer to be.
 *
 * An INI file of settings, columns and keys. A line that makes no sense is left out and
 * told of, the others hold: a mistake in it never keeps the viewer from starting. The
 * default that config_print() writes is made from the same tables that are read by, so
 * it tells of everything there is.
 */
#ifndef TUI_CONFIG_CONFIG_H
#define TUI_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/app_choices.h"
#include "tui/term/theme.h"

#define CONFIG_PROBLEMS_MAX 16
#define CONFIG_PROBLEM_BYTES 320
#define CONFIG_PATH_BYTES 4096
#define CONFIG_KEYS_MAX 512

struct config {
    enum theme theme;
    bool ascii;
    bool mouse;
    bool readonly;
    uint64_t ring_bytes; // of what is kept to go back in
    struct app_choices choices;

    // What made no sense, each as "FILE:LINE: words". Those that had no room are
    // counted only.
    size_t problem_count;
    char problems[CONFIG_PROBLEMS_MAX][CONFIG_PROBLEM_BYTES];

    struct keymap_choice keys[CONFIG_KEYS_MAX]; // choices.keymap is these
};

// As it is without a file. The structure must not be moved afterwards.
void config_init(struct config *config);

// Read settings over those that are there; `name` is the file's, for problems.
void config_read(struct config *config, FILE *in, const char *name);

// Read the file at `path`, or where it is by itself when that is NULL, and then only
// if there is one.
void config_load(struct config *config, const char *path);

// $XDG_CONFIG_HOME/memtop/config, ~/.config/memtop/config without that; false when
// there is no home either.
bool config_path(char path[CONFIG_PATH_BYTES]);

// A file that says what is so by default, each setting commented out and explained.
bool config_print(FILE *out);

#endif
