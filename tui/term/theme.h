/*
 * How a style looks: colours chosen by theme and by what the terminal can do.
 *
 * Colour is never the only signal: views draw signs and arrows as well, and
 * the mono theme shows everything with attributes alone.
 */
#ifndef TUI_TERM_THEME_H
#define TUI_TERM_THEME_H

#include <stdbool.h>

#include "tui/view/grid.h"

enum theme {
    THEME_DEFAULT,
    THEME_MONO,       // no colours
    THEME_COLORBLIND, // blue and orange in the place of green and red
    THEME_COUNT,
};

struct look {
    short foreground;    // colour number, -1 for the terminal's own
    short background;    // the same
    unsigned attributes; // enum look_attribute, or-ed
};

enum look_attribute {
    LOOK_BOLD = 1 << 0,
    LOOK_DIM = 1 << 1,
    LOOK_REVERSE = 1 << 2,
    LOOK_UNDERLINE = 1 << 3,
};

// "default", "mono", "colorblind"; false for anything else.
bool theme_parse(const char *name, enum theme *theme);
const char *theme_name(enum theme theme);

// How a cell of this style looks on a terminal of so many colours, in the row
// under the cursor or outside it.
struct look theme_look(enum theme theme, int colors, enum style style, bool selected);

#endif
