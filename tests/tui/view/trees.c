// Every state of the call tree, compared with screens that were read by a person:
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

static const struct fixture_options readable = {.read_source = orders_read_source};

static void
shows_each_arrangement(void **state)
{
    static const struct {
        const char *name;
        const char *keys;
        int columns, rows;
    } screens[] = {
        {"tree",                "",                      118, 30},
        {"tree-80x24",          "",                      80,  24},
        {"tree-60x16",          "",                      60,  16},
        {"tree-40x10",          "",                      40,  10},
        {"tree-200x30",         "",                      200, 30},
        {"tree-top",            "g",                     118, 30},
        {"tree-every-frame",    "p",                     118, 30},
        {"tree-unfolded",       "pE",                    118, 30},
        {"tree-recursion",      "pE/split<Enter>n",      118, 30},
        {"tree-folded",         "C",                     118, 16},
        {"tree-one-level",      "C+",                    118, 16},
        {"tree-lines",          "i",                     118, 30},
        {"tree-lines-unfolded", "iE",                    118, 30},
        {"tree-flat",           "t",                     118, 30},
        {"tree-filtered",       "/json<Enter>",          118, 30},
        {"tree-filter-typed",   "/cac",                  118, 16},
        {"tree-filter-empty",   "/no such frame<Enter>", 118, 16},
        {"tree-by-alloc",       ":sort alloc<Enter>",    118, 16},
        {"tree-by-path",        "E:sort path<Enter>",    118, 30},
        {"tree-inverted",       "EI",                    118, 30},
        {"tree-in-bytes",       "%u",                    118, 16},
        {"tree-no-source",      "S",                     118, 24},
        {"tree-source-missing", "E/show<Enter>n",        118, 30},
        {"tree-source-none",    "G",                     118, 30},
        {"tree-sort-menu",      "s",                     80,  24},
        {"tree-help",           "?",                     80,  40},
        {"tree-help-end",       "?G",                    80,  40},
        {"flame",               "f",                     118, 20},
        {"flame-zoomed",        "fjj<Enter>",            118, 20},
        {"flame-every-frame",   "fp",                    118, 20},
        {"flame-filtered",      "/split<Enter>f",        118, 20},
        {"flame-60",            "f",                     60,  16},
        {"flame-help",          "f?",                    80,  40},
    };
    (void)state;
    for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
        struct fixture fixture;
        orders_open(&fixture, ORDERS_EXACT);
        free(fixture_screen(&fixture, screens[i].columns, screens[i].rows));
        fixture_keys(&fixture, screens[i].keys);
        fixture_golden(&fixture, screens[i].name, screens[i].columns, screens[i].rows);
        fixture_stop(&fixture);
    }
}

static void
draws_with_ascii_alone(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_begin(&fixture, (struct fixture_options){.ascii = true,
                                                    .read_source = orders_read_source});
    orders_arrive(&fixture, ORDERS_SAMPLED, 30);
    fixture_golden(&fixture, "tree-ascii", 118, 30);
    fixture_keys(&fixture, "f");
    fixture_golden(&fixture, "flame-ascii", 118, 16);
    char *screen = grid_text(&fixture.grid);
    for (const char *at = screen; *at != '\0'; at++) {
        assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
    }
    free(screen);
    fixture_stop(&fixture);
}

