#include "tui/export/html.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>

#include "examples.h"
#include "night.h"
#include "tests/tui/memory.h"
#include "trees.h"

#define HOSTILE                                                                          \
    "</script></title></style><img src=x onerror=\"alert(1)\">'&amp;<!--]]>\xff\xe2\x80"

static const struct html_series nothing = {.source = NULL};

static char *
written(const struct model *model, const struct html_series *series)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_true(html_write(model, series, out));
    fclose(out);
    assert_int_equal(strlen(text), length);
    return text;
}

// What an XML parser makes of it, within its ordinary limits; not well-formed fails here.
static xmlDocPtr
parsed(const char *text)
{
    xmlDocPtr document =
        xmlReadMemory(text, (int)strlen(text), NULL, "UTF-8", XML_PARSE_NONET);

    assert_non_null(document);
    return document;
}

static xmlDocPtr
report(const struct model *model, const struct html_series *series)
{
    char *text = written(model, series);
    xmlDocPtr document = parsed(text);

    free(text);
    return document;
}

static size_t
count(xmlDocPtr document, const char *path)
{
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, context);

    assert_non_null(found);
    size_t nodes = found->nodesetval ? (size_t)found->nodesetval->nodeNr : 0;
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
    return nodes;
}

// Text of the first node there; the caller frees it.
static char *
text_at(xmlDocPtr document, const char *path)
{
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, context);

    assert_non_null(found);
    assert_true(found->nodesetval && found->nodesetval->nodeNr > 0);
    xmlChar *content = xmlNodeGetContent(found->nodesetval->nodeTab[0]);
    char *text = strdup((const char *)content);
    xmlFree(content);
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
    return text;
}

static void
expect_words(xmlDocPtr document, const char *path, const char *words)
{
    char *text = text_at(document, path);

    if (!strstr(text, words)) {
        fail_msg("no \"%s\" in \"%s\"", words, text);
    }
    free(text);
}

/* What is in it. */

static void
a_night_is_told_from_head_to_foot(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 500));
    xmlDocPtr document = report(night.model, &night.series);
    expect_words(document, "//h1", "puma 5.6.5 (tcp://127.0.0.1:32845) [shop]");
    expect_words(document, "//header", "14068");
    expect_words(document, "//header", "3.1.2");
    expect_words(document, "//header", "trace");
    expect_words(document, "//header", "345\xe2\x80\xafMiB");
    expect_words(document, "//header", "shop-night.memtop");
    expect_words(document, "//header/p[@class='span']",
                 "2025-12-31 21:58:30 \xe2\x80\x93 2026-01-01 05:58:30 UTC");
    assert_int_equal(count(document, "//section[@id='suspects']//article"), 5);
    expect_words(document, "//section[@id='suspects']//article[3]", "Order leak?");
    expect_words(document, "//section[@id='suspects']//article[3]", "still +10/s");
    expect_words(document, "//section[@id='suspects']//article[3]//li[1]",
                 "Cache#fetch demo/cache.rb:17");
    expect_words(document, "//section[@id='suspects']//article[3]", "older than tracing");
    assert_int_equal(count(document, "//figure[@class='wide']/svg"), 3);
    assert_int_equal(count(document, "//figure[@class='small']/svg"), 9);
    assert_int_equal(count(document, "//article[@class='calls']"), 2);
    assert_int_equal(count(document, "//table[contains(@class, 'classes')]/tbody/tr"),
                     17);
    xmlFreeDoc(document);
    night_destroy(&night);
}

