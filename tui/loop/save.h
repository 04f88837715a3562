/*
 * A text, into a file.
 *
 * The happy path: it is written to a new file beside PATH, which then takes
 * the name PATH.
 *
 * What can go wrong: PATH exists (it is never overwritten); no permission, no
 * folder, a full disk (the new file is removed again; nothing half is left).
 */
#ifndef TUI_LOOP_SAVE_H
#define TUI_LOOP_SAVE_H

#include <stdbool.h>
#include <stddef.h>

// False when it went wrong. `words` say how it went, either way.
bool save_text(const char *path, const char *text, char *words, size_t capacity);

#endif
