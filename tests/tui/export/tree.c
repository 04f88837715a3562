#include "tui/export/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "trees.h"

/* Text. */

static void
reads_like_this(void **state)
{
    struct model *model = trees_exact();

    (void)state;
    trees_expect_text(
        model,
        "time     1970-01-01T00:01:40Z\n"
        "class    Order, live 150\n"
        "stacks   since 1970-01-01T00:01:30Z, exact, depth 64\n"
        "\n"
        "        LIVE       +-    SHARE        BYTES  PATH\n"
        "         150        0  100.0 %         6000  Order\n"
        "         126        0   84.0 %         5040    block in spawn  "
        "puma/pool.rb:106\n"
        "         126        0   84.0 %         5040      Rack::Stack#call  "
        "rack/stack.rb:30\n"
        "         100        0   66.7 %         4000        OrdersApp#create  "
        "app/orders.rb:22\n"
        "         100        0   66.7 %         4000          Cache#fetch  "
        "app/cache.rb:9\n"
        "          20        0   13.3 %          800            Hash#fetch\n"
        "          25        0   16.7 %         1000        OrdersApp#show  "
        "app/orders.rb:31\n"
        "          25        0   16.7 %         1000          JSON.parse  "
        "json/common.rb:12\n"
        "           1        0    0.7 %           40        JSON.parse  "
        "json/common.rb:12\n"
        "          14        0    9.3 %          560    <main>  app/server.rb:5\n"
        "          14        0    9.3 %          560      Cache#fetch  app/cache.rb:9\n"
        "          10        0    6.7 %          400    (before tracing)\n");
    model_free(model);
}

static void
sampled_figures_say_how_sure_they_are(void **state)
{
    struct model *model = trees_sampled();

    (void)state;
    trees_expect_text(
        model,
        "time     1970-01-01T00:01:40Z\n"
        "class    Order, live 1000\n"
        "stacks   since 1970-01-01T00:01:30Z, sampled: live is an estimate, +- 95 %, "
        "depth 64\n"
        "rate     one stack of 8 is taken now\n"
        "\n"
        "        LIVE       +-    SHARE        BYTES  PATH\n"
        "        1000        0  100.0 %            -  Order\n"
        "         900       72   90.0 %            -    <main>  /srv/app.rb:5\n"
        "         262      126   26.2 %            -      block in Cart#add  "
        "/srv/cart.rb:9\n"
        "         100        0   10.0 %            -    (before tracing)\n");
    model_free(model);
}

static void
paths_below_a_thousandth_share_a_row(void **state)
{
    static const struct tree_node nodes[] = {
        {20, 0, 16, 5, 0},
        {21, 0, 17, 9, 0},
        {22, 0, 18, 3, 0},
        {23, 0, 19, 4, 0},
    };
    static const struct tree_site sites[] = {
        {20, 0, 9988, 0, COUNT_UNKNOWN, {0}},
        {21, 0, 10,   0, COUNT_UNKNOWN, {0}}, // a thousandth is enough
        {22, 0, 1,    0, COUNT_UNKNOWN, {0}},
        {23, 0, 1,    0, COUNT_UNKNOWN, {0}},
    };
    struct model *model = forest_model(10000);

    (void)state;
    for (uint32_t frame = 16; frame < 20; frame++) {
        char label[8];
        snprintf(label, sizeof(label), "m%u", (unsigned)frame);
        assert_true(forest_frame(model, frame, label, "/app.rb", 0));
    }
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = 10000,
                                          .nodes = nodes,
                                          .node_count = 4,
                                          .sites = sites,
                                          .site_count = 4}));
    trees_expect_words(model, "    m16  /app.rb:5\n");
    trees_expect_words(model, "    m17  /app.rb:9\n");
    trees_expect_words(model,
                       "           2        0    0.0 %            -    … 2 more paths\n");
    json_t *document = trees_document(model);
    assert_int_equal(json_array_size(json_object_get(document, "nodes")), 4);
    json_decref(document);
    model_free(model);
}

static void
says_that_stacks_were_not_taken_or_found_no_room(void **state)
{
    struct model *model = trees_shop((struct tree){.since_us = COUNT_UNKNOWN});

    (void)state;
    trees_expect_words(model, "\nstacks   none were taken yet\n");
    model_free(model);
    model = trees_shop((struct tree){.since_us = SINCE, .depth = 64, .flags = TREE_FULL});
    trees_expect_words(model, "exact, depth 64; room for paths is used up\n");
    model_free(model);
}

static void
shows_what_there_was_no_room_for_as_a_row_of_its_own(void **state)
{
    const struct tree_site site = {
        FRAME_OTHER, 0, 7, 7, 280, {7, 0, 0, 0}
    };
    struct model *model = forest_model(7);

    (void)state;
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = 7,
                                          .flags = TREE_FULL,
                                          .sites = &site,
                                          .site_count = 1}));
    trees_expect_words(model, "           7        0  100.0 %          280    (other)\n");
    json_t *document = trees_document(model);
    assert_int_equal(trees_whole(trees_node(document, "(other)"), "self_live"), 7);
    assert_int_equal(trees_whole(document, "traced"), 7);
    json_decref(document);
    model_free(model);
}

