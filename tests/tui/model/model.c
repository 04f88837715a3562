#include "tui/model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"

#define SECOND UINT64_C(1000000)
#define NONE COUNT_UNKNOWN

static bool
hello(struct model *model, uint64_t pid, uint64_t started_us)
{
    const struct message message = {
        .kind = MESSAGE_HELLO,
        .hello = {.version = 1,
                  .program_version = text_of("1"),
                  .pid = pid,
                  .command = text_of("ruby \x1b[2J"),
                  .runtime = text_of("ruby 3.1.2"),
                  .started_us = started_us,
                  .interval_ms = 1000},
    };
    return model_apply(model, &message);
}

static bool
name(struct model *model, class_id id, const char *text)
{
    const struct class_name named = {id, 0, text_of(text)};
    const struct message message = {
        .kind = MESSAGE_NAMES, .names = {&named, 1}
    };
    return model_apply(model, &message);
}

static bool
sample(struct model *model, uint64_t us, bool key, const struct class_row *rows,
       size_t count)
{
    struct message message = {
        .kind = MESSAGE_SAMPLE, .at = {us, us}
    };
    message.sample = (struct sample){.key = key,
                                     .mode = MODE_COUNT,
                                     .process = {.rss_bytes = us},
                                     .rows = rows,
                                     .row_count = count};
    for (size_t i = 0; i < count; i++) {
        message.sample.totals.live += rows[i].live;
    }
    return model_apply(model, &message);
}

// One class, by name A, in a delta sample.
static void
one(struct model *model, uint64_t second, uint64_t live)
{
    const struct class_row row = {1, live, live * 2, live, live * 40};
    assert_true(sample(model, second * SECOND, false, &row, 1));
}

static struct model *
with_one(uint64_t live)
{
    struct model *model = model_new();
    const struct class_row row = {1, live, live * 2, live, live * 40};
    assert_non_null(model);
    assert_true(hello(model, 10, 1));
    assert_true(name(model, 1, "A"));
    assert_true(sample(model, 100 * SECOND, true, &row, 1));
    return model;
}

static const struct model_class *
class_a(const struct model *model)
{
    const struct model_class *class = model_class_find(model, 1);
    assert_non_null(class);
    return class;
}

static void
knows_nothing_at_first(void **state)
{
    struct model *model = model_new();
    (void)state;
    assert_int_equal(model_class_count(model), 0);
    assert_null(model_class_find(model, 1));
    assert_true(model_sample(model)->totals.live == COUNT_UNKNOWN);
    assert_null(model_bye(model));
    assert_false(model_sampled(model));
    assert_true(isnan(model_rates(model)->live));
    assert_int_equal(model_mark_used(model), MODEL_MARK_NONE);
    uint64_t values[4];
    assert_int_equal(model_series(model, MODEL_SERIES_RSS, values, 4), 0);
    model_free(model);
    model_free(NULL);
}

static void
keeps_texts_escaped(void **state)
{
    struct model *model = model_new();
    (void)state;
    assert_true(hello(model, 10, 1));
    assert_string_equal(model_hello(model)->command.bytes, "ruby \\x1B[2J");
    assert_int_equal(model_hello(model)->command.length, strlen("ruby \\x1B[2J"));
    assert_true(name(model, 7, "A\xff\n"));
    assert_string_equal(model_class_find(model, 7)->name, "A\\xFF\\x0A");
    assert_false(model_class_find(model, 7)->listed);
    model_free(model);
}

static void
takes_what_changed_and_keeps_the_rest(void **state)
{
    struct model *model = with_one(5);
    const struct class_row other = {2, 9, 9, 0, NONE};
    (void)state;
    assert_true(sample(model, 101 * SECOND, false, &other, 1));
    assert_int_equal(model_class_count(model), 2);
    assert_int_equal(class_a(model)->now.live, 5);
    assert_int_equal(model_class_find(model, 2)->now.live, 9);
    assert_string_equal(model_class_find(model, 2)->name, "");
    assert_null(model_sample(model)->rows);
    model_free(model);
}

static void
takes_a_class_that_is_listed_twice(void **state)
{
    struct model *model = model_new();
    const struct class_row rows[] = {
        {1, 5, 5, 0, NONE},
        {1, 7, 7, 0, NONE}
    };
    (void)state;
    assert_true(sample(model, 100 * SECOND, true, rows, 2));
    assert_int_equal(model_class_count(model), 1);
    assert_int_equal(class_a(model)->now.live, 7);
    model_free(model);
}

