/*
 * One value's last MODEL_HISTORY seconds, as the points at which it changed.
 *
 * There may be 50 000 of these and most never change: such a one owns no memory.
 * A point is eight bytes, a second in 16 bits and a value in 48. The seconds
 * are whole numbers from timeline.h.
 */
#ifndef TUI_MODEL_HISTORY_H
#define TUI_MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The largest value that can be kept; what is larger is kept as this.
#define HISTORY_VALUE_MAX ((UINT64_C(1) << 48) - 2)

// Starts as all zeroes; destroying it twice is harmless.
struct history {
    uint64_t *points; // owned; NULL for a value that never changed
    uint32_t changed; // second of the last point
    uint16_t count;
    uint16_t capacity;
};

void history_destroy(struct history *history);

// Room for one history_change(); false when memory ran out.
bool history_reserve(struct history *history);

// The value went from `old` to `new` in second `tick`. Room must be reserved.
void history_change(struct history *history, uint32_t tick, uint64_t old, uint64_t new);

// The `count` values up to second `tick`, oldest first, for a value that is `now`
// in the last one.
void history_read(const struct history *history, uint32_t tick, uint64_t now,
                  uint64_t *values, size_t count);

// Bytes of memory that its points take, for history_copy().
size_t history_bytes(const struct history *history);

// The same in memory that the caller holds, never to be changed or destroyed.
struct history history_copy(const struct history *history, void *memory);

#endif
