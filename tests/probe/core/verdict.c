/*
 * Verdicts on programs made of numbers: what a class keeps over time is a shape, on
 * top of it are garbage that nobody swept yet, old garbage that waits for a full
 * collection, and noise. Each shape runs with many seeds, and prints how many of them
 * were accused and when.
 *
 * With MEMTOP_RUNS=1000 (found: half of them, and nine of ten, after so many seconds):
 *   leak of 40/s or 2000/s from the start           100 %   110 s   140 s
 *   leak of 1/s, a collection every 20 s            100 %   265 s   375 s
 *   leak of 40/s among 400 000 noisy                 99 %  1440 s  2400 s
 *   leak of 40/s on old garbage of 100/s            100 %   260 s   440 s
 *   leak in stairs, one a minute                    100 %   680 s   680 s
 *   leak of 40/s after half an hour of nothing      100 %  1880 s  1880 s
 *   leak of 10/s of a class that comes late         100 %   110 s   125 s
 *   bytes, evenly; bytes, doubling (no viewer)      100 %   520 s   720 s
 *   steady, churn, old garbage, bursts, steps, batches
 *     of 90 s, caches with random keys, 1 an hour     0 %
 *   warm-up that slows down, 2, 5, 10 min       0.9, 0.6, 11 %
 *   even warm-up of 2 min                            43 %, until 5 min at most
 * What fills evenly for longer, from the first moment, cannot be told from a leak; it
 * is acquitted soon after it stopped: these have bounds for when that is.
 */
#include "probe/core/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define MINUTE 60.0
#define NEVER 1e9

// A program, a class in it, and who looks. Drawn anew for each seed, then fixed.
struct scene {
    double (*kept)(const struct scene *scene, double at_s);   // objects
    double (*weight)(const struct scene *scene, double at_s); // bytes; NULL: 100 each
    double minutes;                                           // how long it is watched
    double base;         // objects that are always there
    double rate;         // of the shape, a second
    double period_s;     // of the shape, likewise its length
    double unswept;      // at most so much garbage nobody swept yet
    double old_rate;     // garbage a second that only full collections free
    double noise;        // of the objects kept, relative
    double collection_s; // between two collections; 0: none, ever
    unsigned full_every; // so many collections
    double census_s;     // between two censuses
    double look_s;       // between two verdicts
    double begins_s;     // of the class
    double clears_at_s;  // judged from then on: see struct outcome
};

struct outcome {
    double accused_s;  // the first time, NEVER for not
    double late_s;     // the last time it was
    bool accused_late; // after clears_at_s
    struct judgement last;
};

/* Chance. */

static double
chance(void)
{
    return (double)random_below(1u << 30) / (1u << 30);
}

static double
between(double least, double most)
{
    return least + (most - least) * chance();
}

// Roughly normal, deviation 1.
static double
normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += chance();
    }
    return sum - 6;
}

/* Running a scene. */

struct run {
    const struct scene *scene;
    double next_collection_s;
    double next_census_s;
    double swept_s; // when old garbage was last freed
    bool sweeps;    // a full collection ran: its garbage goes with the next one
    double last_full_s;
    uint64_t allocated;
    struct trend_moment moment;
    struct trend_state state;
};

static double
kept_at(const struct scene *scene, double at_s)
{
    return at_s < scene->begins_s ? 0 : scene->base + scene->kept(scene, at_s);
}

// Objects that are there now and were there `collections` ago.
static double
survived(const struct run *run, double at_s, double collections)
{
    const struct scene *scene = run->scene;
    double then_s = at_s - collections * scene->collection_s;
    double then = then_s < 0 ? scene->base : kept_at(scene, then_s);
    return fmin(then, kept_at(scene, at_s));
}

static void
take_census(struct run *run, double at_s)
{
    static const double ages[AGE_BUCKETS] = {0, 2, 8, 32};
    const struct scene *scene = run->scene;
    double live = (double)run->state.live;
    run->state.bytes =
        (uint64_t)(scene->weight ? scene->weight(scene, at_s) : live * 100);
    double older = live;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        double next = i + 1 < AGE_BUCKETS ? survived(run, at_s, ages[i + 1]) : 0;
        run->state.ages[i] = (uint64_t)fmax(older - next, 0);
        older = next;
    }
}

