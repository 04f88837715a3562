#include "tui/export/listing.h"

#include "examples.h"

static void
lists_what_lives_most_first_and_the_unknown_last(void **state)
{
    static const class_id order[] = {1, 2, 3, 9, 6, 5};
    struct model *model = example_model();
    struct listing listing;

    (void)state;
    assert_true(listing_init(&listing, model, false));
    assert_int_equal(listing.count, sizeof(order) / sizeof(*order));
    for (size_t i = 0; i < listing.count; i++) {
        assert_int_equal(listing.classes[i]->id, order[i]);
    }
    listing_destroy(&listing);
    listing_destroy(&listing);
    model_free(model);
}

static void
an_empty_model_is_an_empty_listing(void **state)
{
    struct model *model = model_new();
    struct listing listing;

    (void)state;
    assert_true(listing_init(&listing, model, true));
    assert_int_equal(listing.count, 0);
    assert_true(listing_named(model, true));
    listing_destroy(&listing);
    model_free(model);
}

static void
tells_whether_a_name_is_missing(void **state)
{
    static const struct class_name name = {
        9, 0, {"Late", 4}
    };
    struct model *model = example_model();

    (void)state;
    assert_false(listing_named(model, false));
    example_apply(model, &(struct message){
                             .kind = MESSAGE_NAMES, .names = {&name, 1}
    });
    assert_true(listing_named(model, false));
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_what_lives_most_first_and_the_unknown_last),
        cmocka_unit_test(an_empty_model_is_an_empty_listing),
        cmocka_unit_test(tells_whether_a_name_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
