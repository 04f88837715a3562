#include "probe/core/census.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define BLOCK ((uintptr_t)SHADOW_BLOCK_BYTES)
#define PAGES 12u
#define CLASSES 9u

static struct tally tally;
static struct census census;
static struct runtime runtime;

static uintptr_t
class_key(size_t number)
{
    return 0x550000000000 + number * 40;
}

// Pages are not side by side, and their slots differ.
static uintptr_t
page_start(size_t page)
{
    return HEAP + page * 2 * BLOCK + 16;
}

static void
add_page(size_t page)
{
    static const size_t strides[] = {40, 80, 160, 320};
    size_t stride = strides[page % 4];
    heap_add_page(page_start(page), stride, 16384 / stride);
}

static int
start(void **state)
{
    (void)state;
    heap_reset();
    runtime = heap_runtime();
    for (size_t page = 0; page < PAGES; page++) {
        add_page(page);
    }
    return tally_init(&tally, NULL) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    census_destroy(&census);
    census_destroy(&census); // twice is harmless
    tally_destroy(&tally);
    return 0;
}

/* The program: what it does to the heap, and what the hooks see of it. */

static uintptr_t
random_slot(void)
{
    const struct heap_page *page = &heap.blocks[random_below(heap.count)].page;
    return page->start +
           random_below((page->end - page->start) / page->stride) * page->stride;
}

static void
allocate(uintptr_t address, uintptr_t key)
{
    *heap_slot(address) = key;
    tally_allocated(&tally, address, key);
}

static void
release(uintptr_t address)
{
    *heap_slot(address) = 0;
    tally_freed(&tally, address);
}

static void
live_a_little(size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        uintptr_t address = random_slot();
        if (*heap_slot(address)) {
            release(address);
        } else {
            allocate(address, class_key(random_below(CLASSES)));
        }
    }
}

static void
fill_unseen(void)
{
    for (size_t i = 0; i < 2000; i++) {
        *heap_slot(random_slot()) = class_key(random_below(CLASSES));
    }
}

static uint64_t
objects_of(uintptr_t key)
{
    uint64_t count = 0;
    for (size_t i = 0; i < heap.count; i++) {
        for (size_t slot = 0; slot < HEAP_SLOTS_MAX; slot++) {
            count +=
                key ? heap.blocks[i].keys[slot] == key : heap.blocks[i].keys[slot] != 0;
        }
    }
    return count;
}

static const struct class_entry *
entry_of(uintptr_t key)
{
    return registry_class(&tally.registry,
                          registry_lookup(&tally.registry, key)->site->class_index);
}

static struct site_counts
counts_of(uintptr_t key)
{
    return registry_counts(&tally.registry,
                           registry_lookup(&tally.registry, key)->site->class_index);
}

static void
expect_the_truth(void)
{
    for (size_t i = 0; i < CLASSES; i++) {
        assert_int_equal(counts_of(class_key(i)).live, objects_of(class_key(i)));
    }
    assert_int_equal(heap.strays, 0);
}

/* Walks. */

static void
walk(enum census_kind kind)
{
    census_begin(&census, kind, &tally, &runtime);
    assert_true(census_step(&census, 0));
    assert_false(census.under_way);
}

static uint64_t
drift(void)
{
    return census.missing + census.phantom;
}

static void
the_first_walk_enters_what_was_there_before(void **state)
{
    (void)state;
    fill_unseen();
    walk(CENSUS_BASELINE);
    expect_the_truth();
    assert_int_equal(census.objects, objects_of(0));
    for (size_t i = 0; i < CLASSES; i++) {
        assert_int_equal(counts_of(class_key(i)).allocated, 0);
        assert_int_equal(counts_of(class_key(i)).freed, 0);
        assert_true(entry_of(class_key(i))->bytes == COUNT_UNKNOWN);
    }
    assert_int_equal(heap.weighed, 0);
    live_a_little(5000);
    expect_the_truth();
    walk(CENSUS_CHECK);
    assert_int_equal(drift() + census.moved, 0);
    expect_the_truth();
}

