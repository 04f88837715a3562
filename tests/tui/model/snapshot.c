#include "tui/model/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "protocol/decoder.h"
#include "tests/tui/memory.h"
#include "tests/tui/model/noise.h"
#include "tests/tui/model/portrait.h"
#include "tui/model/tree.h"

#define SECOND UINT64_C(1000000)

// A model at the other end of a wire.
struct far {
    struct model *model;
    struct decoder decoder;
    size_t messages;
    size_t bytes;
    size_t longest; // body
};

static struct far
far_start(void)
{
    struct far far = {.model = model_new()};
    assert_non_null(far.model);
    return far;
}

static void
far_stop(struct far *far)
{
    model_free(far->model);
    decoder_destroy(&far->decoder);
}

static bool
send(void *context, const struct message *message)
{
    struct far *far = context;
    struct buffer frame = {0};
    struct message decoded;
    assert_true(message_encode(&frame, message));
    far->messages++;
    far->bytes += frame.length;
    size_t body = frame.length - FRAME_HEADER_BYTES;
    far->longest = body > far->longest ? body : far->longest;
    decoder_feed(&far->decoder, frame.bytes, frame.length);
    buffer_destroy(&frame);
    if (decoder_next(&far->decoder, &decoded) != DECODE_MESSAGE) {
        fail_msg("%s", decoder_error(&far->decoder));
    }
    assert_true(decoded.kind == message->kind);
    assert_true(model_apply(far->model, &decoded));
    return true;
}

static struct far
snapshot_of(const struct model *model)
{
    struct far far = far_start();
    assert_true(snapshot_each(model, send, &far));
    return far;
}

// A snapshot of the snapshot is the same: nothing wears off.
static void
expect_round_trip(struct model *model, const char *when)
{
    struct far once = snapshot_of(model);
    portrait_expect_same(model, once.model, false, when);
    struct far twice = snapshot_of(once.model);
    portrait_expect_same(model, twice.model, false, when);
    far_stop(&twice);
    far_stop(&once);
}

static void
a_model_that_knows_nothing_has_an_empty_snapshot(void **state)
{
    struct model *model = model_new();
    (void)state;
    struct far far = snapshot_of(model);
    assert_int_equal(far.messages, 0);
    far_stop(&far);
    model_free(model);
}

static void
any_model_comes_out_of_its_snapshot_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct noise noise = {.seed = seed, .wild = true};
        struct model *model = model_new();
        for (int step = 0; step < 600; step++) {
            char when[64];
            snprintf(when, sizeof when, "seed %d, step %d", (int)seed, step);
            struct message message = noise_next(&noise);
            assert_true(model_apply(model, &message));
            if (noise_pick(&noise, 25) == 0) {
                assert_true(
                    model_mark_set(model, (int)noise_pick(&noise, MODEL_MARKS_MAX)));
            }
            if (step < 10 || noise_pick(&noise, 12) == 0) {
                expect_round_trip(model, when);
            }
        }
        model_free(model);
    }
}

struct keys {
    struct stamp sampled;
    int samples;
    int trees;
};

static bool
note_keys(void *context, const struct message *message)
{
    struct keys *keys = context;
    if (message->kind == MESSAGE_SAMPLE) {
        keys->sampled = message->at;
        assert_int_equal(message->sample.key, keys->samples++ == 0);
    }
    if (message->kind == MESSAGE_TREE) {
        keys->trees += message->tree.key;
    }
    return true;
}

static void
its_sample_and_trees_are_keys_with_the_time_of_the_last_ones(void **state)
{
    struct noise noise = {.seed = 3, .quiet = true};
    struct model *model = model_new();
    struct keys keys = {
        {0, 0},
        0, 0
    };
    (void)state;
    for (int step = 0; step < 300; step++) {
        struct message message = noise_next(&noise);
        assert_true(model_apply(model, &message));
    }
    assert_true(snapshot_each(model, note_keys, &keys));
    assert_int_equal(keys.samples, 1);
    assert_int_equal(keys.trees, NOISE_OPEN);
    assert_true(keys.sampled.monotonic_us == model_time(model).monotonic_us);
    assert_true(keys.sampled.wall_us == model_time(model).wall_us);
    model_free(model);
}