static void
counts_changes_from_zero_for_a_class_that_was_born_later(void **state)
{
    struct model *model = with_one(5);
    const struct class_row born = {2, 9, 9, 0, 360};
    (void)state;
    assert_int_equal(class_a(model)->baseline, 5);
    assert_true(sample(model, 101 * SECOND, false, &born, 1));
    assert_int_equal(model_class_find(model, 2)->baseline, 0);
    assert_int_equal(model_class_find(model, 2)->baseline_bytes, 0);
    model_free(model);
}

static void
keeps_two_minutes_of_each_second(void **state)
{
    struct model *model = with_one(1000);
    uint64_t values[MODEL_HISTORY];
    (void)state;
    for (uint64_t second = 1; second < 300; second++) {
        one(model, 100 + second, 1000 + second);
        size_t wanted = second + 1 < MODEL_HISTORY ? second + 1 : MODEL_HISTORY;
        assert_int_equal(model_history(model, class_a(model), values, MODEL_HISTORY),
                         wanted);
        for (size_t i = 0; i < wanted; i++) {
            assert_int_equal(values[i], 1000 + second - (wanted - 1 - i));
        }
    }
    assert_int_equal(model_history(model, class_a(model), values, 3), 3);
    assert_int_equal(values[0], 1297);
    assert_int_equal(model_series(model, MODEL_SERIES_LIVE, values, 3), 3);
    assert_int_equal(values[2], 1299);
    model_free(model);
}

// Against a plain array of what each second was.
static void
remembers_rare_changes_like_frequent_ones(void **state)
{
    static uint64_t truth[4000];
    unsigned seed = 3;
    (void)state;
    struct model *model = with_one(50);
    truth[0] = 50;
    for (uint64_t second = 1; second < 4000; second++) {
        seed = seed * 1103515245u + 12345u;
        // at times often, at times not for minutes
        unsigned chance = second / 200 % 3 == 0 ? 300 : second / 200 % 3 == 1 ? 2 : 20;
        bool changes = (seed >> 16) % chance == 0;
        truth[second] = changes ? seed >> 20 : truth[second - 1];
        if (changes) {
            one(model, 100 + second, truth[second]);
        } else {
            assert_true(sample(model, (100 + second) * SECOND, false, NULL, 0));
        }
        uint64_t values[MODEL_HISTORY];
        size_t count = model_history(model, class_a(model), values, MODEL_HISTORY);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(values[i], truth[second - (count - 1 - i)]);
        }
    }
    model_free(model);
}

static void
carries_a_value_over_a_missing_sample_but_not_over_a_gap(void **state)
{
    struct model *model = with_one(5);
    uint64_t values[MODEL_HISTORY];
    (void)state;
    one(model, 103, 6); // two seconds are missing: 101, 102
    assert_int_equal(model_history(model, class_a(model), values, MODEL_HISTORY), 4);
    assert_int_equal(values[1], 5);
    assert_int_equal(values[2], 5);
    assert_int_equal(values[3], 6);
    one(model, 123, 7); // twenty are
    assert_int_equal(model_history(model, class_a(model), values, MODEL_HISTORY), 24);
    assert_int_equal(values[3], 6);
    assert_true(values[4] == COUNT_UNKNOWN);
    assert_true(values[22] == COUNT_UNKNOWN);
    assert_int_equal(values[23], 7);
    assert_int_equal(model_series(model, MODEL_SERIES_LIVE, values, MODEL_HISTORY), 24);
    assert_true(values[22] == COUNT_UNKNOWN);
    model_free(model);
}

static void
survives_a_clock_that_jumps(void **state)
{
    struct model *model = with_one(5);
    uint64_t values[MODEL_HISTORY];
    (void)state;
    one(model, 101, 6);
    one(model, 20, 7); // back
    assert_int_equal(model_history(model, class_a(model), values, MODEL_HISTORY), 3);
    assert_int_equal(values[2], 7);
    assert_true(isnan(class_a(model)->live_per_second));
    one(model, 21, 8);
    assert_int_equal(model_history(model, class_a(model), values, MODEL_HISTORY), 4);
    one(model, UINT64_MAX / SECOND, 9); // far ahead
    size_t count = model_history(model, class_a(model), values, MODEL_HISTORY);
    assert_int_equal(count, MODEL_HISTORY);
    assert_int_equal(values[count - 1], 9);
    assert_true(values[count - 2] == COUNT_UNKNOWN);
    model_free(model);
}

