#include "tui/export/speedscope.h"

#include <jansson.h>

#include "mixed.h"

static json_t *
document_of(struct model *model)
{
    size_t length;
    char *text = mixed_written(model, "speedscope", (struct export_options){0}, &length);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(document);
    free(text);
    model_free(model);
    return document;
}

static const json_t *
profile_at(const json_t *document, size_t index, const char *name, const char *unit)
{
    const json_t *profile = json_array_get(json_object_get(document, "profiles"), index);

    assert_non_null(profile);
    assert_string_equal(json_string_value(json_object_get(profile, "name")), name);
    assert_string_equal(json_string_value(json_object_get(profile, "unit")), unit);
    return profile;
}

static void
a_class_has_a_profile_of_objects_and_one_of_bytes_where_they_are_known(void **state)
{
    json_t *document = document_of(mixed_model());

    (void)state;
    assert_int_equal(json_array_size(json_object_get(document, "profiles")), 5);
    profile_at(document, 0, "=HYPER\"LINK;x,\\x1B[2J 12: live objects (sampled)", "none");
    profile_at(document, 1, "Order: live objects", "none");
    profile_at(document, 2, "Order: bytes", "bytes");
    profile_at(document, 3, "Torn: live objects", "none");
    profile_at(document, 4, "Torn: bytes, known of 20 of 50 objects", "bytes");
    json_decref(document);
}

// The name of the frame in a stack.
static const char *
frame_name(const json_t *document, const json_t *stack, size_t index)
{
    json_int_t number = json_integer_value(json_array_get(stack, index));
    const json_t *frames = json_object_get(json_object_get(document, "shared"), "frames");
    const json_t *frame = json_array_get(frames, (size_t)number);

    assert_non_null(frame);
    return json_string_value(json_object_get(frame, "name"));
}

static void
a_stack_goes_from_the_outermost_frame_inwards(void **state)
{
    json_t *document = document_of(mixed_model());
    const json_t *profile = profile_at(document, 1, "Order: live objects", "none");
    const json_t *samples = json_object_get(profile, "samples");
    const json_t *stack = json_array_get(samples, 1);

    (void)state;
    assert_int_equal(json_array_size(samples), 3); // one path has no object left
    assert_int_equal(json_array_size(stack), 3);
    assert_string_equal(frame_name(document, stack, 0), "<main>");
    assert_string_equal(frame_name(document, stack, 1), "block in Cart#add");
    assert_string_equal(frame_name(document, stack, 2), "Hash#fetch");
    assert_int_equal(
        json_integer_value(json_array_get(json_object_get(profile, "weights"), 1)), 40);
    json_decref(document);
}

static void
equal_frames_are_listed_once(void **state)
{
    json_t *document = document_of(mixed_model());
    const json_t *frames = json_object_get(json_object_get(document, "shared"), "frames");

    (void)state;
    // main, hostile, no name yet, before tracing, add:9, block:12, fetch, no path, other
    assert_int_equal(json_array_size(frames), 9);
    for (size_t i = 0; i < json_array_size(frames); i++) {
        for (size_t k = 0; k < i; k++) {
            assert_false(
                json_equal(json_array_get(frames, i), json_array_get(frames, k)));
        }
    }
    json_decref(document);
}

static void
a_model_without_trees_is_a_document_without_profiles(void **state)
{
    json_t *document = document_of(mixed_empty());

    (void)state;
    assert_int_equal(json_array_size(json_object_get(document, "profiles")), 0);
    assert_true(json_is_array(json_object_get(document, "profiles")));
    json_decref(document);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    (void)state;
    mixed_expect_full("speedscope");
}

static void
says_so_when_memory_runs_out(void **state)
{
    (void)state;
    mixed_expect_memory("speedscope");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_class_has_a_profile_of_objects_and_one_of_bytes_where_they_are_known),
        cmocka_unit_test(a_stack_goes_from_the_outermost_frame_inwards),
        cmocka_unit_test(equal_frames_are_listed_once),
        cmocka_unit_test(a_model_without_trees_is_a_document_without_profiles),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
