#include "tui/model/diff_paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tests/tui/model/pairs.h"

struct pair {
    struct model *before;
    struct model *after;
    struct diff diff;
    struct diff_paths paths;
};

static const struct diff_class *
row_of(const struct diff *diff, const char *name)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (strcmp(diff->classes[i].name, name) == 0) {
            return &diff->classes[i];
        }
    }
    return NULL;
}

// Takes the models over.
static void
open_pair(struct pair *pair, struct model *before, struct model *after)
{
    assert_true(before != NULL && after != NULL);
    *pair = (struct pair){.before = before, .after = after};
    assert_true(diff_init(&pair->diff, before, after));
    const struct diff_class *row = row_of(&pair->diff, "Order");
    assert_non_null(row);
    assert_true(diff_paths_init(&pair->paths, &pair->diff, row, DIFF_OF_OBJECTS));
}

static void
close_pair(struct pair *pair)
{
    diff_paths_destroy(&pair->paths);
    diff_paths_destroy(&pair->paths);
    diff_destroy(&pair->diff);
    model_free(pair->before);
    model_free(pair->after);
}

// "<main>:5 > Rack::Stack#call:30", lines of `after` or where they were.
static char *
path_of(const struct diff_paths *paths, uint32_t node)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    uint32_t chain[4096];
    uint32_t count = 0;
    for (; node != 0; node = paths->nodes[node].parent) {
        assert_true(count < 4096);
        chain[count++] = node;
    }
    while (count-- > 0) {
        const struct tree_frame *frame = diff_paths_frame(paths, chain[count]);
        fprintf(out, "%s %s:%u>", frame->label, frame->path,
                (unsigned)diff_paths_line(paths, chain[count]));
    }
    fclose(out);
    return text;
}

static void
expect_site(const struct diff_paths *paths, uint32_t at, const char *label,
            enum diff_kind kind, double before, double after)
{
    char text[256];
    assert_true(at < paths->site_count);
    uint32_t node = paths->sites[at].node;
    struct diff_pair self = diff_paths_self(paths, node);
    diff_paths_label(paths, node, text, sizeof text);
    assert_string_equal(text, label);
    assert_int_equal(self.kind, kind);
    assert_true(self.before.live == before);
    assert_true(self.after.live == after);
    assert_true(self.change.live == after - before);
    assert_true(paths->sites[at].change == self.change.live);
}

/* What is matched with what. */

static void
tells_which_paths_changed_in_one_process(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair, pairs_shop_before(), pairs_shop_after(0));
    const struct diff_paths *paths = &pair.paths;
    assert_true(pair.diff.same_process);
    assert_true(paths->exact && paths->known_before && paths->known_after);
    assert_int_equal(paths->site_count, 4);
    expect_site(paths, 0, "Cache#fetch", DIFF_GROWN, 60, 540);
    expect_site(paths, 1, "<main>", DIFF_ADDED, 0, 40);
    expect_site(paths, 2, "OrdersApp#create", DIFF_SHRUNK, 30, 10);
    expect_site(paths, 3, "(before tracing)", DIFF_UNCHANGED, 10, 10);
    struct diff_pair root = diff_paths_total(paths, 0);
    assert_true(root.before.live == 100 && root.after.live == 600);
    assert_true(root.change.live == 500 && root.change.error == 0 && root.significant);
    for (uint32_t i = 0; i < paths->node_count; i++) {
        assert_false(diff_paths_moved(paths, i));
    }
    char *path = path_of(paths, paths->sites[0].node);
    assert_string_equal(path, "<main> /srv/shop/server.rb:5>"
                              "Rack::Stack#call "
                              "/usr/lib/gems/rack-2.2.4/lib/rack/stack.rb:30>"
                              "OrdersApp#create /srv/shop/app/orders.rb:22>"
                              "Cache#fetch /srv/shop/app/cache.rb:9>");
    free(path);
    struct diff_pair self = diff_paths_self(paths, paths->sites[0].node);
    assert_true(self.change.bytes == 480 * 40);
    assert_true(self.after.allocated == 1080);
    close_pair(&pair);
}

