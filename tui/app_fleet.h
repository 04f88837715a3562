/*
 * All processes in the app: the view that lists them, and going from one to another.
 *
 * The app asks with REACT_FLEET for the processes to be looked for, and with REACT_TARGET
 * for another connection: to a process, or to the sum of several. It is then as it was
 * when it started, but for how a person wants to see things.
 */
#ifndef TUI_APP_FLEET_H
#define TUI_APP_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app;
struct merge;

// What is shown.
struct app_target {
    char socket[108]; // of one process; "" when it is none, or a sum
    uint64_t pid;     // of the process, or of the parent; 0: none was chosen
    bool merged;      // the sum of it and its children
};

const struct app_target *app_target(const struct app *app);

// Whether the list of processes is what keys are about.
bool app_fleet_shown(const struct app *app);

// The fleet is another than it was. Returns reactions, as all below.
unsigned app_fleet_changed(struct app *app, uint64_t now_ms);

// Nothing is shown yet: let a person choose.
void app_fleet_begin(struct app *app);

// What is shown from the start, which nobody chose in the list.
void app_fleet_target(struct app *app, const struct app_target *target);

// The process that was chosen cannot be watched: back to the list.
unsigned app_fleet_failed(struct app *app, const char *why, uint64_t now_ms);

// The model is a sum; `merge` knows its parts. NULL: it is not.
void app_fleet_merged(struct app *app, const struct merge *merge);

// Says why when what is shown is a sum, of which a probe cannot be asked `name`; true
// when it is none.
bool app_is_one(struct app *app, const char *name);

// Escape in the lowest view: true when there is a list to go back to.
bool app_fleet_back(struct app *app);

// Commands.
unsigned app_fleet_open(struct app *app, const char *argument);
unsigned app_fleet_next(struct app *app, const char *argument);
unsigned app_fleet_process(struct app *app, const char *argument);
unsigned app_fleet_merge(struct app *app, const char *argument);
unsigned app_fleet_spread(struct app *app, const char *argument);
unsigned app_fleet_sort(struct app *app, const char *argument);

#endif
