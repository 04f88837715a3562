// A recording shows the screens that the live session showed: a viewer that was there
// from the start beside one that began with a snapshot, byte for byte.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/orders.h"
#include "tui/app_state.h"
#include "tui/model/snapshot.h"

// What a player looks back before a moment: the two minutes of history. The windows of
// rates need less.
#define LATER 120u

static const struct fixture_options options = {.read_source = orders_read_source};

static bool
hand_over(void *context, const struct message *message)
{
    struct fixture *replay = context;
    struct buffer frame = {0};
    struct message decoded;
    assert_true(message_encode(&frame, message));
    decoder_feed(&replay->decoder, frame.bytes, frame.length);
    assert_int_equal(decoder_next(&replay->decoder, &decoded), DECODE_MESSAGE);
    app_message(replay->app, &decoded, replay->now_ms);
    buffer_destroy(&frame);
    return true;
}

// A second viewer, which knows what a key group of now says.
static void
begin_replay(struct fixture *replay, struct fixture *live)
{
    fixture_start(replay, options);
    replay->now_ms = live->now_ms;
    app_link(replay->app, LINK_LIVE, "", replay->now_ms);
    assert_true(snapshot_each(live->app->model, hand_over, replay));
    free(fixture_screen(live, 118, 30));
    free(fixture_screen(replay, 118, 30));
}

static void
stop(struct fixture *live, struct fixture *replay)
{
    fixture_stop(live);
    fixture_stop(replay);
}

static void
expect_same_screen(struct fixture *live, struct fixture *replay, const char *keys,
                   int width, int height)
{
    // a timeline begins where its recording does, so it is left out
    live->app->point_count = replay->app->point_count = 0;
    char *one = fixture_screen(live, width, height);
    char *other = fixture_screen(replay, width, height);
    if (strcmp(one, other) != 0) {
        fail_msg(
            "after \"%s\" at %d x %d the live session showed\n%s\nand the replay\n%s",
            keys, width, height, one, other);
    }
    free(one);
    free(other);
}

// The same keys for both, and what is then seen at sizes from the smallest up.
static void
expect_same_screens(struct fixture *live, struct fixture *replay, const char *keys)
{
    static const struct {
        int columns;
        int rows;
    } sizes[] = {
        {118, 30},
        {200, 50},
        {80,  24},
        {60,  16},
        {40,  8 },
        {20,  4 },
    };
    live->sent_count = replay->sent_count = 0;
    fixture_keys(live, keys);
    fixture_keys(replay, keys);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        expect_same_screen(live, replay, keys, sizes[i].columns, sizes[i].rows);
    }
}

// Every column, order and list of the table that shows what a model holds.
static void
expect_same_tables(struct fixture *live, struct fixture *replay)
{
    static const char *const keys[] = {
        "",
        ":sort delta<Enter>",
        ":sort rate<Enter>",
        ":sort alloc<Enter>",
        ":sort free<Enter>",
        ":sort bytes<Enter>",
        ":sort name<Enter>",
        "i",
        "u",
        "%",
        "/delta>100<Enter>",
        "<Esc>",
        "'",
        "<Esc>",
        "!",
        "<Esc>",
        ":since A<Enter>",
        ":sort delta<Enter>",
        "i",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        expect_same_screens(live, replay, keys[i]);
    }
}

// Seconds that are none exactly: as samples come from a program that has work to do.
static void
pass(struct fixture *live, struct fixture *replay, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        struct fixture *both[] = {live, replay};
        for (int k = 0; k < 2 && both[k] != NULL; k++) {
            fixture_wait(both[k], 37 * i % 11 * 4);
            fixture_demo_second(both[k]);
        }
    }
}

static void
the_table_is_the_same_after_two_minutes(void **state)
{
    (void)state;
    for (unsigned from = 0; from < 7; from++) {
        struct fixture live;
        struct fixture replay;
        fixture_start(&live, options);
        fixture_demo(&live);
        fixture_notice(&live, 3, NOTICE_WARNING, "objspace is tracing: \x1b[31mslow");
        pass(&live, NULL, from);
        fixture_keys(&live, ":mark A<Enter>:since connecting<Enter>");
        pass(&live, NULL, 3 + 7 * from);
        begin_replay(&replay, &live);
        pass(&live, &replay, LATER);
        assert_int_equal(live.now_ms, replay.now_ms);
        expect_same_tables(&live, &replay);
        stop(&live, &replay);
    }
}