static void
finds_lines_that_moved_with_their_method_in_another_process(void **state)
{
    struct pair pair;

    (void)state;
    // three further down: line 22 of before would be an equal line to that of 25
    open_pair(&pair, pairs_shop_before(), pairs_shop_after(3));
    const struct diff_paths *paths = &pair.paths;
    assert_false(pair.diff.same_process);
    assert_int_equal(paths->site_count, 4);
    expect_site(paths, 0, "Cache#fetch", DIFF_GROWN, 60, 540);
    expect_site(paths, 1, "<main>", DIFF_ADDED, 0, 40);
    expect_site(paths, 2, "OrdersApp#create", DIFF_SHRUNK, 30, 10);
    uint32_t node = paths->sites[0].node;
    assert_true(diff_paths_moved(paths, node));
    assert_int_equal(paths->nodes[node].line_before, 9);
    assert_int_equal(diff_paths_line(paths, node), 12);
    node = paths->nodes[node].parent;
    assert_true(diff_paths_moved(paths, node));
    assert_false(diff_paths_moved(paths, paths->nodes[node].parent));
    assert_false(diff_paths_moved(paths, paths->sites[1].node));
    close_pair(&pair);
}

// A model of a process whose class "Order" has objects of these lines of one method.
struct lines {
    uint64_t pid;
    uint32_t start;
    uint32_t lines[4];
    uint64_t live[4];
    uint32_t count;
};

static struct model *
model_of_lines(struct lines lines)
{
    struct tree_node nodes[4];
    struct tree_site sites[4];
    uint64_t live = 0;
    for (uint32_t i = 0; i < lines.count; i++) {
        nodes[i] = (struct tree_node){20 + i, 0, 16, lines.lines[i], 0};
        sites[i] = pairs_site(20 + i, 0, lines.live[i]);
        live += lines.live[i];
    }
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(lines.pid, 100, &order, 1);
    assert_true(model != NULL && pairs_frame(model, 16, "run", "/app.rb", lines.start));
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live,
                                         .nodes = nodes,
                                         .node_count = lines.count,
                                         .sites = sites,
                                         .site_count = lines.count}));
    return model;
}

static const struct diff_node *
node_at(const struct diff_paths *paths, uint32_t before, uint32_t after)
{
    for (uint32_t i = 1; i < paths->node_count; i++) {
        const struct diff_node *node = &paths->nodes[i];
        if (node->line_before == before && node->line_after == after) {
            return node;
        }
    }
    return NULL;
}

static void
lines_that_moved_within_a_method_keep_their_order(void **state)
{
    struct pair pair;

    (void)state;
    // a line was put in at the top, 10 and 14 became 11 and 15, and 20 is new
    open_pair(&pair,
              model_of_lines((struct lines){
                  1, 8, {10, 14},
                    {5,  6 },
                    2
    }),
              model_of_lines((struct lines){2, 8, {11, 15, 20}, {7, 8, 9}, 3}));
    assert_int_equal(pair.paths.node_count, 4);
    assert_non_null(node_at(&pair.paths, 10, 11));
    assert_non_null(node_at(&pair.paths, 14, 15));
    const struct diff_node *last = node_at(&pair.paths, 0, 20);
    assert_true(last != NULL && !last->before && last->after);
    close_pair(&pair);
    // equal lines first, where nobody knows where the method starts
    open_pair(&pair,
              model_of_lines((struct lines){
                  1, 0, {10, 14},
                    {5,  6 },
                    2
    }),
              model_of_lines((struct lines){2, 0, {14, 19}, {7, 8}, 2}));
    assert_int_equal(pair.paths.node_count, 3);
    assert_non_null(node_at(&pair.paths, 14, 14));
    assert_non_null(node_at(&pair.paths, 10, 19));
    close_pair(&pair);
}

static void
in_one_process_another_line_is_another_path(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair,
              model_of_lines((struct lines){
                  1, 8, {10, 14},
                    {5,  6 },
                    2
    }),
              model_of_lines((struct lines){1, 8, {11, 14}, {7, 6}, 2}));
    assert_int_equal(pair.paths.node_count, 4);
    assert_non_null(node_at(&pair.paths, 10, 0));
    assert_non_null(node_at(&pair.paths, 0, 11));
    assert_non_null(node_at(&pair.paths, 14, 14));
    expect_site(&pair.paths, 0, "run", DIFF_ADDED, 0, 7);
    expect_site(&pair.paths, 1, "run", DIFF_GONE, 5, 0);
    assert_int_equal(diff_paths_line(&pair.paths, pair.paths.sites[1].node), 10);
    close_pair(&pair);
}

