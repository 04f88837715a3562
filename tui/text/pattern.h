/*
 * Regular expressions that a person typed: extended ones of POSIX, upper and lower
 * case different. A pattern holds for a text when some part of it matches.
 */
#ifndef TUI_TEXT_PATTERN_H
#define TUI_TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

// NULL when it is none, or when memory ran out: `why` says which, terminated.
struct pattern *pattern_new(const char *text, char *why, size_t size);
void pattern_free(struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, const char *text);

#endif
