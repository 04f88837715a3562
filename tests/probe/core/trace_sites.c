// Whose path an object counts for. Whole pages come through here (--wrap), so that the
// kernel can have none left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/tally.h"
#include "probe/core/trace.h"
#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define CODE ((uintptr_t)0x560000000000)
#define DEPTH 6u
#define PATHS_MAX (REGISTRY_SITE_SEGMENTS * REGISTRY_SEGMENT - REGISTRY_FIRST_PATH)

/* Memory that runs out. */

// Which mapping fails, and all after it: the next when this is 1. Negative: none.
static long countdown = -1;

void *__real_arena_map(size_t length);
void *__wrap_arena_map(size_t length);

void *
__wrap_arena_map(size_t length)
{
    countdown -= countdown > 0;
    return countdown == 0 ? NULL : __real_arena_map(length);
}

/* A program: what it runs now. */

static struct tally tally;
static struct stack_frame running[DEPTH + 2];
static size_t running_count;

static size_t
capture(struct stack_frame *stack, size_t limit)
{
    size_t count = running_count < limit ? running_count : limit;
    memcpy(stack, running, count * sizeof(*stack));
    return count;
}

static int
start(void **state)
{
    (void)state;
    running_count = 0;
    if (!tally_init(&tally, NULL) || !trace_init(&tally.trace, capture, DEPTH, 100)) {
        return -1;
    }
    tally.trace.random = 1;
    tally.trace.credit_ns = INT64_MAX; // what stacks cost is no matter here
    return 0;
}

static int
end(void **state)
{
    (void)state;
    countdown = -1;
    tally_destroy(&tally);
    return 0;
}

static uintptr_t
class_key(size_t number)
{
    return 0x550000000000 + number * 40;
}

static uintptr_t
address_of(size_t slot)
{
    return HEAP + slot * 40;
}

static uint32_t
index_of(size_t number)
{
    return registry_lookup(&tally.registry, class_key(number))->site->class_index;
}

static struct class_entry *
entry_of(size_t number)
{
    return registry_class(&tally.registry, index_of(number));
}

static const struct site *
site_of_class(size_t number, enum class_site site)
{
    return registry_site(&tally.registry, entry_of(number)->site + site);
}

static void
trace_it(size_t number, bool on)
{
    trace_class(&tally.trace, &tally.registry, index_of(number), on, 1);
}

// Run code of so many frames; the innermost is at `line`.
static void
run(size_t count, uint32_t line)
{
    running_count = count;
    for (size_t i = 0; i < count; i++) {
        running[i] = (struct stack_frame){CODE + 40 * i, i == 0 ? line : 1};
    }
}

static const struct site *
site_at(size_t slot)
{
    return registry_site(&tally.registry,
                         shadow_site(*shadow_find(&tally.shadow, address_of(slot))));
}

static const struct site *
allocate(size_t slot, size_t class)
{
    tally_allocated(&tally, address_of(slot), class_key(class));
    return site_at(slot);
}

// One that is freed at once.
static const struct site *
allocate_for_a_moment(size_t class)
{
    const struct site *site = allocate(0, class);
    tally_freed(&tally, address_of(0));
    return site;
}

/* Which site. */

static void
of_a_class_nobody_traces_no_stack_is_taken(void **state)
{
    (void)state;
    run(2, 1);
    allocate(0, 1);
    assert_int_equal(tally.trace.stacks, 0);
    assert_int_equal(site_of_class(1, SITE_COUNTED)->allocated, 1);
    assert_int_equal(tally.trace.tree.node_count, CALLTREE_FIRST_NODE);
}

static void
an_object_counts_for_its_path_and_dies_there(void **state)
{
    (void)state;
    trace_it(1, true);
    run(2, 7);
    const struct site *one = allocate(0, 1);
    run(2, 8);
    const struct site *other = allocate(1, 1);
    run(2, 7);
    assert_ptr_equal(allocate(2, 1), one);
    assert_ptr_not_equal(one, other);
    assert_int_equal(calltree_node(&tally.trace.tree, one->node)->line, 7);
    assert_int_equal(calltree_node(&tally.trace.tree, other->node)->line, 8);
    tally_freed(&tally, address_of(0));
    assert_int_equal(one->allocated, 2);
    assert_int_equal(one->freed, 1);
    assert_int_equal(other->freed, 0);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).live, 2);
    assert_int_equal(tally.trace.stacks, 3);
    assert_int_equal(tally.trace.frames, 6);
}

