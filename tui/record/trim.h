/*
 * Keeping a file's newer part: it is copied, piece by piece, to a file beside it, which
 * takes its name when the copy has caught up. Internal to tui/record/.
 */
#ifndef TUI_RECORD_TRIM_H
#define TUI_RECORD_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trim {
    int descriptor;  // owned; -1 while there is no copy
    char *part;      // owned: its path
    uint64_t from;   // of the old file, kept from here on
    uint64_t copied; // up to here
};

// Begin to copy from `from` on. False with errno set; there is no copy then.
bool trim_begin(struct trim *trim, const char *path, uint64_t from);

enum trim_status {
    TRIM_GOES_ON,
    TRIM_DONE,   // the new file has the name; `descriptor` is the caller's
    TRIM_FAILED, // errno says why; the copy is gone, the old file as it was
};

// Copy at most `bytes` more of the old file, which is `size` long.
enum trim_status trim_step(struct trim *trim, const char *path, int old, uint64_t size,
                           uint64_t bytes);

// Give up: remove the copy.
void trim_end(struct trim *trim);

#endif
