#include "tui/term/screen.h"

#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <curses.h>
#include <termios.h>

#include "tui/term/keys.h"
#include "tui/term/terminfo.h"

// Buttons are told, places as numbers (xterm's modes, which all others took over).
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"

#define REPLACEMENT 0xfffd

struct screen {
    SCREEN *curses; // owned
    int terminal;   // descriptor of the output
    bool unicode;
    bool mouse; // on
    struct keys keys;
    attr_t attributes[2][STYLE_COUNT]; // outside and in the row under the cursor
};

/*
 * What a signal handler needs to give the terminal back, made ready while
 * there was time. `armed` is set last and cleared first.
 */
static struct {
    volatile sig_atomic_t armed;
    int terminal;
    struct termios modes;
    bool mouse; // the terminal may tell of it
    char bytes[256];
    size_t length;
} rescue;

bool
screen_unicode(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool
screen_possible(FILE *out, char *why, size_t capacity)
{
    return terminfo_check(getenv("TERM"), fileno(out), why, capacity);
}

// Async-signal-safe.
static void
put_bytes(int terminal, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(terminal, bytes, length);
        if (wrote <= 0) {
            return; // the terminal is gone
        }
        bytes += wrote;
        length -= (size_t)wrote;
    }
}

static void
put(int terminal, const char *string)
{
    put_bytes(terminal, string, strlen(string));
}

static void
rescue_arm(int terminal, const struct termios *modes)
{
    rescue.terminal = terminal;
    rescue.modes = *modes;
    rescue.mouse = terminfo_mouse();
    rescue.length = terminfo_farewell(rescue.bytes, sizeof(rescue.bytes));
    rescue.armed = 1;
}

void
screen_rescue(void)
{
    if (!rescue.armed) {
        return;
    }
    rescue.armed = 0;
    if (rescue.mouse) {
        put(rescue.terminal, MOUSE_OFF);
    }
    put_bytes(rescue.terminal, rescue.bytes, rescue.length);
    tcsetattr(rescue.terminal, TCSANOW, &rescue.modes);
}

static attr_t
attributes_of(unsigned look)
{
    attr_t attributes = A_NORMAL;

    attributes |= look & LOOK_BOLD ? A_BOLD : 0;
    attributes |= look & LOOK_DIM ? A_DIM : 0;
    attributes |= look & LOOK_REVERSE ? A_REVERSE : 0;
    attributes |= look & LOOK_UNDERLINE ? A_UNDERLINE : 0;
    return attributes;
}

static short
pair_of(int selected, int style)
{
    return (short)(1 + selected * STYLE_COUNT + style);
}

static bool
wants_color(enum theme theme)
{
    const char *refusal = getenv("NO_COLOR");

    return theme != THEME_MONO && !(refusal && *refusal) && has_colors();
}

static void
paint(struct screen *screen, enum theme theme)
{
    int colors = 0;

    if (wants_color(theme) && start_color() == OK && use_default_colors() == OK) {
        colors = COLORS;
    }
    for (int selected = 0; selected < 2; selected++) {
        for (int style = 0; style < STYLE_COUNT; style++) {
            struct look look = theme_look(theme, colors, (enum style)style, selected);
            screen->attributes[selected][style] = attributes_of(look.attributes);
            if (colors > 0) {
                init_pair(pair_of(selected, style), look.foreground, look.background);
            }
        }
    }
}

struct screen *
screen_open(const struct screen_options *options)
{
    struct termios modes;
    struct screen *screen = calloc(1, sizeof(*screen));

    if (!screen) {
        return NULL;
    }
    screen->terminal = fileno(options->out);
    screen->unicode = screen_unicode();
    if (tcgetattr(screen->terminal, &modes) != 0) {
        goto fail;
    }
    set_escdelay(KEYS_ESCAPE_MS);
    screen->curses = newterm(NULL, options->out, options->in);
    if (!screen->curses) {
        goto fail;
    }
    rescue_arm(screen->terminal, &modes);
    // ^C, ^Z and ^S are keys like others: the loop says what they do
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    scrollok(stdscr, FALSE);
    intrflush(stdscr, FALSE);
    keyok(KEY_MOUSE, FALSE); // keys.c reads it
    curs_set(0);
    paint(screen, options->theme);
    if (options->mouse) {
        screen_mouse(screen, true);
    }
    screen_resize(screen);
    return screen;
fail:
    free(screen);
    return NULL;
}

