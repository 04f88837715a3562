#include "tui/model/diff.h"

#include <stdlib.h>
#include <string.h>

#include "tui/model/index.h"
#include "tui/model/tree.h"

#define KIND_FLAGS ((uint32_t)(CLASS_INTERNAL | CLASS_ANONYMOUS))

static const struct diff_counts nothing = {0, 0, 0};
static const struct diff_counts unknown = {COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN};

const char *
diff_kind_name(enum diff_kind kind)
{
    static const char *const names[DIFF_KINDS] = {
        [DIFF_ADDED] = "added", [DIFF_GROWN] = "grown",         [DIFF_SHRUNK] = "shrunk",
        [DIFF_GONE] = "gone",   [DIFF_UNCHANGED] = "unchanged", [DIFF_UNTOLD] = "unknown",
    };
    return names[kind];
}

int64_t
diff_subtract(uint64_t after, uint64_t before)
{
    if (after == COUNT_UNKNOWN || before == COUNT_UNKNOWN) {
        return DIFF_UNKNOWN;
    }
    uint64_t size = after > before ? after - before : before - after;
    int64_t change = size < INT64_MAX ? (int64_t)size : INT64_MAX;
    return after > before ? change : -change;
}

// The id of a class whose connection ended may be another's now.
const struct tree_model *
diff_tree(const struct model *model, const struct model_class *class)
{
    bool has_id = model_class_find(model, class->id) == class;
    return has_id ? model_tree(model, class->id) : NULL;
}

static uint64_t
sum(uint64_t a, uint64_t b)
{
    if (a == COUNT_UNKNOWN || b == COUNT_UNKNOWN) {
        return COUNT_UNKNOWN;
    }
    return b < COUNT_UNKNOWN - 1 - a ? a + b : COUNT_UNKNOWN - 1;
}

// Nobody adds up what a model that did not count does not list.
static bool
counted(const struct model *model)
{
    return model_sampled(model) && model_sample(model)->totals.live != COUNT_UNKNOWN;
}

static bool
same_process(const struct model *before, const struct model *after)
{
    const struct hello *one = model_hello(before);
    const struct hello *other = model_hello(after);
    return one->pid != 0 && one->pid == other->pid &&
           one->started_us == other->started_us;
}

/* One row a name. */

// The row of a class, made if need be. There is room for it.
static struct diff_class *
row_of(struct diff *diff, struct index *names, const struct model_class *class)
{
    uint32_t flags = class->flags & KIND_FLAGS;
    uint64_t hash = index_hash(INDEX_HASH ^ flags, class->name);
    size_t cursor = 0;
    for (uint32_t at; (at = index_next(names, hash, &cursor)) != INDEX_NONE;) {
        struct diff_class *row = &diff->classes[at];
        if (row->flags == flags && strcmp(row->name, class->name) == 0) {
            return row;
        }
    }
    index_put(names, hash, (uint32_t)diff->count);
    struct diff_class *row = &diff->classes[diff->count++];
    *row = (struct diff_class){.name = class->name, .flags = flags};
    return row;
}

static void
add(struct diff_counts *to, const struct class_row *from)
{
    to->live = sum(to->live, from->live);
    to->bytes = sum(to->bytes, from->bytes);
    to->allocated = sum(to->allocated, from->allocated);
}

static void
add_classes(struct diff *diff, struct index *names, const struct model *model, bool after)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (!class->listed || class->gone) {
            continue;
        }
        struct diff_class *row = row_of(diff, names, class);
        row->traced |= diff_tree(model, class) != NULL;
        add(after ? &row->after : &row->before, &class->now);
        *(after ? &row->classes_after : &row->classes_before) += 1;
    }
}

/* Differences. */

static enum diff_kind
kind_of(const struct diff_class *row)
{
    int64_t live = row->change.live;
    int64_t bytes = row->change.bytes;
    if (live == DIFF_UNKNOWN && bytes == DIFF_UNKNOWN) {
        return DIFF_UNTOLD;
    }
    int64_t change =
        live == DIFF_UNKNOWN || (live == 0 && bytes != DIFF_UNKNOWN) ? bytes : live;
    if (change == 0) {
        return DIFF_UNCHANGED;
    }
    if (row->classes_before == 0) {
        return DIFF_ADDED;
    }
    if (row->classes_after == 0) {
        return DIFF_GONE;
    }
    return change > 0 ? DIFF_GROWN : DIFF_SHRUNK;
}

static void
compare(struct diff_class *row)
{
    row->change = (struct diff_change){
        .live = diff_subtract(row->after.live, row->before.live),
        .bytes = diff_subtract(row->after.bytes, row->before.bytes),
        .allocated = diff_subtract(row->after.allocated, row->before.allocated),
    };
    row->kind = kind_of(row);
}

// An unknown change is smaller than none.
static int64_t
size_of(int64_t change)
{
    return change == DIFF_UNKNOWN ? -1 : llabs(change);
}

static int
larger_first(int64_t a, int64_t b)
{
    return (size_of(a) < size_of(b)) - (size_of(a) > size_of(b));
}

static int
by_change(const void *left, const void *right)
{
    const struct diff_class *a = left;
    const struct diff_class *b = right;
    int order = larger_first(a->change.live, b->change.live);
    order = order != 0 ? order : larger_first(a->change.bytes, b->change.bytes);
    order = order != 0 ? order : strcmp(a->name, b->name);
    return order != 0 ? order : (a->flags > b->flags) - (a->flags < b->flags);
}

static struct diff_counts
totals_of(const struct model *model, bool is_counted)
{
    const struct totals *totals = &model_sample(model)->totals;
    return is_counted
               ? (struct diff_counts){totals->live, totals->bytes, totals->allocated}
               : unknown;
}

static void
compare_all(struct diff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct diff_class *row = &diff->classes[i];
        if (row->classes_before == 0) {
            row->before = diff->counted_before ? nothing : unknown;
        }
        if (row->classes_after == 0) {
            row->after = diff->counted_after ? nothing : unknown;
        }
        compare(row);
        diff->kinds[row->kind]++;
    }
    diff->total = (struct diff_class){
        .name = "total",
        .classes_before = 1,
        .classes_after = 1,
        .before = totals_of(diff->before, diff->counted_before),
        .after = totals_of(diff->after, diff->counted_after),
    };
    compare(&diff->total);
    qsort(diff->classes, diff->count, sizeof *diff->classes, by_change);
}

bool
diff_init(struct diff *diff, const struct model *before, const struct model *after)
{
    size_t room = model_class_count(before) + model_class_count(after);
    struct index names = {0};
    *diff = (struct diff){0};
    struct diff_class *classes = calloc(room + 1, sizeof *classes);
    if (classes == NULL || !index_reserve(&names, room)) {
        free(classes);
        return false;
    }
    *diff = (struct diff){
        .before = before,
        .after = after,
        .same_process = same_process(before, after),
        .counted_before = counted(before),
        .counted_after = counted(after),
        .classes = classes,
    };
    add_classes(diff, &names, before, false);
    add_classes(diff, &names, after, true);
    index_destroy(&names);
    compare_all(diff);
    return true;
}

void
diff_destroy(struct diff *diff)
{
    free(diff->classes);
    *diff = (struct diff){0};
}
