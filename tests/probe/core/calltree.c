#include "probe/core/calltree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define CODE ((uintptr_t)0x7f0000000000)
#define DEPTH 8u

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
    calltree_destroy(&tree);
    calltree_destroy(&tree); // twice is harmless
    return 0;
}

static uintptr_t
key_of(size_t number)
{
    return CODE + number * 40;
}

static uint32_t
place(const struct stack_frame *stack, size_t count)
{
    uint32_t node = calltree_place(&tree, stack, count, false);
    assert_true(calltree_matches(&tree, node, stack, count, false));
    return node;
}

// The node of a stack of this one frame.
static uint32_t
place_one(size_t number, uint32_t line)
{
    return place(&(struct stack_frame){key_of(number), line}, 1);
}

static uint32_t
frame_at(uint32_t node)
{
    return calltree_node(&tree, node)->frame;
}

/* Paths. */

static void
a_new_tree_has_the_special_nodes_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE);
    assert_int_equal(tree.frame_count, FRAME_FIRST);
    assert_int_equal(tree.unnamed, 0);
    for (uint32_t i = 0; i < CALLTREE_FIRST_NODE; i++) {
        assert_int_equal(calltree_node(&tree, i)->frame, i);
        assert_int_equal(calltree_node(&tree, i)->parent, FRAME_ROOT);
        assert_true(calltree_frame(&tree, i)->named);
    }
}

static void
a_stack_is_a_path_from_the_root_and_is_stored_once(void **state)
{
    const struct stack_frame stack[] = {
        {key_of(3), 30},
        {key_of(2), 20},
        {key_of(1), 10},
    };
    (void)state;
    uint32_t node = place(stack, 3);
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE + 3);
    assert_int_equal(tree.frame_count, FRAME_FIRST + 3);
    uint32_t at = node;
    for (size_t i = 0; i < 3; i++) {
        const struct calltree_node *step = calltree_node(&tree, at);
        assert_int_equal(calltree_frame(&tree, step->frame)->key, stack[i].key);
        assert_int_equal(step->line, stack[i].line);
        at = step->parent;
    }
    assert_int_equal(at, FRAME_ROOT);
    assert_int_equal(place(stack, 3), node);
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE + 3);
    assert_int_equal(tree.frame_count, FRAME_FIRST + 3);
}

static void
stacks_share_what_their_callers_have_in_common(void **state)
{
    const struct stack_frame one[] = {
        {key_of(3), 1},
        {key_of(2), 2},
        {key_of(1), 3},
    };
    const struct stack_frame other[] = {
        {key_of(4), 1},
        {key_of(2), 2},
        {key_of(1), 3},
    };
    (void)state;
    uint32_t callee = place(one, 3);
    uint32_t sibling = place(other, 3);
    assert_int_not_equal(callee, sibling);
    assert_int_equal(calltree_node(&tree, callee)->parent,
                     calltree_node(&tree, sibling)->parent);
    assert_int_equal(place(one + 1, 2), calltree_node(&tree, callee)->parent);
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE + 4);
}

static void
a_node_is_its_caller_its_frame_and_its_line(void **state)
{
    const struct stack_frame below[] = {
        {key_of(1), 5},
        {key_of(1), 5},
    };
    (void)state;
    uint32_t node = place_one(1, 5);
    assert_int_not_equal(place_one(1, 6), node); // another line
    assert_int_not_equal(place_one(2, 5), node); // another frame
    assert_int_not_equal(place(below, 2), node); // another caller: itself
    assert_int_equal(place_one(1, 5), node);
    assert_int_equal(tree.frame_count, FRAME_FIRST + 2);
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE + 4);
}

static void
a_stack_that_was_cut_stands_below_a_node_that_says_so(void **state)
{
    const struct stack_frame stack[] = {
        {key_of(2), 1},
        {key_of(1), 2},
    };
    (void)state;
    uint32_t whole = place(stack, 2);
    uint32_t cut = calltree_place(&tree, stack, 2, true);
    assert_int_not_equal(cut, whole);
    uint32_t outer = calltree_node(&tree, cut)->parent;
    assert_int_equal(calltree_node(&tree, outer)->parent, FRAME_TRUNCATED);
    assert_int_equal(frame_at(cut), frame_at(whole));
    assert_true(calltree_matches(&tree, cut, stack, 2, true));
    assert_false(calltree_matches(&tree, cut, stack, 2, false));
    assert_false(calltree_matches(&tree, whole, stack, 2, true));
    assert_int_equal(tree.refused, 0);
}

static void
no_stack_has_a_node_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(place(NULL, 0), FRAME_NO_STACK);
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE);
    assert_false(calltree_matches(&tree, FRAME_OTHER, NULL, 0, false));
}

