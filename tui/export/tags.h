/*
 * What tags have, for `memtop tags`: a plain text table, or JSON.
 */
#ifndef TUI_EXPORT_TAGS_H
#define TUI_EXPORT_TAGS_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tui/model/model.h"

// Write the tags, those that allocated most first. False when memory ran out or the
// stream refused; errno says which.
bool tags_write_text(const struct model *model, FILE *out);
bool tags_write_json(const struct model *model, FILE *out);

// The list within that JSON; NULL when memory ran out.
json_t *tags_values(const struct model *model);

#endif
