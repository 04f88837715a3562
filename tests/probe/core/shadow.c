#include "probe/core/shadow.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define BLOCK ((uintptr_t)SHADOW_BLOCK_BYTES)
#define HEAP ((uintptr_t)0x7f3a12340000) // where a heap may well be

// What shadow_each() said, in the order it said it.
#define SEEN_MAX 8192u
struct seen {
    bool clears; // each entry, once seen
    size_t count;
    uintptr_t addresses[SEEN_MAX];
    site_id sites[SEEN_MAX];
};

static void
note(void *context, uintptr_t address, shadow_entry *entry)
{
    struct seen *seen = context;
    assert_true(seen->count < SEEN_MAX);
    seen->addresses[seen->count] = address;
    seen->sites[seen->count++] = shadow_site(*entry);
    *entry = seen->clears ? 0 : *entry;
}

static void
enter(struct shadow *shadow, uintptr_t address, site_id site)
{
    shadow_entry *entry = shadow_place(shadow, address);
    assert_non_null(entry);
    *entry = shadow_pack(site, 0, address);
}

static struct seen *
everything(struct shadow *shadow, uintptr_t from, uintptr_t to)
{
    static struct seen seen;
    seen.count = 0;
    shadow_each(shadow, from, to, note, &seen);
    return &seen;
}

static int
start(void **state)
{
    static struct shadow shadow;
    *state = &shadow;
    return shadow_init(&shadow) ? 0 : -1;
}

static int
end(void **state)
{
    shadow_destroy(*state);
    shadow_destroy(*state); // twice is harmless
    return 0;
}

static void
every_offset_of_eight_bytes_comes_back_exactly(void **state)
{
    for (uintptr_t offset = 0; offset < BLOCK; offset += 8) {
        enter(*state, HEAP + offset, 7);
        const struct seen *seen = everything(*state, 0, UINTPTR_MAX);
        assert_int_equal(seen->count, 1);
        assert_int_equal(seen->addresses[0], HEAP + offset);
        assert_int_equal(seen->sites[0], 7);
        *shadow_find(*state, HEAP + offset) = 0;
    }
}

static void
a_page_of_any_stride_keeps_every_object_apart(void **state)
{
    static const size_t strides[] = {32, 40, 48, 80, 160, 320, 640};
    for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
        // Ruby's pages begin some bytes into their block.
        uintptr_t first = HEAP + i * BLOCK + 56;
        size_t slots = (BLOCK - 56) / strides[i];
        for (size_t slot = 0; slot < slots; slot++) {
            enter(*state, first + slot * strides[i], (site_id)slot + 1);
        }
        const struct seen *seen =
            everything(*state, HEAP + i * BLOCK, HEAP + (i + 1) * BLOCK);
        assert_int_equal(seen->count, slots);
        for (size_t slot = 0; slot < slots; slot++) {
            assert_int_equal(seen->addresses[slot], first + slot * strides[i]);
            assert_int_equal(seen->sites[slot], slot + 1);
        }
    }
}

static void
neighbours_across_a_border_are_strangers(void **state)
{
    static const uintptr_t borders[] = {HEAP, HEAP & ~(uintptr_t)0xffffffff,
                                        (HEAP | 0xffffffff) + 1};
    for (size_t i = 0; i < sizeof(borders) / sizeof(*borders); i++) {
        enter(*state, borders[i] - 8, 1);
        assert_null(shadow_find(*state, borders[i]));
        enter(*state, borders[i], 2);
        const struct seen *seen = everything(*state, borders[i] - 8, borders[i] + 8);
        assert_int_equal(seen->count, 2);
        assert_int_equal(seen->addresses[0], borders[i] - 8);
        assert_int_equal(seen->addresses[1], borders[i]);
    }
}

static void
the_largest_site_comes_back(void **state)
{
    enter(*state, HEAP + 24, SHADOW_SITE_MAX);
    const struct seen *seen = everything(*state, HEAP, HEAP + 32);
    assert_int_equal(seen->sites[0], SHADOW_SITE_MAX);
    assert_int_equal(seen->addresses[0], HEAP + 24);
}