static void
classes_share_a_path_and_not_its_count(void **state)
{
    (void)state;
    trace_it(1, true);
    trace_it(2, true);
    run(3, 7);
    const struct site *one = allocate(0, 1);
    const struct site *other = allocate(1, 2);
    assert_int_equal(one->node, other->node);
    assert_ptr_not_equal(one, other);
    assert_ptr_equal(allocate(2, 1), one);
    assert_ptr_equal(allocate(3, 2), other);
}

static void
a_class_that_is_traced_no_longer_keeps_what_was_taken(void **state)
{
    (void)state;
    trace_it(1, true);
    run(2, 7);
    const struct site *path = allocate(0, 1);
    trace_it(1, false);
    assert_ptr_equal(allocate(1, 1), site_of_class(1, SITE_COUNTED));
    tally_freed(&tally, address_of(0));
    assert_int_equal(path->freed, 1);
    trace_it(1, true);
    assert_ptr_equal(allocate(2, 1), path);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).allocated, 3);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).live, 2);
}

static void
weights_of_a_path_are_sites_of_their_own(void **state)
{
    (void)state;
    trace_it(1, true);
    run(2, 7);
    const struct site *exact = allocate(0, 1);
    entry_of(1)->shift = 3;
    allocate(1, 1); // the gap drawn before is still exact
    const struct site *sampled = exact;
    while (sampled == exact || sampled == site_of_class(1, SITE_UNSAMPLED)) {
        sampled = allocate(2, 1);
        tally_freed(&tally, address_of(2));
    }
    assert_int_equal(exact->shift, 0);
    assert_int_equal(exact->allocated, 2);
    assert_int_equal(sampled->shift, 3);
    assert_int_equal(sampled->node, exact->node);
}

// In a table so full that all of them meet.
static void
weights_of_many_paths_stay_apart(void **state)
{
    (void)state;
    trace_it(1, true);
    struct site *unsampled =
        registry_site(&tally.registry, entry_of(1)->site + SITE_UNSAMPLED);
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t shift = unsampled->shift;
        entry_of(1)->shift = (uint8_t)random_below(4);
        unsampled->sample_at = 0; // whatever the gap, now
        run(2, i % 1000);
        const struct site *site = allocate_for_a_moment(1);
        assert_int_equal(site->shift, shift);
        assert_int_equal(calltree_node(&tally.trace.tree, site->node)->line, i % 1000);
        countdown = 1; // for a larger table
    }
    assert_true(tally.trace.sites_used > tally.trace.sites_count * 9 / 10);
}

static void
a_stack_of_the_depth_is_whole_and_a_deeper_one_is_cut(void **state)
{
    const struct calltree *tree = &tally.trace.tree;
    (void)state;
    trace_it(1, true);
    for (size_t count = DEPTH; count <= DEPTH + 2; count++) {
        run(count, 1);
        uint32_t node = allocate_for_a_moment(1)->node;
        for (size_t i = 0; i < DEPTH; i++) {
            node = calltree_node(tree, node)->parent;
        }
        assert_int_equal(node, count > DEPTH ? FRAME_TRUNCATED : FRAME_ROOT);
    }
    assert_int_equal(tree->node_count, CALLTREE_FIRST_NODE + 2 * DEPTH);
    assert_int_equal(tree->refused, 0);
}

static void
without_a_frame_there_is_still_a_place(void **state)
{
    (void)state;
    trace_it(1, true);
    run(0, 0);
    const struct site *site = allocate_for_a_moment(1);
    assert_int_equal(site->node, FRAME_NO_STACK);
    assert_ptr_equal(allocate_for_a_moment(1), site);
}

static void
more_paths_than_are_remembered_keep_their_sites(void **state)
{
    static const struct site *sites[TRACE_CACHE + 4000];
    (void)state;
    trace_it(1, true);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < TRACE_CACHE + 4000; i++) {
            run(2, i);
            const struct site *site = allocate_for_a_moment(1);
            assert_true(round == 0 || site == sites[i]);
            assert_int_equal(site->allocated, round + 1);
            sites[i] = site;
        }
    }
    assert_int_equal(tally.registry.path_count, TRACE_CACHE + 4000);
    assert_int_equal(tally.trace.sites_used, TRACE_CACHE + 4000);
}

