#include "tui/view/keymap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/header_time.h"

// clang-format off
const struct binding view_everywhere[] = {
    {ACTION_PAUSE, {' '}, "pause", "stop the screen, never the program; again to go on"},
    {ACTION_LIVE, {'L'}, NULL, "back to live"},
    {ACTION_RECORD, {'R'}, "record", "record into a file, or end that"},
    {ACTION_STEP_BACK, {'['}, NULL, "the sample before, at which the screen then stands still"},
    {ACTION_STEP_ON, {']'}, NULL, "the sample after"},
    {ACTION_MINUTE_BACK, {'{'}, NULL, "a minute back"},
    {ACTION_MINUTE_ON, {'}'}, NULL, "a minute on"},
    {ACTION_NOTICES, {'!'}, "notices", "what the probe has to say about its figures"},
    {ACTION_PROCESSES, {'P'}, NULL, "all processes that run under the probe"},
    {ACTION_NEXT_VIEW, {KEY_CODE_TAB, KEY_CODE_BACK_TAB}, NULL, "from the classes to the processes, and back"},
    {ACTION_COMMAND, {':'}, NULL, "type a command; Tab completes"},
    {ACTION_WRITE, {'w'}, NULL, "write what is shown to a file"},
    {ACTION_REDRAW, {KEY_CONTROL('L')}, NULL, "draw the screen again"},
    {ACTION_SUSPEND, {KEY_CONTROL('Z')}, NULL, "suspend memtop; fg brings it back"},
    {ACTION_HELP, {'?', KEY_CODE_F1}, "help", "this help"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q'}, "back", "back"},
    {ACTION_QUIT, {'Q', KEY_CODE_F1 + 9, KEY_CONTROL('C')}, NULL, "quit memtop; the program and its probe go on"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static bool
has_key(const uint32_t keys[BINDING_KEYS_MAX], uint32_t code)
{
    for (int i = 0; i < BINDING_KEYS_MAX && keys[i] != 0; i++) {
        if (keys[i] == code) {
            return true;
        }
    }
    return false;
}

static const struct binding *
bindings_of(const struct view_class *view)
{
    return view != NULL ? view->bindings : view_everywhere;
}

static bool
is_about(const struct keymap_choice *choice, const struct view_class *view)
{
    return strcmp(choice->view, view != NULL ? view->name : "") == 0;
}

// A person's choice for an action in a view, NULL for none.
static const struct keymap_choice *
choice_of(const struct keymap *keymap, const struct view_class *view, enum action action)
{
    for (size_t i = 0; keymap != NULL && i < keymap->count; i++) {
        const struct keymap_choice *choice = &keymap->choices[i];
        if (choice->action == action && is_about(choice, view)) {
            return choice;
        }
    }
    return NULL;
}

// The action that a person chose a key for.
static enum action
chosen(const struct keymap *keymap, const struct view_class *view, uint32_t code)
{
    for (size_t i = 0; keymap != NULL && i < keymap->count; i++) {
        const struct keymap_choice *choice = &keymap->choices[i];
        if (is_about(choice, view) && has_key(choice->keys, code)) {
            return choice->action;
        }
    }
    return ACTION_NONE;
}

static bool
has_action(const struct view_class *view, enum action action)
{
    const struct binding *at = bindings_of(view);
    while (at->action != ACTION_NONE && at->action != action) {
        at++;
    }
    return at->action != ACTION_NONE;
}

enum action
keymap_find(const struct keymap *keymap, const struct view_class *view, struct key key)
{
    enum action action = chosen(keymap, view, key.code);
    if (action != ACTION_NONE && has_action(view, action)) {
        return action;
    }
    const struct binding *at = bindings_of(view);
    while (at->action != ACTION_NONE && (!has_key(at->keys, key.code) ||
                                         choice_of(keymap, view, at->action) != NULL)) {
        at++;
    }
    return at->action;
}

// The keys that lead to a binding's action.
static void
keys_of(uint32_t keys[BINDING_KEYS_MAX], const struct keymap *keymap,
        const struct view_class *view, const struct binding *binding)
{
    const struct keymap_choice *choice = choice_of(keymap, view, binding->action);
    const uint32_t *from = choice != NULL ? choice->keys : binding->keys;
    int count = 0;
    for (int i = 0; i < BINDING_KEYS_MAX && from[i] != 0; i++) {
        if (keymap_find(keymap, view, (struct key){.code = from[i]}) == binding->action) {
            keys[count++] = from[i];
        }
    }
    if (count < BINDING_KEYS_MAX) {
        keys[count] = 0;
    }
}

static const struct {
    uint32_t code;
    const char *name;
    const char *ascii;
} named[] = {
    {' ',                "Space",  "Space"},
    {KEY_CODE_TAB,       "Tab",    "Tab"  },
    {KEY_CODE_BACK_TAB,  "⇧Tab", "S-Tab"},
    {KEY_CODE_ENTER,     "↵",    "Enter"},
    {KEY_CODE_ESCAPE,    "Esc",    "Esc"  },
    {KEY_CODE_BACKSPACE, "⌫",    "BkSp" },
    {KEY_CODE_UP,        "↑",    "Up"   },
    {KEY_CODE_DOWN,      "↓",    "Down" },
    {KEY_CODE_LEFT,      "←",    "Left" },
    {KEY_CODE_RIGHT,     "→",    "Right"},
    {KEY_CODE_PAGE_UP,   "PgUp",   "PgUp" },
    {KEY_CODE_PAGE_DOWN, "PgDn",   "PgDn" },
    {KEY_CODE_HOME,      "Home",   "Home" },
    {KEY_CODE_END,       "End",    "End"  },
    {KEY_CODE_DELETE,    "Del",    "Del"  },
    {KEY_CODE_INSERT,    "Ins",    "Ins"  },
};

void
keymap_name(char name[KEYMAP_NAME_BYTES], uint32_t code, bool ascii)
{
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (named[i].code == code) {
            snprintf(name, KEYMAP_NAME_BYTES, "%s",
                     ascii ? named[i].ascii : named[i].name);
            return;
        }
    }
    if (code >= KEY_CODE_F1 && code <= KEY_CODE_F12) {
        snprintf(name, KEYMAP_NAME_BYTES, "F%u", (unsigned)(code - KEY_CODE_F1 + 1));
    } else if (code < ' ') {
        snprintf(name, KEYMAP_NAME_BYTES, "^%c", (char)('@' + code));
    } else {
        text_encode(code, name);
    }
}

uint32_t
keymap_key(const char *name)
{
    uint32_t code;
    if (strcmp(name, "Semicolon") == 0) {
        return ';';
    }
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strcmp(named[i].ascii, name) == 0) {
            return named[i].code;
        }
    }
    if (name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        unsigned long number = strtoul(name + 1, NULL, 10);
        return number <= 12 ? KEY_CODE_F1 + (uint32_t)number - 1 : 0;
    }
    if (name[0] == '^' && name[1] >= '@' && name[1] <= '_' && name[2] == '\0') {
        return KEY_CONTROL(name[1]);
    }
    size_t length = strlen(name);
    bool valid = false;
    return length > 0 && text_decode(name, length, &code, &valid) == length && valid &&
                   code > ' ' && code != KEY_CODE_BACKSPACE
               ? code
               : 0;
}