static void
a_node_matches_its_whole_stack_only(void **state)
{
    struct stack_frame stack[] = {
        {key_of(3), 1},
        {key_of(2), 2},
        {key_of(1), 3},
    };
    (void)state;
    uint32_t node = place(stack, 3);
    assert_false(calltree_matches(&tree, node, stack, 2, false));
    assert_false(calltree_matches(&tree, node, stack + 1, 2, false));
    for (size_t i = 0; i < 3; i++) {
        stack[i].line++;
        assert_false(calltree_matches(&tree, node, stack, 3, false));
        stack[i].line--;
        stack[i].key += 40; // in two cases a frame of the tree
        assert_false(calltree_matches(&tree, node, stack, 3, false));
        stack[i].key -= 40;
    }
    assert_true(calltree_matches(&tree, node, stack, 3, false));
    assert_false(calltree_matches(&tree, FRAME_OTHER, stack, 3, false));
}

static void
many_paths_stay_apart_while_the_tables_grow(void **state)
{
    static uint32_t nodes[30000];
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 30000; i++) {
            const struct stack_frame stack[] = {
                {key_of(i % 10000), (uint32_t)i},
                {key_of(i % 7),     1          },
            };
            nodes[i] = round ? nodes[i] : place(stack, 2);
            assert_int_equal(place(stack, 2), nodes[i]);
        }
    }
    assert_int_equal(tree.node_count, CALLTREE_FIRST_NODE + 7 + 30000);
    assert_int_equal(tree.frame_count, FRAME_FIRST + 10000);
    assert_true(tree.node_bucket_count >= 30000);
    assert_true(tree.slots_used * 2 <= tree.slot_count);
}

/* Bounds. */

static void
beyond_the_last_node_stacks_go_to_other_and_are_counted(void **state)
{
    const uint32_t room = CALLTREE_NODES - CALLTREE_FIRST_NODE;
    (void)state;
    for (uint32_t line = 0; line < room; line++) {
        const struct stack_frame frame = {key_of(1), line};
        assert_int_equal(calltree_place(&tree, &frame, 1, false),
                         CALLTREE_FIRST_NODE + line);
    }
    assert_int_equal(tree.refused, 0);
    for (uint32_t i = 1; i <= 100; i++) {
        const struct stack_frame frame = {key_of(1), room + i};
        assert_int_equal(calltree_place(&tree, &frame, 1, i % 2), FRAME_OTHER);
        assert_int_equal(tree.refused, i);
    }
    assert_int_equal(tree.node_count, CALLTREE_NODES);
    assert_int_equal(place_one(1, 77), CALLTREE_FIRST_NODE + 77); // was there before
    assert_int_equal(tree.refused, 100);
}

static void
beyond_the_last_frame_only_stacks_of_known_frames_are_placed(void **state)
{
    const uint32_t room = CALLTREE_FRAMES - FRAME_FIRST;
    (void)state;
    for (uint32_t i = 0; i < room; i++) {
        place_one(i, 1);
    }
    assert_int_equal(tree.frame_count, CALLTREE_FRAMES);
    const struct stack_frame stack[] = {
        {key_of(room), 1},
        {key_of(0),    1},
    };
    assert_int_equal(calltree_place(&tree, stack, 2, false), FRAME_OTHER);
    assert_int_equal(calltree_place(&tree, stack, 1, false), FRAME_OTHER);
    assert_int_equal(tree.refused, 2);
    place_one(0, 2);
    assert_int_equal(frame_at(place_one(room - 1, 1)), CALLTREE_FRAMES - 1);
    assert_int_equal(tree.refused, 2);
}

/* Frames that die. */

static void
a_frame_outlives_its_key(void **state)
{
    (void)state;
    uint32_t node = place_one(1, 5);
    uint32_t frame = frame_at(node);
    calltree_retire(&tree, key_of(1));
    calltree_retire(&tree, key_of(1)); // unknown by now
    calltree_retire(&tree, key_of(9)); // never known
    assert_int_equal(calltree_frame(&tree, frame)->key, 0);
    assert_int_equal(tree.unnamed, 1);
    assert_int_equal(tree.frame_count, FRAME_FIRST + 1);
    assert_int_equal(frame_at(node), frame);
}

static void
a_key_used_again_is_another_frame(void **state)
{
    const struct stack_frame stack = {key_of(1), 5};
    (void)state;
    uint32_t before = place_one(1, 5);
    calltree_retire(&tree, key_of(1));
    assert_false(calltree_matches(&tree, before, &stack, 1, false));
    uint32_t after = place_one(1, 5);
    assert_int_not_equal(after, before);
    assert_int_not_equal(frame_at(after), frame_at(before));
    assert_int_equal(calltree_node(&tree, after)->parent, FRAME_ROOT);
}

static void
a_tree_that_never_was_has_nothing_to_retire(void **state)
{
    (void)state;
    struct calltree none = {0};
    calltree_retire(&none, key_of(1));
    calltree_destroy(&none);
}

