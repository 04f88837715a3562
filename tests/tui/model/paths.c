#include "tui/model/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tests/tui/model/forest.h"

// A dump has a row a line: live, own live, share of the class, the tree itself.
static void
expect(struct paths *paths, const struct tree_model *tree, const char *wanted)
{
    assert_true(paths_update(paths, tree));
    char *rows = forest_rows(paths);
    assert_string_equal(rows, wanted);
    free(rows);
}

static void
set(struct paths *paths, enum paths_shape shape, bool own_only)
{
    paths->shape = shape;
    paths->own_only = own_only;
    paths_renew(paths);
}

static size_t
row_of(const struct paths *paths, const char *wanted)
{
    for (size_t i = 0; i < paths->count; i++) {
        char label[128];
        paths_label(paths, i, label, sizeof label);
        if (strcmp(label, wanted) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void
opens_the_largest_path_down_to_its_allocating_line(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 126    1  84%   - … 3 frames in puma, rack, stdlib\n"
           " 100    0  67%     - OrdersApp#create  app/orders.rb:22\n"
           " 100   80  67%       - Cache#fetch  app/cache.rb:9\n"
           "  20   20  13%           Hash#fetch\n"
           "  25    0  17%     + OrdersApp#show  app/orders.rb:31\n"
           "   1    1   1%       JSON.parse  json/common.rb:12\n"
           "  14    0   9%   + <main>  app/server.rb:5\n"
           "  10   10   7%     (before tracing)\n");
    paths_destroy(&paths);
    paths_destroy(&paths);
    model_free(model);
}

static void
shows_every_frame_when_asked(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    paths_fold_level(&paths, UINT32_MAX);
    set(&paths, PATHS_CALLERS, false);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 126    0  84%   - block in spawn  puma/pool.rb:106\n"
           " 126    0  84%     - Rack::Stack#call  rack/stack.rb:30\n"
           " 100    0  67%       - OrdersApp#create  app/orders.rb:22\n"
           " 100   80  67%         - Cache#fetch  app/cache.rb:9\n"
           "  20   20  13%             Hash#fetch\n"
           "  25    0  17%       - OrdersApp#show  app/orders.rb:31\n"
           "  25   25  17%           JSON.parse  json/common.rb:12\n"
           "   1    1   1%         JSON.parse  json/common.rb:12\n"
           "  14    0   9%   - <main>  app/server.rb:5\n"
           "  14   14   9%       Cache#fetch  app/cache.rb:9\n"
           "  10   10   7%     (before tracing)\n");
    set(&paths, PATHS_CALLERS, true);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 126    1  84%   - … 3 frames in puma, rack, stdlib\n"
           " 100    0  67%     - OrdersApp#create  app/orders.rb:22\n"
           " 100   80  67%       - Cache#fetch  app/cache.rb:9\n"
           "  20   20  13%           Hash#fetch\n"
           "  25    0  17%     - OrdersApp#show  app/orders.rb:31\n"
           "  25   25  17%       - … 1 frame in stdlib\n"
           "  25   25  17%           JSON.parse  json/common.rb:12\n"
           "   1    1   1%       JSON.parse  json/common.rb:12\n"
           "  14    0   9%   - <main>  app/server.rb:5\n"
           "  14   14   9%       Cache#fetch  app/cache.rb:9\n"
           "  10   10   7%     (before tracing)\n");
    paths_fold_level(&paths, 0);
    expect(&paths, model_tree(model, ORDER), " 150    0 100% + Order\n");
    paths_destroy(&paths);
    model_free(model);
}

