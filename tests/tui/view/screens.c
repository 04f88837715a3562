#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"
#include "tui/model/model.h"

static void
with_demo(struct fixture *fixture)
{
    fixture_start(fixture, (struct fixture_options){0});
    fixture_demo(fixture);
}

static void
fits_screens_of_all_sizes(void **state)
{
    static const struct {
        const char *name;
        int columns;
        int rows;
    } sizes[] = {
        {"classes-118x30", 118, 30},
        {"classes-80x24",  80,  24},
        {"classes-60x16",  60,  16},
        {"classes-40x10",  40,  10},
        {"too-small-30x5", 30,  5 },
        {"classes-200x16", 200, 16},
    };
    struct fixture fixture;
    (void)state;
    with_demo(&fixture);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fixture_golden(&fixture, sizes[i].name, sizes[i].columns, sizes[i].rows);
    }
    fixture_stop(&fixture);
}

static void
draws_with_ascii_alone(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_start(&fixture, (struct fixture_options){.ascii = true});
    fixture_demo(&fixture);
    fixture_keys(&fixture, "j");
    fixture_golden(&fixture, "classes-ascii", 118, 16);
    for (int i = 0; i < fixture.grid.rows * fixture.grid.columns; i++) {
        assert_in_range(fixture.grid.cells[i].character, ' ', '~');
    }
    fixture_keys(&fixture, "s");
    fixture_golden(&fixture, "sort-menu-ascii", 80, 16);
    fixture_stop(&fixture);
}

static void
orders_by_each_column(void **state)
{
    static const char *const words[] = {"name",  "live",  "delta", "rate",
                                        "bytes", "alloc", "free",  "share"};
    struct fixture fixture;
    (void)state;
    with_demo(&fixture);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char keys[40];
        char name[40];
        snprintf(keys, sizeof keys, ":sort %s<Enter>", words[i]);
        snprintf(name, sizeof name, "sorted-by-%s", words[i]);
        if (strcmp(words[i], "live") == 0) {
            fixture_keys(&fixture, "I"); // it is the order from the start
        }
        fixture_keys(&fixture, keys);
        fixture_golden(&fixture, name, 118, 14);
    }
    fixture_stop(&fixture);
}

static void
shows_what_was_asked_for(void **state)
{
    static const struct {
        const char *name;
        const char *keys;
        int columns;
        int rows;
    } screens[] = {
        {"filtered",          "/s<Enter>",                    118, 16},
        {"filter-typed",      "/delta>100",                   80,  16},
        {"filter-wrong",      "/delta>x",                     80,  16},
        {"filter-unknown",    "/size>3<Enter>",               118, 16},
        {"filter-empty",      "/nothing like it<Enter>",      80,  16},
        {"internal",          "i",                            118, 20},
        {"units",             "u",                            118, 16},
        {"bytes",             "%",                            118, 16},
        {"help",              "?",                            80,  40},
        {"help-scrolled",     "?<PgDn>",                      118, 40},
        {"sort-menu",         "s",                            80,  20},
        {"command-line",      ":sort l",                      80,  16},
        {"command-completed", ":mo<Tab>d<Tab>c<Tab>o<Tab>",   80,  16},
        {"command-wrong",     ":sort<Enter><Esc>:srt<Enter>", 80,  16},
        {"confirm-gc",        "<^G>",                         80,  16},
        {"no-such-key",       "z",                            80,  16},
        {"marks-none",        "'",                            80,  16},
        {"notices-none",      "!",                            80,  16},
    };
    (void)state;
    for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
        struct fixture fixture;
        with_demo(&fixture);
        char *screen = fixture_screen(&fixture, screens[i].columns, screens[i].rows);
        free(screen);
        fixture_keys(&fixture, screens[i].keys);
        fixture_golden(&fixture, screens[i].name, screens[i].columns, screens[i].rows);
        fixture_stop(&fixture);
    }
}

static void
shows_changes_since_a_mark(void **state)
{
    struct fixture fixture;
    (void)state;
    with_demo(&fixture);
    fixture_keys(&fixture, "m");
    fixture_golden(&fixture, "mark-set", 118, 16);
    for (int i = 0; i < 10; i++) {
        fixture_demo_second(&fixture);
    }
    fixture_golden(&fixture, "since-mark", 118, 16);
    fixture_keys(&fixture, "m'");
    fixture_golden(&fixture, "marks", 80, 16);
    fixture_stop(&fixture);
}

static void
says_in_a_word_how_the_data_is(void **state)
{
    struct fixture fixture;
    (void)state;
    with_demo(&fixture);
    fixture_wait(&fixture, 12000);
    fixture_golden(&fixture, "late", 118, 16);
    fixture_keys(&fixture, " ");
    fixture_wait(&fixture, 3000);
    fixture_golden(&fixture, "paused", 118, 16);
    fixture_keys(&fixture, "L");
    app_link(fixture.app, LINK_RECONNECTING, "connection refused", fixture.now_ms);
    fixture_wait(&fixture, 7000);
    fixture_golden(&fixture, "reconnecting", 118, 16);
    fixture_message(&fixture,
                    (struct message){
                        .kind = MESSAGE_BYE, .bye = {BYE_EXIT, 1, text_of("")}
    });
    app_link(fixture.app, LINK_GONE, "", fixture.now_ms);
    fixture_wait(&fixture, 12000);
    fixture_golden(&fixture, "gone", 118, 16);
    fixture_golden(&fixture, "gone-60", 60, 12);
    fixture_stop(&fixture);
}

