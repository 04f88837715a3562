#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"
#include "tests/tui/model/herd.h"
#include "tui/app_fleet.h"
#include "tui/model/merge.h"
#include "tui/view/process_view.h"

struct stage {
    struct fixture fixture;
    struct herd herd;
};

static struct stage stage;

// The viewer with a cluster of Puma, at the list of processes.
static int
start(void **state)
{
    herd_start(&stage.herd);
    herd_puma(&stage.herd, 60);
    fixture_start(&stage.fixture, (struct fixture_options){.fleet = &stage.herd.fleet});
    app_fleet_begin(stage.fixture.app);
    *state = &stage;
    return 0;
}

static int
stop(void **state)
{
    (void)state;
    fixture_stop(&stage.fixture);
    herd_stop(&stage.herd);
    return 0;
}

static void
restart(bool ascii)
{
    fixture_stop(&stage.fixture);
    fixture_start(&stage.fixture,
                  (struct fixture_options){.ascii = ascii, .fleet = &stage.herd.fleet});
    app_fleet_begin(stage.fixture.app);
}

// Is a text on the screen as it is now?
static bool
shows(const char *text)
{
    char *screen = fixture_screen(&stage.fixture, 118, 16);
    bool found = strstr(screen, text) != NULL;
    free(screen);
    return found;
}

static struct peer *
worker(uint64_t pid)
{
    return fleet_find_pid(&stage.herd.fleet, pid);
}

static void
fits_screens_of_all_sizes(void **state)
{
    (void)state;
    fixture_golden(&stage.fixture, "processes", 118, 16);
    fixture_golden(&stage.fixture, "processes-200", 200, 12);
    fixture_golden(&stage.fixture, "processes-80", 80, 12);
    fixture_golden(&stage.fixture, "processes-40", 40, 8);
}

static void
draws_with_ascii_alone(void **state)
{
    (void)state;
    restart(true);
    fixture_golden(&stage.fixture, "processes-ascii", 118, 12);
    for (int i = 0; i < stage.fixture.grid.rows * stage.fixture.grid.columns; i++) {
        assert_in_range(stage.fixture.grid.cells[i].character, ' ', '~');
    }
}

static void
says_in_a_word_how_each_process_is(void **state)
{
    (void)state;
    fleet_state(&stage.herd.fleet, worker(4121), PEER_GONE, "exit status 1",
                stage.herd.now_ms);
    fleet_state(&stage.herd.fleet, worker(4177), PEER_SILENT,
                "it accepts connections but says nothing. Is the program stopped?",
                stage.herd.now_ms);
    herd_sleep(&stage.herd, herd_add(&stage.herd, 5000, 1, "ruby -e sleep"));
    fleet_add(&stage.herd.fleet, "/run/memtop/6000.sock", 6000, stage.herd.now_ms);
    fixture_keys(&stage.fixture, "jjj");
    fixture_golden(&stage.fixture, "processes-states", 118, 14);
}

static void
says_so_when_there_is_none(void **state)
{
    (void)state;
    fleet_destroy(&stage.herd.fleet);
    fixture_golden(&stage.fixture, "processes-none", 118, 10);
}

static void
new_processes_appear_and_the_cursor_stays_on_its_own(void **state)
{
    (void)state;
    fixture_keys(&stage.fixture, "jj");
    assert_true(shows("▶├4121"));
    herd_add(&stage.herd, 4100, 1, "another");
    herd_add(&stage.herd, 4119, 4101, "puma: cluster worker 3");
    assert_true(app_fleet_changed(stage.fixture.app, stage.fixture.now_ms) & REACT_DRAW);
    assert_true(shows("▶├4121"));
    assert_true(shows("4100"));
}

static void
the_order_stands_still_while_somebody_moves(void **state)
{
    struct herd *herd = &stage.herd;
    (void)state;
    fixture_keys(&stage.fixture, "4"); // by live objects
    int first = -1;
    free(fixture_screen(&stage.fixture, 118, 16));
    first = fixture_row_of(&stage.fixture, "4120");
    assert_int_equal(first, 3);
    fixture_keys(&stage.fixture, "j");
    herd_sample(herd, worker(4177), (uint64_t[HERD_CLASSES]){9000000, 1, 1, 1}, 1);
    free(fixture_screen(&stage.fixture, 118, 16));
    assert_int_equal(fixture_row_of(&stage.fixture, "4120"), 3);
    fixture_wait(&stage.fixture, PROCESS_FREEZE_MS);
    free(fixture_screen(&stage.fixture, 118, 16));
    assert_int_equal(fixture_row_of(&stage.fixture, "4177"), 3);
    assert_true(shows("▶├4120"));
}