static void
shows_the_allocating_lines_first(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    paths_fold_level(&paths, UINT32_MAX);
    set(&paths, PATHS_LINES, false);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           "  94   94  63%   - Cache#fetch  app/cache.rb:9\n"
           "  80    0  53%     - OrdersApp#create  app/orders.rb:22\n"
           "  80    0  53%       - Rack::Stack#call  rack/stack.rb:30\n"
           "  80    0  53%           block in spawn  puma/pool.rb:106\n"
           "  14    0   9%       <main>  app/server.rb:5\n"
           "  26   26  17%   - JSON.parse  json/common.rb:12\n"
           "  25    0  17%     - OrdersApp#show  app/orders.rb:31\n"
           "  25    0  17%       - Rack::Stack#call  rack/stack.rb:30\n"
           "  25    0  17%           block in spawn  puma/pool.rb:106\n"
           "   1    0   1%     - Rack::Stack#call  rack/stack.rb:30\n"
           "   1    0   1%         block in spawn  puma/pool.rb:106\n"
           "  20   20  13%   - Hash#fetch\n"
           "  20    0  13%     - Cache#fetch  app/cache.rb:9\n"
           "  20    0  13%       - OrdersApp#create  app/orders.rb:22\n"
           "  20    0  13%         - Rack::Stack#call  rack/stack.rb:30\n"
           "  20    0  13%             block in spawn  puma/pool.rb:106\n"
           "  10   10   7%     (before tracing)\n");
    set(&paths, PATHS_LINES, true);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 114  114  76%   - Cache#fetch  app/cache.rb:9\n"
           " 100    0  67%     - OrdersApp#create  app/orders.rb:22\n"
           " 100    0  67%         … 2 frames in rack, puma\n"
           "  14    0   9%       <main>  app/server.rb:5\n"
           "  25   25  17%   - OrdersApp#show  app/orders.rb:31\n"
           "  25    0  17%       … 2 frames in rack, puma\n"
           "  10   10   7%     (before tracing)\n"
           "   1    1   1%     … 3 frames in stdlib, rack, puma\n");
    paths_destroy(&paths);
    model_free(model);
}

static void
shows_each_place_once(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    set(&paths, PATHS_FLAT, false);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 126    0  84%     Rack::Stack#call  rack/stack.rb:30\n"
           " 126    0  84%     block in spawn  puma/pool.rb:106\n"
           " 114   94  76%     Cache#fetch  app/cache.rb:9\n"
           " 100    0  67%     OrdersApp#create  app/orders.rb:22\n"
           "  26   26  17%     JSON.parse  json/common.rb:12\n"
           "  25    0  17%     OrdersApp#show  app/orders.rb:31\n"
           "  20   20  13%     Hash#fetch\n"
           "  14    0   9%     <main>  app/server.rb:5\n"
           "  10   10   7%     (before tracing)\n");
    set(&paths, PATHS_FLAT, true);
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 114   94  76%     Cache#fetch  app/cache.rb:9\n"
           " 100    0  67%     OrdersApp#create  app/orders.rb:22\n"
           "  26   26  17%     … 3 frames in puma, rack, stdlib\n"
           "  25    0  17%     OrdersApp#show  app/orders.rb:31\n"
           "  20   20  13%     Hash#fetch\n"
           "  14    0   9%     <main>  app/server.rb:5\n"
           "  10   10   7%     (before tracing)\n");
    paths_destroy(&paths);
    model_free(model);
}

static void
filters_to_hits_and_the_way_to_them(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    paths_fold_level(&paths, 0);
    strcpy(paths.filter, "jSoN");
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           " 126    1  84%   - … 3 frames in puma, rack, stdlib\n"
           "  25    0  17%     - OrdersApp#show  app/orders.rb:31\n"
           "  25   25  17%       - … 1 frame in stdlib\n"
           "  25   25  17%           JSON.parse  json/common.rb:12 *\n"
           "   1    1   1%       JSON.parse  json/common.rb:12 *\n");
    size_t show = row_of(&paths, "OrdersApp#show");
    assert_true(paths_fold(&paths, show, false, false));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_false(paths.rows[row_of(&paths, "OrdersApp#show")].open);
    strcpy(paths.filter, "cache.rb:9"); // another one opens what it finds
    paths_renew(&paths);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_true(row_of(&paths, "Cache#fetch") != SIZE_MAX);
    assert_true(row_of(&paths, "OrdersApp#show") == SIZE_MAX);
    strcpy(paths.filter, "nothing of the kind");
    paths_renew(&paths);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_int_equal(paths.count, 1);
    paths.filter[0] = '\0'; // and all is folded as it was
    paths_renew(&paths);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_int_equal(paths.count, 1);
    set(&paths, PATHS_LINES, false);
    strcpy(paths.filter, "JSON");
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           "  26   26  17%   + JSON.parse  json/common.rb:12 *\n");
    paths_destroy(&paths);
    model_free(model);
}

