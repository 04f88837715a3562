#include "tui/model/merge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tests/tui/model/herd.h"

#define MEGABYTE UINT64_C(1048576)

// cmocka compares doubles from 1.1.6 on only.
static void
assert_near(double value, double wanted, double error)
{
    assert_true(fabs(value - wanted) <= error);
}
#define MEMBERS 4

// A sum and who takes it, as the viewer does.
struct scene {
    struct herd herd;
    struct merge *merge;
    struct model *model;
    struct merge_member members[MEMBERS];
    size_t hellos;
    size_t samples;
    bool failed;
};

static int
start(void **state)
{
    static struct scene scene;
    static const uint64_t pids[MEMBERS] = {4101, 4120, 4121, 4177};
    scene = (struct scene){0};
    herd_start(&scene.herd);
    herd_puma(&scene.herd, 10);
    scene.merge = merge_new();
    scene.model = model_new();
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct peer *peer = fleet_find_pid(&scene.herd.fleet, pids[i]);
        scene.members[i] = (struct merge_member){pids[i], peer->model, true};
    }
    *state = &scene;
    return scene.merge == NULL || scene.model == NULL;
}

static int
stop(void **state)
{
    struct scene *scene = *state;
    merge_free(scene->merge);
    model_free(scene->model);
    herd_stop(&scene->herd);
    return 0;
}

static bool
take(void *context, const struct message *message)
{
    struct scene *scene = context;
    scene->hellos += message->kind == MESSAGE_HELLO;
    scene->samples += message->kind == MESSAGE_SAMPLE;
    return !scene->failed && model_apply(scene->model, message);
}

static bool
make_of(struct scene *scene, const struct merge_member *members, size_t count)
{
    const struct merge_group group = {4101, "puma", members, count};
    struct stamp at = {scene->herd.now_ms * 1000, scene->herd.now_ms * 1000};
    scene->herd.now_ms += 1000;
    return merge_make(scene->merge, &group, at, take, scene);
}

static const struct model_class *
class_of(const struct scene *scene, const char *name)
{
    for (size_t i = 0; i < model_class_count(scene->model); i++) {
        const struct model_class *class = model_class_at(scene->model, i);
        if (strcmp(class->name, name) == 0) {
            return class;
        }
    }
    return NULL;
}

static uint64_t
live_in(const struct scene *scene, size_t member, const char *name)
{
    const struct model *model = scene->members[member].model;
    for (size_t i = 0; i < model_class_count(model); i++) {
        if (strcmp(model_class_at(model, i)->name, name) == 0) {
            return model_class_at(model, i)->now.live;
        }
    }
    return 0;
}

static void
sums_the_classes_of_all_members_by_name(void **state)
{
    struct scene *scene = *state;
    static const char *const names[] = {"String", "Array", "Order", "(iseq)"};
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(model_class_count(scene->model), 4);
    for (size_t i = 0; i < 4; i++) {
        const struct model_class *class = class_of(scene, names[i]);
        uint64_t live = 0;
        for (size_t member = 0; member < MEMBERS; member++) {
            live += live_in(scene, member, names[i]);
            assert_int_equal(merge_live(scene->merge, class->id, member),
                             live_in(scene, member, names[i]));
        }
        assert_int_equal(class->now.live, live);
        assert_int_equal(class->now.allocated, live + 7 * MEMBERS);
        assert_int_equal(class->now.freed, 7 * MEMBERS);
        assert_int_equal(class->now.bytes, live * 40);
    }
    assert_true(class_of(scene, "(iseq)")->flags & CLASS_INTERNAL);
}

static void
sums_the_processes_figures(void **state)
{
    struct scene *scene = *state;
    assert_true(make_of(scene, scene->members, MEMBERS));
    const struct sample *sample = model_sample(scene->model);
    uint64_t live = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        live += model_sample(scene->members[i].model)->totals.live;
    }
    assert_int_equal(sample->totals.live, live);
    assert_int_equal(sample->process.rss_bytes, (96 + 212 + 131 + 128) * MEGABYTE);
    assert_int_equal(sample->process.gc_count, 40);
    assert_int_equal(sample->mode, MODE_COUNT);
    assert_int_equal(sample->probe.cost_ppm, 32000);
    assert_non_null(strstr(model_hello(scene->model)->command.bytes, "4 processes"));
    assert_int_equal(model_hello(scene->model)->pid, 4101);
}

