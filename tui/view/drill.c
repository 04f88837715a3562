#include "tui/view/drill.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/drill_draw.h"

static struct drill *
drill_of(struct view *view)
{
    return (struct drill *)(void *)view;
}

const struct drill_class *
drill_class_of(const struct drill *drill)
{
    return (const struct drill_class *)(const void *)drill->view.class;
}

static struct list_rows
rows_of(const struct drill *drill)
{
    return drill_class_of(drill)->rows(drill);
}

struct list *
drill_list(struct drill *drill)
{
    return drill->class == 0 ? &drill->classes : &drill->paths;
}

const struct list *
drill_shown(const struct drill *drill)
{
    return drill->class == 0 ? &drill->classes : &drill->paths;
}

void
drill_init(struct drill *drill, const struct drill_class *class, int sort)
{
    assert(class->column_count <= DRILL_COLUMNS_MAX);
    *drill = (struct drill){
        .view = {&class->view},
        .classes = {.sort = sort},
        .paths = {.sort = sort},
    };
}

void
drill_destroy(struct drill *drill)
{
    list_destroy(&drill->classes);
    list_destroy(&drill->paths);
    source_destroy(&drill->source);
}

void
drill_open(struct drill *drill)
{
    list_restart(&drill->classes);
    list_restart(&drill->paths);
    drill->paths_only = false;
    drill->class = 0;
}

void
drill_open_paths(struct drill *drill, uint64_t class, const char *name)
{
    drill->class = class;
    snprintf(drill->name, sizeof drill->name, "%.*s",
             (int)text_cut(name, DRILL_NAME_BYTES / 4), name);
    list_restart(&drill->paths);
}

/* Rows. */

bool
drill_wanted(const void *context, size_t row)
{
    const struct drill *drill = context;
    const struct drill_class *class = drill_class_of(drill);
    if (drill->class == 0) {
        struct drill_subject subject = class->class_at(drill, row);
        bool hidden = !drill->internal && subject.internal;
        return !hidden && list_matches(&drill->classes, subject.name);
    }
    uint32_t node;
    const struct path_steps steps = class->path_at(drill, row, &node);
    return drill->paths.filter[0] == '\0' || path_has(&steps, node, drill->paths.filter);
}

void
drill_update(struct view *view, const struct scene *scene)
{
    struct drill *drill = drill_of(view);
    const struct list_rows rows = rows_of(drill);
    drill->internal = scene->internal;
    drill->no_memory = !list_update(drill_list(drill), &rows);
}

bool
drill_place(const struct drill *drill, const char **file, const char **title,
            uint32_t *line)
{
    size_t row;
    uint32_t node;
    if (drill->class == 0 || !list_row(&drill->paths, &row) ||
        row >= rows_of(drill).count) {
        return false;
    }
    const struct path_steps steps = drill_class_of(drill)->path_at(drill, row, &node);
    return path_place(&steps, node, file, title, line);
}

/* Columns. */

bool
drill_has(const struct drill *drill, int column)
{
    return drill->class == 0 || drill_class_of(drill)->columns[column].paths;
}

bool
drill_sortable(const struct drill *drill, int column)
{
    return drill_class_of(drill)->columns[column].word[0] != '\0' &&
           drill_has(drill, column);
}

bool
drill_sort(struct drill *drill, const char *word)
{
    const struct drill_class *class = drill_class_of(drill);
    for (int column = 0; column < class->column_count; column++) {
        if (drill_sortable(drill, column) &&
            strcmp(class->columns[column].word, word) == 0) {
            list_sort(drill_list(drill), column);
            return true;
        }
    }
    return false;
}

/* Keys. */

bool
drill_can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct drill *drill = (const struct drill *)(const void *)view;
    const char *file;
    const char *title;
    uint32_t line;
    (void)scene;
    switch (action) {
    case ACTION_CHOOSE:
        return drill->class == 0 && drill->classes.count > 0;
    case ACTION_EDIT:
        return drill_place(drill, &file, &title, &line);
    case ACTION_CLEAR_FILTER:
        return drill_shown(drill)->filter[0] != '\0';
    default:
        return true;
    }
}

static unsigned
choose(struct drill *drill)
{
    size_t row;
    if (drill->class != 0) {
        drill->no_source = !drill->no_source;
        return OUTCOME_DRAW;
    }
    if (!list_row(&drill->classes, &row)) {
        return OUTCOME_NONE;
    }
    struct drill_subject subject = drill_class_of(drill)->class_at(drill, row);
    drill_open_paths(drill, subject.id, subject.name);
    return OUTCOME_DRAW;
}

static unsigned
go_back(struct drill *drill)
{
    struct list *list = drill_list(drill);
    if (list->filter[0] != '\0') {
        list->filter[0] = '\0';
    } else if (drill->class == 0 || drill->paths_only) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    } else {
        drill->class = 0;
    }
    return OUTCOME_DRAW;
}

// By the column beside the one that orders, of those on the screen.
static void
sort_beside(struct drill *drill, int step)
{
    struct list *list = drill_list(drill);
    int at = 0;
    while (at < drill->shown_count && drill->shown[at] != list->sort) {
        at++;
    }
    for (at += step; at >= 0 && at < drill->shown_count; at += step) {
        if (drill_sortable(drill, drill->shown[at])) {
            list_sort(list, drill->shown[at]);
            return;
        }
    }
}

static bool
arrange(struct drill *drill, struct scene *scene, enum action action)
{
    switch (action) {
    case ACTION_SORT_LEFT:
        sort_beside(drill, -1);
        return true;
    case ACTION_SORT_RIGHT:
        sort_beside(drill, 1);
        return true;
    case ACTION_INVERT:
        drill_list(drill)->inverted = !drill_list(drill)->inverted;
        return true;
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return true;
    case ACTION_INTERNAL:
        scene->internal = !scene->internal;
        return true;
    case ACTION_SOURCE:
        drill->no_source = !drill->no_source;
        return true;
    default:
        return false;
    }
}

unsigned
drill_act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct drill *drill = drill_of(view);
    const struct list_rows rows = rows_of(drill);
    (void)key;
    if (list_move(drill_list(drill), &rows, action) || arrange(drill, scene, action)) {
        return OUTCOME_DRAW;
    }
    switch (action) {
    case ACTION_CHOOSE:
        return choose(drill);
    case ACTION_BACK:
        return go_back(drill);
    default:
        return OUTCOME_PASS;
    }
}

unsigned
drill_mouse(struct view *view, struct scene *scene, struct key key)
{
    struct drill *drill = drill_of(view);
    const struct list_rows rows = rows_of(drill);
    bool wheel = key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN;
    int column;
    (void)scene;
    if (!wheel && key.row == drill->heading_row) {
        if (drill_draw_column(drill, key.column, &column) &&
            drill_sortable(drill, column)) {
            list_sort(drill_list(drill), column);
        }
        return OUTCOME_DRAW;
    }
    if (!list_mouse(drill_list(drill), &rows, key)) {
        return OUTCOME_NONE;
    }
    return key.mouse == MOUSE_DOUBLE && drill->class == 0 ? choose(drill) : OUTCOME_DRAW;
}
