/*
 * The call paths of a class between two models, as text and as JSON: of what changed
 * most the whole way from the outermost caller to the allocating line.
 */
#ifndef TUI_EXPORT_SITES_H
#define TUI_EXPORT_SITES_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tui/model/diff_paths.h"

// Frames of a stack in JSON; of a deeper one the outermost are left out.
#define SITES_FRAMES_MAX 4096u

struct sites_choice {
    size_t top; // sites, the largest change first; 0 for all
    bool grown; // only those that are more now
};

// Rows of a tree: callers first, only what leads to the sites chosen; two frames or more
// that are not the program's own and lead to one place are one row. Every line starts
// with `indent` spaces. False when memory ran out; whether the stream took it is for the
// caller to ask.
bool sites_write(const struct diff_paths *paths, struct sites_choice choice, int indent,
                 FILE *out);

// {"measure":   "objects" or "bytes": what sites are ordered and judged by
//  "known_before", "known_after": both sides have all trees, else no change is known
//  "cut":       there were more paths than can be compared
//  "exact":     no figure is an estimate
//  "left_out":  sites that changed and are beyond those listed
//  "sites": [{"kind": "added", "grown", "shrunk", "gone", "unknown"
//             "significant": the change is outside of its interval
//             "before", "after", "change": {"live", "bytes", "allocated"
//                       "error": of live, half-width of a 95 % interval}
//             "stack": [{"label", "path", "line", "moved_from": line, null when it is
//                        the same}], the outermost caller first}]}
// What is unknown is null. NULL when memory ran out.
json_t *sites_json(const struct diff_paths *paths, struct sites_choice choice);

// A figure that may be NAN as a whole number or null.
json_t *sites_number(double value);

#endif