static void
collect(struct run *run, double at_s)
{
    const struct scene *scene = run->scene;
    run->next_collection_s = at_s + scene->collection_s * between(0.6, 1.4);
    run->moment.collections++;
    if (run->sweeps) {
        run->swept_s = run->last_full_s;
        run->sweeps = false;
    }
    if (run->moment.collections % scene->full_every == 0) {
        run->moment.majors++;
        run->sweeps = true;
        run->last_full_s = at_s;
    }
}

static void
advance(struct run *run, double at_s)
{
    const struct scene *scene = run->scene;
    while (scene->collection_s > 0 && run->next_collection_s <= at_s) {
        collect(run, run->next_collection_s);
    }
    double kept = kept_at(scene, at_s);
    double live = kept * (1 + scene->noise * normal()) + chance() * scene->unswept +
                  (at_s - run->swept_s) * scene->old_rate;
    run->state.live = (uint64_t)fmax(live, 0);
    run->state.allocated += (uint64_t)(scene->unswept * scene->look_s);
    run->moment.at_us = (uint64_t)(at_s * 1e6) + 1;
    run->state.bytes = COUNT_UNKNOWN;
    if (at_s >= run->next_census_s) {
        run->next_census_s = at_s + scene->census_s;
        take_census(run, at_s);
    }
}

static struct outcome
play(const struct scene *scene)
{
    struct run run = {.scene = scene,
                      .next_collection_s = scene->collection_s * chance(),
                      .next_census_s = between(0, scene->census_s)};
    struct outcome outcome = {.accused_s = NEVER};
    struct trend trend = {.count = 0};
    struct trend_window window = {0};
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        run.state.ages[i] = COUNT_UNKNOWN;
    }
    struct trend_moment started = {.at_us = 1};
    unsigned looks = (unsigned)ceil(scene->minutes * MINUTE / scene->look_s);
    for (unsigned look = 0; look < looks; look++) {
        double at_s = look * scene->look_s;
        advance(&run, at_s);
        trend_window(&window, &run.moment);
        if (at_s < scene->begins_s) {
            continue;
        }
        if (!trend.count) {
            trend_init(&trend, &run.moment, &run.state);
        }
        trend_add(&trend, &run.moment, &run.state);
        outcome.last =
            verdict_of(&trend, &run.state, &started, &run.moment, outcome.last.verdict);
        if (outcome.last.verdict == VERDICT_LEAK) {
            outcome.accused_s = fmin(outcome.accused_s, at_s);
            outcome.late_s = at_s;
            outcome.accused_late |= at_s > scene->clears_at_s;
        }
    }
    return outcome;
}

/* Shapes. */

static double
flat(const struct scene *scene, double at_s)
{
    (void)scene;
    (void)at_s;
    return 0;
}

static double
line(const struct scene *scene, double at_s)
{
    return scene->rate * (at_s - scene->begins_s);
}

// Nothing for a while, then a leak.
static double
late_line(const struct scene *scene, double at_s)
{
    return scene->rate * fmax(at_s - scene->period_s, 0);
}

static double
stairs(const struct scene *scene, double at_s)
{
    return floor(at_s / scene->period_s) * scene->period_s * scene->rate;
}

// Fills evenly, then is full.
static double
capped(const struct scene *scene, double at_s)
{
    return scene->rate * fmin(at_s, scene->period_s);
}

// Keys drawn at random: the fuller, the slower. Three time constants in the period.
static double
filling(const struct scene *scene, double at_s)
{
    return scene->rate * scene->period_s * (1 - exp(-3 * at_s / scene->period_s));
}

static double
batch(const struct scene *scene, double at_s)
{
    return scene->rate * fmod(at_s, scene->period_s);
}

static double
burst(const struct scene *scene, double at_s)
{
    double into_s = fmax(at_s - scene->period_s, 0);
    return scene->rate * fmin(into_s, 20);
}