static void
a_check_finds_what_went_by_unseen_exactly(void **state)
{
    (void)state;
    fill_unseen();
    walk(CENSUS_BASELINE);
    uint64_t expected[3] = {0}; // missing, phantom, moved
    for (size_t i = 0; i < 300; i++) {
        // Every page from its first slot: no slot twice.
        const struct heap_page *page = &heap.blocks[i % PAGES].page;
        uintptr_t address = page->start + i / PAGES * page->stride;
        uintptr_t was = *heap_slot(address);
        uintptr_t now = random_below(3) ? class_key(random_below(CLASSES)) : 0;
        *heap_slot(address) = now;
        expected[0] += !was && now;
        expected[1] += was && !now;
        expected[2] += was && now && was != now;
    }
    walk(CENSUS_CHECK);
    assert_int_equal(census.missing, expected[0]);
    assert_int_equal(census.phantom, expected[1]);
    assert_int_equal(census.moved, expected[2]);
    expect_the_truth();
    walk(CENSUS_CHECK);
    assert_int_equal(drift() + census.moved, 0);
}

// Ruby makes objects of a hidden class and reveals them: allocated under one
// class, freed under another, and no count falls below zero.
static void
an_object_whose_class_changed_is_freed_under_the_new_one(void **state)
{
    (void)state;
    uintptr_t address = page_start(0);
    allocate(address, class_key(1));
    *heap_slot(address) = class_key(2);
    walk(CENSUS_CHECK);
    assert_int_equal(census.moved, 1);
    assert_int_equal(drift(), 0);
    release(address);
    assert_int_equal(counts_of(class_key(1)).live, 0);
    assert_int_equal(counts_of(class_key(2)).live, 0);
}

static void
phantoms_between_pages_and_behind_the_last_are_found(void **state)
{
    (void)state;
    tally_allocated(&tally, HEAP - BLOCK, class_key(1));
    tally_allocated(&tally, page_start(3) + BLOCK, class_key(1));
    tally_allocated(&tally, page_start(PAGES) + 40 * BLOCK, class_key(2));
    walk(CENSUS_CHECK);
    assert_int_equal(census.phantom, 3);
    expect_the_truth();
}

// The page was freed with objects in it that nobody told of; another with larger
// slots came to its place.
static void
phantoms_between_the_slots_of_a_page_are_found(void **state)
{
    (void)state;
    for (size_t slot = 0; slot < 100; slot++) {
        allocate(page_start(0) + slot * 40, class_key(1));
    }
    heap_remove_page(page_start(0));
    heap_add_page(page_start(0) + 8, 160, 100);
    for (size_t slot = 0; slot < 10; slot++) {
        *heap_slot(page_start(0) + 8 + slot * 160) = class_key(1);
    }
    walk(CENSUS_CHECK);
    assert_int_equal(census.phantom, 100);
    assert_int_equal(census.missing, 10);
    expect_the_truth();
    for (size_t slot = 0; slot < 10; slot++) {
        uintptr_t address = page_start(0) + 8 + slot * 160;
        const shadow_entry *entry = shadow_find(&tally.shadow, address);
        assert_int_equal(*entry,
                         shadow_pack(shadow_site(*entry), shadow_epoch(*entry), address));
    }
}

static void
a_class_found_dead_is_forgotten_with_its_key(void **state)
{
    (void)state;
    uintptr_t class = page_start(2);
    allocate(class, class_key(0));
    allocate(page_start(1), class);
    const struct class_entry *entry = entry_of(class);
    *heap_slot(class) = 0;
    walk(CENSUS_CHECK);
    assert_int_equal(entry->state, CLASS_STATE_DEAD);
    assert_int_equal(entry->key, 0);
}

/* In slices. */

// Walk in slices of `budget_ns`, the program doing `between` after each.
static unsigned
walk_in_slices(enum census_kind kind, uint64_t budget_ns, void (*between)(void))
{
    unsigned slices = 1;
    census_begin(&census, kind, &tally, &runtime);
    while (!census_step(&census, budget_ns)) {
        between();
        slices++;
        assert_true(slices < 100000);
    }
    return slices;
}

static void
nothing(void)
{
}

