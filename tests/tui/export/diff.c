#include "tui/export/diff.h"

#include "tests/tui/model/pairs.h"
#include "tui/model/diff_paths.h"
#include "written.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct comparison {
    struct model *before; // owned
    struct model *after;  // owned
    struct diff diff;
    struct diff_choice choice;
};

static bool
write_text(const void *what, FILE *out)
{
    const struct comparison *comparison = what;
    return diff_write_text(&comparison->diff, comparison->choice, out);
}

static bool
write_json(const void *what, FILE *out)
{
    const struct comparison *comparison = what;
    return diff_write_json(&comparison->diff, comparison->choice, out);
}

// Takes the models over.
static struct comparison
compare(struct model *before, struct model *after)
{
    struct comparison comparison = {.before = before, .after = after};
    assert_true(before != NULL && after != NULL);
    assert_true(diff_init(&comparison.diff, before, after));
    return comparison;
}

static void
end(struct comparison *comparison)
{
    diff_destroy(&comparison->diff);
    model_free(comparison->before);
    model_free(comparison->after);
}

static const struct pairs_class one[] = {
    {"String", 1, 0,              1000, 40000        },
    {"Hash",   2, 0,              50,   2000         },
    {"Array",  3, 0,              70,   2800         },
    {"Gone",   4, 0,              9,    360          },
    {"(iseq)", 5, CLASS_INTERNAL, 10,   100          },
    {"Wide",   6, 0,              3,    120          },
    {"Same",   7, 0,              8,    320          },
    {"Odd",    8, 0,              8,    COUNT_UNKNOWN},
};

static const struct pairs_class other[] = {
    {"String", 1, 0,              1500, 60000        },
    {"Hash",   2, 0,              51,   2040         },
    {"Array",  3, 0,              30,   1200         },
    {"(iseq)", 5, CLASS_INTERNAL, 900,  9000         },
    {"Wide",   6, 0,              3,    7000         },
    {"Same",   7, 0,              8,    320          },
    {"Odd",    8, 0,              12,   COUNT_UNKNOWN},
    {"New",    9, 0,              7,    280          },
};

static struct comparison
many(void)
{
    return compare(pairs_model(1, 100, one, COUNT(one)),
                   pairs_model(1, 160, other, COUNT(other)));
}

/* Text. */

static void
reads_like_this(void **state)
{
    struct comparison comparison = many();

    (void)state;
    written_expect(
        write_text, &comparison,
        "before   1970-01-01T00:01:40Z  process 1: ruby app.rb\n"
        "after    1970-01-01T00:02:40Z  process 1: ruby app.rb\n"
        "between  one process, 60 s, 0 GC runs\n"
        "totals   live +1353 (1158 -> 2511), bytes - (- -> -)\n"
        "classes  1 added, 4 grown, 1 shrunk, 1 gone, 1 unchanged, 0 unknown\n"
        "\n"
        "added\n"
        "      CHANGE       BEFORE        AFTER        +-BYTES    +-ALLOCATED  CLASS\n"
        "          +7            0            7           +280            +14  New\n"
        "\n"
        "grown\n"
        "      CHANGE       BEFORE        AFTER        +-BYTES    +-ALLOCATED  CLASS\n"
        "        +500         1000         1500         +20000          +1000  String\n"
        "          +4            8           12              -             +8  Odd\n"
        "          +1           50           51            +40             +2  Hash\n"
        "           0            3            3          +6880              0  Wide\n"
        "\n"
        "shrunk\n"
        "      CHANGE       BEFORE        AFTER        +-BYTES    +-ALLOCATED  CLASS\n"
        "         -40           70           30          -1600            -80  Array\n"
        "\n"
        "gone\n"
        "      CHANGE       BEFORE        AFTER        +-BYTES    +-ALLOCATED  CLASS\n"
        "          -9            9            0           -360            -18  Gone\n");
    end(&comparison);
}

