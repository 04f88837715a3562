/*
 * What viewers are told, decoded again: a mirror of the registry that knows
 * nothing but what the frames said. malloc and its like pass through here
 * (--wrap), so that memory can run out.
 */
#include "probe/core/feed.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/decoder.h"
#include "tests/probe/core/fixture.h"

#define IDS_MAX 600000u
#define AT ((struct stamp){5, 6})

/* Memory that runs out. */

// Allocations that still succeed; when it gets to 0 one fails. Negative: all do.
static long countdown = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool
fails_now(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *
__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __real_realloc(memory, size);
}

/* The mirror of a viewer. */

struct mirror {
    struct decoder decoder;
    struct class_row rows[IDS_MAX]; // id 0: not known
    bool named[IDS_MAX];
    char names[IDS_MAX][24];
    uint32_t flags[IDS_MAX];
    struct totals totals;
    size_t samples;
    size_t rows_told; // in the last feeding
    size_t names_told;
    size_t gone_told;
};

static void
mirror_names(struct mirror *mirror, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct class_name *name = &names->list[i];
        assert_true(name->id > 0 && name->id < IDS_MAX && name->name.length < 24);
        mirror->named[name->id] = true;
        snprintf(mirror->names[name->id], sizeof(mirror->names[0]), "%.*s",
                 (int)name->name.length, name->name.length ? name->name.bytes : "");
        mirror->flags[name->id] = name->flags;
    }
    mirror->names_told += names->count;
}

static void
mirror_sample(struct mirror *mirror, const struct sample *sample, bool first)
{
    assert_true(first || !sample->key); // later frames add to the key, no more
    assert_true(first || sample->gone_count == 0);
    if (sample->key) {
        memset(mirror->rows, 0, sizeof(mirror->rows));
    }
    for (size_t i = 0; i < sample->row_count; i++) {
        class_id id = sample->rows[i].id;
        assert_true(id > 0 && id < IDS_MAX && mirror->named[id]);
        mirror->rows[id] = sample->rows[i];
    }
    for (size_t i = 0; i < sample->gone_count; i++) {
        mirror->rows[sample->gone[i]] = (struct class_row){0};
    }
    mirror->totals = sample->totals;
    mirror->rows_told += sample->row_count;
    mirror->gone_told += sample->gone_count;
}

static void
mirror_take(struct mirror *mirror, const struct buffer *frames)
{
    struct message message;
    bool first = true;
    mirror->samples = mirror->rows_told = mirror->names_told = mirror->gone_told = 0;
    decoder_feed(&mirror->decoder, frames->bytes, frames->length);
    while (decoder_next(&mirror->decoder, &message) == DECODE_MESSAGE) {
        assert_int_equal(message.at.monotonic_us, AT.monotonic_us);
        if (message.kind == MESSAGE_NAMES) {
            assert_true(first); // names come before what they name
            mirror_names(mirror, &message.names);
        } else {
            assert_int_equal(message.kind, MESSAGE_SAMPLE);
            mirror_sample(mirror, &message.sample, first);
            first = false;
            mirror->samples++;
        }
    }
    assert_string_equal(decoder_error(&mirror->decoder), "");
    assert_true(mirror->samples > 0);
}

/* The program. */

#define LIFE_CLASSES 200u

struct scene {
    uint64_t live[LIFE_CLASSES];
    struct registry registry;
    struct feed feed;
    struct mirror mirror;
};

static struct scene scene;
static struct mirror other; // a viewer that was seeded

static uintptr_t
key_of(size_t number)
{
    return 0x550000000000 + number * 40;
}

static int
start(void **state)
{
    (void)state;
    memset(&scene, 0, sizeof(scene));
    memset(&other, 0, sizeof(other));
    return registry_init(&scene.registry, NULL) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    feed_destroy(&scene.feed);
    feed_destroy(&scene.feed); // twice is harmless
    registry_destroy(&scene.registry);
    decoder_destroy(&scene.mirror.decoder);
    decoder_destroy(&other.decoder);
    return 0;
}

static uint32_t
row_of(size_t number)
{
    return registry_lookup(&scene.registry, key_of(number))->site->class_index;
}

static class_id
id_of(size_t number)
{
    return registry_class(&scene.registry, row_of(number))->id;
}

static void
allocate(size_t number, uint64_t count)
{
    count_add(&registry_site(&scene.registry, row_of(number) * SITES_A_CLASS)->allocated,
              count);
}

static void
release(size_t number, uint64_t count)
{
    count_add(&registry_site(&scene.registry, row_of(number) * SITES_A_CLASS)->freed,
              count);
}

static void
name(size_t number, const char *text, uint32_t flags)
{
    registry_name(&scene.registry, row_of(number), strdup(text), flags);
}

