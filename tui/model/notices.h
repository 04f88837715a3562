/*
 * The notices that stand: state by id, in the order in which they came.
 */
#ifndef TUI_MODEL_NOTICES_H
#define TUI_MODEL_NOTICES_H

#include "tui/model/model.h"

// Starts as all zeroes.
struct notices {
    struct model_notice list[MODEL_NOTICES_MAX]; // texts are owned
    size_t count;
};

void notices_destroy(struct notices *notices);

// Take a notice: new, another text for an id that stands, or its end. When there
// are too many the oldest goes. False when memory ran out; nothing changed then.
bool notices_apply(struct notices *notices, const struct notice *notice, struct stamp at);

// False when memory ran out; `copy` is then empty.
bool notices_copy(struct notices *copy, const struct notices *notices);

#endif