static void
shows_the_paths_of_what_grew_from_the_callers_on(void **state)
{
    struct comparison comparison = compare(pairs_shop_before(), pairs_shop_after(0));

    (void)state;
    written_expect_words(
        write_text, &comparison,
        "\npaths of Order, +500\n"
        "      CHANGE       +-       BEFORE        AFTER  PATH\n"
        "        +500        0          100          600  Order\n"
        "        +460        0           90          550    <main>  "
        "/srv/shop/server.rb:5\n"
        "        +460        0           90          550      Rack::Stack#call  "
        "/usr/lib/gems/rack-2.2.4/lib/rack/stack.rb:30\n"
        "        +480        0           60          540        block in "
        "OrdersApp#create  /srv/shop/app/orders.rb:22\n"
        "        +480        0           60          540          Cache#fetch  "
        "/srv/shop/app/cache.rb:9\n"
        "         -20        0           30           10        OrdersApp#create  "
        "/srv/shop/app/orders.rb:25\n"
        "         +40        0            0           40    <main>  "
        "/srv/shop/server.rb:7\n");
    comparison.choice.paths = 1;
    char *text = written_text(write_text, &comparison);
    const char *at = strstr(text, "/srv/shop/app/cache.rb:9\n");
    assert_string_equal(at, "/srv/shop/app/cache.rb:9\n"
                            "                                                 "
                            "… 2 more\n");
    free(text);
    end(&comparison);
}

static void
says_that_a_line_moved_since_the_other_program(void **state)
{
    struct comparison comparison = compare(pairs_shop_before(), pairs_shop_after(3));

    (void)state;
    written_expect_words(write_text, &comparison, "between  two processes, 300 s\n");
    written_expect_words(write_text, &comparison,
                         "/srv/shop/app/cache.rb:12 (moved from line 9)\n");
    json_t *document = written_json(write_json, &comparison);
    written_expect_number(document, "classes.0.paths.sites.0.stack.3.line", 12);
    written_expect_number(document, "classes.0.paths.sites.0.stack.3.moved_from", 9);
    written_expect_null(document, "classes.0.paths.sites.0.stack.0.moved_from");
    json_decref(document);
    end(&comparison);
}

// A model in which objects of "Order" come from below three frames of gems.
static struct model *
through_gems(uint64_t live)
{
    static const struct tree_node nodes[] = {
        {20, 0,  16, 1, 0},
        {21, 20, 17, 2, 0},
        {22, 21, 18, 0, 0}, // in C, called by a gem
        {23, 22, 19, 4, 0},
        {24, 23, 20, 5, 0},
        {25, 24, 21, 0, 0}, // in C, called by the program
    };
    const struct tree_site site = pairs_site(25, 0, live);
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(1, 100, &order, 1);
    assert_true(
        pairs_frame(model, 16, "spawn", "/g/gems/puma-6.0.2/lib/puma/pool.rb", 1));
    assert_true(pairs_frame(model, 17, "call", "/g/gems/rack-2.2.4/lib/rack.rb", 1));
    assert_true(pairs_frame(model, 18, "Kernel#catch", "", 0));
    assert_true(pairs_frame(model, 19, "run", "/g/gems/puma-6.0.2/lib/puma/x.rb", 1));
    assert_true(pairs_frame(model, 20, "Cart#add", "/srv/app/cart.rb", 1));
    assert_true(pairs_frame(model, 21, "Array#map", "", 0));
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live,
                                         .nodes = nodes,
                                         .node_count = 6,
                                         .sites = &site,
                                         .site_count = 1}));
    return model;
}

static void
frames_of_gems_on_the_way_share_a_row(void **state)
{
    struct comparison comparison = compare(through_gems(5), through_gems(9));

    (void)state;
    written_expect_words(
        write_text, &comparison,
        "          +4        0            5            9  Order\n"
        "          +4        0            5            9    … 4 frames in puma, rack\n"
        "          +4        0            5            9      Cart#add  "
        "/srv/app/cart.rb:5\n"
        "          +4        0            5            9        Array#map\n");
    json_t *document = written_json(write_json, &comparison);
    const json_t *stack = written_at(document, "classes.0.paths.sites.0.stack");
    assert_int_equal(json_array_size(stack), 6); // machines get all of it
    written_expect_string(stack, "0.label", "spawn");
    written_expect_string(stack, "5.label", "Array#map");
    written_expect_null(stack, "5.path");
    written_expect_null(stack, "5.line");
    json_decref(document);
    end(&comparison);
}

