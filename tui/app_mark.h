/*
 * A mark that is set while a recording is replayed, kept in its file.
 */
#ifndef TUI_APP_MARK_H
#define TUI_APP_MARK_H

#include <stdbool.h>
#include <stddef.h>

struct app;
struct model;

// Append a mark of the model that is shown to the recording that is replayed, with one
// write. False when it cannot be: `why` then has the words. Nobody else may be writing
// to the file, and its last frame has to be whole.
bool app_mark_keep(struct app *app, const struct model *shown, int mark, char *why,
                   size_t why_size);

#endif
