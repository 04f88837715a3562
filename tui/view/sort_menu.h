/*
 * The columns to order by: of the classes, of the processes, and of a call tree.
 */
#ifndef TUI_VIEW_SORT_MENU_H
#define TUI_VIEW_SORT_MENU_H

#include "tui/view/menu.h"

extern const struct menu_class sort_menu_classes;
extern const struct menu_class sort_menu_processes;
extern const struct menu_class sort_menu_tree;

#endif
