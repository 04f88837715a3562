#include "tui/model/fleet.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tests/tui/model/herd.h"
#include "tui/model/kin.h"

#define MEGABYTE UINT64_C(1048576)

// cmocka compares doubles from 1.1.6 on only.
static void
assert_near(double value, double wanted, double error)
{
    assert_true(fabs(value - wanted) <= error);
}

static int
start(void **state)
{
    static struct herd herd;
    herd_start(&herd);
    *state = &herd;
    return 0;
}

static int
stop(void **state)
{
    herd_stop(*state);
    return 0;
}

// The tree as text: a row's pid after a blank for each level.
static const char *
tree_of(const struct herd *herd, kin_order *order)
{
    static char text[1024];
    static struct kin_row rows[FLEET_MAX];
    size_t used = 0;
    size_t count = kin_rows(&herd->fleet, order, NULL, NULL, rows);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%*s%llu%s",
                                 i > 0 ? "," : "", rows[i].depth, "",
                                 (unsigned long long)rows[i].peer->pid,
                                 rows[i].last[rows[i].depth] ? "" : "+");
    }
    return text;
}

static void
knows_what_a_process_says_of_itself(void **state)
{
    struct herd *herd = *state;
    herd_puma(herd, 60);
    const struct peer *peer = fleet_find_pid(&herd->fleet, 4120);
    assert_string_equal(peer->command, "puma: cluster worker 0");
    assert_int_equal(peer->parent_pid, 4101);
    assert_int_equal(peer->mode, MODE_COUNT);
    assert_near(peer->rss_bytes, 212.0 * 1048576, 0);
    assert_near(peer->live, 900000 + 200000 + 100 + 140 * 60 + 804, 0);
    assert_near(peer->per_minute, 140 * 60, 0);
    assert_int_equal(peer->verdict, VERDICT_LEAK);
    assert_string_equal(peer->worst, "Order");
    assert_near(peer->age_s, 60, 0);
}

static void
growth_is_unknown_until_it_was_watched_for_a_while(void **state)
{
    struct herd *herd = *state;
    herd_puma(herd, 4);
    assert_true(isnan(fleet_find_pid(&herd->fleet, 4120)->per_minute));
    herd_stop(herd);
    herd_puma(herd, 10);
    // as much as it would be in a minute
    assert_near(fleet_find_pid(&herd->fleet, 4120)->per_minute, 140 * 60, 0.01);
}

static void
what_a_dormant_process_does_not_count_is_unknown(void **state)
{
    struct herd *herd = *state;
    struct peer *peer = herd_add(herd, 7, 1, "ruby");
    herd_sleep(herd, peer);
    assert_true(isnan(peer->live));
    assert_true(isnan(peer->per_minute));
    assert_near(peer->rss_bytes, 128.0 * 1048576, 0);
}

static void
children_stand_below_their_parents(void **state)
{
    struct herd *herd = *state;
    herd_add(herd, 30, 20, "grandchild");
    herd_add(herd, 5, 1, "alone");
    herd_puma(herd, 0);
    herd_add(herd, 20, 4121, "child of a worker");
    assert_string_equal(tree_of(herd, NULL), "5,4101, 4120+, 4121+,  20,   30, 4177");
}

static int
largest_first(const struct peer *left, const struct peer *right, void *context)
{
    (void)context;
    return (left->rss_bytes < right->rss_bytes) - (left->rss_bytes > right->rss_bytes);
}

static void
siblings_have_the_order_that_is_wanted_and_stay_below_their_parent(void **state)
{
    struct herd *herd = *state;
    herd_puma(herd, 0);
    herd_sample(herd, fleet_find_pid(&herd->fleet, 4177),
                (uint64_t[HERD_CLASSES]){1, 1, 1, 1}, 500 * MEGABYTE);
    assert_string_equal(tree_of(herd, largest_first), "4101, 4177+, 4120+, 4121");
}

