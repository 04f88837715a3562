// What frames are called, which of them are the same to people, and keys that move.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/calltree.h"
#include "tests/probe/core/fixture.h"

#define CODE ((uintptr_t)0x7f0000000000)

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

// The frame that a key's stacks have now.
static uint32_t
frame_of(size_t number)
{
    return calltree_node(&tree, place_one(number, 0))->frame;
}

static void
name(uint32_t frame, const char *label, const char *path, uint32_t line, uint32_t flags)
{
    struct frame_naming naming = {
        .label = strdup(label), .path = strdup(path), .line = line, .flags = flags};
    assert_true(naming.label && naming.path);
    calltree_name(&tree, frame, &naming);
}

/* Who has a name. */

struct waiting {
    size_t count;
    uint32_t frames[100];
    uintptr_t keys[100];
};

static void
note_waiting(void *context, uint32_t frame, uintptr_t key)
{
    struct waiting *waiting = context;
    assert_true(waiting->count < 100);
    waiting->frames[waiting->count] = frame;
    waiting->keys[waiting->count++] = key;
}

static struct waiting
who_waits(void)
{
    struct waiting waiting = {0};
    calltree_each_unnamed(&tree, note_waiting, &waiting);
    assert_int_equal(waiting.count, tree.unnamed);
    return waiting;
}

static void
a_frame_waits_for_its_name_once(void **state)
{
    (void)state;
    assert_int_equal(who_waits().count, 0);
    uint32_t first = frame_of(1);
    uint32_t second = frame_of(2);
    uint32_t third = frame_of(3);
    name(second, "b", "b.rb", 1, 0); // not the first that waits
    struct waiting waiting = who_waits();
    assert_int_equal(waiting.count, 2);
    assert_int_equal(waiting.frames[0], first);
    assert_int_equal(waiting.keys[0], key_of(1));
    assert_int_equal(waiting.frames[1], third);
    name(first, "a", "a.rb", 1, 0);
    name(third, "c", "c.rb", 1, 0);
    assert_int_equal(who_waits().count, 0);
    assert_int_equal(tree.first_unnamed, tree.frame_count);
    frame_of(4);
    assert_int_equal(who_waits().count, 1);
}

static void
a_name_is_kept_when_the_code_is_gone(void **state)
{
    (void)state;
    uint32_t frame = frame_of(1);
    name(frame, "Order#total", "order.rb", 12, FRAME_C);
    calltree_retire(&tree, key_of(1));
    const struct calltree_frame *named = calltree_frame(&tree, frame);
    assert_string_equal(named->label, "Order#total");
    assert_string_equal(named->path, "order.rb");
    assert_int_equal(named->line, 12);
    assert_int_equal(named->flags, FRAME_C);
    assert_true(named->named);
}

static void
a_frame_that_died_before_anybody_asked_is_said_to_be_lost(void **state)
{
    (void)state;
    uint32_t frame = frame_of(1);
    calltree_retire(&tree, key_of(1));
    struct waiting waiting = who_waits();
    assert_int_equal(waiting.count, 1);
    assert_int_equal(waiting.keys[0], 0);
    calltree_name_lost(&tree, frame);
    assert_int_equal(who_waits().count, 0);
    assert_non_null(strstr(calltree_frame(&tree, frame)->label, "freed"));
    assert_string_equal(calltree_frame(&tree, frame)->path, "");
}

static void
a_line_of_a_block_says_in_how_many_it_lies(void **state)
{
    static const struct block_line blocks[] = {
        {3,  1},
        {4,  2},
        {7,  1},
        {90, 3},
    };
    (void)state;
    uint32_t frame = frame_of(1);
    struct frame_naming naming = {.label = strdup("each"),
                                  .path = strdup("a.rb"),
                                  .blocks = malloc(sizeof(blocks)),
                                  .block_count = 4};
    assert_true(naming.label && naming.path && naming.blocks);
    memcpy(naming.blocks, blocks, sizeof(blocks));
    calltree_name(&tree, frame, &naming);
    uint32_t expected[100] = {[3] = 1, [4] = 2, [7] = 1, [90] = 3};
    for (uint32_t line = 0; line < 100; line++) {
        assert_int_equal(calltree_block(calltree_frame(&tree, frame), line),
                         expected[line]);
    }
    name(frame_of(2), "other", "a.rb", 1, 0); // one without blocks
    assert_int_equal(calltree_block(calltree_frame(&tree, frame_of(2)), 3), 0);
}

