/*
 * The orders that a call tree can have, to choose from.
 */
#ifndef TUI_VIEW_TREE_MENU_H
#define TUI_VIEW_TREE_MENU_H

#include "tui/view/menu.h"

extern const struct menu_class tree_menu;

#endif
