/*
 * The marks that are set, to choose since when changes are shown.
 */
#ifndef TUI_VIEW_MARK_MENU_H
#define TUI_VIEW_MARK_MENU_H

#include "tui/view/menu.h"

extern const struct menu_class mark_menu;

#endif
