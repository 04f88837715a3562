/*
 * From keys to actions, and back to words: what the bottom line and the help say
 * about keys comes from the same bindings that are looked up here.
 */
#ifndef TUI_VIEW_KEYMAP_H
#define TUI_VIEW_KEYMAP_H

#include "tui/view/view.h"

#define KEYMAP_NAME_BYTES 32
#define KEYMAP_LABELS_MAX 24

// The keys that a person chose for an action: they replace those of the binding.
struct keymap_choice {
    const char *view; // borrowed: a view's name, "" for everywhere
    enum action action;
    uint32_t keys[BINDING_KEYS_MAX]; // 0 ends them
};

struct keymap {
    const struct keymap_choice *choices; // borrowed
    size_t count;
};

// What a key is bound to in a view, or everywhere (NULL); ACTION_NONE when it is not.
// A chosen key goes before the keys that the view has by itself. `keymap`, here and
// below: NULL for none.
enum action keymap_find(const struct keymap *keymap, const struct view_class *view,
                        struct key key);

// "F6", "^L", "Space", "↑" ("Up" in ASCII).
void keymap_name(char name[KEYMAP_NAME_BYTES], uint32_t code, bool ascii);

// The key called so in ASCII by the above, "Semicolon" for the one that a file cannot
// have by itself; 0 when there is none.
uint32_t keymap_key(const char *name);

// "< > s" for all keys of a view's binding, "" when other actions took them.
void keymap_names(char *out, size_t capacity, const struct keymap *keymap,
                  const struct view_class *view, const struct binding *binding,
                  bool ascii);

// Where the bottom line shows what, for the mouse.
struct label {
    int from; // column
    int to;   // column after it
    enum action action;
    uint32_t key;
};

struct labels {
    struct label list[KEYMAP_LABELS_MAX];
    int count;
};

// Draw the keys that work now into a row: the view's, then those that hold
// everywhere, as far as they fit; help and quit always do where anything does.
void keymap_draw(struct labels *labels, const struct view *view,
                 const struct scene *scene, struct grid *grid, int row);

// What lies at a column of the bottom line; NULL for nothing.
const struct label *keymap_at(const struct labels *labels, int column);

#endif
