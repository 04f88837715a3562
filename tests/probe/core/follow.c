// What captures follow: spans, lots, events, and what happens where memory or a class
// ends.
#include "probe/core/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/tally.h"
#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define STRIDE 40u
#define MANY 20000u
#define ORDER ((uintptr_t)0x550000000028)
#define CART ((uintptr_t)0x550000000050)
#define INTERNAL ((uintptr_t)0x35)

static struct tally tally;
static struct follow *const follow = &tally.follow;

static uintptr_t
at(size_t slot)
{
    return HEAP + slot * STRIDE;
}

static uint32_t
class_of(uintptr_t key)
{
    return registry_lookup(&tally.registry, key)->site->class_index;
}

static int
start(void **state)
{
    (void)state;
    return tally_init(&tally, NULL) && follow_begin(follow) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    tally_destroy(&tally);
    return 0;
}

static void
expect_counts(uintptr_t key, struct follow_spans spans, uint64_t allocated,
              uint64_t freed)
{
    uint32_t index = key ? class_of(key) : FOLLOW_ALL_CLASSES;
    struct follow_counts counts = follow_count(follow, &tally.registry, index, spans);
    assert_int_equal(counts.allocated, allocated);
    assert_int_equal(counts.freed, freed);
}

static void
only_what_is_born_in_a_span_and_of_a_followed_class_counts(void **state)
{
    (void)state;
    tally_allocated(&tally, at(1), ORDER);
    follow_class(&tally.registry, class_of(ORDER), true);
    uint32_t first = follow_span(follow);
    tally_allocated(&tally, at(2), ORDER);
    tally_allocated(&tally, at(3), CART);
    uint32_t second = follow_span(follow);
    tally_allocated(&tally, at(4), ORDER);
    tally_freed(&tally, at(1));
    tally_freed(&tally, at(2));
    tally_freed(&tally, at(3));
    expect_counts(ORDER, (struct follow_spans){first, UINT32_MAX}, 2, 1);
    expect_counts(ORDER, (struct follow_spans){first, second}, 1, 1);
    expect_counts(ORDER, (struct follow_spans){second, UINT32_MAX}, 1, 0);
    expect_counts(CART, (struct follow_spans){first, UINT32_MAX}, 0, 0);
}

static void
all_classes_are_those_yet_to_come_too_but_nothing_internal(void **state)
{
    (void)state;
    class_of(ORDER);
    follow_all(&tally.registry, true);
    uint32_t span = follow_span(follow);
    tally_allocated(&tally, at(1), ORDER);
    tally_allocated(&tally, at(2), CART);
    tally_allocated(&tally, at(3), INTERNAL);
    expect_counts(0, (struct follow_spans){span, UINT32_MAX}, 2, 0);
    follow_all(&tally.registry, false);
    tally_allocated(&tally, at(4), ORDER);
    tally_freed(&tally, at(1)); // what was followed is seen to go
    expect_counts(0, (struct follow_spans){span, UINT32_MAX}, 2, 1);
}

static void
two_that_follow_a_class_need_two_to_leave_it(void **state)
{
    (void)state;
    uint32_t index = class_of(ORDER);
    follow_class(&tally.registry, index, true);
    follow_class(&tally.registry, index, true);
    uint32_t span = follow_span(follow);
    follow_class(&tally.registry, index, false);
    tally_allocated(&tally, at(1), ORDER);
    follow_class(&tally.registry, index, false);
    tally_allocated(&tally, at(2), ORDER);
    expect_counts(ORDER, (struct follow_spans){span, UINT32_MAX}, 1, 0);
}

static void
each_event_is_told_once_and_in_order_whatever_becomes_of_the_address(void **state)
{
    (void)state;
    uint32_t index = class_of(ORDER);
    follow_class(&tally.registry, index, true);
    follow_span(follow);
    uint32_t listener = follow_listen(follow, &tally.registry, index);
    for (size_t i = 0; i < MANY; i++) { // the queue grows, addresses come again
        tally_allocated(&tally, at(i % 7), ORDER);
        tally_freed(&tally, at(i % 7));
    }
    enum follow_event event;
    uint32_t record;
    for (size_t i = 0; i < MANY; i++) {
        uint32_t born;
        assert_true(follow_next(follow, &event, &born));
        assert_int_equal(event, FOLLOW_BORN);
        assert_int_equal(follow_listener_of(follow, born), listener);
        assert_true(follow_next(follow, &event, &record));
        assert_int_equal(event, FOLLOW_FREED);
        assert_int_equal(record, born);
        follow_forget(follow, record);
    }
    assert_false(follow_next(follow, &event, &record));
}

