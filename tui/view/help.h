/*
 * The keys of a view and what its words mean, made from the bindings that are
 * looked up and the columns that are drawn.
 */
#ifndef TUI_VIEW_HELP_H
#define TUI_VIEW_HELP_H

#include "tui/view/pager.h"

#define HELP_USAGE_BYTES 48

// One command as it is typed, and what it does.
struct help_command {
    char usage[HELP_USAGE_BYTES];
    const char *help;
};

struct help {
    struct pager pager;
    const struct view_class *about; // borrowed
    // The commands there are: false after the last.
    bool (*command)(size_t index, struct help_command *command);
};

void help_init(struct help *help, const struct view_class *about,
               bool (*command)(size_t index, struct help_command *command));

#endif
