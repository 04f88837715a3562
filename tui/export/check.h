/*
 * What growth rules say of a program, as text and as JSON. What the exit status is, is
 * for the caller: rule_worst() says what it stands on.
 */
#ifndef TUI_EXPORT_CHECK_H
#define TUI_EXPORT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/model/rule.h"

struct check {
    const struct diff *diff; // from the end of the warm-up to the end
    const struct rule_outcome *outcomes;
    size_t count;
    size_t culprits; // shown of each rule, 0 for all
    size_t paths;    // changed call paths of each culprit, 0 for all
};

// Text: a line for each rule, "ok", "FAILED" or "unknown"; below one that failed the
// classes that grew by more, each with where its new objects come from; last how many
// failed. False when memory ran out or the stream refused; errno says which.
bool check_write_text(const struct check *check, FILE *out);

// JSON, likewise. Its names are a promise: members may be added, none renamed.
//
// {"ok":      no rule is broken, and of none it is unknown
//  "verdict": the worst of them, "ok", "failed" or "unknown"
//  "from", "to": times, null where unknown
//  "same_process": one process, as far as both ends said who they are
//  "rules": [{"rule": as it was given, escaped
//             "verdict": "ok", "failed", "unknown"
//             "measure": "objects", "bytes"
//             "matched": classes that it speaks of, "unknown": not counted of these
//             "most": what came nearest to its limit or went furthest beyond:
//                     {"class", "before", "after", "change", "allowed"}, or null
//             "left_out": culprits beyond those listed
//             "culprits": [{"class", "before", "after", "change", "allowed"
//                           "paths": as sites.h says; null when no tree is there}]}]}
//
// `allowed` is how much more there may be, null for the culprits of a total.
bool check_write_json(const struct check *check, FILE *out);

#endif