/* Since when. */

static void
a_class_knows_since_when_it_was_first_traced(void **state)
{
    (void)state;
    uint32_t index = index_of(1);
    assert_int_equal(entry_of(1)->traced_us, 0);
    trace_class(&tally.trace, &tally.registry, index, false, 5);
    assert_int_equal(entry_of(1)->traced_us, 0);
    trace_class(&tally.trace, &tally.registry, index, true, 7);
    trace_class(&tally.trace, &tally.registry, index, false, 8);
    trace_class(&tally.trace, &tally.registry, index, true, 9);
    assert_int_equal(entry_of(1)->traced_us, 7);
}

static void
so_does_one_that_was_traced_from_its_first_object(void **state)
{
    (void)state;
    tally.registry.traces_new = true;
    run(2, 1);
    assert_int_equal(allocate_for_a_moment(1)->node, CALLTREE_FIRST_NODE + 1);
    assert_int_equal(entry_of(1)->traced_us, 0); // a hook asks for no time of day
    trace_class(&tally.trace, &tally.registry, index_of(1), true, 7);
    trace_class(&tally.trace, &tally.registry, index_of(1), true, 8);
    assert_int_equal(entry_of(1)->traced_us, 7);
}

/* Classes that end. */

static void
the_sites_of_a_class_that_ended_are_used_again(void **state)
{
    (void)state;
    trace_it(1, true);
    trace_it(2, true);
    for (uint32_t i = 0; i < 6000; i++) {
        run(2, i / 2);
        allocate_for_a_moment(1 + i % 2);
    }
    trace_forget_class(&tally.trace, &tally.registry, index_of(1));
    registry_free_paths(&tally.registry, index_of(1));
    assert_int_equal(tally.trace.sites_used, 3000);
    for (uint32_t i = 0; i < 3000; i++) { // what is left is found, and remembered rightly
        run(2, i);
        assert_int_equal(allocate_for_a_moment(2)->allocated, 2);
    }
    trace_it(3, true);
    for (uint32_t i = 0; i < 3000; i++) {
        run(2, i);
        assert_int_equal(allocate_for_a_moment(3)->allocated, 1);
        assert_int_equal(allocate_for_a_moment(1)->allocated, 1);
    }
    assert_int_equal(tally.registry.path_count, 9000);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).allocated, 3000);
    assert_int_equal(registry_counts(&tally.registry, index_of(2)).allocated, 6000);
}

/* No room. */

static void
what_exceeds_the_tree_counts_for_other(void **state)
{
    struct calltree *tree = &tally.trace.tree;
    (void)state;
    trace_it(1, true);
    run(1, 1);
    const struct site *known = allocate_for_a_moment(1);
    while (tree->node_count < CALLTREE_NODES) {
        calltree_place(tree, &(struct stack_frame){CODE, tree->node_count}, 1, false);
    }
    const struct site *other = NULL;
    for (uint32_t i = 0; i < 50; i++) {
        run(2, i);
        const struct site *site = allocate_for_a_moment(1);
        assert_true(!other || site == other);
        other = site;
    }
    assert_int_equal(other->node, FRAME_OTHER);
    assert_int_equal(other->allocated, 50);
    assert_int_equal(tree->refused, 50);
    run(1, 1);
    assert_ptr_equal(allocate_for_a_moment(1), known);
    assert_int_equal(tally.trace.lost, 0);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).allocated, 52);
}

// Numbers of sites are kept back, so that every class can have its "other".
static void
what_exceeds_the_sites_counts_for_other(void **state)
{
    (void)state;
    trace_it(1, true);
    trace_it(2, true);
    tally.registry.path_count = PATHS_MAX - 4096 - 3; // reserved are 4096
    for (uint32_t i = 1; i <= 10; i++) {
        run(1, i);
        const struct site *site = allocate_for_a_moment(1);
        assert_int_equal(site->node == FRAME_OTHER, i > 3);
    }
    const struct site *other = allocate_for_a_moment(2);
    assert_int_equal(other->node, FRAME_OTHER);
    assert_int_equal(other->class_index, index_of(2));
    assert_int_equal(tally.trace.lost, 0);
    tally.registry.path_count = PATHS_MAX; // and now nobody can
    trace_it(3, true);
    assert_ptr_equal(allocate_for_a_moment(3), site_of_class(3, SITE_UNSAMPLED));
    assert_int_equal(tally.trace.lost, 1);
    assert_int_equal(registry_counts(&tally.registry, index_of(3)).allocated, 1);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).allocated, 10);
}

