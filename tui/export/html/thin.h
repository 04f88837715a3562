/*
 * A line of many points drawn with few, and the same to the eye: of each stretch the
 * first and last, the least and the most.
 */
#ifndef TUI_EXPORT_HTML_THIN_H
#define TUI_EXPORT_HTML_THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thin_pick {
    size_t index;
    bool breaks; // unknown values lie between this one and the one before
};

// Choose at most `most` (4 or more) of `count` values, in order, COUNT_UNKNOWN never;
// all that are known when there are no more. Returns how many.
size_t thin(const uint64_t *values, size_t count, size_t most, struct thin_pick *picks);

#endif
