// From counters to TAGS: what a viewer that reads along knows is what there is.
#include "probe/core/tagfeed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/tally.h"
#include "protocol/decoder.h"
#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)

static struct tally tally;
static struct tags tags;
static struct tagfeed feed;

static size_t
capture(struct stack_frame *stack, size_t limit)
{
    stack[0] = (struct stack_frame){0x560000000000, 1};
    return limit > 0 ? 1 : 0;
}

/* What a viewer knows. */

struct mirror {
    char names[64][64];
    struct tag_row rows[64];
    struct tag_class classes[64];
    size_t class_count;
    size_t keys, frames, listed;
};

static struct mirror mirror;

static void
take(struct buffer *frames)
{
    struct decoder decoder = {0};
    struct message message;
    mirror.keys = mirror.frames = mirror.listed = mirror.class_count = 0;
    decoder_feed(&decoder, frames->bytes, frames->length);
    while (decoder_next(&decoder, &message) == DECODE_MESSAGE) {
        assert_int_equal(message.kind, MESSAGE_TAGS);
        const struct tags_state *state = &message.tags;
        assert_true(!state->key || mirror.frames == 0);
        mirror.keys += state->key;
        mirror.frames++;
        if (state->key) {
            memset(mirror.names, 0, sizeof mirror.names);
            memset(mirror.rows, 0, sizeof mirror.rows);
        }
        for (size_t i = 0; i < state->name_count; i++) {
            assert_in_range(state->names[i].id, 1, 63);
            snprintf(mirror.names[state->names[i].id], 64, "%.*s",
                     (int)state->names[i].text.length, state->names[i].text.bytes);
        }
        for (size_t i = 0; i < state->row_count; i++) {
            assert_int_not_equal(mirror.names[state->rows[i].id][0], '\0');
            mirror.rows[state->rows[i].id] = state->rows[i];
            mirror.listed++;
        }
        for (size_t i = 0; i < state->class_count; i++) {
            mirror.classes[mirror.class_count++] = state->classes[i];
        }
    }
    decoder_destroy(&decoder);
    buffer_destroy(frames);
}

static void
look(void)
{
    struct buffer frames = {0};
    assert_true(tagfeed_read(&feed, &tags, &tally.registry, true));
    assert_true(tagfeed_changes(&feed, &tags, (struct stamp){1, 2}, &frames));
    take(&frames);
}

static int
start(void **state)
{
    (void)state;
    mirror = (struct mirror){0};
    return tally_init(&tally, NULL) && trace_init(&tally.trace, capture, 6, 100) ? 0 : -1;
}

static int
stop(void **state)
{
    (void)state;
    tally_destroy(&tally);
    tags_destroy(&tags);
    tagfeed_destroy(&feed);
    tagfeed_destroy(&feed);
    return 0;
}

static uint32_t
tag(const char *value)
{
    const struct tag_pair pair = {"route", 5, value, strlen(value)};
    return tags_find(&tags, 0, &pair, 1);
}

static uintptr_t
class_key(size_t number)
{
    return 0x550000000000 + number * 40;
}

static uintptr_t
address_of(size_t slot)
{
    return HEAP + slot * 40;
}

static class_id
id_of(size_t class)
{
    const struct registry_slot *slot = registry_lookup(&tally.registry, class_key(class));
    return registry_class(&tally.registry, slot->site->class_index)->id;
}

static void
without_a_tag_nothing_is_said(void **state)
{
    (void)state;
    tally_allocated(&tally, address_of(1), class_key(1));
    look();
    assert_int_equal(mirror.frames, 0);
    assert_null(feed.rows); // and takes no memory
}

static void
says_what_was_born_under_each_tag_and_what_is_gone(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    uint32_t b = tag("b");
    tags_enter(&tags, a);
    tally_allocated_tagged(&tally, address_of(1), class_key(1), a);
    tally_allocated_tagged(&tally, address_of(2), class_key(2), a);
    tally_allocated_tagged(&tally, address_of(3), class_key(1), b);
    tally_allocated(&tally, address_of(4), class_key(1));
    tally_freed(&tally, address_of(2));
    tags_leave(&tags, a);
    look();
    assert_int_equal(mirror.keys, 1);
    assert_string_equal(mirror.names[a], "route=a");
    assert_int_equal(mirror.rows[a].allocated, 2);
    assert_int_equal(mirror.rows[a].freed, 1);
    assert_int_equal(mirror.rows[a].live, 1);
    assert_int_equal(mirror.rows[a].calls, 1);
    assert_int_equal(mirror.rows[a].active, 0);
    assert_true(mirror.rows[a].bytes == COUNT_UNKNOWN); // no census yet
    assert_true(mirror.rows[a].ages[0] == COUNT_UNKNOWN);
    assert_int_equal(mirror.rows[b].live, 1);
    assert_int_equal(mirror.rows[TAG_OTHER].id, 0); // nobody needed it
    struct site_counts counts = registry_totals(&tally.registry);
    assert_int_equal(counts.allocated, 4);
    assert_int_equal(counts.live, 3);
}

