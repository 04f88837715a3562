/*
 * The top of the screen: which process, how it is, and whether the figures can
 * be believed.
 */
#ifndef TUI_VIEW_HEADER_H
#define TUI_VIEW_HEADER_H

#include "tui/view/grid.h"
#include "tui/view/scene.h"

#define HEADER_DETAIL_BYTES 256

// The state of the data in one word, such as "LIVE", with what belongs to it,
// such as "1s"; and how it is to be shown.
struct header_state {
    const char *word;
    char detail[HEADER_DETAIL_BYTES];
    enum style style;
};

// Rows that the header takes on a screen of this size, 1 to 3.
int header_rows(const struct scene *scene, int rows, int columns);

// Draw it into the first rows of the grid.
void header_draw(const struct scene *scene, struct grid *grid, int rows);

struct header_state header_state(const struct scene *scene);

#endif
