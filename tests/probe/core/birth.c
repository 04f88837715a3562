#include "probe/core/birth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/core/shadow.h"
#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define OBJECTS 2000u

static struct birth birth;

static int
start(void **state)
{
    (void)state;
    birth_init(&birth);
    return 0;
}

static void
collect(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        birth_collection(&birth);
    }
}

/* The entry of the shadow table. */

static void
an_entry_gives_back_what_it_was_made_of(void **state)
{
    static const site_id sites[] = {1, 2, 4095, 4096, 0x2aaaaa, SHADOW_SITE_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
        for (uint32_t epoch = 0; epoch < BIRTH_EPOCHS; epoch++) {
            for (uintptr_t at = HEAP; at < HEAP + 64; at += 8) {
                shadow_entry entry = shadow_pack(sites[i], epoch, at);
                assert_int_equal(shadow_site(entry), sites[i]);
                assert_int_equal(shadow_epoch(entry), epoch);
                assert_int_equal(entry & 3, at / 8 % 4);
                assert_int_not_equal(entry, 0);
            }
        }
    }
}

static void
another_epoch_changes_nothing_else_of_an_entry(void **state)
{
    (void)state;
    for (uint32_t epoch = 0; epoch < BIRTH_EPOCHS; epoch++) {
        shadow_entry entry = shadow_pack(SHADOW_SITE_MAX, 255 - epoch, HEAP + 24);
        assert_int_equal(shadow_in_epoch(entry, epoch),
                         shadow_pack(SHADOW_SITE_MAX, epoch, HEAP + 24));
    }
}

/* Ages. */

// Swept is only what died before the last collection began.
static void
an_object_has_survived_a_collection_when_the_next_begins(void **state)
{
    (void)state;
    uint32_t epoch = birth.now;
    assert_int_equal(birth_age(&birth, epoch), 0);
    collect(1);
    assert_int_equal(birth_age(&birth, epoch), 0);
    collect(1);
    assert_int_equal(birth_age(&birth, epoch), 1);
    collect(40);
    assert_int_equal(birth_age(&birth, epoch), 41);
}

static void
a_collection_makes_what_comes_after_it_younger(void **state)
{
    (void)state;
    uint32_t epochs[100];
    for (unsigned i = 0; i < 100; i++) {
        epochs[i] = birth.now;
        collect(1);
    }
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(birth_age(&birth, epochs[i]), 99 - i);
    }
}

static void
buckets_begin_at_2_and_8_and_32(void **state)
{
    static const struct {
        uint64_t age;
        unsigned bucket;
    } cases[] = {
        {0,          0},
        {1,          0},
        {2,          1},
        {7,          1},
        {8,          2},
        {31,         2},
        {32,         3},
        {33,         3},
        {255,        3},
        {256,        3},
        {258,        3},
        {65536 + 1,  3},
        {UINT64_MAX, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(birth_bucket(cases[i].age), cases[i].bucket);
    }
}

/* More collections than numbers. */

static void
numbers_run_out_and_then_epochs_are_long(void **state)
{
    (void)state;
    uint32_t first = birth.now;
    collect(8000);
    assert_true(birth.used < BIRTH_EPOCHS); // the fewer are left, the longer they last
    collect(92000);
    assert_int_equal(birth.used, BIRTH_EPOCHS);
    assert_int_equal(birth_age(&birth, first), 100000 - 1);
    assert_int_equal(birth_age(&birth, birth.now), 0);
}

static void
a_walk_gives_numbers_back_and_takes_none_that_is_young(void **state)
{
    (void)state;
    collect(100000);
    birth_walk(&birth);
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        if (birth_age(&birth, i) < BIRTH_EXACT) {
            assert_int_equal(birth_merged(&birth, i), i);
        }
    }
    birth_walked(&birth);
    assert_true(birth.used < 100);
    for (unsigned i = 0; i < BIRTH_EXACT; i++) { // every collection is an epoch again
        uint32_t before = birth.now;
        collect(1);
        assert_int_not_equal(birth.now, before);
    }
}

static void
a_number_is_not_used_again_before_the_walk_is_done(void **state)
{
    (void)state;
    collect(200);
    birth_walk(&birth);
    bool begun_before[BIRTH_EPOCHS];
    for (uint32_t i = 0; i < BIRTH_EPOCHS; i++) {
        begun_before[i] = birth.in_use[i];
    }
    for (unsigned i = 0; i < 300; i++) {
        uint32_t before = birth.now;
        collect(1);
        assert_true(birth.now == before || !begun_before[birth.now]);
        assert_int_equal(birth_merged(&birth, birth.now), birth.now);
        begun_before[birth.now] = true;
    }
}

