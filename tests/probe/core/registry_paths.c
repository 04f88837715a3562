// Sites of call paths, and what becomes of a class's rows while it is traced.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/registry.h"

// Keys with this bit are aliases of the key without it.
#define ALIAS ((uintptr_t)1 << 47)

static uintptr_t
resolve(uintptr_t key)
{
    return key & ~ALIAS;
}

static uintptr_t
key_of(size_t number)
{
    return 0x7f0000000000 + number * 40;
}

static int
start(void **state)
{
    static struct registry registry;
    *state = &registry;
    return registry_init(&registry, resolve) ? 0 : -1;
}

static int
end(void **state)
{
    registry_destroy(*state);
    return 0;
}

static struct registry_slot
look_up(struct registry *registry, uintptr_t key)
{
    const struct registry_slot *slot = registry_lookup(registry, key);
    assert_non_null(slot);
    assert_int_equal(slot->key, key);
    return *slot;
}

static class_id
id_of(struct registry *registry, uintptr_t key)
{
    return registry_class(registry, look_up(registry, key).site->class_index)->id;
}

static void
allocate(struct registry *registry, uintptr_t key, unsigned count)
{
    count_add(&registry_site(registry, look_up(registry, key).site->id)->allocated,
              count);
}

// What the server does with a dead class that has no objects.
static void
bury(struct registry *registry, uint32_t index)
{
    assert_int_equal(registry_class(registry, index)->state, CLASS_STATE_DEAD);
    registry_class(registry, index)->state = CLASS_STATE_GONE;
}

/* Call paths. */

static const struct site *
add_path(struct registry *registry, size_t number, uint32_t node)
{
    uint32_t index = look_up(registry, key_of(number)).site->class_index;
    struct site *site = registry_add_path(registry, index, node, 2, 0);
    assert_non_null(site);
    assert_int_equal(site->class_index, index);
    count_add(&site->allocated, 5);
    count_add(&site->freed, 2);
    return site;
}

static void
paths_of_a_class_are_a_list_with_the_newest_first(void **state)
{
    struct registry *registry = *state;
    const struct site *first = add_path(registry, 1, 100);
    const struct site *second = add_path(registry, 1, 200);
    uint32_t index = first->class_index;
    assert_int_equal(first->id, REGISTRY_FIRST_PATH);
    assert_int_equal(second->id, REGISTRY_FIRST_PATH + 1);
    assert_int_equal(registry_class(registry, index)->paths, second->id);
    assert_int_equal(second->next, first->id);
    assert_int_equal(first->next, 0);
    assert_int_equal(first->node, 100);
    assert_int_equal(first->shift, 2);
    assert_true(first->sample_at == SITE_NEVER);
    assert_int_equal(registry->path_count, 2);
}

static void
all_sites_of_a_class_are_its_count(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1)).site->class_index;
    allocate(registry, key_of(1), 10);
    add_path(registry, 1, 100);
    add_path(registry, 2, 100);
    add_path(registry, 1, 200);
    registry_trace(registry, index, true);
    allocate(registry, key_of(1), 100); // in another of its sites
    struct site_counts counts = registry_counts(registry, index);
    assert_int_equal(counts.allocated, 120);
    assert_int_equal(counts.freed, 4);
    assert_int_equal(counts.live, 116);
    assert_int_equal(registry_totals(registry).allocated, 125);
    assert_int_equal(registry_totals(registry).live, 119);
}

static void
sites_of_paths_are_used_again_and_begin_at_nothing(void **state)
{
    struct registry *registry = *state;
    site_id ids[2] = {add_path(registry, 1, 100)->id, add_path(registry, 1, 200)->id};
    site_id other = add_path(registry, 2, 100)->id;
    registry_seen(registry, ids[0])->bytes = 7;
    registry_seen(registry, ids[0])->ages[3] = 7;
    registry_free_paths(registry, look_up(registry, key_of(1)).site->class_index);
    assert_int_equal(id_of(registry, key_of(1)), 1); // only its paths are gone
    assert_int_equal(registry_counts(registry, 1).allocated, 0);
    for (int i = 0; i < 2; i++) {
        site_id id = add_path(registry, 3, 300)->id;
        assert_true(id == ids[0] || id == ids[1]);
        assert_true(registry_seen(registry, id)->bytes == COUNT_UNKNOWN);
        assert_int_equal(registry_seen(registry, id)->ages[3], 0);
    }
    assert_int_equal(registry->path_count, 3);
    assert_int_equal(registry_counts(registry, 2).allocated, 5);
    assert_int_equal(registry_counts(registry, 3).allocated, 10);
    assert_int_equal(add_path(registry, 3, 400)->id, other + 1);
}

static void
numbers_of_paths_end_and_some_are_reserved(void **state)
{
    const uint32_t room = REGISTRY_SITE_SEGMENTS * REGISTRY_SEGMENT - REGISTRY_FIRST_PATH;
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1)).site->class_index;
    registry->path_count = room - 12; // as if so many were in use
    for (int i = 0; i < 2; i++) {
        assert_non_null(registry_add_path(registry, index, 1, 0, 10));
    }
    assert_null(registry_add_path(registry, index, 1, 0, 10));
    for (int i = 0; i < 10; i++) {
        assert_non_null(registry_add_path(registry, index, 1, 0, 0));
    }
    assert_null(registry_add_path(registry, index, 1, 0, 0));
    assert_int_equal(registry_class(registry, index)->paths, SHADOW_SITE_MAX);
    registry_free_paths(registry, index);
    assert_non_null(registry_add_path(registry, index, 1, 0, 0));
}

