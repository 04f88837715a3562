// What stacks may cost. Time is the test's (--wrap), so that every stack costs the same.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/core/clock.h"
#include "probe/core/tally.h"
#include "probe/core/trace.h"
#include "tests/probe/core/fixture.h"

#define ADDRESS ((uintptr_t)0x7f3a12340000)
#define SECOND UINT64_C(1000000000)
#define PERCENT 1.0
#define STACK_NS 1000u
#define AFFORDED 10000u // stacks a second, for all classes together
#define CLASSES 8u

static struct tally tally;
static uint64_t now_ns;
static uint64_t stack_ns; // what a stack costs

uint64_t __wrap_clock_monotonic_ns(void);

uint64_t
__wrap_clock_monotonic_ns(void)
{
    return now_ns;
}

static size_t
capture(struct stack_frame *stack, size_t limit)
{
    assert_true(limit >= 1);
    stack[0] = (struct stack_frame){ADDRESS, 1};
    now_ns += stack_ns;
    return 1;
}

static uintptr_t
class_key(size_t number)
{
    return 0x550000000000 + number * 40;
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

static void
trace_it(size_t number, bool on)
{
    trace_class(&tally.trace, &tally.registry, index_of(number), on, 1);
}

static unsigned
shift_of(size_t number)
{
    return entry_of(number)->shift;
}

// The first call only begins an interval.
static int
start(void **state)
{
    (void)state;
    now_ns = SECOND;
    stack_ns = STACK_NS;
    if (!tally_init(&tally, NULL) || !trace_init(&tally.trace, capture, 100, PERCENT)) {
        return -1;
    }
    tally.trace.random = 1;
    for (size_t i = 0; i < CLASSES; i++) {
        trace_it(i, true);
    }
    trace_govern(&tally.trace, &tally.registry, now_ns);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    tally_destroy(&tally);
    return 0;
}

/* Shares: allocations are numbers, no stack is taken. */

static void
allocate_unseen(size_t number, uint64_t count)
{
    count_add(&registry_site(&tally.registry, entry_of(number)->site)->allocated, count);
}

// As server and agent do together.
static void
govern_after(uint64_t ns)
{
    now_ns += ns;
    unsigned before = 0, after = 0;
    for (size_t i = 0; i < CLASSES; i++) {
        before += shift_of(i);
    }
    bool shorter = trace_govern(&tally.trace, &tally.registry, now_ns);
    for (size_t i = 0; i < CLASSES; i++) {
        after += shift_of(i);
        if (shorter) {
            trace_shorten(&tally.trace, &tally.registry, index_of(i));
        }
    }
    assert_true(shorter || after >= before);
}

static void
a_second_of(const uint64_t *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        allocate_unseen(i, wanted[i]);
    }
    govern_after(SECOND);
}

static void
classes_that_fit_the_budget_are_exact(void **state)
{
    static const uint64_t wanted[] = {7000, 2000, 900, 100};
    (void)state;
    for (size_t round = 0; round < 10; round++) {
        a_second_of(wanted, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(shift_of(i), 0);
        }
    }
}

static void
rare_classes_stay_exact_and_the_others_share_what_is_left(void **state)
{
    static const uint64_t wanted[] = {100, 1000, 100000, 400000};
    (void)state;
    a_second_of(wanted, 4);
    assert_int_equal(shift_of(0), 0);
    assert_int_equal(shift_of(1), 0);
    assert_int_equal(shift_of(2), 5); // 3125 of 4450
    assert_int_equal(shift_of(3), 7); // 3125 of 4450
    assert_int_equal(shift_of(4), 0); // allocated nothing
}

