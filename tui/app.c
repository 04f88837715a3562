#include "tui/app.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app_born.h"
#include "tui/app_choices.h"
#include "tui/app_command.h"
#include "tui/app_diff.h"
#include "tui/app_fleet.h"
#include "tui/app_record.h"
#include "tui/app_state.h"
#include "tui/app_tags.h"
#include "tui/app_time.h"
#include "tui/app_tree.h"
#include "tui/text/text.h"
#include "tui/view/header.h"

// Below this there is no room for a table.
#define ROWS_MIN 8
#define COLUMNS_MIN 40

// How long a message stays in the bottom line, unless a key is pressed.
#define MESSAGE_MS 6000

// Pointers into the app itself.
static void
anchor(struct app *app)
{
    app->scene.link_detail = app->link_detail;
    app->scene.message = app->message;
    app->stack[0] = &app->table.view;
    app->depth = 1;
}

struct app *
app_new(const struct app_options *options, uint64_t now_ms)
{
    struct app *app = calloc(1, sizeof *app);
    if (app == NULL) {
        return NULL;
    }
    app->model = model_new();
    if (app->model == NULL) {
        free(app);
        return NULL;
    }
    app->options = *options;
    app->last_mark = MODEL_MARK_NONE;
    app->command_runs = options->command;
    app->scene = (struct scene){
        .model = app->model,
        .glyphs = glyphs_of(options->ascii),
        .now_ms = now_ms,
        .link_ms = now_ms,
        .link = LINK_CONNECTING,
        .source = options->source != NULL ? options->source : "",
        .ascii = options->ascii,
        .readonly = options->readonly,
        .mouse = options->mouse,
        .exact = true,
        .chosen = true,
        .fleet = options->fleet,
        .attended = options->command,
    };
    app->scene.read_source = options->read_source;
    table_init(&app->table);
    tree_view_init(&app->tree);
    app_choose(app);
    flame_init(&app->flame);
    tags_view_init(&app->tags);
    process_view_init(&app->processes);
    anchor(app);
    if (!app_time_init(app)) {
        app_free(app);
        return NULL;
    }
    app_born_init(app);
    app_diff_init(app);
    return app;
}

void
app_free(struct app *app)
{
    if (app == NULL) {
        return;
    }
    table_destroy(&app->table);
    tree_view_destroy(&app->tree);
    flame_destroy(&app->flame);
    app_born_destroy(app);
    app_diff_destroy(app);
    tags_view_destroy(&app->tags);
    app_time_destroy(app);
    model_free(app->model);
    free(app);
}

// What a person chose for the eye, and what was typed.
static void
keep_habits(struct app *app, const struct app *old)
{
    app->scene.exact = old->scene.exact;
    app->scene.by_bytes = old->scene.by_bytes;
    app->scene.internal = old->scene.internal;
    app->scene.mouse = old->scene.mouse;
    app->scene.spread = old->scene.spread;
    app->filters = old->filters;
    app->commands = old->commands;
    app->processes = old->processes;
    app->roams = old->roams;
    app->command_runs = old->command_runs;
    app->touched = old->touched;
    app->request_id = old->request_id; // answers to earlier ones are not ours
}

bool
app_again(struct app *app, const char *source)
{
    struct app *old = malloc(sizeof *old);
    struct app *made = app_new(&app->options, app->scene.now_ms);
    if (old == NULL || made == NULL) {
        free(old);
        app_free(made);
        return false;
    }
    *old = *app;
    *app = *made;
    anchor(app);
    keep_habits(app, old);
    snprintf(app->source, sizeof app->source, "%s", source);
    app->options.source = app->source;
    app->scene.source = app->source;
    free(made); // what it owned is the app's now
    app_free(old);
    return true;
}

unsigned
app_say(struct app *app, bool error, const char *text, uint64_t now_ms)
{
    text_escape(app->message, sizeof app->message, text, strlen(text));
    app->message_error = error;
    app->scene.message_error = error;
    app->message_until_ms = now_ms + MESSAGE_MS;
    return REACT_DRAW;
}