// What is shown is escaped once, and what is opened is the file's own name.
static void
shows_hostile_names_as_they_were_and_opens_the_same_files(void **state)
{
    struct model *model = model_new();
    const struct class_name name = {7, 0, text_of("A\xff\x1b[2J\\x1B")};
    const struct frame_name frames[] = {
        {16, 0, text_of("a\n"), {"/x\n\xff", 4}, 1},
        {17, 0, text_of(""),    {"/a\0b", 4},    2}
    };
    const struct tree_node nodes[] = {
        {20, 0,  16, 5, 0},
        {21, 20, 17, 9, 1}
    };
    struct message message = {
        .kind = MESSAGE_NAMES, .names = {&name, 1}
    };
    (void)state;
    assert_true(model_apply(model, &message));
    message = (struct message){
        .kind = MESSAGE_FRAMES, .frames = {frames, 2}
    };
    assert_true(model_apply(model, &message));
    message = (struct message){
        .kind = MESSAGE_TREE,
        .tree = {.class_id = 7, .key = true, .nodes = nodes, .node_count = 2}
    };
    assert_true(model_apply(model, &message));
    struct far far = snapshot_of(model);
    const struct model_class *class = model_class_find(far.model, 7);
    const struct tree_model *tree = model_tree(far.model, 7);
    assert_string_equal(class->name, "A\\xFF\\x1B[2J\\x1B");
    assert_string_equal(tree_frame(tree, 1)->label, "a\\x0A");
    assert_string_equal(tree_frame(tree, 1)->path, "/x\\x0A\\xFF");
    assert_string_equal(tree_frame(tree, 1)->file, "/x\n\xff");
    assert_string_equal(tree_frame(tree, 2)->path, "/a\\x00b");
    assert_string_equal(tree_frame(tree, 2)->file, ""); // there is no such file
    far_stop(&far);
    model_free(model);
}

// Both models take what comes, marks by message at the far end: at every moment they
// say the same, and after two minutes so do their histories and rates.
static void
follow(uint64_t seed, int before, int after, bool quiet)
{
    struct noise noise = {.seed = seed, .quiet = quiet};
    struct model *live = model_new();
    uint64_t passed_us = 0;
    bool compared = false;
    // one in four begins behind a hello, before its first sample
    bool at_hello = seed % 4 == 1;
    for (int step = 0; step < before || (at_hello && noise.connection > 1); step++) {
        struct message message = noise_next(&noise);
        assert_true(model_apply(live, &message));
        if (noise_pick(&noise, 40) == 0) {
            assert_true(model_mark_set(live, (int)noise_pick(&noise, 4)));
        }
    }
    struct far replay = snapshot_of(live);
    for (int step = 0; step < after; step++) {
        char when[64];
        snprintf(when, sizeof when, "seed %d, step %d of %d", (int)seed, step, after);
        uint64_t was_us = noise.us;
        struct message message = noise_next(&noise);
        passed_us += noise.us > was_us ? noise.us - was_us : 0;
        assert_true(model_apply(live, &message));
        assert_true(send(&replay, &message));
        if (noise_pick(&noise, 40) == 0) {
            int mark = (int)noise_pick(&noise, 4);
            assert_true(model_mark_set(live, mark));
            assert_true(snapshot_mark(live, mark, send, &replay));
        }
        bool moving = passed_us > 130 * SECOND;
        if (noise_pick(&noise, 12) == 0) {
            portrait_expect_same(live, replay.model, moving, when);
            compared = compared || moving;
        }
    }
    assert_true(compared);
    far_stop(&replay);
    model_free(live);
}

static void
goes_on_from_a_snapshot_as_if_it_had_been_there_all_the_time(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 112; seed++) {
        follow(seed, 20 + (int)(seed * 37 % 400), 700, seed % 2 == 0);
    }
}

// To both models.
static void
tell(struct model *live, struct far *replay, const struct message *message)
{
    assert_true(model_apply(live, message));
    assert_true(replay == NULL || send(replay, message));
}