/* Tracing. */

static enum class_site
counted_in(struct registry *registry, uintptr_t key)
{
    const struct site *site = look_up(registry, key).site;
    return site->id - registry_class(registry, site->class_index)->site;
}

static void
a_traced_class_is_counted_elsewhere_under_all_its_keys(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1) | ALIAS).site->class_index;
    look_up(registry, key_of(2));
    registry_trace(registry, index, true);
    assert_int_equal(counted_in(registry, key_of(1)), SITE_UNSAMPLED);
    assert_int_equal(counted_in(registry, key_of(1) | ALIAS), SITE_UNSAMPLED);
    assert_int_equal(counted_in(registry, key_of(2)), SITE_COUNTED);
    registry_trace(registry, look_up(registry, key_of(3)).site->class_index, true);
    uintptr_t came_later = key_of(3) | ALIAS;
    assert_int_equal(counted_in(registry, came_later), SITE_UNSAMPLED);
    for (size_t i = 10; i < 3000; i++) { // nor does it matter that the table grows
        look_up(registry, key_of(i));
    }
    assert_int_equal(counted_in(registry, key_of(1)), SITE_UNSAMPLED);
    registry_trace(registry, index, false);
    assert_int_equal(counted_in(registry, key_of(1)), SITE_COUNTED);
    assert_int_equal(counted_in(registry, key_of(1) | ALIAS), SITE_COUNTED);
}

static void
classes_may_be_traced_as_they_come(void **state)
{
    struct registry *registry = *state;
    look_up(registry, key_of(1));
    registry->traces_new = true;
    struct site *site = look_up(registry, key_of(2)).site;
    assert_int_equal(counted_in(registry, key_of(1)), SITE_COUNTED);
    assert_int_equal(counted_in(registry, key_of(2)), SITE_UNSAMPLED);
    assert_int_equal(site->sample_at, 0); // from the first object on
    assert_true(registry_class(registry, site->class_index)->pinned);
    assert_true(registry_class(registry, site->class_index)->traced);
}

static void
a_recycled_row_is_traced_and_watched_by_nobody(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1)).site->class_index;
    struct class_entry *entry = registry_class(registry, index);
    registry_trace(registry, index, true);
    entry->pinned = true;
    entry->watchers = 3;
    entry->shift = 4;
    entry->traced_us = entry->left_ns = entry->governed_allocated = 77;
    registry_site(registry, entry->site + SITE_UNSAMPLED)->sample_at = 0;
    registry_site(registry, entry->site + SITE_UNSAMPLED)->shift = 4;
    site_id path = add_path(registry, 1, 100)->id;
    registry_retire(registry, key_of(1));
    bury(registry, index);
    registry_recycle(registry);
    assert_int_equal(registry->past_allocated, 5);
    assert_int_equal(registry->past_freed, 2);
    assert_int_equal(look_up(registry, key_of(2)).site->class_index, index);
    assert_int_equal(counted_in(registry, key_of(2)), SITE_COUNTED);
    assert_false(entry->traced || entry->pinned || entry->watchers);
    assert_int_equal(entry->shift, 0);
    assert_int_equal(entry->traced_us + entry->left_ns + entry->governed_allocated, 0);
    assert_int_equal(entry->paths, 0);
    const struct site *unsampled = registry_site(registry, entry->site + SITE_UNSAMPLED);
    assert_true(unsampled->sample_at == SITE_NEVER && unsampled->shift == 0);
    assert_int_equal(add_path(registry, 2, 100)->id, path);
}

static void
a_flag_is_an_edit_when_it_changes_and_outlives_a_new_name(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1)).site->class_index;
    const struct class_entry *entry = registry_class(registry, index);
    registry_name(registry, index, strdup("#<Class:0x1>"), CLASS_ANONYMOUS);
    uint32_t edits = entry->name_edits;
    registry_flag(registry, index, CLASS_TRACED | CLASS_PINNED, CLASS_TRACED);
    assert_int_equal(entry->flags, CLASS_ANONYMOUS | CLASS_TRACED);
    assert_int_equal(entry->name_edits, edits + 1);
    registry_flag(registry, index, CLASS_TRACED | CLASS_PINNED, CLASS_TRACED);
    registry_flag(registry, index, CLASS_PINNED, CLASS_INTERNAL); // not in the mask
    assert_int_equal(entry->name_edits, edits + 1);
    registry_name(registry, index, strdup("Order"),
                  CLASS_PINNED); // not the name's to say
    assert_int_equal(entry->flags, CLASS_TRACED);
    registry_flag(registry, index, CLASS_TRACED | CLASS_PINNED, CLASS_PINNED);
    assert_int_equal(entry->flags, CLASS_PINNED);
    assert_int_equal(entry->name_edits, edits + 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_of_a_class_are_a_list_with_the_newest_first,
                                        start, end),
        cmocka_unit_test_setup_teardown(all_sites_of_a_class_are_its_count, start, end),
        cmocka_unit_test_setup_teardown(
            sites_of_paths_are_used_again_and_begin_at_nothing, start, end),
        cmocka_unit_test_setup_teardown(numbers_of_paths_end_and_some_are_reserved, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_traced_class_is_counted_elsewhere_under_all_its_keys, start, end),
        cmocka_unit_test_setup_teardown(classes_may_be_traced_as_they_come, start, end),
        cmocka_unit_test_setup_teardown(a_recycled_row_is_traced_and_watched_by_nobody,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            a_flag_is_an_edit_when_it_changes_and_outlives_a_new_name, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
