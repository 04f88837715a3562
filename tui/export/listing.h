/*
 * The classes of a model in the order of an export: most alive first, unknown
 * last, then by name.
 */
#ifndef TUI_EXPORT_LISTING_H
#define TUI_EXPORT_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/model/model.h"

struct listing {
    const struct model_class **classes; // owned; what it points to is the model's
    size_t count;
};

// Internal types are left out unless `all`, and so is what is gone or was never
// counted. False when memory ran out. Good until the model changes.
bool listing_init(struct listing *listing, const struct model *model, bool all);

// The classes that have a call tree, internal types as well. Likewise.
bool listing_traced(struct listing *listing, const struct model *model);
void listing_destroy(struct listing *listing);

// Has every class that would be listed its name?
bool listing_named(const struct model *model, bool all);

#endif