static void
without_memory_objects_are_counted_without_a_path(void **state)
{
    (void)state;
    trace_it(1, true);
    run(1, 1);
    allocate(1, 2); // so that there is a leaf
    countdown = 1;
    for (uint32_t i = 1; i <= 10; i++) {
        assert_ptr_equal(allocate_for_a_moment(1), site_of_class(1, SITE_UNSAMPLED));
        assert_int_equal(tally.trace.lost, i);
    }
    countdown = -1;
    assert_int_not_equal(allocate_for_a_moment(1)->node, 0);
    assert_int_equal(tally.trace.lost, 10);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).allocated, 11);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).live, 0);
}

static void
without_memory_for_a_larger_table_it_is_filled(void **state)
{
    const uint32_t room = tally.trace.sites_count - 1;
    struct calltree *tree = &tally.trace.tree;
    (void)state;
    trace_it(1, true);
    allocate(1, 2);
    while (tree->node_count < 2 * CALLTREE_SEGMENT) { // nodes there are enough
        calltree_place(tree, &(struct stack_frame){CODE, tree->node_count}, 1, false);
    }
    run(1, CALLTREE_FIRST_NODE);
    allocate_for_a_moment(1); // and a segment of sites
    countdown = 1;
    uint32_t lost = 0;
    for (uint32_t i = 1; i < room + 10; i++) {
        run(1, CALLTREE_FIRST_NODE + i);
        lost += allocate_for_a_moment(1) == site_of_class(1, SITE_UNSAMPLED);
    }
    assert_int_equal(lost, 10);
    assert_int_equal(tally.trace.lost, 10);
    assert_int_equal(tally.trace.sites_used, room);
    countdown = -1;
    run(1, CALLTREE_FIRST_NODE + room + 9);
    assert_int_not_equal(allocate_for_a_moment(1)->node, 0);
    run(1, CALLTREE_FIRST_NODE + 5);
    assert_int_equal(allocate_for_a_moment(1)->allocated, 2);
}

static void
it_begins_with_all_its_memory_or_not_at_all(void **state)
{
    (void)state;
    long needed = 0;
    bool begun = false;
    while (!begun) {
        struct trace other;
        countdown = ++needed;
        begun = trace_init(&other, capture, DEPTH, 1);
        countdown = -1;
        assert_true(begun || (!other.stack && !other.cache && !other.tree.slots));
        trace_destroy(&other);
    }
    assert_int_equal(needed, 9); // three of its own, five of the tree's
}

/* Tags. */

static const struct site *
allocate_tagged(size_t slot, size_t class, uint32_t tag)
{
    tally_allocated_tagged(&tally, address_of(slot), class_key(class), tag);
    return site_at(slot);
}

static void
what_is_born_under_a_tag_counts_for_it_and_dies_there(void **state)
{
    (void)state;
    const struct site *one = allocate_tagged(0, 1, 7);
    assert_int_equal(one->tag, 7);
    assert_int_equal(one->node, FRAME_BEFORE_TRACING);
    assert_ptr_equal(allocate_tagged(1, 1, 7), one);
    assert_ptr_not_equal(allocate_tagged(2, 1, 8), one);
    assert_ptr_not_equal(allocate_tagged(3, 2, 7), one);
    allocate(4, 1);
    tally_freed(&tally, address_of(1));
    assert_int_equal(one->allocated, 2);
    assert_int_equal(one->freed, 1);
    assert_int_equal(site_of_class(1, SITE_COUNTED)->allocated, 1);
    assert_int_equal(registry_counts(&tally.registry, index_of(1)).allocated, 4);
}

static void
a_path_has_a_site_for_each_tag(void **state)
{
    (void)state;
    trace_it(1, true);
    run(2, 7);
    const struct site *untagged = allocate(0, 1);
    const struct site *tagged = allocate_tagged(1, 1, 7);
    assert_ptr_not_equal(untagged, tagged);
    assert_int_equal(untagged->node, tagged->node);
    assert_ptr_equal(allocate_tagged(2, 1, 7), tagged);
    assert_ptr_equal(allocate(3, 1), untagged);
    assert_int_equal(tally.trace.stacks, 4);
}