static void
measures_rates_by_the_stamps_not_by_the_samples(void **state)
{
    struct model *model = with_one(100);
    (void)state;
    assert_true(isnan(class_a(model)->live_per_second));
    one(model, 104, 140); // three samples are missing
    assert_float_equal(class_a(model)->live_per_second, 10, 1e-9);
    assert_float_equal(class_a(model)->allocated_per_second, 20, 1e-9);
    assert_float_equal(class_a(model)->freed_per_second, 10, 1e-9);
    assert_float_equal(model_rates(model)->live, 10, 1e-9);
    model_free(model);
}

static void
lets_a_rate_fall_to_zero_when_nothing_changes_any_more(void **state)
{
    struct model *model = with_one(100);
    (void)state;
    one(model, 101, 200);
    for (uint64_t second = 102; second <= 120; second++) {
        assert_true(sample(model, second * SECOND, false, NULL, 0));
    }
    assert_float_equal(class_a(model)->live_per_second, 0, 1e-9);
    model_free(model);
}

static void
follows_a_change_of_rate_within_ten_seconds(void **state)
{
    struct model *model = with_one(0);
    uint64_t live = 0;
    (void)state;
    for (uint64_t second = 101; second <= 160; second++) {
        live += second <= 140 ? 10 : 50;
        one(model, second, live);
        if (second > 101 && second <= 140) {
            assert_float_equal(class_a(model)->live_per_second, 10, 1e-9);
        }
    }
    assert_float_equal(class_a(model)->live_per_second, 50, 1e-9);
    model_free(model);
}

static void
rates_a_class_that_was_born_from_zero_on(void **state)
{
    struct model *model = with_one(0);
    const struct class_row born = {2, 30, 30, 0, NONE};
    (void)state;
    assert_true(sample(model, 103 * SECOND, false, &born, 1));
    assert_float_equal(model_class_find(model, 2)->live_per_second, 10, 1e-9);
    model_free(model);
}

static void
knows_no_rate_of_a_count_that_is_not_known(void **state)
{
    struct model *model = with_one(5);
    const struct class_row row = {1, 6, NONE, NONE, NONE};
    (void)state;
    assert_true(sample(model, 101 * SECOND, false, &row, 1));
    assert_float_equal(class_a(model)->live_per_second, 1, 1e-9);
    assert_true(isnan(class_a(model)->allocated_per_second));
    const struct class_row less = {1, 4, 3, 1, NONE}; // counting started over
    assert_true(sample(model, 102 * SECOND, false, &less, 1));
    assert_float_equal(class_a(model)->live_per_second, -0.5, 1e-9);
    assert_true(isnan(class_a(model)->allocated_per_second));
    model_free(model);
}

static void
rates_a_census_from_walk_to_walk(void **state)
{
    struct model *model = with_one(5);
    struct class_row row = {1, 100, NONE, NONE, NONE};
    struct message message = {
        .kind = MESSAGE_SAMPLE, .at = {101 * SECOND, 0}
    };
    (void)state;
    message.sample = (struct sample){.mode = MODE_CENSUS, .rows = &row, .row_count = 1};
    message.sample.probe.census_us = 1000 * SECOND;
    assert_true(model_apply(model, &message));
    assert_true(isnan(class_a(model)->live_per_second));
    row.live = 160;
    message.at.monotonic_us = 131 * SECOND;
    message.sample.probe.census_us = 1030 * SECOND;
    assert_true(model_apply(model, &message));
    assert_float_equal(class_a(model)->live_per_second, 2, 1e-9);
    message.at.monotonic_us = 132 * SECOND; // the same walk
    assert_true(model_apply(model, &message));
    assert_float_equal(class_a(model)->live_per_second, 2, 1e-9);
    model_free(model);
}

static void
tells_the_trend_of_the_memory_and_the_collectors_share(void **state)
{
    struct model *model = with_one(5);
    struct message message = {.kind = MESSAGE_SAMPLE};
    (void)state;
    for (uint64_t second = 101; second <= 140; second++) {
        message.at.monotonic_us = second * SECOND;
        message.sample.mode = MODE_COUNT;
        message.sample.process =
            (struct process_state){.rss_bytes = 100 * SECOND + (second - 100) * 1000,
                                   .gc_time_ms = (second - 100) * 20};
        assert_true(model_apply(model, &message));
    }
    assert_float_equal(model_rates(model)->rss_bytes_per_minute, 60000, 1);
    assert_float_equal(model_rates(model)->gc_percent, 2.0, 1e-6);
    model_free(model);
}

