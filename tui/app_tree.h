/*
 * The call tree in the app: opened and closed at the probe as a person opens and
 * closes it, and the commands it has.
 */
#ifndef TUI_APP_TREE_H
#define TUI_APP_TREE_H

#include <stdbool.h>

struct app;

// Whether the tree, or something that lies over it, is what keys are about.
bool app_tree_shown(const struct app *app);

// Messages came, the connection changed, a view was closed: ask the probe for the
// tree that is shown, or tell it that none is.
void app_tree_follow(struct app *app);

// While it is recorded, pinned classes are open too: their trees belong in the file.
void app_tree_keep(struct app *app);

// The model is about to go, and the tree that is shown with it.
void app_tree_forget(struct app *app);

// A new connection: ids mean nothing any more.
void app_tree_reconnect(struct app *app);

// A request of ours was refused, or failed.
void app_tree_refused(struct app *app, const char *words);

// Commands. Each returns reactions.
unsigned app_tree_open(struct app *app, const char *argument);
unsigned app_tree_pin(struct app *app, const char *argument);
unsigned app_tree_edit(struct app *app, const char *argument);
unsigned app_tree_flame(struct app *app, const char *argument);
unsigned app_tree_sort(struct app *app, const char *argument);

#endif
