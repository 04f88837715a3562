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

void
marks_baseline(const struct marks *marks, struct entry *entry)
{
    struct model_class *class = &entry->class;
    if (marks->used == MODEL_MARK_NONE) {
        class->baseline = entry->first_live;
        class->baseline_bytes = entry->first_bytes;
        return;
    }
    const struct mark *mark = &marks->list[marks->used];
    bool known = class->serial <= mark->serial && class->slot < mark->slots;
    uint64_t none = mark->counted ? 0 : COUNT_UNKNOWN;
    class->baseline = known ? mark->values[class->slot] : none;
    class->baseline_bytes = known ? mark->values[mark->slots + class->slot] : none;
}
