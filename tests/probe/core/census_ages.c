// What a census says of every site: how much its objects weigh, and how old they are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/census.h"
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
    tally_destroy(&tally);
    return 0;
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

static void
walk(enum census_kind kind)
{
    census_begin(&census, kind, &tally, &runtime);
    assert_true(census_step(&census, 0));
    assert_false(census.under_way);
}

static const struct site_census *
seen_of(uintptr_t key, enum class_site site)
{
    return registry_seen(&tally.registry, entry_of(key)->site + site);
}

static void
collect(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        tally_collection(&tally);
        heap.collections++;
    }
}

static void
expect_seen(const struct site_census *seen, uint64_t bytes,
            const uint32_t ages[AGE_BUCKETS])
{
    assert_int_equal(seen->bytes, bytes);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        assert_int_equal(seen->ages[i], ages[i]);
    }
}

static void
a_census_weighs_each_site_and_tells_its_ages(void **state)
{
    static const unsigned older_by[] = {40, 10, 3, 1};
    uintptr_t key = class_key(1);
    (void)state;
    *heap_slot(page_start(0)) = key; // there before the counting
    walk(CENSUS_BASELINE);
    for (size_t i = 0; i < 4; i++) {
        for (size_t slot = 0; slot <= i; slot++) { // one, two, three, four
            allocate(page_start(i + 1) + slot * heap.blocks[i + 1].page.stride, key);
        }
        collect(older_by[i]);
    }
    walk(CENSUS_CHECK);
    expect_seen(seen_of(key, SITE_COUNTED), 10 * heap_weight(key),
                (uint32_t[]){4, 3, 2, 1}); // 0, 3, 13 and 53 collections old
    expect_seen(seen_of(key, SITE_FOUND), heap_weight(key), (uint32_t[]){0, 0, 0, 1});
    expect_seen(seen_of(key, SITE_UNSAMPLED), 0, (uint32_t[]){0, 0, 0, 0});
    assert_int_equal(entry_of(key)->bytes, 11 * heap_weight(key));
    release(page_start(4));
    walk(CENSUS_CHECK);
    expect_seen(seen_of(key, SITE_COUNTED), 9 * heap_weight(key),
                (uint32_t[]){3, 3, 2, 1});
}

static void
the_walk_that_starts_the_counting_weighs_nothing(void **state)
{
    (void)state;
    *heap_slot(page_start(0)) = class_key(1);
    walk(CENSUS_BASELINE);
    expect_seen(seen_of(class_key(1), SITE_FOUND), COUNT_UNKNOWN,
                (uint32_t[]){0, 0, 0, 0});
}

static void
ages_are_told_also_when_nothing_can_be_weighed(void **state)
{
    (void)state;
    allocate(page_start(0), class_key(1));
    collect(40);
    heap.shared = true;
    walk(CENSUS_CHECK);
    expect_seen(seen_of(class_key(1), SITE_COUNTED), COUNT_UNKNOWN,
                (uint32_t[]){0, 0, 0, 1});
}

static void
an_object_whose_class_changed_keeps_its_age(void **state)
{
    (void)state;
    allocate(page_start(0), class_key(1));
    collect(20);
    *heap_slot(page_start(0)) = class_key(2);
    *heap_slot(page_start(1)) = class_key(2); // one nobody saw, of unknown age
    walk(CENSUS_CHECK);
    expect_seen(seen_of(class_key(2), SITE_FOUND), 2 * heap_weight(class_key(2)),
                (uint32_t[]){1, 0, 1, 0});
    expect_seen(seen_of(class_key(1), SITE_COUNTED), 0, (uint32_t[]){0, 0, 0, 0});
}

static void
sites_of_a_walk_begun_anew_start_from_nothing(void **state)
{
    (void)state;
    for (size_t page = 0; page < PAGES; page++) {
        allocate(page_start(page), class_key(1));
    }
    census_begin(&census, CENSUS_CHECK, &tally, &runtime);
    assert_false(census_step(&census, 1));
    walk(CENSUS_CHECK);
    expect_seen(seen_of(class_key(1), SITE_COUNTED), PAGES * heap_weight(class_key(1)),
                (uint32_t[]){PAGES, 0, 0, 0});
}