static void
connect(struct model *live, struct far *replay, uint64_t pid)
{
    const struct message hello = {
        .kind = MESSAGE_HELLO,
        .hello = {.version = PROTOCOL_VERSION,
                  .pid = pid,
                  .command = text_of("ruby"),
                  .runtime = text_of("ruby 3.1.2"),
                  .interval_ms = 1000}
    };
    tell(live, replay, &hello);
}

static void
count_one(struct model *live, struct far *replay, uint64_t second, class_id id)
{
    const struct class_name name = {id, 0, text_of("A")};
    const struct class_row row = {id, second, second, 0, 40 * second};
    const struct message named = {
        .kind = MESSAGE_NAMES, .names = {&name, 1}
    };
    struct message sample = {
        .kind = MESSAGE_SAMPLE, .at = {second * SECOND, 1}
    };
    sample.sample =
        (struct sample){.key = true, .mode = MODE_COUNT, .rows = &row, .row_count = 1};
    tell(live, replay, &named);
    tell(live, replay, &sample);
}

// The gap, and with another process the new beginning, are still to come.
static void
remembers_that_a_connection_has_begun_but_no_sample_came(void **state)
{
    (void)state;
    for (uint64_t pid = 10; pid <= 11; pid++) {
        struct model *live = model_new();
        connect(live, NULL, 10);
        count_one(live, NULL, 100, 1);
        connect(live, NULL, pid);
        struct far replay = snapshot_of(live);
        portrait_expect_same(live, replay.model, false, "behind the hello");
        count_one(live, &replay, 102, 2);
        portrait_expect_same(live, replay.model, true, "with the first sample");
        assert_int_equal(model_connected(replay.model).monotonic_us,
                         (pid == 10 ? 100 : 102) * SECOND);
        far_stop(&replay);
        model_free(live);
    }
}

static bool
apply_to(void *context, const struct message *message)
{
    return model_apply(context, message);
}

// Name a class in both processes, where it has other ids and another class has its own.
static void
a_mark_of_another_process_finds_its_classes_by_name(void **state)
{
    const struct class_name names[] = {
        {1, 0, text_of("A")  },
        {2, 0, text_of("B")  },
        {3, 0, text_of("Own")}
    };
    const struct class_row rows[] = {
        {1, 7, 7, 0, 280}, // B in `later`, in which 7 lived
        {2, 5, 5, 0, 200}
    };
    struct model *later = model_new();
    struct model *earlier = model_new();
    (void)state;
    connect(later, NULL, 11);
    connect(earlier, NULL, 10);
    const struct class_name swapped[] = {
        {1, 0, text_of("B")},
        {2, 0, text_of("A")}
    };
    struct message named = {
        .kind = MESSAGE_NAMES, .names = {swapped, 2}
    };
    struct message sample = {
        .kind = MESSAGE_SAMPLE, .at = {SECOND, 1}
    };
    sample.sample =
        (struct sample){.key = true, .mode = MODE_COUNT, .rows = rows, .row_count = 2};
    tell(later, NULL, &named);
    tell(later, NULL, &sample);
    assert_true(model_mark_set(later, 3));
    named.names = (struct names){names, 3};
    tell(earlier, NULL, &named);
    tell(earlier, NULL, &sample);

    assert_true(snapshot_mark_for(later, 3, earlier, apply_to, earlier));
    assert_true(model_mark_use(earlier, 3));
    assert_int_equal(model_class_find(earlier, 1)->baseline, 5); // A
    assert_int_equal(model_class_find(earlier, 2)->baseline, 7); // B
    model_free(earlier);
    model_free(later);
}

static void
expect_same_class(struct model *one, struct model *other, class_id id)
{
    const struct model_class *left = model_class_find(one, id);
    const struct model_class *right = model_class_find(other, id);
    assert_non_null(right);
    assert_string_equal(left->name, right->name);
    assert_string_equal(left->reason, right->reason);
    assert_memory_equal(&left->now.live, &right->now.live, 4 * sizeof(uint64_t));
    assert_true(left->baseline == right->baseline);
    const struct tree_model *tree = model_tree(one, id);
    const struct tree_model *copy = model_tree(other, id);
    assert_int_equal(tree != NULL, copy != NULL);
    for (uint32_t i = 0; tree != NULL && i < tree_node_count(tree); i++) {
        assert_true(tree_node_id(tree, i) == tree_node_id(copy, i));
        assert_true(tree_total(tree, i).live == tree_total(copy, i).live);
        assert_true(tree_delta(tree, i) == tree_delta(copy, i));
    }
}

