/*
 * Which bytes of a tape held no sound frame. Internal to tui/record/.
 */
#ifndef TUI_RECORD_DAMAGE_H
#define TUI_RECORD_DAMAGE_H

#include "tui/record/tape.h"

struct damages {
    struct tape_damage *list; // owned; in order, none touches another
    size_t count;
    uint64_t bytes; // in all, those that are not listed included
};

void damages_destroy(struct damages *damages);

// Note what is in [from, to), which may be known already. Without memory for it, or
// above TAPE_DAMAGES_MAX, it is counted and not listed.
void damages_note(struct damages *damages, uint64_t from, uint64_t to);

#endif
