// What tags are called, and how often they are entered.
#include "probe/core/tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tags tags;

/* Memory that runs out. */

static long countdown = -1; // allocations until one fails; negative: none does

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_malloc(size_t size)
{
    countdown -= countdown > 0;
    return countdown == 0 ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    countdown -= countdown > 0;
    return countdown == 0 ? NULL : __real_calloc(count, size);
}

static int
start(void **state)
{
    (void)state;
    countdown = -1;
    return 0;
}

static int
stop(void **state)
{
    (void)state;
    countdown = -1;
    tags_destroy(&tags);
    tags_destroy(&tags); // twice is harmless
    return 0;
}

static uint32_t
find(uint32_t current, const char *key, const char *value)
{
    const struct tag_pair pair = {key, strlen(key), value, strlen(value)};
    return tags_find(&tags, current, &pair, 1);
}

static void
a_tag_has_one_number_for_good(void **state)
{
    (void)state;
    assert_int_equal(tags.count, 0);
    uint32_t show = find(0, "route", "orders#show");
    uint32_t index = find(0, "route", "orders#index");
    assert_int_equal(show, TAGS_FIRST);
    assert_int_equal(index, TAGS_FIRST + 1);
    assert_int_equal(find(0, "route", "orders#show"), show);
    assert_string_equal(tags_entry(&tags, show)->text, "route=orders#show");
    assert_int_equal(tags_find(&tags, show, NULL, 0), show);
}

static void
keys_within_a_tag_replace_their_own_and_keep_the_others(void **state)
{
    (void)state;
    uint32_t route = find(0, "route", "a");
    uint32_t both = find(route, "job", "b");
    assert_string_equal(tags_entry(&tags, both)->text, "job=b\nroute=a");
    assert_int_equal(find(find(0, "job", "b"), "route", "a"), both); // in any order
    assert_string_equal(tags_entry(&tags, find(both, "route", "c"))->text,
                        "job=b\nroute=c");
    assert_int_equal(find(both, "route", "a"), both);
}

static void
what_is_no_key_and_no_text_is_replaced(void **state)
{
    (void)state;
    uint32_t tag = find(0, "a =\nb", "1=2\n\x1b[0m\x7f");
    assert_string_equal(tags_entry(&tags, tag)->text, "a___b=1=2??[0m?");
    // and what a tag's text says is read back as it was
    assert_string_equal(tags_entry(&tags, find(tag, "z", ""))->text,
                        "a___b=1=2??[0m?\nz=");
}

static void
long_keys_and_values_are_cut_between_characters(void **state)
{
    (void)state;
    char key[200];
    char value[400];
    memset(key, 'k', sizeof key);
    for (size_t i = 0; i + 2 < sizeof value; i += 3) {
        memcpy(value + i, "\xe2\x82\xac", 3);
    }
    const struct tag_pair pair = {key, sizeof key, value, 399};
    const struct tag_entry *entry = tags_entry(&tags, tags_find(&tags, 0, &pair, 1));
    assert_int_equal(entry->length, TAG_KEY_MAX + 1 + 198); // 66 characters of 3 bytes
    assert_int_equal(strlen(entry->text), entry->length);
}

static void
more_pairs_than_there_is_room_for_are_left_out(void **state)
{
    (void)state;
    uint32_t tag = 0;
    for (int i = 0; i < 20; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%02d", i);
        tag = find(tag, key, "v");
    }
    assert_string_equal(tags_entry(&tags, tag)->text,
                        "k00=v\nk01=v\nk02=v\nk03=v\nk04=v\nk05=v\nk06=v\nk07=v");
}

static void
beyond_the_bound_there_is_one_for_all_others(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * TAGS_MAX; i++) {
        char value[16];
        snprintf(value, sizeof value, "%u", i);
        uint32_t tag = find(0, "id", value);
        assert_int_equal(tag, i < TAGS_MAX - TAGS_FIRST ? TAGS_FIRST + i : TAG_OTHER);
    }
    assert_int_equal(tags.refused, TAGS_MAX + TAGS_FIRST);
    assert_string_equal(tags_entry(&tags, TAG_OTHER)->text, "(other)");
    assert_int_equal(find(0, "id", "7"), TAGS_FIRST + 7);
    assert_int_equal(find(TAG_OTHER, "id", "7"), TAGS_FIRST + 7);
}

static void
calls_are_counted_when_they_end(void **state)
{
    (void)state;
    uint32_t before = find(0, "route", "GET");
    uint32_t after = find(0, "route", "orders#show");
    tags_enter(&tags, before);
    assert_int_equal(tags_entry(&tags, before)->active, 1);
    tags_switch(&tags, before, after);
    assert_int_equal(tags_entry(&tags, before)->active, 0);
    assert_int_equal(tags_entry(&tags, after)->active, 1);
    tags_leave(&tags, after);
    assert_int_equal(tags_entry(&tags, before)->calls, 0);
    assert_int_equal(tags_entry(&tags, after)->calls, 1);
    tags_leave(&tags, after); // of a fork's parent: never below none
    assert_int_equal(tags_entry(&tags, after)->active, 0);
    tags_enter(&tags, TAG_NONE);
    tags_leave(&tags, TAG_NONE);
    tags_switch(&tags, TAG_NONE, TAG_NONE);
}

static void
in_a_child_only_the_one_that_forked_is_in_a_tag(void **state)
{
    (void)state;
    uint32_t mine = find(0, "route", "a");
    uint32_t others = find(0, "route", "b");
    tags_enter(&tags, mine);
    tags_enter(&tags, others);
    tags_enter(&tags, others);
    tags_forked(&tags, mine);
    assert_int_equal(tags_entry(&tags, mine)->active, 1);
    assert_int_equal(tags_entry(&tags, others)->active, 0);
}

static void
without_memory_there_is_no_tag_and_later_there_is(void **state)
{
    (void)state;
    for (long i = 1; i <= 3; i++) {
        countdown = i;
        assert_int_equal(find(0, "route", "a"), TAG_NONE);
        assert_int_equal(tags.count, 0);
    }
    countdown = 4; // the first tag's own text
    assert_int_equal(find(0, "route", "a"), TAG_OTHER);
    countdown = -1;
    assert_int_equal(find(0, "route", "a"), TAGS_FIRST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
        TEST(a_tag_has_one_number_for_good),
        TEST(keys_within_a_tag_replace_their_own_and_keep_the_others),
        TEST(what_is_no_key_and_no_text_is_replaced),
        TEST(long_keys_and_values_are_cut_between_characters),
        TEST(more_pairs_than_there_is_room_for_are_left_out),
        TEST(beyond_the_bound_there_is_one_for_all_others),
        TEST(calls_are_counted_when_they_end),
        TEST(in_a_child_only_the_one_that_forked_is_in_a_tag),
        TEST(without_memory_there_is_no_tag_and_later_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
