/*
 * A mark told to another model than the one it was set in, and to the recording that is
 * replayed.
 *
 * What a class is called by (its id) is a process's own: told to a model of another
 * process, a mark's rows go by the names of their classes, and its call trees are left
 * out.
 */
#ifndef TUI_APP_MARK_H
#define TUI_APP_MARK_H

#include "tui/model/snapshot.h"

struct app;

// Hand over a mark of `from`, 0 for A, which is set there, in messages that `to`
// understands. False when memory ran out or `take` was false.
bool app_mark_tell(const struct model *from, int mark, const struct model *to,
                   snapshot_taker *take, void *context);

// Append a mark of the model that is shown to the recording that is replayed, with one
// write. False when it cannot be: `why` then has the words. Nobody else may be writing
// to the file, and its last frame has to be whole.
bool app_mark_keep(struct app *app, const struct model *shown, int mark, char *why,
                   size_t why_size);

#endif
