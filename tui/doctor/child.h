/*
 * A program that is run for what it says.
 */
#ifndef TUI_DOCTOR_CHILD_H
#define TUI_DOCTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>

// Run it and keep what it writes to both of its outputs, cut and terminated. False when
// it cannot be run, fails, or takes longer than the patience; it is killed then.
bool child_says(const char *const arguments[], char *words, size_t size, int patience_ms);

#endif
