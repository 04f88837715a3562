#include "tui/view/list.h"

#include <stdlib.h>
#include <string.h>

#include "tui/view/cursor.h"

#define WHEEL_ROWS 3

void
list_destroy(struct list *list)
{
    free(list->order);
    list->order = NULL;
    list->capacity = 0;
    list->count = 0;
}

void
list_restart(struct list *list)
{
    list->count = 0;
    list->cursor = 0;
    list->top = 0;
    list->selected = 0;
    list->filter[0] = '\0';
}

static bool
reserve(struct list *list, size_t count)
{
    if (count <= list->capacity) {
        return true;
    }
    uint32_t *order = realloc(list->order, count * sizeof *order);
    if (order == NULL) {
        return false;
    }
    list->order = order;
    list->capacity = count;
    return true;
}

struct sorting {
    const struct list *list;
    const struct list_rows *rows;
};

static int
compare(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const struct list_rows *rows = sorting->rows;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    int group = rows->group != NULL
                    ? rows->group(rows->context, a) - rows->group(rows->context, b)
                    : 0;
    if (group != 0) {
        return group;
    }
    int order = rows->compare(rows->context, a, b);
    order = sorting->list->inverted ? -order : order;
    return order != 0 ? order : (a > b) - (a < b);
}

static void
find_cursor(struct list *list, const struct list_rows *rows)
{
    if (list->selected == 0) {
        list->cursor = 0;
    }
    for (size_t i = 0; i < list->count && list->selected != 0; i++) {
        if (rows->id(rows->context, list->order[i]) == list->selected) {
            list->cursor = i;
            break;
        }
    }
    if (list->cursor >= list->count) {
        list->cursor = list->count > 0 ? list->count - 1 : 0;
    }
}

bool
list_update(struct list *list, const struct list_rows *rows)
{
    struct sorting sorting = {list, rows};
    list->count = 0;
    if (!reserve(list, rows->count)) {
        return false;
    }
    for (size_t row = 0; row < rows->count; row++) {
        if (rows->wanted(rows->context, row)) {
            list->order[list->count++] = (uint32_t)row;
        }
    }
    if (list->count > 1) {
        qsort_r(list->order, list->count, sizeof *list->order, compare, &sorting);
    }
    find_cursor(list, rows);
    return true;
}

bool
list_row(const struct list *list, size_t *row)
{
    if (list->cursor >= list->count) {
        return false;
    }
    *row = list->order[list->cursor];
    return true;
}

static void
move_to(struct list *list, const struct list_rows *rows, size_t to)
{
    if (list->count > 0) {
        list->cursor = to < list->count ? to : list->count - 1;
        list->selected = rows->id(rows->context, list->order[list->cursor]);
    }
}

bool
list_move(struct list *list, const struct list_rows *rows, enum action action)
{
    long by = cursor_step(action, list->page);
    if (by != 0) {
        move_to(list, rows, cursor_moved(list->cursor, by));
    }
    if (action == ACTION_TOP) {
        list->selected = 0;
    }
    return by != 0;
}

bool
list_mouse(struct list *list, const struct list_rows *rows, struct key key)
{
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        long by = key.mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS;
        move_to(list, rows, cursor_moved(list->cursor, by));
        return true;
    }
    int line = key.row - list->first_row;
    if (line < 0 || line >= list->page || list->top + (size_t)line >= list->count) {
        return false;
    }
    move_to(list, rows, list->top + (size_t)line);
    return true;
}

void
list_sort(struct list *list, int column)
{
    list->inverted = column == list->sort && !list->inverted;
    list->sort = column;
}

int
list_compare_counts(uint64_t a, uint64_t b)
{
    return (b + 1 > a + 1) - (b + 1 < a + 1);
}

bool
list_matches(const struct list *list, const char *text)
{
    return list->filter[0] == '\0' || strcasestr(text, list->filter) != NULL;
}

void
list_scroll(struct list *list, int first_row, int page)
{
    list->first_row = first_row;
    list->page = page > 0 ? page : 0;
    list->top =
        cursor_top(list->top, list->cursor, list->count, page > 0 ? (size_t)page : 1);
}
