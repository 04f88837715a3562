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
        .hello = {.version = PROTOCOL_VERSION, .pid = 7, .command = text_of("ruby")}
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
            keys(app, "\x1b\x1b\x1b\\L");
            sample(app, 100, last, 1);
            app_draw(app, &grid, 100000);
            char *text = grid_text(&grid);
            assert_non_null(strstr(text, "(no name, id 9)"));
            free(text);
        }
        app_free(app);
        grid_destroy(&grid);
    }
    assert_in_range(allowed, 20, 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_wherever_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
