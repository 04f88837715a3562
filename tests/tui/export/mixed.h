/*
 * A model of several classes with call trees, for what exports all of it: exact and
 * sampled, hostile names, figures that nobody knows.
 */
#ifndef TESTS_TUI_EXPORT_MIXED_H
#define TESTS_TUI_EXPORT_MIXED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/export/export.h"
#include "tui/model/model.h"

// Order: exact. 10 (before tracing), <main>:5 > Cart#add:9 100,
//   <main>:5 > block in Cart#add:12 > Hash#fetch (C) 40.
#define MIXED_ORDER 1u
#define MIXED_ORDER_LIVE 150u
// A name and frames that no format likes; sampled, bytes not known. 100 (before
// tracing), 41 samples in three places, 859 objects that went without a stack.
#define MIXED_HOSTILE 2u
#define MIXED_HOSTILE_LIVE 1000u
#define MIXED_HOSTILE_NAME "=HYPER\"LINK;x,\033[2J 12"
// String: no tree, bytes not known, no verdict. (iseq): internal. 5: no name, no count.
// Torn: a tree with paths of 20 (other) out of 50.
#define MIXED_TORN 6u
#define MIXED_TORN_LIVE 50u

struct model *mixed_model(void);

// Hello, and nothing more.
struct model *mixed_empty(void);

// What a format makes of it, terminated; the caller frees it.
char *mixed_written(const struct model *model, const char *format,
                    struct export_options options, size_t *length);
void mixed_expect(const char *format, struct export_options options, const char *wanted);

// A format says so when the disk is full, buffered or not; and when memory runs out,
// wherever it does. For programs that link tui_memory.
void mixed_expect_full(const char *format);
void mixed_expect_memory(const char *format);

#endif
