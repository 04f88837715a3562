#include "tui/app_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app_command.h"
#include "tui/app_fleet.h"
#include "tui/app_state.h"
#include "tui/view/sort_menu.h"

bool
app_tree_shown(const struct app *app)
{
    return app_view_shown(app, &app->tree.view);
}

static bool
kept(const struct app *app, class_id id)
{
    for (size_t i = 0; i < APP_KEPT_MAX; i++) {
        if (app->kept[i] == id) {
            return true;
        }
    }
    return false;
}

// Requests nobody asked for by name: their success needs no words.
static bool
ask(struct app *app, enum request_action action, class_id class)
{
    struct request request = {++app->request_id, (uint64_t)action, class};
    if (app->scene.link != LINK_LIVE ||
        !app->options.send(app->options.context, &request)) {
        return false;
    }
    app->pending[request.id % APP_PENDING_MAX] =
        (struct pending){request.id, "call tree", action};
    return true;
}

// The class as the live model has it, though the screen may stand still.
static const struct model_class *
live_class(const struct app *app)
{
    struct scene live = app->scene;
    live.model = app->model;
    return tree_view_class(&app->tree, &live);
}

static void
leave(struct app *app)
{
    if (app->opened != 0 && !kept(app, app->opened)) {
        ask(app, REQUEST_CLOSE, app->opened);
    }
    app->opened = 0;
}

void
app_tree_follow(struct app *app)
{
    const struct model_class *class = app_tree_shown(app) ? live_class(app) : NULL;
    bool wanted = class != NULL && !class->gone;
    if (app->opened != 0 && (!wanted || class->id != app->opened)) {
        leave(app);
    }
    if (wanted && app->opened == 0 && app->refused != class->id && class->listed &&
        ask(app, REQUEST_OPEN, class->id)) {
        app->opened = class->id;
    }
}

static bool
keep(const struct model_class *class)
{
    return class != NULL && !class->gone && class->listed &&
           (class->flags & CLASS_PINNED) != 0;
}

// No words about these, refused or not: nobody waits for them on the screen.
static bool
ask_silently(struct app *app, enum request_action action, class_id class)
{
    const struct request request = {++app->request_id, (uint64_t)action, class};
    return app->scene.link == LINK_LIVE &&
           app->options.send(app->options.context, &request);
}

static void
keep_no_longer(struct app *app, class_id *id)
{
    if (*id != app->opened) {
        ask_silently(app, REQUEST_CLOSE, *id);
    }
    *id = 0;
}

void
app_tree_keep(struct app *app)
{
    size_t place = 0;
    for (size_t i = 0; i < APP_KEPT_MAX; i++) {
        if (app->kept[i] != 0 && !keep(model_class_find(app->model, app->kept[i]))) {
            keep_no_longer(app, &app->kept[i]);
        }
    }
    for (size_t i = 0; i < model_class_count(app->model); i++) {
        const struct model_class *class = model_class_at(app->model, i);
        if (!keep(class) || kept(app, class->id)) {
            continue;
        }
        while (place < APP_KEPT_MAX && app->kept[place] != 0) {
            place++;
        }
        if (place == APP_KEPT_MAX || !ask_silently(app, REQUEST_OPEN, class->id)) {
            return;
        }
        app->kept[place] = class->id;
    }
}

void
app_tree_forget(struct app *app)
{
    tree_view_forget(&app->tree);
    paths_forget(&app->flame.paths, true);
}

void
app_tree_reconnect(struct app *app)
{
    app->opened = 0;
    app->refused = 0;
    memset(app->kept, 0, sizeof app->kept);
    app_tree_forget(app);
}

void
app_tree_refused(struct app *app, const char *words)
{
    app->refused = app->opened;
    app->opened = 0;
    snprintf(app->tree.words, sizeof app->tree.words, "No call tree: %.200s", words);
}

static const char *
why_not(const struct app *app)
{
    const struct hello *hello = model_hello(app->model);
    if (!model_sampled(app->model) || !mode_counts(model_sample(app->model)->mode)) {
        return "stacks can be taken in mode count; :mode count starts it";
    }
    if ((hello->capabilities & CAPABILITY_TRACE) == 0 &&
        (hello->capabilities & CAPABILITY_READONLY) == 0) {
        return "this probe takes no stacks";
    }
    return NULL;
}

