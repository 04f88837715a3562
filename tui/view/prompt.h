/*
 * A line to type into, in the place of the bottom line: a filter that works as
 * it is typed, or a command.
 */
#ifndef TUI_VIEW_PROMPT_H
#define TUI_VIEW_PROMPT_H

#include "tui/view/view.h"

#define PROMPT_BYTES 256
#define PROMPT_HISTORY 32

// What was typed before, the newest last.
struct prompt_history {
    char lines[PROMPT_HISTORY][PROMPT_BYTES];
    int count;
};

struct prompt {
    struct view view;
    char sign;           // before the text: '/' or ':'
    const char *command; // borrowed: put before the text on each change, or NULL
    struct prompt_history *history; // borrowed
    // What could be typed, whole lines: NULL after the last. Or NULL.
    const char *(*candidate)(size_t index);
    char text[PROMPT_BYTES];
    char before[PROMPT_BYTES]; // what Escape goes back to
    size_t cursor;             // byte of text
    int past;                  // lines back in history
    int used;                  // columns drawn
};

// `text` is there to begin with.
void prompt_init(struct prompt *prompt, char sign, const char *command,
                 struct prompt_history *history, const char *(*candidate)(size_t index),
                 const char *text);

#endif
