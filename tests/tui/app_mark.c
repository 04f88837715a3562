// Marks in a recording that is replayed, and why a gap is one.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tui/orders.h"
#include "tui/app_record.h"
#include "tui/app_state.h"
#include "tui/app_time.h"
#include "tui/record/tape.h"

#define ORDER 3u // in the first process

static char path[] = "/tmp/memtop-mark-XXXXXX";

static bool
no_request(void *context, const struct request *request)
{
    (void)context;
    (void)request;
    return false;
}

static struct tape *
open_tape(void)
{
    char why[200] = "";
    struct tape *tape = tape_open(path, why, sizeof why);
    if (tape == NULL) {
        fail_msg("%s", why);
    }
    return tape;
}

static struct app *
open_replay(struct tape *tape)
{
    struct app_options options = {.source = path,
                                  .readonly = true,
                                  .send = no_request,
                                  .tape = tape,
                                  .at_us = UINT64_MAX};
    struct app *app = app_new(&options, 1000);
    assert_non_null(app);
    return app;
}

// Another process, in which ids mean other classes.
static void
restart(struct fixture *live, unsigned after_ms)
{
    static const struct class_name names[] = {
        {1, 0, {"Order", 5}},
        {3, 0, {"Late", 4} },
    };
    static const struct class_row rows[] = {
        {1, 70, 70, 0, 2800},
        {3, 9,  9,  0, 360 },
    };
    app_link(live->app, LINK_RECONNECTING, "the connection was closed", live->now_ms);
    fixture_wait(live, after_ms);
    fixture_hello(live, 777);
    app_link(live->app, LINK_LIVE, "", live->now_ms);
    fixture_names(live, names, 2);
    for (int i = 0; i < 3; i++) {
        fixture_send_sample(live, fixture_sample(rows, 2, true));
        fixture_wait(live, 1000);
    }
}

// So many seconds of a program, and another one that takes its place.
static void
record_for(unsigned seconds, unsigned gap_ms)
{
    struct fixture live;
    char why[200];
    const struct writer_options options = {.mode = WRITER_REPLACE};
    fixture_start(&live, (struct fixture_options){.ascii = false});
    fixture_demo(&live);
    assert_true(app_record_start(live.app, path, &options, true, why, sizeof why));
    for (unsigned i = 0; i < seconds; i++) {
        fixture_demo_second(&live);
    }
    restart(&live, gap_ms);
    assert_true(app_record_stop(live.app, why, sizeof why));
    fixture_stop(&live);
}

static int
record(void **state)
{
    (void)state;
    close(mkstemp(path));
    record_for(5, 3000);
    return 0;
}

static int
forget(void **state)
{
    (void)state;
    return unlink(path);
}

static const struct model_class *
class_named(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (!class->gone && strcmp(class->name, name) == 0) {
            return class;
        }
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static void
a_mark_of_another_process_goes_by_the_names_of_classes(void **state)
{
    (void)state;
    struct tape *tape = open_tape();
    struct app *app = open_replay(tape);
    app_time_goto(app, "start");
    const struct model *first = app_shown(app);
    uint64_t orders = model_class_find(first, ORDER)->now.live;
    uint64_t at_us = model_time(first).wall_us;
    app_time_mark(app, 0);
    assert_string_equal(app->mark_error, "");
    app_free(app);
    tape_free(tape);

    tape = open_tape();
    app = open_replay(tape);
    const struct model *model = app_model(app);
    assert_non_null(model_mark(model, 0));
    assert_int_equal(model_mark(model, 0)->at.wall_us, at_us);
    app_time_use_mark(app, 0);
    assert_int_equal(class_named(model, "Order")->baseline, orders);
    assert_int_equal(class_named(model, "Late")->baseline, 0);
    app_free(app);
    tape_free(tape);
}

static void
a_gap_has_its_reason(void **state)
{
    (void)state;
    struct tape *tape = open_tape();
    struct app *app = open_replay(tape);
    assert_int_equal(app->strip.gap_count, 1);
    assert_string_equal(app->strip_gaps[0].reason, "the connection broke");
    app_free(app);
    tape_free(tape);
}

// Of a long recording only the key groups are read.
static void
expect_gap(unsigned seconds, unsigned gap_s)
{
    record_for(seconds, gap_s * 1000);
    struct tape *tape = open_tape();
    struct app *app = open_replay(tape);
    assert_true(tape_key_count(tape) > 40);
    assert_int_equal(app->strip.gap_count, 1);
    assert_string_equal(app->strip_gaps[0].reason, "the connection broke");
    assert_in_range(app->strip_gaps[0].to_us - app->strip_gaps[0].from_us,
                    gap_s * 1000000, (gap_s + 1) * 1000000);
    app_free(app);
    tape_free(tape);
}

static void
a_gap_in_a_long_recording_has_its_reason_too(void **state)
{
    (void)state;
    expect_gap(40 * 60, 100);
}

static void
a_short_gap_in_a_long_recording_is_found(void **state)
{
    (void)state;
    expect_gap(40 * 60 + 20, 7);
}

static void
a_mark_beside_somebody_who_writes_is_for_the_session(void **state)
{
    char why[300];
    const struct writer_options options = {.mode = WRITER_EXTEND};
    (void)state;
    struct tape *tape = open_tape();
    struct app *app = open_replay(tape);
    struct writer *other = writer_open(path, &options, why, sizeof why);
    assert_non_null(other);
    app_time_mark(app, 1);
    assert_string_equal(app->mark_error, "another memtop is recording to it");
    assert_non_null(model_mark(app_model(app), 1));
    assert_true(writer_close(other, why, sizeof why));
    app_time_mark(app, 1);
    assert_string_equal(app->mark_error, "");
    // a last frame that is not whole: nothing is put behind it
    assert_int_equal(truncate(path, (off_t)tape_size(tape) - 3), 0);
    app_free(app);
    tape_free(tape);
    tape = open_tape();
    app = open_replay(tape);
    app_time_mark(app, 2);
    assert_non_null(strstr(app->mark_error, "are no whole frame"));
    app_free(app);
    tape_free(tape);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_has_its_reason),
        cmocka_unit_test(a_mark_of_another_process_goes_by_the_names_of_classes),
        cmocka_unit_test(a_mark_beside_somebody_who_writes_is_for_the_session),
        cmocka_unit_test(a_gap_in_a_long_recording_has_its_reason_too),
        cmocka_unit_test(a_short_gap_in_a_long_recording_is_found),
    };

    return cmocka_run_group_tests(tests, record, forget);
}
