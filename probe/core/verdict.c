#include "probe/core/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Programs and classes fill tables and caches when they begin.
#define WARM_UP_S 30
// Less than this is a rise that many harmless things make.
#define SPAN_LEAST_S 75
#define SPAN_LEAST_POINTS 8u
// Of what grew less, nobody needs to hear; one part in a hundred of a big class is noise.
#define OBJECTS_LEAST 64.0
#define BYTES_LEAST (256.0 * 1024)
#define SHARE_LEAST 0.01
// Mann-Kendall's score: three deviations, because hundreds of classes are judged often.
#define TREND_SCORE 3.0
// Growth against the scatter of single points; below, its shape cannot be seen.
#define NOISE_FACTOR 6.0
// Time after which a count that never rose is called steady without any collection.
#define QUIET_S 60
// Of what was gained, the part gained lately below which it has levelled off.
#define LEVEL_SHARE 0.05
// The whole population is replaced so many times a minute: churn.
#define CHURN_TURNOVER 1.0
#define CHURN_LEAST 100
// Bytes that grow so many times faster than the objects explain are a leak of bytes.
#define BYTES_UNEXPLAINED 2.0
// A buffer that doubles: steps, how big a part of the growth each is, how long since
// the last one at most (of all the time), and how long that takes to believe.
#define STEPS_LEAST 3u
#define STEPS_UNEXPLAINED 10.0
#define STEPS_BUMP 0.1
#define STEP_SHARE 0.1
#define STEPS_TOGETHER 0.8
#define STEP_LATEST 0.4
#define STEPS_LEAST_S 180
#define STEPS_LEAST_BYTES (1024.0 * 1024)

// What it takes to be accused, and (less) to stay it.
struct strictness {
    double slowest; // least slope of any part, of the mean slope
    double lately;  // least slope of the last part, of those before; of it, two
                    // deviations of chance are taken off
    double bump;    // most that ever came and went, of the growth
    double full;    // least part of the growth that a full collection has seen
    double old;     // least of the survivors that a leak would leave
};
static const struct strictness to_accuse = {0.5, 0.9, 0.25, 0.5, 0.5};
static const struct strictness to_stay = {0.25, 0.6, 0.5, 0.25, 0.25};

struct series {
    double value[TREND_POINTS];
    double end_s[TREND_POINTS];
    bool full[TREND_POINTS];
    uint32_t count;
};

// Part of a series, seen as growth.
struct growth {
    double span_s;
    double grown;     // by the mean slope, over the span
    double level;     // at its beginning
    double slopes[3]; // between the medians of its quarters, a second
    double slope;     // between the first and the last
    double noise;     // scatter of a point
    double error;     // of a slope, by that
    double seen_full; // of the growth, what had come by the last full collection
    double bump;      // the most that came and went within the whole series
    bool whole;       // the span is all there is
    bool clear;       // no chance: significant, and more than the noise
};

enum flaw {
    FLAW_NONE,
    FLAW_EARLY,
    FLAW_CLEARED,
    FLAW_SLOWING,
    FLAW_UNEVEN,
    FLAW_WARMING,
    FLAW_NO_FULL,
    FLAW_NO_AGES,
    FLAW_YOUNG,
};

/* Series. */

static double
objects_at(const struct trend_point *point)
{
    return point->live;
}

static double
bytes_at(const struct trend_point *point)
{
    return point->bytes; // below zero: not known
}

// Points past the warm-up that are whole. One that is still open counts when it is
// lower than all that came last: something was freed.
static void
read_series(struct series *series, const struct trend *trend,
            double (*value_at)(const struct trend_point *))
{
    series->count = 0;
    for (uint32_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i];
        uint32_t start_s = i ? trend->points[i - 1].end_s : 0;
        uint32_t n = series->count;
        double value = value_at(point);
        bool open = i == trend->count - 1;
        bool lower = n > 0 && trend->filled > 0 && value < series->value[n - 1];
        if (start_s < WARM_UP_S || value < 0 || (open && !lower)) {
            continue;
        }
        series->value[n] = value;
        series->end_s[n] = point->end_s;
        series->full[n] = trend->full >> i & 1u;
        series->count++;
    }
}

