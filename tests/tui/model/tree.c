#include "tui/model/tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tests/tui/model/forest.h"
#include "tui/model/paths.h"
#include "tui/model/tree_store.h"

static const struct tree_node two[] = {
    {20, 0,  16, 5, 0},
    {21, 20, 17, 9, 1},
};

static struct tree_site
site(uint32_t node, uint32_t shift, uint64_t live)
{
    return (struct tree_site){
        node, shift, live, 2 * live, 40 * live, {0, 0, 0, live}
    };
}

// A tree of the two nodes with these sites.
static bool
send(struct model *model, uint64_t second, bool key, uint64_t live,
     const struct tree_site *sites, size_t count)
{
    return forest_tree(model, second,
                       (struct tree){.key = key,
                                     .live = live,
                                     .nodes = two,
                                     .node_count = 2,
                                     .sites = sites,
                                     .site_count = count});
}

// Live of the inner node.
static bool
grown(struct model *model, uint64_t second, uint64_t live)
{
    const struct tree_site at = site(21, 0, live);
    return send(model, second, true, live, &at, 1);
}

static uint32_t
node_of(const struct tree_model *tree, uint32_t id)
{
    for (uint32_t i = 0; i < tree_node_count(tree); i++) {
        if (tree_node_id(tree, i) == id) {
            return i;
        }
    }
    return TREE_NONE;
}

static void
sums_what_is_below_each_node(void **state)
{
    struct model *model = forest_shop();
    const struct tree_model *tree = model_tree(model, ORDER);
    (void)state;
    uint32_t create = node_of(tree, 22);
    assert_true(tree_total(tree, 0).live == SHOP_LIVE);
    assert_true(tree_total(tree, create).live == 100);
    assert_true(tree_total(tree, create).allocated == 110);
    assert_true(tree_total(tree, create).bytes == 4000);
    assert_true(tree_total(tree, create).ages[0] == 20);
    assert_true(tree_self(tree, create).live == 0);
    assert_true(tree_self(tree, node_of(tree, 23)).live == 80);
    assert_true(tree_self(tree, 0).live == 0);
    assert_true(tree_total(tree, create).error == 0);
    assert_true(tree_exact(tree));
    assert_int_equal(tree_depth(tree, create), 3);
    assert_null(model_tree(model, ORDER + 1));
    model_free(model);
}

static void
a_class_without_objects_has_a_tree_with_nothing_in_it(void **state)
{
    struct model *model = forest_model(0);
    struct paths paths;
    (void)state;
    assert_true(forest_tree(model, 101, (struct tree){.key = true}));
    const struct tree_model *tree = model_tree(model, ORDER);
    assert_int_equal(tree_node_count(tree), 1);
    assert_true(tree_total(tree, 0).live == 0);
    paths_init(&paths);
    assert_true(paths_update(&paths, tree));
    assert_int_equal(paths.count, 1);
    paths_destroy(&paths);
    model_free(model);
}

static void
labels_nodes_as_ruby_does_and_escapes_what_it_was_told(void **state)
{
    struct model *model = forest_model(1);
    char label[64];
    (void)state;
    assert_true(forest_frame(model, 16, "a\x1b[2Jb", "/x\n", 0));
    assert_true(grown(model, 101, 1));
    const struct tree_model *tree = model_tree(model, ORDER);
    tree_label(tree, 0, label, sizeof label);
    assert_string_equal(label, "Order");
    tree_label(tree, 1, label, sizeof label);
    assert_string_equal(label, "a\\x1B[2Jb");
    assert_string_equal(tree_frame(tree, 1)->path, "/x\\x0A");
    assert_string_equal(tree_frame(tree, 1)->file, "/x\n");
    tree_label(tree, 2, label, sizeof label);
    assert_string_equal(label, "block in (no name yet)");
    uint64_t before = tree_names_version(tree);
    assert_true(forest_frame(model, 17, "Cart#add", "", 0));
    const struct tree_node deeper = {21, 20, 17, 9, 2};
    assert_true(forest_tree(model, 102,
                            (struct tree){.live = 1, .nodes = &deeper, .node_count = 1}));
    tree = model_tree(model, ORDER);
    assert_true(tree_names_version(tree) > before);
    tree_label(tree, 2, label, sizeof label);
    assert_string_equal(label, "block (2 levels) in Cart#add");
    model_free(model);
}

