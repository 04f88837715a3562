#include "tui/view/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/view/cursor.h"
#include "tui/view/format.h"

#define CAPACITY_MIN 64
#define AHEAD 8 // classes
#define PLACE_NONE UINT32_MAX

struct rows_row {
    uint64_t key; // rows go in the order of their keys, the smallest first
    const struct model_class *class;
};

void
rows_init(struct rows *rows)
{
    *rows = (struct rows){.sort = COLUMN_LIVE, .follow = true, .stale = true};
}

void
rows_destroy(struct rows *rows)
{
    filter_destroy(&rows->filter);
    free((void *)rows->list);
    free(rows->rows);
    free(rows->scratch);
    free(rows->names);
    free(rows->places);
    free(rows->serials);
    *rows = (struct rows){0};
}

// A longer array in the place of `array`, which stays when memory runs out.
static void *
lengthen(void *array, size_t length, size_t element, bool *ok)
{
    void *longer = realloc(array, length * element);
    *ok = *ok && longer != NULL;
    return longer != NULL ? longer : array;
}

static bool
reserve_classes(struct rows *rows, size_t count)
{
    bool ok = true;
    if (count <= rows->capacity && rows->capacity > 0) {
        return true;
    }
    size_t length = count + count / 2 + CAPACITY_MIN;
    rows->list = lengthen((void *)rows->list, length, sizeof *rows->list, &ok);
    rows->rows = lengthen(rows->rows, length, sizeof *rows->rows, &ok);
    rows->scratch = lengthen(rows->scratch, length, sizeof *rows->scratch, &ok);
    rows->names = lengthen(rows->names, length, sizeof *rows->names, &ok);
    rows->capacity = ok ? length : rows->capacity;
    return ok;
}

static bool
reserve_slots(struct rows *rows, size_t slots)
{
    bool ok = true;
    if (slots <= rows->slots && rows->slots > 0) {
        return true;
    }
    size_t length = slots + slots / 2 + CAPACITY_MIN;
    rows->places = lengthen(rows->places, length, sizeof *rows->places, &ok);
    rows->serials = lengthen(rows->serials, length, sizeof *rows->serials, &ok);
    if (ok) {
        size_t more = length - rows->slots;
        memset(rows->serials + rows->slots, 0, more * sizeof *rows->serials);
        rows->slots = length;
    }
    return ok;
}

// The first eight bytes of a name as a number that orders as they do.
static uint64_t
prefix(const char *name)
{
    uint64_t key = 0;
    for (int i = 0; i < 8; i++) {
        key = key << 8 | (unsigned char)*name;
        name += *name != '\0';
    }
    return key;
}

static int
compare_names(const void *left, const void *right)
{
    const struct rows_row *a = left;
    const struct rows_row *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    int order = strcmp(a->class->name, b->class->name);
    return order != 0 ? order : a->class->serial < b->class->serial ? -1 : 1;
}

// Put all names in order. Sorting by a number keeps that order among equals.
static void
order_names(struct rows *rows, const struct model *model)
{
    size_t count = model_class_count(model);
    for (size_t i = 0; i < count; i++) {
        const struct model_class *class = model_class_at(model, i);
        rows->rows[i] = (struct rows_row){prefix(class->name), class};
    }
    qsort(rows->rows, count, sizeof *rows->rows, compare_names);
    for (size_t i = 0; i < count; i++) {
        rows->names[i] = rows->rows[i].class->slot;
    }
    rows->name_count = count;
    rows->names_version = model_names_version(model);
    rows->work.names++;
}

// A number as an integer that orders as it does; what is unknown comes last,
// whichever way the rest goes.
static uint64_t
number_key(double value, bool smallest_first)
{
    uint64_t bits;
    if (isnan(value)) {
        return UINT64_MAX;
    }
    value += 0.0; // a negative zero is a zero
    memcpy(&bits, &value, sizeof bits);
    bits = bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
    return smallest_first ? bits : ~bits;
}

