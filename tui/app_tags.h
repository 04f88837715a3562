/*
 * The view of tags in the app: its commands, and what the probe is asked for while it
 * shows the classes of one.
 */
#ifndef TUI_APP_TAGS_H
#define TUI_APP_TAGS_H

struct app;

// Messages came, the connection changed, a view was closed: ask the probe for the
// classes that are shown, or for none.
void app_tags_follow(struct app *app);

// A new connection: nothing was asked for.
void app_tags_reconnect(struct app *app);

// ":tags", and what the view itself asks for: "tags filter TEXT" and the like. Returns
// reactions.
unsigned app_tags_run(struct app *app, const char *argument);

#endif
