/*
 * What a model holds as a plain text table: for people in a hurry, for pipes
 * and for screen readers. No boxes, no colours, no graphs; numbers as digits.
 */
#ifndef TUI_EXPORT_TABLE_H
#define TUI_EXPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/model/model.h"

// Write it, with internal types if `all`. False when memory ran out or the
// stream refused; errno says which.
bool table_write(const struct model *model, bool all, FILE *out);

#endif
