// Needs two threads where the server reads while the program counts.
#include "probe/core/tally.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define SLOTS 4096u
#define STRIDE 40u
#define CLASSES 16u

static uintptr_t
address_of(size_t slot)
{
    return HEAP + slot * STRIDE;
}

static uintptr_t
class_key(size_t number)
{
    return 0x550000000000 + number * 40;
}

static int
start(void **state)
{
    static struct tally tally;
    *state = &tally;
    return tally_init(&tally, NULL) ? 0 : -1;
}

static int
end(void **state)
{
    tally_destroy(*state);
    return 0;
}

static struct site_counts
counts_of(struct tally *tally, uintptr_t key)
{
    return registry_counts(&tally->registry,
                           registry_lookup(&tally->registry, key)->site->class_index);
}

static void
an_allocation_and_its_free_are_counted_once(void **state)
{
    struct tally *tally = *state;
    tally_allocated(tally, address_of(1), class_key(1));
    tally_allocated(tally, address_of(2), class_key(1));
    tally_freed(tally, address_of(1));
    tally_freed(tally, address_of(1)); // a second time there is nothing to free
    struct site_counts counts = counts_of(tally, class_key(1));
    assert_int_equal(counts.allocated, 2);
    assert_int_equal(counts.freed, 1);
    assert_int_equal(counts.live, 1);
    assert_int_equal(tally->missed_frees, 0);
}

static void
the_free_of_what_nobody_counted_is_no_free(void **state)
{
    struct tally *tally = *state;
    tally_freed(tally, address_of(1));
    tally_allocated(tally, address_of(2), class_key(1));
    tally_freed(tally, address_of(1));
    assert_int_equal(counts_of(tally, class_key(1)).live, 1);
}

static void
a_free_is_of_the_class_that_was_allocated(void **state)
{
    struct tally *tally = *state;
    tally_allocated(tally, address_of(1), class_key(1));
    tally_class_freed(tally, class_key(1));
    tally_allocated(tally, address_of(2), class_key(1)); // the address is used again
    tally_freed(tally, address_of(1));
    assert_int_equal(registry_counts(&tally->registry, 1).live, 0);
    assert_int_equal(registry_counts(&tally->registry, 1).freed, 1);
    assert_int_equal(counts_of(tally, class_key(1)).live, 1);
}

static void
a_free_nobody_told_of_is_seen_when_the_slot_is_used_again(void **state)
{
    struct tally *tally = *state;
    tally_allocated(tally, address_of(1), class_key(1));
    tally_allocated(tally, address_of(1), class_key(2));
    assert_int_equal(tally->missed_frees, 1);
    assert_int_equal(counts_of(tally, class_key(1)).live, 0);
    assert_int_equal(counts_of(tally, class_key(2)).live, 1);
    tally_freed(tally, address_of(1));
    assert_int_equal(counts_of(tally, class_key(2)).live, 0);
}

// Were it still known by its address, the next class there would be taken for it.
static void
a_class_whose_free_nobody_told_of_is_dead_when_its_slot_is_used_again(void **state)
{
    struct tally *tally = *state;
    uintptr_t class = address_of(9);
    tally_allocated(tally, class, class_key(0)); // a class is an object of Class
    tally_allocated(tally, address_of(1), class);
    uint32_t before = registry_lookup(&tally->registry, class)->site->class_index;
    tally_allocated(tally, class, class_key(0)); // another class, the first went unseen
    uint32_t after = registry_lookup(&tally->registry, class)->site->class_index;
    assert_int_not_equal(after, before);
    assert_int_equal(registry_counts(&tally->registry, before).live, 1);
}

// Removing its key moves those that come after it in the registry's table, the
// key of the object being allocated among them.
static void
an_object_in_the_slot_of_a_dead_class_is_counted_under_its_own(void **state)
{
    struct tally *tally = *state;
    size_t mask = tally->registry.slot_count - 1;
    uintptr_t dead = address_of(9);
    size_t number = 1;
    while ((registry_hash(class_key(number)) & mask) != (registry_hash(dead) & mask)) {
        number++;
    }
    tally_allocated(tally, dead, class_key(0));
    tally_allocated(tally, address_of(1), dead);
    tally_allocated(tally, address_of(2), class_key(number));
    tally_allocated(tally, dead, class_key(number));
    assert_int_equal(counts_of(tally, class_key(number)).live, 2);
    tally_freed(tally, dead);
    assert_int_equal(counts_of(tally, class_key(number)).live, 1);
}

