// Going back in time: any moment that was on the screen can be there again.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/orders.h"
#include "tui/app.h"
#include "tui/model/model.h"

#define COLUMNS 118
#define ROWS 30
#define SECONDS 300

static void
press(struct fixture *fixture, const char *keys)
{
    fixture_keys(fixture, keys);
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

static bool
shows(struct fixture *fixture, const char *text)
{
    free(fixture_screen(fixture, COLUMNS, ROWS));
    return fixture_row_of(fixture, text) >= 0;
}

static void
expect(struct fixture *fixture, const char *text)
{
    if (!shows(fixture, text)) {
        fail_msg("\"%s\" is not on the screen:\n%s", text, grid_text(&fixture->grid));
    }
}

// The screen without what says which moment it is: the header's first line, the
// timeline and the bottom line.
static char *
figures(struct fixture *fixture)
{
    char *screen = fixture_screen(fixture, COLUMNS, ROWS);
    char *second = strchr(screen, '\n') + 1;
    char *strip = strchr(strchr(second, '\n') + 1, '\n') + 1;
    char *table = strchr(strip, '\n') + 1;
    memmove(strip, table, strlen(table) + 1);
    char *bottom = screen + strlen(screen) - 1;
    while (bottom > screen && bottom[-1] != '\n') {
        bottom--;
    }
    *bottom = '\0';
    memmove(screen, second, strlen(second) + 1);
    return screen;
}

static void
begin(struct fixture *fixture)
{
    fixture_start(fixture, (struct fixture_options){0});
    fixture_demo(fixture);
    free(fixture_screen(fixture, COLUMNS, ROWS));
}

static void
shows_each_moment_as_it_was(void **state)
{
    static char *then[SECONDS];
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    for (int second = 0; second < SECONDS; second++) {
        fixture_demo_second(&fixture);
        then[second] = figures(&fixture);
    }
    press(&fixture, " ");
    for (int second = SECONDS - 2; second >= 0; second -= second % 7 + 1) {
        char keys[64];
        snprintf(keys, sizeof keys, ":goto -%ds<Enter>", second % 7 + 1);
        fixture_keys(&fixture, second == SECONDS - 2 ? "[" : keys);
        if (second != SECONDS - 2) {
            continue; // the walk below checks each
        }
        char *now = figures(&fixture);
        assert_string_equal(now, then[second]);
        free(now);
    }
    press(&fixture, ":goto start<Enter>");
    for (int second = 0; second < SECONDS; second++) {
        char keys[64];
        // each in its turn, and a far one between, which begins anew
        snprintf(keys, sizeof keys, ":goto start<Enter>:goto +%ds<Enter>", 41 + second);
        fixture_keys(&fixture, second % 10 == 0 ? keys : "]");
        char *now = figures(&fixture);
        assert_string_equal(now, then[second]);
        free(now);
    }
    for (int second = 0; second < SECONDS; second++) {
        free(then[second]);
    }
    fixture_stop(&fixture);
}

static void
says_which_moment_it_is_and_returns_to_live(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    for (int second = 0; second < 130; second++) {
        fixture_demo_second(&fixture);
    }
    press(&fixture, "{{");
    fixture_golden(&fixture, "rewound", COLUMNS, 16);
    fixture_demo_second(&fixture); // live goes on behind it
    expect(&fixture, "REWOUND -02:01");
    press(&fixture, "}");
    expect(&fixture, "REWOUND -01:01");
    press(&fixture, "]");
    expect(&fixture, "REWOUND -01:00");
    press(&fixture, "L");
    expect(&fixture, "LIVE");
    press(&fixture, ":goto yesterday<Enter>");
    expect(&fixture, "goto: ");
    press(&fixture, ":goto start<Enter>[");
    expect(&fixture, "this is the oldest moment there is");
    press(&fixture, ":goto live<Enter>");
    expect(&fixture, "LIVE");
    fixture_stop(&fixture);
}

static void
marks_hold_at_every_moment(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    for (int second = 0; second < 60; second++) {
        fixture_demo_second(&fixture);
    }
    press(&fixture, "{m"); // a minute ago
    expect(&fixture, "mark A is set: changes are since the moment shown");
    press(&fixture, "L");
    expect(&fixture, "Δ since A");
    expect(&fixture, "10 192     +2 460 ▲");
    press(&fixture, ":goto A<Enter>");
    expect(&fixture, "7 732          0 =");
    press(&fixture, "[");
    expect(&fixture, "7 691        -41 ▼");
    fixture_stop(&fixture);
}

static void
the_cursor_stays_with_its_class(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    press(&fixture, "jjjj");
    expect(&fixture, "▶Order");
    press(&fixture, "[");
    expect(&fixture, "▶Order");
    press(&fixture, "L");
    expect(&fixture, "▶Order");
    fixture_stop(&fixture);
}

static void
a_tree_goes_back_too(void **state)
{
    struct fixture fixture;
    (void)state;
    orders_open(&fixture, ORDERS_EXACT);
    expect(&fixture, " 1 170   13.1 %");
    press(&fixture, "[[[[[[[[[[");
    expect(&fixture, "   781    9.1 %");
    expect(&fixture, "OrdersApp#create");
    press(&fixture, "L");
    expect(&fixture, " 1 170   13.1 %");
    fixture_stop(&fixture);
}

static void
a_click_on_the_timeline_goes_there(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    fixture_click(&fixture, 3, 70);
    expect(&fixture, "REWOUND");
    press(&fixture, "v");
    expect(&fixture, "the timeline shows RSS");
    press(&fixture, "L");
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_each_moment_as_it_was),
        cmocka_unit_test(says_which_moment_it_is_and_returns_to_live),
        cmocka_unit_test(marks_hold_at_every_moment),
        cmocka_unit_test(the_cursor_stays_with_its_class),
        cmocka_unit_test(a_tree_goes_back_too),
        cmocka_unit_test(a_click_on_the_timeline_goes_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
