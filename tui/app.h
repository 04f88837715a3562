/*
 * The viewer without a terminal, a socket or a clock: messages and keys go in,
 * a drawn grid and requests come out.
 *
 * tui/loop calls these functions as things happen and does what the returned
 * reactions say. Tests call them too, with a captured `send` and a time of
 * their own, and read the grid.
 */
#ifndef TUI_APP_H
#define TUI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/message.h"
#include "tui/view/grid.h"
#include "tui/view/key.h"
#include "tui/view/link.h"
#include "tui/view/source.h"

struct app;
struct app_choices;
struct fleet;
struct scroll;
struct tape;

// What must happen next; functions below return them or-ed.
enum reaction {
    REACT_NOTHING = 0,
    REACT_DRAW = 1 << 0,    // app_draw() and show
    REACT_REDRAW = 1 << 1,  // the same, and repaint every cell (^L)
    REACT_QUIT = 1 << 2,    // leave, status 0
    REACT_SUSPEND = 1 << 3, // give the terminal back and stop (^Z)
    REACT_WRITE = 1 << 4,   // write what is shown to the file app_write_path() names
    REACT_MOUSE = 1 << 5,   // app_wants_mouse() changed
    REACT_EDIT = 1 << 6,    // open app_edit_path() in the person's editor
    REACT_FLEET = 1 << 7,   // from now on look for all processes
    REACT_TARGET = 1 << 8,  // watch app_target() instead
};

struct app_options {
    const char *source; // borrowed: the socket's path, for messages
    bool ascii;         // draw with ASCII alone
    bool mouse;         // start with the mouse on
    bool readonly;      // never send a request that changes the program
    // Send a request to the probe; false when it could not be taken.
    bool (*send)(void *context, const struct request *request);
    void *context;
    bool command;                // memtop started the program: see app_run.h
    const struct scroll *output; // borrowed: what that writes, or NULL
    source_reader *read_source;  // for the source under a call tree, or NULL
    const struct fleet *fleet;   // borrowed: all processes, or NULL: there are no others
    size_t ring_bytes;           // of what is kept to go back in; 0: 64 MiB
    struct tape *tape;           // borrowed: a recording to show instead, or NULL
    // Borrowed: how a person wants to see it, from the configuration file; NULL: as it
    // is by default.
    const struct app_choices *choices;
    double speed;   // of it; 0: show its end and follow it as it grows
    uint64_t at_us; // of it, wall time: what is shown first
};

// NULL when memory ran out, or the recording holds no sample.
struct app *app_new(const struct app_options *options, uint64_t now_ms);
void app_free(struct app *app);

// A whole message arrived. `now_ms` is a monotonic clock, the same everywhere.
unsigned app_message(struct app *app, const struct message *message, uint64_t now_ms);

// A key or the mouse.
unsigned app_key(struct app *app, struct key key, uint64_t now_ms);

// The connection changed; `detail` says in words why ("" for none).
unsigned app_link(struct app *app, enum link_state state, const char *detail,
                  uint64_t now_ms);

// Time passed. Called about once a second while connected or reconnecting;
// returns REACT_DRAW only when something on the screen would change.
unsigned app_tick(struct app *app, uint64_t now_ms);

// Draw everything into the grid, whatever its size.
void app_draw(struct app *app, struct grid *grid, uint64_t now_ms);

// Where `w` or `:write PATH` wants the screen's text. NULL when nowhere.
const char *app_write_path(const struct app *app);

// The file that REACT_EDIT is about, and the line in it.
const char *app_edit_path(const struct app *app, uint32_t *line);

// The loop tells how a write or a redraw went, in words, for the message line.
unsigned app_say(struct app *app, bool error, const char *text, uint64_t now_ms);

bool app_wants_mouse(const struct app *app);

// Show a class's call tree, as Enter does; pin the class as well, as T does. For
// `memtop tree`, which then waits for the tree in the model.
struct model_class;
void app_show_tree(struct app *app, const struct model_class *class, bool pin);

// Why the probe sends no tree, in words; "" while it may come.
const char *app_tree_words(const struct app *app);

// The model behind it, for --once and --json.
struct model;
const struct model *app_model(const struct app *app);

// The moment that is shown: another one while a recording is replayed.
const struct model *app_shown(const struct app *app);

#endif
