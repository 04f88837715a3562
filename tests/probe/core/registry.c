#include "probe/core/registry.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define CLASS_MAX (REGISTRY_CLASS_SEGMENTS * REGISTRY_SEGMENT)

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
    registry_destroy(*state); // twice is harmless
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

static void
a_key_has_one_row_and_keeps_it(void **state)
{
    struct registry *registry = *state;
    struct registry_slot slot = look_up(registry, key_of(1));
    const struct class_entry *entry = registry_class(registry, slot.site->class_index);
    assert_int_equal(entry->key, key_of(1));
    assert_int_equal(entry->id, 1);
    assert_int_equal(entry->state, CLASS_STATE_UNNAMED);
    assert_int_equal(entry->site, slot.site->id);
    assert_true(entry->bytes == COUNT_UNKNOWN);
    assert_int_equal(registry_site(registry, slot.site->id)->class_index,
                     slot.site->class_index);
    assert_int_equal(registry_site(registry, slot.site->id + 1)->class_index,
                     slot.site->class_index);
    assert_int_equal(look_up(registry, key_of(1)).site->class_index,
                     slot.site->class_index);
    assert_int_equal(registry->class_count, 2);
    assert_int_equal(registry->unnamed, 1);
}

static void
many_keys_stay_apart_while_the_table_grows(void **state)
{
    struct registry *registry = *state;
    for (size_t i = 0; i < 20000; i++) {
        assert_int_equal(look_up(registry, key_of(i)).site->class_index, i + 1);
    }
    for (size_t i = 0; i < 20000; i++) {
        assert_int_equal(look_up(registry, key_of(i)).site->class_index, i + 1);
        assert_int_equal(id_of(registry, key_of(i)), i + 1);
    }
    assert_true(registry->slots_used * 2 <= registry->slot_count);
}

// Keys whose hash is the same as far as a table of `slots` looks.
static void
find_colliding_keys(uintptr_t *keys, size_t count, size_t slots)
{
    size_t wanted = registry_hash(key_of(0)) & (slots - 1);
    size_t found = 0;
    for (size_t i = 0; found < count; i++) {
        if ((registry_hash(key_of(i)) & (slots - 1)) == wanted) {
            keys[found++] = key_of(i);
        }
    }
}

static void
keys_that_collide_survive_the_removal_of_any_of_them(void **state)
{
    struct registry *registry = *state;
    uintptr_t keys[8];
    find_colliding_keys(keys, 8, registry->slot_count);
    for (size_t gone = 0; gone < 8; gone++) {
        uint32_t rows[8];
        for (size_t i = 0; i < 8; i++) {
            rows[i] = look_up(registry, keys[i]).site->class_index;
        }
        registry_retire(registry, keys[gone]);
        uint32_t count = registry->class_count;
        for (size_t i = 0; i < 8; i++) {
            if (i != gone) {
                assert_int_equal(look_up(registry, keys[i]).site->class_index, rows[i]);
            }
        }
        assert_int_equal(registry->class_count, count);
        assert_int_not_equal(look_up(registry, keys[gone]).site->class_index, rows[gone]);
    }
}

static void
an_alias_counts_for_its_class_whichever_is_seen_first(void **state)
{
    struct registry *registry = *state;
    uint32_t first = look_up(registry, key_of(1) | ALIAS).site->class_index;
    assert_int_equal(look_up(registry, key_of(1)).site->class_index, first);
    uint32_t second = look_up(registry, key_of(2)).site->class_index;
    assert_int_equal(look_up(registry, key_of(2) | ALIAS).site->class_index, second);
    assert_int_not_equal(first, second);
    assert_int_equal(registry->class_count, 3);
}

static void
an_alias_that_dies_leaves_its_class_alive(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1) | ALIAS).site->class_index;
    registry_retire(registry, key_of(1) | ALIAS);
    assert_int_equal(registry_class(registry, index)->state, CLASS_STATE_UNNAMED);
    assert_int_equal(look_up(registry, key_of(1)).site->class_index, index);
    assert_int_equal(registry->dead, 0);
}

static void
an_alias_that_outlives_its_class_harms_nobody(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1) | ALIAS).site->class_index;
    registry_retire(registry, key_of(1));
    bury(registry, index);
    registry_recycle(registry);
    assert_int_equal(look_up(registry, key_of(2)).site->class_index, index);
    registry_retire(registry, key_of(1) | ALIAS);
    assert_int_equal(registry_class(registry, index)->key, key_of(2));
    assert_int_equal(registry->dead, 0);
}

