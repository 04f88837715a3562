/*
 * Durations and sizes as people type them: "90s", "1h20m", "256M". One parser for
 * the command line, for options and for what is typed after ':'.
 *
 * Strict: the whole text is the amount, without blanks, signs or other spellings, so
 * that a slip is refused and not taken for something else. Nothing here allocates.
 */
#ifndef TUI_TEXT_AMOUNT_H
#define TUI_TEXT_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

// The longest duration that is one: a hundred years.
#define AMOUNT_DURATION_MAX_US (UINT64_C(36525) * 86400 * 1000000)

// Largest units first, each once: "500ms", "90s", "1h20m", "1d", "1.5m". A bare number
// is seconds. False when it is none, or longer than AMOUNT_DURATION_MAX_US.
bool amount_duration(const char *text, uint64_t *us);

// Binary units, as sizes are shown: "64K", "256M", "1.5G", "2T", in either case. A bare
// number is bytes. False when it is none, or does not fit into 64 bits.
bool amount_bytes(const char *text, uint64_t *bytes);

#endif