/* Frames that are called the same. */

static void
code_loaded_again_is_the_frame_it_was(void **state)
{
    (void)state;
    uint32_t before = place_one(1, 5);
    uint32_t frame = frame_of(1);
    name(frame, "run", "a.rb", 1, 0);
    calltree_retire(&tree, key_of(1));
    uint32_t meanwhile = place_one(2, 5);
    assert_int_not_equal(meanwhile, before); // nobody knows its name yet
    name(frame_of(2), "run", "a.rb", 1, 0);
    assert_int_equal(place_one(2, 5), before);
    assert_int_equal(frame_of(2), frame);
    assert_int_equal(who_waits().count, 0);
}

static void
both_keys_lead_to_the_joined_frame_until_each_dies(void **state)
{
    (void)state;
    uint32_t node = place_one(1, 5);
    uint32_t frame = frame_of(1);
    name(frame, "run", "a.rb", 1, 0);
    name(frame_of(2), "run", "a.rb", 1, 0);
    assert_int_equal(place_one(1, 5), node);
    assert_int_equal(place_one(2, 5), node);
    calltree_retire(&tree, key_of(1));
    assert_int_equal(place_one(2, 5), node); // outlives the first
    assert_int_not_equal(frame_of(1), frame);
    calltree_retire(&tree, key_of(2));
    assert_int_not_equal(frame_of(2), frame);
}

static void
a_difference_in_line_path_label_or_kind_keeps_frames_apart(void **state)
{
    (void)state;
    const uint32_t frames[] = {frame_of(1), frame_of(2), frame_of(3), frame_of(4),
                               frame_of(5)};
    name(frames[0], "run", "a.rb", 1, 0);
    name(frames[1], "ran", "a.rb", 1, 0);
    name(frames[2], "run", "b.rb", 1, 0);
    name(frames[3], "run", "a.rb", 2, 0);
    name(frames[4], "run", "a.rb", 1, FRAME_C);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(frame_of(i + 1), frames[i]);
    }
}

// The same letters, cut elsewhere, are hashed alike.
static void
names_that_hash_alike_stay_apart(void **state)
{
    (void)state;
    uint32_t frames[] = {frame_of(1), frame_of(2), frame_of(3)};
    name(frames[0], "ab", "c", 1, 0);
    name(frames[1], "a", "bc", 1, 0);
    name(frames[2], "abc", "", 1, 0);
    name(frame_of(4), "abc", "", 1, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(frame_of(i + 1), frames[i]);
    }
    assert_int_equal(frame_of(4), frames[2]);
}

static void
methods_that_differ_in_their_line_alone_stay_apart(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) { // some of them beside each other in the table
        uint32_t frame = frame_of(i);
        name(frame, "run", "a.rb", i, 0);
        assert_int_equal(frame_of(i), frame);
    }
}

static void
what_was_lost_stands_for_no_key(void **state)
{
    uint32_t nodes[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        nodes[i] = place_one(i, 5);
        calltree_retire(&tree, key_of(i));
        calltree_name_lost(&tree, calltree_node(&tree, nodes[i])->frame);
    }
    assert_int_not_equal(place_one(0, 5), nodes[0]);
    for (size_t i = 1; i < 5000; i++) {
        const struct stack_frame unknown = {key_of(i), 5};
        assert_false(calltree_matches(&tree, nodes[0], &unknown, 1, false));
        assert_false(calltree_matches(&tree, nodes[1], &unknown, 1, false));
    }
}

static void
code_evaluated_over_and_over_adds_frames_but_no_paths(void **state)
{
    (void)state;
    uint32_t frame = frame_of(0);
    name(frame, "eval", "(eval)", 1, 0);
    place_one(0, 7);
    for (size_t i = 1; i < 500; i++) {
        name(frame_of(i), "eval", "(eval)", 1,
             0); // its first stack comes before its name
        uint32_t nodes = tree.node_count;
        assert_int_equal(calltree_node(&tree, place_one(i, 7))->frame, frame);
        assert_int_equal(tree.node_count, nodes);
        calltree_retire(&tree, key_of(i));
    }
    assert_int_equal(tree.slots_used, 1);
}