static void
estimates_by_weight_and_keeps_the_root_exact(void **state)
{
    struct model *model = forest_model(1000);
    const struct tree_site sites[] = {site(1, 0, 100), site(20, 3, 30), site(21, 3, 10),
                                      site(21, 0, 50)};
    (void)state;
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = 1000,
                                          .unsampled_live = 810,
                                          .unsampled_allocated = 1000,
                                          .nodes = two,
                                          .node_count = 2,
                                          .sites = sites,
                                          .site_count = 4}));
    const struct tree_model *tree = model_tree(model, ORDER);
    uint32_t before = node_of(tree, FRAME_BEFORE_TRACING);
    assert_false(tree_exact(tree));
    assert_true(tree_total(tree, 0).live == 1000 && tree_total(tree, 0).error == 0);
    assert_true(tree_total(tree, before).live == 100);
    assert_true(tree_total(tree, before).error == 0);
    assert_true(fabs(tree_self(tree, 1).live - (30 + 810 * 0.75)) < 1e-6);
    assert_true(fabs(tree_self(tree, 2).live - (60 + 810 * 0.25)) < 1e-6);
    assert_true(tree_self(tree, 2).samples == 60);
    assert_true(tree_self(tree, 2).error > 20 && tree_self(tree, 2).error < 250);
    assert_true(tree_self(tree, 0).live == 0);
    model_free(model);
}

static void
gives_the_root_what_no_path_accounts_for(void **state)
{
    struct model *model = forest_model(50);
    const struct tree_site sites[] = {site(21, 0, 30), site(99, 0, 20)};
    (void)state;
    assert_true(send(model, 101, true, 50, sites, 2));
    const struct tree_model *tree = model_tree(model, ORDER);
    assert_true(tree_total(tree, 0).live == 50);
    assert_true(tree_self(tree, 0).live == 20);
    model_free(model);
}

static void
empties_with_a_key_tree_what_it_does_not_list(void **state)
{
    struct model *model = forest_model(50);
    const struct tree_site first[] = {site(20, 0, 20), site(21, 0, 30)};
    (void)state;
    assert_true(send(model, 101, true, 50, first, 2));
    assert_true(send(model, 102, false, 45, first + 1, 1));
    assert_true(tree_self(model_tree(model, ORDER), 1).live == 20);
    assert_true(send(model, 103, true, 30, first + 1, 1));
    const struct tree_model *tree = model_tree(model, ORDER);
    assert_true(tree_self(tree, 1).live == 0);
    assert_true(tree_self(tree, 2).live == 30);
    assert_int_equal(tree_node_count(tree), 3);
    model_free(model);
}

static void
compares_with_the_mark_or_with_when_it_came(void **state)
{
    struct model *model = forest_model(10);
    (void)state;
    assert_true(grown(model, 101, 10));
    assert_true(tree_delta(model_tree(model, ORDER), 0) == 0);
    assert_true(grown(model, 102, 15));
    assert_true(tree_delta(model_tree(model, ORDER), 2) == 5);
    assert_true(tree_delta_bytes(model_tree(model, ORDER), 2) == 200);
    assert_false(tree_since_mark(model_tree(model, ORDER)));
    uint64_t version = tree_version(model_tree(model, ORDER));
    assert_true(model_mark_set(model, 0));
    assert_true(model_mark_use(model, 0));
    const struct tree_model *tree = model_tree(model, ORDER);
    assert_true(tree_version(tree) > version);
    assert_true(tree_since_mark(tree));
    assert_true(tree_delta(tree, 2) == 0);
    assert_true(grown(model, 103, 12));
    assert_true(tree_delta(model_tree(model, ORDER), 0) == -3);
    assert_true(model_mark_use(model, MODEL_MARK_NONE));
    assert_true(tree_delta(model_tree(model, ORDER), 0) == 2);
    model_free(model);
}

static void
takes_messages_of_one_stamp_for_one_moment(void **state)
{
    struct model *model = forest_model(30);
    const struct tree_site parts[] = {site(20, 0, 10), site(21, 0, 20)};
    (void)state;
    assert_true(send(model, 101, true, 30, parts, 1));
    assert_true(send(model, 101, false, 30, parts + 1, 1));
    assert_true(send(model, 102, false, 30, NULL, 0));
    const struct tree_model *tree = model_tree(model, ORDER);
    assert_true(tree_delta(tree, 0) == 0 && tree_delta(tree, 2) == 0);
    model_free(model);
}