// Sort by key, keeping the order of equal ones: a byte a pass, and no pass for a
// byte that all keys share.
static void
radix_sort(struct rows *rows)
{
    for (int shift = 0; shift < 64; shift += 8) {
        size_t starts[256] = {0};
        for (size_t i = 0; i < rows->count; i++) {
            starts[rows->rows[i].key >> shift & 0xff]++;
        }
        if (rows->count == 0 ||
            starts[rows->rows[0].key >> shift & 0xff] == rows->count) {
            continue;
        }
        size_t start = 0;
        for (int byte = 0; byte < 256; byte++) {
            size_t next = start + starts[byte];
            starts[byte] = start;
            start = next;
        }
        for (size_t i = 0; i < rows->count; i++) {
            rows->scratch[starts[rows->rows[i].key >> shift & 0xff]++] = rows->rows[i];
        }
        struct rows_row *sorted = rows->scratch;
        rows->scratch = rows->rows;
        rows->rows = sorted;
    }
    rows->work.sorts++;
}

static uint32_t
place_of(const struct rows *rows, const struct model_class *class)
{
    return class->slot < rows->slots && rows->serials[class->slot] == class->serial
               ? rows->places[class->slot]
               : PLACE_NONE;
}

static void
add_to_sum(struct rows *rows, double live, double delta)
{
    rows->all.count++;
    rows->all.live += isnan(live) ? 0 : live;
    rows->all.delta += isnan(delta) ? 0 : delta;
}

// True when a class is to be shown; counts why it is not. One that `stays` is not
// filtered away by its numbers: the rows below it would move.
static bool
wanted(struct rows *rows, const struct scene *scene, const struct model_class *class,
       bool stays)
{
    if (!class->listed) {
        return false;
    }
    add_to_sum(rows, format_number(class->now.live),
               columns[COLUMN_DELTA].value(scene, class));
    if ((class->flags & CLASS_INTERNAL) != 0 && !scene->internal) {
        rows->internal++;
        return false;
    }
    if (rows->filter.count > 0 && !stays) {
        rows->work.matches++;
        if (!filter_match(&rows->filter, scene, class)) {
            rows->filtered++;
            return false;
        }
    }
    return true;
}

// Classes lie all over the memory: have those that come next on their way.
static void
look_ahead(const struct rows *rows, const struct model *model, size_t index)
{
    if (index + 2 * AHEAD < rows->name_count) {
        __builtin_prefetch(model_class_in(model, rows->names[index + 2 * AHEAD]));
        __builtin_prefetch(model_class_in(model, rows->names[index + AHEAD])->name);
    }
}

// Collect what is shown, each with the key it is sorted by, in the order of names.
static void
collect(struct rows *rows, const struct scene *scene, bool frozen)
{
    double (*value)(const struct scene *, const struct model_class *) =
        columns[rows->sort].value;
    rows->count = 0;
    rows->all = (struct rows_sum){0};
    rows->internal = 0;
    rows->filtered = 0;
    bool backwards = value == NULL && rows->inverted;
    for (size_t i = 0; i < rows->name_count; i++) {
        size_t at = backwards ? rows->name_count - 1 - i : i;
        const struct model_class *class = model_class_in(scene->model, rows->names[at]);
        if (!backwards) {
            look_ahead(rows, scene->model, i);
        }
        uint32_t place = frozen ? place_of(rows, class) : PLACE_NONE;
        if (!wanted(rows, scene, class, place != PLACE_NONE)) {
            continue;
        }
        uint64_t key = frozen          ? place
                       : value == NULL ? 0
                                       : number_key(value(scene, class), rows->inverted);
        rows->rows[rows->count++] = (struct rows_row){key, class};
    }
}

static void
publish(struct rows *rows)
{
    memset(rows->serials, 0, rows->slots * sizeof *rows->serials);
    for (size_t i = 0; i < rows->count; i++) {
        const struct model_class *class = rows->rows[i].class;
        rows->list[i] = class;
        rows->places[class->slot] = (uint32_t)i;
        rows->serials[class->slot] = class->serial;
    }
}

static void
select_row(struct rows *rows)
{
    const struct model_class *class = rows_selected(rows);
    rows->selected = class != NULL ? class->serial : 0;
    rows->selected_slot = class != NULL ? class->slot : 0;
}