static void
slices_of_any_length_find_the_same(void **state)
{
    static const uint64_t budgets_ns[] = {1, 100, 1000, 10000, 100000, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(budgets_ns) / sizeof(*budgets_ns); i++) {
        tally_destroy(&tally);
        assert_true(tally_init(&tally, NULL));
        fill_unseen();
        walk(CENSUS_BASELINE);
        uintptr_t gone = page_start(1);
        uintptr_t come = page_start(PAGES - 1);
        *heap_slot(gone) = 0;
        *heap_slot(come) = 0;
        walk(CENSUS_CHECK);
        *heap_slot(come) = class_key(1);
        unsigned slices = walk_in_slices(CENSUS_CHECK, budgets_ns[i], nothing);
        assert_int_equal(census.missing, 1);
        assert_int_equal(census.phantom, 0);
        assert_int_equal(census.objects, objects_of(0));
        expect_the_truth();
        if (budgets_ns[i] == 1) {
            assert_true(slices >= PAGES); // a page each: it was cut indeed
        }
    }
}

static void
some_life(void)
{
    live_a_little(200);
}

static void
the_program_may_run_between_slices(void **state)
{
    (void)state;
    fill_unseen();
    walk(CENSUS_BASELINE);
    for (size_t i = 0; i < 50; i++) {
        walk_in_slices(CENSUS_CHECK, 1, some_life);
        assert_int_equal(drift() + census.moved, 0);
        expect_the_truth();
    }
}

// The heap grows and shrinks as a collector has it: pages go when all in them
// was freed, and come with other slots.
static void
pages_come_and_go(void)
{
    size_t page = random_below(PAGES);
    uintptr_t start_address = page_start(page);
    size_t i = 0;
    while (i < heap.count && heap.blocks[i].page.start != start_address) {
        i++;
    }
    if (i == heap.count) {
        size_t stride = (size_t)40 << random_below(4);
        heap_add_page(start_address, stride, 16384 / stride);
    } else {
        struct heap_page gone = heap.blocks[i].page;
        for (uintptr_t at = gone.start; at < gone.end; at += gone.stride) {
            if (*heap_slot(at)) {
                release(at);
            }
        }
        heap_remove_page(start_address);
    }
    heap.collections++;
    if (heap.count > 0) {
        live_a_little(100);
    }
}

static void
pages_may_come_and_go_between_slices(void **state)
{
    (void)state;
    walk(CENSUS_BASELINE);
    for (size_t i = 0; i < 200; i++) {
        walk_in_slices(CENSUS_CHECK, 1, pages_come_and_go);
        assert_int_equal(drift() + census.moved, 0);
        expect_the_truth();
    }
}

// A collection while the list of pages is being walked frees a page further on.
static void
free_a_page_at_the_hundredth_look(void)
{
    if (heap.looks == 100) {
        heap.collections++;
        heap_remove_page(page_start(PAGES - 2));
    }
}

static void
pages_freed_by_a_collection_are_not_looked_at(void **state)
{
    (void)state;
    heap.seen = free_a_page_at_the_hundredth_look;
    for (size_t i = 0; i < 10; i++) {
        walk(CENSUS_CHECK);
    }
    assert_int_equal(heap.count, PAGES - 1);
    assert_int_equal(heap.strays, 0);
}

static void
a_walk_begun_anew_starts_from_nothing(void **state)
{
    (void)state;
    fill_unseen();
    walk(CENSUS_BASELINE);
    census_begin(&census, CENSUS_CHECK, &tally, &runtime);
    assert_false(census_step(&census, 1));
    walk(CENSUS_CHECK);
    assert_int_equal(census.objects, objects_of(0));
    for (size_t i = 0; i < CLASSES; i++) {
        assert_int_equal(entry_of(class_key(i))->bytes,
                         objects_of(class_key(i)) * heap_weight(class_key(i)));
    }
}

static void
without_memory_for_the_list_it_goes_on_later(void **state)
{
    (void)state;
    fill_unseen();
    heap.no_pages = true;
    census_begin(&census, CENSUS_BASELINE, &tally, &runtime);
    assert_false(census_step(&census, 0));
    assert_true(census.under_way);
    heap.no_pages = false;
    assert_true(census_step(&census, 0));
    expect_the_truth();
}

static void
an_empty_heap_is_walked_at_once(void **state)
{
    (void)state;
    for (size_t page = 0; page < PAGES; page++) {
        heap_remove_page(page_start(page));
    }
    walk(CENSUS_CHECK);
    assert_int_equal(census.objects, 0);
}