// What a reader does behind damage: the next key group, on top of what it knew.
static void
makes_right_what_a_reader_missed(void **state)
{
    (void)state;
    for (uint64_t seed = 40; seed < 60; seed++) {
        struct noise noise = {.seed = seed, .quiet = true};
        struct far far = far_start();
        struct model *live = model_new();
        for (int step = 0; step < 400; step++) {
            struct message message = noise_next(&noise);
            assert_true(model_apply(live, &message));
            assert_true(step == 300 ? model_mark_set(live, 0) : true);
            assert_true(step > 250 || send(&far, &message));
        }
        assert_true(snapshot_each(live, send, &far));
        assert_true(model_mark_use(live, 0) && model_mark_use(far.model, 0));
        for (size_t i = 0; i < model_class_count(live); i++) {
            expect_same_class(live, far.model, model_class_at(live, i)->id);
        }
        far_stop(&far);
        model_free(live);
    }
}

// Letters of a mark, and that a mark can be told in several messages.
static void
takes_a_mark_in_parts_and_replaces_it_by_one_of_another_moment(void **state)
{
    struct far far = far_start();
    const struct class_name names[] = {
        {1, 0, text_of("A")},
        {2, 0, text_of("B")}
    };
    const struct class_row rows[] = {
        {1, 10, 10, 0, 400},
        {2, 20, 20, 0, 800}
    };
    struct message message = {
        .kind = MESSAGE_NAMES, .names = {names, 2}
    };
    (void)state;
    send(&far, &message);
    message = (struct message){
        .kind = MESSAGE_SAMPLE, .at = {100 * SECOND, 1}
    };
    message.sample =
        (struct sample){.key = true, .mode = MODE_COUNT, .rows = rows, .row_count = 2};
    send(&far, &message);
    struct mark_row row = {1, 7, 280};
    message = (struct message){
        .kind = MESSAGE_MARK,
        .mark = {0, true, 7, 280, 90 * SECOND, 0, &row, 1, NULL, 0}
    };
    send(&far, &message);
    assert_true(model_mark_use(far.model, 0));
    assert_int_equal(model_mark(far.model, 0)->live, 7);
    assert_int_equal(model_class_find(far.model, 1)->baseline, 7);
    assert_int_equal(model_class_find(far.model, 2)->baseline, 0);
    row = (struct mark_row){2, 9, COUNT_UNKNOWN};
    send(&far, &message); // the same moment
    assert_int_equal(model_class_find(far.model, 1)->baseline, 7);
    assert_int_equal(model_class_find(far.model, 2)->baseline, 9);
    assert_true(model_class_find(far.model, 2)->baseline_bytes == COUNT_UNKNOWN);
    message.mark.at_monotonic_us++;
    message.mark.counted = false;
    send(&far, &message);
    assert_true(model_class_find(far.model, 1)->baseline == COUNT_UNKNOWN);
    message.mark.letter = MODEL_MARKS_MAX; // a newer writer's
    send(&far, &message);
    message.mark.letter = MARK_CONNECTING;
    message.mark.counted = true;
    send(&far, &message);
    assert_true(model_mark_use(far.model, MODEL_MARK_NONE));
    assert_int_equal(model_class_find(far.model, 1)->baseline, 0);
    assert_int_equal(model_class_find(far.model, 2)->baseline, 9);
    assert_int_equal(model_connected(far.model).monotonic_us, 90 * SECOND + 1);
    far_stop(&far);
}

