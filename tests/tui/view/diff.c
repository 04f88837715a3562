// What changed between two moments, compared with screens that were read by a person:
// tests/tui/golden. After a wanted change, MEMTOP_GOLDEN=update writes them anew.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/orders.h"
#include "tui/app.h"

#define COLUMNS 118
#define ROWS 30

// Beside the demo's classes one that comes and one that goes.
static void
begin(struct fixture *fixture, struct fixture_options options)
{
    static const struct class_name names[] = {
        {200, 0, {"Cart", 4}   },
        {201, 0, {"Upload", 6} },
        {202, 0, {"Invoice", 7}},
    };
    static const struct class_row rows[] = {
        {200, 300, 300, 0, 12000},
        {201, 250, 250, 0, 10000},
        {202, 0,   0,   0, 0    },
    };
    static const struct class_row then[] = {
        {200, 120, 320, 200, 4800 },
        {200, 120, 320, 200, 4800 },
        {202, 77,  77,  0,   30800},
    };
    fixture_start(fixture, options);
    fixture_demo(fixture);
    fixture_names(fixture, names, 3);
    fixture_send_sample(fixture, fixture_sample(rows, 3, false));
    fixture_demo_second(fixture);
    free(fixture_screen(fixture, COLUMNS, ROWS));
    fixture_keys(fixture, "m");
    fixture_wait(fixture, 500); // what a mark is of is the last sample of its time
    struct sample sample = fixture_sample(then, 3, false);
    const class_id gone = 201;
    sample.gone = &gone;
    sample.gone_count = 1;
    fixture_send_sample(fixture, sample);
    fixture_demo_second(fixture);
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

static void
shows_classes_in_groups(void **state)
{
    static const struct {
        const char *name;
        const char *keys;
        int columns, rows;
    } screens[] = {
        {"diff",          ":diff A<Enter>",                     118, 24},
        {"diff-80x24",    ":diff A<Enter>",                     80,  24},
        {"diff-60x16",    ":diff A<Enter>",                     60,  16},
        {"diff-40x10",    ":diff A<Enter>",                     40,  10},
        {"diff-start",    ":diff<Enter>",                       118, 24},
        {"diff-units",    ":diff A<Enter>u",                    118, 16},
        {"diff-by-name",  ":diff A<Enter>:sort name<Enter>",    118, 20},
        {"diff-inverted", ":diff A<Enter>>I",                   118, 20},
        {"diff-filtered", ":diff A<Enter>/or<Enter>",           118, 16},
        {"diff-no-match", ":diff A<Enter>/nothing<Enter>",      118, 16},
        {"diff-nothing",  ":diff A A<Enter>",                   118, 16},
        {"diff-no-tree",  ":diff A<Enter>/order<Enter><Enter>", 118, 16},
        {"diff-help",     ":diff A<Enter>?",                    80,  40},
    };
    (void)state;
    for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
        struct fixture fixture;
        begin(&fixture, (struct fixture_options){0});
        free(fixture_screen(&fixture, screens[i].columns, screens[i].rows));
        fixture_keys(&fixture, screens[i].keys);
        fixture_golden(&fixture, screens[i].name, screens[i].columns, screens[i].rows);
        fixture_stop(&fixture);
    }
}

static void
shows_paths(enum orders_kind kind, bool ascii, const char *keys, const char *name)
{
    struct fixture fixture;
    orders_begin(&fixture, (struct fixture_options){.ascii = ascii,
                                                    .read_source = orders_read_source});
    orders_arrive(&fixture, kind, 5);
    fixture_keys(&fixture, "m");
    orders_more(&fixture, kind, 5, 40);
    free(fixture_screen(&fixture, COLUMNS, 24));
    fixture_keys(&fixture, keys);
    fixture_golden(&fixture, name, COLUMNS, 24);
    fixture_stop(&fixture);
}

static void
shows_paths_with_their_source(void **state)
{
    const char *order = ":diff A<Enter>/order<Enter><Enter>";
    (void)state;
    shows_paths(ORDERS_EXACT, false, order, "diff-paths");
    shows_paths(ORDERS_SAMPLED, false, order, "diff-paths-sampled");
    shows_paths(ORDERS_FREED, false, order, "diff-paths-freed");
    shows_paths(ORDERS_SAMPLED, true, order, "diff-paths-ascii");
    shows_paths(ORDERS_EXACT, false, ":diff start<Enter>/order<Enter><Enter>",
                "diff-paths-one-side");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_classes_in_groups),
        cmocka_unit_test(shows_paths_with_their_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
