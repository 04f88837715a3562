/*
 * Trees for what exports them, in models of one class, and what is written of them.
 */
#ifndef TESTS_TUI_EXPORT_TREES_H
#define TESTS_TUI_EXPORT_TREES_H

#include <jansson.h>

#include "tests/tui/model/forest.h"

#define SINCE (90 * SECOND)

// The shop's tree under a head such as a probe sends it; one that is exact.
struct model *trees_shop(struct tree head);
struct model *trees_exact(void);

// Two frames of a class of 1000, sampled one of eight; 100 objects are older.
struct model *trees_sampled(void);

// A class whose objects come from one frame, which is called so.
struct model *trees_single(uint64_t live, const char *label, const char *path);

const struct model_class *trees_class(const struct model *model);

// What is written of the class's tree; the caller frees it.
char *trees_text(const struct model *model);
void trees_expect_text(const struct model *model, const char *wanted);
void trees_expect_words(const struct model *model, const char *words);

// The same as JSON, read again; its first node of that label; a whole number in it.
json_t *trees_document(const struct model *model);
const json_t *trees_node(const json_t *document, const char *label);
json_int_t trees_whole(const json_t *object, const char *name);

#endif