static void
opens_a_gap_where_nothing_was_recorded_but_not_for_a_dropped_frame(void **state)
{
    (void)state;
    for (uint64_t reason = GAP_LOST; reason <= GAP_RESUMED; reason++) {
        struct far far = far_start();
        uint64_t values[MODEL_HISTORY];
        const struct class_row row = {1, 5, 5, 0, 200};
        struct message message = {
            .kind = MESSAGE_SAMPLE, .at = {100 * SECOND, 0}
        };
        const struct message gap = {
            .kind = MESSAGE_GAP, .gap = {reason, text_of("")}
        };
        message.sample = (struct sample){
            .key = true, .mode = MODE_COUNT, .rows = &row, .row_count = 1};
        send(&far, &message);
        send(&far, &gap);
        message.at.monotonic_us = 102 * SECOND;
        send(&far, &message);
        assert_int_equal(model_series(far.model, MODEL_SERIES_LIVE, values, 3), 3);
        assert_int_equal(values[1] != COUNT_UNKNOWN, reason == GAP_DROPPED);
        assert_int_equal(model_connected(far.model).monotonic_us,
                         (reason == GAP_RESTARTED ? 102 : 100) * SECOND);
        far_stop(&far);
    }
}

static bool
never(void *context, const struct message *message)
{
    (void)message;
    return --*(int *)context > 0;
}

static struct model *
noisy(int steps)
{
    struct noise noise = {.seed = 5, .wild = true};
    struct model *model = model_new();
    assert_non_null(model);
    for (int step = 0; step < steps; step++) {
        struct message message = noise_next(&noise);
        assert_true(model_apply(model, &message));
        assert_true(step != steps / 2 || model_mark_set(model, 2));
    }
    return model;
}

static void
ends_when_nobody_takes_it_any_more(void **state)
{
    struct model *model = noisy(200);
    (void)state;
    int left = 1000;
    assert_true(snapshot_each(model, never, &left));
    for (int taken = 1; taken <= 1000 - left; taken++) {
        int room = taken;
        assert_false(snapshot_each(model, never, &room));
        assert_int_equal(room, 0);
    }
    model_free(model);
}

static bool
apply(void *context, const struct message *message)
{
    return model_apply(context, message);
}

static void
says_so_wherever_memory_runs_out(void **state)
{
    struct model *model = noisy(200);
    bool done = false;
    (void)state;
    for (int allowed = 0; !done; allowed++) {
        struct model *other = model_new();
        memory_allow(allowed);
        done = snapshot_each(model, apply, other);
        assert_true(done != memory_ran_out());
        memory_allow(-1);
        if (!done) { // and once more with memory: nothing is left over from before
            assert_true(snapshot_each(model, apply, other));
        }
        const struct model_class *class = model_class_at(model, 0);
        assert_non_null(class);
        assert_int_equal(model_mark(other, 2)->at.monotonic_us,
                         model_mark(model, 2)->at.monotonic_us);
        if (done) {
            portrait_expect_same(model, other, false, "out of memory");
        }
        model_free(other);
        assert_true(allowed < 20000);
    }
    model_free(model);
}

#define MANY 50000u

static struct model *
large(uint32_t classes, uint32_t trees, uint32_t nodes)
{
    struct model *model = model_new();
    struct class_name *names = calloc(classes, sizeof *names);
    struct class_row *rows = calloc(classes, sizeof *rows);
    struct tree_node *tree_nodes = calloc(nodes + 1, sizeof *tree_nodes);
    struct tree_site *sites = calloc(nodes + 1, sizeof *sites);
    static char bytes[MESSAGE_TEXT_MAX];
    memset(bytes, 'n', sizeof bytes);
    assert_true(model != NULL && names != NULL && rows != NULL && sites != NULL);
    for (uint32_t i = 0; i < classes; i++) {
        // short names, for the time it takes; the longest for what fits
        names[i] = (struct class_name){
            i + 1, 0, {bytes, classes >= MANY && i < 3000 ? sizeof bytes : 20}
        };
        rows[i] = (struct class_row){i + 1, UINT64_MAX - 1 - i, UINT64_MAX - 1,
                                     UINT64_MAX - 1, UINT64_MAX - 1};
    }
    for (uint32_t from = 0; from < classes; from += 1000) {
        const struct message named = {
            .kind = MESSAGE_NAMES, .names = {names + from, 1000}
        };
        assert_true(model_apply(model, &named));
    }
    struct message sample = {
        .kind = MESSAGE_SAMPLE, .at = {100 * SECOND, 1}
    };
    sample.sample = (struct sample){
        .key = true, .mode = MODE_COUNT, .rows = rows, .row_count = classes};
    assert_true(model_apply(model, &sample));
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t parent = i == 0 ? 0 : 20 + (i - 1) / 2;
        tree_nodes[i] = (struct tree_node){20 + i, parent, 16 + i % 300, i, 0};
        sites[i] = (struct tree_site){
            20 + i, 2, 1000 + i, 2000, 4000, {0, 0, 0, 1}
        };
    }
    for (uint32_t i = 0; i < trees; i++) {
        struct message tree = {
            .kind = MESSAGE_TREE, .at = {100 * SECOND, 1}
        };
        tree.tree = (struct tree){.class_id = i + 1,
                                  .key = true,
                                  .live = 1000000,
                                  .unsampled_live = 77,
                                  .nodes = tree_nodes,
                                  .node_count = nodes,
                                  .sites = sites,
                                  .site_count = nodes};
        assert_true(model_apply(model, &tree));
        tree.at.monotonic_us += SECOND;
        tree.tree.node_count = tree.tree.site_count = 0;
        tree.tree.key = false;
        assert_true(model_apply(model, &tree));
    }
    free(names);
    free(rows);
    free(tree_nodes);
    free(sites);
    return model;
}