static bool
sample_into(struct buffer *frames, enum probe_mode mode)
{
    struct sample sample = {.mode = mode, .probe = {.census_us = 1}};
    return feed_sample(&scene.feed, &scene.registry, &sample, AT, frames);
}

static void
take_sample(enum probe_mode mode)
{
    struct buffer frames = {0};
    assert_true(sample_into(&frames, mode));
    mirror_take(&scene.mirror, &frames);
    buffer_destroy(&frames);
}

static bool
seed_into(struct buffer *frames)
{
    const struct sample sample = {.mode = MODE_COUNT, .probe = {.census_us = 1}};
    return feed_seed(&scene.feed, &scene.registry, &sample, AT, frames);
}

static void
take_seed(struct mirror *mirror)
{
    struct buffer frames = {0};
    assert_true(seed_into(&frames));
    mirror_take(mirror, &frames);
    buffer_destroy(&frames);
}

static void
expect_same_state(const struct mirror *a, const struct mirror *b)
{
    assert_memory_equal(a->rows, b->rows, sizeof(a->rows));
    assert_memory_equal(&a->totals, &b->totals, sizeof(a->totals));
    for (size_t id = 0; id < IDS_MAX; id++) {
        if (a->rows[id].id) {
            assert_string_equal(a->names[id], b->names[id]);
            assert_int_equal(a->flags[id], b->flags[id]);
        }
    }
}

static void
a_row_is_told_with_its_name(void **state)
{
    (void)state;
    allocate(1, 5);
    release(1, 2);
    name(1, "Order", CLASS_ANONYMOUS);
    take_sample(MODE_COUNT);
    const struct class_row *row = &scene.mirror.rows[id_of(1)];
    assert_int_equal(row->live, 3);
    assert_int_equal(row->allocated, 5);
    assert_int_equal(row->freed, 2);
    assert_true(row->bytes == COUNT_UNKNOWN);
    assert_string_equal(scene.mirror.names[id_of(1)], "Order");
    assert_int_equal(scene.mirror.flags[id_of(1)], CLASS_ANONYMOUS);
    assert_int_equal(scene.mirror.totals.live, 3);
    assert_int_equal(scene.mirror.totals.allocated, 5);
    assert_int_equal(scene.mirror.totals.freed, 2);
}

static void
what_did_not_change_is_not_told_again(void **state)
{
    (void)state;
    allocate(1, 5);
    allocate(2, 7);
    take_sample(MODE_COUNT);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows_told + scene.mirror.names_told, 0);
    assert_int_equal(scene.mirror.totals.live, 12); // the totals are, always
    allocate(2, 1);
    release(2, 1); // live as before
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows_told, 1);
    assert_int_equal(scene.mirror.rows[id_of(2)].allocated, 8);
    registry_class(&scene.registry, row_of(1))->bytes = 200;
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows_told, 1);
    assert_int_equal(scene.mirror.rows[id_of(1)].bytes, 200);
    assert_int_equal(scene.mirror.totals.bytes, 200);
}

static void
a_name_is_told_when_it_is_known_and_when_it_changes(void **state)
{
    (void)state;
    allocate(1, 1);
    take_sample(MODE_COUNT);
    assert_string_equal(scene.mirror.names[id_of(1)], "");
    name(1, "#<Class:0x1>", CLASS_ANONYMOUS);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.names_told, 1);
    assert_int_equal(scene.mirror.rows_told, 0);
    assert_string_equal(scene.mirror.names[id_of(1)], "#<Class:0x1>");
    name(1, "Order", 0);
    take_sample(MODE_COUNT);
    assert_string_equal(scene.mirror.names[id_of(1)], "Order");
    assert_int_equal(scene.mirror.flags[id_of(1)], 0);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.names_told, 0);
}

static void
a_dead_class_is_told_until_its_last_object_then_gone_once(void **state)
{
    (void)state;
    allocate(1, 2);
    class_id id = id_of(1);
    uint32_t row = row_of(1);
    registry_retire(&scene.registry, key_of(1));
    take_sample(MODE_COUNT);
    registry_recycle(&scene.registry);
    assert_int_equal(scene.mirror.rows[id].live, 2);
    count_add(&registry_site(&scene.registry, row * SITES_A_CLASS)->freed, 2);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows[id].live, 0);
    assert_int_equal(scene.mirror.gone_told, 0);
    registry_recycle(&scene.registry);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.gone_told, 1);
    assert_int_equal(scene.mirror.rows[id].id, 0);
    assert_int_equal(scene.mirror.totals.allocated, 2); // the past is not forgotten
    assert_int_equal(scene.mirror.totals.freed, 2);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.gone_told, 0);
}

