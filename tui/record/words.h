/*
 * Lines for people. Internal to tui/record/.
 */
#ifndef TUI_RECORD_WORDS_H
#define TUI_RECORD_WORDS_H

#include <stdint.h>

#include "protocol/buffer.h"

// As printf(); at most a few hundred bytes. Its failure is the buffer's.
__attribute__((format(printf, 2, 3))) void words_add(struct buffer *out,
                                                     const char *format, ...);

// "2026-01-01 00:00:05", where the person is.
void words_add_time(struct buffer *out, uint64_t wall_us);

// "1 h 03 min 20 s".
void words_add_span(struct buffer *out, uint64_t us);

#endif
