#include "tui/model/diff.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tests/tui/model/pairs.h"

static const struct diff_class *
row_of(const struct diff *diff, const char *name, uint32_t flags)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (strcmp(diff->classes[i].name, name) == 0 && diff->classes[i].flags == flags) {
            return &diff->classes[i];
        }
    }
    return NULL;
}

static void
expect_row(const struct diff *diff, const char *name, enum diff_kind kind, int64_t live,
           int64_t bytes)
{
    const struct diff_class *row = row_of(diff, name, 0);
    assert_non_null(row);
    assert_int_equal(row->kind, kind);
    assert_int_equal(row->change.live, live);
    assert_int_equal(row->change.bytes, bytes);
}

#define MODEL(pid, second, list)                                                         \
    pairs_model(pid, second, list, sizeof(list) / sizeof((list)[0]))

/* Classes. */

static void
tells_what_came_grew_shrank_went_and_stayed(void **state)
{
    static const struct pairs_class one[] = {
        {"String", 1, 0, 100, 4000},
        {"Order",  2, 0, 10,  400 },
        {"Hash",   3, 0, 50,  900 },
        {"Gone",   4, 0, 7,   280 },
        {"Wide",   5, 0, 5,   100 },
        {"None",   6, 0, 0,   0   },
    };
    static const struct pairs_class other[] = {
        {"String", 1, 0, 100, 4000},
        {"Order",  2, 0, 510, 9900},
        {"Hash",   3, 0, 20,  360 },
        {"Wide",   5, 0, 5,   9100},
        {"New",    7, 0, 3,   120 },
    };
    struct model *before = MODEL(1, 100, one);
    struct model *after = MODEL(1, 160, other);
    struct diff diff;

    (void)state;
    assert_true(diff_init(&diff, before, after));
    expect_row(&diff, "String", DIFF_UNCHANGED, 0, 0);
    expect_row(&diff, "Order", DIFF_GROWN, 500, 9500);
    expect_row(&diff, "Hash", DIFF_SHRUNK, -30, -540);
    expect_row(&diff, "Gone", DIFF_GONE, -7, -280);
    expect_row(&diff, "Wide", DIFF_GROWN, 0, 9000); // as many, but larger
    expect_row(&diff, "New", DIFF_ADDED, 3, 120);
    expect_row(&diff, "None", DIFF_UNCHANGED, 0, 0); // known once, never an object
    assert_int_equal(row_of(&diff, "Order", 0)->change.allocated, 1000);
    assert_int_equal(diff.total.change.live, 466);
    assert_int_equal(diff.total.kind, DIFF_GROWN);
    assert_int_equal(diff.kinds[DIFF_GROWN], 2);
    assert_int_equal(diff.kinds[DIFF_UNCHANGED], 2);
    assert_true(diff.same_process);
    diff_destroy(&diff);
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

static void
orders_by_the_size_of_the_change(void **state)
{
    static const struct pairs_class one[] = {
        {"A", 1, 0, 100, 0            },
        {"B", 2, 0, 900, 0            },
        {"C", 3, 0, 5,   COUNT_UNKNOWN},
        {"D", 4, 0, 5,   10           },
    };
    static const struct pairs_class other[] = {
        {"A", 1, 0, 200,           0            },
        {"B", 2, 0, 100,           0            },
        {"C", 3, 0, COUNT_UNKNOWN, COUNT_UNKNOWN},
        {"D", 4, 0, 5,             20           },
        {"E", 5, 0, 5,             COUNT_UNKNOWN},
    };
    static const char *const wanted[] = {"B", "A", "E", "D", "C"};
    struct model *before = MODEL(1, 100, one);
    struct model *after = MODEL(1, 160, other);
    struct diff diff;

    (void)state;
    assert_true(diff_init(&diff, before, after));
    assert_int_equal(diff.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(diff.classes[i].name, wanted[i]);
    }
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

static void
what_is_unknown_stays_unknown(void **state)
{
    static const struct pairs_class one[] = {
        {"A", 1, 0, 100,           COUNT_UNKNOWN},
        {"B", 2, 0, COUNT_UNKNOWN, COUNT_UNKNOWN},
        {"C", 3, 0, COUNT_UNKNOWN, 100          },
        {"D", 4, 0, 3,             3            },
        {"D", 5, 0, COUNT_UNKNOWN, 4            },
    };
    static const struct pairs_class other[] = {
        {"A", 1, 0, 150, 6000},
        {"B", 2, 0, 5,   200 },
        {"C", 3, 0, 5,   200 },
        {"D", 4, 0, 3,   3   },
    };
    struct model *before = MODEL(1, 100, one);
    struct model *after = MODEL(1, 160, other);
    struct diff diff;

    (void)state;
    assert_true(diff_init(&diff, before, after));
    // the model's total of live is unknown as well: it is not known what it lists
    assert_false(diff.counted_before);
    expect_row(&diff, "A", DIFF_GROWN, 50, DIFF_UNKNOWN);
    expect_row(&diff, "B", DIFF_UNTOLD, DIFF_UNKNOWN, DIFF_UNKNOWN);
    expect_row(&diff, "C", DIFF_GROWN, DIFF_UNKNOWN, 100);
    expect_row(&diff, "D", DIFF_SHRUNK, DIFF_UNKNOWN, -4); // a sum with an unknown part
    assert_int_equal(diff.total.kind, DIFF_UNTOLD);
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

static void
a_model_that_did_not_count_has_not_lost_anything(void **state)
{
    static const struct pairs_class one[] = {
        {"A", 1, 0, 100, 10}
    };
    struct model *counted = MODEL(1, 100, one);
    struct model *empty = model_new();
    struct diff diff;

    (void)state;
    assert_non_null(empty);
    assert_true(diff_init(&diff, counted, empty));
    expect_row(&diff, "A", DIFF_UNTOLD, DIFF_UNKNOWN, DIFF_UNKNOWN);
    assert_true(diff.classes[0].after.live == COUNT_UNKNOWN);
    assert_int_equal(diff.classes[0].before.live, 100);
    diff_destroy(&diff);
    assert_true(diff_init(&diff, empty, counted));
    expect_row(&diff, "A", DIFF_UNTOLD, DIFF_UNKNOWN, DIFF_UNKNOWN);
    diff_destroy(&diff);
    assert_true(diff_init(&diff, empty, empty));
    assert_int_equal(diff.count, 0);
    diff_destroy(&diff);
    model_free(counted);
    model_free(empty);
}

static void
classes_of_one_name_are_one_row_but_not_those_of_another_kind(void **state)
{
    static const struct pairs_class one[] = {
        {"#<Class:0x1>", 1, CLASS_ANONYMOUS, 10, 100},
        {"#<Class:0x1>", 2, CLASS_ANONYMOUS, 20, 200},
        {"Order",        3, 0,               1,  10 },
        {"(iseq)",       4, CLASS_INTERNAL,  5,  50 },
        {"(iseq)",       5, 0,               6,  60 },
        {NULL,           6, 0,               7,  70 },
        {NULL,           7, 0,               8,  80 },
    };
    static const struct pairs_class other[] = {
        {"Order",        11, 0,                              2,  20 },
        {"Order",        12, CLASS_TRACED,                   3,  30 },
        {"#<Class:0x1>", 13, CLASS_ANONYMOUS | CLASS_PINNED, 50, 500},
        {"(iseq)",       14, CLASS_INTERNAL,                 5,  50 },
        {"(iseq)",       15, 0,                              6,  60 },
        {NULL,           16, 0,                              9,  90 },
    };
    struct model *before = MODEL(1, 100, one);
    struct model *after = MODEL(2, 160, other);
    struct diff diff;

    (void)state;
    assert_true(diff_init(&diff, before, after));
    assert_false(diff.same_process);
    assert_int_equal(diff.count, 5);
    const struct diff_class *row = row_of(&diff, "#<Class:0x1>", CLASS_ANONYMOUS);
    assert_int_equal(row->before.live, 30);
    assert_int_equal(row->change.live, 20);
    assert_int_equal(row->classes_before, 2);
    assert_int_equal(row->classes_after, 1);
    expect_row(&diff, "Order", DIFF_GROWN, 4, 40);
    expect_row(&diff, "(iseq)", DIFF_UNCHANGED, 0, 0);
    assert_int_equal(row_of(&diff, "(iseq)", CLASS_INTERNAL)->before.live, 5);
    expect_row(&diff, "", DIFF_SHRUNK, -6, -60);
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

static void
figures_at_the_end_of_the_scale_do_not_overflow(void **state)
{
    static const struct pairs_class one[] = {
        {"A", 1, 0, UINT64_MAX - 1, 0             },
        {"A", 2, 0, UINT64_MAX - 1, 0             },
        {"B", 3, 0, 0,              UINT64_MAX - 1},
        {"C", 4, 0, INT64_MAX,      0             },
    };
    struct model *before = MODEL(1, 100, one);
    struct model *after = pairs_model(1, 160, one + 3, 1);
    struct diff diff;

    (void)state;
    assert_true(diff_init(&diff, before, after));
    expect_row(&diff, "A", DIFF_GONE, -INT64_MAX, 0);
    expect_row(&diff, "B", DIFF_GONE, 0, -INT64_MAX);
    expect_row(&diff, "C", DIFF_UNCHANGED, 0, 0);
    assert_true(row_of(&diff, "A", 0)->before.live == UINT64_MAX - 1);
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

static void
a_class_that_went_within_the_recording_is_gone(void **state)
{
    static const struct pairs_class one[] = {
        {"A", 1, 0, 9, 90},
        {"B", 2, 0, 1, 10},
    };
    static const class_id gone[] = {1};
    struct model *before = MODEL(1, 100, one);
    struct model *after = MODEL(1, 100, one);
    const struct message sample = {
        .kind = MESSAGE_SAMPLE,
        .at = {101 * SECOND, 101 * SECOND},
        .sample = { .mode = MODE_COUNT,
               .totals = {1, 10, 9, 10},
               .gone = gone,
               .gone_count = 1},
    };
    struct diff diff;

    (void)state;
    assert_true(model_apply(after, &sample));
    assert_true(diff_init(&diff, before, after));
    expect_row(&diff, "A", DIFF_GONE, -9, -90);
    assert_int_equal(row_of(&diff, "A", 0)->classes_after, 0);
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

/* Against brute force. */

static uint64_t
brute_sum(const struct pairs_class *classes, size_t count, const struct diff_class *row,
          size_t *found)
{
    uint64_t live = 0;
    *found = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(classes[i].name, row->name) == 0 && classes[i].flags == row->flags) {
            *found += 1;
            live = live == COUNT_UNKNOWN || classes[i].live == COUNT_UNKNOWN
                       ? COUNT_UNKNOWN
                       : live + classes[i].live;
        }
    }
    return live;
}

static size_t
random_classes(uint64_t *random, struct pairs_class *classes, char (*names)[8],
               size_t most)
{
    size_t count = (size_t)pairs_random(random, most);
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "C%d", (int)pairs_random(random, 60));
        uint64_t live = pairs_random(random, 30);
        classes[i] = (struct pairs_class){
            .id = (class_id)(100 + i),
            .name = names[i],
            .flags = pairs_random(random, 9) == 0 ? CLASS_INTERNAL : 0,
            .live = live,
            .bytes = pairs_random(random, 20) == 0 ? COUNT_UNKNOWN : 40 * live,
        };
    }
    return count;
}

static void
check_against_brute_force(const struct diff *diff, const struct pairs_class *one,
                          size_t one_count, const struct pairs_class *other,
                          size_t other_count)
{
    size_t rows = 0;
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_class *row = &diff->classes[i];
        size_t before;
        size_t after;
        assert_true(row->before.live == brute_sum(one, one_count, row, &before));
        assert_true(row->after.live == brute_sum(other, other_count, row, &after));
        assert_int_equal(row->classes_before, before);
        assert_int_equal(row->classes_after, after);
        assert_true(row->change.live ==
                    (int64_t)row->after.live - (int64_t)row->before.live);
        assert_true(i == 0 ||
                    llabs(diff->classes[i - 1].change.live) >= llabs(row->change.live));
        rows += before + after;
    }
    assert_int_equal(rows, one_count + other_count); // every class is in one row
}

static void
is_what_brute_force_says_of_random_models(void **state)
{
    static struct pairs_class one[100];
    static struct pairs_class other[100];
    static char one_names[100][8];
    static char other_names[100][8];
    uint64_t random = 11;

    (void)state;
    for (int round = 0; round < 60; round++) {
        size_t one_count = random_classes(&random, one, one_names, 100);
        size_t other_count = random_classes(&random, other, other_names, 100);
        struct model *before = pairs_model(1, 100, one, one_count);
        struct model *after = pairs_model(2, 200, other, other_count);
        struct diff diff;
        assert_true(diff_init(&diff, before, after));
        check_against_brute_force(&diff, one, one_count, other, other_count);
        diff_destroy(&diff);
        model_free(before);
        model_free(after);
    }
}

static struct model *
many_classes(class_id first, size_t count, uint64_t live)
{
    struct model *model = model_new();
    struct class_name *names = calloc(count, sizeof *names);
    struct class_row *rows = calloc(count, sizeof *rows);
    char(*texts)[32] = calloc(count, sizeof *texts);
    assert_true(model != NULL && names != NULL && rows != NULL && texts != NULL);
    for (size_t i = 0; i < count; i++) {
        class_id id = first + (class_id)i;
        snprintf(texts[i], sizeof texts[i], "Class%zu", i);
        names[i] = (struct class_name){id, 0, text_of(texts[i])};
        rows[i] = (struct class_row){id, live + i, live + i, 0, 0};
    }
    const struct message named = {
        .kind = MESSAGE_NAMES, .names = {names, count}
    };
    const struct message sample = {
        .kind = MESSAGE_SAMPLE,
        .at = {SECOND,        SECOND            },
        .sample = { .key = true, .mode = MODE_COUNT, .rows = rows, .row_count = count},
    };
    assert_true(model_apply(model, &named) && model_apply(model, &sample));
    free(names);
    free(rows);
    free(texts);
    return model;
}

static void
fifty_thousand_classes_with_other_ids_are_found(void **state)
{
    struct model *before = many_classes(1, 50000, 0);
    struct model *after = many_classes(70000, 50000, 3);
    struct diff diff;

    (void)state;
    assert_true(diff_init(&diff, before, after));
    assert_int_equal(diff.count, 50000);
    assert_int_equal(diff.kinds[DIFF_GROWN], 50000);
    for (size_t i = 0; i < diff.count; i++) {
        assert_int_equal(diff.classes[i].change.live, 3);
    }
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

/* No memory. */

static void
without_memory_there_is_no_difference_and_no_leak(void **state)
{
    static const struct pairs_class one[] = {
        {"A", 1, 0, 9, 90},
        {"B", 2, 0, 1, 10},
    };
    struct model *before = MODEL(1, 100, one);
    struct model *after = MODEL(1, 200, one);
    bool done = false;

    (void)state;
    for (int allowed = 0; !done; allowed++) {
        struct diff diff;
        memory_allow(allowed);
        done = diff_init(&diff, before, after);
        memory_allow(-1);
        assert_true(done || diff.classes == NULL);
        diff_destroy(&diff);
        assert_true(allowed < 10);
    }
    model_free(before);
    model_free(after);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_came_grew_shrank_went_and_stayed),
        cmocka_unit_test(orders_by_the_size_of_the_change),
        cmocka_unit_test(what_is_unknown_stays_unknown),
        cmocka_unit_test(a_model_that_did_not_count_has_not_lost_anything),
        cmocka_unit_test(classes_of_one_name_are_one_row_but_not_those_of_another_kind),
        cmocka_unit_test(figures_at_the_end_of_the_scale_do_not_overflow),
        cmocka_unit_test(a_class_that_went_within_the_recording_is_gone),
        cmocka_unit_test(is_what_brute_force_says_of_random_models),
        cmocka_unit_test(fifty_thousand_classes_with_other_ids_are_found),
        cmocka_unit_test(without_memory_there_is_no_difference_and_no_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
