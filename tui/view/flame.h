/*
 * The call tree as a flame graph: the class at the top, below each box what it
 * called, as wide as its part of what lives, or of what came since the mark. Names
 * and signs tell what colours do.
 */
#ifndef TUI_VIEW_FLAME_H
#define TUI_VIEW_FLAME_H

#include "tui/view/tree_view.h"

#define FLAME_BOXES_MAX 4096

// A box on the screen.
struct flame_box {
    uint32_t node;
    int level;        // from the top
    int from;         // cells
    int to;           // the cell after it
    uint32_t several; // nodes too narrow to be shown by themselves; 0 for one node
};

struct flame {
    struct view view;
    const struct tree_view *tree; // borrowed
    bool since;                   // widths are changes since the mark
    uint32_t zoom;                // node that fills the width
    uint32_t selected;            // node
    uint64_t generation;          // of the tree, which node numbers are good for
    struct flame_box boxes[FLAME_BOXES_MAX]; // as drawn
    int count;
    int top; // level of the first row shown
    struct area area;
};

void flame_init(struct flame *flame, const struct tree_view *tree);

#endif
