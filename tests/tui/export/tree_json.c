#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trees.h"
#include "tui/export/tree.h"

// What scripts rely on; add to it, take nothing away.
static void
has_every_name_that_was_promised(void **state)
{
    static const char *const of_nodes[] = {
        "id",        "parent",    "label",          "path",  "line",  "live",
        "allocated", "self_live", "self_allocated", "bytes", "error",
    };
    struct model *model = trees_exact();
    json_t *document = trees_document(model);
    const json_t *nodes = json_object_get(document, "nodes");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(document, "class")), "Order");
    assert_int_equal(trees_whole(document, "live"), 150);
    assert_int_equal(trees_whole(document, "traced"), 140);
    assert_true(json_is_true(json_object_get(document, "exact")));
    assert_true(json_is_array(nodes));
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        for (size_t k = 0; k < sizeof(of_nodes) / sizeof(*of_nodes); k++) {
            assert_non_null(json_object_get(json_array_get(nodes, i), of_nodes[k]));
        }
    }
    json_decref(document);
    model_free(model);
}

static void
a_node_holds_its_own_and_all_below(void **state)
{
    struct model *model = trees_exact();
    json_t *document = trees_document(model);
    const json_t *node = trees_node(document, "Cache#fetch");

    (void)state;
    assert_int_equal(trees_whole(node, "id"), 23);
    assert_int_equal(trees_whole(node, "parent"), 22);
    assert_int_equal(trees_whole(node, "line"), 9);
    assert_int_equal(trees_whole(node, "live"), 100);
    assert_int_equal(trees_whole(node, "allocated"), 110);
    assert_int_equal(trees_whole(node, "self_live"), 80);
    assert_int_equal(trees_whole(node, "self_allocated"), 90);
    assert_int_equal(trees_whole(node, "bytes"), 4000);
    assert_true(json_number_value(json_object_get(node, "error")) == 0);
    assert_string_equal(json_string_value(json_object_get(node, "path")),
                        "/srv/shop/app/cache.rb");
    json_decref(document);
    model_free(model);
}

// Node 0 is told by nobody: it is the class. Every other has its parent before it.
static void
the_nodes_make_one_tree(void **state)
{
    struct model *model = trees_exact();
    json_t *document = trees_document(model);
    const json_t *nodes = json_object_get(document, "nodes");
    json_int_t tops = 0;

    (void)state;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        json_int_t parent = trees_whole(node, "parent");
        bool known = parent == 0;
        assert_int_not_equal(trees_whole(node, "id"), 0);
        tops += parent == 0 ? trees_whole(node, "live") : 0;
        for (size_t k = 0; k < i; k++) {
            known |= trees_whole(json_array_get(nodes, k), "id") == parent;
        }
        assert_true(known);
    }
    assert_int_equal(tops, SHOP_LIVE);
    json_decref(document);
    model_free(model);
}

static void
what_is_older_than_tracing_is_one_child_of_the_root(void **state)
{
    struct model *model = trees_exact();
    json_t *document = trees_document(model);
    const json_t *node = trees_node(document, "(before tracing)");

    (void)state;
    assert_int_equal(trees_whole(node, "parent"), 0);
    assert_int_equal(trees_whole(node, "live"), 10);
    assert_int_equal(trees_whole(node, "self_live"), 10);
    assert_true(json_is_null(json_object_get(node, "path")));
    assert_true(json_is_null(json_object_get(node, "line")));
    json_decref(document);
    model_free(model);
}

static void
a_sampled_tree_tells_its_errors(void **state)
{
    struct model *model = trees_sampled();
    json_t *document = trees_document(model);
    const json_t *main_node = trees_node(document, "<main>");

    (void)state;
    assert_true(json_is_false(json_object_get(document, "exact")));
    assert_int_equal(trees_whole(document, "live"), 1000);
    assert_int_equal(trees_whole(document, "traced"), 90);
    assert_int_equal(trees_whole(document, "sampled_one_of"), 8);
    assert_int_equal(trees_whole(main_node, "live"), 900);
    double error = json_number_value(json_object_get(main_node, "error"));
    assert_true(error > 71 && error <= 72);
    assert_true(json_is_null(json_object_get(main_node, "bytes")));
    const json_t *before = trees_node(document, "(before tracing)");
    assert_true(json_number_value(json_object_get(before, "error")) == 0);
    json_decref(document);
    model_free(model);
}

static void
a_rate_beyond_reason_does_no_harm(void **state)
{
    struct model *model =
        trees_shop((struct tree){.since_us = SINCE, .shift = UINT64_MAX});

    (void)state;
    trees_expect_words(model, "rate     one stack of 9223372036854775808 is taken now\n");
    json_t *document = trees_document(model);
    assert_int_equal(trees_whole(document, "sampled_one_of"), 1LL << 62);
    json_decref(document);
    model_free(model);
}

static void
figures_no_machine_has_are_no_numbers_in_json(void **state)
{
    struct model *model = trees_single(UINT64_MAX - 1, "<main>", "/srv/app.rb");

    (void)state;
    json_t *document = trees_document(model);
    assert_true(json_is_null(json_object_get(document, "live")));
    const json_t *node = trees_node(document, "<main>");
    assert_true(json_is_null(json_object_get(node, "live")));
    assert_true(json_is_null(json_object_get(node, "self_allocated")));
    json_decref(document);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_name_that_was_promised),
        cmocka_unit_test(a_node_holds_its_own_and_all_below),
        cmocka_unit_test(the_nodes_make_one_tree),
        cmocka_unit_test(what_is_older_than_tracing_is_one_child_of_the_root),
        cmocka_unit_test(a_sampled_tree_tells_its_errors),
        cmocka_unit_test(a_rate_beyond_reason_does_no_harm),
        cmocka_unit_test(figures_no_machine_has_are_no_numbers_in_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