static void
sort(double *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double value = values[i];
        uint32_t place = i;
        for (; place > 0 && values[place - 1] > value; place--) {
            values[place] = values[place - 1];
        }
        values[place] = value;
    }
}

static double
median(const double *values, uint32_t count)
{
    double sorted[TREND_POINTS];
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = values[i];
    }
    sort(sorted, count);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

// The highest that it went up and came down again.
static double
highest_bump(const struct series *series)
{
    double lowest_after[TREND_POINTS];
    double lowest = INFINITY;
    for (uint32_t i = series->count; i-- > 0;) {
        lowest = fmin(lowest, series->value[i]);
        lowest_after[i] = lowest;
    }
    double bump = 0;
    lowest = INFINITY;
    for (uint32_t i = 0; i < series->count; i++) {
        double value = series->value[i];
        lowest = fmin(lowest, value);
        bump = fmax(bump, fmin(value - lowest, value - lowest_after[i]));
    }
    return bump;
}

/* Growth. */

// Mann-Kendall: of all pairs, how many more rise than fall, in deviations of chance.
static double
trend_score(const double *values, uint32_t count)
{
    double rising = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            rising += (values[j] > values[i]) - (values[j] < values[i]);
        }
    }
    double n = count;
    return (rising - 1) / sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

// Scatter around the slope, from how neighbours differ.
static double
scatter(const double *values, uint32_t count)
{
    double differences[TREND_POINTS];
    double mean = (values[count - 1] - values[0]) / (count - 1);
    for (uint32_t i = 0; i + 1 < count; i++) {
        differences[i] = fabs(values[i + 1] - values[i] - mean);
    }
    return median(differences, count - 1) / 0.6745 / sqrt(2);
}

// One deviation of the slope between two quarters: medians scatter by 1.25 times what
// means do.
static double
slope_error(const struct growth *growth, uint32_t count)
{
    return 1.25 * growth->noise * sqrt(2 / (count / 4.0)) / (growth->span_s / 4);
}

static void
measure_slopes(struct growth *growth, const struct series *series, uint32_t from)
{
    double level[4];
    double at_s[4];
    uint32_t count = series->count - from;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t first = from + k * count / 4;
        uint32_t points = from + (k + 1) * count / 4 - first;
        level[k] = median(series->value + first, points);
        at_s[k] = median(series->end_s + first, points);
    }
    for (uint32_t k = 0; k < 3; k++) {
        growth->slopes[k] = (level[k + 1] - level[k]) / fmax(at_s[k + 1] - at_s[k], 1);
    }
    growth->slope = (level[3] - level[0]) / fmax(at_s[3] - at_s[0], 1);
    growth->level = level[0];
}

static double
seen_by_full_collections(const struct series *series, uint32_t from)
{
    for (uint32_t i = series->count; i-- > from;) {
        if (series->full[i]) {
            return series->value[i] - series->value[from];
        }
    }
    return 0;
}

static struct growth
measure(const struct series *series, uint32_t from, double least)
{
    const double *values = series->value + from;
    uint32_t count = series->count - from;
    struct growth growth = {.whole = from == 0,
                            .span_s =
                                series->end_s[series->count - 1] - series->end_s[from]};
    measure_slopes(&growth, series, from);
    growth.grown = growth.slope * growth.span_s;
    if (growth.grown < fmax(least, SHARE_LEAST * growth.level)) {
        return growth;
    }
    growth.noise = scatter(values, count);
    growth.error = slope_error(&growth, count);
    growth.seen_full = seen_by_full_collections(series, from);
    growth.bump = highest_bump(series);
    growth.clear = growth.grown >= NOISE_FACTOR * growth.noise &&
                   trend_score(values, count) >= TREND_SCORE;
    return growth;
}