static void
says_later_only_what_changed(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    tally_allocated_tagged(&tally, address_of(1), class_key(1), a);
    tag("b");
    look();
    look();
    assert_int_equal(mirror.frames, 0);
    tally_freed(&tally, address_of(1));
    look();
    assert_int_equal(mirror.keys, 0);
    assert_int_equal(mirror.listed, 1);
    assert_int_equal(mirror.rows[a].live, 0);
    uint32_t c = tag("c");
    look();
    assert_int_equal(mirror.listed, 1);
    assert_string_equal(mirror.names[c], "route=c");
}

static void
a_seed_is_everything_and_a_feed_that_forgot_says_it_again(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    tally_allocated_tagged(&tally, address_of(1), class_key(1), a);
    tag("b");
    look();
    struct buffer frames = {0};
    assert_true(tagfeed_seed(&feed, &tags, (struct stamp){1, 2}, &frames));
    mirror = (struct mirror){0};
    take(&frames);
    assert_int_equal(mirror.keys, 1);
    assert_int_equal(mirror.listed, 2);
    assert_int_equal(mirror.rows[a].live, 1);
    tagfeed_forget(&feed);
    look();
    assert_int_equal(mirror.keys, 1);
    assert_int_equal(mirror.listed, 2);
}

static void
tells_the_classes_of_a_tag_that_somebody_wants(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    uint32_t b = tag("b");
    for (size_t i = 0; i < 10; i++) {
        tally_allocated_tagged(&tally, address_of(i), class_key(i % 3), i < 9 ? a : b);
    }
    look();
    assert_int_equal(mirror.class_count, 0);
    tagfeed_want(&feed, a);
    tagfeed_want(&feed, TAGS_MAX + 7); // of no such tag there are none
    look();
    assert_int_equal(mirror.class_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(mirror.classes[i].tag, a);
        assert_int_equal(mirror.classes[i].class_id, id_of(i));
        assert_int_equal(mirror.classes[i].allocated, 3);
        assert_int_equal(mirror.classes[i].live, 3);
    }
    tagfeed_want_none(&feed);
    look();
    assert_int_equal(mirror.class_count, 0);
}

static void
objects_with_a_stack_belong_to_their_tag_as_well(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    tally_allocated_tagged(&tally, address_of(0), class_key(1), a);
    uint32_t index = registry_lookup(&tally.registry, class_key(1))->site->class_index;
    trace_class(&tally.trace, &tally.registry, index, true, 1);
    tally_allocated_tagged(&tally, address_of(1), class_key(1), a);
    tally_allocated(&tally, address_of(2), class_key(1));
    look();
    assert_int_equal(mirror.rows[a].live, 2);
    assert_int_equal(tally.trace.stacks, 2);
    assert_int_equal(registry_counts(&tally.registry, index).live, 3);
}

static void
a_class_that_is_gone_leaves_its_counts_to_the_tag(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    tally_allocated_tagged(&tally, address_of(0), class_key(1), a);
    look();
    tally_freed(&tally, address_of(0));
    struct class_entry *entry =
        registry_class(&tally.registry,
                       registry_lookup(&tally.registry, class_key(1))->site->class_index);
    registry_retire(&tally.registry, class_key(1));
    entry->state = CLASS_STATE_GONE;
    tally_recycle(&tally);
    look();
    assert_int_equal(mirror.rows[a].allocated, 1);
    assert_int_equal(mirror.rows[a].freed, 1);
    assert_int_equal(mirror.rows[a].live, 0);
}

static void
where_nobody_counts_only_calls_are_known(void **state)
{
    (void)state;
    uint32_t a = tag("a");
    tags_enter(&tags, a);
    struct buffer frames = {0};
    assert_true(tagfeed_read(&feed, &tags, &tally.registry, false));
    assert_true(tagfeed_changes(&feed, &tags, (struct stamp){1, 2}, &frames));
    take(&frames);
    assert_int_equal(mirror.rows[a].active, 1);
    assert_true(mirror.rows[a].allocated == COUNT_UNKNOWN);
    assert_true(mirror.rows[a].live == COUNT_UNKNOWN);
    assert_true(mirror.rows[a].bytes == COUNT_UNKNOWN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
        TEST(without_a_tag_nothing_is_said),
        TEST(says_what_was_born_under_each_tag_and_what_is_gone),
        TEST(says_later_only_what_changed),
        TEST(a_seed_is_everything_and_a_feed_that_forgot_says_it_again),
        TEST(tells_the_classes_of_a_tag_that_somebody_wants),
        TEST(objects_with_a_stack_belong_to_their_tag_as_well),
        TEST(a_class_that_is_gone_leaves_its_counts_to_the_tag),
        TEST(where_nobody_counts_only_calls_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
