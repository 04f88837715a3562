/*
 * The signs that are not plain text, in UTF-8 and in ASCII.
 */
#ifndef TUI_VIEW_GLYPHS_H
#define TUI_VIEW_GLYPHS_H

#include <stdbool.h>

#define GLYPHS_LEVELS 8 // heights of a sparkline

struct glyphs {
    const char *up;      // grew, or sorted upwards
    const char *down;    // shrank, or sorted downwards
    const char *same;    // did not change
    const char *unknown; // nobody measured
    const char *cursor;  // the row under the cursor
    const char *more;    // something is left out
    const char *dot;     // between two facts
    const char *change;  // heads a column of changes
    const char *open;    // a row of a tree, with rows below it
    const char *folded;  // the same, not shown
    const char *branch;  // to a row, with siblings after it
    const char *branch_last;
    const char *branch_past; // beside rows below one with siblings after it
    const char *into;        // between what was opened and what is in it
    const char *around;      // an estimate and its error
    const char *times;
    const char *descending;
    const char *ascending;
    const char *moment; // on a timeline: the one that is shown
    const char *newest; // the end of one that goes on
    const char *track;  // where nothing happened
    const char *hole;   // where nothing is known, without room for a word
    const char *levels[GLYPHS_LEVELS];
    const char *across; // a box: its sides and corners
    const char *along;
    const char *corners[4]; // top left, top right, bottom left, bottom right
};

const struct glyphs *glyphs_of(bool ascii);

#endif