static void
a_key_used_again_is_another_class(void **state)
{
    struct registry *registry = *state;
    uint32_t old = look_up(registry, key_of(1)).site->class_index;
    registry_retire(registry, key_of(1));
    registry_retire(registry, key_of(1)); // unknown by now
    assert_int_equal(registry->dead, 1);
    assert_int_equal(registry->unnamed, 0);
    uint32_t new = look_up(registry, key_of(1)).site->class_index;
    assert_int_not_equal(new, old);
    assert_int_not_equal(registry_class(registry, new)->id,
                         registry_class(registry, old)->id);
    assert_int_equal(registry_class(registry, old)->key, 0);
}

static void
a_recycled_row_gets_a_new_id_and_empty_counters(void **state)
{
    struct registry *registry = *state;
    struct registry_slot old = look_up(registry, key_of(1));
    class_id id = id_of(registry, key_of(1));
    allocate(registry, key_of(1), 5);
    count_add(&registry_site(registry, old.site->id + 1)->found, 2);
    count_add(&registry_site(registry, old.site->id + 1)->freed, 2);
    count_add(&registry_site(registry, old.site->id)->freed, 5);
    registry_name(registry, old.site->class_index, strdup("Old"), CLASS_ANONYMOUS);
    registry_retire(registry, key_of(1));
    registry_recycle(registry); // dead but not gone: nothing happens
    assert_int_equal(registry_class(registry, old.site->class_index)->id, id);
    bury(registry, old.site->class_index);
    registry_recycle(registry);
    assert_int_equal(registry_class(registry, old.site->class_index)->id, 0);
    assert_int_equal(registry->past_allocated, 5);
    assert_int_equal(registry->past_freed, 7);
    assert_int_equal(registry->dead, 0);

    const struct class_entry *entry = registry_class(registry, old.site->class_index);
    assert_int_equal(look_up(registry, key_of(2)).site->class_index,
                     old.site->class_index);
    assert_true(entry->id > id);
    assert_null(entry->name);
    assert_int_equal(entry->flags, 0);
    assert_int_equal(registry_counts(registry, old.site->class_index).live, 0);
    assert_int_equal(registry_counts(registry, old.site->class_index).allocated, 0);
    assert_int_equal(registry->class_count, 2);
}

static void
each_naming_is_an_edit(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1)).site->class_index;
    const struct class_entry *entry = registry_class(registry, index);
    uint32_t edits = entry->name_edits;
    registry_name(registry, index, strdup("#<Class:0x1>"), CLASS_ANONYMOUS);
    assert_int_equal(entry->name_edits, edits + 1);
    assert_int_equal(entry->state, CLASS_STATE_NAMED);
    assert_int_equal(registry->unnamed, 0);
    registry_name(registry, index, strdup("Order"), 0);
    assert_int_equal(entry->name_edits, edits + 2);
    assert_string_equal(entry->name, "Order");
    assert_int_equal(entry->flags, 0);
    assert_int_equal(registry->unnamed, 0);
}

static void
a_dead_class_may_still_be_named(void **state)
{
    struct registry *registry = *state;
    uint32_t index = look_up(registry, key_of(1)).site->class_index;
    registry_retire(registry, key_of(1));
    registry_name(registry, index, strdup("Late"), 0);
    assert_int_equal(registry_class(registry, index)->state, CLASS_STATE_DEAD);
    assert_int_equal(registry->unnamed, 0);
}

// Every third key moves, some to where others were.
static uintptr_t
moved(uintptr_t key)
{
    size_t number = ((key & ~ALIAS) - key_of(0)) / 40;
    uintptr_t base = number % 3 == 0 ? key_of(number + 100000) : key_of(number);
    return base | (key & ALIAS);
}

static void
classes_that_move_keep_their_rows(void **state)
{
    struct registry *registry = *state;
    uint32_t rows[3000];
    for (size_t i = 0; i < 3000; i++) {
        rows[i] = look_up(registry, key_of(i)).site->class_index;
        look_up(registry, key_of(i) | ALIAS);
    }
    registry_retire(registry, key_of(3));
    assert_true(registry_rekey(registry, moved));
    uint32_t count = registry->class_count;
    for (size_t i = 0; i < 3000; i++) {
        uintptr_t key = moved(key_of(i));
        if (i != 3) {
            assert_int_equal(look_up(registry, key).site->class_index, rows[i]);
            assert_int_equal(look_up(registry, key | ALIAS).site->class_index, rows[i]);
            assert_int_equal(registry_class(registry, rows[i])->key, key);
        }
    }
    assert_int_equal(registry->class_count, count);
    assert_int_equal(registry_class(registry, rows[3])->key, 0);
}