// Water filling by its definition: from the rarest on, who wants less than an equal
// part of what is left has it all.
static double
cap_of(const uint64_t *wanted, size_t count, double afforded)
{
    bool served[CLASSES] = {false};
    for (size_t left = count; left > 0; left--) {
        size_t rarest = count;
        for (size_t i = 0; i < count; i++) {
            bool rarer = rarest == count || wanted[i] < wanted[rarest];
            rarest = !served[i] && rarer ? i : rarest;
        }
        if ((double)wanted[rarest] > afforded / (double)left) {
            return afforded / (double)left;
        }
        afforded -= (double)wanted[rarest];
        served[rarest] = true;
    }
    return INFINITY;
}

static void
shares_are_those_of_water_in_vessels(void **state)
{
    for (size_t round = 0; round < 300; round++) {
        uint64_t wanted[CLASSES];
        for (size_t i = 0; i < CLASSES; i++) {
            wanted[i] = random_below(UINT64_C(1) << random_below(24));
        }
        end(state);
        assert_int_equal(start(state), 0);
        a_second_of(wanted, CLASSES);
        double cap = cap_of(wanted, CLASSES, AFFORDED);
        double stacks = 0;
        for (size_t i = 0; i < CLASSES; i++) {
            double taken = ldexp((double)wanted[i], -(int)shift_of(i));
            assert_true(taken <= cap);
            assert_true(shift_of(i) == 0 || taken * 2 > cap * 0.999);
            stacks += taken;
        }
        assert_true(stacks <= AFFORDED);
    }
}

static void
no_class_is_given_up_however_many_there_are(void **state)
{
    (void)state;
    tally.trace.stack_ns = SECOND; // one stack is more than all that is there
    static const uint64_t wanted[] = {1, 1000, 100000000};
    a_second_of(wanted, 3);
    assert_int_equal(shift_of(0), 0);
    assert_int_equal(shift_of(1), 10);
    assert_int_equal(shift_of(2), TRACE_SHIFT_MAX);
}

static void
nothing_is_decided_within_half_a_second(void **state)
{
    (void)state;
    allocate_unseen(0, 1000000);
    govern_after(SECOND / 2 - 1);
    assert_int_equal(shift_of(0), 0);
    govern_after(1); // of 1000000 in half a second half as many can be had
    assert_int_equal(shift_of(0), 8);
    govern_after(SECOND / 2 - 1);
    assert_int_equal(shift_of(0), 8);
    govern_after(1);
    assert_int_equal(shift_of(0), 0);
}

static void
a_class_that_calms_down_is_exact_again(void **state)
{
    static const uint64_t busy = 1000000;
    static const uint64_t calmer = 100000;
    static const uint64_t calm = 100;
    (void)state;
    a_second_of(&busy, 1);
    assert_int_equal(shift_of(0), 7);
    a_second_of(&calmer, 1);
    assert_int_equal(shift_of(0), 5); // fits half the budget
    a_second_of(&calm, 1);
    assert_int_equal(shift_of(0), 0);
}

static void
a_class_at_the_edge_does_not_go_to_and_fro(void **state)
{
    static const uint64_t rates[] = {21000, 19000, 21000, 12000, 19900};
    static const uint64_t calm = 9900;
    (void)state;
    a_second_of(&rates[0], 1);
    assert_int_equal(shift_of(0), 2);
    for (size_t i = 0; i < 5; i++) { // a gap of 2 would do for some
        a_second_of(&rates[i], 1);
        assert_int_equal(shift_of(0), 2);
    }
    a_second_of(&calm, 1);
    assert_int_equal(shift_of(0), 1);
}

static void
what_was_allocated_before_tracing_is_not_wanted(void **state)
{
    (void)state;
    trace_it(0, false);
    allocate_unseen(0, 1000000);
    allocate_unseen(1, 9000);
    govern_after(SECOND);
    assert_int_equal(shift_of(0), 0);
    assert_int_equal(shift_of(1), 0); // nor does it take from others
    allocate_unseen(0, 1000000);
    trace_it(0, true);
    allocate_unseen(0, 9000);
    govern_after(SECOND);
    assert_int_equal(shift_of(0), 0);
}