static void
what_cannot_be_placed_is_counted_as_such(void **state)
{
    struct tally *tally = *state;
    tally_allocated(tally, (uintptr_t)1 << 50, class_key(1));
    assert_int_equal(tally->unplaced, 1);
    assert_int_equal(counts_of(tally, class_key(1)).live, 0);
}

/* Compaction: objects in slots, and where each slot's object went. */

static size_t destinations[SLOTS];

static uintptr_t
moved(uintptr_t address)
{
    if (address < HEAP || address >= address_of(SLOTS)) {
        return address; // a class
    }
    return address_of(destinations[(address - HEAP) / STRIDE]);
}

static void
nobody_moves(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        destinations[i] = i;
    }
}

static void
objects_that_move_are_freed_where_they_are(void **state)
{
    struct tally *tally = *state;
    nobody_moves();
    tally_allocated(tally, address_of(100), class_key(1));
    tally_allocated(tally, address_of(5), class_key(2)); // moves upward, seen twice
    tally_allocated(tally, address_of(7), class_key(3));
    destinations[100] = 3;
    destinations[5] = 2000;
    tally_compacted(tally, moved);
    assert_false(tally->lost);
    assert_int_equal(*shadow_find(&tally->shadow, address_of(100)), 0);
    assert_int_equal(*shadow_find(&tally->shadow, address_of(5)), 0);
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(counts_of(tally, class_key(i)).live, 1);
    }
    tally_freed(tally, address_of(3));
    tally_freed(tally, address_of(2000));
    tally_freed(tally, address_of(7));
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(counts_of(tally, class_key(i)).live, 0);
    }
    assert_int_equal(tally->missed_frees, 0);
}

static void
an_object_moves_to_a_slot_just_freed(void **state)
{
    struct tally *tally = *state;
    nobody_moves();
    tally_allocated(tally, address_of(1), class_key(1));
    tally_allocated(tally, address_of(9), class_key(2));
    tally_freed(tally, address_of(1));
    destinations[9] = 1;
    tally_compacted(tally, moved);
    assert_false(tally->lost);
    assert_int_equal(counts_of(tally, class_key(1)).live, 0);
    assert_int_equal(counts_of(tally, class_key(2)).live, 1);
    assert_int_equal(tally->missed_frees, 0);
}

static void
a_phantom_at_the_destination_is_a_missed_free(void **state)
{
    struct tally *tally = *state;
    for (size_t phantom = 1; phantom <= 20; phantom += 19) { // before and behind
        nobody_moves();
        tally_allocated(tally, address_of(phantom), class_key(1));
        tally_allocated(tally, address_of(10), class_key(2));
        uint64_t missed = tally->missed_frees;
        destinations[10] = phantom;
        tally_compacted(tally, moved);
        assert_false(tally->lost);
        assert_int_equal(tally->missed_frees, missed + 1);
        assert_int_equal(counts_of(tally, class_key(1)).live, 0);
        assert_int_equal(counts_of(tally, class_key(2)).live, 1);
        tally_freed(tally, address_of(phantom));
    }
}

static void
classes_that_move_are_known_by_their_new_address(void **state)
{
    struct tally *tally = *state;
    nobody_moves();
    tally_allocated(tally, address_of(50), class_key(0));
    tally_allocated(tally, address_of(60), address_of(50));
    uint32_t index = registry_lookup(&tally->registry, address_of(50))->site->class_index;
    destinations[50] = 4;
    tally_compacted(tally, moved);
    assert_false(tally->lost);
    tally_allocated(tally, address_of(61), address_of(4));
    assert_int_equal(registry_counts(&tally->registry, index).live, 2);
}

/* Age. */

static uint32_t
epoch_at(const struct tally *tally, size_t slot)
{
    return shadow_epoch(*shadow_find(&tally->shadow, address_of(slot)));
}

static void
an_object_knows_its_age_wherever_it_moves(void **state)
{
    struct tally *tally = *state;
    nobody_moves();
    tally_allocated(tally, address_of(1), class_key(1));
    for (size_t i = 0; i < 6; i++) {
        tally_collection(tally);
    }
    tally_allocated(tally, address_of(2), class_key(1));
    destinations[1] = 100;
    tally_compacted(tally, moved);
    tally_collection(tally);
    tally_collection(tally);
    assert_int_equal(birth_age(&tally->birth, epoch_at(tally, 100)), 7);
    assert_int_equal(birth_age(&tally->birth, epoch_at(tally, 2)), 1);
    tally_freed(tally, address_of(2));
    tally_allocated(tally, address_of(2), class_key(1)); // another, in the same slot
    assert_int_equal(birth_age(&tally->birth, epoch_at(tally, 2)), 0);
}