static void
what_is_missing_is_said(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 500));
    xmlDocPtr document = report(night.model, &night.series);
    expect_words(document, "//section[@id='missing']/ul/li[1]",
                 "Gap 2026-01-01 00:28:30 \xe2\x80\x93 00:50:30 "
                 "(22\xe2\x80\xafmin): the connection was lost");
    expect_words(document, "//section[@id='missing']", "3 frames dropped");
    expect_words(document, "//section[@id='missing']", "12 objects miscounted");
    assert_int_equal(count(document, "//figure[@class='wide']//rect[@class='gap']"), 6);
    assert_int_equal(count(document, "//figure[@class='wide']//g[@class='mark']"), 6);
    assert_int_equal(count(document, "//rect[starts-with(@class, 'mode ')]"), 2);
    xmlFreeDoc(document);
    night_destroy(&night);

    struct model *model = example_model();
    document = report(model, &nothing);
    expect_words(document, "//section[@id='missing']", "objspace tracing is on");
    expect_words(document, "//section[@id='missing']", "no name yet");
    xmlFreeDoc(document);
    model_free(model);
}

static void
that_nothing_is_missing_is_said_as_well(void **state)
{
    struct model *model = trees_exact();

    (void)state;
    xmlDocPtr document = report(model, &nothing);
    expect_words(document, "//section[@id='missing']", "Nothing: no gaps");
    xmlFreeDoc(document);
    model_free(model);
}

static void
lines_are_broken_where_nothing_is_known(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 100));
    // a gap that lies between two points, and one that hides some
    xmlDocPtr document = report(night.model, &night.series);
    char *line = text_at(document, "(//path[@class='line'])[1]/@d");
    size_t starts = 0;
    for (const char *at = line; *at; at++) {
        starts += *at == 'M';
    }
    assert_int_equal(starts, 3);
    free(line);
    xmlFreeDoc(document);
    night_destroy(&night);
}

static void
the_largest_path_of_a_tree_is_open(void **state)
{
    struct model *model = trees_exact();

    (void)state;
    xmlDocPtr document = report(model, &nothing);
    expect_words(document, "//div[@class='tree']/details[@open]/summary", "Order");
    char path[512] = "//div[@class='tree']";
    for (int i = 0; i < 3; i++) {
        strcat(path, "/details[@open]");
    }
    strcat(path, "/summary");
    expect_words(document, path, "OrdersApp#create");
    assert_int_equal(count(document, "//details[not(@open)]/summary[@class='row']"), 3);
    assert_int_equal(count(document, "//svg[@class='flame']"), 2);
    expect_words(document, "//svg[@class='flame'][1]/g[1]/title",
                 "Order \xc2\xb7 150 live \xc2\xb7 100.0\xe2\x80\xaf% of the class");
    assert_int_equal(count(document, "//span[@class='n error']"), 0);
    xmlFreeDoc(document);
    model_free(model);
}

static void
sampled_figures_say_how_sure_they_are(void **state)
{
    struct model *model = trees_sampled();

    (void)state;
    xmlDocPtr document = report(model, &nothing);
    expect_words(document, "//article[@class='calls']", "figures are estimates");
    assert_true(count(document, "//span[@class='n error'][contains(., '\xc2\xb1')]") > 1);
    xmlFreeDoc(document);
    model_free(model);
}

static void
times_are_local_and_say_so(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 10));
    setenv("TZ", "Test-5:30", 1);
    tzset();
    xmlDocPtr document = report(night.model, &night.series);
    setenv("TZ", "UTC", 1);
    tzset();
    expect_words(document, "//header/p[@class='span']",
                 "2026-01-01 03:28:30 \xe2\x80\x93 2026-01-01 11:28:30 UTC+05:30");
    expect_words(document, "//header/p[@class='span']",
                 "2025-12-31T21:58:30Z \xe2\x80\x93 2026-01-01T05:58:30Z");
    expect_words(document, "//header//time/@datetime", "2025-12-31T21:58:30Z");
    expect_words(document, "(//text[@class='tick time'])[1]", "04:00");
    xmlFreeDoc(document);
    night_destroy(&night);
}

static void
the_same_gives_the_same_bytes(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 50));
    char *once = written(night.model, &night.series);
    char *again = written(night.model, &night.series);
    assert_string_equal(once, again);
    free(once);
    free(again);
    night_destroy(&night);
}

