/*
 * A question in the bottom line: y runs a command, anything else does not.
 */
#ifndef TUI_VIEW_CONFIRM_H
#define TUI_VIEW_CONFIRM_H

#include "tui/view/view.h"

struct confirm {
    struct view view;
    const char *question; // borrowed
    const char *command;  // borrowed
};

void confirm_init(struct confirm *confirm, const char *question, const char *command);

#endif