static void
has_rates_and_history_from_one_sum_to_the_next(void **state)
{
    struct scene *scene = *state;
    struct peer *worker = fleet_find_pid(&scene->herd.fleet, 4120);
    for (uint64_t i = 0; i < 12; i++) {
        herd_sample(&scene->herd, worker,
                    (uint64_t[HERD_CLASSES]){900000, 200000, 5000 + 50 * i, 804},
                    212 * MEGABYTE);
        assert_true(make_of(scene, scene->members, MEMBERS));
    }
    const struct model_class *order = class_of(scene, "Order");
    assert_int_equal(scene->hellos, 1);
    assert_int_equal(scene->samples, 12);
    assert_near(order->live_per_second, 50, 0.01);
    assert_int_equal(order->now.live - order->baseline, 11 * 50);
}

static void
takes_the_worst_verdict_and_says_whose_it_is(void **state)
{
    struct scene *scene = *state;
    assert_true(make_of(scene, scene->members, MEMBERS));
    const struct model_class *order = class_of(scene, "Order");
    assert_int_equal(order->verdict, VERDICT_LEAK);
    assert_string_equal(order->reason, "in 4120: it grew");
}

static void
says_over_how_many_it_sums_when_not_all_answer(void **state)
{
    struct scene *scene = *state;
    scene->members[3].live = false;
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(model_notice_count(scene->model), 1);
    assert_string_equal(model_notice_at(scene->model, 0)->text,
                        "the sums are over 3 of 4 processes: 4177 does not answer");
    assert_int_equal(class_of(scene, "Order")->now.live, live_in(scene, 0, "Order") +
                                                             live_in(scene, 1, "Order") +
                                                             live_in(scene, 2, "Order"));
    assert_int_equal(merge_column_count(scene->merge), 3);
    // and withdraws it when they do
    scene->members[3].live = true;
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(model_notice_count(scene->model), 0);
    assert_int_equal(merge_column_count(scene->merge), MEMBERS);
}

static void
a_dormant_member_is_no_part_of_the_sum(void **state)
{
    struct scene *scene = *state;
    struct peer *worker = fleet_find_pid(&scene->herd.fleet, 4121);
    herd_sleep(&scene->herd, worker);
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_non_null(strstr(model_notice_at(scene->model, 0)->text, "4121 is dormant"));
    assert_int_equal(merge_column_count(scene->merge), 3);
}

static void
a_figure_that_one_member_lacks_is_unknown(void **state)
{
    struct scene *scene = *state;
    struct peer *worker = fleet_find_pid(&scene->herd.fleet, 4121);
    const struct class_row row = {4121, 10, 10, 0, COUNT_UNKNOWN};
    const struct message message = {
        .kind = MESSAGE_SAMPLE,
        .at = {scene->herd.now_ms * 1000, scene->herd.now_ms * 1000},
        .sample = { .key = true,
               .mode = MODE_COUNT,
               .process = {.rss_bytes = COUNT_UNKNOWN},
               .totals = {10, 10, 0, COUNT_UNKNOWN},
               .rows = &row,
               .row_count = 1}
    };
    assert_true(fleet_message(&scene->herd.fleet, worker, &message));
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(class_of(scene, "String")->now.bytes, COUNT_UNKNOWN);
    assert_int_not_equal(class_of(scene, "String")->now.live, COUNT_UNKNOWN);
    assert_int_not_equal(class_of(scene, "Array")->now.bytes, COUNT_UNKNOWN);
    assert_int_equal(model_sample(scene->model)->process.rss_bytes, COUNT_UNKNOWN);
    assert_int_equal(model_sample(scene->model)->totals.bytes, COUNT_UNKNOWN);
}

static void
exact_and_walked_counts_together_are_as_of_a_walk(void **state)
{
    struct scene *scene = *state;
    struct peer *worker = fleet_find_pid(&scene->herd.fleet, 4121);
    const struct message message = {
        .kind = MESSAGE_SAMPLE,
        .at = {scene->herd.now_ms * 1000, scene->herd.now_ms * 1000},
        .sample = {.key = true,               .mode = MODE_CENSUS      }
    };
    assert_true(fleet_message(&scene->herd.fleet, worker, &message));
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(model_sample(scene->model)->mode, MODE_CENSUS);
}

