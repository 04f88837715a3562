/*
 * What a model can be written as, by name: `memtop export --format NAME` looks here,
 * and so does its help. A further format is a file of its own and a row of export.c.
 */
#ifndef TUI_EXPORT_EXPORT_H
#define TUI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/model/model.h"

// What a person chose. All zeroes is what most want.
struct export_options {
    bool all;   // internal types too, in formats that list classes
    bool bytes; // bytes of live objects, in formats that have one figure
};

// Write it whole, flushed. False when memory ran out or the stream refused: errno says
// which, and what was written by then is no use to anybody.
typedef bool export_writer(const struct model *model,
                           const struct export_options *options, FILE *out);

struct export_format {
    const char *name;
    const char *summary; // one line, for the help
    export_writer *write;
    bool paths;  // has nothing but call paths: see export_has_paths()
    bool binary; // no format for a terminal
};

// Formats in the order of the help; NULL after the last one.
const struct export_format *export_format_at(size_t index);

// By name, NULL when there is none.
const struct export_format *export_format_find(const char *name);

// Has any class a call tree? Without one a format that has nothing but paths writes
// a file that is right, and empty.
bool export_has_paths(const struct model *model);

#endif
