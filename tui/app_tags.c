#include "tui/app_tags.h"

#include <stdlib.h>
#include <string.h>

#include "tui/app_state.h"
#include "tui/app_tree.h"

static bool
is_shown(const struct app *app)
{
    return app_view_shown(app, &app->tags.view);
}

void
app_tags_follow(struct app *app)
{
    uint32_t wanted = is_shown(app) ? app->tags.opened : 0;
    if (wanted == app->tag_asked || app->scene.link != LINK_LIVE ||
        (model_hello(app->model)->capabilities & CAPABILITY_TAGS) == 0) {
        return;
    }
    const struct request request = {++app->request_id, REQUEST_TAG, wanted};
    if (app->options.send(app->options.context, &request)) {
        app->tag_asked = wanted;
    }
}

void
app_tags_reconnect(struct app *app)
{
    app->tag_asked = 0;
}

static unsigned
open_view(struct app *app)
{
    if (!is_shown(app) && app->depth < APP_STACK_MAX) {
        app->stack[app->depth++] = &app->tags.view;
    }
    return REACT_DRAW;
}

static unsigned
open_prompt(struct app *app)
{
    prompt_init(&app->prompt, '/', "tags filter", &app->filters, NULL,
                tags_view_filter_text(&app->tags));
    if (app->depth < APP_STACK_MAX) {
        app->stack[app->depth++] = &app->prompt.view;
    }
    return REACT_DRAW;
}

static unsigned
open_tree(struct app *app, const char *argument)
{
    class_id id = (class_id)strtoul(argument, NULL, 10);
    const struct model_class *class = model_class_find(app->scene.model, id);
    if (class == NULL || class->gone) {
        return app_tell(app, true, "the class is gone");
    }
    app_show_tree(app, class, false);
    return REACT_DRAW;
}

static const char *
after(const char *argument, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(argument, word, length) != 0 ||
        (argument[length] != '\0' && argument[length] != ' ')) {
        return NULL;
    }
    argument += length;
    return argument + strspn(argument, " ");
}

unsigned
app_tags_run(struct app *app, const char *argument)
{
    const char *rest;
    if ((rest = after(argument, "filter")) != NULL) {
        tags_view_filter(&app->tags, rest);
        return REACT_DRAW;
    }
    if ((rest = after(argument, "class")) != NULL) {
        return open_tree(app, rest);
    }
    if (after(argument, "prompt") != NULL) {
        return open_prompt(app);
    }
    if (after(argument, "follow") != NULL) {
        app_tags_follow(app);
        return REACT_DRAW;
    }
    return open_view(app);
}