// Only what the shape of the growth tells.
static enum flaw
flaw_in_shape(const struct growth *growth, const struct strictness *strict)
{
    double before = (growth->slopes[0] + growth->slopes[1]) / 2;
    double lately = growth->slopes[2] - 2 * growth->error;
    if (growth->bump > strict->bump * growth->grown) {
        return FLAW_CLEARED;
    }
    if (lately < strict->lately * before || lately < strict->slowest * growth->slope) {
        return FLAW_SLOWING;
    }
    if (growth->slopes[0] < strict->slowest * growth->slope ||
        growth->slopes[1] < strict->slowest * growth->slope) {
        return FLAW_UNEVEN;
    }
    if (growth->span_s < SPAN_LEAST_S) {
        return FLAW_EARLY;
    }
    if (growth->seen_full < strict->full * growth->grown) {
        return FLAW_NO_FULL;
    }
    return FLAW_NONE;
}

/* Ages. */

static uint64_t
survivors(const struct trend_state *state, unsigned bucket)
{
    uint64_t sum = 0;
    for (unsigned i = bucket; i < AGE_BUCKETS; i++) {
        sum += state->ages[i] == COUNT_UNKNOWN ? 0 : state->ages[i];
    }
    return sum;
}

// A leak that ran for so many collections leaves this part of its objects older than
// 8 of them, or than 2 when there were few.
static enum flaw
flaw_in_ages(const struct growth *growth, const struct trend *trend,
             const struct trend_state *state, const struct trend_moment *now,
             const struct strictness *strict)
{
    if (state->allocated == COUNT_UNKNOWN) { // walks see no ages, and no garbage
        return FLAW_NONE;
    }
    if (state->ages[0] == COUNT_UNKNOWN) {
        return FLAW_NO_AGES;
    }
    double lived_s = (double)(now->at_us - trend->first_us) / 1e6;
    double collections = (double)(now->collections - trend->collections_at) *
                         growth->span_s / fmax(lived_s, 1);
    double age = collections >= 16 ? 8 : 2;
    double part = fmax(collections - age, 0) / fmax(collections, 1);
    double old = (double)survivors(state, age > 2 ? 2 : 1);
    return old < strict->old * part * growth->grown ? FLAW_YOUNG : FLAW_NONE;
}

/* Words. */

#define WORDS_BYTES 32

struct words {
    char text[WORDS_BYTES];
};

// "12 310"
static struct words
count_words(double count)
{
    struct words words;
    char digits[WORDS_BYTES];
    int length = snprintf(digits, sizeof(digits), "%.0f", fmin(fabs(count), 1e15));
    int place = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            words.text[place++] = ' ';
        }
        words.text[place++] = digits[i];
    }
    words.text[place] = '\0';
    return words;
}

static struct words
bytes_words(double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    struct words words;
    size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
        bytes /= 1024;
        unit++;
    }
    snprintf(words.text, sizeof(words.text), "%.*f %s", bytes < 10 && unit ? 1 : 0, bytes,
             units[unit]);
    return words;
}

static struct words
time_words(double seconds)
{
    struct words words;
    if (seconds < 120) {
        snprintf(words.text, sizeof(words.text), "%.0f s", seconds);
    } else if (seconds < 7200) {
        snprintf(words.text, sizeof(words.text), "%.0f min", seconds / 60);
    } else {
        snprintf(words.text, sizeof(words.text), "%.1f h", seconds / 3600);
    }
    return words;
}

// A rate to two digits: "41/s", "0.8/s", "12/min".
static struct words
rate_words(double a_second, bool bytes)
{
    struct words words;
    bool slow = a_second < 0.5;
    double rate = slow ? a_second * 60 : a_second;
    struct words amount;
    if (bytes) {
        amount = bytes_words(rate);
    } else if (rate < 10) {
        snprintf(amount.text, sizeof(amount.text), "%.1f", rate);
    } else {
        amount = count_words(rate);
    }
    snprintf(words.text, sizeof(words.text), "%.24s/%s", amount.text, slow ? "min" : "s");
    return words;
}