// Between the end of a connection and the first whole sample of the next one, classes
// of before have ids that may be another's by now.
static void
an_id_that_is_another_class_by_now_does_not_lend_its_tree(void **state)
{
    static const struct class_name other = {
        PAIRS_ORDER, 0, {"Cart", 4}
    };
    static const struct tree_node node = {20, 0, 16, 9, 0};
    const struct tree_site site = pairs_site(20, 0, 600);
    struct model *after = pairs_shop_after(0);
    struct pair pair;

    (void)state;
    model_reconnect(after);
    assert_true(model_apply(after, &(struct message){
                                       .kind = MESSAGE_NAMES, .names = {&other, 1}
    }));
    assert_true(pairs_tree(after, PAIRS_ORDER,
                           (struct tree){.live = 600,
                                         .nodes = &node,
                                         .node_count = 1,
                                         .sites = &site,
                                         .site_count = 1}));
    open_pair(&pair, pairs_shop_before(), after);
    assert_false(pair.paths.known_after);
    assert_int_equal(pair.paths.trees_after, 0);
    close_pair(&pair);
}

static void
a_program_that_was_started_again_is_compared_by_names(void **state)
{
    static const struct class_name named = {
        44, 0, {"Order", 5}
    };
    static const struct class_row row = {44, 9, 9, 0, 360};
    static const struct tree_node node = {70, 0, 31, 7, 0};
    const struct tree_site site = pairs_site(70, 0, 9);
    struct model *after = pairs_shop_before();
    struct pair pair;

    (void)state;
    model_reconnect(after);
    assert_true(model_apply(
        after, &(struct message){
                   .kind = MESSAGE_HELLO,
                   .hello = {.version = PROTOCOL_VERSION, .pid = 99, .started_us = 5},
    }));
    assert_true(model_apply(after, &(struct message){
                                       .kind = MESSAGE_NAMES, .names = {&named, 1}
    }));
    assert_true(model_apply(after, &(struct message){
                                       .kind = MESSAGE_SAMPLE,
                                       .at = {500 * SECOND, 500 * SECOND},
                                       .sample = { .key = true,
                                              .mode = MODE_COUNT,
                                              .totals = {9, 9, 0, 360},
                                              .rows = &row,
                                              .row_count = 1},
    }));
    assert_true(pairs_frame(after, 31, "<main>", "/srv/shop/server.rb", 1));
    assert_true(pairs_tree(after, 44,
                           (struct tree){.live = 9,
                                         .nodes = &node,
                                         .node_count = 1,
                                         .sites = &site,
                                         .site_count = 1}));
    open_pair(&pair, pairs_shop_before(), after);
    assert_false(pair.diff.same_process);
    assert_int_equal(pair.diff.count, 1);
    assert_int_equal(pair.diff.classes[0].change.live, -91);
    assert_int_equal(pair.paths.site_count, 4);
    expect_site(&pair.paths, 0, "Cache#fetch", DIFF_GONE, 60, 0);
    // the only line of <main> on either side: it moved
    expect_site(&pair.paths, 3, "<main>", DIFF_ADDED, 0, 9);
    assert_true(diff_paths_moved(&pair.paths, pair.paths.sites[3].node));
    close_pair(&pair);
}

static void
code_that_was_loaded_again_is_the_same_path(void **state)
{
    static const struct tree_node nodes[] = {
        {20, 0, 16, 9, 0},
        {21, 0, 17, 9, 1}, // and that it is in a block was found out meanwhile
    };
    const struct tree_site sites[] = {pairs_site(20, 0, 3), pairs_site(21, 0, 4)};
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 7, 280};
    struct model *after = pairs_model(1, 100, &order, 1);
    struct pair pair;

    (void)state;
    assert_true(pairs_frame(after, 16, "run", "/app.rb", 8));
    assert_true(pairs_frame(after, 17, "run", "/app.rb", 8));
    assert_true(pairs_tree(after, PAIRS_ORDER,
                           (struct tree){.live = 7,
                                         .nodes = nodes,
                                         .node_count = 2,
                                         .sites = sites,
                                         .site_count = 2}));
    open_pair(&pair, model_of_lines((struct lines){1, 8, {9}, {5}, 1}), after);
    assert_int_equal(pair.paths.site_count, 1);
    expect_site(&pair.paths, 0, "block in run", DIFF_GROWN, 5, 7);
    close_pair(&pair);
}