void
screen_close(struct screen *screen)
{
    if (!screen) {
        return;
    }
    screen_suspend(screen);
    rescue.armed = 0;
    delscreen(screen->curses);
    free(screen);
}

void
screen_suspend(struct screen *screen)
{
    if (screen->mouse) {
        put(screen->terminal, MOUSE_OFF);
    }
    endwin();
}

void
screen_resume(struct screen *screen)
{
    screen_resize(screen);
    clearok(curscr, TRUE);
    refresh();
    if (screen->mouse) {
        put(screen->terminal, MOUSE_ON);
    }
}

int
screen_rows(const struct screen *screen)
{
    (void)screen;
    return LINES;
}

int
screen_columns(const struct screen *screen)
{
    (void)screen;
    return COLS;
}

static int
at_most(int value, int maximum)
{
    return value < maximum ? value : maximum;
}

void
screen_resize(struct screen *screen)
{
    struct winsize size;

    // a terminal that was never told its size says 0
    if (ioctl(screen->terminal, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
        resizeterm(at_most(size.ws_row, SCREEN_ROWS_MAX),
                   at_most(size.ws_col, SCREEN_COLUMNS_MAX));
    }
}

void
screen_mouse(struct screen *screen, bool on)
{
    if (terminfo_mouse()) {
        screen->mouse = on;
        put(screen->terminal, on ? MOUSE_ON : MOUSE_OFF);
    }
}

/*
 * The character this terminal can show in the place of a cell's, and the
 * columns curses will give it; that may be less than the grid gave it.
 */
static int
shown(const struct screen *screen, const struct cell *cell, bool wide, wchar_t text[3])
{
    uint32_t character = cell->character ? cell->character : ' ';
    uint32_t unknown = screen->unicode ? REPLACEMENT : '?';
    int columns = 1;

    if (character >= 0x80) {
        columns = screen->unicode ? wcwidth((wchar_t)character) : -1;
        if (columns < 1 || columns > (wide ? 2 : 1)) {
            character = unknown;
            columns = 1;
        }
    } else if (character < ' ' || character == 0x7f) {
        character = '?';
    }
    text[0] = (wchar_t)character;
    text[1] = 0;
    if (screen->unicode && cell->combining && wcwidth((wchar_t)cell->combining) == 0) {
        text[1] = (wchar_t)cell->combining;
    }
    text[2] = 0;
    return columns;
}

static void
show_cell(const struct screen *screen, const struct grid *grid, int row, int column)
{
    const struct cell *cell = &grid->cells[row * grid->columns + column];
    bool wide = column + 1 < grid->columns && cell[1].character == 0;
    int selected = cell->style == STYLE_SELECTED || cell->attributes & ATTRIBUTE_SELECTED;
    attr_t attributes = screen->attributes[selected][cell->style];
    wchar_t text[3];
    cchar_t glyph;

    if (cell->attributes & ATTRIBUTE_BOLD) {
        attributes |= A_BOLD;
    }
    if (cell->attributes & ATTRIBUTE_FILLED) {
        attributes ^= A_REVERSE; // stands out from filled ones when it is selected too
    }
    int columns = shown(screen, cell, wide, text);
    setcchar(&glyph, text, attributes, pair_of(selected, cell->style), NULL);
    mvadd_wch(row, column, &glyph);
    if (wide && columns == 1) {
        setcchar(&glyph, L" ", attributes, pair_of(selected, cell->style), NULL);
        mvadd_wch(row, column + 1, &glyph);
    }
}

static void
show_row(const struct screen *screen, const struct grid *grid, int row)
{
    int columns = at_most(grid->columns, COLS);

    for (int column = 0; column < columns; column++) {
        bool right_half =
            column > 0 && grid->cells[row * grid->columns + column].character == 0;
        if (!right_half) {
            show_cell(screen, grid, row, column);
        }
    }
}

void
screen_show(struct screen *screen, const struct grid *grid, bool everything)
{
    int rows = at_most(grid->rows, LINES);
    bool cursor = grid->cursor_row >= 0 && grid->cursor_row < rows &&
                  grid->cursor_column >= 0 && grid->cursor_column < COLS;

    if (everything) {
        clearok(curscr, TRUE);
    }
    erase();
    for (int row = 0; row < rows; row++) {
        show_row(screen, grid, row);
    }
    curs_set(cursor);
    if (cursor) {
        move(grid->cursor_row, grid->cursor_column);
    }
    refresh();
}

bool
screen_key(struct screen *screen, uint64_t now_ms, struct key *key)
{
    return keys_next(&screen->keys, now_ms, key);
}
