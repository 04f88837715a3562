/*
 * A real terminal: grids go out, keys come in. Nothing else in memtop knows
 * ncurses.
 *
 * The happy path: screen_possible(), screen_open(), then screen_show() for
 * every grid and screen_key() until it has none; screen_close() gives the
 * terminal back as it was.
 *
 * What can go wrong: no TERM, an unknown one, or one that cannot place text
 * (screen_possible() says so in words); the terminal goes away (writes are
 * lost, reading ends: the loop watches for that); the viewer crashes
 * (screen_rescue() is safe in a signal handler).
 *
 * One screen at a time: curses has one.
 */
#ifndef TUI_TERM_SCREEN_H
#define TUI_TERM_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/term/theme.h"
#include "tui/view/key.h"

// A terminal that claims more is shown this much.
#define SCREEN_ROWS_MAX 1000
#define SCREEN_COLUMNS_MAX 2000

struct screen;

struct screen_options {
    FILE *in;         // a terminal, borrowed
    FILE *out;        // the same terminal, borrowed
    enum theme theme; // NO_COLOR makes it mono
    bool mouse;       // start with the mouse on
};

// Can this terminal show a viewer? If not, `why` says so and what to do.
bool screen_possible(FILE *out, char *why, size_t capacity);

// Does the locale draw more than ASCII?
bool screen_unicode(void);

// NULL when memory ran out or the terminal refused.
struct screen *screen_open(const struct screen_options *options);

// Give the terminal back as it was. NULL is harmless.
void screen_close(struct screen *screen);

// Give it back for a while (^Z), and take it again.
void screen_suspend(struct screen *screen);
void screen_resume(struct screen *screen);

// The size to draw in. Ask the terminal for it anew with screen_resize().
int screen_rows(const struct screen *screen);
int screen_columns(const struct screen *screen);
void screen_resize(struct screen *screen);

// Show a grid; only what changed is written, unless `everything` is.
void screen_show(struct screen *screen, const struct grid *grid, bool everything);

void screen_mouse(struct screen *screen, bool on);

// The next key, without waiting. False when there is none now.
bool screen_key(struct screen *screen, uint64_t now_ms, struct key *key);

// Give the terminal back from a signal handler: async-signal-safe, and
// harmless when no screen is open.
void screen_rescue(void);

#endif
