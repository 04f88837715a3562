/*
 * Which allocations' stacks are taken, judged by what a person makes of them: the
 * gaps have the distribution they should, estimates are true on average, and the
 * interval that is stated holds the truth as often as it says. A sampler that takes
 * every n-th is judged the same way and fails, so the judge can be believed.
 */
#include "probe/core/trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/tally.h"

#define ADDRESS ((uintptr_t)0x7f3a12340000)
#define CLASSES ((uintptr_t)0x550000000000)
#define CODE ((uintptr_t)0x560000000000)
#define PLACES 10u
#define SHIFT 3u
#define RUNS 2000u
#define ALLOCATIONS 3300u // a multiple of every loop's length

static struct tally tally;
static size_t place; // in the program, that allocates now
static size_t next_class;

static size_t
capture(struct stack_frame *stack, size_t limit)
{
    assert_true(limit >= 2);
    stack[0] = (struct stack_frame){CODE + 40 * (place + 1), 1};
    stack[1] = (struct stack_frame){CODE, (uint32_t)place};
    return 2;
}

static int
start(void **state)
{
    (void)state;
    next_class = 1;
    if (!tally_init(&tally, NULL) || !trace_init(&tally.trace, capture, 100, 100)) {
        return -1;
    }
    tally.trace.credit_ns = INT64_MAX; // what stacks cost is no matter here
    return 0;
}

static int
end(void **state)
{
    (void)state;
    tally_destroy(&tally);
    return 0;
}

static uint64_t
seed_of(size_t number)
{
    return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Gaps. */

#define DRAWS 50000u

// How much the gaps drawn differ from geometric ones, in standard deviations of the
// chi-square distribution. `gap` NULL: trace_gap().
static double
misfit(unsigned shift, uint64_t seed, uint64_t (*gap)(uint64_t *random, unsigned shift))
{
    double chance = ldexp(1, -(int)shift);
    unsigned bins = 8u << shift; // the last is for all that is longer
    unsigned seen[8u << 6] = {0};
    for (unsigned i = 0; i < DRAWS; i++) {
        uint64_t drawn = gap ? gap(&seed, shift) : trace_gap(&seed, shift);
        assert_true(drawn >= 1);
        seen[drawn < bins ? drawn - 1 : bins - 1]++;
    }
    double sum = 0;
    double longer = 1; // the chance of that
    unsigned used = 0;
    for (unsigned i = 0; i < bins; i++) {
        double expected = DRAWS * longer * (i + 1 < bins ? chance : 1);
        if (expected >= 5) {
            sum += (seen[i] - expected) * (seen[i] - expected) / expected;
            used++;
        }
        longer *= 1 - chance;
    }
    return (sum - (used - 1)) / sqrt(2.0 * (used - 1));
}

// As long on average, and as easily drawn.
static uint64_t
uniform_gap(uint64_t *random, unsigned shift)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return 1 + (*random >> 33) % ((UINT64_C(2) << shift) - 1);
}

static void
gaps_are_geometric(void **state)
{
    (void)state;
    for (unsigned shift = 1; shift <= 6; shift++) {
        double sum = 0;
        for (size_t i = 0; i < 16; i++) {
            double differs = misfit(shift, seed_of(i), NULL);
            assert_true(fabs(differs) < 4);
            sum += differs;
        }
        assert_true(fabs(sum) / sqrt(16) < 4);
    }
}

static void
uniform_gaps_would_be_noticed(void **state)
{
    (void)state;
    for (unsigned shift = 2; shift <= 6; shift++) {
        assert_true(misfit(shift, seed_of(shift), uniform_gap) > 100);
    }
}

static void
gaps_of_any_length_have_their_mean_and_variance(void **state)
{
    (void)state;
    for (unsigned shift = 1; shift <= TRACE_SHIFT_MAX; shift++) {
        uint64_t random = seed_of(shift);
        double chance = ldexp(1, -(int)shift);
        double mean = 1 / chance;
        double deviation = sqrt(1 - chance) / chance;
        double sum = 0, squares = 0, neighbours = 0, before = mean;
        for (unsigned i = 0; i < DRAWS; i++) {
            double gap = (double)trace_gap(&random, shift);
            sum += gap - mean;
            squares += (gap - mean) * (gap - mean);
            neighbours += (gap - mean) * (before - mean);
            before = gap;
        }
        double error = 1 / sqrt(DRAWS);
        double variance = deviation * deviation;
        assert_true(fabs(sum / DRAWS / deviation) < 4 * error);
        assert_true(fabs(squares / DRAWS / variance - 1) < 4 * sqrt(8) * error);
        assert_true(fabs(neighbours / DRAWS / variance) < 4 * error);
    }
}

static void
without_a_shift_every_gap_is_one(void **state)
{
    (void)state;
    uint64_t random = seed_of(1);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(trace_gap(&random, 0), 1);
    }
}

/* Loops of a program. */

struct loop {
    size_t length;
    uint8_t places[PLACES * (PLACES + 1) / 2]; // that allocate, one after the other
    bool classes;                              // a class for each place, not one for all
};

