/*
 * Processes as a tree: each below its parent, siblings in an order that the caller says.
 */
#ifndef TUI_MODEL_KIN_H
#define TUI_MODEL_KIN_H

#include "tui/model/fleet.h"

#define KIN_DEPTH_MAX 16 // deeper ones are drawn as if they were this deep

struct kin_row {
    const struct peer *peer;
    int depth;                // 0: its parent is not known here
    bool last[KIN_DEPTH_MAX]; // by depth: it, or the ancestor there, is the last child
};

// Less than 0 when `left` comes first. Equal ones stay in the order of their pids.
typedef int kin_order(const struct peer *left, const struct peer *right, void *context);

// All processes for which `keep` holds (NULL: all), as rows. Whose parent is not among
// them stands at the root; so does one of those that say to be each other's parents.
// Returns how many.
size_t kin_rows(const struct fleet *fleet, kin_order *order,
                bool (*keep)(const struct peer *peer, void *context), void *context,
                struct kin_row rows[FLEET_MAX]);

#endif
