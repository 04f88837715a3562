#include "tui/term/theme.h"

#include <string.h>

enum depth {
    DEPTH_MONO,
    DEPTH_8,
    DEPTH_256,
    DEPTH_COUNT,
};

struct palette {
    struct look plain[STYLE_COUNT];
    struct look selected[STYLE_COUNT];
};

// Rows: normal, accent, grew, shrank, warning, dim, heading, selected.
static const struct palette mono = {
    {
     {-1, -1, 0},
     {-1, -1, LOOK_BOLD},
     {-1, -1, LOOK_BOLD},
     {-1, -1, 0},
     {-1, -1, LOOK_UNDERLINE},
     {-1, -1, LOOK_DIM},
     {-1, -1, LOOK_BOLD | LOOK_UNDERLINE},
     {-1, -1, LOOK_REVERSE},
     },
    {
     {-1, -1, LOOK_REVERSE},
     {-1, -1, LOOK_REVERSE | LOOK_BOLD},
     {-1, -1, LOOK_REVERSE | LOOK_BOLD},
     {-1, -1, LOOK_REVERSE},
     {-1, -1, LOOK_REVERSE | LOOK_UNDERLINE},
     {-1, -1, LOOK_REVERSE},
     {-1, -1, LOOK_REVERSE | LOOK_BOLD},
     {-1, -1, LOOK_REVERSE},
     },
};

// The selected row has both its colours set: it reads the same on a dark and
// on a light terminal.
static const struct palette few = {
    {
     {-1, -1, 0},
     {6, -1, LOOK_BOLD},
     {1, -1, 0},
     {2, -1, 0},
     {3, -1, 0},
     {-1, -1, LOOK_DIM},
     {-1, -1, LOOK_BOLD | LOOK_UNDERLINE},
     {0, 6, 0},
     },
    {
     {0, 6, 0},
     {0, 6, LOOK_BOLD},
     {1, 6, LOOK_BOLD},
     {0, 6, 0},
     {0, 6, LOOK_UNDERLINE},
     {0, 6, 0},
     {0, 6, LOOK_BOLD},
     {0, 6, 0},
     },
};

static const struct palette many = {
    {
     {-1, -1, 0},
     {37, -1, LOOK_BOLD},
     {167, -1, 0},
     {71, -1, 0},
     {178, -1, 0},
     {245, -1, 0},
     {-1, -1, LOOK_BOLD | LOOK_UNDERLINE},
     {255, 24, 0},
     },
    {
     {255, 24, 0},
     {123, 24, LOOK_BOLD},
     {217, 24, LOOK_BOLD},
     {157, 24, 0},
     {228, 24, 0},
     {250, 24, 0},
     {255, 24, LOOK_BOLD},
     {255, 24, 0},
     },
};

static const struct palette few_colorblind = {
    {
     {-1, -1, 0},
     {-1, -1, LOOK_BOLD},
     {3, -1, LOOK_BOLD},
     {4, -1, LOOK_BOLD},
     {5, -1, 0},
     {-1, -1, LOOK_DIM},
     {-1, -1, LOOK_BOLD | LOOK_UNDERLINE},
     {0, 7, 0},
     },
    {
     {0, 7, 0},
     {0, 7, LOOK_BOLD},
     {0, 3, LOOK_BOLD},
     {4, 7, LOOK_BOLD},
     {0, 7, LOOK_UNDERLINE},
     {0, 7, 0},
     {0, 7, LOOK_BOLD},
     {0, 7, 0},
     },
};

static const struct palette many_colorblind = {
    {
     {-1, -1, 0},
     {-1, -1, LOOK_BOLD},
     {208, -1, LOOK_BOLD},
     {69, -1, 0},
     {176, -1, 0},
     {245, -1, 0},
     {-1, -1, LOOK_BOLD | LOOK_UNDERLINE},
     {255, 239, 0},
     },
    {
     {255, 239, 0},
     {255, 239, LOOK_BOLD},
     {215, 239, LOOK_BOLD},
     {117, 239, 0},
     {219, 239, 0},
     {250, 239, 0},
     {255, 239, LOOK_BOLD},
     {255, 239, 0},
     },
};

static const struct palette *const palettes[THEME_COUNT][DEPTH_COUNT] = {
    {&mono, &few,            &many           },
    {&mono, &mono,           &mono           },
    {&mono, &few_colorblind, &many_colorblind},
};

static const char *const names[THEME_COUNT] = {"default", "mono", "colorblind"};

const char *
theme_name(enum theme theme)
{
    return names[theme];
}

bool
theme_parse(const char *name, enum theme *theme)
{
    for (int i = 0; i < THEME_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            *theme = (enum theme)i;
            return true;
        }
    }
    return false;
}

struct look
theme_look(enum theme theme, int colors, enum style style, bool selected)
{
    enum depth depth = colors >= 256 ? DEPTH_256 : colors >= 8 ? DEPTH_8 : DEPTH_MONO;
    const struct palette *palette = palettes[theme][depth];

    return selected ? palette->selected[style] : palette->plain[style];
}