static void
filters_by_words_and_numbers_as_they_are_typed(void **state)
{
    (void)state;
    fixture_keys(&stage.fixture, "/worker");
    fixture_golden(&stage.fixture, "processes-filter", 118, 12);
    fixture_keys(&stage.fixture, " !4121 rss>200M<Enter>");
    assert_true(shows("4120"));
    assert_false(shows("4177"));
    fixture_keys(&stage.fixture, "<Esc>");
    assert_true(shows("4177"));
    fixture_keys(&stage.fixture, "/nothing like that<Enter>");
    assert_true(shows("No process passes the filter"));
    fixture_keys(&stage.fixture, "\\");
    assert_true(shows("4101"));
}

static void
the_sort_menu_has_its_columns(void **state)
{
    (void)state;
    fixture_keys(&stage.fixture, "s");
    fixture_golden(&stage.fixture, "processes-sort", 118, 18);
    fixture_keys(&stage.fixture, "2");
    assert_true(shows("RSS ↓"));
    fixture_keys(&stage.fixture, "I");
    assert_true(shows("RSS ↑"));
    fixture_keys(&stage.fixture, ">");
    assert_true(shows("LIVE ↓"));
}

static void
help_tells_its_keys_and_words(void **state)
{
    (void)state;
    fixture_keys(&stage.fixture, "?");
    assert_true(shows("processes"));
    char *screen = fixture_screen(&stage.fixture, 118, 60);
    assert_non_null(strstr(screen, "the classes of this process"));
    assert_non_null(strstr(screen, "TOP GROWING"));
    free(screen);
}

static void
choosing_one_asks_for_its_connection(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    fixture_keys(fixture, "j<Enter>");
    assert_true(fixture->reactions & REACT_TARGET);
    const struct app_target *target = app_target(fixture->app);
    assert_int_equal(target->pid, 4120);
    assert_false(target->merged);
    assert_string_equal(target->socket, "/run/memtop/4120.sock");
    assert_true(shows("Connecting to /run/memtop/4120.sock"));
    // the list is one key away, and the same one again goes on as it is
    fixture_keys(fixture, "<Esc>");
    assert_true(shows("▶├4120"));
    fixture_keys(fixture, "<Enter>");
    assert_false(fixture->reactions & REACT_TARGET);
    assert_false(app_fleet_shown(fixture->app));
}

static void
one_that_has_not_answered_yet_can_be_chosen(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    fleet_add(&stage.herd.fleet, "/run/memtop/6000.sock", 6000, stage.herd.now_ms);
    fixture_keys(fixture, "G<Enter>");
    assert_true(fixture->reactions & REACT_TARGET);
    assert_true(shows("Connecting to /run/memtop/6000.sock"));
}

static void
another_one_begins_with_nothing_of_the_one_before(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    fixture_keys(fixture, "j<Enter>");
    fixture_demo(fixture);
    assert_true(shows("Order"));
    fixture_keys(fixture, "u"); // how figures are shown is a habit of the person's
    fixture_keys(fixture, "Pj<Enter>");
    assert_true(fixture->reactions & REACT_TARGET);
    assert_int_equal(app_target(fixture->app)->pid, 4121);
    assert_int_equal(model_class_count(app_model(fixture->app)), 0);
    assert_false(shows("Order"));
    fixture_demo(fixture);
    assert_true(shows("379K"));
}

static void
tab_goes_to_the_processes_and_back(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    fixture_keys(fixture, "<Tab>");
    assert_true(shows("choose a process first"));
    fixture_keys(fixture, "j<Enter>");
    assert_false(app_fleet_shown(fixture->app));
    fixture_keys(fixture, "<Tab>");
    assert_true(app_fleet_shown(fixture->app));
    assert_true(fixture->reactions & REACT_FLEET);
    fixture_keys(fixture, "<Tab>");
    assert_false(app_fleet_shown(fixture->app));
    fixture_keys(fixture, "Pq");
    assert_false(app_fleet_shown(fixture->app));
    assert_false(fixture->reactions & REACT_QUIT);
}

static void
the_cursor_begins_at_the_process_that_is_shown(void **state)
{
    const struct app_target target = {.socket = "/run/memtop/4121.sock", .pid = 4121};
    (void)state;
    app_fleet_target(stage.fixture.app, &target);
    fixture_keys(&stage.fixture, "<Tab>P");
    assert_true(shows("▶├4121"));
    fixture_keys(&stage.fixture, "g");
    assert_false(shows("▶├4121"));
}

static void
q_quits_while_nothing_was_chosen(void **state)
{
    (void)state;
    fixture_keys(&stage.fixture, "<Esc>");
    assert_true(app_fleet_shown(stage.fixture.app));
    fixture_keys(&stage.fixture, "q");
    assert_true(stage.fixture.reactions & REACT_QUIT);
}

static void
what_does_not_answer_cannot_be_chosen(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    fleet_state(&stage.herd.fleet, worker(4120), PEER_SILENT, "it says nothing",
                stage.herd.now_ms);
    fixture_keys(fixture, "j<Enter>");
    assert_false(fixture->reactions & REACT_TARGET);
    assert_true(shows("process 4120: it says nothing"));
    fixture_keys(fixture, ":process 77<Enter>");
    assert_true(shows("no probed process \"77\""));
}

