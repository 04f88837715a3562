// What was born between two marks, compared with screens that were read by a person:
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

// The demo with marks A and B half a minute apart, and a quarter of one after them.
static void
begin(struct fixture *fixture, struct fixture_options options)
{
    fixture_start(fixture, options);
    fixture_demo(fixture);
    free(fixture_screen(fixture, COLUMNS, ROWS));
    fixture_keys(fixture, "m");
    for (int second = 0; second < 30; second++) {
        fixture_demo_second(fixture);
    }
    fixture_keys(fixture, "m");
    for (int second = 0; second < 15; second++) {
        fixture_demo_second(fixture);
    }
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

// The same with the call tree of Order open from before A.
static void
begin_traced(struct fixture *fixture, enum orders_kind kind,
             struct fixture_options options)
{
    orders_begin(fixture, options);
    orders_arrive(fixture, kind, 5);
    fixture_keys(fixture, "m");
    orders_more(fixture, kind, 5, 30);
    fixture_keys(fixture, "m");
    orders_more(fixture, kind, 30, 40);
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

static void
shows_classes_at_every_size(void **state)
{
    static const struct {
        const char *name;
        const char *keys;
        int columns, rows;
    } screens[] = {
        {"born",          "D",                  118, 24},
        {"born-80x24",    "D",                  80,  24},
        {"born-60x16",    "D",                  60,  16},
        {"born-40x10",    "D",                  40,  10},
        {"born-units",    "Du",                 118, 16},
        {"born-by-live",  "D:sort live<Enter>", 118, 16},
        {"born-by-name",  "D<",                 118, 16},
        {"born-inverted", "D>>I",               118, 16},
        {"born-filtered", "D/str<Enter>",       118, 16},
        {"born-no-match", "D/nothing<Enter>",   118, 16},
        {"born-internal", "Di",                 118, 24},
        {"born-no-tree",  "D<Enter>",           118, 16},
        {"born-paused",   "[[[D",               118, 16},
        {"born-early",    ":goto A<Enter>D",    118, 16},
        {"born-at-mark",  "m:goto C<Enter>D",   118, 16},
        {"born-mark-now", ":born B<Enter>",     118, 16},
        {"born-help",     "D?",                 80,  50},
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
shows_paths_with_their_source(void **state)
{
    static const struct {
        const char *name;
        const char *keys;
        int columns, rows;
    } screens[] = {
        {"born-paths",           "D",                          118, 30},
        {"born-paths-60x16",     "D",                          60,  16},
        {"born-paths-40x10",     "D",                          40,  10},
        {"born-paths-no-source", "D<Enter>",                   118, 20},
        {"born-paths-filtered",  "D/json<Enter>",              118, 20},
        {"born-paths-by-live",   "D:sort live<Enter>j",        118, 20},
        {"born-classes-traced",  "<Esc>D",                     118, 16},
        {"born-paths-entered",   "<Esc>D/order<Enter><Enter>", 118, 24},
    };
    (void)state;
    for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
        struct fixture fixture;
        begin_traced(&fixture, ORDERS_EXACT,
                     (struct fixture_options){.read_source = orders_read_source});
        free(fixture_screen(&fixture, screens[i].columns, screens[i].rows));
        fixture_keys(&fixture, screens[i].keys);
        fixture_golden(&fixture, screens[i].name, screens[i].columns, screens[i].rows);
        fixture_stop(&fixture);
    }
}

static void
says_what_is_estimated(void **state)
{
    struct fixture fixture;
    (void)state;
    begin_traced(&fixture, ORDERS_SAMPLED,
                 (struct fixture_options){.read_source = orders_read_source});
    fixture_keys(&fixture, "D");
    fixture_golden(&fixture, "born-paths-sampled", COLUMNS, 24);
    fixture_stop(&fixture);
}

static void
draws_with_ascii_alone(void **state)
{
    struct fixture fixture;
    (void)state;
    begin_traced(
        &fixture, ORDERS_SAMPLED,
        (struct fixture_options){.ascii = true, .read_source = orders_read_source});
    fixture_keys(&fixture, "D");
    fixture_golden(&fixture, "born-paths-ascii", COLUMNS, 24);
    fixture_keys(&fixture, "<Esc><Esc>D");
    fixture_golden(&fixture, "born-ascii", COLUMNS, 16);
    fixture_stop(&fixture);
}

static void
says_what_to_do_while_there_is_nothing_to_show(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_start(&fixture, (struct fixture_options){0});
    fixture_keys(&fixture, "D");
    fixture_golden(&fixture, "born-no-figures", COLUMNS, 12);
    fixture_keys(&fixture, "<Esc>");
    fixture_demo(&fixture);
    fixture_keys(&fixture, "D");
    fixture_golden(&fixture, "born-no-marks", COLUMNS, 12);
    fixture_keys(&fixture, "m");
    fixture_golden(&fixture, "born-one-mark", COLUMNS, 12);
    fixture_demo_second(&fixture);
    fixture_keys(&fixture, "m");
    fixture_wait(&fixture, 7000); // the message goes
    fixture_golden(&fixture, "born-just-marked", COLUMNS, 20);
    fixture_stop(&fixture);
}

static void
says_that_nothing_was_counted_while_dormant(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture, (struct fixture_options){0});
    struct sample sample = fixture_sample(NULL, 0, true);
    sample.mode = MODE_DORMANT;
    fixture_send_sample(&fixture, sample);
    fixture_keys(&fixture, "D");
    fixture_golden(&fixture, "born-dormant", COLUMNS, 12);
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_classes_at_every_size),
        cmocka_unit_test(shows_paths_with_their_source),
        cmocka_unit_test(says_what_is_estimated),
        cmocka_unit_test(draws_with_ascii_alone),
        cmocka_unit_test(says_what_to_do_while_there_is_nothing_to_show),
        cmocka_unit_test(says_that_nothing_was_counted_while_dormant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