/* Bytes. */

static void
bytes_are_those_of_the_objects_seen(void **state)
{
    (void)state;
    fill_unseen();
    walk(CENSUS_BASELINE);
    for (size_t round = 0; round < 3; round++) {
        walk(CENSUS_CHECK);
        for (size_t i = 0; i < CLASSES; i++) {
            assert_int_equal(entry_of(class_key(i))->bytes,
                             objects_of(class_key(i)) * heap_weight(class_key(i)));
        }
        live_a_little(1000);
    }
}

static void
nothing_is_weighed_while_others_may_change_it(void **state)
{
    (void)state;
    fill_unseen();
    walk(CENSUS_BASELINE);
    walk(CENSUS_CHECK);
    assert_true(entry_of(class_key(1))->bytes != COUNT_UNKNOWN);
    heap.shared = true;
    heap.weighed = 0;
    walk(CENSUS_CHECK);
    assert_int_equal(heap.weighed, 0);
    for (size_t i = 0; i < CLASSES; i++) {
        assert_true(entry_of(class_key(i))->bytes == COUNT_UNKNOWN);
    }
}

/* Without hooks. */

static void
without_hooks_a_walk_is_the_count(void **state)
{
    (void)state;
    for (size_t round = 0; round < 5; round++) {
        fill_unseen();
        walk(CENSUS_COUNT);
        expect_the_truth();
        assert_int_equal(census.objects, objects_of(0));
        assert_int_equal(drift(), 0);
        assert_int_equal(shadow_bytes(&tally.shadow), 0); // nothing is tracked
    }
}

static void
without_hooks_a_class_nobody_has_an_object_of_is_dead(void **state)
{
    (void)state;
    *heap_slot(page_start(0)) = class_key(1);
    *heap_slot(page_start(1)) = class_key(2);
    walk(CENSUS_COUNT);
    const struct class_entry *entry = entry_of(class_key(1));
    uint32_t row = registry_lookup(&tally.registry, class_key(1))->site->class_index;
    *heap_slot(page_start(0)) = 0;
    walk(CENSUS_COUNT);
    assert_int_equal(entry->state, CLASS_STATE_DEAD);
    assert_int_equal(registry_counts(&tally.registry, row).live, 0);
    *heap_slot(page_start(0)) = class_key(1);
    walk(CENSUS_COUNT);
    assert_int_not_equal(
        registry_lookup(&tally.registry, class_key(1))->site->class_index, row);
    expect_the_truth();
}

int
main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_walk_enters_what_was_there_before,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_check_finds_what_went_by_unseen_exactly, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            an_object_whose_class_changed_is_freed_under_the_new_one, start, end),
        cmocka_unit_test_setup_teardown(
            phantoms_between_pages_and_behind_the_last_are_found, start, end),
        cmocka_unit_test_setup_teardown(phantoms_between_the_slots_of_a_page_are_found,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_class_found_dead_is_forgotten_with_its_key,
                                        start, end),
        cmocka_unit_test_setup_teardown(slices_of_any_length_find_the_same, start, end),
        cmocka_unit_test_setup_teardown(the_program_may_run_between_slices, start, end),
        cmocka_unit_test_setup_teardown(pages_may_come_and_go_between_slices, start, end),
        cmocka_unit_test_setup_teardown(pages_freed_by_a_collection_are_not_looked_at,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_walk_begun_anew_starts_from_nothing, start,
                                        end),
        cmocka_unit_test_setup_teardown(without_memory_for_the_list_it_goes_on_later,
                                        start, end),
        cmocka_unit_test_setup_teardown(an_empty_heap_is_walked_at_once, start, end),
        cmocka_unit_test_setup_teardown(bytes_are_those_of_the_objects_seen, start, end),
        cmocka_unit_test_setup_teardown(nothing_is_weighed_while_others_may_change_it,
                                        start, end),
        cmocka_unit_test_setup_teardown(without_hooks_a_walk_is_the_count, start, end),
        cmocka_unit_test_setup_teardown(
            without_hooks_a_class_nobody_has_an_object_of_is_dead, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
