#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tui/app.h"
#include "tui/model/model.h"

static bool
take(void *context, const struct request *request)
{
    (void)context;
    (void)request;
    return true;
}

static void
keys(struct app *app, const char *text)
{
    for (; *text != '\0'; text++) {
        struct key key = {.code = *text == '\n' ? KEY_CODE_ENTER : (unsigned char)*text};
        app_key(app, key, 2000);
    }
}

static void
sample(struct app *app, uint64_t second, const struct class_row *rows, size_t count)
{
    struct message message = {
        .kind = MESSAGE_SAMPLE, .at = {second * 1000000, 0}
    };
    message.sample = (struct sample){
        .key = true, .mode = MODE_COUNT, .rows = rows, .row_count = count};
    app_message(app, &message, second * 1000);
}

static bool flame_seen;

// The tree of the class under the cursor, seen from all sides.
static void
play_tree(struct app *app, struct grid *grid)
{
    static const struct frame_name frames[] = {
        {16, 0, {"Order#total", 11}, {"/srv/order.rb", 13}, 3},
        {17, 0, {"Cart#add", 8},     {"/srv/cart.rb", 12},  7},
    };
    static const struct tree_node nodes[] = {
        {20, 0,  16, 5, 0},
        {21, 20, 17, 9, 1}
    };
    static const struct tree_site sites[] = {
        {1,  0, 5, 0, 200, {0, 0, 0, 5}},
        {21, 2, 3, 3, 120, {3, 0, 0, 0}},
    };
    const struct message named = {
        .kind = MESSAGE_FRAMES, .frames = {frames, 2}
    };
    const struct message tree = {
        .kind = MESSAGE_TREE,
        .at = {3000000,        0},
        .tree = { .class_id = 1,
               .key = true,
               .live = 9,
               .nodes = nodes,
               .node_count = 2,
               .sites = sites,
               .site_count = 2},
    };
    app_message(app, &named, 3000);
    app_message(app, &tree, 3000);
    keys(app, "\\L/~^Order$\nl");
    app_draw(app, grid, 3000);
    keys(app, "pEm/cart\n\\itts\x1b"
              "fjj\n m");
    app_draw(app, grid, 3000);
    char *text = grid_text(grid);
    flame_seen = flame_seen || (text != NULL && strstr(text, "flame, ") != NULL);
    free(text);
    keys(app, " \x1b\x1b");
}

static bool born_seen;
static bool diff_seen;

static bool
sees(struct app *app, struct grid *grid, const char *words)
{
    app_draw(app, grid, 3000);
    char *text = grid_text(grid);
    bool seen = text != NULL && strstr(text, words) != NULL;
    free(text);
    return seen;
}

// What was born between the two marks, and what changed.
static void
play_born(struct app *app, struct grid *grid)
{
    keys(app, "\\LmD");
    born_seen = sees(app, grid, ", alive now") || born_seen;
    keys(app, "\n");
    app_draw(app, grid, 3000);
    keys(app, "\x1b\x1b:diff A\n\n");
    diff_seen = sees(app, grid, "what changed") || diff_seen;
    keys(app, "/ord\n\n");
    app_draw(app, grid, 3000);
    keys(app, "\x1b\x1b\x1b");
}

// A bit of everything that takes memory.
static void
play(struct app *app, struct grid *grid)
{
    static const struct class_name names[] = {
        {1, 0, {"Order", 5}},
        {2, 0, {"Hash", 4} }
    };
    static const struct class_row first[] = {
        {1, 5, 5, 0, 200},
        {2, 6, 6, 0, 240}
    };
    static const struct class_row then[] = {
        {1, 9, 9, 0, 360},
        {3, 7, 7, 0, 280}
    };
    const struct message hello = {
        .kind = MESSAGE_HELLO,
        .hello = {.version = PROTOCOL_VERSION,
                  .pid = 7,
                  .command = text_of("ruby"),
                  .capabilities = CAPABILITY_TRACE}
    };
    const struct message named = {
        .kind = MESSAGE_NAMES, .names = {names, 2}
    };
    const struct message notice = {
        .kind = MESSAGE_NOTICE, .notice = {1, NOTICE_INFO, text_of("look")}
    };
    app_link(app, LINK_LIVE, "", 1000);
    app_message(app, &hello, 1000);
    app_message(app, &named, 1000);
    sample(app, 1, first, 2);
    app_draw(app, grid, 1000);
    app_message(app, &notice, 1000);
    keys(app, "mj/order ~Or live>1\n");
    app_draw(app, grid, 2000);
    keys(app, " ");
    sample(app, 3, then, 2);
    app_draw(app, grid, 3000);
    keys(app, " m?q:sort name\n");
    app_draw(app, grid, 3000);
    play_tree(app, grid);
    play_born(app, grid);
}

static void
goes_on_wherever_memory_runs_out(void **state)
{
    static const struct app_options options = {.source = "x", .send = take};
    static const struct class_row last[] = {
        {9, 4, 4, 0, 160}
    };
    bool whole = false;
    int allowed = 0;
    (void)state;
    for (; !whole; allowed++) {
        struct grid grid;
        assert_true(grid_init(&grid, 24, 80));
        memory_allow(allowed);
        struct app *app = app_new(&options, 1000);
        if (app != NULL) {
            play(app, &grid);
        }
        whole = !memory_ran_out();
        memory_allow(-1);
        if (app != NULL) {
            // with memory again, everything is there
            keys(app, "\x1b\x1b\x1b\x1b\x1b\\L");
            sample(app, 100, last, 1);
            app_draw(app, &grid, 100000);
            char *text = grid_text(&grid);
            assert_non_null(strstr(text, "(no name, id 9)"));
            free(text);
        }
        app_free(app);
        grid_destroy(&grid);
    }
    assert_in_range(allowed, 100, 2000);
    assert_true(flame_seen);
    assert_true(born_seen);
    assert_true(diff_seen);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_wherever_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
