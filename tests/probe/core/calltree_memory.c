// Whole pages come through here (--wrap), so that the kernel can have none left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/core/calltree.h"

#define CODE ((uintptr_t)0x7f0000000000)

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

static struct calltree tree;

static int
start(void **state)
{
    (void)state;
    return calltree_init(&tree) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    countdown = -1;
    calltree_destroy(&tree);
    return 0;
}

static uintptr_t
key_of(size_t number)
{
    return CODE + number * 40;
}

// The node of a stack of this one frame.
static uint32_t
place_one(size_t number, uint32_t line)
{
    const struct stack_frame frame = {key_of(number), line};
    uint32_t node = calltree_place(&tree, &frame, 1, false);
    assert_true(calltree_matches(&tree, node, &frame, 1, false));
    return node;
}

static void
it_begins_with_all_its_memory_or_not_at_all(void **state)
{
    (void)state;
    long needed = 0;
    bool begun = false;
    while (!begun) {
        struct calltree other;
        countdown = ++needed;
        begun = calltree_init(&other);
        countdown = -1;
        assert_true(begun || (other.node_count == 0 && !other.slots && !other.names));
        calltree_destroy(&other);
        assert_true(needed < 100);
    }
    assert_int_equal(needed, 6); // it has five: two segments, buckets, keys and names
}

static void
without_memory_stacks_go_to_other_until_there_is_some(void **state)
{
    (void)state;
    uint32_t line = 0;
    while (tree.node_count < CALLTREE_SEGMENT) {
        place_one(1, ++line);
    }
    countdown = 1;
    const struct stack_frame frame = {key_of(1), line + 1};
    assert_int_equal(calltree_place(&tree, &frame, 1, false), FRAME_OTHER);
    assert_int_equal(calltree_place(&tree, &frame, 1, false), FRAME_OTHER);
    assert_int_equal(tree.refused, 2);
    assert_int_equal(tree.node_count, CALLTREE_SEGMENT);
    place_one(1, line); // needs none
    countdown = -1;
    place_one(1, line + 1);
    assert_int_equal(tree.refused, 2);
}

static void
without_memory_for_more_keys_new_frames_are_refused(void **state)
{
    (void)state;
    uint32_t count = tree.slot_count / 2;
    for (uint32_t i = 0; i < count; i++) {
        place_one(i, 1);
    }
    countdown = 1;
    const struct stack_frame frame = {key_of(count), 1};
    assert_int_equal(calltree_place(&tree, &frame, 1, false), FRAME_OTHER);
    assert_int_equal(tree.refused, 1);
    assert_int_equal(tree.frame_count, FRAME_FIRST + count);
    assert_int_equal(tree.unnamed, count);
    calltree_retire(&tree, key_of(0)); // its place can be had again
    assert_int_equal(calltree_node(&tree, place_one(count, 1))->frame,
                     FRAME_FIRST + count);
}

static void
without_memory_for_more_buckets_chains_become_longer(void **state)
{
    (void)state;
    uint32_t buckets = tree.node_bucket_count;
    for (uint32_t line = 1; line < 5 * buckets; line++) {
        bool segment = tree.node_count % CALLTREE_SEGMENT == 0;
        countdown = segment ? 2 : 1; // for nodes there is some
        place_one(1, line);
    }
    for (uint32_t line = 1; line < 5 * buckets; line += 100) {
        assert_int_equal(place_one(1, line), CALLTREE_FIRST_NODE + line - 1);
    }
    assert_int_equal(tree.node_bucket_count, buckets);
}

static uintptr_t
moved_on(uintptr_t key)
{
    return key + 8;
}

static void
without_memory_keys_that_moved_cannot_be_followed(void **state)
{
    (void)state;
    place_one(1, 1);
    countdown = 1;
    assert_false(calltree_rekey(&tree, moved_on));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_begins_with_all_its_memory_or_not_at_all,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            without_memory_stacks_go_to_other_until_there_is_some, start, end),
        cmocka_unit_test_setup_teardown(
            without_memory_for_more_keys_new_frames_are_refused, start, end),
        cmocka_unit_test_setup_teardown(
            without_memory_for_more_buckets_chains_become_longer, start, end),
        cmocka_unit_test_setup_teardown(without_memory_keys_that_moved_cannot_be_followed,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
