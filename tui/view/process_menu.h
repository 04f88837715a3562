/*
 * The box in which the column is chosen that orders the processes.
 */
#ifndef TUI_VIEW_PROCESS_MENU_H
#define TUI_VIEW_PROCESS_MENU_H

#include "tui/view/menu.h"

extern const struct menu_class process_menu;

#endif