static void
tells_rates_over_five_to_ten_seconds(void **state)
{
    struct model *model = forest_model(10);
    (void)state;
    assert_true(grown(model, 100, 0));
    assert_true(isnan(tree_live_per_second(model_tree(model, ORDER), 0)));
    for (uint64_t second = 101; second <= 140; second++) {
        // ten a second, then none
        assert_true(grown(model, second, second < 120 ? 10 * (second - 100) : 200));
        double rate = tree_live_per_second(model_tree(model, ORDER), 2);
        assert_true(second < 103 || second > 120 || fabs(rate - 10) < 1e-9);
        assert_true(second < 131 || rate == 0);
    }
    assert_true(tree_allocated_per_second(model_tree(model, ORDER), 2) == 0);
    assert_true(grown(model, 300, 999)); // nothing is known of the time between
    assert_true(isnan(tree_live_per_second(model_tree(model, ORDER), 2)));
    model_free(model);
}

static void
drops_trees_with_their_connection_their_class_or_for_others(void **state)
{
    struct model *model = forest_model(10);
    (void)state;
    assert_true(grown(model, 101, 10));
    uint64_t generation = tree_generation(model_tree(model, ORDER));
    struct message other = {.kind = MESSAGE_TREE};
    for (class_id id = 100; id < 100 + TREES_MAX; id++) {
        const struct class_name named = {id, 0, text_of("Other")};
        const struct message names = {
            .kind = MESSAGE_NAMES, .names = {&named, 1}
        };
        assert_true(model_apply(model, &names));
        other.tree = (struct tree){.class_id = id, .key = true};
        assert_true(model_apply(model, &other));
    }
    assert_null(model_tree(model, ORDER));
    assert_non_null(model_tree(model, 100));
    assert_true(grown(model, 102, 10));
    assert_true(tree_generation(model_tree(model, ORDER)) != generation);
    assert_null(model_tree(model, 100));
    other.tree.class_id = 4711; // nobody's
    assert_true(model_apply(model, &other));
    assert_null(model_tree(model, 4711));
    model_reconnect(model);
    assert_null(model_tree(model, ORDER));
    model_free(model);
}

static void
copies_trees_for_a_paused_screen(void **state)
{
    struct model *model = forest_shop();
    (void)state;
    assert_true(model_mark_set(model, 3) && model_mark_use(model, 3));
    struct model *copy = model_copy(model);
    assert_non_null(copy);
    assert_true(forest_tree(model, 102, (struct tree){.key = true}));
    const struct tree_model *tree = model_tree(copy, ORDER);
    assert_true(tree_total(tree, node_of(tree, 22)).live == 100);
    assert_string_equal(tree_frame(tree, node_of(tree, 22))->label, "OrdersApp#create");
    assert_true(tree_since_mark(tree));
    model_free(model);
    assert_true(tree_total(model_tree(copy, ORDER), 0).live == SHOP_LIVE);
    model_free(copy);
}

static void
passes_over_nodes_that_cannot_be(void **state)
{
    struct model *model = forest_model(5);
    static const struct tree_node nodes[] = {
        {30, 30, 16, 1, 0}, // its own parent
        {31, 32, 16, 1, 0}, // above its child
        {33, 77, 16, 1, 0}, // of nobody
        {0,  0,  16, 1, 7}, // the root again
        {40, 0,  16, 1, 0},
        {40, 1,  17, 2, 3}, // once more, elsewhere
        {41, 40, 3,  1, 0}, // on a special frame
        {42, 15, 15, 0, 0}, // below a special node that nobody spoke of
    };
    static const struct tree_site sites[] = {
        {30, 0,          UINT64_MAX,     UINT64_MAX, UINT64_MAX, {0}                  },
        {40, UINT32_MAX, UINT64_MAX - 1, 0,          0,          {UINT64_MAX, 0, 0, 0}},
        {0,  3,          7,              7,          7,          {7}                  },
        {2,  64,         1,              1,          1,          {1}                  },
    };
    (void)state;
    struct tree tree = {.key = true,
                        .live = COUNT_UNKNOWN,
                        .unsampled_live = UINT64_MAX - 1,
                        .nodes = nodes,
                        .node_count = sizeof nodes / sizeof nodes[0],
                        .sites = sites,
                        .site_count = sizeof sites / sizeof sites[0]};
    for (uint64_t second = 101; second < 110; second++) {
        assert_true(forest_tree(model, second, tree));
        const struct tree_model *made = model_tree(model, ORDER);
        assert_int_equal(tree_node_count(made), 6); // root, 40, 41, 15, 42, 2
        for (uint32_t i = 0; i < tree_node_count(made); i++) {
            assert_true(i == 0 || tree_parent(made, i) < i);
            assert_true(isfinite(tree_total(made, i).live));
            assert_true(isfinite(tree_total(made, i).error));
        }
        assert_int_equal(tree_block(made, 1), 3);
        assert_int_equal(tree_parent(made, 1), 0);
    }
    model_free(model);
}

