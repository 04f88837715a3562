#include "tui/app_fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app_state.h"
#include "tui/model/merge.h"
#include "tui/view/sort_menu.h"

const struct app_target *
app_target(const struct app *app)
{
    return &app->target;
}

bool
app_fleet_shown(const struct app *app)
{
    return app_view_shown(app, &app->processes.view);
}

unsigned
app_fleet_changed(struct app *app, uint64_t now_ms)
{
    app->scene.now_ms = now_ms;
    return app_fleet_shown(app) ? REACT_DRAW : REACT_NOTHING;
}

static void
show(struct app *app)
{
    uint64_t watched = model_hello(app->model)->pid;
    app->processes.home_pid = app->target.pid != 0 ? app->target.pid : watched;
    if (!app_fleet_shown(app) && app->depth < APP_STACK_MAX) {
        app->stack[app->depth++] = &app->processes.view;
    }
    app->roams = true;
}

void
app_fleet_begin(struct app *app)
{
    app->scene.chosen = false;
    show(app);
}

void
app_fleet_target(struct app *app, const struct app_target *target)
{
    app->target = *target;
    app->scene.chosen = true;
}

unsigned
app_fleet_failed(struct app *app, const char *why, uint64_t now_ms)
{
    app->target = (struct app_target){.pid = 0};
    app_fleet_begin(app);
    return app_say(app, true, why, now_ms);
}

void
app_fleet_merged(struct app *app, const struct merge *merge)
{
    app->scene.merge = merge;
}

bool
app_is_one(struct app *app, const char *name)
{
    if (app->target.merged) {
        app_tell(app, true,
                 "%s: this is the sum of several processes; P, then Enter on "
                 "one of them",
                 name);
        return false;
    }
    return true;
}

bool
app_fleet_back(struct app *app)
{
    if (!app->roams || app->depth != 1) {
        return false;
    }
    show(app);
    return true;
}

unsigned
app_fleet_open(struct app *app, const char *argument)
{
    (void)argument;
    if (app->scene.fleet == NULL) {
        return app_tell(app, true, "processes: a recording has one only");
    }
    show(app);
    return REACT_FLEET | REACT_DRAW;
}

unsigned
app_fleet_next(struct app *app, const char *argument)
{
    if (app->stack[app->depth - 1] != &app->processes.view) {
        return app_fleet_open(app, argument);
    }
    if (!app->scene.chosen) {
        return app_tell(app, false, "choose a process first");
    }
    app->depth--;
    return REACT_DRAW;
}

/* Another one. */

// What may be lost by leaving what is shown; true when nothing.
static bool
may_leave(struct app *app)
{
    if (app->writer != NULL) {
        app_tell(app, true, "this process is being recorded: R ends that");
        return false;
    }
    return true;
}

// The process of an argument, or under the cursor while the list is shown: its rows
// are of no worth before and after.
static const struct peer *
peer_of(struct app *app, const char *name, const char *argument)
{
    char *end;
    const struct fleet *fleet = app->scene.fleet;
    unsigned long long pid = strtoull(argument, &end, 10);
    const struct peer *peer = NULL;
    if (fleet != NULL && argument[0] == '\0' && app_fleet_shown(app)) {
        peer = process_view_selected(&app->processes);
    } else if (fleet != NULL && *end == '\0') {
        peer = fleet_find_pid(fleet, pid);
    }
    if (peer == NULL) {
        app_tell(app, true, "%s: there is no probed process \"%.20s\"; P lists them",
                 name, argument);
    }
    return peer;
}

static bool
is_shown(const struct app *app, const struct app_target *target)
{
    return app->scene.chosen && app->target.merged == target->merged &&
           app->target.pid == target->pid &&
           strcmp(app->target.socket, target->socket) == 0;
}

static unsigned
go_to(struct app *app, const struct app_target *target)
{
    char source[APP_SOURCE_BYTES];
    if (is_shown(app, target)) {
        app->depth = 1; // it is there already, with all that is known of it
        return REACT_DRAW;
    }
    if (!may_leave(app)) {
        return REACT_DRAW;
    }
    if (target->merged) {
        snprintf(source, sizeof source, "process %llu and its children",
                 (unsigned long long)target->pid);
    } else {
        snprintf(source, sizeof source, "%s", target->socket);
    }
    if (!app_again(app, source)) {
        return app_tell(app, true, "out of memory: this goes on");
    }
    app_fleet_target(app, target);
    return REACT_TARGET | REACT_DRAW;
}

unsigned
app_fleet_process(struct app *app, const char *argument)
{
    struct app_target target = {.merged = false};
    const struct peer *peer = peer_of(app, "process", argument);
    if (peer == NULL) {
        return REACT_DRAW;
    }
    // one that has not answered yet is waited for there
    if (peer->state != PEER_LIVE && peer->state != PEER_CONNECTING) {
        return app_tell(app, true, "process %llu: %s", (unsigned long long)peer->pid,
                        peer->why[0] != '\0' ? peer->why : peer_state_name(peer->state));
    }
    target.pid = peer->pid;
    snprintf(target.socket, sizeof target.socket, "%s", peer->socket);
    return go_to(app, &target);
}

unsigned
app_fleet_merge(struct app *app, const char *argument)
{
    const struct peer *group[FLEET_MAX];
    struct app_target target = {.merged = true};
    const struct peer *peer = peer_of(app, "merge", argument);
    if (peer == NULL) {
        return REACT_DRAW;
    }
    if (fleet_group(app->scene.fleet, peer, group) < 2) {
        return app_tell(app, true,
                        "merge: %llu has neither children nor a parent under the probe",
                        (unsigned long long)peer->pid);
    }
    target.pid = group[0]->pid;
    return go_to(app, &target);
}

unsigned
app_fleet_spread(struct app *app, const char *argument)
{
    (void)argument;
    if (app->scene.merge == NULL) {
        return app_tell(app, true,
                        "spread: this is one process; P, then M, merges several");
    }
    app->scene.spread = !app->scene.spread;
    return REACT_DRAW;
}

unsigned
app_fleet_sort(struct app *app, const char *argument)
{
    if (argument[0] == '\0' && app->depth < APP_STACK_MAX) {
        char command[SCENE_COMMAND_BYTES];
        snprintf(command, sizeof command, "sort %s",
                 process_columns[app->processes.sort].word);
        menu_init(&app->menu, &sort_menu_processes, &app->scene, command);
        app->stack[app->depth++] = &app->menu.view;
    } else if (!process_view_sort(&app->processes, argument)) {
        return app_tell(app, true, "sort: no column \"%.40s\" to order by", argument);
    }
    return REACT_DRAW;
}