static void
puts_what_is_below_the_threshold_into_one_row(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    paths.own_only = false;
    paths.threshold = 0.3;
    paths_fold_level(&paths, 4);
    paths.shape = PATHS_LINES;
    expect(&paths, model_tree(model, ORDER),
           " 150    0 100% - Order\n"
           "  94   94  63%   - Cache#fetch  app/cache.rb:9\n"
           "  80    0  53%     - OrdersApp#create  app/orders.rb:22\n"
           "  80    0  53%       - Rack::Stack#call  rack/stack.rb:30\n"
           "  80    0  53%           block in spawn  puma/pool.rb:106\n"
           "  14    0   9%       <main>  app/server.rb:5\n"
           "  10   10   7%     (before tracing)\n"
           "  46    0  31%   - … 2 more lines\n"
           "  26   26  17%     - JSON.parse  json/common.rb:12\n"
           "  26    0  17%       - … 2 more lines\n"
           "  25    0  17%         + OrdersApp#show  app/orders.rb:31\n"
           "   1    0   1%         + Rack::Stack#call  rack/stack.rb:30\n"
           "  20   20  13%     - Hash#fetch\n"
           "  20    0  13%       - Cache#fetch  app/cache.rb:9\n"
           "  20    0  13%         + OrdersApp#create  app/orders.rb:22\n");
    paths_destroy(&paths);
    model_free(model);
}

static const struct tree_node recursive[] = {
    {20, 0,  16, 3, 0},
    {21, 20, 16, 3, 0},
    {22, 21, 17, 8, 0},
    {23, 22, 16, 3, 0},
    {24, 23, 17, 8, 0},
};
static const struct tree_site recursive_sites[] = {
    {20, 0, 1, 1, 0, {0}},
    {22, 0, 2, 2, 0, {0}},
    {24, 0, 4, 4, 0, {0}},
};

static void
counts_nothing_twice_where_a_method_calls_itself(void **state)
{
    struct model *model = forest_model(7);
    struct paths paths;
    (void)state;
    paths_init(&paths);
    assert_true(forest_frame(model, 16, "walk", "/a/b.rb", 0));
    assert_true(forest_frame(model, 17, "visit", "/a/b.rb", 0));
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = 7,
                                          .nodes = recursive,
                                          .node_count = 5,
                                          .sites = recursive_sites,
                                          .site_count = 3}));
    expect(&paths, model_tree(model, ORDER),
           "   7    0 100% - Order\n"
           "   7    1 100%   - walk  /a/b.rb:3\n"
           "   6    0  86%     - walk  /a/b.rb:3 x2\n"
           "   6    2  86%       - visit  /a/b.rb:8\n"
           "   4    0  57%         - walk  /a/b.rb:3 x3\n"
           "   4    4  57%             visit  /a/b.rb:8 x2\n");
    set(&paths, PATHS_FLAT, true);
    expect(&paths, model_tree(model, ORDER),
           "   7    0 100% - Order\n"
           "   7    1 100%     walk  /a/b.rb:3\n"
           "   6    6  86%     visit  /a/b.rb:8\n");
    set(&paths, PATHS_LINES, true);
    paths_fold_level(&paths, 3);
    expect(&paths, model_tree(model, ORDER),
           "   7    0 100% - Order\n"
           "   6    6  86%   - visit  /a/b.rb:8\n"
           "   6    0  86%     - walk  /a/b.rb:3\n"
           "   4    0  57%       + visit  /a/b.rb:8 x2\n"
           "   2    0  29%         walk  /a/b.rb:3 x2\n"
           "   1    1  14%     walk  /a/b.rb:3\n");
    paths_destroy(&paths);
    model_free(model);
}

