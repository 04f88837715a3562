// What the model makes of TAGS: rates, what was at marks, and what a hostile probe says.
#include "tui/model/tags.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"

#define SECOND UINT64_C(1000000)

static struct model *model;
static uint64_t now_us;

static int
start(void **state)
{
    (void)state;
    now_us = 1000 * SECOND;
    model = model_new();
    return model ? 0 : -1;
}

static int
stop(void **state)
{
    (void)state;
    model_free(model);
    return 0;
}

static bool
apply(struct message message)
{
    message.at = (struct stamp){now_us, UINT64_C(1767268800000000) + now_us};
    return model_apply(model, &message);
}

static void
sample(uint64_t seconds)
{
    now_us += seconds * SECOND;
    assert_true(apply((struct message){
        .kind = MESSAGE_SAMPLE, .sample = {.key = true, .mode = MODE_COUNT}
    }));
}

static bool
tell_names(bool key, const struct tag_name *names, size_t count)
{
    return apply((struct message){
        .kind = MESSAGE_TAGS, .tags = {.key = key, .names = names, .name_count = count}
    });
}

static void
name(uint32_t id, const char *text)
{
    const struct tag_name named = {id, text_of(text)};
    assert_true(tell_names(false, &named, 1));
}

static void
row(uint32_t id, uint64_t calls, uint64_t allocated, uint64_t live)
{
    const struct tag_row told = {
        .id = id,
        .calls = calls,
        .allocated = allocated,
        .live = live,
        .ages = {live, 3, 2, 1}
    };
    assert_true(apply((struct message){
        .kind = MESSAGE_TAGS, .tags = {.rows = &told, .row_count = 1}
    }));
}

static const struct model_tag *
tag(uint32_t id)
{
    return model_tag_find(model, id);
}

static void
rates_are_of_the_last_seconds(void **state)
{
    (void)state;
    name(2, "route=a");
    row(2, 100, 1000, 5);
    sample(1);
    assert_true(isnan(tag(2)->calls_per_second));
    for (uint64_t i = 1; i <= 20; i++) {
        row(2, 100 + 3 * i, 1000 + 90 * i, 5);
        sample(1);
    }
    assert_float_equal(tag(2)->calls_per_second, 3, 1e-9);
    assert_float_equal(tag(2)->allocated_per_second, 90, 1e-9);
    for (uint64_t i = 0; i < 12; i++) {
        sample(1); // nothing is told of what does not change
    }
    assert_float_equal(tag(2)->calls_per_second, 0, 1e-9);
    name(3, "route=b");
    row(3, 6, 60, 1); // it came since: nothing was in it before
    sample(1);
    assert_true(tag(3)->calls_per_second > 0);
}

static void
changes_are_since_connecting_or_a_mark(void **state)
{
    (void)state;
    name(2, "route=a");
    row(2, 1, 10, 7); // before the first sample: it was there already
    sample(1);
    name(3, "route=b");
    row(3, 1, 10, 4);
    assert_float_equal(tag(2)->baseline_live, 7, 0);
    assert_float_equal(tag(3)->baseline_live, 0, 0);
    row(2, 2, 20, 9);
    assert_float_equal(tag(2)->baseline_live, 7, 0);
    assert_true(model_mark_set(model, 0));
    assert_true(model_mark_use(model, 0));
    row(2, 3, 30, 20);
    name(4, "route=c");
    row(4, 1, 10, 2);
    assert_float_equal(tag(2)->baseline_live, 9, 0);
    assert_true(model_mark_use(model, MODEL_MARK_NONE));
    assert_float_equal(tag(2)->baseline_live, 7, 0);
    assert_float_equal(tag(4)->baseline_live, 0, 0);
}

static void
retained_are_those_that_survived_two_collections(void **state)
{
    (void)state;
    const uint64_t unknown[AGE_BUCKETS] = {1, 2, 3, COUNT_UNKNOWN};
    name(2, "route=a");
    row(2, 1, 10, 7);
    assert_float_equal(tag(2)->retained, 6, 0);
    assert_true(isnan(model_retained(unknown)));
}

static void
names_are_made_fit_for_people(void **state)
{
    (void)state;
    name(2, "a=\x1b[31m\nb=c\xff");
    assert_string_equal(tag(2)->text, "a=\\x1B[31m b=c\\xFF");
    assert_string_equal(tag(2)->raw, "a=\x1b[31m\nb=c\xff");
    name(2, "another"); // a probe that changes its mind
    assert_string_equal(tag(2)->text, "another");
}