static void
frames_without_a_name_are_known_in_their_process_alone(void **state)
{
    static const struct tree_node node = {20, 0, 16, 9, 0};
    const struct tree_site site = pairs_site(20, 0, 3);
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 3, 120};

    (void)state;
    for (uint64_t pid = 1; pid <= 2; pid++) {
        struct model *models[2];
        struct pair pair;
        for (int i = 0; i < 2; i++) {
            models[i] = pairs_model(i == 0 ? 1 : pid, 100, &order, 1);
            assert_true(pairs_tree(models[i], PAIRS_ORDER,
                                   (struct tree){.live = 3,
                                                 .nodes = &node,
                                                 .node_count = 1,
                                                 .sites = &site,
                                                 .site_count = 1}));
        }
        open_pair(&pair, models[0], models[1]);
        assert_int_equal(pair.paths.site_count, pid);
        char text[32];
        diff_paths_label(&pair.paths, 1, text, sizeof text);
        assert_string_equal(text, "(no name yet)");
        close_pair(&pair);
    }
}

static void
a_method_called_as_a_special_frame_is_not_that_frame(void **state)
{
    static const struct tree_node node = {20, 0, 16, 0, 0};
    const struct tree_site sites[] = {pairs_site(20, 0, 3),
                                      pairs_site(FRAME_BEFORE_TRACING, 0, 4)};
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 7, 280};
    struct model *model = pairs_model(1, 100, &order, 1);
    struct pair pair;

    (void)state;
    assert_true(pairs_frame(model, 16, "(before tracing)", "", 0));
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = 7,
                                         .nodes = &node,
                                         .node_count = 1,
                                         .sites = sites,
                                         .site_count = 2}));
    open_pair(&pair, model_copy(model), model);
    assert_int_equal(pair.paths.site_count, 2);
    close_pair(&pair);
}

/* What is known. */

static void
without_a_tree_before_no_difference_of_paths_can_be_told(void **state)
{
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 100, 4000};
    struct pair pair;

    (void)state;
    open_pair(&pair, pairs_model(4120, 90, &order, 1), pairs_shop_after(0));
    assert_false(pair.paths.known_before);
    assert_true(pair.paths.known_after);
    assert_int_equal(pair.paths.site_count, 4);
    struct diff_pair self = diff_paths_self(&pair.paths, pair.paths.sites[0].node);
    assert_int_equal(self.kind, DIFF_UNTOLD);
    assert_true(isnan(self.change.live) && isnan(self.before.live) && !self.significant);
    assert_true(self.after.live == 540); // the largest first
    assert_true(isnan(pair.paths.sites[0].change));
    close_pair(&pair);
}

static void
a_class_that_was_not_there_had_no_path(void **state)
{
    static const struct pairs_class other = {"String", 1, 0, 100, 4000};
    struct pair pair;

    (void)state;
    open_pair(&pair, pairs_model(4120, 90, &other, 1), pairs_shop_after(0));
    assert_true(pair.paths.known_before);
    expect_site(&pair.paths, 0, "Cache#fetch", DIFF_ADDED, 0, 540);
    close_pair(&pair);
    open_pair(&pair, pairs_shop_before(), pairs_model(4120, 120, &other, 1));
    expect_site(&pair.paths, 0, "Cache#fetch", DIFF_GONE, 60, 0);
    close_pair(&pair);
}

static void
a_class_without_any_tree_has_no_nodes(void **state)
{
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 100, 4000};
    struct pair pair;

    (void)state;
    open_pair(&pair, pairs_model(1, 90, &order, 1), pairs_model(1, 91, &order, 1));
    assert_int_equal(pair.paths.node_count, 0);
    assert_int_equal(pair.paths.site_count, 0);
    close_pair(&pair);
}

static void
trees_of_classes_of_one_name_are_one_and_all_must_be_there(void **state)
{
    static const struct tree_node node = {20, 0, 16, 9, 0};
    static const struct pairs_class orders[] = {
        {"Order", PAIRS_ORDER, 0, 5, 200},
        {"Order", 8,           0, 6, 240},
    };

    (void)state;
    for (int trees = 1; trees <= 2; trees++) {
        struct model *after = pairs_model(1, 100, orders, 2);
        struct pair pair;
        assert_true(pairs_frame(after, 16, "run", "/app.rb", 8));
        for (int i = 0; i < trees; i++) {
            const struct tree_site site = pairs_site(20, 0, orders[i].live);
            assert_true(pairs_tree(after, orders[i].id,
                                   (struct tree){.live = orders[i].live,
                                                 .nodes = &node,
                                                 .node_count = 1,
                                                 .sites = &site,
                                                 .site_count = 1}));
        }
        open_pair(&pair, model_of_lines((struct lines){1, 8, {9}, {5}, 1}), after);
        assert_int_equal(pair.paths.known_after, trees == 2);
        assert_int_equal(pair.paths.site_count, 1);
        struct diff_pair self = diff_paths_self(&pair.paths, pair.paths.sites[0].node);
        assert_true(self.after.live == (trees == 2 ? 11 : 5));
        assert_true(trees == 2 ? self.change.live == 6 : isnan(self.change.live));
        close_pair(&pair);
    }
}

