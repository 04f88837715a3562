/*
 * From keys to actions, and back to words: what the bottom line and the help say
 * about keys comes from the same bindings that are looked up here.
 */
#ifndef TUI_VIEW_KEYMAP_H
#define TUI_VIEW_KEYMAP_H

#include "tui/view/view.h"

#define KEYMAP_NAME_BYTES 32
#define KEYMAP_LABELS_MAX 24

// What a key is bound to in a list; ACTION_NONE when it is not.
enum action keymap_find(const struct binding *bindings, struct key key);

// "F6", "^L", "Space", "↑" ("Up" in ASCII).
void keymap_name(char name[KEYMAP_NAME_BYTES], uint32_t code, bool ascii);

// "< > s" for all keys of a binding.
void keymap_names(char *out, size_t capacity, const struct binding *binding, bool ascii);

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
