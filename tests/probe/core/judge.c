/*
 * All classes judged at once, over time that is an argument: a viewer's picture of
 * the verdicts is decoded again from what was sent.
 */
#include "probe/core/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/clock.h"
#include "protocol/decoder.h"

#define IDS_MAX 60000u
#define AT ((struct stamp){5, 6})
#define SECOND_US UINT64_C(1000000)

struct told {
    uint64_t verdict;
    uint64_t ages[AGE_BUCKETS];
    char reason[VERDICT_REASON_BYTES];
    unsigned times;
};

struct world {
    struct registry registry;
    struct judge judge;
    struct judge_facts facts;
    struct told told[IDS_MAX];
};

static struct world *world;

static uintptr_t
itself(uintptr_t key)
{
    return key;
}

static int
start(void **state)
{
    (void)state;
    world = calloc(1, sizeof(*world));
    world->facts = (struct judge_facts){.at_us = SECOND_US, .mode = MODE_COUNT};
    return registry_init(&world->registry, itself) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    judge_destroy(&world->judge);
    judge_destroy(&world->judge);
    registry_destroy(&world->registry);
    free(world);
    return 0;
}

static uintptr_t
key_of(size_t number)
{
    return 0x550000000000 + number * 40;
}

static struct site *
site_of(size_t number)
{
    const struct registry_slot *slot = registry_lookup(&world->registry, key_of(number));
    assert_non_null(slot);
    return slot->site;
}

static class_id
id_of(size_t number)
{
    return registry_class(&world->registry, site_of(number)->class_index)->id;
}

static void
allocate(size_t number, uint64_t objects)
{
    count_add(&site_of(number)->allocated, objects);
}

// A census: everything of this class is `bytes` and has survived many collections.
static void
weigh(size_t number, uint64_t bytes)
{
    const struct site *site = site_of(number);
    struct site_counts counts = registry_counts(&world->registry, site->class_index);
    registry_seen(&world->registry, site->id)->ages[3] = (uint32_t)counts.live;
    registry_class(&world->registry, site->class_index)->bytes = bytes;
}

// Take in what was sent; returns rows.
static size_t
hear(struct buffer *frames)
{
    struct decoder decoder = {0};
    struct message message;
    size_t rows = 0;
    decoder_feed(&decoder, frames->bytes, frames->length);
    enum decode_status status;
    while ((status = decoder_next(&decoder, &message)) == DECODE_MESSAGE) {
        assert_int_equal(message.kind, MESSAGE_VERDICTS);
        for (size_t i = 0; i < message.verdicts.count; i++) {
            const struct verdict_row *row = &message.verdicts.list[i];
            assert_true(row->id < IDS_MAX && row->reason.length < VERDICT_REASON_BYTES);
            struct told *told = &world->told[row->id];
            told->verdict = row->verdict;
            told->times++;
            memcpy(told->ages, row->ages, sizeof(told->ages));
            snprintf(told->reason, sizeof(told->reason), "%.*s", (int)row->reason.length,
                     row->reason.length ? row->reason.bytes : "");
            rows++;
        }
    }
    assert_int_equal(status, DECODE_NEED_MORE);
    decoder_destroy(&decoder);
    buffer_destroy(frames);
    return rows;
}

static size_t
look(void)
{
    struct buffer frames = {0};
    assert_true(judge_look(&world->judge, &world->registry, &world->facts, AT, &frames));
    return hear(&frames);
}

// Five seconds go by, with a collection; every fourth is a full one.
static void
pass(void)
{
    world->facts.at_us += 5 * SECOND_US;
    world->facts.collections++;
    world->facts.majors += world->facts.collections % 4 == 0;
}

static void
walk(void)
{
    world->facts.census_us = world->facts.at_us;
}

static void
leak_for(size_t number, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i += 5) {
        pass();
        allocate(number, 200);
        weigh(number, 1000);
        walk();
        look();
    }
}

static void
a_leak_is_told_when_it_is_seen_and_now_and_then_while_it_grows(void **state)
{
    (void)state;
    allocate(0, 10);
    allocate(1, 500);
    look();
    leak_for(0, 180);
    const struct told *leak = &world->told[id_of(0)];
    assert_int_equal(leak->verdict, VERDICT_LEAK);
    assert_non_null(strstr(leak->reason, "100 % survived 8 or more"));
    assert_int_equal(leak->ages[0], 0);
    assert_true(leak->ages[3] > 1000);
    assert_int_equal(world->told[id_of(1)].verdict, VERDICT_STEADY);
    unsigned leak_times = leak->times;
    unsigned steady_times = world->told[id_of(1)].times;
    leak_for(0, 600);
    assert_in_range(leak->times - leak_times, 3, 60);
    assert_int_equal(world->told[id_of(1)].times, steady_times);
}

