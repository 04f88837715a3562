/*
 * A box with lines to choose from. Sort menu and mark picker are menus: they
 * say what the lines are, and which command a line stands for.
 */
#ifndef TUI_VIEW_MENU_H
#define TUI_VIEW_MENU_H

#include "tui/view/view.h"

#define MENU_LINE_BYTES 160

struct menu_class {
    struct view_class view; // its functions are those of menu.c
    const char *title;
    // The line at `index`, false after the last. `command` is what choosing it runs
    // and `key` the key that chooses it at once, 0 for none.
    bool (*line)(const struct scene *scene, int index, char line[MENU_LINE_BYTES],
                 char command[SCENE_COMMAND_BYTES], uint32_t *key);
};

struct menu {
    struct view view; // its class is a menu_class
    int cursor;
    int top;
    struct area inside; // where the lines are on the screen, for the mouse
};

extern const struct binding menu_bindings[];

// The cursor begins on the line that stands for `command`, or on the first.
void menu_init(struct menu *menu, const struct menu_class *class,
               const struct scene *scene, const char *command);

// What a menu_class puts into its view.
void menu_draw(struct view *view, const struct scene *scene, struct grid *grid,
               struct area area);
unsigned menu_act(struct view *view, struct scene *scene, enum action action,
                  struct key key);
unsigned menu_type(struct view *view, struct scene *scene, struct key key);
unsigned menu_mouse(struct view *view, struct scene *scene, struct key key);

// Draw an empty box with a title, as large as fits into `area` around `rows` and
// `columns`; returns its inside.
struct area menu_box(const struct scene *scene, struct grid *grid, struct area area,
                     const char *title, int rows, int columns);

#endif