static void
other_members_are_another_connection_with_a_gap_and_marks_go_on(void **state)
{
    struct scene *scene = *state;
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(scene->hellos, 1);
    assert_true(model_mark_set(scene->model, 0));
    assert_true(model_mark_use(scene->model, 0));
    uint64_t before = class_of(scene, "Order")->now.live;
    assert_true(make_of(scene, scene->members, 2));
    assert_int_equal(scene->hellos, 2);
    const struct model_class *order = class_of(scene, "Order");
    assert_int_equal(order->baseline, before);
    assert_int_equal(order->now.live,
                     live_in(scene, 0, "Order") + live_in(scene, 1, "Order"));
    assert_false(model_restarted(scene->model));
}

static void
a_class_that_goes_and_comes_back_has_its_name_again(void **state)
{
    struct scene *scene = *state;
    static const struct message none = {
        .kind = MESSAGE_SAMPLE, .sample = {.key = true, .mode = MODE_COUNT}
    };
    assert_true(make_of(scene, scene->members, 1));
    struct peer *master = fleet_find_pid(&scene->herd.fleet, 4101);
    fleet_message(&scene->herd.fleet, master, &none);
    for (int i = 0; i < 70; i++) { // longer than what is gone is kept
        assert_true(make_of(scene, scene->members, 1));
    }
    assert_null(class_of(scene, "Order"));
    const struct class_name name = {9000, 0, text_of("Order")};
    const struct class_row row = {9000, 5, 5, 0, 200};
    const struct message messages[] = {
        {.kind = MESSAGE_NAMES,  .names = {&name, 1}                              },
        {.kind = MESSAGE_SAMPLE,
         .sample = {.key = true, .mode = MODE_COUNT, .rows = &row, .row_count = 1}},
    };
    fleet_message(&scene->herd.fleet, master, &messages[0]);
    fleet_message(&scene->herd.fleet, master, &messages[1]);
    assert_true(make_of(scene, scene->members, 1));
    assert_int_equal(class_of(scene, "Order")->now.live, 5);
}

static void
without_a_member_that_counts_nothing_is_said(void **state)
{
    struct scene *scene = *state;
    for (size_t i = 0; i < MEMBERS; i++) {
        scene->members[i].live = false;
    }
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_true(make_of(scene, scene->members, 0));
    assert_int_equal(scene->hellos + scene->samples, 0);
    assert_int_equal(merge_live(scene->merge, 1, 0), COUNT_UNKNOWN);
}

static void
a_taker_that_fails_ends_the_round(void **state)
{
    struct scene *scene = *state;
    scene->failed = true;
    assert_false(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(scene->samples, 0);
}

static void
goes_on_after_memory_ran_out(void **state)
{
    struct scene *scene = *state;
    bool made = false;
    for (int allowed = 0; !made; allowed++) {
        memory_allow(allowed);
        made = make_of(scene, scene->members, MEMBERS);
        memory_allow(-1);
        assert_true(allowed < 1000);
    }
    assert_true(make_of(scene, scene->members, MEMBERS));
    assert_int_equal(class_of(scene, "Array")->now.live, 11000 + 200000 + 2 * 110000);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        CASE(sums_the_classes_of_all_members_by_name),
        CASE(sums_the_processes_figures),
        CASE(has_rates_and_history_from_one_sum_to_the_next),
        CASE(takes_the_worst_verdict_and_says_whose_it_is),
        CASE(says_over_how_many_it_sums_when_not_all_answer),
        CASE(a_dormant_member_is_no_part_of_the_sum),
        CASE(a_figure_that_one_member_lacks_is_unknown),
        CASE(exact_and_walked_counts_together_are_as_of_a_walk),
        CASE(other_members_are_another_connection_with_a_gap_and_marks_go_on),
        CASE(a_class_that_goes_and_comes_back_has_its_name_again),
        CASE(without_a_member_that_counts_nothing_is_said),
        CASE(a_taker_that_fails_ends_the_round),
        CASE(goes_on_after_memory_ran_out),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