static void
an_address_nobody_entered_has_no_entry(void **state)
{
    assert_null(shadow_find(*state, HEAP));
    assert_null(shadow_find(*state, 0));
    enter(*state, HEAP, 1);
    assert_int_equal(*shadow_find(*state, HEAP + 32), 0);
    assert_null(shadow_find(*state, HEAP + BLOCK));
}

static void
addresses_beyond_48_bits_are_refused(void **state)
{
    struct shadow *shadow = *state;
    assert_null(shadow_grow(shadow, (uintptr_t)1 << 48));
    assert_null(shadow_grow(shadow, UINTPTR_MAX));
    assert_null(shadow_place(shadow, HEAP | (uintptr_t)1 << 63));
    assert_int_equal(shadow->leaf_count, 0);
    assert_non_null(shadow_grow(shadow, ((uintptr_t)1 << 48) - 1));
    assert_int_equal(everything(shadow, (uintptr_t)1 << 48, UINTPTR_MAX)->count, 0);
}

static void
a_range_holds_its_first_address_and_not_its_last(void **state)
{
    enter(*state, HEAP, 1);
    enter(*state, HEAP + 40, 2);
    enter(*state, HEAP + 80, 3);
    assert_int_equal(everything(*state, HEAP, HEAP)->count, 0);
    assert_int_equal(everything(*state, HEAP + 40, HEAP)->count, 0);
    assert_int_equal(everything(*state, HEAP, HEAP + 1)->count, 1);
    assert_int_equal(everything(*state, HEAP + 1, HEAP + 80)->count, 1);
    assert_int_equal(everything(*state, HEAP + 1, HEAP + 81)->count, 2);
    assert_int_equal(everything(*state, HEAP + 41, HEAP + 80)->count, 0);
}

static void
entries_far_apart_are_seen_in_order_of_address(void **state)
{
    static const uintptr_t far[] = {64,
                                    HEAP - ((uintptr_t)3 << 32),
                                    HEAP - BLOCK,
                                    HEAP,
                                    HEAP + 5 * BLOCK,
                                    ((uintptr_t)1 << 48) - 8};
    size_t count = sizeof(far) / sizeof(*far);
    for (size_t i = count; i-- > 0;) {
        enter(*state, far[i], (site_id)i + 1);
    }
    const struct seen *seen = everything(*state, 0, UINTPTR_MAX);
    assert_int_equal(seen->count, count);
    assert_memory_equal(seen->addresses, far, sizeof(far));
    seen = everything(*state, far[1] + 1, far[4]);
    assert_int_equal(seen->count, 2);
    assert_memory_equal(seen->addresses, far + 2, 2 * sizeof(*far));
}

static void
a_visitor_may_clear_what_it_sees(void **state)
{
    static struct seen seen = {.clears = true};
    for (size_t i = 0; i < 100; i++) {
        enter(*state, HEAP + i * 4000 * 8, 5);
    }
    shadow_each(*state, 0, UINTPTR_MAX, note, &seen);
    assert_int_equal(seen.count, 100);
    assert_int_equal(everything(*state, 0, UINTPTR_MAX)->count, 0);
}

static void
emptied_leaves_are_used_elsewhere(void **state)
{
    struct shadow *shadow = *state;
    static struct seen seen = {.clears = true};
    for (uintptr_t i = 0; i < 1000; i++) {
        enter(shadow, HEAP + i * BLOCK, 1);
    }
    size_t bytes = shadow_bytes(shadow);
    for (int round = 1; round < 20; round++) {
        seen.count = 0;
        shadow_each(shadow, 0, UINTPTR_MAX, note, &seen);
        shadow_reclaim(shadow);
        assert_int_equal(shadow->leaf_count, 0);
        for (uintptr_t i = 0; i < 1000; i++) {
            enter(shadow, HEAP + ((uintptr_t)round << 33) + i * BLOCK, 2);
        }
        assert_int_equal(shadow->leaf_count, 1000);
        // A leaf that was spare holds nothing of its time as one.
        assert_int_equal(everything(shadow, 0, UINTPTR_MAX)->count, 1000);
        assert_int_equal(shadow_bytes(shadow), bytes);
    }
}