// Code that was loaded again has other frames of the same names.
static void
makes_equal_siblings_one_row(void **state)
{
    struct model *model = forest_model(7);
    static const struct tree_node nodes[] = {
        {20, 0,  16, 3, 0},
        {21, 0,  17, 3, 0},
        {22, 20, 18, 1, 0},
        {23, 21, 18, 1, 0},
    };
    static const struct tree_site sites[] = {
        {22, 0, 2, 2, 0, {0}},
        {23, 0, 5, 5, 0, {0}},
    };
    struct paths paths;
    (void)state;
    paths_init(&paths);
    const struct tree tree = {.key = true,
                              .live = 7,
                              .nodes = nodes,
                              .node_count = 4,
                              .sites = sites,
                              .site_count = 2};
    assert_true(forest_frame(model, 16, "again", "/a/b.rb", 0));
    assert_true(forest_frame(model, 18, "leaf", "/a/b.rb", 0));
    assert_true(forest_tree(model, 101, tree));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    size_t row = row_of(&paths, "(no name yet)");
    assert_true(row != SIZE_MAX);
    uint64_t unnamed = paths_key(&paths, row);
    assert_true(paths_fold(&paths, row_of(&paths, "again"), true, true));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_true(forest_frame(model, 17, "again", "/a/b.rb", 0));
    expect(&paths, model_tree(model, ORDER),
           "   7    0 100% - Order\n"
           "   7    0 100%   - again  /a/b.rb:3\n"
           "   7    7 100%       leaf  /a/b.rb:1\n");
    assert_int_equal(paths_find(&paths, unnamed), row_of(&paths, "again"));
    paths_destroy(&paths);
    model_free(model);
}

static struct tree_site
of(uint32_t node, uint64_t live)
{
    return (struct tree_site){node, 0, live, 10 * live, 0, {0}};
}

static struct model *
three(uint64_t second, struct model *model, uint64_t a, uint64_t b, uint64_t c)
{
    static const struct tree_node nodes[] = {
        {20, 0, 16, 1, 0},
        {21, 0, 17, 2, 0},
        {22, 0, 18, 3, 0},
    };
    const struct tree_site sites[] = {of(20, a), of(21, b), of(22, c)};
    assert_true(forest_tree(model, second,
                            (struct tree){.key = true,
                                          .live = a + b + c,
                                          .nodes = nodes,
                                          .node_count = 3,
                                          .sites = sites,
                                          .site_count = 3}));
    return model;
}

static struct model *
abc(void)
{
    struct model *model = forest_model(9);
    assert_true(forest_frame(model, 16, "a", "/a/b.rb", 0));
    assert_true(forest_frame(model, 17, "b", "/a/b.rb", 0));
    assert_true(forest_frame(model, 18, "c", "/a/b.rb", 0));
    return model;
}

static void
orders(struct paths *paths, const struct tree_model *tree, const char *wanted)
{
    char found[16] = "";
    assert_true(paths_update(paths, tree));
    for (size_t i = 1; i < paths->count; i++) {
        char label[16];
        paths_label(paths, i, label, sizeof label);
        strcat(found, label);
    }
    assert_string_equal(found, wanted);
}

static void
keeps_the_order_while_it_is_held_and_finds_rows_again(void **state)
{
    struct model *model = three(101, abc(), 5, 3, 1);
    struct paths paths;
    (void)state;
    paths_init(&paths);
    orders(&paths, model_tree(model, ORDER), "abc");
    uint64_t key = paths_key(&paths, 2);
    paths.held = true;
    three(102, model, 1, 3, 9);
    orders(&paths, model_tree(model, ORDER), "abc");
    assert_int_equal(paths_find(&paths, key), 2);
    paths.held = false;
    paths_renew(&paths);
    orders(&paths, model_tree(model, ORDER), "cba");
    assert_int_equal(paths_find(&paths, key), 2);
    assert_true(paths_find(&paths, key + 2) == SIZE_MAX);
    paths.inverted = true;
    paths_renew(&paths);
    orders(&paths, model_tree(model, ORDER), "abc");
    paths.order = PATHS_BY_LABEL;
    paths_renew(&paths);
    orders(&paths, model_tree(model, ORDER), "cba");
    paths.inverted = false;
    paths.order = PATHS_BY_DELTA; // -4, 0, +8
    paths_renew(&paths);
    orders(&paths, model_tree(model, ORDER), "cba");
    assert_true(paths.rows[3].delta == -4);
    paths.order = PATHS_BY_AGE; // unknown, all of them: by label
    paths_renew(&paths);
    orders(&paths, model_tree(model, ORDER), "abc");
    paths_destroy(&paths);
    model_free(model);
}

