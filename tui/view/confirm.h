/*
 * A question in the bottom line, whose answers run commands; any other key is none.
 */
#ifndef TUI_VIEW_CONFIRM_H
#define TUI_VIEW_CONFIRM_H

#include "tui/view/view.h"

struct confirm {
    struct view view;
    const char *question; // borrowed
    const char *answers;  // borrowed: the keys
    const char *yes;      // borrowed: a command
    const char *no;       // borrowed: a command, NULL for none
};

// y runs a command, anything else does not.
void confirm_init(struct confirm *confirm, const char *question, const char *command);

// Before memtop leaves a program that it started: y stops the program, n leaves it
// running, Escape stays.
void confirm_init_leave(struct confirm *confirm);

#endif
