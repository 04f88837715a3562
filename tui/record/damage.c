#include "tui/record/damage.h"

#include <stdlib.h>
#include <string.h>

void
damages_destroy(struct damages *damages)
{
    free(damages->list);
    *damages = (struct damages){0};
}

// Remove the ranges that [*from, *to) touches, of which it becomes the hull.
static size_t
swallow(struct damages *damages, uint64_t *from, uint64_t *to)
{
    size_t begin = 0;
    while (begin < damages->count && damages->list[begin].to < *from) {
        begin++;
    }
    size_t end = begin;
    for (; end < damages->count && damages->list[end].from <= *to; end++) {
        const struct tape_damage *one = &damages->list[end];
        *from = one->from < *from ? one->from : *from;
        *to = one->to > *to ? one->to : *to;
        damages->bytes -= one->to - one->from;
    }
    if (end > begin) {
        memmove(&damages->list[begin], &damages->list[end],
                (damages->count - end) * sizeof *damages->list);
        damages->count -= end - begin;
    }
    return begin;
}

void
damages_note(struct damages *damages, uint64_t from, uint64_t to)
{
    if (damages->list == NULL) {
        damages->list = calloc(TAPE_DAMAGES_MAX, sizeof *damages->list);
    }
    if (damages->list == NULL) {
        damages->bytes += to - from;
        return;
    }
    size_t place = swallow(damages, &from, &to);
    damages->bytes += to - from;
    if (damages->count == TAPE_DAMAGES_MAX) {
        return;
    }
    memmove(&damages->list[place + 1], &damages->list[place],
            (damages->count - place) * sizeof *damages->list);
    damages->list[place] = (struct tape_damage){from, to};
    damages->count++;
}