static void
keeps_what_is_gone_for_a_minute(void **state)
{
    struct model *model = with_one(5);
    const class_id gone[] = {1, 99};
    struct message message = {
        .kind = MESSAGE_SAMPLE, .at = {101 * SECOND, 0}
    };
    (void)state;
    message.sample = (struct sample){.mode = MODE_COUNT, .gone = gone, .gone_count = 2};
    assert_true(model_apply(model, &message));
    assert_true(class_a(model)->gone);
    assert_int_equal(class_a(model)->now.live, 0);
    assert_true(sample(model, 160 * SECOND, false, NULL, 0));
    assert_non_null(model_class_find(model, 1));
    assert_true(sample(model, 161 * SECOND, false, NULL, 0));
    assert_null(model_class_find(model, 1));
    assert_int_equal(model_class_count(model), 0);
    model_free(model);
}

static void
lets_a_key_sample_remove_what_it_does_not_list(void **state)
{
    struct model *model = with_one(5);
    const struct class_row rows[] = {
        {2, 9, 9, 0, NONE}
    };
    (void)state;
    assert_true(name(model, 3, "named only"));
    assert_true(sample(model, 101 * SECOND, true, rows, 1));
    assert_true(class_a(model)->gone);
    assert_false(model_class_find(model, 2)->gone);
    assert_false(model_class_find(model, 3)->gone);
    model_free(model);
}

static void
brings_back_a_class_that_was_gone(void **state)
{
    struct model *model = with_one(5);
    (void)state;
    assert_true(sample(model, 101 * SECOND, true, NULL, 0));
    assert_true(class_a(model)->gone);
    one(model, 102, 3);
    assert_false(class_a(model)->gone);
    assert_int_equal(class_a(model)->now.live, 3);
    model_free(model);
}

static void
compares_with_the_mark_in_use(void **state)
{
    struct model *model = with_one(5);
    const struct class_row born = {2, 9, 9, 0, 360};
    (void)state;
    one(model, 101, 8);
    assert_false(model_mark_use(model, 0));
    assert_true(model_mark_set(model, 0));
    assert_true(model_mark_use(model, 0));
    assert_int_equal(class_a(model)->baseline, 8);
    assert_int_equal(class_a(model)->baseline_bytes, 320);
    one(model, 102, 20);
    assert_int_equal(class_a(model)->baseline, 8);
    assert_true(sample(model, 103 * SECOND, false, &born, 1));
    assert_int_equal(model_class_find(model, 2)->baseline, 0);
    assert_true(model_mark_set(model, 25));
    assert_true(model_mark_use(model, 25));
    assert_int_equal(class_a(model)->baseline, 20);
    assert_int_equal(model_class_find(model, 2)->baseline, 9);
    assert_int_equal(model_mark(model, 25)->at.monotonic_us, 103 * SECOND);
    assert_null(model_mark(model, 1));
    assert_true(model_mark_use(model, MODEL_MARK_NONE));
    assert_int_equal(class_a(model)->baseline, 5);
    model_free(model);
}

// A slot that is used again must not inherit the mark of the class before.
static void
gives_a_new_class_in_an_old_slot_no_old_baseline(void **state)
{
    struct model *model = with_one(5);
    const struct class_row other = {2, 9, 9, 0, NONE};
    (void)state;
    assert_true(model_mark_set(model, 0));
    assert_true(model_mark_use(model, 0));
    uint32_t slot = class_a(model)->slot;
    uint32_t serial = class_a(model)->serial;
    assert_true(sample(model, 101 * SECOND, true, NULL, 0));
    assert_true(sample(model, 161 * SECOND, true, NULL, 0));
    assert_true(sample(model, 162 * SECOND, false, &other, 1));
    assert_int_equal(model_class_find(model, 2)->slot, slot);
    assert_true(model_class_find(model, 2)->serial > serial);
    assert_int_equal(model_class_find(model, 2)->baseline, 0);
    assert_ptr_equal(model_class_in(model, slot), model_class_find(model, 2));
    model_free(model);
}