static void
what_no_path_accounts_for_is_the_roots_own(void **state)
{
    struct model *before = pairs_shop_before();
    struct model *after = pairs_shop_after(0);
    struct pair pair;

    (void)state;
    assert_true(model_apply(after, &(struct message){
                                       .kind = MESSAGE_TREE,
                                       .at = {401 * SECOND,            401 * SECOND},
                                       .tree = {.class_id = PAIRS_ORDER, .live = 650 },
    }));
    open_pair(&pair, before, after);
    expect_site(&pair.paths, 1, "Order", DIFF_ADDED, 0, 50);
    close_pair(&pair);
}

static void
where_bytes_are_meant_paths_are_judged_by_bytes(void **state)
{
    struct model *before = model_of_lines((struct lines){
        1, 8, {9, 12},
          {5, 6 },
          2
    });
    struct model *after = model_of_lines((struct lines){
        1, 8, {9, 12},
          {5, 6 },
          2
    });
    const struct tree_site sites[] = {
        {20, 0, 4, 10, 120,  {4, 0, 0, 0}},
        {21, 0, 7, 12, 9000, {7, 0, 0, 0}},
    };
    struct pair pair;

    (void)state;
    assert_true(model_apply(after, &(struct message){
                                       .kind = MESSAGE_TREE,
                                       .at = {101 * SECOND,   101 * SECOND},
                                       .tree = { .class_id = PAIRS_ORDER,
                                              .live = 11,
                                              .sites = sites,
                                              .site_count = 2},
    }));
    open_pair(&pair, before, after);
    diff_paths_destroy(&pair.paths);
    assert_true(diff_paths_init(&pair.paths, &pair.diff, row_of(&pair.diff, "Order"),
                                DIFF_OF_BYTES));
    assert_true(pair.paths.sites[0].change == 9000 - 240);
    assert_true(pair.paths.sites[1].change == 120 - 200);
    struct diff_pair root = diff_paths_total(&pair.paths, 0);
    assert_true(root.change.live == 0 && root.change.bytes == 9120 - 440);
    assert_int_equal(root.kind, DIFF_GROWN);
    assert_true(root.significant);
    close_pair(&pair);
}

static void
bytes_that_no_census_saw_leave_the_order_to_objects(void **state)
{
    const struct tree_site site = {20, 0, 4000, 4000, COUNT_UNKNOWN, {0}};
    struct pair pair;
    struct model *after = model_of_lines((struct lines){
        1, 8, {9, 12},
          {5, 6 },
          2
    });

    (void)state;
    assert_true(model_apply(after, &(struct message){
                                       .kind = MESSAGE_TREE,
                                       .at = {101 * SECOND,   101 * SECOND},
                                       .tree = { .class_id = PAIRS_ORDER,
                                              .live = 4006,
                                              .sites = &site,
                                              .site_count = 1},
    }));
    open_pair(&pair,
              model_of_lines((struct lines){
                  1, 8, {9, 12},
                    {5, 6 },
                    2
    }),
              after);
    diff_paths_destroy(&pair.paths);
    assert_true(diff_paths_init(&pair.paths, &pair.diff, row_of(&pair.diff, "Order"),
                                DIFF_OF_BYTES));
    assert_true(isnan(pair.paths.sites[0].change) && pair.paths.sites[0].size == 3995);
    struct diff_pair self = diff_paths_self(&pair.paths, pair.paths.sites[0].node);
    assert_int_equal(self.kind, DIFF_UNTOLD);
    assert_false(self.significant);
    close_pair(&pair);
}

/* Sampled. */

static struct model *
sampled(uint64_t pid, uint64_t live, uint64_t one, uint64_t other, uint64_t unsampled)
{
    static const struct tree_node nodes[] = {
        {20, 0, 16, 5, 0},
        {21, 0, 16, 9, 0},
    };
    const struct tree_site sites[] = {pairs_site(20, 6, one), pairs_site(21, 6, other)};
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(pid, 100, &order, 1);
    assert_true(model != NULL && pairs_frame(model, 16, "run", "/app.rb", 1));
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live,
                                         .shift = 6,
                                         .unsampled_live = unsampled,
                                         .unsampled_allocated = unsampled,
                                         .nodes = nodes,
                                         .node_count = 2,
                                         .sites = sites,
                                         .site_count = other > 0 ? 2 : 1}));
    return model;
}