// Entries that were visited already have the number they were merged into.
static void
a_walk_may_be_begun_anew(void **state)
{
    (void)state;
    uint32_t first = birth.now;
    collect(200);
    birth_walk(&birth);
    uint32_t visited = birth_merged(&birth, first);
    collect(60);
    birth_walk(&birth);
    visited = birth_merged(&birth, visited);
    first = birth_merged(&birth, first);
    birth_walked(&birth);
    assert_true(birth.in_use[visited] && birth.in_use[first]);
    assert_true(birth_age(&birth, visited) >= BIRTH_EXACT);
    assert_true(birth_age(&birth, first) >= BIRTH_EXACT);
}

/* Objects that come and go, each with the time of its birth beside its entry. */

struct object {
    shadow_entry entry;   // 0: none
    uint64_t collections; // begun when it was born
};

static struct object objects[OBJECTS];
static uint64_t collections;

static uint64_t
true_age(const struct object *object)
{
    uint64_t begun = collections - object->collections;
    return begun ? begun - 1 : 0;
}

static void
live_a_little(unsigned births)
{
    for (unsigned i = 0; i < births; i++) {
        size_t number = random_below(OBJECTS);
        objects[number] =
            (struct object){shadow_pack(1, birth.now, HEAP + number * 40), collections};
    }
}

static void
collect_and_count(unsigned times)
{
    collect(times);
    collections += times;
}

static void
walk_over_objects(void)
{
    birth_walk(&birth);
    for (size_t i = 0; i < OBJECTS; i++) {
        shadow_entry *entry = &objects[i].entry;
        if (i % 500 == 0) { // the program runs meanwhile
            collect_and_count(1);
            live_a_little(1);
        }
        *entry = *entry
                     ? shadow_in_epoch(*entry, birth_merged(&birth, shadow_epoch(*entry)))
                     : 0;
    }
    birth_walked(&birth);
}

static void
forget_objects(void)
{
    collections = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        objects[i] = (struct object){0};
    }
}

static void
expect_ages(bool exact)
{
    for (size_t i = 0; i < OBJECTS; i++) {
        const struct object *object = &objects[i];
        if (!object->entry) {
            continue;
        }
        uint64_t age = birth_age(&birth, shadow_epoch(object->entry));
        assert_true(age <= true_age(object));
        if (exact && true_age(object) < BIRTH_EXACT) {
            assert_int_equal(age, true_age(object));
        }
        if (exact) {
            assert_int_equal(birth_bucket(age), birth_bucket(true_age(object)));
        }
    }
}

static void
walks_often_enough_leave_every_object_in_its_bucket(void **state)
{
    (void)state;
    forget_objects();
    unsigned next_walk = 0;
    for (unsigned round = 0; round < 3000; round++) { // some 12 times round the numbers
        live_a_little((unsigned)random_below(20));
        collect_and_count(1);
        if (round >= next_walk) {
            walk_over_objects();
            next_walk = round + (unsigned)random_below(60);
        }
        if (random_below(10) == 0) {
            expect_ages(true);
        }
    }
    assert_true(collections > 10 * BIRTH_EPOCHS);
}

static void
however_seldom_the_walks_no_age_is_too_high(void **state)
{
    (void)state;
    forget_objects();
    for (unsigned round = 0; round < 3000; round++) {
        live_a_little((unsigned)random_below(20));
        collect_and_count((unsigned)random_below(30));
        if (random_below(300) == 0) {
            walk_over_objects();
        }
        if (random_below(10) == 0) {
            expect_ages(false);
        }
    }
}

static void
what_is_older_than_255_collections_stays_the_oldest(void **state)
{
    (void)state;
    uint32_t epoch = birth.now;
    for (unsigned round = 0; round < 2000; round++) {
        collect(1);
        if (round % 40 == 39) {
            birth_walk(&birth);
            epoch = birth_merged(&birth, epoch);
            birth_walked(&birth);
        }
        if (round > BIRTH_EXACT) {
            assert_int_equal(birth_bucket(birth_age(&birth, epoch)), AGE_BUCKETS - 1);
        }
    }
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_entry_gives_back_what_it_was_made_of, start),
        cmocka_unit_test_setup(another_epoch_changes_nothing_else_of_an_entry, start),
        cmocka_unit_test_setup(an_object_has_survived_a_collection_when_the_next_begins,
                               start),
        cmocka_unit_test_setup(a_collection_makes_what_comes_after_it_younger, start),
        cmocka_unit_test_setup(buckets_begin_at_2_and_8_and_32, start),
        cmocka_unit_test_setup(numbers_run_out_and_then_epochs_are_long, start),
        cmocka_unit_test_setup(a_walk_gives_numbers_back_and_takes_none_that_is_young,
                               start),
        cmocka_unit_test_setup(a_number_is_not_used_again_before_the_walk_is_done, start),
        cmocka_unit_test_setup(a_walk_may_be_begun_anew, start),
        cmocka_unit_test_setup(walks_often_enough_leave_every_object_in_its_bucket,
                               start),
        cmocka_unit_test_setup(however_seldom_the_walks_no_age_is_too_high, start),
        cmocka_unit_test_setup(what_is_older_than_255_collections_stays_the_oldest,
                               start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