// Whatever comes, figures add up and nothing loops.
static void
survives_noise(void **state)
{
    uint64_t random = 42;
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct model *model = forest_model(5);
        for (uint64_t step = 0; step < 20; step++) {
            struct tree_node nodes[32];
            struct tree_site sites[32];
            for (size_t i = 0; i < 32; i++) {
                random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
                uint32_t noise = (uint32_t)(random >> 33);
                nodes[i] = (struct tree_node){noise % 97, noise / 97 % 97, noise / 7 % 40,
                                              noise % 5, noise % 3};
                sites[i] = site(noise % 101, noise % 70, noise % 1000);
            }
            struct tree tree = {.key = random % 3 == 0,
                                .live = random % 5000,
                                .unsampled_live = random % 900,
                                .nodes = nodes,
                                .node_count = 32,
                                .sites = sites,
                                .site_count = 32};
            assert_true(forest_tree(model, random % 200, tree));
            const struct tree_model *made = model_tree(model, ORDER);
            for (uint32_t i = 1; i < tree_node_count(made); i++) {
                double sum = tree_self(made, i).live;
                for (uint32_t at = tree_first_child(made, i); at != TREE_NONE;
                     at = tree_next_sibling(made, at)) {
                    assert_true(at > i);
                    sum += tree_total(made, at).live;
                }
                assert_true(fabs(sum - tree_total(made, i).live) < 1e-3);
            }
        }
        model_free(model);
    }
}

static void
sums_once_however_often_it_is_asked(void **state)
{
    struct model *model = forest_shop();
    (void)state;
    for (int i = 0; i < 5; i++) {
        (void)model_tree(model, ORDER);
    }
    assert_int_equal(model_tree(model, ORDER)->sums_made, 1);
    model_free(model);
}

static void
changes_no_figure_when_memory_runs_out(void **state)
{
    bool done = false;
    (void)state;
    for (int allowed = 0; !done && allowed < 200; allowed++) {
        struct model *model = forest_model(10);
        assert_true(grown(model, 101, 10));
        (void)model_tree(model, ORDER);
        struct tree_node nodes[100];
        struct tree_site sites[100];
        for (uint32_t i = 0; i < 100; i++) {
            nodes[i] = (struct tree_node){30 + i, 21, 100 + i, 1, 0};
            sites[i] = site(30 + i, 0, 5);
        }
        memory_allow(allowed);
        done = forest_tree(model, 102,
                           (struct tree){.live = 510,
                                         .nodes = nodes,
                                         .node_count = 100,
                                         .sites = sites,
                                         .site_count = 100});
        assert_true(done || memory_ran_out());
        memory_allow(-1);
        const struct tree_model *tree = model_tree(model, ORDER);
        assert_true(tree_total(tree, 0).live == (done ? 510 : 10));
        memory_allow(allowed / 4);
        bool marked = model_mark_set(model, 1);
        struct model *copy = model_copy(model);
        bool named = forest_frame(model, 100, "a", "b", 0);
        assert_true((marked && copy != NULL && named) || memory_ran_out());
        memory_allow(-1);
        assert_true(marked == (model_mark(model, 1) != NULL));
        model_free(copy);
        model_free(model);
    }
    assert_true(done);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_what_is_below_each_node),
        cmocka_unit_test(a_class_without_objects_has_a_tree_with_nothing_in_it),
        cmocka_unit_test(labels_nodes_as_ruby_does_and_escapes_what_it_was_told),
        cmocka_unit_test(estimates_by_weight_and_keeps_the_root_exact),
        cmocka_unit_test(gives_the_root_what_no_path_accounts_for),
        cmocka_unit_test(empties_with_a_key_tree_what_it_does_not_list),
        cmocka_unit_test(compares_with_the_mark_or_with_when_it_came),
        cmocka_unit_test(takes_messages_of_one_stamp_for_one_moment),
        cmocka_unit_test(tells_rates_over_five_to_ten_seconds),
        cmocka_unit_test(drops_trees_with_their_connection_their_class_or_for_others),
        cmocka_unit_test(copies_trees_for_a_paused_screen),
        cmocka_unit_test(passes_over_nodes_that_cannot_be),
        cmocka_unit_test(survives_noise),
        cmocka_unit_test(sums_once_however_often_it_is_asked),
        cmocka_unit_test(changes_no_figure_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
