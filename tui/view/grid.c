#include "tui/view/grid.h"

#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"

// Far beyond any terminal; keeps products of sizes small.
#define GRID_SIDE_MAX 4096

static const struct cell blank = {' ', 0, STYLE_NORMAL, 0};

bool
grid_init(struct grid *grid, int rows, int columns)
{
    *grid = (struct grid){.cursor_row = -1};
    return grid_resize(grid, rows, columns);
}

void
grid_destroy(struct grid *grid)
{
    free(grid->cells);
    grid->cells = NULL;
    grid->rows = 0;
    grid->columns = 0;
}

static int
side(int wanted)
{
    return wanted < 0 ? 0 : wanted > GRID_SIDE_MAX ? GRID_SIDE_MAX : wanted;
}

bool
grid_resize(struct grid *grid, int rows, int columns)
{
    rows = side(rows);
    columns = side(columns);
    // one cell at least: malloc(0) may answer NULL
    size_t count = (size_t)rows * (size_t)columns + 1;
    struct cell *cells = realloc(grid->cells, count * sizeof *cells);
    if (cells == NULL) {
        grid_destroy(grid);
        return false;
    }
    grid->cells = cells;
    grid->rows = rows;
    grid->columns = columns;
    grid_clear(grid);
    return true;
}

void
grid_clear(struct grid *grid)
{
    size_t count = (size_t)grid->rows * (size_t)grid->columns;
    for (size_t i = 0; i < count; i++) {
        grid->cells[i] = blank;
    }
    grid->cursor_row = -1;
    grid->cursor_column = 0;
}

// A cell that half of a wide character is about to be written over: blank the
// other half, so that no half stays.
static void
split(struct grid *grid, int row, int column)
{
    struct cell *line = grid->cells + (size_t)row * (size_t)grid->columns;
    if (line[column].character == 0 && column > 0) {
        line[column - 1].character = ' ';
        line[column - 1].combining = 0;
    }
    if (column + 1 < grid->columns && line[column + 1].character == 0) {
        line[column + 1].character = ' ';
    }
}

static void
store(struct grid *grid, int row, int column, struct cell cell)
{
    split(grid, row, column);
    struct cell *to = grid->cells + (size_t)row * (size_t)grid->columns + column;
    cell.attributes = to->attributes;
    *to = cell;
}

// What a cell may hold for a character of a text: never a control character,
// and in ASCII nothing else than ASCII.
static uint32_t
shown(const struct grid *grid, uint32_t character, bool valid)
{
    if (valid && !text_hostile(character) && !text_combines(character) &&
        text_cells(character) > 0 && (!grid->ascii || character < 0x7f)) {
        return character;
    }
    return grid->ascii ? '?' : TEXT_REPLACEMENT;
}

int
grid_put(struct grid *grid, int row, int column, int columns, enum style style,
         const char *text)
{
    if (row < 0 || row >= grid->rows || column < 0 || column >= grid->columns) {
        return 0;
    }
    int limit = columns < grid->columns - column ? columns : grid->columns - column;
    int used = 0;
    size_t length = strlen(text);
    struct cell *last = NULL; // takes a combining mark
    while (length > 0) {
        uint32_t character;
        bool valid;
        size_t bytes = text_decode(text, length, &character, &valid);
        text += bytes;
        length -= bytes;
        if (valid && last != NULL && text_combines(character)) {
            if (last->combining == 0 && !grid->ascii) {
                last->combining = character;
            }
            continue;
        }
        character = shown(grid, character, valid);
        int cells = text_cells(character);
        if (used + cells > limit) {
            break;
        }
        store(grid, row, column + used, (struct cell){character, 0, (uint8_t)style, 0});
        last = grid->cells + (size_t)row * (size_t)grid->columns + column + used;
        if (cells == 2) {
            store(grid, row, column + used + 1, (struct cell){' ', 0, (uint8_t)style, 0});
            last[0].character = character;
            last[1].character = 0;
        }
        used += cells;
    }
    return used;
}

int
grid_put_right(struct grid *grid, int row, int column, int columns, enum style style,
               const char *text)
{
    int width = text_width(text);
    if (width > columns) {
        width = columns;
    }
    return grid_put(grid, row, column + columns - width, width, style, text);
}

void
grid_mark(struct grid *grid, int row, int column, int columns, unsigned attributes)
{
    if (row < 0 || row >= grid->rows) {
        return;
    }
    for (int i = column < 0 ? 0 : column; i < grid->columns && i < column + columns;
         i++) {
        grid->cells[(size_t)row * (size_t)grid->columns + (size_t)i].attributes |=
            (uint8_t)attributes;
    }
}

// One row as UTF-8 without trailing blanks; returns the end.
static char *
row_text(const struct grid *grid, int row, char *out)
{
    const struct cell *line = grid->cells + (size_t)row * (size_t)grid->columns;
    int end = grid->columns;
    while (end > 0 && line[end - 1].character == ' ' && line[end - 1].combining == 0) {
        end--;
    }
    for (int i = 0; i < end; i++) {
        if (line[i].character != 0) {
            out += text_encode(line[i].character, out);
        }
        if (line[i].combining != 0) {
            out += text_encode(line[i].combining, out);
        }
    }
    *out++ = '\n';
    return out;
}

char *
grid_text(const struct grid *grid)
{
    size_t row_bytes = (size_t)grid->columns * 8 + 1; // two characters a cell, "\n"
    char *text = malloc((size_t)grid->rows * row_bytes + TEXT_CHARACTER_BYTES);
    if (text == NULL) {
        return NULL;
    }
    char *end = text;
    for (int row = 0; row < grid->rows; row++) {
        end = row_text(grid, row, end);
    }
    *end = '\0';
    return text;
}