static void
a_row_used_again_between_two_samples_is_another_class(void **state)
{
    (void)state;
    allocate(1, 1);
    name(1, "Old", 0);
    class_id old = id_of(1);
    release(1, 1);
    registry_retire(&scene.registry, key_of(1));
    take_sample(MODE_COUNT);
    registry_recycle(&scene.registry);
    allocate(2, 1); // with the same counts
    release(2, 1);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows[old].id, 0);
    assert_int_equal(scene.mirror.gone_told, 1);
    assert_int_equal(scene.mirror.rows[id_of(2)].id, id_of(2));
    assert_string_equal(scene.mirror.names[id_of(2)], "");
}

static void
without_hooks_nothing_is_said_of_allocations(void **state)
{
    (void)state;
    count_add(&registry_site(&scene.registry, row_of(1) * SITES_A_CLASS + 1)->found, 9);
    take_sample(MODE_CENSUS);
    assert_int_equal(scene.mirror.rows[id_of(1)].live, 9);
    assert_true(scene.mirror.rows[id_of(1)].allocated == COUNT_UNKNOWN);
    assert_true(scene.mirror.rows[id_of(1)].freed == COUNT_UNKNOWN);
    assert_int_equal(scene.mirror.totals.live, 9);
    assert_true(scene.mirror.totals.allocated == COUNT_UNKNOWN);
    assert_true(scene.mirror.totals.freed == COUNT_UNKNOWN);
    assert_true(scene.mirror.totals.bytes == COUNT_UNKNOWN);
}

static void
what_nobody_counts_is_unknown_and_not_zero(void **state)
{
    (void)state;
    take_sample(MODE_DORMANT);
    assert_true(scene.mirror.totals.live == COUNT_UNKNOWN);
    assert_true(scene.mirror.totals.allocated == COUNT_UNKNOWN);
    struct sample sample = {.mode = MODE_CENSUS}; // before the first census
    struct buffer frames = {0};
    assert_true(feed_sample(&scene.feed, &scene.registry, &sample, AT, &frames));
    mirror_take(&scene.mirror, &frames);
    buffer_destroy(&frames);
    assert_true(scene.mirror.totals.live == COUNT_UNKNOWN);
}

// Somebody else read these classes for the same sample: the row is of that reading.
static void
a_row_that_was_read_already_is_not_read_again(void **state)
{
    (void)state;
    for (size_t number = 1; number <= 4; number++) {
        allocate(number, 10);
    }
    const struct class_reading readings[] = {
        {row_of(2), {.live = 3, .allocated = 5, .freed = 2}},
        {row_of(4), {.live = 1, .allocated = 1, .freed = 0}}
    };
    scene.feed.readings = readings;
    scene.feed.reading_count = 2;
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows[id_of(1)].live, 10);
    assert_int_equal(scene.mirror.rows[id_of(2)].live, 3);
    assert_int_equal(scene.mirror.rows[id_of(2)].freed, 2);
    assert_int_equal(scene.mirror.rows[id_of(3)].live, 10);
    assert_int_equal(scene.mirror.rows[id_of(4)].allocated, 1);
    assert_int_equal(scene.mirror.totals.live, 24);
    take_sample(MODE_COUNT); // they were for one sample
    assert_int_equal(scene.mirror.totals.live, 40);
}

static void
a_class_that_is_traced_or_pinned_is_named_so(void **state)
{
    (void)state;
    struct class_entry *entry;
    allocate(1, 1);
    name(1, "Order", CLASS_ANONYMOUS);
    take_sample(MODE_COUNT);
    entry = registry_class(&scene.registry, row_of(1));
    entry->traced = true;
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.flags[id_of(1)], CLASS_ANONYMOUS | CLASS_TRACED);
    entry->pinned = true;
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.flags[id_of(1)],
                     CLASS_ANONYMOUS | CLASS_TRACED | CLASS_PINNED);
    take_seed(&other);
    expect_same_state(&scene.mirror, &other);
    entry->traced = false;
    entry->pinned = false;
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.flags[id_of(1)], CLASS_ANONYMOUS);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.names_told, 0);
}

static void
after_forgetting_everything_is_told_again(void **state)
{
    (void)state;
    allocate(1, 1);
    allocate(2, 1);
    take_sample(MODE_COUNT);
    feed_forget(&scene.feed);
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows_told, 2);
    assert_int_equal(scene.mirror.names_told, 2);
}

static void
many_rows_come_in_frames_of_a_bounded_size(void **state)
{
    (void)state;
    const size_t classes = 500001; // two frames and a half
    for (size_t i = 1; i <= classes; i++) {
        allocate(i, i);
    }
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.samples, 3);
    assert_int_equal(scene.mirror.rows_told, classes);
    take_seed(&other);
    assert_int_equal(other.samples, 3);
    expect_same_state(&scene.mirror, &other);
}

