/*
 * Time in the app: what came is kept on a tape, and any moment of it can be shown.
 *
 * Live, the scene's model is the one that messages are applied to. Paused, rewound or
 * replayed it is the player's: pausing, going back and replaying a file are the same
 * thing at different moments. Marks are known at every moment, also at one before they
 * were set.
 */
#ifndef TUI_APP_TIME_H
#define TUI_APP_TIME_H

#include "protocol/message.h"

struct app;
struct when;

// False when memory ran out. Without a tape of a recording one in memory is made.
bool app_time_init(struct app *app);
void app_time_destroy(struct app *app);

// A message has come, and the model does not know it yet: keep it, and what is shown.
void app_time_take(struct app *app, const struct message *message);

// The figures are about to change under a screen that stands still.
void app_time_hold(struct app *app);

// What goes on by itself; true when it did.
bool app_time_tick(struct app *app, uint64_t now_ms);

// Bring the scene's words and strip about time up to date.
void app_time_tell(struct app *app);

// A click on the strip: true when it was one.
bool app_time_click(struct app *app, int row, int column);

// A moment as people type it, of all that is on the tape.
struct when app_time_when(const struct app *app, const char *text);

// The mark in use is another one.
void app_time_use_mark(struct app *app, int mark);

// Commands. Each returns reactions.
unsigned app_time_pause(struct app *app, const char *argument);
unsigned app_time_live(struct app *app, const char *argument);
unsigned app_time_goto(struct app *app, const char *argument);
unsigned app_time_back(struct app *app, const char *argument);
unsigned app_time_on(struct app *app, const char *argument);
unsigned app_time_minute_back(struct app *app, const char *argument);
unsigned app_time_minute_on(struct app *app, const char *argument);
unsigned app_time_series(struct app *app, const char *argument);
unsigned app_time_mark(struct app *app, int mark);

#endif