static struct loop
in_turn(bool classes)
{
    struct loop loop = {.length = PLACES, .classes = classes};
    for (uint8_t i = 0; i < PLACES; i++) {
        loop.places[i] = i;
    }
    return loop;
}

// The first place allocates once, the second twice in a row, and so on.
static struct loop
in_bursts(bool classes)
{
    struct loop loop = {.classes = classes};
    for (uint8_t i = 0; i < PLACES; i++) {
        for (uint8_t times = 0; times <= i; times++) {
            loop.places[loop.length++] = i;
        }
    }
    return loop;
}

struct sampler {
    unsigned shift;
    unsigned stride; // 0: random gaps, else every so many-th of all allocations
};

static const struct sampler GAPS = {SHIFT, 0};
static const struct sampler STRIDE = {SHIFT, 1u << SHIFT};

struct outcome {
    double allocated[PLACES];
    double stacks[PLACES]; // taken at each place
    double taken;
    double unsampled;
};

static struct site *
unsampled_site(uintptr_t key)
{
    uint32_t index = registry_lookup(&tally.registry, key)->site->class_index;
    return registry_site(&tally.registry, index * SITES_A_CLASS + SITE_UNSAMPLED);
}

static void
trace_key(uintptr_t key, unsigned shift)
{
    uint32_t index = registry_lookup(&tally.registry, key)->site->class_index;
    registry_class(&tally.registry, index)->shift = (uint8_t)shift;
    trace_class(&tally.trace, &tally.registry, index, true, 1);
}

static void
allocate(uintptr_t key)
{
    tally_allocated(&tally, ADDRESS, key);
    tally_freed(&tally, ADDRESS);
}

static void
read_class(uintptr_t key, struct outcome *outcome)
{
    const struct site *site = unsampled_site(key);
    outcome->unsampled += (double)site->allocated;
    for (site_id id = registry_class(&tally.registry, site->class_index)->paths; id;) {
        const struct site *path = registry_site(&tally.registry, id);
        uint32_t caller = calltree_node(&tally.trace.tree, path->node)->parent;
        outcome->stacks[calltree_node(&tally.trace.tree, caller)->line] +=
            (double)path->allocated;
        outcome->taken += (double)path->allocated;
        id = path->next;
    }
}

// Run the loop for a while with classes nobody has seen before.
static struct outcome
run(const struct loop *loop, struct sampler sampler, uint64_t seed)
{
    uintptr_t keys[PLACES];
    struct site *sites[PLACES];
    tally.trace.random = seed;
    for (size_t i = 0; i < PLACES; i++) {
        next_class += i == 0 || loop->classes;
        keys[i] = CLASSES + next_class * 40;
        trace_key(keys[i], sampler.shift);
        sites[i] = unsampled_site(keys[i]);
    }
    struct outcome outcome = {0};
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        place = loop->places[i % loop->length];
        outcome.allocated[place]++;
        if (sampler.stride) {
            bool turn = (i + seed) % sampler.stride == 0;
            sites[place]->sample_at = turn ? 0 : SITE_NEVER;
        }
        allocate(keys[place]);
    }
    for (size_t i = 0; i < (loop->classes ? PLACES : 1); i++) {
        read_class(keys[i], &outcome);
    }
    assert_true(outcome.taken + outcome.unsampled == ALLOCATIONS);
    return outcome;
}

/* Judges. */

// The largest error of the mean of `runs` estimates, in standard errors of a sampler
// that takes each allocation with the same chance; `first` is the first seed's number.
static double
bias(const struct loop *loop, struct sampler sampler, unsigned runs, size_t first)
{
    double sums[PLACES] = {0};
    double truth[PLACES] = {0};
    double weight = 1u << sampler.shift;
    double worst = 0;
    for (unsigned i = 0; i < runs; i++) {
        uint64_t seed = sampler.stride ? first : seed_of(first + i);
        struct outcome outcome = run(loop, sampler, seed);
        for (size_t at = 0; at < PLACES; at++) {
            sums[at] += outcome.stacks[at] * weight;
            truth[at] = outcome.allocated[at]; // in each run
        }
    }
    for (size_t at = 0; at < PLACES; at++) {
        double error = sqrt(truth[at] * (weight - 1) / runs);
        worst = fmax(worst, fabs(sums[at] / runs - truth[at]) / error);
    }
    return worst;
}

static void
estimates_are_true_on_average(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct loop loop = i % 2 ? in_bursts(i / 2) : in_turn(i / 2);
        double found = bias(&loop, GAPS, 200, 1000 * (size_t)i);
        printf("loop %d: off by %.1f standard errors\n", i, found);
        assert_true(found < 4);
    }
}

static void
estimates_of_a_stride_are_not(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct loop loop = in_turn(i);
        assert_true(bias(&loop, STRIDE, 200, 0) > 50);
    }
}

