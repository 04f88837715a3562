#include "tui/view/keymap.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"

// clang-format off
const struct binding view_everywhere[] = {
    {ACTION_PAUSE, {' '}, "pause", "stop the screen, never the program; again to go on"},
    {ACTION_LIVE, {'L'}, NULL, "back to live"},
    {ACTION_RECORD, {'R'}, NULL, "record into a file, or end that"},
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
has_key(const struct binding *binding, uint32_t code)
{
    for (int i = 0; i < BINDING_KEYS_MAX && binding->keys[i] != 0; i++) {
        if (binding->keys[i] == code) {
            return true;
        }
    }
    return false;
}

enum action
keymap_find(const struct binding *bindings, struct key key)
{
    const struct binding *at = bindings;
    while (at->action != ACTION_NONE && !has_key(at, key.code)) {
        at++;
    }
    return at->action;
}

void
keymap_name(char name[KEYMAP_NAME_BYTES], uint32_t code, bool ascii)
{
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

void
keymap_names(char *out, size_t capacity, const struct binding *binding, bool ascii)
{
    size_t used = 0;
    out[0] = '\0';
    if (binding->action == ACTION_SORT_COLUMN) {
        snprintf(out, capacity, "1 to 9"); // nine keys in a row read badly
        return;
    }
    for (int i = 0; i < BINDING_KEYS_MAX && binding->keys[i] != 0; i++) {
        char name[KEYMAP_NAME_BYTES];
        keymap_name(name, binding->keys[i], ascii);
        int more = snprintf(out + used, capacity - used, "%s%s", i > 0 ? " " : "", name);
        used += (size_t)more;
        if (used >= capacity) {
            return;
        }
    }
}

static void
draw_label(struct labels *labels, const struct binding *binding,
           const struct scene *scene, struct grid *grid, int row, int *column)
{
    char name[KEYMAP_NAME_BYTES];
    keymap_name(name, binding->keys[0], scene->ascii);
    int from = *column;
    *column += grid_put(grid, row, *column, grid->columns - *column, STYLE_ACCENT, name);
    *column += 1;
    *column += grid_put(grid, row, *column, grid->columns - *column, STYLE_NORMAL,
                        binding->label);
    labels->list[labels->count++] =
        (struct label){from, *column, binding->action, binding->keys[0]};
    *column += 2;
}

static int
label_width(const struct binding *binding, const struct scene *scene)
{
    char name[KEYMAP_NAME_BYTES];
    keymap_name(name, binding->keys[0], scene->ascii);
    return text_width(name) + 1 + text_width(binding->label) + 2;
}

// True for a binding of `view`, or of everywhere, that is worth a label: its key is
// not taken by the view itself, and the action makes sense now.
static bool
has_label(const struct binding *binding, bool everywhere, const struct view *view,
          const struct scene *scene)
{
    struct key key = {.code = binding->keys[0]};
    if (binding->label == NULL ||
        (everywhere && keymap_find(view->class->bindings, key) != ACTION_NONE) ||
        (binding->action == ACTION_NOTICES && model_notice_count(scene->model) == 0)) {
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
    const struct binding *lists[] = {view->class->bindings, view_everywhere};
    int width = 0;
    for (int i = 0; i < 2; i++) {
        for (const struct binding *at = lists[i]; at->action != ACTION_NONE; at++) {
            bool counts = is_kept(at) && has_label(at, i == 1, view, scene);
            width += counts ? label_width(at, scene) : 0;
        }
    }
    return width;
}

// Draw the labels of a list that are kept, or those that are not, as far as `limit`.
static void
draw_labels(struct labels *labels, bool everywhere, bool kept, const struct view *view,
            const struct scene *scene, struct grid *grid, struct area *line)
{
    const struct binding *at = everywhere ? view_everywhere : view->class->bindings;
    for (; at->action != ACTION_NONE; at++) {
        if (is_kept(at) != kept || !has_label(at, everywhere, view, scene)) {
            continue;
        }
        int end = line->column + label_width(at, scene) - 2;
        if (labels->count < KEYMAP_LABELS_MAX && end <= line->columns) {
            draw_label(labels, at, scene, grid, line->row, &line->column);
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
    draw_labels(labels, false, false, view, scene, grid, &line);
    draw_labels(labels, true, false, view, scene, grid, &line);
    line.columns = grid->columns;
    draw_labels(labels, true, true, view, scene, grid, &line);
    draw_labels(labels, false, true, view, scene, grid, &line);
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
