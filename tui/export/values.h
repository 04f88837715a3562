/*
 * Values as JSON has them. Each is new, or NULL when memory ran out: "o" of
 * json_pack takes one over and makes the whole NULL if it is.
 */
#ifndef TUI_EXPORT_VALUES_H
#define TUI_EXPORT_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "tui/model/model.h"

// null for what nobody measured, and for what no measurement could be.
json_t *value_count(uint64_t value);
json_t *value_whole(double value); // rounded
json_t *value_time(uint64_t wall_us);

// What the table says of a class: {"name", "live", "allocated", "freed", "bytes",
// "verdict", "reason", "internal", "anonymous"}.
json_t *value_class(const struct model_class *class);

// Write a value, which is taken over, and end the line. False when it is NULL, memory
// ran out or the stream refused; errno says which.
bool value_write(json_t *value, size_t flags, FILE *out);

#endif
