#include "tui/model/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/model.h"

// One point a second of the window, the value before it, and the one to come.
#define POINTS_MAX (MODEL_HISTORY + 2)
#define POINTS_MIN 4

#define VALUE_BITS 48
#define VALUE_UNKNOWN ((UINT64_C(1) << VALUE_BITS) - 1)

static uint64_t
point(uint32_t tick, uint64_t value)
{
    if (value == COUNT_UNKNOWN) {
        value = VALUE_UNKNOWN;
    } else if (value > HISTORY_VALUE_MAX) {
        value = HISTORY_VALUE_MAX;
    }
    return (uint64_t)(tick & 0xffff) << VALUE_BITS | value;
}

static uint64_t
value_of(uint64_t point)
{
    uint64_t value = point & VALUE_UNKNOWN;
    return value == VALUE_UNKNOWN ? COUNT_UNKNOWN : value;
}

// Seconds from a point to `tick`; what prune() leaves is never as old as 16 bits.
static uint32_t
age(uint64_t point, uint32_t tick)
{
    return (uint16_t)(tick - (uint32_t)(point >> VALUE_BITS));
}

void
history_destroy(struct history *history)
{
    free(history->points);
    *history = (struct history){0};
}

bool
history_reserve(struct history *history)
{
    int wanted = history->count + 2; // the first change adds two points
    if (wanted <= history->capacity || history->capacity == POINTS_MAX) {
        return true;
    }
    int capacity = history->capacity != 0 ? history->capacity * 2 : POINTS_MIN;
    if (capacity > POINTS_MAX) {
        capacity = POINTS_MAX;
    }
    uint64_t *points = realloc(history->points, (size_t)capacity * sizeof *points);
    if (points == NULL) {
        return false;
    }
    history->points = points;
    history->capacity = (uint16_t)capacity;
    return true;
}

// Forget points that no second of the window needs. The first one left stands for
// all time before the second, which came less than a window after it: no point is
// ever older than two windows.
static void
prune(struct history *history, uint32_t tick)
{
    int drop = 0;
    while (drop + 1 < history->count &&
           age(history->points[drop + 1], tick) >= MODEL_HISTORY) {
        drop++;
    }
    history->count = (uint16_t)(history->count - drop);
    memmove(history->points, history->points + drop,
            history->count * sizeof *history->points);
}

void
history_change(struct history *history, uint32_t tick, uint64_t old, uint64_t new)
{
    if (history->count == 0 || tick - history->changed >= MODEL_HISTORY) {
        assert(history->capacity >= 2);
        history->points[0] = point(tick - MODEL_HISTORY, old);
        history->count = 1;
    } else {
        prune(history, tick);
    }
    history->changed = tick;
    if (age(history->points[history->count - 1], tick) == 0) {
        history->count--;
    }
    assert(history->count < history->capacity);
    history->points[history->count++] = point(tick, new);
}

void
history_read(const struct history *history, uint32_t tick, uint64_t now, uint64_t *values,
             size_t count)
{
    size_t left = count; // values still to be written, the newest first
    int at = tick - history->changed >= MODEL_HISTORY ? 0 : history->count;
    for (; at > 0 && left > 0; at--) {
        uint64_t from = history->points[at - 1];
        size_t oldest = age(from, tick) + 1; // values back to this point
        while (left > 0 && count - left < oldest) {
            values[--left] = value_of(from);
        }
    }
    uint64_t before =
        history->count > 0 && left < count ? value_of(history->points[0]) : now;
    while (left > 0) {
        values[--left] = before;
    }
}

size_t
history_bytes(const struct history *history)
{
    return history->count * sizeof *history->points;
}

struct history
history_copy(const struct history *history, void *memory)
{
    struct history copy = *history;
    copy.points = memory;
    copy.capacity = history->count;
    if (history->count > 0) {
        memcpy(memory, history->points, history_bytes(history));
    }
    return copy;
}