/* Little, nothing, much. */

static void
an_empty_model_is_a_page_that_says_so(void **state)
{
    struct model *model = model_new();

    (void)state;
    xmlDocPtr document = report(model, &nothing);
    expect_words(document, "//header", "No sample came.");
    expect_words(document, "//section[@id='missing']", "there are no figures at all");
    expect_words(document, "//section[@id='charts']", "no samples");
    expect_words(document, "//section[@id='classes']", "No class was counted");
    expect_words(document, "//section[@id='trees']", "No class was traced");
    expect_words(document, "//section[@id='suspects']", "not judged yet");
    xmlFreeDoc(document);
    model_free(model);
}

static void
one_point_is_a_dot(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 1));
    xmlDocPtr document = report(night.model, &night.series);
    char *line = text_at(document, "(//path[@class='line'])[1]/@d");
    assert_non_null(strstr(line, "h0"));
    assert_null(strstr(line, "nan"));
    assert_null(strstr(line, "inf"));
    free(line);
    xmlFreeDoc(document);
    night_destroy(&night);
}

static void
what_nobody_measured_is_not_drawn(void **state)
{
    static const struct html_point points[] = {
        {1000000,    COUNT_UNKNOWN, COUNT_UNKNOWN,  COUNT_UNKNOWN, 0 },
        {2000000,    COUNT_UNKNOWN, COUNT_UNKNOWN,  COUNT_UNKNOWN, 99},
        {UINT64_MAX, 0,             UINT64_MAX - 1, 0,             0 },
    };
    struct model *model = model_new();

    (void)state;
    for (size_t i = 1; i <= 3; i++) {
        const struct html_series series = {.points = points, .point_count = i};
        char *text = written(model, &series);
        xmlFreeDoc(parsed(text));
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf "));
        assert_true((strstr(text, "Nobody measured it.") != NULL) == (i < 3));
        free(text);
    }
    model_free(model);
}

static void
a_clock_that_was_set_back_does_no_harm(void **state)
{
    struct html_point points[600];
    struct model *model = model_new();

    (void)state;
    for (size_t i = 0; i < 600; i++) {
        points[i] = (struct html_point){(600 - i % 200) * SECOND, i, i, 600 - i, 2};
    }
    const struct html_series series = {.points = points, .point_count = 600};
    xmlFreeDoc(report(model, &series));
    model_free(model);
}

static size_t
points_of(const char *path)
{
    size_t points = 0;
    for (; *path; path++) {
        points += *path == 'M' || *path == 'L';
    }
    return points;
}

static void
a_day_of_seconds_is_drawn_with_few_points(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 86400));
    night.points[43210].rss_bytes = 3000000000;
    char *text = written(night.model, &night.series);
    assert_true(strlen(text) < 600000);
    xmlDocPtr document = parsed(text);
    free(text);
    for (int i = 1; i <= 11; i++) {
        char path[64];
        snprintf(path, sizeof(path), "(//path[@class='line'])[%d]/@d", i);
        char *line = text_at(document, path);
        assert_in_range(points_of(line), 100, HTML_DRAWN_MAX);
        free(line);
    }
    // the one point that is larger than all others is there, at the top
    expect_words(document, "//figure[@class='wide'][1]/svg/@aria-label", "2.79");
    char *line = text_at(document, "(//path[@class='line'])[1]/@d");
    assert_non_null(strstr(line, " 35."));
    free(line);
    expect_words(document, "//section[@id='charts']",
                 "Of 86\xe2\x80\xaf"
                 "400 samples");
    xmlFreeDoc(document);
    night_destroy(&night);
}