/* Code that moves. */

#define KEYS 300u

static size_t destinations[KEYS]; // where each key's code went: a permutation

static uintptr_t
moved(uintptr_t key)
{
    return key_of(destinations[(key - CODE) / 40]);
}

static void
nothing_moves(void)
{
    for (size_t i = 0; i < KEYS; i++) {
        destinations[i] = i;
    }
}

static void
everything_moves(void)
{
    nothing_moves();
    for (size_t i = KEYS - 1; i > 0; i--) {
        size_t other = random_below(i + 1);
        size_t was = destinations[i];
        destinations[i] = destinations[other];
        destinations[other] = was;
    }
}

static void
code_that_moves_keeps_its_frame(void **state)
{
    uint32_t nodes[KEYS];
    (void)state;
    for (size_t i = 0; i < KEYS; i++) {
        nodes[i] = place_one(i, 1);
    }
    for (int round = 0; round < 5; round++) {
        uint32_t now[KEYS];
        everything_moves();
        assert_true(calltree_rekey(&tree, moved));
        for (size_t i = 0; i < KEYS; i++) {
            now[destinations[i]] = nodes[i];
        }
        for (size_t i = 0; i < KEYS; i++) {
            nodes[i] = now[i];
            assert_int_equal(place_one(i, 1), nodes[i]);
            uint32_t frame = calltree_node(&tree, nodes[i])->frame;
            assert_int_equal(calltree_frame(&tree, frame)->key, key_of(i));
        }
    }
    assert_int_equal(tree.frame_count, FRAME_FIRST + KEYS);
    assert_int_equal(tree.slots_used, KEYS);
}

static void
a_joined_key_moves_and_stays_joined(void **state)
{
    (void)state;
    uint32_t node = place_one(1, 5);
    name(frame_of(1), "run", "a.rb", 1, 0);
    name(frame_of(2), "run", "a.rb", 1, 0);
    nothing_moves();
    destinations[1] = 2;
    destinations[2] = 7;
    assert_true(calltree_rekey(&tree, moved));
    assert_int_equal(place_one(2, 5), node);
    assert_int_equal(place_one(7, 5), node);
    assert_int_not_equal(place_one(1, 5), node);
}

static void
a_retired_frame_does_not_move(void **state)
{
    (void)state;
    uint32_t frame = frame_of(1);
    calltree_retire(&tree, key_of(1));
    nothing_moves();
    destinations[1] = 2;
    assert_true(calltree_rekey(&tree, moved));
    assert_int_equal(calltree_frame(&tree, frame)->key, 0);
    assert_int_equal(tree.slots_used, 0);
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frame_waits_for_its_name_once, start, end),
        cmocka_unit_test_setup_teardown(a_name_is_kept_when_the_code_is_gone, start, end),
        cmocka_unit_test_setup_teardown(
            a_frame_that_died_before_anybody_asked_is_said_to_be_lost, start, end),
        cmocka_unit_test_setup_teardown(a_line_of_a_block_says_in_how_many_it_lies, start,
                                        end),
        cmocka_unit_test_setup_teardown(code_loaded_again_is_the_frame_it_was, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            both_keys_lead_to_the_joined_frame_until_each_dies, start, end),
        cmocka_unit_test_setup_teardown(
            a_difference_in_line_path_label_or_kind_keeps_frames_apart, start, end),
        cmocka_unit_test_setup_teardown(names_that_hash_alike_stay_apart, start, end),
        cmocka_unit_test_setup_teardown(
            methods_that_differ_in_their_line_alone_stay_apart, start, end),
        cmocka_unit_test_setup_teardown(what_was_lost_stands_for_no_key, start, end),
        cmocka_unit_test_setup_teardown(
            code_evaluated_over_and_over_adds_frames_but_no_paths, start, end),
        cmocka_unit_test_setup_teardown(code_that_moves_keeps_its_frame, start, end),
        cmocka_unit_test_setup_teardown(a_joined_key_moves_and_stays_joined, start, end),
        cmocka_unit_test_setup_teardown(a_retired_frame_does_not_move, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
