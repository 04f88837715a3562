// Every state of the view of tags, compared with screens that were read by a person:
// tests/tui/golden. After a wanted change, MEMTOP_GOLDEN=update writes them anew.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"

#define TAGS 6
#define ORDER 3u // as the demo's classes are numbered

static const struct tag_name names[TAGS] = {
    {2, {"route=GET (before its route)", 28}  },
    {3, {"route=orders#index", 18}            },
    {4, {"route=orders#show", 17}             },
    {5, {"route=orders#show\ntenant=acme", 29}},
    {6, {"job=ReportMailer", 16}              },
    {7, {"job=\x1b[31mEvil\xe2\x80\xae", 16}  },
};

static struct tag_row
row(uint32_t id, uint64_t calls, uint64_t allocated, uint64_t live)
{
    return (struct tag_row){
        .id = id,
        .calls = calls,
        .active = id % 3,
        .allocated = allocated,
        .freed = allocated - live,
        .live = live,
        .bytes = live * 48,
        .ages = {live / 2, live / 4, live / 8, live / 8},
    };
}

// What they are after some seconds of the demo; every second a request each.
static void
tags_at(struct fixture *fixture, uint64_t second)
{
    struct tag_row rows[TAGS] = {
        row(2, 3 * second, 600 * second, 0),
        row(3, 1200 + 20 * second, 480000 + 8000 * second, 200),
        row(4, 300 + 4 * second, 90000 + 1200 * second, 1800 + 40 * second),
        row(5, 12, 4800, 24),
        row(6, 7, 700000, 150),
        row(7, 0, 0, 0),
    };
    if (second == 0) { // no census yet
        memset(&rows[3].bytes, 0xff, sizeof rows[3].bytes + sizeof rows[3].ages);
    }
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_TAGS, .tags = {.rows = rows, .row_count = TAGS}
    });
}

static void
begin(struct fixture *fixture, struct fixture_options options)
{
    fixture_start(fixture, options);
    fixture_demo(fixture);
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_TAGS,
                        .tags = {.key = true, .names = names, .name_count = TAGS}
    });
    for (uint64_t second = 0; second <= 12; second++) {
        tags_at(fixture, second);
        fixture_demo_second(fixture);
    }
    fixture_keys(fixture, "W");
}

static void
classes_arrive(struct fixture *fixture)
{
    const struct tag_class classes[] = {
        {4, 1,     60000, 300,  14400, {100, 100, 50, 50}  },
        {4, ORDER, 1200,  1980, 95040, {980, 500, 300, 200}},
        {4, 5,     40000, 0,    0,     {0, 0, 0, 0}        },
    };
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_TAGS,
                        .tags = {.classes = classes,
                                 .class_count = sizeof classes / sizeof classes[0]}
    });
}

static void
shows_each_arrangement(void **state)
{
    static const struct {
        const char *name;
        const char *keys;
        int columns, rows;
    } screens[] = {
        {"tags",            "",                118, 20},
        {"tags-80x24",      "",                80,  24},
        {"tags-60x16",      "",                60,  16},
        {"tags-40x10",      "",                40,  10},
        {"tags-200x16",     "",                200, 16},
        {"tags-by-calls",   "<<<",             118, 20},
        {"tags-inverted",   "I",               118, 20},
        {"tags-filtered",   "/ORDERS<Enter>",  118, 20},
        {"tags-no-match",   "/nowhere<Enter>", 118, 20},
        {"tags-units",      "u",               118, 20},
        {"tags-help",       "?",               80,  40},
        {"tags-since-mark", "m",               118, 20},
        {"tags-no-classes", "<Enter>",         118, 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof screens / sizeof screens[0]; i++) {
        struct fixture fixture;
        begin(&fixture, (struct fixture_options){0});
        fixture_keys(&fixture, screens[i].keys);
        fixture_golden(&fixture, screens[i].name, screens[i].columns, screens[i].rows);
        fixture_stop(&fixture);
    }
}

static void
draws_with_ascii_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, (struct fixture_options){.ascii = true});
    fixture_golden(&fixture, "tags-ascii", 100, 16);
    fixture_stop(&fixture);
}

static void
asks_for_the_classes_of_a_tag_and_shows_them(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, (struct fixture_options){0});
    fixture_keys(&fixture, "/show<Enter><Enter>");
    const struct request *request = &fixture.sent[fixture.sent_count - 1];
    assert_int_equal(request->action, REQUEST_TAG);
    assert_int_equal(request->argument, 4);
    classes_arrive(&fixture);
    fixture_golden(&fixture, "tags-classes", 118, 20);
    fixture_golden(&fixture, "tags-classes-60x16", 60, 16);
    fixture_keys(&fixture, "<Esc>");
    request = &fixture.sent[fixture.sent_count - 1];
    assert_int_equal(request->action, REQUEST_TAG);
    assert_int_equal(request->argument, 0);
    fixture_stop(&fixture);
}

static void
goes_from_a_class_to_its_call_tree(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, (struct fixture_options){0});
    fixture_keys(&fixture, "/show<Enter><Enter>");
    classes_arrive(&fixture);
    fixture_keys(&fixture, "g<Enter>");
    const struct request *request = &fixture.sent[fixture.sent_count - 1];
    assert_int_equal(request->action, REQUEST_OPEN);
    assert_int_equal(request->argument, ORDER);
    fixture_stop(&fixture);
}

static void
clears_the_filter_before_it_goes_back(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, (struct fixture_options){0});
    fixture_keys(&fixture, "/show<Enter><Esc>");
    fixture_golden(&fixture, "tags", 118, 20);
    fixture_keys(&fixture, "<Esc>");
    assert_int_equal(fixture_row_of(&fixture, "tags: what"), -1);
    fixture_stop(&fixture);
}

static void
rows_stand_still_while_the_cursor_moves(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, (struct fixture_options){0});
    fixture_keys(&fixture, "<<<j");
    free(fixture_screen(&fixture, 118, 20));
    int before = fixture_row_of(&fixture, "route=orders#show ");
    struct tag_row first = row(6, 1000000, 700000, 150);
    fixture_message(&fixture,
                    (struct message){
                        .kind = MESSAGE_TAGS, .tags = {.rows = &first, .row_count = 1}
    });
    free(fixture_screen(&fixture, 118, 20));
    assert_int_equal(fixture_row_of(&fixture, "route=orders#show "), before);
    fixture_wait(&fixture, 6000);
    free(fixture_screen(&fixture, 118, 20));
    assert_true(fixture_row_of(&fixture, "route=orders#show ") > before);
    fixture_stop(&fixture);
}

static void
says_what_to_do_without_tags(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_start(&fixture, (struct fixture_options){0});
    fixture_demo(&fixture);
    fixture_keys(&fixture, ":tags<Enter>");
    fixture_golden(&fixture, "tags-none", 100, 16);
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_each_arrangement),
        cmocka_unit_test(draws_with_ascii_alone),
        cmocka_unit_test(asks_for_the_classes_of_a_tag_and_shows_them),
        cmocka_unit_test(goes_from_a_class_to_its_call_tree),
        cmocka_unit_test(clears_the_filter_before_it_goes_back),
        cmocka_unit_test(rows_stand_still_while_the_cursor_moves),
        cmocka_unit_test(says_what_to_do_without_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