/* Stacks. */

static uintptr_t running; // the code that runs now

static size_t
capture(struct stack_frame *stack, size_t limit)
{
    assert_true(limit >= 1);
    stack[0] = (struct stack_frame){running, 1};
    return 1;
}

static void
start_tracing(struct tally *tally)
{
    assert_true(trace_init(&tally->trace, capture, 10, 100));
    tally->trace.credit_ns = INT64_MAX;
    tally->registry.traces_new = true;
    running = address_of(50);
}

static site_id
site_at(const struct tally *tally, size_t slot)
{
    return shadow_site(*shadow_find(&tally->shadow, address_of(slot)));
}

static void
rows_of_classes_that_are_gone_leave_no_paths_behind(void **state)
{
    struct tally *tally = *state;
    start_tracing(tally);
    tally_allocated(tally, address_of(1), class_key(1));
    tally_allocated(tally, address_of(2), class_key(2));
    site_id gone = site_at(tally, 1);
    site_id stays = site_at(tally, 2);
    uint32_t row = registry_lookup(&tally->registry, class_key(1))->site->class_index;
    tally_freed(tally, address_of(1));
    tally_class_freed(tally, class_key(1));
    tally_recycle(tally); // dead but not gone: nothing happens
    assert_int_equal(tally->trace.sites_used, 2);
    registry_class(&tally->registry, row)->state = CLASS_STATE_GONE;
    tally_recycle(tally);
    assert_int_equal(tally->trace.sites_used, 1);
    assert_int_equal(registry_totals(&tally->registry).allocated, 2);
    tally_allocated(tally, address_of(3), class_key(3));
    assert_int_equal(site_at(tally, 3), gone); // for the same path of another class
    assert_int_equal(registry_site(&tally->registry, gone)->allocated, 1);
    tally_allocated(tally, address_of(4), class_key(2));
    assert_int_equal(site_at(tally, 4), stays);
}

static void
code_that_dies_is_another_frame_when_its_slot_is_used_again(void **state)
{
    struct tally *tally = *state;
    start_tracing(tally);
    tally_allocated(tally, address_of(1), class_key(1));
    tally_frame_freed(tally, running);
    tally_allocated(tally, address_of(2), class_key(1));
    assert_int_not_equal(site_at(tally, 1), site_at(tally, 2));
    tally_allocated(tally, running, class_key(1)); // code is an object, and nobody told
    tally_allocated(tally, running, class_key(1)); // of the free of this one
    tally_allocated(tally, address_of(3), class_key(1));
    assert_int_equal(tally->missed_frees, 1);
    assert_int_not_equal(site_at(tally, 3), site_at(tally, 2));
}

static void
code_that_moves_stays_the_frame_it_was(void **state)
{
    struct tally *tally = *state;
    start_tracing(tally);
    nobody_moves();
    tally_allocated(tally, address_of(1), class_key(1));
    destinations[50] = 60;
    tally_compacted(tally, moved);
    running = address_of(60);
    tally_allocated(tally, address_of(2), class_key(1));
    assert_int_equal(site_at(tally, 1), site_at(tally, 2));
}

/* A heap at random. */

struct model {
    uintptr_t keys[SLOTS]; // what is in each slot
    uint64_t live[CLASSES];
};

static void
model_allocate_or_free(struct model *model, struct tally *tally)
{
    size_t slot = random_below(SLOTS);
    size_t class = random_below(CLASSES);
    if (model->keys[slot]) {
        tally_freed(tally, address_of(slot));
        for (size_t i = 0; i < CLASSES; i++) {
            model->live[i] -= model->keys[slot] == class_key(i);
        }
        model->keys[slot] = 0;
    } else {
        tally_allocated(tally, address_of(slot), class_key(class));
        model->keys[slot] = class_key(class);
        model->live[class]++;
    }
}

// As Ruby does: from free slots and objects at random, none used twice.
static void
model_compact(struct model *model, struct tally *tally)
{
    bool touched[SLOTS] = {false};
    nobody_moves();
    for (size_t i = 0; i < SLOTS / 4; i++) {
        size_t from = random_below(SLOTS);
        size_t to = random_below(SLOTS);
        if (model->keys[from] && !model->keys[to] && !touched[from] && !touched[to]) {
            touched[from] = touched[to] = true;
            destinations[from] = to;
            model->keys[to] = model->keys[from];
            model->keys[from] = 0;
        }
    }
    tally_compacted(tally, moved);
    assert_false(tally->lost);
}

