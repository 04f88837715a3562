/*
 * What actions are called where a person names them: in the configuration file.
 */
#ifndef TUI_VIEW_ACTION_H
#define TUI_VIEW_ACTION_H

#include "tui/view/view.h"

// "sort-menu". NULL for an action that has no name: its keys cannot be chosen.
const char *action_name(enum action action);

// ACTION_NONE when none is called so.
enum action action_find(const char *name);

#endif