static void
says_what_it_waits_for(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_start(&fixture, (struct fixture_options){0});
    app_link(fixture.app, LINK_CONNECTING, "no such file: is the program running?",
             fixture.now_ms);
    fixture_golden(&fixture, "connecting", 80, 12);
    fixture_hello(&fixture, 4120);
    fixture_golden(&fixture, "no-sample-yet", 80, 12);
    fixture_stop(&fixture);
}

static void
tells_how_to_wake_a_dormant_probe(void **state)
{
    struct fixture fixture;
    struct sample sample = fixture_sample(NULL, 0, true);
    (void)state;
    fixture_start(&fixture, (struct fixture_options){0});
    fixture_hello(&fixture, 4120);
    sample.mode = MODE_DORMANT;
    sample.totals =
        (struct totals){COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN};
    fixture_send_sample(&fixture, sample);
    fixture_golden(&fixture, "dormant", 118, 16);
    fixture_stop(&fixture);
}

static void
shows_what_a_census_cannot_tell(void **state)
{
    static const struct class_name names[] = {
        {1, 0, {"Order", 5}}
    };
    static const struct class_row rows[] = {
        {1, 18402, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN}
    };
    struct fixture fixture;
    struct sample sample = fixture_sample(rows, 1, true);
    (void)state;
    fixture_start(&fixture, (struct fixture_options){0});
    fixture_hello(&fixture, 4120);
    fixture_names(&fixture, names, 1);
    sample.mode = MODE_CENSUS;
    sample.process.heap_age_ms = 42000;
    sample.process.rss_bytes = COUNT_UNKNOWN;
    sample.probe.drift = 12;
    sample.probe.dropped_frames = 3;
    fixture_send_sample(&fixture, sample);
    fixture_golden(&fixture, "census", 118, 12);
    fixture_stop(&fixture);
}

static void
shows_notices_in_yellow_and_in_full(void **state)
{
    struct fixture fixture;
    (void)state;
    with_demo(&fixture);
    fixture_notice(&fixture, 1, NOTICE_INFO,
                   "counting started over: the probe was dormant");
    fixture_golden(&fixture, "notice", 80, 12);
    fixture_notice(
        &fixture, 2, NOTICE_WARNING,
        "objspace allocation tracing is on: on Ruby 3.1 frees may be missed until "
        "the next census puts it right");
    fixture_golden(&fixture, "notices-two", 80, 12);
    int row = fixture_row_of(&fixture, "! objspace");
    assert_int_equal(fixture.grid.cells[row * 80 + 3].style, STYLE_WARNING);
    fixture_keys(&fixture, "!");
    fixture_golden(&fixture, "notices", 60, 12);
    fixture_stop(&fixture);
}

static void
shows_hostile_names_as_text(void **state)
{
    static const char *const hostile[] = {
        "\x1b[2J\x1b]0;owned\x07"
        "Evil",
        "Caf\xc3\xa9::\xe6\xb3\xa8\xe6\x96\x87",
        "broken\xff\xfe::UTF8",
        "right\xe2\x80\xaeto left",
        "zero\xe2\x80\x8bwidth",
        "line\nbreak\ttab",
        "AVeryLongNamespace::WithManyModules::Inside::EachOther::UntilNothingFits::"
        "AnyMore",
        "",
        "e\xcc\x81"
        "combining",
        "\xcc\x81"
        "starts with a mark",
    };
    enum { COUNT = sizeof hostile / sizeof hostile[0] };
    struct class_name names[COUNT];
    struct class_row rows[COUNT];
    struct fixture fixture;
    (void)state;
    fixture_start(&fixture, (struct fixture_options){0});
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = (struct class_name){(class_id)(i + 1), 0, text_of(hostile[i])};
        rows[i] = (struct class_row){(class_id)(i + 1), 1000 - i, 0, 0, 40};
    }
    fixture_hello(&fixture, 4120);
    fixture_names(&fixture, names, COUNT);
    fixture_send_sample(&fixture, fixture_sample(rows, COUNT, true));
    fixture_golden(&fixture, "hostile-names", 80, 18);
    for (int i = 0; i < fixture.grid.rows * fixture.grid.columns; i++) {
        uint32_t character = fixture.grid.cells[i].character;
        assert_true(character == 0 || (character >= ' ' && character != 0x7f));
        assert_true(character != 0x202e && character != 0x200b);
    }
    fixture_stop(&fixture);
}

static void
keeps_a_class_that_is_gone_dim(void **state)
{
    static const class_id gone[] = {3};
    struct fixture fixture;
    struct sample sample;
    (void)state;
    with_demo(&fixture);
    fixture_wait(&fixture, 1000);
    sample = *model_sample(app_model(fixture.app));
    sample.key = false;
    sample.totals.live -= 7732;
    sample.gone = gone;
    sample.gone_count = 1;
    fixture_send_sample(&fixture, sample);
    fixture_golden(&fixture, "class-gone", 80, 18);
    int row = fixture_row_of(&fixture, "Order");
    assert_int_equal(fixture.grid.cells[row * 80 + 3].style, STYLE_DIM);
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_screens_of_all_sizes),
        cmocka_unit_test(draws_with_ascii_alone),
        cmocka_unit_test(orders_by_each_column),
        cmocka_unit_test(shows_what_was_asked_for),
        cmocka_unit_test(shows_changes_since_a_mark),
        cmocka_unit_test(says_in_a_word_how_the_data_is),
        cmocka_unit_test(says_what_it_waits_for),
        cmocka_unit_test(tells_how_to_wake_a_dormant_probe),
        cmocka_unit_test(shows_what_a_census_cannot_tell),
        cmocka_unit_test(shows_notices_in_yellow_and_in_full),
        cmocka_unit_test(shows_hostile_names_as_text),
        cmocka_unit_test(keeps_a_class_that_is_gone_dim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