// Under a tag or not, every 2^shift-th object has its stack taken, as before.
static void
gaps_go_on_through_tags(void **state)
{
    (void)state;
    entry_of(1)->shift = 4;
    trace_it(1, true);
    run(2, 7);
    for (size_t i = 0; i < 64000; i++) {
        tally_allocated_tagged(&tally, address_of(0), class_key(1),
                               (uint32_t)(i % 3)); // 0: none
        tally_freed(&tally, address_of(0));
    }
    assert_in_range(tally.trace.stacks, 3600, 4400); // 4000, with 4 % of deviation
    struct site_counts counts = registry_counts(&tally.registry, index_of(1));
    assert_int_equal(counts.allocated, 64000);
    assert_int_equal(counts.live, 0);
}

static void
without_memory_a_tag_is_not_counted_and_the_object_is(void **state)
{
    (void)state;
    allocate(0, 1);
    countdown = 1;
    assert_ptr_equal(allocate_tagged(1, 1, 7), site_of_class(1, SITE_COUNTED));
    assert_int_equal(tally.trace.lost, 1);
    countdown = -1;
    assert_int_equal(allocate_tagged(2, 1, 7)->tag, 7);
}

static void
a_class_that_is_gone_gives_the_sites_of_its_tags_back(void **state)
{
    (void)state;
    const struct site *before = allocate_tagged(0, 1, 7);
    tally_freed(&tally, address_of(0));
    uint32_t index = index_of(1);
    registry_retire(&tally.registry, class_key(1));
    registry_class(&tally.registry, index)->state = CLASS_STATE_GONE;
    tally_recycle(&tally);
    assert_int_equal(tally.trace.sites_used, 0);
    assert_int_equal(tally.registry.tag_past[7].allocated, 1);
    assert_int_equal(tally.registry.tag_past[7].freed, 1);
    const struct site *after = allocate_tagged(0, 2, 7); // the same row, another class
    assert_ptr_equal(before, after);
    assert_int_equal(after->allocated, 1);
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_of_many_paths_stay_apart, start, end),
        cmocka_unit_test_setup_teardown(a_class_knows_since_when_it_was_first_traced,
                                        start, end),
        cmocka_unit_test_setup_teardown(so_does_one_that_was_traced_from_its_first_object,
                                        start, end),
        cmocka_unit_test_setup_teardown(of_a_class_nobody_traces_no_stack_is_taken, start,
                                        end),
        cmocka_unit_test_setup_teardown(an_object_counts_for_its_path_and_dies_there,
                                        start, end),
        cmocka_unit_test_setup_teardown(classes_share_a_path_and_not_its_count, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_class_that_is_traced_no_longer_keeps_what_was_taken, start, end),
        cmocka_unit_test_setup_teardown(weights_of_a_path_are_sites_of_their_own, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_stack_of_the_depth_is_whole_and_a_deeper_one_is_cut, start, end),
        cmocka_unit_test_setup_teardown(without_a_frame_there_is_still_a_place, start,
                                        end),
        cmocka_unit_test_setup_teardown(more_paths_than_are_remembered_keep_their_sites,
                                        start, end),
        cmocka_unit_test_setup_teardown(the_sites_of_a_class_that_ended_are_used_again,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_exceeds_the_tree_counts_for_other, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_exceeds_the_sites_counts_for_other, start,
                                        end),
        cmocka_unit_test_setup_teardown(without_memory_objects_are_counted_without_a_path,
                                        start, end),
        cmocka_unit_test_setup_teardown(without_memory_for_a_larger_table_it_is_filled,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            what_is_born_under_a_tag_counts_for_it_and_dies_there, start, end),
        cmocka_unit_test_setup_teardown(a_path_has_a_site_for_each_tag, start, end),
        cmocka_unit_test_setup_teardown(gaps_go_on_through_tags, start, end),
        cmocka_unit_test_setup_teardown(
            without_memory_a_tag_is_not_counted_and_the_object_is, start, end),
        cmocka_unit_test_setup_teardown(
            a_class_that_is_gone_gives_the_sites_of_its_tags_back, start, end),
        cmocka_unit_test_setup_teardown(it_begins_with_all_its_memory_or_not_at_all,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
