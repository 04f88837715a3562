/*
 * What a model holds as one JSON document, for machines. Its names are a
 * promise to whoever reads it: members may be added, none renamed.
 */
#ifndef TUI_EXPORT_DOCUMENT_H
#define TUI_EXPORT_DOCUMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/model/model.h"

// Write it, with internal types if `all`. False when memory ran out or the
// stream refused; errno says which.
bool document_write(const struct model *model, bool all, FILE *out);

#endif