// Frames of the program alone, so that none are folded.
static struct model *
random_tree(uint64_t *random, uint32_t id)
{
    struct tree_node nodes[120];
    struct tree_site sites[120];
    uint32_t count = 1 + (uint32_t)pairs_random(random, COUNT(nodes) - 1);
    uint64_t live = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = (uint32_t)pairs_random(random, i + 1);
        nodes[i] = (struct tree_node){id + i + 1, parent > 0 ? id + parent : 0, 16,
                                      1 + (uint32_t)pairs_random(random, 5), 0};
        sites[i] = pairs_site(id + i + 1, 0, pairs_random(random, 3));
        live += sites[i].live;
    }
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(1, 100, &order, 1);
    assert_true(pairs_frame(model, 16, "run", "/app.rb", 1));
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live,
                                         .nodes = nodes,
                                         .node_count = count,
                                         .sites = sites,
                                         .site_count = count}));
    return model;
}

// Rows that have to be there: what changed, and everything above it.
static size_t
rows_of(const struct diff *diff)
{
    struct diff_paths paths;
    size_t rows = 1;
    assert_true(diff_paths_init(&paths, diff, &diff->classes[0], DIFF_OF_OBJECTS));
    bool *above = calloc(paths.node_count + 1u, sizeof *above);
    if (above == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < paths.site_count; i++) {
        uint32_t node = paths.sites[i].change != 0 ? paths.sites[i].node : 0;
        for (; node != 0 && !above[node]; node = paths.nodes[node].parent) {
            above[node] = true;
            rows++;
        }
    }
    free(above);
    diff_paths_destroy(&paths);
    return rows;
}

static size_t
lines_below(const char *text, const char *head)
{
    const char *found = strstr(text, head);
    size_t lines = 0;
    for (const char *at = found != NULL ? found : ""; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    return lines > 0 ? lines - 1 : 0; // the head ends with one
}

static void
every_path_that_changed_is_there_with_its_callers(void **state)
{
    uint64_t random = 23;
    unsigned checked = 0;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct comparison comparison =
            compare(random_tree(&random, 100), random_tree(&random, 900));
        char *text = written_text(write_text, &comparison);
        size_t rows = lines_below(text, "AFTER  PATH\n");
        if (comparison.diff.classes[0].change.live > 0) {
            assert_int_equal(rows, rows_of(&comparison.diff));
            checked++;
        }
        free(text);
        end(&comparison);
    }
    assert_true(checked > 10);
}

static struct model *
sampled(uint64_t live, uint64_t samples, uint64_t others)
{
    static const struct tree_node nodes[] = {
        {20, 0, 16, 5, 0},
        {21, 0, 16, 9, 0},
    };
    const struct tree_site sites[] = {pairs_site(20, 6, samples),
                                      pairs_site(21, 6, others)};
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(1, 100, &order, 1);
    assert_true(pairs_frame(model, 16, "run", "/app.rb", 1));
    assert_true(pairs_tree(model, PAIRS_ORDER,
                           (struct tree){.live = live,
                                         .shift = 6,
                                         .unsampled_live = live - samples - others,
                                         .nodes = nodes,
                                         .node_count = 2,
                                         .sites = sites,
                                         .site_count = 2}));
    return model;
}

static void
estimates_say_how_sure_they_are(void **state)
{
    struct comparison comparison =
        compare(sampled(6400, 50, 50), sampled(12800, 148, 52));

    (void)state;
    written_expect_words(write_text, &comparison,
                         "\npaths of Order, +6400, sampled: estimates, +- 95 %\n");
    written_expect_words(write_text, &comparison, "  run  /app.rb:5\n");
    written_expect_words(write_text, &comparison,
                         "  run  /app.rb:9  (not significant)\n");
    json_t *document = written_json(write_json, &comparison);
    const json_t *sites = written_at(document, "classes.0.paths.sites");
    assert_true(json_is_false(written_at(document, "classes.0.paths.exact")));
    assert_true(json_is_true(written_at(sites, "0.significant")));
    assert_true(json_is_false(written_at(sites, "1.significant")));
    assert_true(json_number_value(written_at(sites, "0.change.error")) > 600);
    json_decref(document);
    end(&comparison);
}