static void
one_that_cannot_be_watched_leads_back_to_the_list(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    fixture_keys(fixture, "j<Enter>");
    app_fleet_failed(fixture->app, "cannot watch it: gone", fixture->now_ms);
    assert_true(app_fleet_shown(fixture->app));
    assert_true(shows("cannot watch it: gone"));
    fixture_keys(fixture, "<Enter>");
    assert_true(fixture->reactions & REACT_TARGET);
}

static void
a_process_without_relatives_is_not_merged(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    herd_add(&stage.herd, 9000, 1, "alone");
    fixture_keys(fixture, "GM");
    assert_false(fixture->reactions & REACT_TARGET);
    assert_true(shows("neither children nor a parent"));
}

static bool
take(void *context, const struct message *message)
{
    fixture_message(context, *message);
    return true;
}

// What the loop does each second for a sum.
static void
sum_up(struct merge *merge)
{
    const struct peer *group[FLEET_MAX];
    struct merge_member members[FLEET_MAX];
    size_t count = fleet_group(&stage.herd.fleet, worker(4101), group);
    for (size_t i = 0; i < count; i++) {
        members[i] = (struct merge_member){group[i]->pid, group[i]->model,
                                           group[i]->state == PEER_LIVE};
    }
    const struct merge_group whole = {4101, "puma 6.6 master", members, count};
    assert_true(merge_make(merge, &whole, (struct stamp){0}, take, &stage.fixture));
}

static void
merges_a_cluster_and_shows_each_worker_beside_the_sum(void **state)
{
    struct fixture *fixture = &stage.fixture;
    struct merge *merge = merge_new();
    (void)state;
    fixture_keys(fixture, "jM");
    assert_true(fixture->reactions & REACT_TARGET);
    assert_true(app_target(fixture->app)->merged);
    assert_int_equal(app_target(fixture->app)->pid, 4101);
    app_fleet_merged(fixture->app, merge);
    app_link(fixture->app, LINK_LIVE, "", fixture->now_ms);
    for (int i = 0; i < 10; i++) {
        sum_up(merge);
        fixture_wait(fixture, 1000);
    }
    fixture_golden(fixture, "merged", 118, 14);
    fixture_keys(fixture, "|");
    fixture_golden(fixture, "merged-each", 118, 14);
    fixture_golden(fixture, "merged-each-60", 60, 14);
    // a probe cannot be asked about a sum
    fixture_keys(fixture, "<Enter>");
    assert_true(shows("call tree: this is the sum of several processes"));
    fixture_keys(fixture, "c");
    assert_true(shows("census: this is the sum"));
    assert_int_equal(fixture->sent_count, 0);
    // going back has the sums alone
    fixture_keys(fixture, "[");
    fixture_golden(fixture, "merged-each-back", 118, 14);
    fixture_keys(fixture, "LWW");
    merge_free(merge);
    app_fleet_merged(fixture->app, NULL);
}

static void
a_single_process_has_no_columns_of_others(void **state)
{
    (void)state;
    fixture_keys(&stage.fixture, "j<Enter>");
    fixture_demo(&stage.fixture);
    fixture_keys(&stage.fixture, "|");
    assert_true(shows("P, then M, merges several"));
}

static void
the_mouse_chooses_too(void **state)
{
    struct fixture *fixture = &stage.fixture;
    (void)state;
    free(fixture_screen(fixture, 118, 16));
    int row = fixture_row_of(fixture, "4121");
    fixture_click(fixture, row, 20);
    assert_true(shows("▶├4121"));
    int heading = fixture_row_of(fixture, "COMMAND");
    fixture_click(fixture, heading, 58);
    assert_false(shows("PID ↑"));
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        CASE(fits_screens_of_all_sizes),
        CASE(draws_with_ascii_alone),
        CASE(says_in_a_word_how_each_process_is),
        CASE(says_so_when_there_is_none),
        CASE(new_processes_appear_and_the_cursor_stays_on_its_own),
        CASE(the_order_stands_still_while_somebody_moves),
        CASE(filters_by_words_and_numbers_as_they_are_typed),
        CASE(the_sort_menu_has_its_columns),
        CASE(help_tells_its_keys_and_words),
        CASE(choosing_one_asks_for_its_connection),
        CASE(one_that_has_not_answered_yet_can_be_chosen),
        CASE(another_one_begins_with_nothing_of_the_one_before),
        CASE(tab_goes_to_the_processes_and_back),
        CASE(the_cursor_begins_at_the_process_that_is_shown),
        CASE(q_quits_while_nothing_was_chosen),
        CASE(what_does_not_answer_cannot_be_chosen),
        CASE(one_that_cannot_be_watched_leads_back_to_the_list),
        CASE(a_process_without_relatives_is_not_merged),
        CASE(merges_a_cluster_and_shows_each_worker_beside_the_sum),
        CASE(a_single_process_has_no_columns_of_others),
        CASE(the_mouse_chooses_too),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
