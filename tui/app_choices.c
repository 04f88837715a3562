#include "tui/app_choices.h"

#include "tui/app_state.h"
#include "tui/text/scroll.h"
#include "tui/view/notice_view.h"

struct app_choices
app_choices_default(void)
{
    return (struct app_choices){
        .columns = column_all(),
        .tree_columns = tree_column_all(),
        .sort = COLUMN_LIVE,
        .exact = true,
    };
}

// A view tells its class when it is made; these take nothing that would have to be
// given back.
static const struct view_class *
class_of_table(void)
{
    struct table table;
    table_init(&table);
    const struct view_class *class = table.view.class;
    table_destroy(&table);
    return class;
}

static const struct view_class *
class_of_tree(void)
{
    struct tree_view tree;
    tree_view_init(&tree);
    const struct view_class *class = tree.view.class;
    tree_view_destroy(&tree);
    return class;
}

static const struct view_class *
class_of_flame(void)
{
    struct flame flame;
    flame_init(&flame);
    const struct view_class *class = flame.view.class;
    flame_destroy(&flame);
    return class;
}

static const struct view_class *
class_of_processes(void)
{
    struct process_view processes;
    process_view_init(&processes);
    return processes.view.class;
}

static const struct view_class *
class_of_tags(void)
{
    struct tags_view tags;
    tags_view_init(&tags);
    const struct view_class *class = tags.view.class;
    tags_view_destroy(&tags);
    return class;
}

static const struct view_class *
class_of_born(void)
{
    struct born_view born;
    born_view_init(&born, NULL);
    const struct view_class *class = born.drill.view.class;
    drill_destroy(&born.drill);
    return class;
}

static const struct view_class *
class_of_diff(void)
{
    struct diff_view diff;
    diff_view_init(&diff, NULL);
    const struct view_class *class = diff.drill.view.class;
    drill_destroy(&diff.drill);
    return class;
}

static const struct view_class *
class_of_output(void)
{
    struct scroll *nothing = scroll_new(1);
    struct output_view output = {.scroll = nothing};
    if (nothing != NULL) {
        output_view_init(&output, nothing);
    }
    const struct view_class *class = output.view.class;
    scroll_free(nothing);
    return class;
}

static const struct view_class *
class_of_help(void)
{
    struct help help;
    help_init(&help, NULL, NULL);
    return help.pager.view.class;
}

static const struct view_class *
class_of_notices(void)
{
    struct pager notices;
    notice_view_init(&notices);
    return notices.view.class;
}

const struct view_class *
app_choices_view(size_t index)
{
    static const struct view_class *(*const classes[])(void) = {
        class_of_table, class_of_tree,    class_of_flame, class_of_processes,
        class_of_tags,  class_of_born,    class_of_diff,  class_of_output,
        class_of_help,  class_of_notices,
    };
    return index < sizeof classes / sizeof classes[0] ? classes[index]() : NULL;
}

void
app_choose(struct app *app)
{
    const struct app_choices *choices = app->options.choices;
    if (choices == NULL) {
        return;
    }
    app->scene.keymap = &choices->keymap;
    app->scene.internal = choices->internal;
    app->scene.exact = choices->exact;
    app->scene.by_bytes = choices->by_bytes;
    app->table.choice = choices->columns;
    app->tree.choice = choices->tree_columns;
    app->table.rows.sort = choices->sort;
    app->table.rows.inverted = choices->inverted;
}