static double
wave(const struct scene *scene, double at_s)
{
    return scene->base * 0.8 * sin(2 * M_PI * (at_s + scene->rate) / scene->period_s);
}

static double
one_string(const struct scene *scene, double at_s)
{
    return 1e6 + scene->rate * at_s;
}

// Capacity that doubles.
static double
one_buffer(const struct scene *scene, double at_s)
{
    double capacity = 4096;
    while (capacity < scene->rate * at_s) {
        capacity *= 2;
    }
    return 1e6 + capacity;
}

static double
one_step(const struct scene *scene, double at_s)
{
    return at_s < scene->period_s ? 1e6 : 32e6;
}

enum expectation {
    FOUND,     // accused at the latest within `within_s`
    INNOCENT,  // never accused
    ACQUITTED, // not accused any more after `clears_at_s`
};

struct shape {
    const char *name;
    enum expectation expectation;
    double within_s; // after the growth began, for nine of ten
    double bad;      // at most this share of the seeds goes wrong
    struct scene scene;
};

#define BUSY .collection_s = 2, .full_every = 12, .census_s = 60, .look_s = 5
#define WATCHED .collection_s = 2, .full_every = 12, .census_s = 10, .look_s = 1
#define QUIET .collection_s = 20, .full_every = 6, .census_s = 60, .look_s = 5