static void
finds_classes_again_by_name_after_a_reconnect(void **state)
{
    struct model *model = with_one(5);
    uint64_t values[MODEL_HISTORY];
    const struct class_row row = {77, 9, 9, 0, 360};
    (void)state;
    one(model, 101, 6);
    assert_true(model_mark_set(model, 0));
    assert_true(model_mark_use(model, 0));
    uint32_t serial = class_a(model)->serial;
    model_reconnect(model);
    assert_int_equal(model_class_count(model), 1); // the last data stays
    assert_null(model_class_find(model, 1));
    assert_true(hello(model, 10, 1));
    assert_false(model_restarted(model));
    assert_true(name(model, 77, "A"));
    assert_true(sample(model, 105 * SECOND, true, &row, 1));
    const struct model_class *class = model_class_find(model, 77);
    assert_int_equal(class->serial, serial);
    assert_int_equal(class->now.id, 77);
    assert_int_equal(class->baseline, 6);
    assert_true(isnan(class->live_per_second));
    assert_int_equal(model_history(model, class, values, MODEL_HISTORY), 6);
    assert_int_equal(values[1], 6);
    assert_true(values[2] == COUNT_UNKNOWN);
    assert_int_equal(values[5], 9);
    model_free(model);
}

static void
starts_anew_what_was_since_connecting_when_the_process_is_another(void **state)
{
    struct model *model = with_one(5);
    const struct class_row row = {3, 9, 9, 0, 360};
    (void)state;
    model_reconnect(model);
    assert_true(hello(model, 11, 2));
    assert_true(model_restarted(model));
    assert_true(name(model, 3, "A"));
    assert_true(sample(model, 110 * SECOND, true, &row, 1));
    assert_int_equal(model_class_find(model, 3)->baseline, 9);
    assert_int_equal(model_connected(model).monotonic_us, 110 * SECOND);
    assert_int_equal(model_class_count(model), 1);
    model_free(model);
}

static void
adopts_a_class_that_a_restarted_process_loads_later(void **state)
{
    struct model *model = with_one(5);
    const struct class_row other = {1, 2, 2, 0, NONE};
    const struct class_row row = {2, 9, 9, 0, NONE};
    (void)state;
    uint32_t serial = class_a(model)->serial;
    model_reconnect(model);
    assert_true(hello(model, 11, 2));
    assert_true(name(model, 1, "B"));
    assert_true(sample(model, 110 * SECOND, true, &other, 1));
    assert_int_equal(model_class_count(model), 2); // A is gone, and kept
    assert_true(name(model, 2, "A"));
    assert_true(sample(model, 120 * SECOND, false, &row, 1));
    assert_int_equal(model_class_find(model, 2)->serial, serial);
    assert_false(model_class_find(model, 2)->gone);
    // nothing is left to be adopted twice
    assert_true(name(model, 9, "A"));
    assert_true(model_class_find(model, 9)->serial != serial);
    model_free(model);
}

static void
keeps_a_notice_until_it_is_withdrawn(void **state)
{
    struct model *model = model_new();
    struct message message = {
        .kind = MESSAGE_NOTICE, .notice = {1, NOTICE_WARNING, text_of("one\n")}
    };
    (void)state;
    assert_true(model_apply(model, &message));
    message.notice = (struct notice){2, NOTICE_INFO, text_of("two")};
    assert_true(model_apply(model, &message));
    message.notice = (struct notice){1, NOTICE_INFO, text_of("uno")};
    assert_true(model_apply(model, &message));
    assert_int_equal(model_notice_count(model), 2);
    assert_string_equal(model_notice_at(model, 0)->text, "uno");
    message.notice.text.length = 0;
    assert_true(model_apply(model, &message));
    assert_int_equal(model_notice_count(model), 1);
    assert_string_equal(model_notice_at(model, 0)->text, "two");
    for (uint64_t id = 10; id < 100; id++) {
        message.notice = (struct notice){id, NOTICE_INFO, text_of("more")};
        assert_true(model_apply(model, &message));
    }
    assert_int_equal(model_notice_count(model), MODEL_NOTICES_MAX);
    assert_int_equal(model_notice_at(model, MODEL_NOTICES_MAX - 1)->id, 99);
    model_free(model);
}

