/*
 * The question before memtop leaves a program that it started: y stops the program, n
 * leaves it running, Escape stays.
 */
#ifndef TUI_VIEW_LEAVE_H
#define TUI_VIEW_LEAVE_H

#include "tui/view/view.h"

struct leave {
    struct view view;
};

void leave_init(struct leave *leave);

#endif
