/*
 * Growth rules from the command line, and what they say of two moments: for recordings
 * (files.c) and for a command that runs (run_check.c).
 */
#ifndef TUI_JUDGE_H
#define TUI_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/cli/cli.h"
#include "tui/model/rule.h"

struct judge {
    struct rule *rules; // owned
    size_t count;
};

// Read the rules of --max-growth. False after having said what is wrong with one.
bool judge_init(struct judge *judge, char **texts);
void judge_destroy(struct judge *judge);

// Print what the rules say of the time between two models: text, or JSON. STATUS_DONE,
// or STATUS_CHECK_FAILED; STATUS_BROKEN after having said why.
enum cli_status judge_print(const struct judge *judge, const struct model *before,
                            const struct model *after, bool json, FILE *out);

// Names of the classes whose call paths a verdict would want, those that rules name
// before those that grew too much so far (`before` NULL: only the former). At most
// `capacity` names, borrowed from rules and models. Returns how many.
size_t judge_suspects(const struct judge *judge, const struct model *before,
                      const struct model *after, const char **list, size_t capacity);

// Whether any rule is about bytes; whether all name one class.
bool judge_weighs(const struct judge *judge);
bool judge_names(const struct judge *judge);

#endif