static void
processes_that_say_to_be_each_others_parents_are_listed_once(void **state)
{
    struct herd *herd = *state;
    herd_add(herd, 10, 11, "a");
    herd_add(herd, 11, 12, "b");
    herd_add(herd, 12, 10, "c");
    herd_add(herd, 13, 13, "its own parent");
    assert_string_equal(tree_of(herd, NULL), "13,10, 12,  11");
    const struct peer *group[FLEET_MAX];
    assert_int_equal(fleet_group(&herd->fleet, fleet_find_pid(&herd->fleet, 10), group),
                     3);
}

static void
deep_families_are_drawn_no_deeper_than_there_is_room(void **state)
{
    struct herd *herd = *state;
    for (uint64_t pid = 1; pid <= KIN_DEPTH_MAX + 20; pid++) {
        herd_add(herd, 100 + pid, 99 + pid, "deep");
    }
    static struct kin_row rows[FLEET_MAX];
    size_t count = kin_rows(&herd->fleet, NULL, NULL, NULL, rows);
    assert_int_equal(count, KIN_DEPTH_MAX + 20);
    assert_int_equal(rows[count - 1].depth, KIN_DEPTH_MAX - 1);
}

static void
a_worker_unlike_its_siblings_is_the_odd_one(void **state)
{
    struct herd *herd = *state;
    herd_puma(herd, 60);
    const struct peer *odd = fleet_find_pid(&herd->fleet, 4120);
    assert_int_not_equal(odd->oddity, PEER_USUAL);
    assert_int_equal(odd->others, 2);
    assert_int_equal(fleet_find_pid(&herd->fleet, 4121)->oddity, PEER_USUAL);
    assert_int_equal(fleet_find_pid(&herd->fleet, 4177)->oddity, PEER_USUAL);
    // the master does other work
    assert_int_equal(fleet_find_pid(&herd->fleet, 4101)->oddity, PEER_USUAL);
}

static void
who_shares_no_probed_parent_is_not_compared(void **state)
{
    struct herd *herd = *state;
    const uint64_t live[HERD_CLASSES] = {1, 1, 1, 1};
    for (uint64_t pid = 10; pid < 15; pid++) {
        herd_sample(herd, herd_add(herd, pid, 1, "ruby"), live,
                    (pid == 14 ? 900 : 90) * MEGABYTE);
    }
    fleet_tick(&herd->fleet, herd->now_ms);
    assert_int_equal(fleet_find_pid(&herd->fleet, 14)->oddity, PEER_USUAL);
}

static void
an_odd_one_is_usual_again_when_it_is_like_the_others(void **state)
{
    struct herd *herd = *state;
    herd_puma(herd, 0);
    struct peer *peer = fleet_find_pid(&herd->fleet, 4120);
    assert_int_equal(peer->oddity, PEER_ODD_LIVE);
    herd_sample(herd, peer, (uint64_t[HERD_CLASSES]){500000, 110000, 100, 804},
                130 * MEGABYTE);
    fleet_tick(&herd->fleet, herd->now_ms);
    assert_int_equal(peer->oddity, PEER_USUAL);
}

static void
what_is_gone_stays_for_a_while(void **state)
{
    struct herd *herd = *state;
    herd_puma(herd, 0);
    struct peer *peer = fleet_find_pid(&herd->fleet, 4121);
    fleet_state(&herd->fleet, peer, PEER_GONE, "exit status 0", herd->now_ms);
    assert_false(fleet_tick(&herd->fleet, herd->now_ms + FLEET_GONE_KEPT_MS - 1));
    assert_non_null(fleet_find_pid(&herd->fleet, 4121));
    assert_true(fleet_tick(&herd->fleet, herd->now_ms + FLEET_GONE_KEPT_MS));
    assert_null(fleet_find_pid(&herd->fleet, 4121));
    assert_int_equal(herd->fleet.count, 3);
}

