#include "probe/core/trend.h"

static uint32_t
clamp(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

// Lazy sweeping ends at the latest when the next collection begins: only then is
// what a full one found dead certainly gone.
static void
watch_majors(struct trend_window *window, const struct trend_moment *moment)
{
    if (window->unswept_from && moment->collections > window->unswept_from) {
        window->full_ended = true;
        window->unswept_from = 0;
    }
    if (moment->majors > window->majors) {
        window->unswept_from = moment->collections;
    }
    window->majors = moment->majors;
}

void
trend_window(struct trend_window *window, struct trend_moment *moment)
{
    if (!window->began) {
        *window = (struct trend_window){.began = true,
                                        .start_us = moment->at_us,
                                        .collections = moment->collections,
                                        .majors = moment->majors};
    }
    watch_majors(window, moment);
    moment->window_ends = moment->collections > window->collections &&
                          moment->at_us - window->start_us >= TREND_WINDOW_US;
    moment->full_ended = moment->window_ends && window->full_ended;
    if (moment->window_ends) {
        window->full_ended = false;
        window->start_us = moment->at_us;
        window->collections = moment->collections;
    }
}

static uint32_t
seconds_since(const struct trend *trend, const struct trend_moment *moment)
{
    return clamp((moment->at_us - trend->first_us) / 1000000);
}

static struct trend_point
point_of(const struct trend *trend, const struct trend_moment *moment,
         const struct trend_state *state)
{
    float bytes = state->bytes == COUNT_UNKNOWN ? TREND_NO_BYTES : (float)state->bytes;
    return (struct trend_point){clamp(state->live), bytes, seconds_since(trend, moment)};
}

void
trend_init(struct trend *trend, const struct trend_moment *moment,
           const struct trend_state *state)
{
    *trend = (struct trend){.count = 1,
                            .stride = 1,
                            .first_us = moment->at_us,
                            .allocated_at = state->allocated,
                            .collections_at = moment->collections,
                            .majors_at = moment->majors};
    trend->points[0] = point_of(trend, moment, state);
}

// Both points as one.
static struct trend_point
merged(const struct trend_point *a, const struct trend_point *b)
{
    struct trend_point both = *b;
    both.live = a->live < b->live ? a->live : b->live;
    if (b->bytes < 0 || (a->bytes >= 0 && a->bytes < b->bytes)) {
        both.bytes = a->bytes;
    }
    return both;
}

static void
merge_pairs(struct trend *trend)
{
    uint32_t full = 0;
    for (uint32_t i = 0; i < TREND_POINTS / 2; i++) {
        trend->points[i] = merged(&trend->points[2 * i], &trend->points[2 * i + 1]);
        full |= (uint32_t)((trend->full >> (2 * i) & 3u) != 0) << i;
    }
    trend->full = full;
    trend->count = TREND_POINTS / 2;
    trend->stride *= 2;
}

// The moment that ends a point also begins the next one.
static void
end_window(struct trend *trend, const struct trend_moment *moment,
           const struct trend_state *state)
{
    trend->full |= (uint32_t)moment->full_ended << (trend->count - 1);
    trend->filled++;
    if (trend->filled < trend->stride) {
        return;
    }
    trend->filled = 0;
    if (trend->count == TREND_POINTS) {
        merge_pairs(trend);
    }
    trend->points[trend->count++] = point_of(trend, moment, state);
}

void
trend_add(struct trend *trend, const struct trend_moment *moment,
          const struct trend_state *state)
{
    struct trend_point now = point_of(trend, moment, state);
    struct trend_point *open = &trend->points[trend->count - 1];
    *open = merged(open, &now);
    if (moment->window_ends) {
        end_window(trend, moment, state);
    }
}
