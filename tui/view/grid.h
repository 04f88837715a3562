/*
 * A rectangle of character cells that views draw into, without a terminal.
 *
 * A view writes text at a row and column in a style; what does not fit is cut,
 * never wrapped. tui/term shows a grid on a real screen, tests compare
 * grid_text() with a golden file. Text is UTF-8; a wide character takes two
 * cells, the second of which holds 0.
 */
#ifndef TUI_VIEW_GRID_H
#define TUI_VIEW_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a cell means, not how it looks: the theme in tui/term chooses that.
enum style {
    STYLE_NORMAL,
    STYLE_ACCENT,   // the one accent colour: titles, keys, the sorted column
    STYLE_GREW,     // red, always beside a sign and an arrow
    STYLE_SHRANK,   // green, likewise
    STYLE_WARNING,  // yellow: something about the data itself
    STYLE_DIM,      // folded, gone or uncertain
    STYLE_HEADING,  // column headings
    STYLE_SELECTED, // the row under the cursor
    STYLE_COUNT,
};

enum attribute {
    ATTRIBUTE_BOLD = 1 << 0,
    ATTRIBUTE_SELECTED = 1 << 1, // a cell of the row under the cursor keeps its style
    ATTRIBUTE_FILLED = 1 << 2,   // the style's colour is the ground, not the letters
};

struct cell {
    uint32_t character; // Unicode scalar value, ' ' when empty, 0 right of a wide one
    uint32_t combining; // one combining character over it, or 0
    uint8_t style;      // enum style
    uint8_t attributes; // enum attribute, or-ed
};

struct grid {
    int rows;
    int columns;
    bool ascii;     // views draw with ASCII alone
    int cursor_row; // where a text cursor shows, -1 for none
    int cursor_column;
    struct cell *cells; // owned, rows * columns
};

// False when memory ran out; the grid is then empty. All cells are blank.
bool grid_init(struct grid *grid, int rows, int columns);
void grid_destroy(struct grid *grid);

// Change the size and blank everything. False when memory ran out.
bool grid_resize(struct grid *grid, int rows, int columns);
void grid_clear(struct grid *grid);

// Write UTF-8 at a place, at most `columns` cells wide. Returns the cells used.
// Control characters and broken UTF-8 become U+FFFD (or '?' in ASCII).
int grid_put(struct grid *grid, int row, int column, int columns, enum style style,
             const char *text);

// The same, right-aligned in `columns` cells.
int grid_put_right(struct grid *grid, int row, int column, int columns, enum style style,
                   const char *text);

// Set attributes on a run of cells, keeping what they show.
void grid_mark(struct grid *grid, int row, int column, int columns, unsigned attributes);

// All rows as UTF-8 lines without trailing blanks. The caller frees it; NULL
// when memory ran out.
char *grid_text(const struct grid *grid);

#endif
