/*
 * Where the probe's files are, beside the program that runs, and which Ruby they
 * were built for. MEMTOP_LIB names another place.
 */
#ifndef TUI_ATTACH_LIBRARY_H
#define TUI_ATTACH_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct library {
    char folder[PATH_MAX]; // for Ruby's load path
    bool found;            // it has the probe
    bool injects;          // and what gdb loads
    int version[2];        // of the Ruby it was built for; 0 when that is not known
};

// `found` says whether there is one; `folder` then is where, else where it was looked.
void library_find(struct library *library);

#endif
