/*
 * A call tree as text to read in a pipe, or as JSON.
 */
#ifndef TUI_EXPORT_TREE_H
#define TUI_EXPORT_TREE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/model/model.h"
#include "tui/model/tree.h"

// Text: callers first, the largest first, what is below 0.1 % in one row. False when
// memory ran out or it could not be written: errno says which.
bool tree_write_text(const struct model *model, const struct model_class *class,
                     const struct tree_model *tree, FILE *out);

// JSON: {"class", "live", "traced", "exact", "nodes": [{"id", "parent", …}]}, every
// node but the root, which is 0; `live` and `allocated` include what is below. Likewise.
bool tree_write_json(const struct model_class *class, const struct tree_model *tree,
                     FILE *out);

#endif