static void
counts_nothing_while_dormant_and_starts_anew_after(void **state)
{
    struct model *model = with_one(5);
    struct message message = {
        .kind = MESSAGE_SAMPLE, .at = {101 * SECOND, 0}
    };
    const struct class_row rows[] = {
        {11, 50, 0, 0, NONE},
        {12, 7,  0, 0, NONE}
    };
    uint64_t values[MODEL_HISTORY];
    (void)state;
    message.sample = (struct sample){.key = true, .mode = MODE_DORMANT};
    message.sample.totals.live = 0; // as a probe may say that does not count
    assert_true(model_apply(model, &message));
    assert_true(model_sample(model)->totals.live == COUNT_UNKNOWN);
    message.at.monotonic_us = 102 * SECOND;
    assert_true(model_apply(model, &message));
    assert_false(model_class_at(model, 0)->gone);
    assert_null(model_class_find(model, 1)); // its id means nothing any more
    assert_true(name(model, 11, "A"));
    assert_true(name(model, 12, "B"));
    assert_true(sample(model, 104 * SECOND, true, rows, 2));
    assert_int_equal(model_class_count(model), 2);
    const struct model_class *class = model_class_find(model, 11);
    assert_int_equal(class->baseline, 5); // changes go on from before the pause
    // nobody saw class 12 come: it may be older than the pause
    assert_int_equal(model_class_find(model, 12)->baseline, 7);
    assert_true(isnan(class->live_per_second));
    assert_int_equal(model_history(model, class, values, MODEL_HISTORY), 5);
    assert_int_equal(values[0], 5);
    assert_true(values[1] == COUNT_UNKNOWN);
    assert_true(values[3] == COUNT_UNKNOWN);
    assert_int_equal(values[4], 50);
    // the process was there all the time
    assert_int_equal(model_series(model, MODEL_SERIES_RSS, values, MODEL_HISTORY), 5);
    assert_true(values[2] != COUNT_UNKNOWN);
    model_free(model);
}

static void
copies_what_a_pause_shows(void **state)
{
    struct model *model = with_one(5);
    uint64_t values[MODEL_HISTORY];
    (void)state;
    one(model, 101, 6);
    assert_true(model_mark_set(model, 3));
    assert_true(model_mark_use(model, 3));
    struct model *copy = model_copy(model);
    assert_non_null(copy);
    for (uint64_t second = 102; second < 400; second++) {
        one(model, second, second);
    }
    model_free(model);
    assert_int_equal(class_a(copy)->now.live, 6);
    assert_int_equal(class_a(copy)->baseline, 6);
    assert_string_equal(class_a(copy)->name, "A");
    assert_string_equal(model_hello(copy)->runtime.bytes, "ruby 3.1.2");
    assert_int_equal(model_history(copy, class_a(copy), values, MODEL_HISTORY), 2);
    assert_int_equal(values[0], 5);
    assert_true(model_mark_use(copy, MODEL_MARK_NONE));
    assert_int_equal(class_a(copy)->baseline, 5);
    model_free(copy);
}

static void
finds_any_of_many_classes(void **state)
{
    enum { COUNT = 5000 };
    static struct class_row rows[COUNT];
    struct model *model = model_new();
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        rows[i] = (struct class_row){i * 4096, i, 0, 0, NONE};
    }
    assert_true(sample(model, SECOND, true, rows, COUNT));
    // every other one goes, and ids come back in another order
    for (uint32_t i = 0; i < COUNT / 2; i++) {
        rows[i] = (struct class_row){(COUNT - 1 - 2 * i) * 4096, i, 0, 0, NONE};
    }
    assert_true(sample(model, 2 * SECOND, true, rows, COUNT / 2));
    assert_true(sample(model, 63 * SECOND, true, rows, COUNT / 2));
    assert_int_equal(model_class_count(model), COUNT / 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct model_class *class = model_class_find(model, i * 4096);
        assert_int_equal(class != NULL, i % 2 == 1);
    }
    model_free(model);
}

// Everything a connection brings; false as soon as one message is not taken.
static bool
play(struct model *model)
{
    const struct class_row rows[] = {
        {1, 5, 5, 0, 200},
        {2, 6, 6, 0, 200}
    };
    const struct class_row later[] = {
        {1, 9, 9, 0, 360},
        {3, 7, 7, 0, 200}
    };
    const struct message notice = {
        .kind = MESSAGE_NOTICE, .notice = {1, NOTICE_WARNING, text_of("look")}
    };
    const struct message bye = {
        .kind = MESSAGE_BYE, .bye = {BYE_EXIT, 0, text_of("")}
    };
    if (!hello(model, 1, 1) || !name(model, 1, "A") || !name(model, 2, "B") ||
        !sample(model, SECOND, true, rows, 2) || !model_mark_set(model, 0) ||
        !sample(model, 2 * SECOND, false, later, 2) || !model_apply(model, &notice)) {
        return false;
    }
    model_reconnect(model);
    return hello(model, 1, 1) && name(model, 11, "A") &&
           sample(model, 3 * SECOND, true, rows, 2) && model_apply(model, &bye);
}

