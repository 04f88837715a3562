/*
 * The call tree as a flame graph: the class at the top, below each box what it
 * called, as wide as its part of what lives, or of what came since the mark. Names
 * and signs tell what colours do. Frames that are folded in the tree are one box
 * here: the program's own code fits the screen.
 */
#ifndef TUI_VIEW_FLAME_H
#define TUI_VIEW_FLAME_H

#include "tui/view/tree_view.h"

#define FLAME_BOXES_MAX 4096

// A box on the screen.
struct flame_box {
    size_t row;        // of paths
    int level;         // from the top
    int from;          // cells
    int to;            // the cell after it
    double place;      // where the next box below it begins
    double cells_each; // cells for one object
    uint32_t narrow;   // rows below it too narrow to be boxes
    bool several;      // stands for those of the box around it
};

struct flame {
    struct view view;
    const struct tree_view *tree; // borrowed
    struct paths paths;           // all of it unfolded
    bool since;                   // widths are changes since the mark
    uint64_t zoom;                // key of the row that fills the width, 0: the class
    uint64_t selected;            // key of a row, 0: the class
    struct flame_row *rows;       // owned, beside those of paths
    size_t capacity;
    struct flame_box boxes[FLAME_BOXES_MAX]; // as drawn
    int count;
    int top; // level of the first row shown
    struct area area;
};

void flame_init(struct flame *flame);
void flame_destroy(struct flame *flame);

// Show the tree as this view has it: its filter, its folding of others' code.
void flame_open(struct flame *flame, const struct tree_view *tree);

#endif