void
keymap_names(char *out, size_t capacity, const struct keymap *keymap,
             const struct view_class *view, const struct binding *binding, bool ascii)
{
    uint32_t keys[BINDING_KEYS_MAX];
    size_t used = 0;
    out[0] = '\0';
    if (binding->action == ACTION_SORT_COLUMN) {
        snprintf(out, capacity, "1 to 9"); // nine keys in a row read badly
        return;
    }
    keys_of(keys, keymap, view, binding);
    for (int i = 0; i < BINDING_KEYS_MAX && keys[i] != 0; i++) {
        char name[KEYMAP_NAME_BYTES];
        keymap_name(name, keys[i], ascii);
        int more = snprintf(out + used, capacity - used, "%s%s", i > 0 ? " " : "", name);
        used += (size_t)more;
        if (used >= capacity) {
            return;
        }
    }
}

// The key of a label, 0 when the binding has none. `owner`, here and below: whose
// binding it is, NULL for everywhere.
static uint32_t
label_key(const struct binding *binding, const struct view_class *owner,
          const struct scene *scene)
{
    uint32_t keys[BINDING_KEYS_MAX];
    keys_of(keys, scene->keymap, owner, binding);
    return keys[0];
}

static void
draw_label(struct labels *labels, const struct binding *binding,
           const struct view_class *owner, const struct scene *scene, struct grid *grid,
           struct area *line)
{
    char name[KEYMAP_NAME_BYTES];
    uint32_t key = label_key(binding, owner, scene);
    int from = line->column;
    int column = from;
    keymap_name(name, key, scene->ascii);
    column +=
        grid_put(grid, line->row, column, grid->columns - column, STYLE_ACCENT, name);
    column += 1;
    column += grid_put(grid, line->row, column, grid->columns - column, STYLE_NORMAL,
                       binding->label);
    labels->list[labels->count++] = (struct label){from, column, binding->action, key};
    line->column = column + 2;
}