static void
a_class_without_objects_has_no_odd_figures(void **state)
{
    struct model *model = trees_single(0, "<main>", "/srv/app.rb");

    (void)state;
    char *text = trees_text(model);
    assert_non_null(strstr(text, "           0        0    0.0 %            0  Order\n"));
    assert_null(strstr(text, "nan"));
    free(text);
    json_t *document = trees_document(model);
    assert_int_equal(trees_whole(document, "traced"), 0);
    json_decref(document);
    model_free(model);
}

static void
figures_that_nobody_sent_are_not_made_up(void **state)
{
    struct model *model = forest_shop();

    (void)state;
    assert_true(forest_tree(model, 101,
                            (struct tree){.live = COUNT_UNKNOWN,
                                          .since_us = SINCE,
                                          .depth = COUNT_UNKNOWN,
                                          .unsampled_live = COUNT_UNKNOWN,
                                          .unsampled_allocated = COUNT_UNKNOWN}));
    trees_expect_words(model, "class    Order, live -\n");
    trees_expect_words(model, "exact, depth -\n");
    json_t *document = trees_document(model);
    assert_true(json_is_null(json_object_get(document, "live")));
    assert_int_equal(trees_whole(document, "traced"), 140);
    json_decref(document);
    model_free(model);
}

/* Names. */

static void
nothing_in_a_name_reaches_the_terminal_as_it_is(void **state)
{
    struct model *model =
        trees_single(5, "a\033[2J\nb\xff\xe2\x80\xae", "/srv/\033]0;x\007\n.rb");

    (void)state;
    trees_expect_words(
        model, "    a\\x1B[2J\\x0Ab\\xFF\\u{202e}  /srv/\\x1B]0;x\\x07\\x0A.rb:5\n");
    json_t *document = trees_document(model);
    const json_t *node = json_array_get(json_object_get(document, "nodes"), 0);
    assert_string_equal(json_string_value(json_object_get(node, "label")),
                        "a\\x1B[2J\\x0Ab\\xFF\\u{202e}");
    assert_string_equal(json_string_value(json_object_get(node, "path")),
                        "/srv/\\x1B]0;x\\x07\\x0A.rb");
    json_decref(document);
    model_free(model);
}

// Of two bytes a character: wherever it is cut, for one of the two it is in a character.
static void
a_name_without_end_is_cut_between_characters(void **state)
{
    static char label[10002];

    (void)state;
    for (size_t odd = 0; odd < 2; odd++) {
        memset(label, 'x', sizeof(label));
        for (size_t i = odd; i + 1 < sizeof(label) - 1; i += 2) {
            memcpy(label + i, "\xc3\xa9", 2);
        }
        label[sizeof(label) - 1] = '\0';
        struct model *model = trees_single(5, label, "/srv/app.rb");
        json_decref(trees_document(model));
        char *text = trees_text(model);
        assert_null(strstr(text, "\xc3 "));
        free(text);
        model_free(model);
    }
}

static void
a_frame_without_a_name_or_a_place_is_shown(void **state)
{
    struct model *model = trees_single(5, "", "");

    (void)state;
    trees_expect_words(model, "    (no name yet)\n");
    json_t *document = trees_document(model);
    const json_t *node = trees_node(document, "(no name yet)");
    assert_true(json_is_null(json_object_get(node, "path")));
    json_decref(document);
    model_free(model);
}

/* Streams. */

static void
says_so_when_the_stream_is_full(void **state)
{
    struct model *model = trees_exact();
    const struct tree_model *tree = model_tree(model, ORDER);
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    assert_false(tree_write_text(model, trees_class(model), tree, full));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
    full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    assert_false(tree_write_json(trees_class(model), tree, full));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
    model_free(model);
}

/* Out of memory. */

// Written without memory from the N-th allocation on, for each N: all or nothing.
static void
expect_all_or_nothing(const struct model *model, bool json)
{
    const struct tree_model *tree = model_tree(model, ORDER);
    bool done = false;

    for (int allowed = 0; !done && allowed < 5000; allowed++) {
        FILE *out = fopen("/dev/null", "w");
        assert_non_null(out);
        errno = 0;
        memory_allow(allowed);
        done = json ? tree_write_json(trees_class(model), tree, out)
                    : tree_write_text(model, trees_class(model), tree, out);
        int error = errno;
        memory_allow(-1);
        fclose(out);
        assert_true(done || error == ENOMEM);
    }
    assert_true(done);
}

static void
says_so_when_memory_runs_out(void **state)
{
    struct model *model = trees_exact();

    (void)state;
    json_set_alloc_funcs(malloc, free);
    expect_all_or_nothing(model, false);
    expect_all_or_nothing(model, true);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_this),
        cmocka_unit_test(sampled_figures_say_how_sure_they_are),
        cmocka_unit_test(paths_below_a_thousandth_share_a_row),
        cmocka_unit_test(says_that_stacks_were_not_taken_or_found_no_room),
        cmocka_unit_test(shows_what_there_was_no_room_for_as_a_row_of_its_own),
        cmocka_unit_test(a_class_without_objects_has_no_odd_figures),
        cmocka_unit_test(figures_that_nobody_sent_are_not_made_up),
        cmocka_unit_test(nothing_in_a_name_reaches_the_terminal_as_it_is),
        cmocka_unit_test(a_name_without_end_is_cut_between_characters),
        cmocka_unit_test(a_frame_without_a_name_or_a_place_is_shown),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
