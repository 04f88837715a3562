#include "trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/export/tree.h"

static const struct tree_node two[] = {
    {20, 0,  16, 5, 0},
    {21, 20, 17, 9, 1},
};

const struct model_class *
trees_class(const struct model *model)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        if (model_class_at(model, i)->id == ORDER) {
            return model_class_at(model, i);
        }
    }
    return NULL;
}

char *
trees_text(const struct model *model)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_true(
        tree_write_text(model, trees_class(model), model_tree(model, ORDER), out));
    fclose(out);
    return text;
}

// The document; one that is not JSON fails here.
json_t *
trees_document(const struct model *model)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_true(tree_write_json(trees_class(model), model_tree(model, ORDER), out));
    fclose(out);
    assert_int_equal(text[length - 1], '\n');
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    free(text);
    return document;
}

void
trees_expect_text(const struct model *model, const char *wanted)
{
    char *text = trees_text(model);

    assert_string_equal(text, wanted);
    free(text);
}

void
trees_expect_words(const struct model *model, const char *words)
{
    char *text = trees_text(model);

    assert_non_null(strstr(text, words));
    free(text);
}

const json_t *
trees_node(const json_t *document, const char *label)
{
    const json_t *nodes = json_object_get(document, "nodes");

    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        if (strcmp(json_string_value(json_object_get(node, "label")), label) == 0) {
            return node;
        }
    }
    return NULL;
}

json_int_t
trees_whole(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

// The shop's tree with a head such as a probe sends it.
struct model *
trees_shop(struct tree head)
{
    struct model *model = forest_shop();

    assert_non_null(model);
    head.live = SHOP_LIVE;
    assert_true(forest_tree(model, 101, head));
    return model;
}

struct model *
trees_exact(void)
{
    return trees_shop((struct tree){.since_us = SINCE, .depth = 64});
}

// Two frames of a class of 1000, sampled one of eight; 100 are older.
struct model *
trees_sampled(void)
{
    static const struct tree_site sites[] = {
        {1,  0, 100, 0,  COUNT_UNKNOWN, {0}},
        {20, 3, 30,  40, COUNT_UNKNOWN, {0}},
        {21, 3, 10,  10, COUNT_UNKNOWN, {0}},
        {21, 0, 50,  50, COUNT_UNKNOWN, {0}},
    };
    struct model *model = forest_model(1000);

    assert_true(forest_frame(model, 16, "<main>", "/srv/app.rb", 0));
    assert_true(forest_frame(model, 17, "Cart#add", "/srv/cart.rb", 0));
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = 1000,
                                          .since_us = SINCE,
                                          .shift = 3,
                                          .depth = 64,
                                          .unsampled_live = 810,
                                          .unsampled_allocated = 1000,
                                          .nodes = two,
                                          .node_count = 2,
                                          .sites = sites,
                                          .site_count = 4}));
    return model;
}

// `live` objects of one path, that is called so.
struct model *
trees_single(uint64_t live, const char *label, const char *path)
{
    const struct tree_node node = {20, 0, 16, 5, 0};
    const struct tree_site site = {
        20, 0, live, live, 40 * live, {live, 0, 0, 0}
    };
    struct model *model = forest_model(live);

    assert_true(forest_frame(model, 16, label, path, 0));
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = live,
                                          .since_us = SINCE,
                                          .depth = 64,
                                          .nodes = &node,
                                          .node_count = 1,
                                          .sites = &site,
                                          .site_count = 1}));
    return model;
}