static void
who_comes_later_is_told_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3000; i++) {
        allocate(i, 5);
    }
    look();
    leak_for(7, 180);
    struct told *before = malloc(sizeof(world->told));
    assert_non_null(before);
    memcpy(before, world->told, sizeof(world->told));
    memset(world->told, 0, sizeof(world->told));
    struct buffer frames = {0};
    assert_true(judge_seed(&world->judge, &world->registry, AT, &frames));
    assert_int_equal(hear(&frames), 3000);
    for (size_t i = 0; i < 3000; i++) {
        assert_int_equal(world->told[id_of(i)].verdict, before[id_of(i)].verdict);
    }
    assert_int_equal(world->told[id_of(7)].verdict, VERDICT_LEAK);
    free(before);
}

static void
a_row_that_is_another_class_now_starts_anew(void **state)
{
    (void)state;
    allocate(0, 10);
    look();
    leak_for(0, 180);
    uint32_t index = site_of(0)->class_index;
    struct class_entry *entry = registry_class(&world->registry, index);
    entry->id = 99;
    pass();
    assert_int_equal(look(), 0);
    struct buffer frames = {0};
    assert_true(judge_seed(&world->judge, &world->registry, AT, &frames));
    assert_int_equal(hear(&frames), 0);
    pass();
    look();
    assert_int_equal(world->told[99].verdict, VERDICT_NEW);
}

static void
dormant_nothing_is_judged(void **state)
{
    (void)state;
    world->facts.mode = MODE_DORMANT;
    allocate(0, 10);
    look();
    for (unsigned i = 0; i < 60; i++) {
        pass();
        assert_int_equal(look(), 0);
    }
}

static void
without_hooks_growth_is_judged_from_walks(void **state)
{
    (void)state;
    world->facts.mode = MODE_CENSUS;
    struct site *found = registry_site(&world->registry, site_of(0)->id + SITE_FOUND);
    for (unsigned i = 0; i < 200; i++) {
        pass();
        count_add(&found->found, 50);
        if (i % 4 == 0) {
            walk();
            look();
        } else { // between two walks nothing is known
            assert_int_equal(look(), 0);
        }
    }
    assert_int_equal(world->told[id_of(0)].verdict, VERDICT_LEAK);
}

// What a program does that still loads code: classes come in numbers.
static void
while_many_classes_come_nobody_is_accused(void **state)
{
    (void)state;
    allocate(0, 10);
    look();
    for (unsigned i = 0; i < 60; i++) {
        for (size_t class = 0; class < 10; class ++) {
            allocate(100 + i * 10 + class, 1);
        }
        leak_for(0, 5);
        assert_int_not_equal(world->told[id_of(0)].verdict, VERDICT_LEAK);
    }
    assert_non_null(strstr(world->told[id_of(0)].reason, "new classes"));
    leak_for(0, 60);
    assert_int_equal(world->told[id_of(0)].verdict, VERDICT_LEAK);
}

// Printed, and held far below what would be felt: one look an interval.
static void
a_look_at_all_classes_is_cheap(void **state)
{
    (void)state;
    const size_t counts[] = {2000, 50000};
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < counts[c]; i++) {
            allocate(i, 5);
        }
        uint64_t spent_ns = 0;
        for (unsigned i = 0; i < 60; i++) {
            pass();
            for (size_t k = 0; k < counts[c]; k += 10) { // one in ten grows
                allocate(k, 100);
            }
            uint64_t before_ns = clock_thread_ns();
            look();
            spent_ns += clock_thread_ns() - before_ns;
        }
        double each_ms = (double)spent_ns / 60 / 1e6;
        printf("# %zu classes: %.2f ms a look\n", counts[c], each_ms);
        assert_true(each_ms < 1000);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_leak_is_told_when_it_is_seen_and_now_and_then_while_it_grows, start, end),
        cmocka_unit_test_setup_teardown(who_comes_later_is_told_the_same, start, end),
        cmocka_unit_test_setup_teardown(a_row_that_is_another_class_now_starts_anew,
                                        start, end),
        cmocka_unit_test_setup_teardown(dormant_nothing_is_judged, start, end),
        cmocka_unit_test_setup_teardown(without_hooks_growth_is_judged_from_walks, start,
                                        end),
        cmocka_unit_test_setup_teardown(while_many_classes_come_nobody_is_accused, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_look_at_all_classes_is_cheap, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