struct facts {
    const struct trend *trend;
    const struct trend_state *state;
    const struct trend_moment *started;
    const struct trend_moment *now;
    enum verdict before;
};

static void
append(struct judgement *judgement, size_t *length, const char *text)
{
    for (; *text && *length + 1 < sizeof(judgement->reason); text++) {
        judgement->reason[(*length)++] = *text;
    }
    judgement->reason[*length] = '\0';
}

// "+12 310 objects over 38 collections (9 full)"; of a part: "... in the last 9 min".
static size_t
say_growth(struct judgement *judgement, const struct facts *facts,
           const struct growth *growth, bool bytes)
{
    char period[64];
    if (growth->whole) {
        snprintf(period, sizeof(period),
                 " over %" PRIu64 " collections (%" PRIu64 " full)",
                 facts->now->collections - facts->trend->collections_at,
                 facts->now->majors - facts->trend->majors_at);
    } else {
        snprintf(period, sizeof(period), " in the last %s",
                 time_words(growth->span_s).text);
    }
    int length;
    if (bytes) {
        length = snprintf(judgement->reason, sizeof(judgement->reason),
                          "bytes: +%s%s while objects stay at %s",
                          bytes_words(growth->grown).text, period,
                          count_words((double)facts->state->live).text);
    } else {
        length = snprintf(judgement->reason, sizeof(judgement->reason), "+%s objects%s",
                          count_words(growth->grown).text, period);
    }
    return length < VERDICT_REASON_BYTES ? (size_t)length : VERDICT_REASON_BYTES - 1;
}

static struct words
old_words(const struct trend_state *state)
{
    struct words words;
    double all = (double)survivors(state, 0);
    snprintf(words.text, sizeof(words.text), "%.0f %%",
             all > 0 ? 100 * (double)survivors(state, 2) / all : 0);
    return words;
}

static struct judgement
accuse(const struct facts *facts, const struct growth *growth, bool bytes)
{
    struct judgement judgement = {.verdict = VERDICT_LEAK, .grown = growth->grown};
    size_t length = say_growth(&judgement, facts, growth, bytes);
    if (!bytes && facts->state->ages[0] != COUNT_UNKNOWN) {
        append(&judgement, &length, ", ");
        append(&judgement, &length, old_words(facts->state).text);
        append(&judgement, &length, " survived 8 or more");
    }
    append(&judgement, &length, ", still +");
    append(&judgement, &length, rate_words(fmax(growth->slopes[2], 0), bytes).text);
    return judgement;
}

// What was gained over the last half, of the level.
static struct words
slowing_words(const struct growth *growth)
{
    struct words words;
    double gained = fmax(growth->slopes[2], 0) * growth->span_s / 2;
    snprintf(words.text, sizeof(words.text), "+%.0f %%",
             100 * gained / fmax(growth->level + growth->grown, 1));
    return words;
}

static const char *const flaws[] = {
    [FLAW_NONE] = "",
    [FLAW_EARLY] = ", for too short a time to call it a leak",
    [FLAW_CLEARED] = ", but it was cleared before",
    [FLAW_SLOWING] = ", levels off: ",
    [FLAW_UNEVEN] = ", but not evenly: it may have been a burst",
    [FLAW_WARMING] = ", while the program still makes new classes",
    [FLAW_NO_FULL] = ", but no full collection has tested it yet",
    [FLAW_NO_AGES] = ", ages not known before a census",
    [FLAW_YOUNG] = ", but survivors are young: ",
};

static struct judgement
suspect(const struct facts *facts, const struct growth *growth, enum flaw flaw,
        bool bytes)
{
    struct judgement judgement = {.verdict = VERDICT_GROWING, .grown = growth->grown};
    size_t length = say_growth(&judgement, facts, growth, bytes);
    append(&judgement, &length, flaws[flaw]);
    if (flaw == FLAW_SLOWING) {
        append(&judgement, &length, slowing_words(growth).text);
        append(&judgement, &length, " over the last half");
    } else if (flaw == FLAW_YOUNG) {
        append(&judgement, &length, old_words(facts->state).text);
        append(&judgement, &length, " survived 8 or more");
    }
    return judgement;
}