static struct model *
crowd(uint32_t classes)
{
    struct model *model = model_new();
    struct class_name *names = calloc(classes, sizeof(*names));
    struct class_row *rows = calloc(classes, sizeof(*rows));

    assert_non_null(model);
    for (uint32_t i = 0; i < classes; i++) {
        names[i] = (struct class_name){i + 1, 0, text_of("Crowd")};
        rows[i] = (struct class_row){i + 1, i, i, 0, COUNT_UNKNOWN};
    }
    example_apply(model, &(struct message){
                             .kind = MESSAGE_NAMES, .names = {names, classes}
    });
    example_apply(model,
                  &(struct message){
                      .kind = MESSAGE_SAMPLE,
                      .at = {SECOND,        SECOND              },
                      .sample = { .key = true, .rows = rows, .row_count = classes}
    });
    free(names);
    free(rows);
    return model;
}

static void
of_many_classes_a_few_hundred_are_listed_and_the_rest_summed(void **state)
{
    struct model *model = crowd(5000);

    (void)state;
    char *text = written(model, &nothing);
    assert_true(strlen(text) < 250000);
    xmlDocPtr document = parsed(text);
    free(text);
    assert_int_equal(count(document, "//table[contains(@class, 'classes')]/tbody/tr"),
                     300);
    expect_words(document, "//section[@id='classes']",
                 "4\xe2\x80\xaf"
                 "700 more classes");
    xmlFreeDoc(document);
    model_free(model);
}

// A stack of 900 frames; parsers give up at some 250 elements in each other.
static void
a_deep_tree_does_not_nest_without_end(void **state)
{
    static struct tree_node nodes[900];
    struct model *model = forest_model(10);
    const struct tree_site site = {
        1099, 0, 10, 10, 400, {10, 0, 0, 0}
    };

    (void)state;
    for (uint32_t i = 0; i < 900; i++) {
        nodes[i] = (struct tree_node){200 + i, i > 0 ? 199 + i : 0, 16, i + 1, 0};
    }
    assert_true(forest_frame(model, 16, "deep", "/srv/app.rb", 0));
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = 10,
                                          .since_us = SINCE,
                                          .depth = 900,
                                          .nodes = nodes,
                                          .node_count = 900,
                                          .sites = &site,
                                          .site_count = 1}));
    xmlDocPtr document = report(model, &nothing);
    assert_true(count(document, "//*[contains(@class, 'row')]") > 900);
    xmlFreeDoc(document);
    model_free(model);
}

// 20 000 lines that allocate a little each, in 20 methods.
static void
of_a_tree_with_many_branches_the_small_ones_are_put_together(void **state)
{
    enum { BRANCHES = 20, LEAVES = 1000, ALL = BRANCHES * (LEAVES + 1) };
    struct tree_node *nodes = calloc(ALL, sizeof(*nodes));
    struct tree_site *sites = calloc(BRANCHES * LEAVES, sizeof(*sites));
    struct model *model = forest_model(BRANCHES * LEAVES);

    (void)state;
    for (uint32_t i = 0; i < BRANCHES; i++) {
        nodes[i] = (struct tree_node){100 + i, 0, 16, i + 1, 0};
    }
    for (uint32_t i = 0; i < BRANCHES * LEAVES; i++) {
        nodes[BRANCHES + i] =
            (struct tree_node){200 + i, 100 + i % BRANCHES, 17, i + 1, 0};
        sites[i] = (struct tree_site){
            200 + i, 0, 1, 1, 40, {1, 0, 0, 0}
        };
    }
    assert_true(forest_frame(model, 16, "branch", "/srv/app.rb", 0));
    assert_true(forest_frame(model, 17, "leaf", "/srv/app.rb", 0));
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = BRANCHES * LEAVES,
                                          .since_us = SINCE,
                                          .depth = 64,
                                          .nodes = nodes,
                                          .node_count = ALL,
                                          .sites = sites,
                                          .site_count = BRANCHES * LEAVES}));
    char *text = written(model, &nothing);
    assert_true(strlen(text) < 200000);
    xmlDocPtr document = parsed(text);
    expect_words(document, "//div[@class='tree']", "more paths");
    assert_in_range(count(document, "//*[@class='row']"), 21, 1500);
    free(text);
    free(nodes);
    free(sites);
    xmlFreeDoc(document);
    model_free(model);
}

