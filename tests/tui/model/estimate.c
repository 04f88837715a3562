#include "tui/model/estimate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define RUNS 4000

// xorshift64*; fixed seeds, so that every run is the same.
static double
chance(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

static void
is_exact_when_nothing_went_without_a_stack(void **state)
{
    struct estimate estimate = {0};
    (void)state;
    estimate_add(&estimate, 10, 0);
    estimate_add(&estimate, 5, 6);
    assert_true(estimate_scale(&estimate, 0) == 1);
    assert_true(estimate_scale(&estimate, 6) == 1);
    assert_true(estimate_error(&estimate, 5 * estimate_weight(6)) == 0);
}

static void
leaves_what_was_taken_exactly_as_it_is(void **state)
{
    struct estimate estimate = {.unsampled = 90};
    (void)state;
    estimate_add(&estimate, 1000, 0);
    estimate_add(&estimate, 10, 4);
    assert_true(estimate_scale(&estimate, 0) == 1);
    assert_true(fabs(estimate_scale(&estimate, 4) - 10) < 1e-9); // 100 objects, 10 known
}

static void
gives_every_object_to_some_path(void **state)
{
    struct estimate estimate = {.unsampled = 12345};
    (void)state;
    const uint32_t shifts[] = {0, 1, 3, 7, 20};
    double known = 0, sum = 0;
    for (size_t i = 0; i < 5; i++) {
        estimate_add(&estimate, (double)i + 3, shifts[i]);
        known += (double)i + 3;
    }
    for (size_t i = 0; i < 5; i++) {
        sum += ((double)i + 3) * estimate_scale(&estimate, shifts[i]);
    }
    assert_true(fabs(sum - known - 12345) < 1e-6);
}

static void
knows_nothing_without_samples(void **state)
{
    const struct estimate estimate = {.unsampled = 70};
    (void)state;
    assert_true(estimate_scale(&estimate, 5) == 1);
    assert_true(estimate_error(&estimate, 0) == 70);
}

static void
narrows_with_more_samples_and_is_never_wider_than_what_is_unknown(void **state)
{
    (void)state;
    double before = 1e9;
    for (unsigned samples = 1; samples < 1000; samples *= 4) {
        struct estimate estimate = {.unsampled = 1000 - samples};
        estimate_add(&estimate, samples, 3);
        double error = estimate_error(&estimate, estimate.weight / 2);
        assert_true(error < before && error <= 1000 - samples);
        before = error;
    }
}

static void
survives_any_number(void **state)
{
    struct estimate estimate = {.unsampled = 1.8e19};
    (void)state;
    estimate_add(&estimate, 1.8e19, UINT32_MAX);
    estimate_add(&estimate, 1, 1);
    assert_true(isfinite(estimate_scale(&estimate, UINT32_MAX)));
    assert_true(isfinite(estimate_error(&estimate, 1)));
}

// Objects of a path and of others are taken each with its chance, the first half of
// them with one shift and the rest with another. Returns the part of all runs in
// which the interval held the truth; `bias` is the mean error in objects.
static double
coverage(unsigned of_path, unsigned of_others, uint32_t early, uint32_t late,
         double *bias)
{
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15) + of_path * 31u + of_others + late;
    unsigned held = 0;
    *bias = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct estimate estimate = {0};
        double known[2] = {0, 0}; // of the path, by shift
        for (unsigned i = 0; i < of_path + of_others; i++) {
            bool first = chance(&random) < 0.5;
            uint32_t shift = first ? early : late;
            if (chance(&random) >= ldexp(1, -(int)shift)) {
                estimate.unsampled++;
                continue;
            }
            estimate_add(&estimate, 1, shift);
            known[first] += i < of_path;
        }
        double found = known[1] * estimate_scale(&estimate, early) +
                       known[0] * estimate_scale(&estimate, late);
        double error = estimate_error(&estimate, known[1] * estimate_weight(early) +
                                                     known[0] * estimate_weight(late));
        held += fabs(found - of_path) <= error + 1e-9;
        *bias += (found - of_path) / RUNS;
    }
    return (double)held / RUNS;
}

static void
holds_the_truth_about_95_times_in_100(void **state)
{
    static const struct {
        unsigned path, others;
        uint32_t early, late;
    } cases[] = {
        {1000, 1000, 3, 3},
        {500,  1500, 4, 4},
        {100,  1900, 3, 3},
        {20,   1980, 2, 2},
        {300,  300,  1, 1},
        {600,  1400, 2, 5},
        {600,  1400, 0, 4},
        {1900, 100,  4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double bias;
        double held = coverage(cases[i].path, cases[i].others, cases[i].early,
                               cases[i].late, &bias);
        printf("%4u of %4u, 1/%u and 1/%u: held in %.1f %%, bias %+.2f objects\n",
               cases[i].path, cases[i].path + cases[i].others, 1u << cases[i].early,
               1u << cases[i].late, 100 * held, bias);
        assert_true(held >= 0.935);
        assert_true(fabs(bias) < 0.02 * (cases[i].path + cases[i].others));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact_when_nothing_went_without_a_stack),
        cmocka_unit_test(leaves_what_was_taken_exactly_as_it_is),
        cmocka_unit_test(gives_every_object_to_some_path),
        cmocka_unit_test(knows_nothing_without_samples),
        cmocka_unit_test(
            narrows_with_more_samples_and_is_never_wider_than_what_is_unknown),
        cmocka_unit_test(survives_any_number),
        cmocka_unit_test(holds_the_truth_about_95_times_in_100),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