static void
each_path_has_its_own_bytes_and_ages(void **state)
{
    uintptr_t key = class_key(1);
    (void)state;
    assert_true(trace_init(&tally.trace, runtime.capture, 10, 100));
    tally.registry.traces_new = true;
    site_id sites[2];
    for (uint32_t i = 0; i < 2; i++) {
        heap.stack[0] = (struct stack_frame){1000, i};
        heap.stack_count = 1;
        allocate(page_start(i), key);
        sites[i] = shadow_site(*shadow_find(&tally.shadow, page_start(i)));
        collect(5);
    }
    allocate(page_start(2), key); // where the second was
    walk(CENSUS_CHECK);
    assert_int_not_equal(sites[0], sites[1]);
    assert_true(sites[0] >= REGISTRY_FIRST_PATH);
    expect_seen(registry_seen(&tally.registry, sites[0]), heap_weight(key),
                (uint32_t[]){0, 0, 1, 0});
    expect_seen(registry_seen(&tally.registry, sites[1]), 2 * heap_weight(key),
                (uint32_t[]){1, 1, 0, 0});
    assert_int_equal(entry_of(key)->bytes, 3 * heap_weight(key));
}

// Collections that had begun when what is in each slot was born.
static uint64_t births[PAGES][HEAP_SLOTS_MAX];

static void
live_and_note_births(size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        size_t page = random_below(PAGES);
        const struct heap_block *block = &heap.blocks[page];
        size_t slot = random_below(16384 / block->page.stride);
        uintptr_t address = block->page.start + slot * block->page.stride;
        if (block->keys[slot]) {
            release(address);
        } else {
            allocate(address, class_key(random_below(CLASSES)));
            births[page][slot] = heap.collections;
        }
        if (random_below(200) == 0) {
            collect(1);
        }
    }
}

static void
expect_ages_of_all(void)
{
    uint32_t ages[CLASSES][AGE_BUCKETS] = {0};
    for (size_t page = 0; page < PAGES; page++) {
        for (size_t slot = 0; slot < HEAP_SLOTS_MAX; slot++) {
            uintptr_t key = heap.blocks[page].keys[slot];
            uint64_t begun = heap.collections - births[page][slot];
            if (key) {
                ages[(key - class_key(0)) / 40][birth_bucket(begun ? begun - 1 : 0)]++;
            }
        }
    }
    for (size_t i = 0; i < CLASSES; i++) {
        expect_seen(seen_of(class_key(i), SITE_COUNTED),
                    objects_of(class_key(i)) * heap_weight(class_key(i)), ages[i]);
    }
}

static void
ages_stay_true_over_more_collections_than_there_are_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < CLASSES; i++) {
        registry_lookup(&tally.registry, class_key(i));
    }
    for (size_t round = 0; round < 100; round++) {
        live_and_note_births(2000); // some ten collections
        walk(CENSUS_CHECK);
        assert_int_equal(census.missing + census.phantom, 0);
        expect_ages_of_all();
    }
    assert_true(heap.collections > 3 * BIRTH_EPOCHS);
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_census_weighs_each_site_and_tells_its_ages,
                                        start, end),
        cmocka_unit_test_setup_teardown(the_walk_that_starts_the_counting_weighs_nothing,
                                        start, end),
        cmocka_unit_test_setup_teardown(ages_are_told_also_when_nothing_can_be_weighed,
                                        start, end),
        cmocka_unit_test_setup_teardown(an_object_whose_class_changed_keeps_its_age,
                                        start, end),
        cmocka_unit_test_setup_teardown(sites_of_a_walk_begun_anew_start_from_nothing,
                                        start, end),
        cmocka_unit_test_setup_teardown(each_path_has_its_own_bytes_and_ages, start, end),
        cmocka_unit_test_setup_teardown(
            ages_stay_true_over_more_collections_than_there_are_numbers, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