static void
beyond_the_last_row_classes_are_refused_until_one_is_free(void **state)
{
    struct registry *registry = *state;
    for (size_t i = 1; i < CLASS_MAX; i++) {
        assert_non_null(registry_lookup(registry, key_of(i)));
    }
    assert_null(registry_lookup(registry, key_of(CLASS_MAX)));
    assert_null(registry_lookup(registry, key_of(CLASS_MAX)));
    assert_int_equal(registry->class_count, CLASS_MAX);
    assert_int_equal(look_up(registry, key_of(77)).site->class_index, 77);
    registry_retire(registry, key_of(77));
    bury(registry, 77);
    registry_recycle(registry);
    assert_int_equal(look_up(registry, key_of(CLASS_MAX)).site->class_index, 77);
    assert_int_equal(id_of(registry, key_of(CLASS_MAX)), CLASS_MAX);
}

/* Against a simple model: what each key's class is, and what it counted. */

#define MODEL_KEYS 700u
#define MODEL_ROUNDS 200000

struct model {
    class_id ids[MODEL_KEYS]; // 0: nobody looked it up since it was retired
    bool aliased[MODEL_KEYS];
    uint64_t allocated[MODEL_KEYS];
    uint64_t allocated_by_all;
    class_id last_id;
};

static void
model_look_up(struct model *model, struct registry *registry, size_t number)
{
    bool alias = random_below(3) == 0;
    class_id id = id_of(registry, key_of(number) | (alias ? ALIAS : 0));
    if (!model->ids[number]) {
        assert_int_equal(id, ++model->last_id);
        model->ids[number] = id;
        model->allocated[number] = 0;
    }
    assert_int_equal(id, model->ids[number]);
    model->aliased[number] |= alias;
    allocate(registry, key_of(number), 3);
    model->allocated[number] += 3;
    model->allocated_by_all += 3;
}

// Frees its objects, its alias, then itself; sometimes the server was told.
static void
model_retire(struct model *model, struct registry *registry, size_t number)
{
    struct registry_slot slot = look_up(registry, key_of(number));
    assert_int_equal(registry_counts(registry, slot.site->class_index).live,
                     model->allocated[number]);
    count_add(&registry_site(registry, slot.site->id)->freed, model->allocated[number]);
    if (model->aliased[number]) {
        registry_retire(registry, key_of(number) | ALIAS);
    }
    registry_retire(registry, key_of(number));
    if (random_below(2)) {
        bury(registry, slot.site->class_index);
    }
    model->ids[number] = 0;
    model->aliased[number] = false;
}

static void
model_check_totals(const struct model *model, const struct registry *registry)
{
    uint64_t allocated = registry->past_allocated;
    uint32_t alive = 0;
    for (uint32_t i = 1; i < registry->class_count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        allocated += entry->id ? registry_counts(registry, i).allocated : 0;
        alive += entry->key != 0;
    }
    uint32_t expected = 0;
    for (size_t i = 0; i < MODEL_KEYS; i++) {
        expected += model->ids[i] != 0;
    }
    assert_int_equal(allocated, model->allocated_by_all);
    assert_int_equal(alive, expected);
}

static void
it_agrees_with_a_simple_model(void **state)
{
    static struct model model;
    struct registry *registry = *state;
    for (size_t round = 0; round < MODEL_ROUNDS; round++) {
        size_t number = random_below(MODEL_KEYS);
        if (model.ids[number] && random_below(4) == 0) {
            model_retire(&model, registry, number);
        } else {
            model_look_up(&model, registry, number);
        }
        if (random_below(500) == 0) {
            registry_recycle(registry);
            model_check_totals(&model, registry);
        }
    }
}

int
main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_key_has_one_row_and_keeps_it, start, end),
        cmocka_unit_test_setup_teardown(many_keys_stay_apart_while_the_table_grows, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            keys_that_collide_survive_the_removal_of_any_of_them, start, end),
        cmocka_unit_test_setup_teardown(
            an_alias_counts_for_its_class_whichever_is_seen_first, start, end),
        cmocka_unit_test_setup_teardown(an_alias_that_dies_leaves_its_class_alive, start,
                                        end),
        cmocka_unit_test_setup_teardown(an_alias_that_outlives_its_class_harms_nobody,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_key_used_again_is_another_class, start, end),
        cmocka_unit_test_setup_teardown(a_recycled_row_gets_a_new_id_and_empty_counters,
                                        start, end),
        cmocka_unit_test_setup_teardown(each_naming_is_an_edit, start, end),
        cmocka_unit_test_setup_teardown(a_dead_class_may_still_be_named, start, end),
        cmocka_unit_test_setup_teardown(classes_that_move_keep_their_rows, start, end),
        cmocka_unit_test_setup_teardown(
            beyond_the_last_row_classes_are_refused_until_one_is_free, start, end),
        cmocka_unit_test_setup_teardown(it_agrees_with_a_simple_model, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
