/*
 * A box with lines to choose from. Sort menu and mark picker are menus: they
 * say what the lines are, and which command a line stands for.
 */
#ifndef TUI_VIEW_MENU_H
#define TUI_VIEW_MENU_H

#include "tui/view/view.h"

#define MENU_LINE_BYTES 160

struct menu_line {
    char text[MENU_LINE_BYTES];
    char command[SCENE_COMMAND_BYTES]; // what choosing it runs
    uint32_t key;                      // chooses it at once, 0 for none
};

struct menu_class {
    const char *name; // of the view
    const char *title;
    // The line at `index`, false after the last.
    bool (*line)(const struct scene *scene, int index, struct menu_line *line);
};

struct menu {
    struct view view;
    struct view_class view_class; // with the name of the menu's class
    const struct menu_class *class;
    int cursor;
    int top;
    struct area inside; // where the lines are on the screen, for the mouse
};

// The cursor begins on the line that stands for `command`, or on the first. The menu
// must stay where it is.
void menu_init(struct menu *menu, const struct menu_class *class,
               const struct scene *scene, const char *command);

// Draw an empty box with a title, as large as fits into `area` around `rows` and
// `columns`; returns its inside.
struct area menu_box(const struct scene *scene, struct grid *grid, struct area area,
                     const char *title, int rows, int columns);

#endif