static void
says_that_there_were_no_stacks_to_compare_with(void **state)
{
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 100, 4000};
    struct comparison comparison =
        compare(pairs_model(4120, 100, &order, 1), pairs_shop_after(0));

    (void)state;
    written_expect_words(
        write_text, &comparison,
        "\npaths of Order, +500: no stacks were taken before, paths are of what there "
        "is after\n"
        "      CHANGE       +-       BEFORE        AFTER  PATH\n"
        "           -        -            -          600  Order\n");
    json_t *document = written_json(write_json, &comparison);
    const json_t *paths = written_at(document, "classes.0.paths");
    assert_true(json_is_false(written_at(paths, "known_before")));
    written_expect_string(paths, "sites.0.kind", "unknown");
    written_expect_null(paths, "sites.0.change.live");
    written_expect_null(paths, "sites.0.before.live");
    written_expect_number(paths, "sites.0.after.live", 540);
    json_decref(document);
    end(&comparison);
}

static void
a_section_ends_with_how_many_more_there_are(void **state)
{
    struct comparison comparison = many();

    (void)state;
    comparison.choice.top = 1;
    char *text = written_text(write_text, &comparison);
    assert_non_null(strstr(text, "  String\n"));
    assert_null(strstr(text, "  Odd\n"));
    assert_non_null(strstr(text, "… 3 more\n"));
    free(text);
    json_t *document = written_json(write_json, &comparison);
    assert_int_equal(json_array_size(written_at(document, "classes")), 4);
    written_expect_number(document, "left_out", 3);
    json_decref(document);
    end(&comparison);
}

static void
internal_types_are_for_those_who_ask(void **state)
{
    struct comparison comparison = many();

    (void)state;
    char *text = written_text(write_text, &comparison);
    assert_null(strstr(text, "(iseq)"));
    free(text);
    comparison.choice.all = true;
    written_expect_words(write_text, &comparison, "classes  1 added, 5 grown");
    written_expect_words(write_text, &comparison, "+8900          +1780  (iseq)\n");
    end(&comparison);
}

static void
models_of_nothing_have_no_difference(void **state)
{
    struct comparison comparison = compare(model_new(), model_new());

    (void)state;
    written_expect(write_text, &comparison,
                   "before   -  process 0: \n"
                   "after    -  process 0: \n"
                   "between  two processes\n"
                   "totals   live - (- -> -), bytes - (- -> -)\n"
                   "classes  0 added, 0 grown, 0 shrunk, 0 gone, 0 unchanged, "
                   "0 unknown\n");
    json_t *document = written_json(write_json, &comparison);
    written_expect_null(document, "seconds");
    written_expect_null(document, "totals.change.live");
    json_decref(document);
    end(&comparison);
}

/* JSON. */

// What scripts rely on; add to it, take nothing away.
static void
has_every_name_that_was_promised(void **state)
{
    static const char *const names[] = {
        "before.pid",
        "before.command",
        "before.ruby",
        "before.started",
        "before.time",
        "before.gc_count",
        "after.pid",
        "same_process",
        "seconds",
        "totals.before.live",
        "totals.after.bytes",
        "totals.change.allocated",
        "kinds.added",
        "kinds.grown",
        "kinds.shrunk",
        "kinds.gone",
        "kinds.unchanged",
        "kinds.unknown",
        "left_out",
        "classes.0.name",
        "classes.0.kind",
        "classes.0.before.live",
        "classes.0.before.bytes",
        "classes.0.before.allocated",
        "classes.0.before.classes",
        "classes.0.after.classes",
        "classes.0.change.live",
        "classes.0.change.bytes",
        "classes.0.change.allocated",
        "classes.0.internal",
        "classes.0.anonymous",
        "classes.0.paths.measure",
        "classes.0.paths.known_before",
        "classes.0.paths.known_after",
        "classes.0.paths.exact",
        "classes.0.paths.cut",
        "classes.0.paths.left_out",
        "classes.0.paths.sites.0.kind",
        "classes.0.paths.sites.0.significant",
        "classes.0.paths.sites.0.before.live",
        "classes.0.paths.sites.0.after.bytes",
        "classes.0.paths.sites.0.change.allocated",
        "classes.0.paths.sites.0.change.error",
        "classes.0.paths.sites.0.stack.0.label",
        "classes.0.paths.sites.0.stack.0.path",
        "classes.0.paths.sites.0.stack.0.line",
        "classes.0.paths.sites.0.stack.0.moved_from",
    };
    struct comparison comparison = compare(pairs_shop_before(), pairs_shop_after(0));
    json_t *document = written_json(write_json, &comparison);

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_non_null(written_at(document, names[i]));
    }
    written_expect_string(document, "classes.0.kind", "grown");
    written_expect_number(document, "classes.0.change.live", 500);
    written_expect_number(document, "classes.0.paths.sites.0.change.live", 480);
    written_expect_number(document, "classes.0.paths.sites.0.change.bytes", 19200);
    written_expect_number(document, "seconds", 300);
    json_decref(document);
    end(&comparison);
}

