/*
 * The person's editor on a line of a file, in the foreground of the terminal.
 */
#ifndef TUI_LOOP_EDITOR_H
#define TUI_LOOP_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDITOR_WORDS_MAX 32
#define EDITOR_BYTES 8192

struct editor_command {
    char *words[EDITOR_WORDS_MAX + 3]; // ended by NULL; into `text`
    char text[EDITOR_BYTES];
};

// What to run: the words of `editor` (blanks between, quotes and backslashes as in a
// shell, nothing else), then the file and the line the way that editor takes them.
// False when there is nothing to run, or when it is too long.
bool editor_command(struct editor_command *command, const char *editor, const char *file,
                    uint32_t line);

// Run $VISUAL, else $EDITOR, and wait for its end. False with `why` in words. The
// terminal must have been given back before.
bool editor_run(const char *file, uint32_t line, char *why, size_t why_size);

#endif
