#include "tui/export/stacks.h"

#include <errno.h>
#include <math.h>

#include "mixed.h"
#include "tests/tui/model/forest.h"

// What a class's paths add up to, against the tree's own figures.
static bool
adds_up(void *context, struct stacks *stacks)
{
    uint64_t sums[STACKS_FIGURES] = {0};
    struct tree_counts whole = tree_total(stacks->tree, 0);
    size_t *classes = context;

    for (size_t i = 0; i < stacks->count; i++) {
        for (unsigned figure = 0; figure < STACKS_FIGURES; figure++) {
            uint64_t value = stacks->rows[i].figures[figure];
            sums[figure] += value != COUNT_UNKNOWN ? value : 0;
        }
    }
    assert_int_equal(sums[STACKS_LIVE], tree_header(stacks->tree)->live);
    assert_int_equal(sums[STACKS_LIVE], stacks->class->now.live);
    assert_int_equal(sums[STACKS_ALLOCATED], llround(whole.allocated));
    assert_true(isnan(whole.bytes) || sums[STACKS_BYTES] == (uint64_t)whole.bytes);
    (*classes)++;
    return true;
}

static void
add_up_to_the_class_in_every_column(void **state)
{
    size_t classes = 0;
    struct model *model = mixed_model();

    (void)state;
    assert_true(stacks_each(model, adds_up, &classes));
    assert_int_equal(classes, 3);
    model_free(model);
}

// Thirds of objects: as many paths as go up as the sum needs.
static bool
is_off_by_less_than_one(void *context, struct stacks *stacks)
{
    uint64_t sum = 0;

    (void)context;
    for (size_t i = 0; i < stacks->count; i++) {
        const struct stacks_row *row = &stacks->rows[i];
        double exact = tree_self(stacks->tree, row->node).live;
        assert_true(fabs((double)row->figures[STACKS_LIVE] - exact) < 1);
        sum += row->figures[STACKS_LIVE];
    }
    assert_int_equal(sum, stacks->class->now.live);
    return true;
}

static void
estimates_are_rounded_by_less_than_one_object(void **state)
{
    struct tree_node nodes[300];
    struct tree_site sites[300];

    (void)state;
    for (uint64_t live = 301; live < 2000; live += 97) {
        struct model *model = forest_model(live);
        for (uint32_t i = 0; i < 300; i++) {
            nodes[i] = (struct tree_node){20 + i, 0, 16, i + 1, 0};
            sites[i] = (struct tree_site){.node = 20 + i,
                                          .shift = 1 + i % 3,
                                          .live = 1,
                                          .allocated = 1,
                                          .bytes = COUNT_UNKNOWN};
        }
        assert_true(forest_tree(model, 101,
                                (struct tree){.key = true,
                                              .live = live,
                                              .shift = 3,
                                              .unsampled_live = live - 300,
                                              .unsampled_allocated = live - 300,
                                              .nodes = nodes,
                                              .node_count = 300,
                                              .sites = sites,
                                              .site_count = 300}));
        assert_true(stacks_each(model, is_off_by_less_than_one, NULL));
        model_free(model);
    }
}

static bool
has_unknown_figures(void *context, struct stacks *stacks)
{
    (void)context;
    for (size_t i = 0; i < stacks->count; i++) {
        assert_int_equal(stacks->rows[i].figures[STACKS_LIVE], COUNT_UNKNOWN);
    }
    return true;
}

static void
figures_no_machine_has_are_not_known(void **state)
{
    const struct tree_node node = {20, 0, 16, 5, 0};
    const struct tree_site site = {20, 0, UINT64_MAX - 1, UINT64_MAX - 1, COUNT_UNKNOWN,
                                   {0}};
    struct model *model = forest_model(UINT64_MAX - 1);

    (void)state;
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = UINT64_MAX - 1,
                                          .nodes = &node,
                                          .node_count = 1,
                                          .sites = &site,
                                          .site_count = 1}));
    assert_true(stacks_each(model, has_unknown_figures, NULL));
    model_free(model);
}

static bool
leads_to_hash_fetch(void *context, struct stacks *stacks)
{
    bool *seen = context;

    if (strcmp(stacks->name, "Order") != 0) {
        return true;
    }
    size_t depth;
    const uint32_t *path = stacks_path(stacks, &stacks->rows[1], &depth);
    assert_int_equal(depth, 3);
    assert_string_equal(tree_frame(stacks->tree, path[0])->label, "<main>");
    assert_string_equal(tree_frame(stacks->tree, path[1])->label, "Cart#add");
    assert_string_equal(tree_frame(stacks->tree, path[2])->label, "Hash#fetch");
    *seen = true;
    errno = EPIPE;
    return false;
}

static void
lead_from_the_outermost_frame_inwards_until_the_taker_has_enough(void **state)
{
    bool seen = false;
    struct model *model = mixed_model();

    (void)state;
    assert_false(stacks_each(model, leads_to_hash_fetch, &seen));
    assert_int_equal(errno, EPIPE);
    assert_true(seen);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_up_to_the_class_in_every_column),
        cmocka_unit_test(estimates_are_rounded_by_less_than_one_object),
        cmocka_unit_test(figures_no_machine_has_are_not_known),
        cmocka_unit_test(
            lead_from_the_outermost_frame_inwards_until_the_taker_has_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