static int
label_width(const struct binding *binding, const struct view_class *owner,
            const struct scene *scene)
{
    char name[KEYMAP_NAME_BYTES];
    keymap_name(name, label_key(binding, owner, scene), scene->ascii);
    return text_width(name) + 1 + text_width(binding->label) + 2;
}

// Whether an action that is the same in all views makes sense now.
static bool
makes_sense(enum action action, const struct scene *scene)
{
    switch (action) {
    case ACTION_NOTICES:
        return model_notice_count(scene->model) > 0;
    case ACTION_RECORD: // a program that tells something, not a recording of one
        return scene->chosen && model_sampled(scene->model) &&
               (scene->moment == NULL || !scene->moment->replay);
    default:
        return true;
    }
}

// True for a binding that is worth a label: it has a key, which the view does not take
// for something else, and the action makes sense now.
static bool
has_label(const struct binding *binding, const struct view_class *owner,
          const struct view *view, const struct scene *scene)
{
    struct key key = {.code = label_key(binding, owner, scene)};
    if (binding->label == NULL || key.code == 0 ||
        (owner == NULL && keymap_find(scene->keymap, view->class, key) != ACTION_NONE) ||
        !makes_sense(binding->action, scene)) {
        return false;
    }
    return view->class->can == NULL || view->class->can(view, scene, binding->action);
}

// These stay when the line is too narrow for all.
static bool
is_kept(const struct binding *binding)
{
    return binding->action == ACTION_HELP || binding->action == ACTION_BACK ||
           binding->action == ACTION_QUIT;
}

static int
kept_width(const struct view *view, const struct scene *scene)
{
    const struct view_class *owners[] = {view->class, NULL};
    int width = 0;
    for (int i = 0; i < 2; i++) {
        const struct binding *at = bindings_of(owners[i]);
        for (; at->action != ACTION_NONE; at++) {
            bool counts = is_kept(at) && has_label(at, owners[i], view, scene);
            width += counts ? label_width(at, owners[i], scene) : 0;
        }
    }
    return width;
}

// Draw the labels of a list that are kept, or those that are not, as far as `limit`.
static void
draw_labels(struct labels *labels, const struct view_class *owner, bool kept,
            const struct view *view, const struct scene *scene, struct grid *grid,
            struct area *line)
{
    const struct binding *at = bindings_of(owner);
    for (; at->action != ACTION_NONE; at++) {
        if (is_kept(at) != kept || !has_label(at, owner, view, scene)) {
            continue;
        }
        int end = line->column + label_width(at, owner, scene) - 2;
        if (labels->count < KEYMAP_LABELS_MAX && end <= line->columns) {
            draw_label(labels, at, owner, scene, grid, line);
        }
    }
}

void
keymap_draw(struct labels *labels, const struct view *view, const struct scene *scene,
            struct grid *grid, int row)
{
    // what is kept comes last: help first of all, then the way out
    struct area line = {row, 1, 1, grid->columns - kept_width(view, scene)};
    labels->count = 0;
    draw_labels(labels, view->class, false, view, scene, grid, &line);
    draw_labels(labels, NULL, false, view, scene, grid, &line);
    line.columns = grid->columns;
    draw_labels(labels, NULL, true, view, scene, grid, &line);
    draw_labels(labels, view->class, true, view, scene, grid, &line);
}

const struct label *
keymap_at(const struct labels *labels, int column)
{
    for (int i = 0; i < labels->count; i++) {
        if (column >= labels->list[i].from && column < labels->list[i].to) {
            return &labels->list[i];
        }
    }
    return NULL;
}
