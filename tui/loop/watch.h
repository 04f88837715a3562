/*
 * The viewer in a terminal: keys in, screen out, signals, the clock.
 *
 * The happy path: watch_open() takes the terminal, uv_run() runs until
 * somebody quits, watch_close() gives the terminal back.
 *
 * What can go wrong: the terminal goes away (the viewer ends); a signal asks
 * for the end (the terminal is given back, then watch_signal() says which);
 * a file cannot be written (said on the screen); no memory for the grid (the
 * viewer ends with watch_failed()).
 *
 * Keys are drawn at once, data at most every WATCH_FRAME_MS; with neither, the
 * only thing that wakes the viewer is one tick a second.
 */
#ifndef TUI_LOOP_WATCH_H
#define TUI_LOOP_WATCH_H

#include <stdbool.h>

#include <uv.h>

#include "tui/app.h"
#include "tui/term/screen.h"

#define WATCH_FRAME_MS 33
#define WATCH_TICK_MS 1000

// Keys taken before they are drawn, when they come as fast as a paste.
#define WATCH_KEYS_MAX 64

struct watch;

// Take the terminal and draw. NULL when it cannot be had. It ends by uv_stop().
struct watch *watch_open(uv_loop_t *loop, struct app *app,
                         const struct screen_options *options);

// What is not the terminal's business, REACT_FLEET and REACT_TARGET, is done by `act`.
void watch_outside(struct watch *watch, void (*act)(void *context, unsigned reactions),
                   void *context);

// Do what the core asked for after a message or a change of the connection.
void watch_react(struct watch *watch, unsigned reactions);

// The signal that asked for the end, 0 for none.
int watch_signal(const struct watch *watch);

bool watch_failed(const struct watch *watch);

// Give the terminal back. The memory goes when the loop has run once more.
// NULL is harmless.
void watch_close(struct watch *watch);

#endif