static void
leaves_in_use_are_not_reclaimed(void **state)
{
    struct shadow *shadow = *state;
    enter(shadow, HEAP, 1);
    enter(shadow, HEAP + BLOCK + BLOCK - 8, 2);
    shadow_reclaim(shadow);
    assert_int_equal(shadow->leaf_count, 2);
    assert_int_equal(everything(shadow, 0, UINTPTR_MAX)->count, 2);
}

// As Ruby's heap is: 1638 objects of 40 bytes in each 64 KiB.
static void
an_object_of_40_bytes_costs_at_most_6(void **state)
{
    const size_t wanted = 1000000;
    size_t objects = 0;
    for (uintptr_t block = HEAP; objects < wanted; block += BLOCK) {
        for (uintptr_t offset = 16; offset + 40 <= BLOCK; offset += 40) {
            enter(*state, block + offset, 3);
            objects++;
        }
    }
    double each = (double)shadow_bytes(*state) / (double)objects;
    print_message("%.2f bytes an object\n", each);
    assert_true(each <= 6);
}

/* Against a simple map. */

#define MODEL_SLOTS 4096u
#define MODEL_STRIDE 40u
#define MODEL_ROUNDS 200000

static uintptr_t
model_address(size_t slot)
{
    // Some pages close together, some in another part of the address space.
    uintptr_t page = slot / 512;
    return HEAP + page * 3 * BLOCK + ((page & 1) << 34) + slot % 512 * MODEL_STRIDE + 8;
}

static size_t
model_count(const site_id *model)
{
    size_t count = 0;
    for (size_t i = 0; i < MODEL_SLOTS; i++) {
        count += model[i] != 0;
    }
    return count;
}

static void
it_agrees_with_a_simple_map(void **state)
{
    static site_id model[MODEL_SLOTS];
    for (size_t round = 0; round < MODEL_ROUNDS; round++) {
        size_t slot = random_below(MODEL_SLOTS);
        uintptr_t address = model_address(slot);
        const shadow_entry *entry = shadow_find(*state, address);
        assert_int_equal(entry ? shadow_site(*entry) : 0, model[slot]);
        model[slot] = random_below(2) ? (site_id)random_below(SHADOW_SITE_MAX) + 1 : 0;
        *shadow_place(*state, address) =
            model[slot] ? shadow_pack(model[slot], 0, address) : 0;
        if (round % 5000 == 0) {
            shadow_reclaim(*state);
            const struct seen *seen = everything(*state, 0, UINTPTR_MAX);
            assert_int_equal(seen->count, model_count(model));
            for (size_t i = 1; i < seen->count; i++) {
                assert_true(seen->addresses[i - 1] < seen->addresses[i]);
            }
        }
    }
}

int
main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_offset_of_eight_bytes_comes_back_exactly,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_page_of_any_stride_keeps_every_object_apart,
                                        start, end),
        cmocka_unit_test_setup_teardown(neighbours_across_a_border_are_strangers, start,
                                        end),
        cmocka_unit_test_setup_teardown(the_largest_site_comes_back, start, end),
        cmocka_unit_test_setup_teardown(an_address_nobody_entered_has_no_entry, start,
                                        end),
        cmocka_unit_test_setup_teardown(addresses_beyond_48_bits_are_refused, start, end),
        cmocka_unit_test_setup_teardown(a_range_holds_its_first_address_and_not_its_last,
                                        start, end),
        cmocka_unit_test_setup_teardown(entries_far_apart_are_seen_in_order_of_address,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_visitor_may_clear_what_it_sees, start, end),
        cmocka_unit_test_setup_teardown(emptied_leaves_are_used_elsewhere, start, end),
        cmocka_unit_test_setup_teardown(leaves_in_use_are_not_reclaimed, start, end),
        cmocka_unit_test_setup_teardown(an_object_of_40_bytes_costs_at_most_6, start,
                                        end),
        cmocka_unit_test_setup_teardown(it_agrees_with_a_simple_map, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
