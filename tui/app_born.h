/*
 * What was born between two marks, in the app: which marks are meant, and the program as
 * it was at them. Live, paused, rewound and in a replay it is the same: the two marks
 * are sought on the tape, the third moment is the one that is shown.
 */
#ifndef TUI_APP_BORN_H
#define TUI_APP_BORN_H

#include <stdbool.h>

struct app;

void app_born_init(struct app *app);
void app_born_destroy(struct app *app);

// Whether it is what keys are about, or lies under what is.
bool app_born_shown(const struct app *app);

// Bring the facts up to date while the view is open; let go of them when it is not.
void app_born_update(struct app *app);

// The model that is shown is about to go.
void app_born_forget(struct app *app);

// Commands. Each returns reactions.
unsigned app_born_open(struct app *app, const char *argument);

#endif
