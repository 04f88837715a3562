/*
 * Values as exports write them.
 */
#ifndef TUI_EXPORT_WORDS_H
#define TUI_EXPORT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "tui/model/model.h"

#define WORDS_TIME_BYTES 32

// ISO 8601 in UTC, "2026-01-01T00:00:00Z"; "" when it is not a time.
void words_time(char out[WORDS_TIME_BYTES], uint64_t wall_us);

// What to call a class whose name may not have come yet. Either borrowed from
// the class or written to `spare`.
const char *words_class(const struct model_class *class, char *spare, size_t capacity);

// A name that was written to memory too small for it is cut between two characters:
// half of one would be no UTF-8, and no JSON.
void words_cut(char *text, size_t capacity);

// "3.1.2" of "ruby 3.1.2".
const char *words_ruby(const char *runtime);

#endif
