/*
 * The columns to order the classes by.
 */
#ifndef TUI_VIEW_SORT_MENU_H
#define TUI_VIEW_SORT_MENU_H

#include "tui/view/menu.h"

extern const struct menu_class sort_menu;

#endif