static void
each_listener_has_a_record_of_its_own_and_hears_of_frees_after_it_left(void **state)
{
    (void)state;
    uint32_t index = class_of(ORDER);
    follow_class(&tally.registry, index, true);
    follow_span(follow);
    uint32_t first = follow_listen(follow, &tally.registry, index);
    uint32_t second = follow_listen(follow, &tally.registry, index);
    tally_allocated(&tally, at(1), ORDER);
    follow_unlisten(follow, &tally.registry, first);
    tally_allocated(&tally, at(2), ORDER);
    tally_freed(&tally, at(1));
    unsigned heard[3][2] = {0};
    enum follow_event event;
    uint32_t record;
    while (follow_next(follow, &event, &record)) {
        heard[follow_listener_of(follow, record)][event]++;
    }
    assert_int_equal(heard[first][FOLLOW_BORN], 1);
    assert_int_equal(heard[first][FOLLOW_FREED], 1);
    assert_int_equal(heard[second][FOLLOW_BORN], 2);
    assert_int_equal(heard[second][FOLLOW_FREED], 1);
}

static void
what_the_listeners_thread_makes_meanwhile_is_not_followed(void **state)
{
    (void)state;
    follow_class(&tally.registry, class_of(ORDER), true);
    uint32_t span = follow_span(follow);
    follow_mute(follow, true);
    tally_allocated(&tally, at(1), ORDER);
    follow_mute(follow, false);
    tally_allocated(&tally, at(2), ORDER);
    tally_freed(&tally, at(1));
    expect_counts(ORDER, (struct follow_spans){span, UINT32_MAX}, 1, 0);
}

static uintptr_t
up_by_a_page(uintptr_t address)
{
    return address >= HEAP && address < HEAP + 65536 ? address + 1048576 : address;
}

static void
add_address(void *context, uintptr_t address, uint32_t class_index)
{
    uintptr_t *sum = context;
    (void)class_index;
    *sum += address;
}

static void
objects_that_move_stay_what_they_are(void **state)
{
    (void)state;
    uint32_t index = class_of(ORDER);
    follow_class(&tally.registry, index, true);
    uint32_t span = follow_span(follow);
    const struct follow_spans spans = {span, UINT32_MAX};
    tally_allocated(&tally, at(1), ORDER);
    follow_listen(follow, &tally.registry, index);
    tally_allocated(&tally, at(3), ORDER);
    tally_compacted(&tally, up_by_a_page);
    uintptr_t sum = 0;
    follow_each(follow, index, spans, add_address, &sum);
    assert_int_equal(sum, up_by_a_page(at(1)) + up_by_a_page(at(3)));
    tally_freed(&tally, at(1)); // nothing is there any more
    expect_counts(ORDER, spans, 2, 0);
    tally_freed(&tally, up_by_a_page(at(1)));
    tally_freed(&tally, up_by_a_page(at(3)));
    expect_counts(ORDER, spans, 2, 2);
}

static void
a_free_nobody_told_of_is_seen_when_the_slot_is_used_again(void **state)
{
    (void)state;
    follow_class(&tally.registry, class_of(ORDER), true);
    uint32_t span = follow_span(follow);
    tally_allocated(&tally, at(1), ORDER);
    tally_allocated(&tally, at(1), CART);
    expect_counts(ORDER, (struct follow_spans){span, UINT32_MAX}, 1, 1);
}

static void
the_end_takes_every_mark_off(void **state)
{
    (void)state;
    follow_all(&tally.registry, true);
    follow_span(follow);
    tally_allocated(&tally, at(1), ORDER);
    assert_true(follow_bytes(follow) > 0);
    follow_end(follow, &tally.registry);
    assert_int_equal(follow_bytes(follow), 0);
    tally_allocated(&tally, at(2), ORDER);
    tally_allocated(&tally, at(3), CART);
    tally_freed(&tally, at(1));
    assert_false(registry_lookup(&tally.registry, CART)->site->followed);
    assert_int_equal(registry_counts(&tally.registry, class_of(ORDER)).live, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            only_what_is_born_in_a_span_and_of_a_followed_class_counts, start, end),
        cmocka_unit_test_setup_teardown(
            all_classes_are_those_yet_to_come_too_but_nothing_internal, start, end),
        cmocka_unit_test_setup_teardown(two_that_follow_a_class_need_two_to_leave_it,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            each_event_is_told_once_and_in_order_whatever_becomes_of_the_address, start,
            end),
        cmocka_unit_test_setup_teardown(
            each_listener_has_a_record_of_its_own_and_hears_of_frees_after_it_left, start,
            end),
        cmocka_unit_test_setup_teardown(
            what_the_listeners_thread_makes_meanwhile_is_not_followed, start, end),
        cmocka_unit_test_setup_teardown(objects_that_move_stay_what_they_are, start, end),
        cmocka_unit_test_setup_teardown(
            a_free_nobody_told_of_is_seen_when_the_slot_is_used_again, start, end),
        cmocka_unit_test_setup_teardown(the_end_takes_every_mark_off, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