/* Hostile names. */

static struct model *
hostile_model(void)
{
    const struct class_name names[] = {
        {ORDER, 0, {HOSTILE, sizeof(HOSTILE) - 1}},
        {8,     0, {"nul\0<b>", 7}               },
    };
    const struct verdict_row verdict = {
        ORDER, VERDICT_LEAK, {0                   },
          { HOSTILE, sizeof(HOSTILE) - 1}
    };
    struct model *model = trees_single(5, HOSTILE, "/srv/" HOSTILE);

    example_apply(model, &(struct message){
                             .kind = MESSAGE_HELLO,
                             .hello = {.version = PROTOCOL_VERSION,
                                       .command = text_of(HOSTILE),
                                       .runtime = text_of(HOSTILE)}
    });
    example_apply(model, &(struct message){
                             .kind = MESSAGE_NAMES, .names = {names, 2}
    });
    example_apply(model, &(struct message){
                             .kind = MESSAGE_VERDICTS, .verdicts = {&verdict, 1}
    });
    example_apply(model, &(struct message){
                             .kind = MESSAGE_NOTICE,
                             .notice = {1, NOTICE_WARNING, text_of(HOSTILE)}
    });
    example_apply(model,
                  &(struct message){
                      .kind = MESSAGE_BYE, .bye = {BYE_EXIT, 1, text_of(HOSTILE)}
    });
    return model;
}

static void
no_name_becomes_markup(void **state)
{
    static const uint64_t values[] = {1, 2};
    static const struct html_point points[] = {
        {SECOND,     1, 1, 1, 2},
        {2 * SECOND, 2, 2, 2, 2},
    };
    static const struct html_class classes[] = {
        {ORDER, values}
    };
    static const struct html_mark marks[] = {
        {SECOND, '<'   },
        {SECOND, '\xff'},
        {SECOND, 0     }
    };
    static const struct html_gap gaps[] = {
        {SECOND, 2 * SECOND, HOSTILE},
        {0,      UINT64_MAX, NULL   }
    };
    const struct html_series series = {HOSTILE, points, 2, classes, 1, marks, 3, gaps, 2};
    struct model *model = hostile_model();

    (void)state;
    char *text = written(model, &series);
    assert_null(strstr(text, "<img"));
    assert_null(strchr(text, '\xff'));
    xmlDocPtr document = parsed(text);
    assert_int_equal(count(document, "//img"), 0);
    assert_int_equal(count(document, "//b[contains(., 'nul')]"), 0);
    assert_int_equal(count(document, "//script"), 1);
    assert_int_equal(count(document, "//style"), 1);
    assert_int_equal(count(document, "//comment()"), 0);
    assert_int_equal(count(document, "//@*[starts-with(name(), 'on')]"), 0);
    assert_int_equal(count(document, "//@style"), 0);
    assert_int_equal(count(document, "//@src"), 0);
    assert_int_equal(count(document, "//@href[not(starts-with(., '#'))]"), 0);
    expect_words(document, "//h1", "</script></title></style><img src=x onerror=");
    expect_words(document, "//h1", "\\xFF\\xE2\\x80");
    free(text);
    xmlFreeDoc(document);
    model_free(model);
}

static void
a_name_without_end_stays_well_formed(void **state)
{
    static char label[100002];

    (void)state;
    for (size_t odd = 0; odd < 2; odd++) {
        memset(label, 'x', sizeof(label));
        for (size_t i = odd; i + 1 < sizeof(label) - 1; i += 2) {
            memcpy(label + i, "\xc3\xa9", 2);
        }
        label[sizeof(label) - 1] = '\0';
        struct model *model = trees_single(5, label, "/srv/app.rb");
        xmlFreeDoc(report(model, &(struct html_series){.source = label}));
        model_free(model);
    }
}