/* Verdicts. */

static const struct strictness *
strictness_of(const struct facts *facts)
{
    return facts->before == VERDICT_LEAK ? &to_stay : &to_accuse;
}

static enum flaw
flaw_in(const struct facts *facts, const struct growth *growth, bool bytes)
{
    const struct strictness *strict = strictness_of(facts);
    enum flaw flaw = flaw_in_shape(growth, strict);
    if (flaw == FLAW_NONE && facts->now->warming && facts->before != VERDICT_LEAK) {
        flaw = FLAW_WARMING;
    }
    if (flaw == FLAW_NONE && !bytes) {
        flaw = flaw_in_ages(growth, facts->trend, facts->state, facts->now, strict);
    }
    return flaw;
}

// The whole of a series, then its last two thirds, then its last third: what began
// late has to last as long again as a third of the time before.
static struct judgement
judge_growth(const struct facts *facts, const struct series *series, bool bytes)
{
    struct judgement suspicion = {VERDICT_NONE, 0, ""};
    double least = bytes ? BYTES_LEAST : OBJECTS_LEAST;
    for (uint32_t thirds = 0; thirds < 3; thirds++) {
        uint32_t from = series->count * thirds / 3;
        if (series->count - from < SPAN_LEAST_POINTS) {
            break;
        }
        struct growth growth = measure(series, from, least);
        if (!growth.clear) {
            continue;
        }
        enum flaw flaw = flaw_in(facts, &growth, bytes);
        if (flaw == FLAW_NONE) {
            return accuse(facts, &growth, bytes);
        }
        bool goes_on = growth.slopes[2] > LEVEL_SHARE * growth.slope;
        if (suspicion.verdict == VERDICT_NONE && goes_on) {
            suspicion = suspect(facts, &growth, flaw, bytes);
        }
    }
    return suspicion;
}

// A buffer that is doubled when it is full grows in ever longer steps.
static bool
grows_in_steps(const struct series *series, const struct growth *growth)
{
    double last = series->value[series->count - 1];
    double grown = last - series->value[0];
    double together = 0;
    double latest_s = 0;
    unsigned steps = 0;
    for (uint32_t i = 1; i < series->count; i++) {
        double step = series->value[i] - series->value[i - 1];
        if (step >= STEP_SHARE * grown) {
            together += step;
            latest_s = series->end_s[i];
            steps++;
        }
    }
    return grown >= fmax(STEPS_LEAST_BYTES, SHARE_LEAST * growth->level) &&
           steps >= STEPS_LEAST && together >= STEPS_TOGETHER * grown &&
           growth->span_s >= STEPS_LEAST_S &&
           highest_bump(series) <= STEPS_BUMP * grown &&
           seen_by_full_collections(series, 0) >= to_accuse.full * grown &&
           latest_s >= STEP_LATEST * series->end_s[series->count - 1];
}

// Whether so many times the objects that came would explain the bytes that did.
static bool
explained(const struct series *objects, const struct series *bytes, double times)
{
    double count = objects->value[0];
    double grown = 0; // at most: objects that went again are known sooner than bytes
    for (uint32_t i = 0; i < objects->count; i++) {
        grown = fmax(grown, objects->value[i] - count);
    }
    double gained = bytes->value[bytes->count - 1] - bytes->value[0];
    double each = bytes->value[0] / fmax(count, 1);
    return gained < times * grown * each;
}

