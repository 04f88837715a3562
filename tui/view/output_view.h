/*
 * What the command wrote that memtop started: its newest lines, followed as they come,
 * until somebody scrolls up.
 */
#ifndef TUI_VIEW_OUTPUT_VIEW_H
#define TUI_VIEW_OUTPUT_VIEW_H

#include "tui/text/scroll.h"
#include "tui/view/view.h"

#define OUTPUT_FIND_BYTES 256

struct output_view {
    struct view view;
    const struct scroll *scroll; // borrowed
    uint64_t bottom;             // one after the last line on the screen
    bool follows;                // it is the program's last
    int left;                    // columns that are scrolled away
    int height;                  // of the screen, when it was drawn
    uint64_t found;              // the line that was looked for, UINT64_MAX for none
    char find[OUTPUT_FIND_BYTES];
};

void output_view_init(struct output_view *output, const struct scroll *scroll);

// Look for words, from the last line on the screen upwards. False when no line has
// them. "" ends looking.
bool output_view_find(struct output_view *output, const char *words);

// The next line that has them, down or up. False when there is none, or no words.
bool output_view_next(struct output_view *output, int by);

#endif
