/*
 * Things that a file lists once and then calls by number: texts, frames, places.
 */
#ifndef TUI_EXPORT_INTERN_H
#define TUI_EXPORT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model/index.h"

// What makes a thing itself; "" and 0 for what it does not have.
struct intern_key {
    const char *text; // borrowed
    const char *file; // borrowed
    uint64_t number;
};

// Starts as all zeroes; destroying it twice is harmless.
struct intern {
    struct index index;
    struct intern_key *keys; // owned, and so are their texts
    uint32_t count;
    uint32_t capacity;
};

void intern_destroy(struct intern *intern);

// The number of a thing: 0 for the first, then 1, and so on; a new one gets what was
// `count`. False when memory ran out.
bool intern_find(struct intern *intern, struct intern_key key, uint32_t *number);

#endif