static void
a_stride_of_100_takes_one_of_ten_classes_alone(void **state)
{
    (void)state;
    struct loop loop = in_turn(true);
    struct outcome outcome = run(&loop, (struct sampler){SHIFT, 100}, 0);
    assert_true(outcome.stacks[0] == outcome.taken && outcome.taken * 100 == ALLOCATIONS);
}

// Half-width of the interval that a viewer states for a place of a class: Wilson's,
// for a finite number of objects.
static double
stated_error(const struct outcome *outcome, size_t at)
{
    double z = 1.959963984540054;
    double all = outcome->taken + outcome->unsampled;
    double size = outcome->taken * (all - 1) / outcome->unsampled;
    double share = outcome->stacks[at] / outcome->taken;
    double shrink = 1 + z * z / size;
    double centre = (share + z * z / (2 * size)) / shrink;
    double half =
        z / shrink * sqrt(share * (1 - share) / size + z * z / (4 * size * size));
    return all * (half + fabs(centre - share));
}

// The part of all intervals that hold the truth, over many runs of a class's loop.
static double
coverage(const struct loop *loop, struct sampler sampler, size_t first)
{
    unsigned held = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        struct outcome outcome = run(loop, sampler, seed_of(first + i));
        for (size_t at = 0; at < PLACES; at++) {
            double found = outcome.stacks[at] / outcome.taken * ALLOCATIONS;
            held += fabs(found - outcome.allocated[at]) <= stated_error(&outcome, at);
        }
    }
    return (double)held / (RUNS * PLACES);
}

static void
intervals_hold_the_truth_about_95_times_in_100(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct loop loop = i ? in_bursts(false) : in_turn(false);
        double held = coverage(&loop, GAPS, 10000 * (size_t)i);
        printf("loop %d: held in %.1f %%\n", i, 100 * held);
        assert_true(held >= 0.93 && held <= 0.975);
    }
}

static void
intervals_of_a_stride_do_not(void **state)
{
    (void)state;
    struct loop loop = in_turn(false);
    double held = coverage(&loop, STRIDE, 0);
    printf("stride: held in %.1f %%\n", 100 * held);
    assert_true(held < 0.5);
}

/* Gaps that change. */

// What a class's stacks stand for, by the weights that their sites have.
static double
weighed(uintptr_t key)
{
    double sum = 0;
    uint32_t index = unsampled_site(key)->class_index;
    for (site_id id = registry_class(&tally.registry, index)->paths; id;) {
        const struct site *path = registry_site(&tally.registry, id);
        sum += ldexp((double)path->allocated, path->shift);
        id = path->next;
    }
    return sum;
}

// Run classes whose gap changes all the time; `shortens`: a gap that became shorter is
// drawn anew at once. Returns how far estimates are off, in standard errors.
static double
bias_while_gaps_change(bool shortens)
{
    static const uint8_t shifts[] = {0, 5, 2, 7, 7, 1, 4, 0, 3, 6};
    double sum = 0, squares = 0;
    const unsigned runs = 1000;
    for (unsigned i = 0; i < runs; i++) {
        uintptr_t key = CLASSES + ++next_class * 40;
        tally.trace.random = seed_of(i);
        trace_key(key, 0);
        uint32_t index = unsampled_site(key)->class_index;
        for (size_t at = 0; at < ALLOCATIONS; at++) {
            registry_class(&tally.registry, index)->shift = shifts[at / 15 % 10];
            if (shortens) {
                trace_shorten(&tally.trace, &tally.registry, index);
            }
            place = at % PLACES;
            allocate(key);
        }
        double off = weighed(key) - ALLOCATIONS;
        sum += off;
        squares += off * off;
    }
    double deviation = sqrt(squares / runs);
    assert_true(deviation > 10 && deviation < 0.3 * ALLOCATIONS);
    return fabs(sum / sqrt(runs) / deviation);
}

static void
weights_stay_true_while_the_gap_changes(void **state)
{
    (void)state;
    for (int shortens = 0; shortens < 2; shortens++) {
        double found = bias_while_gaps_change(shortens);
        printf("gaps %s: off by %.1f standard errors\n",
               shortens ? "drawn anew" : "ended first", found);
        assert_true(found < 4);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gaps_are_geometric, start, end),
        cmocka_unit_test_setup_teardown(uniform_gaps_would_be_noticed, start, end),
        cmocka_unit_test_setup_teardown(gaps_of_any_length_have_their_mean_and_variance,
                                        start, end),
        cmocka_unit_test_setup_teardown(without_a_shift_every_gap_is_one, start, end),
        cmocka_unit_test_setup_teardown(estimates_are_true_on_average, start, end),
        cmocka_unit_test_setup_teardown(estimates_of_a_stride_are_not, start, end),
        cmocka_unit_test_setup_teardown(a_stride_of_100_takes_one_of_ten_classes_alone,
                                        start, end),
        cmocka_unit_test_setup_teardown(intervals_hold_the_truth_about_95_times_in_100,
                                        start, end),
        cmocka_unit_test_setup_teardown(intervals_of_a_stride_do_not, start, end),
        cmocka_unit_test_setup_teardown(weights_stay_true_while_the_gap_changes, start,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