/* Costs: objects and stacks as they come. */

static void
allocate(size_t number, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        tally_allocated(&tally, ADDRESS, class_key(number));
        tally_freed(&tally, ADDRESS);
    }
}

static void
below_the_budget_every_stack_is_taken(void **state)
{
    (void)state;
    for (size_t round = 0; round < 20; round++) {
        uint64_t began_ns = now_ns;
        allocate(0, 9000);
        allocate(1, 900);
        govern_after(began_ns + SECOND - now_ns);
    }
    assert_int_equal(tally.trace.stacks, 20 * 9900);
    for (size_t i = 0; i < 2; i++) {
        site_id site = entry_of(i)->site;
        assert_int_equal(registry_site(&tally.registry, site + SITE_UNSAMPLED)->allocated,
                         0);
    }
}

// Between two calls of trace_govern() nobody knows yet how many there are.
static void
a_burst_costs_no_more_than_its_credit(void **state)
{
    (void)state;
    uint64_t began_ns = now_ns;
    int64_t credit_ns = tally.trace.credit_ns;
    assert_true(credit_ns == (int64_t)(2 * SECOND * PERCENT / 100));
    allocate(0, 2000000);
    uint64_t spent_ns = now_ns - began_ns;
    assert_true(spent_ns >= (uint64_t)credit_ns);
    assert_true(spent_ns <= (uint64_t)credit_ns + 40 * STACK_NS);
    assert_int_equal(tally.trace.stacks * STACK_NS, spent_ns);
    assert_true(shift_of(0) > 10);
    assert_int_equal(shift_of(1), 0); // who asks for nothing is not braked
}

static void
a_burst_of_many_classes_costs_no_more(void **state)
{
    (void)state;
    uint64_t began_ns = now_ns;
    uint64_t credit_ns = (uint64_t)tally.trace.credit_ns;
    for (size_t round = 0; round < 200000; round++) {
        allocate(round % CLASSES, 1);
    }
    assert_true(now_ns - began_ns <= credit_ns + CLASSES * 40 * STACK_NS);
}

static void
a_brake_stops_at_the_largest_gap(void **state)
{
    (void)state;
    tally.trace.credit_ns = 0;
    struct site *unsampled =
        registry_site(&tally.registry, entry_of(0)->site + SITE_UNSAMPLED);
    for (size_t i = 0; i < 100; i++) {
        unsampled->sample_at = 0; // whatever the gap, now
        allocate(0, 1);
    }
    assert_int_equal(shift_of(0), TRACE_SHIFT_MAX);
}

static void
an_interval_brings_new_credit_and_keeps_no_debt(void **state)
{
    (void)state;
    allocate(0, 100000);
    assert_true(tally.trace.credit_ns <= 0);
    govern_after(2 * SECOND);
    int64_t credit_ns = tally.trace.credit_ns;
    assert_true(credit_ns >= (int64_t)(4 * SECOND * PERCENT / 100));
    assert_true(credit_ns < (int64_t)(4.1 * (double)SECOND * PERCENT / 100));
    govern_after(2 * SECOND);
    assert_true(tally.trace.credit_ns <= credit_ns); // nor is any saved up
}

// The gap that a burst left behind is not waited for.
static void
after_a_burst_stacks_are_taken_as_the_rate_allows(void **state)
{
    (void)state;
    allocate(0, 2000000);
    assert_true(shift_of(0) > 7);
    govern_after(SECOND);
    assert_in_range(shift_of(0), 8, 9); // two million a second would need as much
    govern_after(SECOND);
    assert_int_equal(shift_of(0), 0);
    uint64_t stacks = tally.trace.stacks;
    allocate(0, 1000);
    assert_int_equal(tally.trace.stacks, stacks + 1000);
}