static bool
two_paths(struct model *model, uint64_t second, uint64_t a, uint64_t b)
{
    static const struct tree_node nodes[] = {
        {20, 0,  16, 1, 0},
        {21, 0,  17, 2, 0},
        {22, 20, 18, 3, 0},
        {23, 21, 18, 4, 0},
    };
    const struct tree_site sites[] = {of(22, a), of(23, b)};
    return forest_tree(model, second,
                       (struct tree){.key = true,
                                     .live = a + b,
                                     .nodes = nodes,
                                     .node_count = 4,
                                     .sites = sites,
                                     .site_count = 2});
}

static void
follows_another_path_when_it_is_clearly_larger_and_nobody_navigates(void **state)
{
    struct model *model = abc();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    assert_true(two_paths(model, 101, 10, 9));
    orders(&paths, model_tree(model, ORDER), "acb");
    assert_true(fabs(paths.rows[1].of_class - 10.0 / 19) < 1e-9);
    assert_true(paths.rows[2].of_parent == 1);
    assert_true(two_paths(model, 102, 10, 12));
    orders(&paths, model_tree(model, ORDER), "bac");
    paths.held = true;
    assert_true(two_paths(model, 103, 10, 30));
    orders(&paths, model_tree(model, ORDER), "bac");
    paths.held = false;
    paths_renew(&paths);
    orders(&paths, model_tree(model, ORDER), "bca");
    assert_true(paths_fold(&paths, 3, true, false)); // from here on a person decides
    orders(&paths, model_tree(model, ORDER), "bcac");
    assert_true(two_paths(model, 104, 100, 30));
    orders(&paths, model_tree(model, ORDER), "acbc");
    paths_destroy(&paths);
    model_free(model);
}

static void
keeps_what_is_unfolded_over_new_data_and_connections(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    paths.own_only = false;
    paths_fold_level(&paths, 1);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_true(paths_fold(&paths, row_of(&paths, "<main>"), true, false));
    assert_false(paths_fold(&paths, row_of(&paths, "(before tracing)"), true, false));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    size_t cache = row_of(&paths, "Cache#fetch");
    assert_int_equal(paths_parent(&paths, cache), row_of(&paths, "<main>"));
    uint64_t key = paths_key(&paths, cache);
    paths_forget(&paths, true);
    model_free(model);
    model = forest_shop(); // the same names under another generation's numbers
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_int_equal(paths_find(&paths, key), cache);
    assert_true(paths_fold(&paths, 0, true, true));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_int_equal(paths.count, 12);
    assert_true(paths_fold(&paths, 0, false, true));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_true(paths_fold(&paths, 0, true, false));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_int_equal(paths.count, 4);
    paths_forget(&paths, false);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_true(row_of(&paths, "Hash#fetch") != SIZE_MAX);
    paths_destroy(&paths);
    model_free(model);
}

static void
does_nothing_when_nothing_changed(void **state)
{
    struct model *model = forest_shop();
    struct paths paths;
    (void)state;
    paths_init(&paths);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    assert_int_equal(paths.work.builds, 1);
    paths_destroy(&paths);
    model_free(model);
}

