#include "tui/model/marks.h"

#include <stdlib.h>
#include <string.h>

void
marks_init(struct marks *marks)
{
    *marks = (struct marks){.used = MODEL_MARK_NONE};
}

void
marks_destroy(struct marks *marks)
{
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        free(marks->list[i].values);
    }
    marks_init(marks);
}

bool
marks_copy(struct marks *copy, const struct marks *marks)
{
    *copy = *marks;
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        copy->list[i].values = NULL;
    }
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        const struct mark *from = &marks->list[i];
        if (!from->set) {
            continue;
        }
        size_t bytes = (2 * from->slots + 1) * sizeof *from->values;
        copy->list[i].values = malloc(bytes);
        if (copy->list[i].values == NULL) {
            marks_destroy(copy);
            return false;
        }
        memcpy(copy->list[i].values, from->values, bytes);
    }
    return true;
}

bool
marks_set(struct marks *marks, int mark, const struct classes *classes,
          const struct model_mark *at)
{
    size_t slots = classes->slot_count;
    uint64_t *values = calloc(2 * slots + 1, sizeof *values);
    if (values == NULL) {
        return false;
    }
    for (size_t i = 0; i < classes->count; i++) {
        const struct model_class *class = &classes->list[i]->class;
        values[class->slot] = class->now.live;
        values[slots + class->slot] = class->now.bytes;
    }
    free(marks->list[mark].values);
    marks->list[mark] = (struct mark){
        .set = true,
        .counted = at->live != COUNT_UNKNOWN,
        .at = *at,
        .serial = classes->serial,
        .slots = slots,
        .values = values,
    };
    return true;
}

bool
marks_knows(const struct mark *mark, const struct model_class *class)
{
    return class->serial <= mark->serial && class->slot < mark->slots;
}

bool
marks_goes_on(const struct mark *mark, struct stamp at)
{
    return mark->set && mark->at.at.monotonic_us == at.monotonic_us &&
           mark->at.at.wall_us == at.wall_us;
}

static void
give_value(const struct mark *mark, const struct model_class *class, uint64_t *live,
           uint64_t *bytes)
{
    bool known = marks_knows(mark, class);
    uint64_t none = mark->counted ? 0 : COUNT_UNKNOWN;
    *live = known ? mark->values[class->slot] : none;
    *bytes = known ? mark->values[mark->slots + class->slot] : none;
}

// What a class was as far as no row says it.
static void
fill(struct mark *made, const struct mark *before, const struct entry *entry, bool is_now)
{
    const struct model_class *class = &entry->class;
    uint64_t none = made->counted ? 0 : COUNT_UNKNOWN;
    uint64_t *live = &made->values[class->slot];
    uint64_t *bytes = &made->values[made->slots + class->slot];
    if (before != NULL) {
        give_value(before, class, live, bytes);
    } else if (entry->orphan && is_now) {
        *live = class->now.live;
        *bytes = class->now.bytes;
    } else {
        *live = *bytes = none;
    }
}

bool
marks_take(struct marks *marks, const struct mark_state *state,
           const struct classes *classes, struct stamp now)
{
    const struct stamp at = {state->at_monotonic_us, state->at_wall_us};
    struct mark *mark = &marks->list[state->letter];
    size_t slots = classes->slot_count;
    struct mark made = {
        .set = true,
        .counted = state->counted,
        .at = {at, state->live, state->bytes},
        .serial = classes->serial,
        .slots = slots,
        .values = calloc(2 * slots + 1, sizeof *made.values),
    };
    if (made.values == NULL) {
        return false;
    }
    const struct mark *before = marks_goes_on(mark, at) ? mark : NULL;
    bool is_now = at.monotonic_us == now.monotonic_us && at.wall_us == now.wall_us;
    for (size_t i = 0; i < classes->count; i++) {
        fill(&made, before, classes->list[i], is_now);
    }
    for (size_t i = 0; i < state->row_count; i++) {
        const struct entry *entry = classes_find(classes, state->rows[i].id);
        if (entry != NULL) {
            made.values[entry->class.slot] = state->rows[i].live;
            made.values[slots + entry->class.slot] = state->rows[i].bytes;
        }
    }
    free(mark->values);
    *mark = made;
    return true;
}

void
marks_baseline(const struct marks *marks, struct entry *entry)
{
    struct model_class *class = &entry->class;
    if (marks->used == MODEL_MARK_NONE) {
        class->baseline = entry->first_live;
        class->baseline_bytes = entry->first_bytes;
        return;
    }
    give_value(&marks->list[marks->used], class, &class->baseline,
               &class->baseline_bytes);
}