static struct judgement
judge_bytes(const struct facts *facts, const struct series *objects)
{
    struct judgement judgement = {VERDICT_NONE, 0, ""};
    struct series bytes;
    read_series(&bytes, facts->trend, bytes_at);
    if (bytes.count < SPAN_LEAST_POINTS ||
        explained(objects, &bytes, BYTES_UNEXPLAINED)) {
        return judgement;
    }
    judgement = judge_growth(facts, &bytes, true);
    struct growth growth = measure(&bytes, 0, BYTES_LEAST);
    if (judgement.verdict != VERDICT_LEAK && !facts->now->warming &&
        !explained(objects, &bytes, STEPS_UNEXPLAINED) &&
        grows_in_steps(&bytes, &growth)) {
        growth.grown = bytes.value[bytes.count - 1] - bytes.value[0];
        judgement = accuse(facts, &growth, true);
    }
    return judgement;
}

static double
lived_s(const struct facts *facts)
{
    return (double)(facts->now->at_us - facts->trend->first_us) / 1e6;
}

// Too few points for anything but this.
static struct judgement
judge_early(const struct facts *facts)
{
    struct judgement judgement = {VERDICT_NONE, 0, ""};
    const struct trend *trend = facts->trend;
    double late_s = (double)(trend->first_us - facts->started->at_us) / 1e6;
    if (lived_s(facts) >= QUIET_S && facts->state->live <= trend->points[0].live) {
        judgement.verdict = VERDICT_STEADY;
        snprintf(judgement.reason, sizeof(judgement.reason),
                 "no more than when it was first seen");
    } else if (late_s > WARM_UP_S) {
        judgement.verdict = VERDICT_NEW;
        snprintf(judgement.reason, sizeof(judgement.reason),
                 "first seen too short a time ago to be judged");
    }
    return judgement;
}

static bool
churns(const struct facts *facts)
{
    const struct trend_state *state = facts->state;
    if (state->allocated == COUNT_UNKNOWN ||
        state->allocated < facts->trend->allocated_at + CHURN_LEAST) {
        return false;
    }
    double allocated = (double)(state->allocated - facts->trend->allocated_at);
    double a_minute = allocated / fmax(lived_s(facts), 1) * 60;
    bool old =
        state->ages[0] != COUNT_UNKNOWN && survivors(state, 2) * 2 > survivors(state, 0);
    return !old && a_minute >= CHURN_TURNOVER * (double)state->live;
}

// No growth that goes on: why is it so?
static struct judgement
judge_quiet(const struct facts *facts, const struct series *objects)
{
    struct judgement judgement = {VERDICT_STEADY, 0, "no growth that lasts"};
    const double *values = objects->value;
    double first = values[0];
    double last = values[objects->count - 1];
    double least = fmax(OBJECTS_LEAST, SHARE_LEAST * first);
    double bump = highest_bump(objects);
    if (churns(facts)) {
        judgement.verdict = VERDICT_CHURN;
        snprintf(judgement.reason, sizeof(judgement.reason),
                 "many are allocated, few survive");
    } else if (bump >= fmax(least, first / 2) && bump >= 2 * (last - first)) {
        snprintf(judgement.reason, sizeof(judgement.reason), "grew, then was cleared");
    } else if (last - first >= least &&
               last - values[objects->count / 2] <= (last - first) / 4) {
        snprintf(judgement.reason, sizeof(judgement.reason),
                 "levelled off: %+.0f %% over the last half",
                 100 * (last / fmax(values[objects->count / 2], 1) - 1));
    }
    return judgement;
}

struct judgement
verdict_of(const struct trend *trend, const struct trend_state *state,
           const struct trend_moment *started, const struct trend_moment *now,
           enum verdict before)
{
    const struct facts facts = {trend, state, started, now, before};
    struct series objects;
    read_series(&objects, trend, objects_at);
    if (objects.count < SPAN_LEAST_POINTS) {
        return judge_early(&facts);
    }
    struct judgement judgement = judge_growth(&facts, &objects, false);
    if (judgement.verdict != VERDICT_LEAK) {
        struct judgement bytes = judge_bytes(&facts, &objects);
        judgement = bytes.verdict > judgement.verdict ? bytes : judgement;
    }
    return judgement.verdict == VERDICT_NONE ? judge_quiet(&facts, &objects) : judgement;
}