static void
keeps_every_message_below_the_limits(void **state)
{
    struct model *model = large(MANY, 1, 60000);
    (void)state;
    assert_true(model_mark_set(model, 0));
    struct far far = snapshot_of(model); // the decoder takes each of them
    assert_in_range(far.longest, 1, FRAME_BODY_MAX);
    assert_int_equal(model_class_count(far.model), MANY);
    portrait_expect_same(model, far.model, false, "large");
    far_stop(&far);
    model_free(model);
}

static bool
count_bytes(void *context, const struct message *message)
{
    struct buffer frame = {0};
    assert_true(message_encode(&frame, message));
    *(size_t *)context += frame.length;
    buffer_destroy(&frame);
    return true;
}

static bool
nothing(void *context, const struct message *message)
{
    (void)message;
    ++*(size_t *)context;
    return true;
}

static double
milliseconds(const struct model *model, snapshot_taker *take, size_t *sum)
{
    struct timespec from;
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_true(snapshot_each(model, take, sum));
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e3 +
           (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

// Figures for people: nothing is asserted on time.
static void
tells_what_a_snapshot_costs(void **state)
{
    (void)state;
    struct model *model = large(2000, 5, 1000);
    assert_true(model_mark_set(model, 0));
    for (int i = 0; i < 3; i++) {
        size_t bytes = 0;
        size_t messages = 0;
        double alone = milliseconds(model, nothing, &messages);
        double encoded = milliseconds(model, count_bytes, &bytes);
        print_message("2000 classes, 5 trees of 1000 nodes, 1 mark: %zu messages in "
                      "%.2f ms, %zu bytes of frames in %.2f ms\n",
                      messages, alone, bytes, encoded);
    }
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_that_knows_nothing_has_an_empty_snapshot),
        cmocka_unit_test(any_model_comes_out_of_its_snapshot_as_it_was),
        cmocka_unit_test(its_sample_and_trees_are_keys_with_the_time_of_the_last_ones),
        cmocka_unit_test(shows_hostile_names_as_they_were_and_opens_the_same_files),
        cmocka_unit_test(goes_on_from_a_snapshot_as_if_it_had_been_there_all_the_time),
        cmocka_unit_test(remembers_that_a_connection_has_begun_but_no_sample_came),
        cmocka_unit_test(makes_right_what_a_reader_missed),
        cmocka_unit_test(takes_a_mark_in_parts_and_replaces_it_by_one_of_another_moment),
        cmocka_unit_test(
            opens_a_gap_where_nothing_was_recorded_but_not_for_a_dropped_frame),
        cmocka_unit_test(a_mark_of_another_process_finds_its_classes_by_name),
        cmocka_unit_test(ends_when_nobody_takes_it_any_more),
        cmocka_unit_test(says_so_wherever_memory_runs_out),
        cmocka_unit_test(keeps_every_message_below_the_limits),
        cmocka_unit_test(tells_what_a_snapshot_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