static void
ids_that_no_probe_gives_are_not_kept(void **state)
{
    (void)state;
    name(0, "none");
    name(5, "five");
    name(3, "late");
    row(4, 1, 1, 1); // without a name
    assert_int_equal(model_tag_count(model), 1);
    assert_string_equal(model_tag_at(model, 0)->text, "five");
    for (uint32_t i = 6; i < MODEL_TAGS_MAX + 100; i++) {
        name(i, "more");
    }
    assert_int_equal(model_tag_count(model), MODEL_TAGS_MAX);
}

static void
classes_of_a_tag_replace_those_before_and_no_others(void **state)
{
    (void)state;
    const struct tag_class both[] = {
        {.tag = 2, .class_id = 1, .live = 1},
        {.tag = 2, .class_id = 2, .live = 2},
        {.tag = 3, .class_id = 1, .live = 3}
    };
    const struct tag_class one = {.tag = 2, .class_id = 7, .live = 9};
    const struct tag_class *list;
    assert_true(apply((struct message){
        .kind = MESSAGE_TAGS, .tags = {.classes = both, .class_count = 3}
    }));
    assert_int_equal(model_tag_classes(model, 2, &list), 2);
    assert_true(apply((struct message){
        .kind = MESSAGE_TAGS, .tags = {.classes = &one, .class_count = 1}
    }));
    assert_int_equal(model_tag_classes(model, 2, &list), 1);
    assert_int_equal(list->class_id, 7);
    assert_int_equal(model_tag_classes(model, 3, &list), 1);
    assert_int_equal(list->live, 3);
    assert_int_equal(model_tag_classes(model, 4, &list), 0);
}

static void
what_a_whole_list_lacks_is_not_there_and_marks_stay(void **state)
{
    (void)state;
    const struct tag_name again[] = {
        {2, {"route=a", 7}},
        {3, {"route=b", 7}}
    };
    name(2, "route=a");
    name(3, "route=b");
    row(2, 1, 10, 7);
    row(3, 1, 10, 4);
    sample(1);
    assert_true(model_mark_set(model, 0) && model_mark_use(model, 0));
    assert_true(tell_names(true, again, 2));
    row(2, 2, 20, 9);
    assert_true(tag(2)->listed);
    assert_false(tag(3)->listed);
    assert_true(tag(3)->now.live == COUNT_UNKNOWN);
    assert_float_equal(tag(2)->baseline_live, 7, 0);
    model_reconnect(model);
    assert_int_equal(model_tag_count(model), 0);
}

static void
a_copy_stays_as_it_was(void **state)
{
    (void)state;
    name(2, "route=a");
    row(2, 1, 10, 7);
    struct model *copy = model_copy(model);
    assert_non_null(copy);
    row(2, 5, 50, 40);
    name(2, "other");
    assert_int_equal(model_tag_find(copy, 2)->now.live, 7);
    assert_string_equal(model_tag_find(copy, 2)->text, "route=a");
    model_free(copy);
}

static void
without_memory_it_is_less_and_never_wrong(void **state)
{
    (void)state;
    const struct tag_class class = {.tag = 2, .class_id = 1};
    for (int i = 0; i < 12; i++) {
        const struct tag_name named = {2, text_of("route=a")};
        memory_allow(i);
        tell_names(false, &named, 1);
        apply((struct message){
            .kind = MESSAGE_TAGS, .tags = {.classes = &class, .class_count = 1}
        });
        struct model *copy = model_copy(model);
        memory_allow(-1);
        model_free(copy);
        assert_in_range(model_tag_count(model), 0, 1);
    }
    name(2, "route=a");
    assert_string_equal(tag(2)->text, "route=a");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
        TEST(rates_are_of_the_last_seconds),
        TEST(changes_are_since_connecting_or_a_mark),
        TEST(retained_are_those_that_survived_two_collections),
        TEST(names_are_made_fit_for_people),
        TEST(ids_that_no_probe_gives_are_not_kept),
        TEST(classes_of_a_tag_replace_those_before_and_no_others),
        TEST(what_a_whole_list_lacks_is_not_there_and_marks_stay),
        TEST(a_copy_stays_as_it_was),
        TEST(without_memory_it_is_less_and_never_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