static void
show(struct app *app, const struct model_class *class)
{
    tree_view_open(&app->tree, class);
    app->refused = 0;
    app->stack[app->depth++] = &app->tree.view;
    app_tree_follow(app);
}

void
app_show_tree(struct app *app, const struct model_class *class, bool pin)
{
    if (!app_tree_shown(app) && app->depth < APP_STACK_MAX) {
        show(app, class);
    }
    if (pin) {
        ask(app, REQUEST_PIN, class->id);
    }
}

const char *
app_tree_words(const struct app *app)
{
    return app->tree.words;
}

unsigned
app_tree_open(struct app *app, const char *argument)
{
    (void)argument;
    const struct model_class *class = rows_selected(&app->table.rows);
    const char *why = why_not(app);
    if (app_tree_shown(app) || app->depth >= APP_STACK_MAX) {
        return 0;
    }
    if (!app_is_one(app, "call tree")) {
        return REACT_DRAW;
    }
    if (class == NULL) {
        return app_tell(app, true, "call tree: there is no class under the cursor");
    }
    if (why != NULL) {
        return app_tell(app, true, "call tree: %s", why);
    }
    show(app, class);
    return REACT_DRAW;
}

// As the live model has it.
static const struct model_class *
class_under_cursor(struct app *app)
{
    const struct model_class *class;
    const struct drill *drill = app_drill_shown(app);
    if (drill != NULL) {
        // what is compared may be another program
        class = drill == &app->born_view.drill ? born_view_class(&app->born_view) : NULL;
        return class != NULL ? model_class_find(app->model, class->id) : NULL;
    }
    return app_tree_shown(app) ? live_class(app) : rows_selected(&app->table.rows);
}

unsigned
app_tree_pin(struct app *app, const char *argument)
{
    (void)argument;
    const struct model_class *class = class_under_cursor(app);
    if (!app_may_change(app, "pin")) {
        return REACT_DRAW;
    }
    const char *why = why_not(app);
    if (class == NULL || why != NULL) {
        return app_tell(app, true, "pin: %s",
                        why != NULL ? why : "there is no class under the cursor");
    }
    bool pinned = (class->flags & CLASS_PINNED) != 0;
    if (!ask(app, pinned ? REQUEST_UNPIN : REQUEST_PIN, class->id)) {
        return app_tell(app, true, "pin: not connected to a probe");
    }
    return app_tell(app, false,
                    pinned ? "%.100s: unpinned, its stacks are taken while somebody looks"
                           : "%.100s: pinned, its stacks are taken until you unpin it",
                    class->name);
}

// The line that keys are about; false when there is none.
static bool
place_under_cursor(struct app *app, const char **file, uint32_t *line)
{
    const char *title;
    const struct drill *drill = app_drill_shown(app);
    if (drill != NULL) {
        return drill_place(drill, file, &title, line);
    }
    return app_tree_shown(app) && tree_view_place(&app->tree, file, line);
}

unsigned
app_tree_edit(struct app *app, const char *argument)
{
    (void)argument;
    const char *file;
    if (!place_under_cursor(app, &file, &app->edit_line)) {
        return app_tell(app, true, "editor: this row is no line of a file");
    }
    if (strlen(file) >= sizeof app->edit_path) {
        return app_tell(app, true, "editor: the file's path is too long");
    }
    strcpy(app->edit_path, file);
    source_destroy(&app->tree.source); // read anew when the editor has ended
    source_destroy(&app->born_view.drill.source);
    source_destroy(&app->diff_view.drill.source);
    return REACT_EDIT | REACT_DRAW;
}

unsigned
app_tree_flame(struct app *app, const char *argument)
{
    (void)argument;
    if (app->tree.tree == NULL || app->depth >= APP_STACK_MAX) {
        return app_tell(app, true, "flame: open a class's call tree first");
    }
    flame_open(&app->flame, &app->tree);
    app->stack[app->depth++] = &app->flame.view;
    return REACT_DRAW;
}

unsigned
app_tree_sort(struct app *app, const char *argument)
{
    if (argument[0] == '\0' && app->depth < APP_STACK_MAX) {
        menu_init(&app->menu, &sort_menu_tree, &app->scene, "");
        app->stack[app->depth++] = &app->menu.view;
    } else if (!tree_view_sort(&app->tree, argument)) {
        return app_tell(app, true, "sort: no column \"%.40s\" to order by", argument);
    }
    return REACT_DRAW;
}
