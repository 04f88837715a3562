/*
 * What changed between two moments, in the app: `:diff [FROM [TO]]` of what is on the
 * tape, `:diff FILE` beside another recording's last moment.
 */
#ifndef TUI_APP_DIFF_H
#define TUI_APP_DIFF_H

#include <stdbool.h>
#include <stdint.h>

struct app;

void app_diff_init(struct app *app);
void app_diff_destroy(struct app *app);

// Bring the comparison up to date while the view is open; let go of it when it is not.
void app_diff_update(struct app *app);

// The model that is shown is about to go.
void app_diff_forget(struct app *app);

// Show what changed from a wall time, or since another recording's last moment, to the
// moment that is shown. False after having said why not.
bool app_diff_since(struct app *app, uint64_t from_us);
bool app_diff_with(struct app *app, const char *path);

// Commands. Each returns reactions.
unsigned app_diff_open(struct app *app, const char *argument);

#endif