// The list is new: put the cursor on its class, in the same line of the screen.
static void
restore_cursor(struct rows *rows)
{
    bool there = rows->selected != 0 && rows->selected_slot < rows->slots &&
                 rows->serials[rows->selected_slot] == rows->selected;
    if (rows->held && rows->follow && there) {
        size_t line = rows->cursor - rows->top;
        rows->cursor = rows->places[rows->selected_slot];
        rows->top = rows->cursor > line ? rows->cursor - line : 0;
    }
    if (rows->cursor >= rows->count) {
        rows->cursor = rows->count > 0 ? rows->count - 1 : 0;
    }
    if (rows->top > rows->cursor) {
        rows->top = rows->cursor;
    }
    select_row(rows);
}

bool
rows_update(struct rows *rows, const struct scene *scene)
{
    const struct model *model = scene->model;
    bool frozen = scene->now_ms < rows->frozen_until_ms;
    bool thawed = rows->frozen && !frozen;
    if (!rows->stale && !thawed && rows->model == model &&
        rows->version == model_version(model)) {
        return true;
    }
    if (!reserve_classes(rows, model_class_count(model)) ||
        !reserve_slots(rows, model_slots(model))) {
        rows_forget(rows);
        return false;
    }
    if (rows->names_version != model_names_version(model)) {
        order_names(rows, model);
    }
    bool keep = frozen && !rows->stale;
    collect(rows, scene, keep);
    if (keep || columns[rows->sort].value != NULL) {
        radix_sort(rows);
    }
    publish(rows);
    restore_cursor(rows);
    rows->frozen = frozen;
    rows->stale = false;
    rows->model = model;
    rows->version = model_version(model);
    rows->work.builds++;
    return true;
}

void
rows_forget(struct rows *rows)
{
    rows->count = 0;
    rows->model = NULL;
}

void
rows_renew(struct rows *rows)
{
    rows->stale = true;
}

bool
rows_sort(struct rows *rows, enum column_id column)
{
    if (columns[column].value == NULL && column != COLUMN_NAME) {
        return false;
    }
    rows->inverted = rows->sort == column && !rows->inverted;
    rows->sort = column;
    rows_renew(rows);
    return true;
}

void
rows_invert(struct rows *rows)
{
    rows->inverted = !rows->inverted;
    rows_renew(rows);
}

void
rows_show_cursor(struct rows *rows, size_t page)
{
    rows->top = cursor_top(rows->top, rows->cursor, rows->count, page);
}

void
rows_move_to(struct rows *rows, size_t index, size_t page, uint64_t now_ms)
{
    size_t last = rows->count > 0 ? rows->count - 1 : 0;
    rows->cursor = index < last ? index : last;
    rows->held = index > 0;
    rows->frozen = true;
    rows->frozen_until_ms = now_ms + ROWS_FREEZE_MS;
    select_row(rows);
    rows_show_cursor(rows, page);
}

void
rows_move_by(struct rows *rows, long by, size_t page, uint64_t now_ms)
{
    rows_move_to(rows, cursor_moved(rows->cursor, by), page, now_ms);
    rows->held = true; // a step up to the first row means that row, not the top
}

void
rows_scroll(struct rows *rows, long by, size_t page, uint64_t now_ms)
{
    size_t last = rows->count > page ? rows->count - page : 0;
    size_t top = cursor_moved(rows->top, by);
    rows->top = top < last ? top : last;
    size_t cursor = rows->cursor;
    if (cursor < rows->top) {
        cursor = rows->top;
    } else if (page > 0 && cursor >= rows->top + page) {
        cursor = rows->top + page - 1;
    }
    top = rows->top;
    rows_move_to(rows, cursor, page, now_ms);
    rows->top = top;
    rows->held = true;
}

bool
rows_search(struct rows *rows, const struct scene *scene,
            const struct filter *wanted_names, int by, size_t page)
{
    for (size_t step = 1; step <= rows->count; step++) {
        size_t distance = by > 0 ? step : rows->count - step;
        size_t at = (rows->cursor + distance) % rows->count;
        if (filter_match(wanted_names, scene, rows->list[at])) {
            rows_move_to(rows, at, page, scene->now_ms);
            rows->held = true;
            return true;
        }
    }
    return false;
}

const struct model_class *
rows_selected(const struct rows *rows)
{
    return rows->cursor < rows->count ? rows->list[rows->cursor] : NULL;
}
