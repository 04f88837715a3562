/*
 * A real pseudo-terminal with a command in it, and a terminal emulator behind
 * it that knows what a person would see.
 *
 *     terminal = terminal_start(&options);
 *     assert_true(terminal_shows(terminal, "String"));
 *     terminal_type(terminal, "?");
 *
 * Waiting functions read what the command writes until what they wait for is
 * there. TERMINAL_DEADLINE_S only bounds a hang: then they print the screen
 * and return false. Nothing here sleeps for a while to be right.
 */
#ifndef TESTS_SUPPORT_TERMINAL_H
#define TESTS_SUPPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <termios.h>

#define TERMINAL_DEADLINE_S 30

struct terminal;

struct terminal_options {
    const char *const *arguments; // of the command, NULL at the end
    void (*run)(void *context);   // or this, in a child, in the command's place
    void *context;
    const char *const *environment; // "NAME=VALUE" sets, "NAME" unsets; NULL at the end
    int rows;                       // 0 for 30
    int columns;                    // 0 for 100
};

struct terminal_cell {
    char text[16];  // UTF-8
    int foreground; // palette index, -1 for the default
    int background;
    bool bold;
    bool reverse;
    bool underline;
};

// Never NULL: a test cannot go on without it.
struct terminal *terminal_start(const struct terminal_options *options);

// End the command if it still runs.
void terminal_free(struct terminal *terminal);

pid_t terminal_pid(const struct terminal *terminal);

// Send keys as bytes.
void terminal_type(struct terminal *terminal, const char *keys);
void terminal_click(struct terminal *terminal, int row, int column);
void terminal_wheel(struct terminal *terminal, bool down, int row, int column);
void terminal_resize(struct terminal *terminal, int rows, int columns);

// The terminal window is closed.
void terminal_hang_up(struct terminal *terminal);

// Wait until the screen shows, or no longer shows, a text within one row.
bool terminal_shows(struct terminal *terminal, const char *text);
bool terminal_hides(struct terminal *terminal, const char *text);

// The same for one row.
bool terminal_row_shows(struct terminal *terminal, int row, const char *text);

// Wait for whatever `holds` looks for; `what` names it when it does not come.
bool terminal_until(struct terminal *terminal, const char *what,
                    bool (*holds)(struct terminal *terminal, void *context),
                    void *context);

// Take what has been written so far, without waiting.
void terminal_look(struct terminal *terminal);

// What the screen shows now. The first row with a text, -1 for none.
int terminal_find(const struct terminal *terminal, const char *text);

// One row without trailing blanks. The caller frees it.
char *terminal_row(const struct terminal *terminal, int row);

// All rows. The caller frees it.
char *terminal_text(const struct terminal *terminal);
struct terminal_cell terminal_cell(const struct terminal *terminal, int row, int column);
bool terminal_alternate(const struct terminal *terminal);
bool terminal_cursor_visible(const struct terminal *terminal);
bool terminal_mouse(const struct terminal *terminal); // the command wants the mouse
struct termios terminal_modes(const struct terminal *terminal);
int terminal_flags(const struct terminal *terminal); // of the command's side, F_GETFL

// All the command wrote since the start, and how much that is.
const char *terminal_written(const struct terminal *terminal);
size_t terminal_written_bytes(const struct terminal *terminal);

// Wait for the command's end. False if it does not come; `status` is as
// waitpid() gives it.
bool terminal_ends(struct terminal *terminal, int *status);

#endif