static void
random_moves_lose_nobody(void **state)
{
    static struct model model;
    struct tally *tally = *state;
    for (size_t round = 0; round < 100; round++) {
        for (size_t i = 0; i < 3000; i++) {
            model_allocate_or_free(&model, tally);
        }
        model_compact(&model, tally);
        for (size_t i = 0; i < CLASSES; i++) {
            assert_int_equal(counts_of(tally, class_key(i)).live, model.live[i]);
        }
    }
    for (size_t i = 0; i < SLOTS; i++) {
        const shadow_entry *entry = shadow_find(&tally->shadow, address_of(i));
        assert_int_equal(entry && *entry, model.keys[i] != 0);
    }
    assert_int_equal(tally->missed_frees, 0);
}

/* A reader beside the writer. */

struct reader {
    const struct registry *registry;
    atomic_bool stop;
    _Atomic uint64_t reads;
    uint64_t largest; // live of any class, at any time
};

static void *
read_counts(void *argument)
{
    struct reader *reader = argument;
    while (!atomic_load(&reader->stop)) {
        uint32_t count =
            atomic_load_explicit(&reader->registry->class_count, memory_order_acquire);
        for (uint32_t i = 1; i < count; i++) {
            uint64_t live = registry_counts(reader->registry, i).live;
            reader->largest = live > reader->largest ? live : reader->largest;
            reader->reads++;
        }
    }
    return NULL;
}

// The reader may see an object born and not yet that another died, many times
// over; never one that died and was not born, which would be near 2^64.
static void
no_reader_sees_a_count_below_zero(void **state)
{
    struct tally *tally = *state;
    struct reader reader = {.registry = &tally->registry};
    pthread_t thread;
    const size_t rounds = 2000000;
    assert_int_equal(pthread_create(&thread, NULL, read_counts, &reader), 0);
    for (size_t i = 0; i < rounds || reader.reads == 0; i++) {
        uintptr_t address = address_of(i % SLOTS);
        tally_allocated(tally, address, class_key(i % CLASSES));
        if (i % 64 == 0) { // what a census does with an object of another class
            struct site *site = registry_site(
                &tally->registry, shadow_site(*shadow_find(&tally->shadow, address)));
            count_add(&site->found, (uint64_t)-1);
            count_add(&site[1].found, 1);
            *shadow_find(&tally->shadow, address) = shadow_pack(
                shadow_site(*shadow_find(&tally->shadow, address)) + 1, 0, address);
        }
        tally_freed(tally, address);
    }
    atomic_store(&reader.stop, true);
    pthread_join(thread, NULL);
    assert_true(reader.reads > 0);
    assert_true(reader.largest <= rounds);
    for (size_t i = 0; i < CLASSES; i++) {
        assert_int_equal(counts_of(tally, class_key(i)).live, 0);
    }
}

int
main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_allocation_and_its_free_are_counted_once,
                                        start, end),
        cmocka_unit_test_setup_teardown(the_free_of_what_nobody_counted_is_no_free, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_free_is_of_the_class_that_was_allocated, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_free_nobody_told_of_is_seen_when_the_slot_is_used_again, start, end),
        cmocka_unit_test_setup_teardown(
            a_class_whose_free_nobody_told_of_is_dead_when_its_slot_is_used_again, start,
            end),
        cmocka_unit_test_setup_teardown(
            an_object_in_the_slot_of_a_dead_class_is_counted_under_its_own, start, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_placed_is_counted_as_such, start,
                                        end),
        cmocka_unit_test_setup_teardown(objects_that_move_are_freed_where_they_are, start,
                                        end),
        cmocka_unit_test_setup_teardown(an_object_moves_to_a_slot_just_freed, start, end),
        cmocka_unit_test_setup_teardown(a_phantom_at_the_destination_is_a_missed_free,
                                        start, end),
        cmocka_unit_test_setup_teardown(classes_that_move_are_known_by_their_new_address,
                                        start, end),
        cmocka_unit_test_setup_teardown(random_moves_lose_nobody, start, end),
        cmocka_unit_test_setup_teardown(no_reader_sees_a_count_below_zero, start, end),
        cmocka_unit_test_setup_teardown(an_object_knows_its_age_wherever_it_moves, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            rows_of_classes_that_are_gone_leave_no_paths_behind, start, end),
        cmocka_unit_test_setup_teardown(
            code_that_dies_is_another_frame_when_its_slot_is_used_again, start, end),
        cmocka_unit_test_setup_teardown(code_that_moves_stays_the_frame_it_was, start,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