static void
a_difference_of_estimates_carries_the_interval_of_both(void **state)
{
    struct model *before = sampled(1, 6400, 50, 50, 6300);
    struct model *after = sampled(1, 12800, 148, 52, 12600);
    const struct tree_model *one = model_tree(before, PAIRS_ORDER);
    const struct tree_model *other = model_tree(after, PAIRS_ORDER);
    struct pair pair;

    (void)state;
    open_pair(&pair, before, after);
    assert_false(pair.paths.exact);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t node = pair.paths.sites[i].node;
        struct diff_pair self = diff_paths_self(&pair.paths, node);
        uint32_t at = pair.paths.nodes[node].line_after == 5 ? 1 : 2;
        double error_before = tree_self(one, at).error;
        double error_after = tree_self(other, at).error;
        assert_true(error_before > 0 && error_after > 0);
        assert_true(fabs(self.change.error - sqrt(error_before * error_before +
                                                  error_after * error_after)) < 1e-6);
        // 3200 to 9472 is no chance, 3200 to 3328 may well be
        assert_int_equal(self.significant, i == 0);
        assert_int_equal(self.kind, DIFF_GROWN);
    }
    struct diff_pair root = diff_paths_total(&pair.paths, 0);
    assert_true(root.change.error == 0 && root.change.live == 6400 && root.significant);
    close_pair(&pair);
}

static void
a_path_that_no_sample_met_may_be_there_all_the_same(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair, sampled(1, 6464, 100, 1, 6363), sampled(1, 6464, 101, 0, 6363));
    for (uint32_t i = 0; i < pair.paths.site_count; i++) {
        struct diff_pair self = diff_paths_self(&pair.paths, pair.paths.sites[i].node);
        assert_false(self.significant);
        assert_true(self.after.error > 0);
    }
    close_pair(&pair);
}

static void
what_was_born_before_tracing_is_exact_on_both_sides(void **state)
{
    struct model *before = sampled(1, 6410, 50, 50, 6300);
    struct model *after = sampled(1, 6400, 50, 50, 6300);
    const struct tree_site site = pairs_site(FRAME_BEFORE_TRACING, 0, 10);
    struct pair pair;

    (void)state;
    assert_true(model_apply(before, &(struct message){
                                        .kind = MESSAGE_TREE,
                                        .at = {101 * SECOND,   101 * SECOND},
                                        .tree = { .class_id = PAIRS_ORDER,
                                               .live = 6410,
                                               .shift = 6,
                                               .unsampled_live = 6300,
                                               .sites = &site,
                                               .site_count = 1},
    }));
    open_pair(&pair, before, after);
    expect_site(&pair.paths, 0, "(before tracing)", DIFF_GONE, 10, 0);
    struct diff_pair self = diff_paths_self(&pair.paths, pair.paths.sites[0].node);
    assert_true(self.change.error == 0 && self.significant);
    close_pair(&pair);
}

/* Against brute force. */

#define BRUTE_NODES 300u
#define BRUTE_FRAMES 12u

struct brute_path {
    char *text; // owned
    double live[2];
};

struct brute {
    struct brute_path paths[2 * BRUTE_NODES];
    size_t count;
};

static void
brute_add(struct brute *brute, char *text, int side, double live)
{
    for (size_t i = 0; i < brute->count; i++) {
        if (strcmp(brute->paths[i].text, text) == 0) {
            brute->paths[i].live[side] += live;
            free(text);
            return;
        }
    }
    brute->paths[brute->count] = (struct brute_path){.text = text};
    brute->paths[brute->count++].live[side] = live;
}

static char *
brute_path(const struct tree_model *tree, uint32_t node)
{
    char *text = calloc(1, 1);
    for (; node != 0; node = tree_parent(tree, node)) {
        const struct tree_frame *frame = tree_frame(tree, node);
        char *longer = NULL;
        assert_true(asprintf(&longer, "%s %s:%u>%s", frame->label, frame->path,
                             (unsigned)tree_line(tree, node), text) > 0);
        free(text);
        text = longer;
    }
    return text;
}