static void
every_class_that_changed_is_there_once(void **state)
{
    static const char *const wanted[] = {"String", "Array", "Gone", "New",
                                         "Odd",    "Hash",  "Wide"};
    struct comparison comparison = many();
    json_t *document = written_json(write_json, &comparison);
    const json_t *classes = written_at(document, "classes");

    (void)state;
    assert_int_equal(json_array_size(classes), COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const json_t *class = json_array_get(classes, i);
        written_expect_string(class, "name", wanted[i]);
        written_expect_null(class, "paths");
    }
    written_expect_null(classes, "4.change.bytes");
    written_expect_null(document, "totals.before.bytes");
    json_decref(document);
    end(&comparison);
}

static void
figures_beyond_what_json_holds_are_null(void **state)
{
    static const struct pairs_class huge = {"A", 1, 0, UINT64_MAX - 1, 0};
    struct comparison comparison =
        compare(pairs_model(1, 100, &huge, 1), pairs_model(1, 160, &huge, 0));
    json_t *document = written_json(write_json, &comparison);

    (void)state;
    written_expect_null(document, "classes.0.before.live");
    written_expect_number(document, "classes.0.change.live", -INT64_MAX);
    json_decref(document);
    end(&comparison);
}

/* Names. */

static void
nothing_in_a_name_reaches_the_terminal_as_it_is(void **state)
{
    static const struct pairs_class evil = {"Bad\033[2J\n\xff\"\\", PAIRS_ORDER, 0, 5,
                                            200};
    static const struct tree_node node = {20, 0, 16, 5, 0};
    const struct tree_site site = pairs_site(20, 0, 5);
    struct model *after = pairs_model(1, 160, &evil, 1);

    (void)state;
    assert_true(
        pairs_frame(after, 16, "a\033[2J\xe2\x80\xae", "/srv/\033]0;x\007\n.rb", 1));
    assert_true(pairs_tree(after, PAIRS_ORDER,
                           (struct tree){.live = 5,
                                         .nodes = &node,
                                         .node_count = 1,
                                         .sites = &site,
                                         .site_count = 1}));
    struct comparison comparison = compare(pairs_model(1, 100, one, 1), after);
    written_expect_words(write_text, &comparison, "  Bad\\x1B[2J\\x0A\\xFF\"\\\n");
    written_expect_words(write_text, &comparison,
                         "  a\\x1B[2J\\u{202e}  /srv/\\x1B]0;x\\x07\\x0A.rb:5\n");
    json_t *document = written_json(write_json, &comparison);
    written_expect_string(document, "classes.1.name", "Bad\\x1B[2J\\x0A\\xFF\"\\");
    json_decref(document);
    end(&comparison);
}

// Of two bytes a character: wherever it is cut, for one of the two it is in a character.
static void
a_name_without_end_is_cut_between_characters(void **state)
{
    static char label[10002];
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 5, 200};
    static const struct tree_node node = {20, 0, 16, 5, 1};
    const struct tree_site site = pairs_site(20, 0, 5);

    (void)state;
    for (size_t odd = 0; odd < 2; odd++) {
        memset(label, 'x', sizeof label);
        for (size_t i = odd; i + 1 < sizeof label - 1; i += 2) {
            memcpy(label + i, "\xc3\xa9", 2);
        }
        label[sizeof label - 1] = '\0';
        struct model *after = pairs_model(1, 160, &order, 1);
        assert_true(pairs_frame(after, 16, label, "/a.rb", 1));
        assert_true(pairs_tree(after, PAIRS_ORDER,
                               (struct tree){.live = 5,
                                             .nodes = &node,
                                             .node_count = 1,
                                             .sites = &site,
                                             .site_count = 1}));
        struct comparison comparison = compare(pairs_model(1, 100, one, 1), after);
        json_decref(written_json(write_json, &comparison));
        char *text = written_text(write_text, &comparison);
        assert_null(strstr(text, "\xc3 "));
        free(text);
        end(&comparison);
    }
}

