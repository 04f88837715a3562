/*
 * Everything that can be read of a model, as text, to compare two of them; what an
 * export writes of it included.
 */
#ifndef TESTS_TUI_MODEL_PORTRAIT_H
#define TESTS_TUI_MODEL_PORTRAIT_H

#include "tui/model/model.h"

// The caller frees it. With `moving` what follows from the last two minutes as well:
// history and rates. The mark in use is "since connecting" afterwards.
char *portrait(struct model *model, bool moving);

// Fail with the first line that differs.
void portrait_expect_same(struct model *one, struct model *other, bool moving,
                          const char *when);

#endif
