#include "tui/app_diff.h"

#include <stdio.h>
#include <string.h>

#include "tui/app_state.h"
#include "tui/app_time.h"
#include "tui/text/text.h"
#include "tui/view/when.h"

#define ARGUMENT_BYTES 256

static bool
is_shown(const struct app *app)
{
    return app_view_shown(app, &app->diff_view.drill.view);
}

void
app_diff_init(struct app *app)
{
    diff_view_init(&app->diff_view, &app->diff.facts);
}

static void
forget_paths(struct diff_facts *facts)
{
    diff_paths_destroy(&facts->paths);
    facts->class = NULL;
}

void
app_diff_forget(struct app *app)
{
    struct diff_facts *facts = &app->diff.facts;
    forget_paths(facts);
    diff_destroy(&facts->diff);
    facts->known = false;
    app->diff.model = NULL;
}

static void
leave(struct app *app)
{
    struct app_diff *diff = &app->diff;
    app_diff_forget(app);
    player_destroy(&diff->before);
    player_destroy(&diff->after);
    tape_free(diff->other);
    diff->other = NULL;
    diff->facts.file[0] = '\0';
}

void
app_diff_destroy(struct app *app)
{
    leave(app);
    drill_destroy(&app->diff_view.drill);
}

/* The comparison. */

static const struct diff_class *
wanted_class(const struct app *app)
{
    const struct diff *diff = &app->diff.facts.diff;
    for (size_t i = 0; app->diff_view.drill.class != 0 && i < diff->count; i++) {
        if (diff_view_id(&diff->classes[i]) == app->diff_view.drill.class) {
            return &diff->classes[i];
        }
    }
    return NULL;
}

static void
find_paths(struct app *app)
{
    struct diff_facts *facts = &app->diff.facts;
    forget_paths(facts);
    app->diff.paths_of = app->diff_view.drill.class;
    facts->class = facts->known ? wanted_class(app) : NULL;
    if (facts->class != NULL &&
        !diff_paths_init(&facts->paths, &facts->diff, facts->class,
                         facts->class->change.live == 0 ? DIFF_OF_BYTES
                                                        : DIFF_OF_OBJECTS)) {
        facts->class = NULL;
        app_tell(app, true, "diff: no memory for the call paths");
    }
}

void
app_diff_update(struct app *app)
{
    struct app_diff *diff = &app->diff;
    const struct model *after =
        diff->after.model != NULL ? diff->after.model : app->scene.model;
    if (!is_shown(app)) {
        if (diff->before.model != NULL) {
            leave(app);
        }
        return;
    }
    if (diff->model != after || diff->version != model_version(after)) {
        app_diff_forget(app);
        diff->facts.known = diff->before.model != NULL && model_sampled(after) &&
                            diff_init(&diff->facts.diff, diff->before.model, after);
        diff->facts.to_shown = after == app->scene.model;
        diff->model = after;
        diff->version = model_version(after);
        find_paths(app);
    } else if (diff->paths_of != app->diff_view.drill.class) {
        find_paths(app);
    }
}

/* Opening it. */

static bool
figures_are_there(struct app *app)
{
    if (!model_sampled(app->scene.model)) {
        app_tell(app, true, "diff: there are no figures yet");
        return false;
    }
    return true;
}

static bool
find(struct app *app, struct player *player, struct tape *tape, uint64_t wall_us)
{
    *player = (struct player){.tape = tape};
    if (!player_seek(player, wall_us)) {
        app_tell(app, true, "diff: no memory, or there is no such moment");
        return false;
    }
    return true;
}

static bool
show(struct app *app)
{
    drill_open(&app->diff_view.drill);
    app_open_view(app, &app->diff_view.drill.view);
    return true;
}

bool
app_diff_since(struct app *app, uint64_t from_us)
{
    leave(app);
    return figures_are_there(app) && find(app, &app->diff.before, app->tape, from_us) &&
           show(app);
}

// What a file is called without its folders, fit to be shown.
static void
name_file(char name[DRILL_NAME_BYTES], const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *from = slash != NULL ? slash + 1 : path;
    text_escape(name, DRILL_NAME_BYTES, from, strlen(from));
}

bool
app_diff_with(struct app *app, const char *path)
{
    char why[APP_MESSAGE_BYTES];
    struct app_diff *diff = &app->diff;
    leave(app);
    if (!figures_are_there(app)) {
        return false;
    }
    diff->other = tape_open(path, why, sizeof why);
    if (diff->other == NULL) {
        app_tell(app, true, "diff: %s", why);
        return false;
    }
    if (!find(app, &diff->before, diff->other, UINT64_MAX)) {
        leave(app);
        return false;
    }
    name_file(diff->facts.file, path);
    return show(app);
}

// "FROM TO", where either may be of two words, as a date and a time are.
static bool
split(const struct app *app, const char *argument, struct when *from, struct when *to)
{
    char first[ARGUMENT_BYTES];
    for (const char *blank = strchr(argument, ' '); blank != NULL;
         blank = strchr(blank + 1, ' ')) {
        snprintf(first, sizeof first, "%.*s", (int)(blank - argument), argument);
        *from = app_time_when(app, first);
        *to = app_time_when(app, blank + 1);
        if (from->status != WHEN_WRONG && to->status != WHEN_WRONG) {
            return true;
        }
    }
    return false;
}

static bool
between(struct app *app, uint64_t from_us, uint64_t to_us)
{
    if (!app_diff_since(app, from_us)) {
        return false;
    }
    if (!find(app, &app->diff.after, app->tape, to_us)) {
        leave(app);
        return false;
    }
    return true;
}

// A file's name has a dot or a slash in it; what has neither was meant to be a time.
static bool
is_file(const char *argument)
{
    return strpbrk(argument, "./") != NULL;
}

unsigned
app_diff_open(struct app *app, const char *argument)
{
    struct when from = app_time_when(app, argument[0] != '\0' ? argument : "start");
    struct when to;
    if (!figures_are_there(app)) {
        return REACT_DRAW;
    }
    if (from.status != WHEN_WRONG) {
        if (app_diff_since(app, from.wall_us) && from.words[0] != '\0') {
            app_tell(app, false, "diff: %s", from.words);
        }
    } else if (split(app, argument, &from, &to)) {
        between(app, from.wall_us, to.wall_us);
    } else if (is_file(argument)) {
        app_diff_with(app, argument);
    } else {
        app_tell(app, true, "diff: %s", from.words);
    }
    return REACT_DRAW;
}
