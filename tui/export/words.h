/*
 * Values as exports write them.
 */
#ifndef TUI_EXPORT_WORDS_H
#define TUI_EXPORT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "tui/model/model.h"
#include "tui/model/tree.h"

#define WORDS_TIME_BYTES 32
#define WORDS_LABEL_BYTES 4096
#define WORDS_NUMBER_BYTES 24

struct diff_class;

// Digits, written to `out`; "-" stands for what nobody measured.
const char *words_number(char out[WORDS_NUMBER_BYTES], uint64_t value);

// ISO 8601 in UTC, "2026-01-01T00:00:00Z"; "" when it is not a time.
void words_time(char out[WORDS_TIME_BYTES], uint64_t wall_us);

// What to call a class whose name may not have come yet. Either borrowed from
// the class or written to `spare`.
const char *words_class(const struct model_class *class, char *spare, size_t capacity);

// The same of a row of a diff, where ids say nothing.
const char *words_diff_class(const struct diff_class *class);

// The program's command line, "" when it is not known.
const char *words_command(const struct model *model);

// A node's label (tree_label). One that does not fit is cut between two characters.
void words_label(char out[WORDS_LABEL_BYTES], const struct tree_model *tree,
                 uint32_t node);

// Cut a text that fills `capacity` between two characters: half of one would be no
// UTF-8, and no JSON.
void words_cut(char *text, size_t capacity);

// "3.1.2" of "ruby 3.1.2".
const char *words_ruby(const char *runtime);

#endif