static void
a_pid_that_is_used_again_means_the_one_that_is_there(void **state)
{
    struct herd *herd = *state;
    struct peer *old = herd_add(herd, 7, 1, "old");
    fleet_state(&herd->fleet, old, PEER_GONE, "", herd->now_ms);
    const struct peer *young = herd_add(herd, 7, 1, "young");
    assert_ptr_equal(fleet_find_pid(&herd->fleet, 7), young);
    assert_ptr_equal(fleet_find_socket(&herd->fleet, young->socket), young);
}

static void
a_worker_belongs_to_its_cluster_and_a_single_one_to_nothing(void **state)
{
    struct herd *herd = *state;
    const struct peer *group[FLEET_MAX];
    herd_puma(herd, 0);
    const struct peer *alone = herd_add(herd, 9, 1, "alone");
    assert_int_equal(fleet_group(&herd->fleet, fleet_find_pid(&herd->fleet, 4101), group),
                     4);
    assert_int_equal(fleet_group(&herd->fleet, fleet_find_pid(&herd->fleet, 4177), group),
                     4);
    assert_int_equal(group[0]->pid, 4101);
    assert_int_equal(fleet_group(&herd->fleet, alone, group), 1);
    fleet_state(&herd->fleet, fleet_find_pid(&herd->fleet, 4121), PEER_GONE, "", 0);
    assert_int_equal(fleet_group(&herd->fleet, fleet_find_pid(&herd->fleet, 4101), group),
                     3);
}

static void
hostile_texts_are_escaped(void **state)
{
    struct herd *herd = *state;
    struct peer *peer = herd_add(herd, 9, 1, "a\033[2Jb\nc");
    assert_null(strpbrk(peer->command, "\033\n"));
    fleet_state(&herd->fleet, peer, PEER_SILENT, "x\ry", herd->now_ms);
    assert_null(strchr(peer->why, '\r'));
}

static void
there_is_an_end_to_how_many_are_listed(void **state)
{
    struct herd *herd = *state;
    for (uint64_t i = 0; i < FLEET_MAX; i++) {
        assert_non_null(herd_add(herd, 100 + i, 1, "many"));
    }
    assert_false(herd->fleet.full);
    assert_null(herd_add(herd, 9999, 1, "too many"));
    assert_true(herd->fleet.full);
}

static void
without_memory_nothing_is_added(void **state)
{
    struct herd *herd = *state;
    for (int allowed = 0;; allowed++) {
        memory_allow(allowed);
        const struct peer *peer = fleet_add(&herd->fleet, "/run/7.sock", 7, 0);
        memory_allow(-1);
        if (peer != NULL) {
            break;
        }
        assert_int_equal(herd->fleet.count, 0);
        assert_true(allowed < 100);
    }
    assert_int_equal(herd->fleet.count, 1);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        CASE(knows_what_a_process_says_of_itself),
        CASE(growth_is_unknown_until_it_was_watched_for_a_while),
        CASE(what_a_dormant_process_does_not_count_is_unknown),
        CASE(children_stand_below_their_parents),
        CASE(siblings_have_the_order_that_is_wanted_and_stay_below_their_parent),
        CASE(processes_that_say_to_be_each_others_parents_are_listed_once),
        CASE(deep_families_are_drawn_no_deeper_than_there_is_room),
        CASE(a_worker_unlike_its_siblings_is_the_odd_one),
        CASE(who_shares_no_probed_parent_is_not_compared),
        CASE(an_odd_one_is_usual_again_when_it_is_like_the_others),
        CASE(what_is_gone_stays_for_a_while),
        CASE(a_pid_that_is_used_again_means_the_one_that_is_there),
        CASE(a_worker_belongs_to_its_cluster_and_a_single_one_to_nothing),
        CASE(hostile_texts_are_escaped),
        CASE(there_is_an_end_to_how_many_are_listed),
        CASE(without_memory_nothing_is_added),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