static void
a_class_whose_name_never_came_is_called_so(void **state)
{
    static const struct pairs_class nameless = {NULL, 3, 0, 5, 200};
    struct comparison comparison =
        compare(pairs_model(1, 100, &nameless, 0), pairs_model(1, 160, &nameless, 1));

    (void)state;
    written_expect_words(write_text, &comparison, "  (no name yet)\n");
    end(&comparison);
}

// Deeper than a terminal is wide, and than a document should be.
static void
a_stack_without_end_is_bounded(void **state)
{
    static struct tree_node nodes[6000];
    struct model *models[2];

    (void)state;
    for (uint32_t i = 0; i < COUNT(nodes); i++) {
        nodes[i] = (struct tree_node){20 + i, i > 0 ? 19 + i : 0, 16, 1 + i, 0};
    }
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t live = 5 + i;
        const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 0};
        const struct tree_site site = pairs_site(19 + COUNT(nodes), 0, live);
        models[i] = pairs_model(1, 100 + i, &order, 1);
        assert_true(pairs_frame(models[i], 16, "run", "/a.rb", 1));
        assert_true(pairs_tree(models[i], PAIRS_ORDER,
                               (struct tree){.live = live,
                                             .nodes = nodes,
                                             .node_count = COUNT(nodes),
                                             .sites = &site,
                                             .site_count = 1}));
    }
    struct comparison comparison = compare(models[0], models[1]);
    json_t *document = written_json(write_json, &comparison);
    const json_t *stack = written_at(document, "classes.0.paths.sites.0.stack");
    assert_int_equal(json_array_size(stack), 4096);
    written_expect_number(stack, "4095.line", 6000); // the innermost is there
    json_decref(document);
    char *text = written_text(write_text, &comparison);
    assert_non_null(strstr(text, "  run  /a.rb:6000\n"));
    free(text);
    end(&comparison);
}

/* Streams, memory. */

static void
says_so_when_the_stream_is_full(void **state)
{
    struct comparison comparison = compare(pairs_shop_before(), pairs_shop_after(3));

    (void)state;
    written_fails_on_a_full_disk(write_text, &comparison);
    written_fails_on_a_full_disk(write_json, &comparison);
    end(&comparison);
}

static void
says_so_when_memory_runs_out(void **state)
{
    struct comparison comparison = compare(pairs_shop_before(), pairs_shop_after(3));

    (void)state;
    written_all_or_nothing(write_text, &comparison);
    written_all_or_nothing(write_json, &comparison);
    end(&comparison);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_this),
        cmocka_unit_test(shows_the_paths_of_what_grew_from_the_callers_on),
        cmocka_unit_test(says_that_a_line_moved_since_the_other_program),
        cmocka_unit_test(frames_of_gems_on_the_way_share_a_row),
        cmocka_unit_test(every_path_that_changed_is_there_with_its_callers),
        cmocka_unit_test(estimates_say_how_sure_they_are),
        cmocka_unit_test(says_that_there_were_no_stacks_to_compare_with),
        cmocka_unit_test(a_section_ends_with_how_many_more_there_are),
        cmocka_unit_test(internal_types_are_for_those_who_ask),
        cmocka_unit_test(models_of_nothing_have_no_difference),
        cmocka_unit_test(has_every_name_that_was_promised),
        cmocka_unit_test(every_class_that_changed_is_there_once),
        cmocka_unit_test(figures_beyond_what_json_holds_are_null),
        cmocka_unit_test(nothing_in_a_name_reaches_the_terminal_as_it_is),
        cmocka_unit_test(a_name_without_end_is_cut_between_characters),
        cmocka_unit_test(a_class_whose_name_never_came_is_called_so),
        cmocka_unit_test(a_stack_without_end_is_bounded),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
