#include "tui/export/html/thin.h"

#include "protocol/message.h"

struct stretch {
    bool any;
    size_t first, last, least, most;
};

static struct stretch
look(const uint64_t *values, size_t from, size_t to)
{
    struct stretch seen = {.any = false};
    for (size_t i = from; i < to; i++) {
        if (values[i] == COUNT_UNKNOWN) {
            continue;
        }
        if (!seen.any) {
            seen = (struct stretch){true, i, i, i, i};
        }
        seen.last = i;
        seen.least = values[i] < values[seen.least] ? i : seen.least;
        seen.most = values[i] > values[seen.most] ? i : seen.most;
    }
    return seen;
}

// In order, each once.
static size_t
take(const struct stretch *seen, struct thin_pick *picks)
{
    size_t low = seen->least < seen->most ? seen->least : seen->most;
    size_t high = seen->least < seen->most ? seen->most : seen->least;
    const size_t order[] = {seen->first, low, high, seen->last};
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        if (count == 0 || order[i] > picks[count - 1].index) {
            picks[count++] = (struct thin_pick){order[i], false};
        }
    }
    return count;
}

static void
find_breaks(const uint64_t *values, struct thin_pick *picks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t at = picks[i - 1].index + 1; at < picks[i].index; at++) {
            if (values[at] == COUNT_UNKNOWN) {
                picks[i].breaks = true;
                break;
            }
        }
    }
}

size_t
thin(const uint64_t *values, size_t count, size_t most, struct thin_pick *picks)
{
    size_t stretches = count <= most ? count : most / 4;
    size_t taken = 0;
    for (size_t i = 0; i < stretches; i++) {
        size_t from = count / stretches * i + count % stretches * i / stretches;
        size_t to = count / stretches * (i + 1) + count % stretches * (i + 1) / stretches;
        struct stretch seen = look(values, from, to);
        taken += seen.any ? take(&seen, picks + taken) : 0;
    }
    find_breaks(values, picks, taken);
    return taken;
}