static void
brute_add_tree(struct brute *brute, const struct model *model, int side)
{
    const struct tree_model *tree = model_tree(model, PAIRS_ORDER);
    for (uint32_t i = 0; i < tree_node_count(tree); i++) {
        double live = tree_self(tree, i).live;
        if (live != 0) {
            brute_add(brute, brute_path(tree, i), side, live);
        }
    }
}

// Frames have few labels, so that there are equal ones; ids differ from model to model.
static struct model *
random_model(uint64_t *random, uint64_t pid, uint32_t id, uint32_t moved)
{
    struct tree_node nodes[BRUTE_NODES];
    struct tree_site sites[BRUTE_NODES];
    uint32_t count = 1 + (uint32_t)pairs_random(random, BRUTE_NODES - 1);
    uint64_t live = pairs_random(random, 5); // of no path
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = (uint32_t)pairs_random(random, i + 1);
        nodes[i] = (struct tree_node){
            .id = id + i + 1,
            .parent = parent == 0 ? 0 : id + parent,
            .frame = id + (uint32_t)pairs_random(random, BRUTE_FRAMES),
            .line = 10 + (uint32_t)pairs_random(random, 3) + moved,
        };
        sites[i] = pairs_site(id + i + 1, 0, pairs_random(random, 4));
        live += sites[i].live;
    }
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(pid, 100, &order, 1);
    for (uint32_t i = 0; i < BRUTE_FRAMES; i++) {
        char label[16];
        snprintf(label, sizeof label, "m%u", (unsigned)(i % 6));
        assert_true(
            pairs_frame(model, id + i, label, i % 2 == 0 ? "/a.rb" : "/b.rb", 8 + moved));
    }
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live,
                                         .nodes = nodes,
                                         .node_count = count,
                                         .sites = sites,
                                         .site_count = count}));
    return model;
}

static void
check_sites(const struct diff_paths *paths, const struct brute *brute)
{
    assert_int_equal(paths->site_count, brute->count);
    for (uint32_t i = 0; i < paths->site_count; i++) {
        struct diff_pair self = diff_paths_self(paths, paths->sites[i].node);
        char *text = path_of(paths, paths->sites[i].node);
        size_t at = 0;
        while (at < brute->count && strcmp(brute->paths[at].text, text) != 0) {
            at++;
        }
        assert_true(at < brute->count);
        assert_true(self.before.live == brute->paths[at].live[0]);
        assert_true(self.after.live == brute->paths[at].live[1]);
        assert_true(self.change.live == self.after.live - self.before.live);
        assert_int_equal(self.significant, self.change.live != 0);
        assert_true(i == 0 || fabs(paths->sites[i - 1].change) >= fabs(self.change.live));
        free(text);
    }
}

// A node's figures are its own and those of its children.
static void
check_sums(const struct diff_paths *paths)
{
    for (uint32_t i = 0; i < paths->node_count; i++) {
        const struct diff_node *node = &paths->nodes[i];
        struct diff_pair total = diff_paths_total(paths, i);
        struct diff_pair self = diff_paths_self(paths, i);
        double before = self.before.live;
        double after = self.after.live;
        for (uint32_t k = 0; k < node->child_count; k++) {
            struct diff_pair below = diff_paths_total(paths, node->first_child + k);
            assert_int_equal(paths->nodes[node->first_child + k].parent, i);
            before += below.before.live;
            after += below.after.live;
        }
        assert_true(total.before.live == before && total.after.live == after);
    }
}

static void
is_what_brute_force_says_of_random_trees(void **state)
{
    static struct brute brute;
    uint64_t random = 5;

    (void)state;
    for (int round = 0; round < 80; round++) {
        struct model *before = random_model(&random, 1, 100, 0);
        struct model *after = random_model(&random, 1, 5000, 0);
        struct pair pair;
        brute.count = 0;
        brute_add_tree(&brute, before, 0);
        brute_add_tree(&brute, after, 1);
        open_pair(&pair, before, after);
        check_sites(&pair.paths, &brute);
        check_sums(&pair.paths);
        close_pair(&pair);
        for (size_t i = 0; i < brute.count; i++) {
            free(brute.paths[i].text);
        }
    }
}