static void
the_policy_comes_first_and_allows_only_what_is_inside(void **state)
{
    struct model *model = trees_exact();

    (void)state;
    char *text = written(model, &nothing);
    assert_ptr_equal(strstr(text, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                                  "<meta charset=\"utf-8\"/>"
                                  "<meta http-equiv=\"Content-Security-Policy\" "
                                  "content=\"default-src 'none'; "
                                  "style-src 'sha256-"),
                     text);
    assert_null(strstr(text, "unsafe"));
    assert_null(strstr(text, "http://"));
    assert_null(strstr(text, "https://"));
    free(text);
    model_free(model);
}

/* Streams and memory. */

// Where libxml2 finds no memory to remember what it has just made, it loses that.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
    return "leak:xmlTextWriterStartElement\nleak:xmlTextWriterStartDTD\n";
}

static void
says_so_when_the_stream_is_full(void **state)
{
    struct night night;

    (void)state;
    assert_true(night_init(&night, 50));
    for (int buffered = 0; buffered < 2; buffered++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        if (!buffered) {
            setvbuf(full, NULL, _IONBF, 0);
        }
        assert_false(html_write(night.model, &night.series, full));
        assert_int_equal(errno, ENOSPC);
        fclose(full);
    }
    night_destroy(&night);
}

static char *
duplicate(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

// Without memory from the N-th allocation on: all of it, or a failure.
static void
says_so_when_memory_runs_out(void **state)
{
    static const uint64_t values[] = {1, 2, 1500};
    static const struct html_point points[] = {
        {SECOND,     1, 1, 1, 2},
        {2 * SECOND, 2, 2, 2, 2},
        {3 * SECOND, 2, 2, 4, 3},
    };
    static const struct html_class classes[] = {
        {ORDER, values}
    };
    const struct html_series series = {
        .points = points, .point_count = 3, .classes = classes, .class_count = 1};
    struct model *model = trees_sampled();
    bool done = false;

    (void)state;
    char *whole = written(model, &series);
    for (int allowed = 0; !done; allowed += allowed < 400 ? 1 : 13) {
        char *text;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        assert_non_null(out);
        errno = 0;
        memory_allow(allowed);
        done = html_write(model, &series, out);
        int error = errno;
        memory_allow(-1);
        fclose(out);
        assert_true(done ? strcmp(text, whole) == 0 : error == ENOMEM);
        free(text);
    }
    free(whole);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_night_is_told_from_head_to_foot),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(that_nothing_is_missing_is_said_as_well),
        cmocka_unit_test(lines_are_broken_where_nothing_is_known),
        cmocka_unit_test(the_largest_path_of_a_tree_is_open),
        cmocka_unit_test(sampled_figures_say_how_sure_they_are),
        cmocka_unit_test(times_are_local_and_say_so),
        cmocka_unit_test(the_same_gives_the_same_bytes),
        cmocka_unit_test(an_empty_model_is_a_page_that_says_so),
        cmocka_unit_test(one_point_is_a_dot),
        cmocka_unit_test(what_nobody_measured_is_not_drawn),
        cmocka_unit_test(a_clock_that_was_set_back_does_no_harm),
        cmocka_unit_test(a_day_of_seconds_is_drawn_with_few_points),
        cmocka_unit_test(of_many_classes_a_few_hundred_are_listed_and_the_rest_summed),
        cmocka_unit_test(a_deep_tree_does_not_nest_without_end),
        cmocka_unit_test(of_a_tree_with_many_branches_the_small_ones_are_put_together),
        cmocka_unit_test(no_name_becomes_markup),
        cmocka_unit_test(a_name_without_end_stays_well_formed),
        cmocka_unit_test(the_policy_comes_first_and_allows_only_what_is_inside),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    setenv("TZ", "UTC", 1);
    tzset();
    xmlMemSetup(free, malloc, realloc, duplicate);
    xmlInitParser();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    xmlCleanupParser();
    return failed;
}