static void
tells_whose_code_a_path_is(void **state)
{
    static const struct {
        const char *path, *owner;
        bool own;
    } cases[] = {
        {"/srv/shop/app/orders.rb",                                     "program",   true },
        {"demo/app.rb",                                                 "program",   true },
        {"/srv/gems/shop/app.rb",                                       "program",   true },
        {"(eval at /srv/shop/app.rb:3)",                                "program",   true },
        {"-e",                                                          "program",   true },
        {"/var/lib/gems/3.1.0/gems/puma-6.0.2/lib/puma/server.rb",      "puma",      false},
        {"/usr/share/rubygems-integration/all/gems/rack-test-2.1/a.rb", "rack-test",
         false                                                                            },
        {"/b/bundler/gems/sidekiq-0fe1d2c3b4a5/lib/sidekiq.rb",         "sidekiq",   false},
        {"/usr/lib/ruby/vendor_ruby/puma/thread_pool.rb",               "puma",      false},
        {"/usr/lib/ruby/vendor_ruby/sinatra.rb",                        "sinatra",   false},
        {"/usr/lib/ruby/3.1.0/json/common.rb",                          "stdlib",    false},
        {"/opt/rbenv/versions/3.3.8/lib/ruby/3.3.0/set.rb",             "stdlib",    false},
        {"/opt/memtop/build/lib/memtop/rack.rb",                        "memtop",    false},
        {"/srv/memtop/app.rb",                                          "program",   true },
        {"<internal:kernel>",                                           "ruby",      false},
        {"(eval)",                                                      "eval",      false},
        {"",                                                            "C",         false},
        {"/gems/",                                                      "program",   true },
        {"/gems/a-",                                                    "program",   true },
        {"/x/vendor_ruby/",                                             "program",   true },
        {"/x/site_ruby/.rb",                                            "program",   true },
        {"/lib/ruby/3",                                                 "program",   true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct tree_frame frame = {.id = FRAME_FIRST, .path = cases[i].path};
        char owner[32];
        paths_owner(&frame, owner, sizeof owner);
        assert_string_equal(owner, cases[i].owner);
        assert_true(paths_is_own(cases[i].path) == cases[i].own);
    }
}

static void
shows_what_it_could_when_memory_runs_out(void **state)
{
    struct model *model = forest_shop();
    const struct tree_model *tree = model_tree(model, ORDER);
    bool done = false;
    (void)state;
    for (int allowed = 0; !done && allowed < 200; allowed++) {
        struct paths paths;
        paths_init(&paths);
        paths.held = true;
        strcpy(paths.filter, allowed % 2 == 0 ? "a" : "");
        paths.shape = (enum paths_shape)(allowed / 2 % 3);
        memory_allow(allowed);
        paths_fold_level(&paths, 9);
        done = paths_update(&paths, tree);
        assert_true(done || memory_ran_out());
        (void)paths_fold(&paths, 0, false, true);
        memory_allow(-1);
        assert_true(paths_update(&paths, tree));
        assert_true(paths.count > 0);
        paths_destroy(&paths);
    }
    assert_true(done);
    model_free(model);
}

#define NODES 1000000u
#define SCALE_FRAMES 5000u

static struct tree_node big_nodes[NODES];
static struct tree_site big_sites[NODES];

static double
milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double
since(const char *what, double from)
{
    double now = milliseconds();
    printf("%-44s %8.2f ms\n", what, now - from);
    return milliseconds();
}

static struct tree
big(uint64_t more)
{
    uint64_t random = 7;
    struct tree tree = {.key = more == 0,
                        .nodes = big_nodes,
                        .node_count = NODES,
                        .sites = big_sites,
                        .site_count = NODES};
    for (uint32_t i = 0; i < NODES; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t noise = (uint32_t)(random >> 33);
        uint32_t up = i < 3 ? 0 : 1 + noise % 3;
        uint32_t parent = up == 0 ? 0 : FRAME_FIRST + i / up - (i / up == i);
        big_nodes[i] =
            (struct tree_node){FRAME_FIRST + i, parent,
                               FRAME_FIRST + noise % SCALE_FRAMES, noise / 7 % 20, 0};
        big_sites[i] = of(FRAME_FIRST + i, noise % 9 + (i < 1000 ? more : 0));
        tree.live += big_sites[i].live;
    }
    return tree;
}

static void
name_big(struct model *model)
{
    for (uint32_t i = 0; i < SCALE_FRAMES; i++) {
        char label[64];
        char path[96];
        snprintf(label, sizeof label, "Part%u#call", i);
        snprintf(path, sizeof path, "%s/%u.rb",
                 i % 3 != 0 ? "/usr/lib/ruby/3.1.0/json" : "/srv/shop/app", i % 101);
        assert_true(forest_frame(model, FRAME_FIRST + i, label, path, 0));
    }
}

// What is asserted is work, which is the same on every machine; the times it took
// here are printed.
static void
stays_fluid_with_a_million_nodes(void **state)
{
    struct model *model = forest_model(9);
    struct paths paths;
    (void)state;
    paths_init(&paths);
    name_big(model);
    struct tree tree = big(0);
    double from = milliseconds();
    assert_true(forest_tree(model, 101, tree));
    from = since("take the whole tree", from);
    assert_int_equal(tree_node_count(model_tree(model, ORDER)), NODES + 1);
    from = since("sum it", from);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    from = since("rows, own code only, first time", from);
    paths.own_only = false;
    paths_renew(&paths);
    assert_true(paths_update(&paths, model_tree(model, ORDER)));
    since("rows, all code", from);
    tree = big(5);
    tree.node_count = 0;
    tree.site_count = 1000;
    from = milliseconds();
    assert_true(forest_tree(model, 102, tree));
    const struct tree_model *made = model_tree(model, ORDER);
    from = since("a message with 1 000 sites, and sums", from);
    struct paths_work before = paths.work;
    assert_true(paths_update(&paths, made));
    from = since("rows after it", from);
    assert_true(paths.work.candidates - before.candidates < 10000);
    before = paths.work;
    size_t closed = 0;
    while (!paths.rows[closed].foldable || paths.rows[closed].open) {
        closed++;
    }
    assert_true(paths_fold(&paths, closed, true, false));
    assert_true(paths_update(&paths, made));
    from = since("unfold a row", from);
    assert_true(paths.work.candidates - before.candidates < 10000);
    assert_true(paths_find(&paths, paths_key(&paths, paths.count - 1)) < paths.count);
    from = since("find a row", from);
    strcpy(paths.filter, "Part42#");
    paths_renew(&paths);
    assert_true(paths_update(&paths, made));
    from = since("filter", from);
    assert_true(paths.work.matched <= SCALE_FRAMES * 20);
    paths.filter[0] = '\0';
    set(&paths, PATHS_FLAT, false);
    assert_true(paths_update(&paths, made));
    from = since("flat, first time", from);
    paths_renew(&paths);
    assert_true(paths_update(&paths, made));
    from = since("flat", from);
    set(&paths, PATHS_LINES, true);
    assert_true(paths_update(&paths, made));
    from = since("lines", from);
    set(&paths, PATHS_CALLERS, false);
    paths_fold_level(&paths, UINT32_MAX);
    assert_true(paths_update(&paths, made));
    since("unfold all", from);
    assert_true(paths.count <= PATHS_ROWS_MAX);
    assert_true(paths.count < NODES);
    paths_destroy(&paths);
    model_free(model);
}

// One path of 300 000 frames, all of which allocate: depth costs no more than length.
static void
bounds_its_work_on_a_tree_that_is_one_path(void **state)
{
    struct model *model = forest_model(9);
    struct paths paths;
    (void)state;
    paths_init(&paths);
    const uint32_t length = 300000;
    for (uint32_t i = 0; i < length; i++) {
        big_nodes[i] = (struct tree_node){20 + i, i == 0 ? 0 : 19 + i, 16 + i % 2, 1, 0};
        big_sites[i] = of(20 + i, 1);
    }
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = length,
                                          .nodes = big_nodes,
                                          .node_count = length,
                                          .sites = big_sites,
                                          .site_count = length}));
    for (int shape = PATHS_CALLERS; shape <= PATHS_FLAT; shape++) {
        for (int own = 0; own < 2; own++) {
            struct paths_work before = paths.work;
            double from = milliseconds();
            set(&paths, (enum paths_shape)shape, own == 1);
            paths_fold_level(&paths, UINT32_MAX);
            assert_true(paths_update(&paths, model_tree(model, ORDER)));
            since("one path", from);
            assert_true(paths.work.candidates - before.candidates <= PATHS_WORK_MAX);
        }
    }
    paths_destroy(&paths);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_the_largest_path_down_to_its_allocating_line),
        cmocka_unit_test(shows_every_frame_when_asked),
        cmocka_unit_test(shows_the_allocating_lines_first),
        cmocka_unit_test(shows_each_place_once),
        cmocka_unit_test(filters_to_hits_and_the_way_to_them),
        cmocka_unit_test(puts_what_is_below_the_threshold_into_one_row),
        cmocka_unit_test(counts_nothing_twice_where_a_method_calls_itself),
        cmocka_unit_test(makes_equal_siblings_one_row),
        cmocka_unit_test(keeps_the_order_while_it_is_held_and_finds_rows_again),
        cmocka_unit_test(
            follows_another_path_when_it_is_clearly_larger_and_nobody_navigates),
        cmocka_unit_test(keeps_what_is_unfolded_over_new_data_and_connections),
        cmocka_unit_test(does_nothing_when_nothing_changed),
        cmocka_unit_test(tells_whose_code_a_path_is),
        cmocka_unit_test(shows_what_it_could_when_memory_runs_out),
        cmocka_unit_test(stays_fluid_with_a_million_nodes),
        cmocka_unit_test(bounds_its_work_on_a_tree_that_is_one_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