unsigned
app_tell(struct app *app, bool error, const char *format, ...)
{
    char text[APP_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return app_say(app, error, text, app->scene.now_ms);
}

static void
take_hello(struct app *app, uint64_t old_pid)
{
    const struct hello *hello = model_hello(app->model);
    if (hello->version != PROTOCOL_VERSION) {
        app_tell(app, true,
                 "the probe speaks version %llu of the protocol, memtop version %d",
                 (unsigned long long)hello->version, PROTOCOL_VERSION);
    } else if (model_restarted(app->model)) {
        app_tell(app, false,
                 "another process: pid %llu after %llu; marks and history go on by name",
                 (unsigned long long)hello->pid, (unsigned long long)old_pid);
    }
}

// That it was done shows; only what was not is said.
static void
take_tree_result(struct app *app, struct pending *pending, const struct result *result)
{
    char words[APP_MESSAGE_BYTES - 64];
    size_t length = result->text.length;
    pending->id = 0;
    if (result->status == RESULT_DONE || pending->action == REQUEST_CLOSE) {
        return;
    }
    text_escape(words, sizeof words, length > 0 ? result->text.bytes : "", length);
    app_tell(app, true, "call tree: %s", words);
    if (pending->action == REQUEST_OPEN) {
        app_tree_refused(app, words);
    }
}

static void
take_result(struct app *app, const struct result *result)
{
    static const char *const outcomes[] = {"done", "refused", "failed"};
    struct pending *pending = &app->pending[result->id % APP_PENDING_MAX];
    if (result->id == 0 || pending->id != result->id) {
        return; // not ours, or too old to matter
    }
    if (pending->action == REQUEST_OPEN || pending->action == REQUEST_CLOSE ||
        pending->action == REQUEST_PIN || pending->action == REQUEST_UNPIN) {
        take_tree_result(app, pending, result);
        return;
    }
    const char *outcome =
        result->status <= RESULT_FAILED ? outcomes[result->status] : "answered";
    char text[APP_MESSAGE_BYTES - 64]; // the rest of the line fits beside it
    size_t length = result->text.length;
    text_escape(text, sizeof text, length > 0 ? result->text.bytes : "", length);
    app_tell(app, result->status != RESULT_DONE, "%s: %s%s%s", pending->name, outcome,
             text[0] != '\0' ? ", " : "", text);
    pending->id = 0;
}

unsigned
app_message(struct app *app, const struct message *message, uint64_t now_ms)
{
    uint64_t old_pid = model_hello(app->model)->pid;
    app->scene.now_ms = now_ms;
    app_time_take(app, message);
    if (message->kind == MESSAGE_HELLO) {
        app_tree_reconnect(app);
        app_tags_reconnect(app);
    }
    if (!model_apply(app->model, message)) {
        return app_tell(app, true, "out of memory: some figures were left out");
    }
    app_tree_follow(app);
    app_tags_follow(app);
    switch (message->kind) {
    case MESSAGE_HELLO:
        take_hello(app, old_pid);
        return REACT_DRAW;
    case MESSAGE_RESULT:
        take_result(app, &message->result);
        return REACT_DRAW;
    case MESSAGE_SAMPLE:
        app_tree_keep(app);
        app->sample_ms = now_ms;
        if (!app->scene.paused) {
            app->scene.sample_ms = now_ms;
        }
        break;
    default:
        break;
    }
    return app->scene.paused ? REACT_NOTHING : REACT_DRAW;
}

unsigned
app_link(struct app *app, enum link_state state, const char *detail, uint64_t now_ms)
{
    app->scene.now_ms = now_ms;
    if (app->scene.link != state) {
        app->scene.link_ms = now_ms;
    }
    if (state == LINK_LIVE && app->scene.link != LINK_LIVE) {
        app->sample_ms = now_ms; // lateness counts from here
        app->scene.sample_ms = app->scene.paused ? app->scene.sample_ms : now_ms;
    }
    if (app->scene.link == LINK_LIVE && state != LINK_LIVE) {
        bool ended = state == LINK_GONE || model_bye(app->model) != NULL;
        app_record_gap(app, ended ? GAP_ENDED : GAP_LOST);
    }
    app->scene.link = state;
    text_escape(app->link_detail, sizeof app->link_detail, detail, strlen(detail));
    return REACT_DRAW;
}

// The state of the data as one text, to see when it changes.
static void
state_text(const struct app *app, char text[APP_STATE_BYTES])
{
    struct header_state state = header_state(&app->scene);
    snprintf(text, APP_STATE_BYTES, "%s %s", state.word, state.detail);
}

unsigned
app_tick(struct app *app, uint64_t now_ms)
{
    char state[APP_STATE_BYTES];
    unsigned reaction = REACT_NOTHING;
    app->scene.now_ms = now_ms;
    if (app_time_tick(app, now_ms)) {
        reaction = REACT_DRAW;
    }
    app_time_tell(app);
    state_text(app, state);
    if (strcmp(state, app->state_drawn) != 0) {
        reaction = REACT_DRAW;
    }
    if (app->message[0] != '\0' && now_ms >= app->message_until_ms) {
        app->message[0] = '\0';
        reaction = REACT_DRAW;
    }
    const struct rows *rows = &app->table.rows;
    bool tree_thaws = app->tree.paths.held && now_ms >= app->tree.held_until_ms;
    if ((rows->frozen && now_ms >= rows->frozen_until_ms) || tree_thaws) {
        reaction = REACT_DRAW;
    }
    if (app->processes.order_count > 0 && now_ms >= app->processes.held_until_ms) {
        reaction = REACT_DRAW;
    }
    return reaction;
}

static struct view *
top_of(struct app *app)
{
    return app->stack[app->depth - 1];
}

unsigned
app_open_view(struct app *app, struct view *view)
{
    for (int i = 0; i < app->depth; i++) {
        if (app->stack[i] == view) {
            app->depth = i + 1;
            return REACT_DRAW;
        }
    }
    if (app->depth < APP_STACK_MAX) {
        app->stack[app->depth++] = view;
    }
    return REACT_DRAW;
}

bool
app_view_shown(const struct app *app, const struct view *view)
{
    for (int i = 0; i < app->depth; i++) {
        if (app->stack[i] == view) {
            return true;
        }
    }
    return false;
}

struct drill *
app_drill_shown(struct app *app)
{
    for (int i = app->depth - 1; i > 0; i--) {
        if (app->stack[i] == &app->born_view.drill.view) {
            return &app->born_view.drill;
        }
        if (app->stack[i] == &app->diff_view.drill.view) {
            return &app->diff_view.drill;
        }
        if (app->stack[i] == &app->tree.view) {
            return NULL;
        }
    }
    return NULL;
}

static void
update(struct app *app)
{
    app_born_update(app);
    app_diff_update(app);
    for (int i = 0; i < app->depth; i++) {
        if (app->stack[i]->class->update != NULL) {
            app->stack[i]->class->update(app->stack[i], &app->scene);
        }
    }
}

static void
close_top(struct app *app)
{
    bool list = app->stack[app->depth - 1] == &app->processes.view;
    if (app->depth > 1 && (!list || app->scene.chosen)) {
        app->depth--;
        app_tree_follow(app);
        app_tags_follow(app);
    }
}

static unsigned
open_prompt(struct app *app, enum action action)
{
    if (action == ACTION_FILTER && app_output_shown(app)) {
        prompt_init(&app->prompt, '/', "find", &app->filters, NULL, "");
    } else if (action == ACTION_FILTER) {
        const struct drill *drill = app_drill_shown(app);
        prompt_init(&app->prompt, '/', "filter", &app->filters, NULL,
                    drill != NULL          ? drill_shown(drill)->filter
                    : app_fleet_shown(app) ? app->processes.filter
                    : app_tree_shown(app)  ? app->tree.paths.filter
                                           : app->table.rows.filter.text);
    } else {
        prompt_init(&app->prompt, ':', NULL, &app->commands, app_command_candidate, "");
    }
    if (app->depth < APP_STACK_MAX) {
        app->stack[app->depth++] = &app->prompt.view;
    }
    return REACT_DRAW;
}

// Escape clears a filter before it goes back.
static bool
has_filter(const struct app *app)
{
    const struct view *top = app->stack[app->depth - 1];
    return (top == &app->table.view && app->table.rows.filter.text[0] != '\0') ||
           (top == &app->tree.view && app->tree.paths.filter[0] != '\0') ||
           (top == &app->processes.view && app->processes.filter[0] != '\0');
}

// What a view passed on: it means the same in all of them.
static unsigned
act(struct app *app, enum action action)
{
    switch (action) {
    case ACTION_BACK:
        if (has_filter(app)) {
            return app_command_run(app, "filter");
        }
        if (app_fleet_back(app)) {
            return REACT_DRAW;
        }
        close_top(app);
        return REACT_DRAW;
    case ACTION_FILTER:
    case ACTION_COMMAND:
        return open_prompt(app, action);
    default:
        return app_command_act(app, action);
    }
}

// Do what a view answered.
static unsigned
follow(struct app *app, unsigned outcome)
{
    unsigned reaction = (outcome & OUTCOME_DRAW) != 0 ? REACT_DRAW : REACT_NOTHING;
    if ((outcome & OUTCOME_CLOSE) != 0) {
        close_top(app);
    }
    if ((outcome & OUTCOME_COMMAND) != 0) {
        char line[SCENE_COMMAND_BYTES];
        memcpy(line, app->scene.command, sizeof line);
        reaction |= app_command_run(app, line);
    }
    return reaction;
}

static unsigned
unknown_key(struct app *app, struct key key)
{
    char name[KEYMAP_NAME_BYTES];
    char help[KEYMAP_NAME_BYTES];
    const struct binding *at = view_everywhere;
    while (at->action != ACTION_NONE && at->action != ACTION_HELP) {
        at++;
    }
    keymap_name(name, key.code, app->scene.ascii);
    keymap_names(help, sizeof help, app->scene.keymap, NULL, at, app->scene.ascii);
    help[strcspn(help, " ")] = '\0'; // one is enough
    return app_tell(app, false, "%s: no such key here, %s for help", name, help);
}

static unsigned
press(struct app *app, struct key key)
{
    struct view *top = top_of(app);
    const struct view_class *class = top->class;
    const struct keymap *keymap = app->scene.keymap;
    enum action action = keymap_find(keymap, class, key);
    if (action == ACTION_NONE && !class->takes_text) {
        action = keymap_find(keymap, NULL, key);
    }
    // a view may know the key better than everywhere does, as menus know letters
    if (class->type != NULL && keymap_find(keymap, class, key) == ACTION_NONE) {
        unsigned outcome = class->type(top, &app->scene, key);
        if ((outcome & OUTCOME_PASS) == 0) {
            return follow(app, outcome);
        }
    }
    if (action == ACTION_NONE) {
        return unknown_key(app, key);
    }
    unsigned outcome = class->act(top, &app->scene, action, key);
    return (outcome & OUTCOME_PASS) != 0 ? act(app, action) : follow(app, outcome);
}

static unsigned
click(struct app *app, struct key key)
{
    struct view *top = top_of(app);
    if (!app->scene.mouse) {
        return REACT_NOTHING;
    }
    bool wheel = key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN;
    if (key.row == app->bottom && !wheel) {
        const struct label *label = keymap_at(&app->labels, key.column);
        return label != NULL ? press(app, (struct key){.code = label->key})
                             : REACT_NOTHING;
    }
    if (key.mouse == MOUSE_PRESS && app_time_click(app, key.row, key.column)) {
        return REACT_DRAW;
    }
    return top->class->mouse != NULL
               ? follow(app, top->class->mouse(top, &app->scene, key))
               : REACT_NOTHING;
}

unsigned
app_key(struct app *app, struct key key, uint64_t now_ms)
{
    unsigned reaction = app->message[0] != '\0' ? REACT_DRAW : REACT_NOTHING;
    app->scene.now_ms = now_ms;
    app->message[0] = '\0';
    app->touched = true;
    update(app);
    if (key.code == KEY_CODE_MOUSE) {
        return reaction | click(app, key);
    }
    return key.code == KEY_CODE_NONE ? reaction : reaction | press(app, key);
}

// The lowest view that is to be seen: nothing lies under a whole screen.
static int
lowest(const struct app *app)
{
    int at = app->depth - 1;
    while (at > 0 && app->stack[at]->class->extent != EXTENT_SCREEN) {
        at--;
    }
    return at;
}

static void
draw_message(struct app *app, struct grid *grid, int row, int column)
{
    char fitted[APP_MESSAGE_BYTES * 2];
    int room = grid->columns - column - 1;
    text_fit(fitted, sizeof fitted, app->message, room > 0 ? room : 0, app->scene.ascii);
    grid_put(grid, row, column, room, app->message_error ? STYLE_WARNING : STYLE_NORMAL,
             fitted);
}

// The bottom line: a prompt, else a message, else the keys that work now.
static void
draw_bottom(struct app *app, struct grid *grid)
{
    struct view *top = top_of(app);
    int row = grid->rows - 1;
    app->bottom = row;
    app->labels.count = 0;
    if (top->class->extent == EXTENT_LINE) {
        top->class->draw(top, &app->scene, grid, (struct area){row, 0, 1, grid->columns});
        if (app->message[0] != '\0' && top == &app->prompt.view) {
            draw_message(app, grid, row, app->prompt.used + 3);
        }
    } else if (app->message[0] != '\0') {
        draw_message(app, grid, row, 1);
    } else {
        keymap_draw(&app->labels, top, &app->scene, grid, row);
    }
}

static void
draw_too_small(struct grid *grid)
{
    char text[80];
    snprintf(text, sizeof text, "too small: %dx%d, need %dx%d", grid->columns, grid->rows,
             COLUMNS_MIN, ROWS_MIN);
    grid_put(grid, grid->rows / 2, 0, grid->columns, STYLE_WARNING, text);
}

void
app_draw(struct app *app, struct grid *grid, uint64_t now_ms)
{
    app->scene.now_ms = now_ms;
    grid->ascii = app->scene.ascii;
    grid_clear(grid);
    app_time_tell(app);
    state_text(app, app->state_drawn);
    if (grid->rows < ROWS_MIN || grid->columns < COLUMNS_MIN) {
        draw_too_small(grid);
        return;
    }
    update(app);
    struct area area = {0, 0, grid->rows - 1, grid->columns};
    for (int i = lowest(app); i < app->depth; i++) {
        struct view *view = app->stack[i];
        if (view->class->extent != EXTENT_LINE) {
            view->class->draw(view, &app->scene, grid, area);
        }
    }
    draw_bottom(app, grid);
}

const char *
app_write_path(const struct app *app)
{
    return app->write_path[0] != '\0' ? app->write_path : NULL;
}

const char *
app_edit_path(const struct app *app, uint32_t *line)
{
    *line = app->edit_line;
    return app->edit_path;
}

bool
app_wants_mouse(const struct app *app)
{
    return app->scene.mouse;
}

const struct model *
app_model(const struct app *app)
{
    return app->model;
}

const struct model *
app_shown(const struct app *app)
{
    return app->scene.model;
}