/* Changes and a whole state say the same. */

static void
live_a_little(void)
{
    for (size_t i = 0; i < 100; i++) {
        size_t number = random_below(LIFE_CLASSES);
        char text[20];
        snprintf(text, sizeof(text), "C%u", (unsigned)random_below(1000));
        switch (random_below(6)) {
        case 0:
            name(number, text, (uint32_t)random_below(4));
            break;
        case 1:
            release(number, scene.live[number]);
            scene.live[number] = 0;
            break;
        case 2:
            release(number, scene.live[number]);
            scene.live[number] = 0;
            registry_retire(&scene.registry, key_of(number));
            break;
        default:
            allocate(number, 3);
            scene.live[number] += 3;
        }
    }
}

static void
a_seed_is_the_state_that_the_changes_add_up_to(void **state)
{
    (void)state;
    for (size_t round = 0; round < 300; round++) {
        live_a_little();
        take_sample(MODE_COUNT);
        if (random_below(3) == 0) {
            take_seed(&other);
            expect_same_state(&scene.mirror, &other);
        }
        if (random_below(3) == 0) {
            registry_recycle(&scene.registry);
        }
    }
}

// A viewer that was seeded takes the changes that follow: the seed is as of the
// sample before it, though the program went on.
static void
changes_fit_the_seed_before_them(void **state)
{
    (void)state;
    live_a_little();
    take_sample(MODE_COUNT);
    live_a_little();
    take_seed(&other);
    for (size_t round = 0; round < 100; round++) {
        live_a_little();
        struct buffer frames = {0};
        assert_true(sample_into(&frames, MODE_COUNT));
        mirror_take(&scene.mirror, &frames);
        mirror_take(&other, &frames);
        buffer_destroy(&frames);
        registry_recycle(&scene.registry);
        expect_same_state(&scene.mirror, &other);
    }
}

/* Without memory. */

static void
without_memory_it_fails_and_can_be_used_again(void **state)
{
    (void)state;
    bool done = false;
    for (size_t i = 1; i < 300; i++) {
        allocate(i, i);
    }
    long succeed = 0;
    for (; !done; succeed++) {
        struct buffer frames = {0};
        feed_destroy(&scene.feed);
        countdown = succeed;
        done = sample_into(&frames, MODE_COUNT) && seed_into(&frames);
        countdown = -1;
        buffer_destroy(&frames);
        // What the server does then.
        feed_forget(&scene.feed);
        take_sample(MODE_COUNT);
        assert_int_equal(scene.mirror.rows_told, 299);
        take_seed(&other);
        expect_same_state(&scene.mirror, &other);
    }
    assert_true(succeed > 5); // there was something to fail
}

static void
growing_without_memory_keeps_what_was_there(void **state)
{
    (void)state;
    allocate(1, 1);
    take_sample(MODE_COUNT);
    for (size_t i = 2; i < 2000; i++) {
        allocate(i, i);
    }
    for (long succeed = 0; succeed < 4; succeed++) {
        struct buffer frames = {0};
        countdown = succeed;
        assert_false(sample_into(&frames, MODE_COUNT));
        countdown = -1;
        assert_int_equal(frames.length, 0);
        buffer_destroy(&frames);
    }
    take_sample(MODE_COUNT);
    assert_int_equal(scene.mirror.rows_told, 1998);
}

int
main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_row_is_told_with_its_name, start, end),
        cmocka_unit_test_setup_teardown(what_did_not_change_is_not_told_again, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_name_is_told_when_it_is_known_and_when_it_changes, start, end),
        cmocka_unit_test_setup_teardown(
            a_dead_class_is_told_until_its_last_object_then_gone_once, start, end),
        cmocka_unit_test_setup_teardown(
            a_row_used_again_between_two_samples_is_another_class, start, end),
        cmocka_unit_test_setup_teardown(without_hooks_nothing_is_said_of_allocations,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_nobody_counts_is_unknown_and_not_zero, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_row_that_was_read_already_is_not_read_again,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_class_that_is_traced_or_pinned_is_named_so,
                                        start, end),
        cmocka_unit_test_setup_teardown(after_forgetting_everything_is_told_again, start,
                                        end),
        cmocka_unit_test_setup_teardown(many_rows_come_in_frames_of_a_bounded_size, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_seed_is_the_state_that_the_changes_add_up_to,
                                        start, end),
        cmocka_unit_test_setup_teardown(changes_fit_the_seed_before_them, start, end),
        cmocka_unit_test_setup_teardown(without_memory_it_fails_and_can_be_used_again,
                                        start, end),
        cmocka_unit_test_setup_teardown(growing_without_memory_keeps_what_was_there,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