static void
a_gap_that_became_longer_is_not_drawn_anew(void **state)
{
    (void)state;
    const struct site *unsampled =
        registry_site(&tally.registry, entry_of(0)->site + SITE_UNSAMPLED);
    for (size_t i = 0; i < 50; i++) {
        entry_of(0)->shift = 10;
        allocate(0, 1);
        uint64_t sample_at = unsampled->sample_at;
        entry_of(0)->shift = (uint8_t)(10 + i % 2);
        trace_shorten(&tally.trace, &tally.registry, index_of(0));
        assert_int_equal(unsampled->sample_at, sample_at);
    }
    entry_of(0)->shift = 0;
    trace_it(0, false);
    trace_shorten(&tally.trace, &tally.registry, index_of(0));
    assert_true(unsampled->sample_at == SITE_NEVER);
}

// Seconds of a program that allocates `rate` objects; returns the share of a core
// that stacks took in the last `counted` of them.
static double
percent_spent(size_t seconds, size_t counted, uint64_t rate)
{
    uint64_t spent_ns = 0;
    for (size_t i = 0; i < seconds; i++) {
        uint64_t began_ns = now_ns;
        allocate(0, rate);
        uint64_t stacks_ns = now_ns - began_ns;
        spent_ns += i >= seconds - counted ? stacks_ns : 0;
        govern_after(stacks_ns < SECOND ? SECOND - stacks_ns : 0);
    }
    return 100.0 * (double)spent_ns / (double)(counted * SECOND);
}

static void
a_steady_program_pays_what_the_budget_says(void **state)
{
    (void)state;
    double percent = percent_spent(30, 10, 100000);
    assert_true(percent > PERCENT / 4 && percent < PERCENT * 1.1);
}

// A deep stack costs more than a flat one.
static void
stacks_that_cost_more_are_taken_less_often(void **state)
{
    (void)state;
    percent_spent(20, 1, 50000);
    unsigned before = shift_of(0);
    stack_ns = 8 * STACK_NS;
    double percent = percent_spent(20, 6, 50000);
    assert_int_equal(shift_of(0), before + 3);
    assert_true(percent > PERCENT / 4 && percent < PERCENT * 1.1);
    assert_true(fabs((double)tally.trace.stack_ns / (8 * STACK_NS) - 1) < 0.05);
}

static void
a_stack_that_was_interrupted_says_nothing_of_the_others(void **state)
{
    (void)state;
    allocate(0, 100);
    uint64_t known_ns = tally.trace.stack_ns;
    stack_ns = SECOND / 10;
    allocate(0, 100);
    assert_int_equal(tally.trace.stack_ns, known_ns);
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_a_burst_stacks_are_taken_as_the_rate_allows,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_gap_that_became_longer_is_not_drawn_anew, start,
                                        end),
        cmocka_unit_test_setup_teardown(classes_that_fit_the_budget_are_exact, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            rare_classes_stay_exact_and_the_others_share_what_is_left, start, end),
        cmocka_unit_test_setup_teardown(shares_are_those_of_water_in_vessels, start, end),
        cmocka_unit_test_setup_teardown(no_class_is_given_up_however_many_there_are,
                                        start, end),
        cmocka_unit_test_setup_teardown(nothing_is_decided_within_half_a_second, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_class_that_calms_down_is_exact_again, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_class_at_the_edge_does_not_go_to_and_fro, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_was_allocated_before_tracing_is_not_wanted,
                                        start, end),
        cmocka_unit_test_setup_teardown(below_the_budget_every_stack_is_taken, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_burst_costs_no_more_than_its_credit, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_burst_of_many_classes_costs_no_more, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_brake_stops_at_the_largest_gap, start, end),
        cmocka_unit_test_setup_teardown(an_interval_brings_new_credit_and_keeps_no_debt,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_steady_program_pays_what_the_budget_says, start,
                                        end),
        cmocka_unit_test_setup_teardown(stacks_that_cost_more_are_taken_less_often, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_stack_that_was_interrupted_says_nothing_of_the_others, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