static void
says_how_stacks_were_taken(void **state)
{
    static const struct {
        enum orders_kind kind;
        const char *name;
    } kinds[] = {
        {ORDERS_SAMPLED, "tree-sampled"},
        {ORDERS_FEW,     "tree-few"    },
        {ORDERS_FULL,    "tree-full"   },
        {ORDERS_DEEP,    "tree-deep"   },
        {ORDERS_EVEN,    "tree-before" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct fixture fixture;
        orders_open(&fixture, kinds[i].kind);
        fixture_golden(&fixture, kinds[i].name, 118, 30);
        fixture_stop(&fixture);
    }
}

static void
waits_for_the_tree_and_says_why_there_is_none(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_begin(&fixture, readable);
    fixture_golden(&fixture, "tree-waiting", 118, 10);
    fixture_message(
        &fixture, (struct message){
                      .kind = MESSAGE_RESULT,
                      .result = {fixture.sent[0].id, RESULT_REFUSED,
                                 text_of("8 classes are open for this viewer already")}
    });
    fixture_golden(&fixture, "tree-refused", 118, 10);
    fixture_stop(&fixture);
}

static void
warns_of_source_that_changed_since_the_program_started(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_source_changed_us = UINT64_MAX;
    orders_open(&fixture, ORDERS_EXACT);
    fixture_golden(&fixture, "tree-source-changed", 118, 24);
    orders_source_changed_us = 0;
    fixture_keys(&fixture, "o"); // an editor changed it: it is read again afterwards
    assert_true(fixture.reactions & REACT_EDIT);
    app_draw(fixture.app, &fixture.grid, fixture.now_ms);
    assert_int_equal(fixture_row_of(&fixture, "changed since"), -1);
    fixture_stop(&fixture);
}

static void
counts_changes_from_a_mark(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_open(&fixture, ORDERS_EXACT);
    fixture_keys(&fixture, "m");
    fixture_golden(&fixture, "tree-mark-set", 118, 16);
    fixture_stop(&fixture);
}

static void
draws_changes_of_both_signs_as_a_flame_graph(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_open(&fixture, ORDERS_FREED);
    fixture_keys(&fixture, "m");
    orders_more(&fixture, ORDERS_FREED, 30, 33);
    fixture_golden(&fixture, "tree-since-mark", 118, 30);
    fixture_keys(&fixture, "fd");
    fixture_golden(&fixture, "flame-since-mark", 118, 16);
    fixture_keys(&fixture, "jjj<Enter><Esc>");
    fixture_golden(&fixture, "flame-zoomed-out", 118, 16);
    fixture_keys(&fixture, "<Esc><Esc>");
    fixture_golden(&fixture, "tree-left", 118, 16);
    fixture_stop(&fixture);
}

static void
says_in_a_word_how_the_data_is(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_open(&fixture, ORDERS_EXACT);
    fixture_wait(&fixture, 12000);
    fixture_golden(&fixture, "tree-late", 118, 16);
    fixture_keys(&fixture, " ");
    fixture_golden(&fixture, "tree-paused", 118, 16);
    fixture_keys(&fixture, "L");
    app_link(fixture.app, LINK_CONNECTING, "connection refused", fixture.now_ms);
    fixture_wait(&fixture, 7000);
    fixture_golden(&fixture, "tree-reconnecting", 118, 16);
    fixture_hello(&fixture, 4121); // another process: its ids mean other classes
    fixture_golden(&fixture, "tree-restarted", 118, 10);
    fixture_stop(&fixture);
}

static void
stays_when_its_class_is_gone(void **state)
{
    static const class_id gone[] = {ORDERS_CLASS};
    struct fixture fixture;
    struct sample sample = fixture_sample(NULL, 0, false);
    (void)state;
    orders_open(&fixture, ORDERS_EXACT);
    sample.gone = gone;
    sample.gone_count = 1;
    fixture_wait(&fixture, 1000);
    fixture_send_sample(&fixture, sample);
    fixture_golden(&fixture, "tree-gone", 118, 16);
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_each_arrangement),
        cmocka_unit_test(draws_with_ascii_alone),
        cmocka_unit_test(says_how_stacks_were_taken),
        cmocka_unit_test(waits_for_the_tree_and_says_why_there_is_none),
        cmocka_unit_test(warns_of_source_that_changed_since_the_program_started),
        cmocka_unit_test(counts_changes_from_a_mark),
        cmocka_unit_test(draws_changes_of_both_signs_as_a_flame_graph),
        cmocka_unit_test(says_in_a_word_how_the_data_is),
        cmocka_unit_test(stays_when_its_class_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