static void
a_restart_with_all_lines_moved_changes_no_path(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= 40; round++) {
        uint64_t random = round;
        uint64_t again = round;
        struct model *before = random_model(&random, 1, 100, 0);
        struct model *after = random_model(&again, 2, 5000, (uint32_t)round);
        struct pair pair;
        open_pair(&pair, before, after);
        for (uint32_t i = 1; i < pair.paths.node_count; i++) {
            struct diff_pair self = diff_paths_self(&pair.paths, i);
            assert_int_equal(self.kind, DIFF_UNCHANGED);
            assert_true(diff_paths_moved(&pair.paths, i));
        }
        check_sums(&pair.paths);
        close_pair(&pair);
    }
}

/* Size, memory. */

// All below the root, or each below the one before.
static struct model *
large(uint64_t live, uint32_t count, bool deep)
{
    struct tree_node *nodes = calloc(count, sizeof *nodes);
    struct tree_site *sites = calloc(count, sizeof *sites);
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live * count, 0};
    struct model *model = pairs_model(live, 100, &order, 1);
    if (model == NULL || nodes == NULL || sites == NULL) {
        abort();
    }
    assert_true(pairs_frame(model, 16, "run", "/app.rb", 1));
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = (struct tree_node){20 + i, deep && i > 0 ? 19 + i : 0, 16, 1 + i, 0};
        sites[i] = pairs_site(20 + i, 0, live);
    }
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live * count,
                                         .nodes = nodes,
                                         .node_count = count,
                                         .sites = sites,
                                         .site_count = count}));
    free(nodes);
    free(sites);
    return model;
}

static void
a_million_nodes_are_one_pass(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        uint32_t count = deep ? 100000 : 1000000;
        struct pair pair;
        open_pair(&pair, large(1, count, deep != 0), large(3, count, deep != 0));
        assert_int_equal(pair.paths.node_count, count + 1);
        assert_int_equal(pair.paths.site_count, count);
        assert_true(diff_paths_total(&pair.paths, 0).change.live == 2.0 * count);
        assert_true(pair.paths.sites[count - 1].change == 2);
        close_pair(&pair);
    }
}

static void
without_memory_there_are_no_paths_and_no_leak(void **state)
{
    struct pair pair;
    bool done = false;

    (void)state;
    open_pair(&pair, pairs_shop_before(), pairs_shop_after(0));
    for (int allowed = 0; !done; allowed++) {
        struct diff_paths paths;
        memory_allow(allowed);
        done = diff_paths_init(&paths, &pair.diff, row_of(&pair.diff, "Order"),
                               DIFF_OF_OBJECTS);
        memory_allow(-1);
        assert_true(done || (paths.nodes == NULL && paths.site_count == 0));
        diff_paths_destroy(&paths);
        assert_true(allowed < 50);
    }
    close_pair(&pair);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_which_paths_changed_in_one_process),
        cmocka_unit_test(finds_lines_that_moved_with_their_method_in_another_process),
        cmocka_unit_test(lines_that_moved_within_a_method_keep_their_order),
        cmocka_unit_test(in_one_process_another_line_is_another_path),
        cmocka_unit_test(an_id_that_is_another_class_by_now_does_not_lend_its_tree),
        cmocka_unit_test(a_program_that_was_started_again_is_compared_by_names),
        cmocka_unit_test(code_that_was_loaded_again_is_the_same_path),
        cmocka_unit_test(frames_without_a_name_are_known_in_their_process_alone),
        cmocka_unit_test(a_method_called_as_a_special_frame_is_not_that_frame),
        cmocka_unit_test(without_a_tree_before_no_difference_of_paths_can_be_told),
        cmocka_unit_test(a_class_that_was_not_there_had_no_path),
        cmocka_unit_test(a_class_without_any_tree_has_no_nodes),
        cmocka_unit_test(trees_of_classes_of_one_name_are_one_and_all_must_be_there),
        cmocka_unit_test(what_no_path_accounts_for_is_the_roots_own),
        cmocka_unit_test(where_bytes_are_meant_paths_are_judged_by_bytes),
        cmocka_unit_test(bytes_that_no_census_saw_leave_the_order_to_objects),
        cmocka_unit_test(a_difference_of_estimates_carries_the_interval_of_both),
        cmocka_unit_test(a_path_that_no_sample_met_may_be_there_all_the_same),
        cmocka_unit_test(what_was_born_before_tracing_is_exact_on_both_sides),
        cmocka_unit_test(is_what_brute_force_says_of_random_trees),
        cmocka_unit_test(a_restart_with_all_lines_moved_changes_no_path),
        cmocka_unit_test(a_million_nodes_are_one_pass),
        cmocka_unit_test(without_memory_there_are_no_paths_and_no_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