// One program a paragraph, which the formatter would spread over ten lines.
// clang-format off
static const struct shape shapes[] = {
    {"leak of 40/s", FOUND, 150, 0,
     {.kept = line, .minutes = 20, .rate = 40, .unswept = 20, BUSY}},
    {"leak of 40/s, watched", FOUND, 140, 0,
     {.kept = line, .minutes = 5, .rate = 40, .unswept = 20, WATCHED}},
    {"leak of 2000/s", FOUND, 150, 0,
     {.kept = line, .minutes = 20, .rate = 2000, .unswept = 5000, BUSY}},
    {"leak of 1/s, quiet program", FOUND, 600, 0,
     {.kept = line, .minutes = 30, .rate = 1, .base = 50, QUIET}},
    {"leak of 40/s among 400 000 noisy", FOUND, 3300, 0.15,
     {.kept = line, .minutes = 60, .rate = 40, .base = 4e5, .unswept = 4e4, .noise =
      0.005, BUSY}},
    {"leak of 40/s on old garbage", FOUND, 900, 0,
     {.kept = line, .minutes = 40, .rate = 40, .unswept = 500, .old_rate = 100, BUSY}},
    {"leak in stairs, one a minute", FOUND, 900, 0,
     {.kept = stairs, .minutes = 40, .rate = 10, .period_s = 60, .unswept = 20, BUSY}},
    {"leak of 40/s after half an hour", FOUND, 2100, 0,
     {.kept = late_line, .minutes = 120, .rate = 40, .base = 1000, .period_s = 1800,
      .unswept = 50, BUSY}},
    {"leak of 10/s, class comes late", FOUND, 240, 0,
     {.kept = line, .minutes = 30, .rate = 10, .begins_s = 600, .unswept = 20, BUSY}},
    {"bytes: 50 KB/s in one string", FOUND, 900, 0,
     {.kept = flat, .weight = one_string, .minutes = 40, .rate = 5e4, .base = 3, BUSY}},
    {"bytes: a buffer that doubles", FOUND, 1200, 0,
     {.kept = flat, .weight = one_buffer, .minutes = 60, .rate = 1e5, .base = 3, BUSY}},
    {"bytes: one step", INNOCENT, 0, 0,
     {.kept = flat, .weight = one_step, .minutes = 60, .period_s = 400, .base = 3,
      BUSY}},
    {"steady", INNOCENT, 0, 0,
     {.kept = flat, .minutes = 120, .base = 5000, .unswept = 200, .noise = 0.01, BUSY}},
    {"churn", INNOCENT, 0, 0.05,
     {.kept = flat, .minutes = 120, .base = 50, .unswept = 20000, BUSY}},
    {"old garbage", INNOCENT, 0, 0,
     {.kept = flat, .minutes = 120, .base = 500, .unswept = 200, .old_rate = 50, BUSY}},
    {"old garbage, full ones rare", INNOCENT, 0, 0,
     {.kept = flat, .minutes = 120, .base = 500, .old_rate = 50, .collection_s = 5,
      .full_every = 120, .census_s = 60, .look_s = 5}},
    {"least recently used", INNOCENT, 0, 0,
     {.kept = flat, .minutes = 60, .base = 5000, .unswept = 1000, BUSY}},
    {"batch of 1 min", INNOCENT, 0, 0,
     {.kept = batch, .minutes = 120, .rate = 100, .period_s = 60, .unswept = 50, BUSY}},
    {"batch of 90 s", INNOCENT, 0, 0,
     {.kept = batch, .minutes = 120, .rate = 100, .period_s = 90, .unswept = 50, BUSY}},
    {"batch of 10 min, after the first", ACQUITTED, 0, 0,
     {.kept = batch, .minutes = 180, .rate = 100, .period_s = 600, .unswept = 50,
      .clears_at_s = 690, BUSY}},
    {"batch of 37 min, after the first", ACQUITTED, 0, 0,
     {.kept = batch, .minutes = 400, .rate = 100, .period_s = 2220, .unswept = 50,
      .clears_at_s = 2500, BUSY}},
    {"burst, then plateau", INNOCENT, 0, 0,
     {.kept = burst, .minutes = 120, .rate = 1000, .base = 100, .period_s = 700,
      .unswept = 100, BUSY}},
    {"burst at the start", INNOCENT, 0, 0,
     {.kept = burst, .minutes = 60, .rate = 1000, .base = 100, .period_s = 20, .unswept
      = 100, BUSY}},
    {"deploy-like step", INNOCENT, 0, 0.05,
     {.kept = burst, .minutes = 180, .rate = 500, .base = 20000, .period_s = 3600,
      .unswept = 500, .noise = 0.005, BUSY}},
    {"cache, even, full in 90 s", INNOCENT, 0, 0,
     {.kept = capped, .minutes = 60, .rate = 50, .period_s = 90, .unswept = 50, BUSY}},
    {"cache, even, full in 5 min", ACQUITTED, 0, 0,
     {.kept = capped, .minutes = 60, .rate = 50, .period_s = 300, .unswept = 50,
      .clears_at_s = 420, BUSY}},
    {"cache, random keys, 2 min", INNOCENT, 0, 0.01,
     {.kept = filling, .minutes = 60, .rate = 50, .period_s = 120, .unswept = 50,
      BUSY}},
    {"cache, random keys, 10 min", INNOCENT, 0, 0.05,
     {.kept = filling, .minutes = 60, .rate = 50, .period_s = 600, .unswept = 50,
      BUSY}},
    {"cache, random keys, 60 min", ACQUITTED, 0, 0,
     {.kept = filling, .minutes = 180, .rate = 50, .period_s = 3600, .unswept = 50,
      .clears_at_s = 1800, BUSY}},
    {"warm-up of 2 min", INNOCENT, 0, 0.02,
     {.kept = filling, .minutes = 60, .rate = 10, .period_s = 120, .base = 3000,
      .unswept = 100, BUSY}},
    {"warm-up of 5 min", INNOCENT, 0, 0.05,
     {.kept = filling, .minutes = 60, .rate = 10, .period_s = 300, .base = 3000,
      .unswept = 100, BUSY}},
    {"warm-up of 10 min", INNOCENT, 0, 0.25,
     {.kept = filling, .minutes = 60, .rate = 10, .period_s = 600, .base = 3000,
      .unswept = 100, BUSY}},
    {"even warm-up of 2 min", INNOCENT, 0, 0.6,
     {.kept = capped, .minutes = 60, .rate = 10, .period_s = 120, .base = 3000, .unswept
      = 100, BUSY}},
    {"even warm-up of 10 min", ACQUITTED, 0, 0,
     {.kept = capped, .minutes = 60, .rate = 10, .period_s = 600, .base = 3000, .unswept
      = 100, .clears_at_s = 900, BUSY}},
    {"daily wave, from its second day", ACQUITTED, 0, 0,
     {.kept = wave, .minutes = 5 * 1440, .base = 5000, .period_s = 86400, .unswept =
      200, .clears_at_s = 1.25 * 86400, .collection_s = 20, .full_every = 12, .census_s
      = 60, .look_s = 60}},
    {"1 an hour", INNOCENT, 0, 0,
     {.kept = line, .minutes = 300, .rate = 1 / 3600.0, .base = 1000, .unswept = 20,
      BUSY}},
    {"no collections", INNOCENT, 0, 0,
     {.kept = line, .minutes = 60, .rate = 1, .full_every = 1, .census_s = 60, .look_s =
      5}},
};
// clang-format on

