/*
 * What changed between two models, as text that people read and as JSON. What an exit
 * status says of it is for the caller.
 */
#ifndef TUI_EXPORT_DIFF_H
#define TUI_EXPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/model/diff.h"

struct diff_choice {
    bool all;     // internal types as well
    size_t top;   // classes of each section, 0 for all
    size_t paths; // changed call paths of each class, 0 for all
};

// Text: what was compared, totals, then classes added, grown, shrunk and gone, the
// largest change first, and the call paths of those that are more now. False when
// memory ran out or the stream refused; errno says which.
bool diff_write_text(const struct diff *diff, struct diff_choice choice, FILE *out);

// JSON, likewise. Its names are a promise: members may be added, none renamed.
//
// {"before", "after": {"pid", "command", "ruby", "started", "time", "gc_count"}
//  "same_process": one process, as far as both said who they are
//  "seconds":      from one to the other, null when that is unknown or negative
//  "totals":       {"before", "after", "change"} as of a class
//  "kinds":        how many classes are "added", "grown", "shrunk", "gone",
//                  "unchanged" and "unknown"
//  "left_out":     classes that changed and are beyond `top` of their kind
//  "classes": [{"name", "kind"
//               "before", "after": {"live", "bytes", "allocated", "classes": how many
//                                   have this name}
//               "change":          {"live", "bytes", "allocated"}
//               "internal", "anonymous"
//               "paths": as sites.h says; null when no tree is there}]}
//
// `classes` has every class that is not "unchanged". What is unknown is null.
bool diff_write_json(const struct diff *diff, struct diff_choice choice, FILE *out);

#endif