static void
stays_whole_wherever_memory_runs_out(void **state)
{
    bool done = false;
    (void)state;
    for (int allowed = 0; !done; allowed++) {
        memory_allow(allowed);
        struct model *model = model_new();
        if (model != NULL) {
            done = play(model);
            struct model *copy = done ? model_copy(model) : NULL;
            done = copy != NULL;
            memory_allow(-1);
            model_free(copy);
            // whatever was lost, the next key sample is taken whole
            const struct class_row row = {50, 4, 4, 0, NONE};
            assert_true(name(model, 50, "Z"));
            assert_true(sample(model, 9 * SECOND, true, &row, 1));
            assert_int_equal(model_class_find(model, 50)->now.live, 4);
        }
        memory_allow(-1);
        model_free(model);
        assert_true(allowed < 1000);
    }
}

static void
leaves_the_model_as_it_was_when_a_sample_finds_no_memory(void **state)
{
    const struct class_row rows[] = {
        {1, 9, 9, 0, 360 },
        {2, 7, 7, 0, NONE}
    };
    (void)state;
    bool taken = false;
    for (int allowed = 0; !taken; allowed++) {
        struct model *model = with_one(5);
        memory_allow(allowed);
        taken = sample(model, 101 * SECOND, true, rows, 2);
        memory_allow(-1);
        assert_int_equal(class_a(model)->now.live, taken ? 9 : 5);
        assert_int_equal(model_class_count(model), taken ? 2 : 1);
        assert_int_equal(model_time(model).monotonic_us, (taken ? 101 : 100) * SECOND);
        model_free(model);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_nothing_at_first),
        cmocka_unit_test(keeps_texts_escaped),
        cmocka_unit_test(takes_what_changed_and_keeps_the_rest),
        cmocka_unit_test(takes_a_class_that_is_listed_twice),
        cmocka_unit_test(counts_changes_from_zero_for_a_class_that_was_born_later),
        cmocka_unit_test(keeps_two_minutes_of_each_second),
        cmocka_unit_test(remembers_rare_changes_like_frequent_ones),
        cmocka_unit_test(carries_a_value_over_a_missing_sample_but_not_over_a_gap),
        cmocka_unit_test(survives_a_clock_that_jumps),
        cmocka_unit_test(measures_rates_by_the_stamps_not_by_the_samples),
        cmocka_unit_test(lets_a_rate_fall_to_zero_when_nothing_changes_any_more),
        cmocka_unit_test(follows_a_change_of_rate_within_ten_seconds),
        cmocka_unit_test(rates_a_class_that_was_born_from_zero_on),
        cmocka_unit_test(knows_no_rate_of_a_count_that_is_not_known),
        cmocka_unit_test(rates_a_census_from_walk_to_walk),
        cmocka_unit_test(tells_the_trend_of_the_memory_and_the_collectors_share),
        cmocka_unit_test(keeps_what_is_gone_for_a_minute),
        cmocka_unit_test(lets_a_key_sample_remove_what_it_does_not_list),
        cmocka_unit_test(brings_back_a_class_that_was_gone),
        cmocka_unit_test(compares_with_the_mark_in_use),
        cmocka_unit_test(gives_a_new_class_in_an_old_slot_no_old_baseline),
        cmocka_unit_test(finds_classes_again_by_name_after_a_reconnect),
        cmocka_unit_test(
            starts_anew_what_was_since_connecting_when_the_process_is_another),
        cmocka_unit_test(adopts_a_class_that_a_restarted_process_loads_later),
        cmocka_unit_test(keeps_a_notice_until_it_is_withdrawn),
        cmocka_unit_test(counts_nothing_while_dormant_and_starts_anew_after),
        cmocka_unit_test(copies_what_a_pause_shows),
        cmocka_unit_test(finds_any_of_many_classes),
        cmocka_unit_test(stays_whole_wherever_memory_runs_out),
        cmocka_unit_test(leaves_the_model_as_it_was_when_a_sample_finds_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