#undef BUSY
#undef WATCHED
#undef QUIET

// The same shape in another program: nothing fits together as in the table.
static struct scene
drawn(const struct scene *scene)
{
    struct scene other = *scene;
    other.unswept *= between(0.5, 1.5);
    other.collection_s *= between(0.7, 1.4);
    other.full_every = (unsigned)fmax(1, scene->full_every * between(0.7, 1.4));
    if (scene->kept == wave) {
        other.rate = between(0, scene->period_s); // its phase
    }
    return other;
}

static int
by_size(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

static bool
wrong(const struct shape *shape, const struct outcome *outcome)
{
    switch (shape->expectation) {
    case FOUND:
        return outcome->accused_s == NEVER || outcome->last.verdict != VERDICT_LEAK;
    case INNOCENT:
        return outcome->accused_s != NEVER;
    case ACQUITTED:
        return outcome->accused_late;
    }
    return true;
}

static size_t
run_count(void)
{
    const char *chosen = getenv("MEMTOP_RUNS");
    return chosen ? strtoul(chosen, NULL, 10) : 60;
}

static void
check_shape(const struct shape *shape)
{
    size_t runs = run_count();
    double *found_s = calloc(runs, sizeof(*found_s));
    size_t accused = 0;
    size_t failures = 0;
    double late_s = 0;
    struct outcome outcome = {0};
    assert_non_null(found_s);
    for (size_t i = 0; i < runs; i++) {
        struct scene scene = drawn(&shape->scene);
        outcome = play(&scene);
        double began_s = scene.kept == late_line ? scene.period_s : scene.begins_s;
        found_s[i] = outcome.accused_s - began_s;
        accused += outcome.accused_s != NEVER;
        late_s = fmax(late_s, outcome.late_s);
        failures += wrong(shape, &outcome);
    }
    qsort(found_s, runs, sizeof(*found_s), by_size);
    double half_s = found_s[runs / 2];
    double most_s = found_s[runs * 9 / 10];
    free(found_s);
    printf(
        "# %-34s accused %5.1f %%  wrong %5.1f %%  found %6.0f s, 9 of 10 %6.0f s, last "
        "%6.0f s: %s\n",
        shape->name, 100.0 * (double)accused / (double)runs,
        100.0 * (double)failures / (double)runs, half_s < NEVER / 2 ? half_s : -1,
        most_s < NEVER / 2 ? most_s : -1, late_s, outcome.last.reason);
    if (getenv("MEMTOP_TABLE")) {
        return;
    }
    assert_true((double)failures <= shape->bad * (double)runs);
    if (shape->expectation == FOUND) {
        assert_true(most_s <= shape->within_s);
    }
}

static void
check_shapes(enum expectation expectation)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        if (shapes[i].expectation == expectation) {
            check_shape(&shapes[i]);
        }
    }
}

static void
leaks_are_found_in_reasonable_time(void **state)
{
    (void)state;
    check_shapes(FOUND);
}

static void
what_does_not_leak_is_not_accused(void **state)
{
    (void)state;
    check_shapes(INNOCENT);
}

static void
who_stops_growing_is_acquitted(void **state)
{
    (void)state;
    check_shapes(ACQUITTED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaks_are_found_in_reasonable_time),
        cmocka_unit_test(what_does_not_leak_is_not_accused),
        cmocka_unit_test(who_stops_growing_is_acquitted),
    };
    setenv("MEMTOP_SEED", "1", 0); // the bounds are of shares: the same ones each time
    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