static void
begin_again(struct fixture *fixture, uint64_t pid)
{
    // two of the classes are loaded later than the others, one is new
    static const struct class_name names[] = {
        {1, 0, {"Hash", 4}   },
        {2, 0, {"String", 6} },
        {3, 0, {"Order", 5}  },
        {4,
         0,    {"\xe2\x80\xae"
          "Evil",
          7}      },
        {5, 0, {"Session", 7}},
    };
    static const struct class_row rows[] = {
        {1, 500,  500,  0, 20000 },
        {2, 9000, 9000, 0, 360000},
        {3, 6100, 6100, 0, 1000  },
        {4, 1,    1,    0, 40    },
    };
    fixture_hello(fixture, pid);
    fixture_names(fixture, names, 5);
    fixture_send_sample(fixture, fixture_sample(rows, 4, true));
}

static void
a_restart_is_the_same_whether_it_came_before_the_snapshot_or_after(void **state)
{
    (void)state;
    for (int before = 0; before < 3; before++) {
        struct fixture live;
        struct fixture replay;
        fixture_start(&live, options);
        fixture_demo(&live);
        fixture_keys(&live, ":mark A<Enter>:since connecting<Enter>");
        pass(&live, NULL, 10);
        if (before == 2) {
            begin_again(&live, 4120); // the connection alone
        } else if (before == 1) {
            begin_again(&live, 4999);
        }
        begin_replay(&replay, &live);
        pass(&live, &replay, 20);
        if (before == 0) {
            begin_again(&live, 4999);
            begin_again(&replay, 4999);
        }
        pass(&live, &replay, LATER);
        expect_same_tables(&live, &replay);
        stop(&live, &replay);
    }
}

// Every view of a class's call tree, the flame graph and the source among them.
static void
expect_same_trees(struct fixture *live, struct fixture *replay)
{
    static const char *const keys[] = {
        "",
        "E",
        "C",
        "+",
        "p",
        "E",
        "t",
        "i",
        "t",
        "i",
        "%",
        "f",
        "<Esc>",
        "v",
        "<Esc>",
        "m",
        ":sort delta<Enter>",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        expect_same_screens(live, replay, keys[i]);
    }
    expect_same_screens(live, replay, ":since A<Enter>");
    expect_same_screens(live, replay, "jjj<Enter>");
}

static void
open_order(struct fixture *fixture)
{
    fixture->sent_count = 0;
    fixture_keys(fixture, "/~^Order$<Enter><Home><Enter>");
    free(fixture_screen(fixture, 118, 30));
    assert_true(fixture_row_of(fixture, "(before tracing)") > 0);
}

static void
call_trees_are_the_same_after_two_minutes(void **state)
{
    static const enum orders_kind kinds[] = {ORDERS_EXACT, ORDERS_SAMPLED, ORDERS_FEW,
                                             ORDERS_FULL,  ORDERS_FREED,   ORDERS_EVEN};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct fixture live;
        struct fixture replay;
        unsigned from = 33 + (unsigned)i;
        orders_open(&live, kinds[i]);
        fixture_keys(&live, ":mark A<Enter>:since connecting<Enter>");
        orders_more(&live, kinds[i], 30, from);
        fixture_keys(&live, "<Esc>"); // both look at the table now
        begin_replay(&replay, &live);
        open_order(&live);
        open_order(&replay);
        orders_more(&live, kinds[i], from, from + LATER);
        orders_more(&replay, kinds[i], from, from + LATER);
        expect_same_trees(&live, &replay);
        stop(&live, &replay);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_same_after_two_minutes),
        cmocka_unit_test(
            a_restart_is_the_same_whether_it_came_before_the_snapshot_or_after),
        cmocka_unit_test(call_trees_are_the_same_after_two_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