static void
keys_are_found_whichever_of_the_others_are_retired(void **state)
{
    static uint32_t nodes[4000];
    (void)state;
    for (size_t i = 0; i < 4000; i++) {
        nodes[i] = place_one(i, 1);
    }
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < 400; i++) {
            size_t gone = random_below(4000);
            calltree_retire(&tree, key_of(gone));
            nodes[gone] = 0;
        }
        for (size_t i = 0; i < 4000; i++) {
            uint32_t node = place_one(i, 1);
            assert_true(nodes[i] == 0 || nodes[i] == node);
            nodes[i] = node;
        }
    }
    assert_int_equal(tree.slots_used, 4000);
}

/* Random stacks. What a key stands for is known to the test alone. */

#define KEYS 60u

static uint32_t frames[KEYS]; // 0: of no frame yet

static size_t
random_stack(struct stack_frame *stack)
{
    size_t count = random_below(DEPTH + 1);
    for (size_t i = 0; i < count; i++) {
        size_t number = random_below(KEYS) * random_below(KEYS) / KEYS; // some more often
        stack[i] = (struct stack_frame){key_of(number), (uint32_t)random_below(3)};
    }
    return count;
}

static void
expect_path(uint32_t node, const struct stack_frame *stack, size_t count, bool cut)
{
    for (size_t i = 0; i < count; i++) {
        const struct calltree_node *at = calltree_node(&tree, node);
        size_t number = (stack[i].key - CODE) / 40;
        frames[number] = frames[number] ? frames[number] : at->frame;
        assert_int_equal(at->frame, frames[number]);
        assert_int_equal(at->line, stack[i].line);
        node = at->parent;
    }
    assert_int_equal(node, !count ? FRAME_NO_STACK : cut ? FRAME_TRUNCATED : FRAME_ROOT);
}

static int
compare_nodes(const void *one, const void *other)
{
    return memcmp(one, other, offsetof(struct calltree_node, next));
}

static void
expect_no_node_twice(void)
{
    uint32_t count = tree.node_count - CALLTREE_FIRST_NODE;
    struct calltree_node *nodes = calloc(count, sizeof(*nodes));
    assert_non_null(nodes);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = *calltree_node(&tree, CALLTREE_FIRST_NODE + i);
        assert_true(nodes[i].parent < CALLTREE_FIRST_NODE + i);
    }
    qsort(nodes, count, sizeof(*nodes), compare_nodes);
    for (uint32_t i = 1; i < count; i++) {
        assert_true(compare_nodes(&nodes[i - 1], &nodes[i]));
    }
    free(nodes);
}

static void
expect_no_frame_twice(void)
{
    static bool seen[CALLTREE_FRAMES];
    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < KEYS; i++) {
        assert_false(frames[i] && seen[frames[i]]);
        seen[frames[i]] = frames[i] != 0;
        assert_true(!frames[i] || calltree_frame(&tree, frames[i])->key == key_of(i));
    }
}

static void
every_stack_has_its_own_path_whatever_came_before(void **state)
{
    (void)state;
    memset(frames, 0, sizeof(frames));
    for (size_t round = 0; round < 60000; round++) {
        struct stack_frame stack[DEPTH];
        size_t count = random_stack(stack);
        bool cut = count && random_below(10) == 0;
        uint32_t node = calltree_place(&tree, stack, count, cut);
        expect_path(node, stack, count, cut);
        assert_true(calltree_matches(&tree, node, stack, count, cut));
        if (random_below(50) == 0) {
            size_t gone = random_below(KEYS);
            calltree_retire(&tree, key_of(gone));
            frames[gone] = 0;
        }
    }
    expect_no_node_twice();
    expect_no_frame_twice();
    assert_int_equal(tree.refused, 0);
    assert_true(tree.node_count > 50000 && tree.frame_count > 500);
    assert_true(calltree_bytes(&tree) > tree.node_count * sizeof(struct calltree_node));
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_tree_has_the_special_nodes_and_nothing_else,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_stack_is_a_path_from_the_root_and_is_stored_once, start, end),
        cmocka_unit_test_setup_teardown(stacks_share_what_their_callers_have_in_common,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_node_is_its_caller_its_frame_and_its_line,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_stack_that_was_cut_stands_below_a_node_that_says_so, start, end),
        cmocka_unit_test_setup_teardown(no_stack_has_a_node_of_its_own, start, end),
        cmocka_unit_test_setup_teardown(a_node_matches_its_whole_stack_only, start, end),
        cmocka_unit_test_setup_teardown(many_paths_stay_apart_while_the_tables_grow,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            beyond_the_last_node_stacks_go_to_other_and_are_counted, start, end),
        cmocka_unit_test_setup_teardown(
            beyond_the_last_frame_only_stacks_of_known_frames_are_placed, start, end),
        cmocka_unit_test_setup_teardown(a_frame_outlives_its_key, start, end),
        cmocka_unit_test_setup_teardown(a_key_used_again_is_another_frame, start, end),
        cmocka_unit_test_setup_teardown(a_tree_that_never_was_has_nothing_to_retire,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            keys_are_found_whichever_of_the_others_are_retired, start, end),
        cmocka_unit_test_setup_teardown(every_stack_has_its_own_path_whatever_came_before,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
