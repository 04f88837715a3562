// Rules of the flight recorder: what is one, and when it fires. Time is an argument.
#include "probe/core/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define SECOND UINT64_C(1000000000)
#define MIB UINT64_C(1048576)

static struct world {
    struct registry registry;
    struct judge judge;
    struct judge_facts judged;
    struct rules rules;
    struct rule_facts facts;
    char why[1024];
} world;

static uintptr_t
itself(uintptr_t key)
{
    return key;
}

static int
start(void **state)
{
    (void)state;
    world = (struct world){
        .judged = {.at_us = 1000000, .mode = MODE_COUNT}
    };
    world.facts = (struct rule_facts){.now_ns = 1000 * SECOND,
                                      .rss_bytes = COUNT_UNKNOWN,
                                      .live = 0,
                                      .registry = &world.registry,
                                      .judge = &world.judge};
    return registry_init(&world.registry, itself) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    judge_destroy(&world.judge);
    registry_destroy(&world.registry);
    return 0;
}

static void
rules_are(const char *text)
{
    bool right = rules_parse(&world.rules, text, world.why, sizeof(world.why));
    assert_string_equal(world.why, "");
    assert_true(right);
}

static struct site *
site_of(uintptr_t key)
{
    const struct registry_slot *slot = registry_lookup(&world.registry, key);
    assert_non_null(slot);
    return slot->site;
}

static void
name(uintptr_t key, const char *name)
{
    registry_name(&world.registry, site_of(key)->class_index, strdup(name), 0);
}

static void
allocate(uintptr_t key, uint64_t objects)
{
    count_add(&site_of(key)->allocated, objects);
}

static void
release(uintptr_t key, uint64_t objects)
{
    count_add(&site_of(key)->freed, objects);
}

static size_t
look(void)
{
    return rules_look(&world.rules, &world.facts);
}

static size_t
look_after(uint64_t seconds)
{
    world.facts.now_ns += seconds * SECOND;
    return look();
}

// What fires now, fired.
static const char *
fire(void)
{
    rules_why(&world.rules, world.why, sizeof(world.why));
    rules_fired(&world.rules, world.facts.now_ns);
    return world.why;
}

/* What is a rule. */

static void
every_form_is_taken(void **state)
{
    static const struct {
        const char *text;
        enum rule_kind kind;
        const char *class_name;
        uint64_t limit;
        uint64_t window_s;
    } right[] = {
        {"on",                        RULE_ON,      "",                  0,               0    },
        {"exit",                      RULE_EXIT,    "",                  0,               0    },
        {"rss>1.5G",                  RULE_RSS,     "",                  1536 * MIB,      0    },
        {"rss>0",                     RULE_RSS,     "",                  0,               0    },
        {"rss>64K",                   RULE_RSS,     "",                  65536,           0    },
        {"objects>5M",                RULE_OBJECTS, "",                  5000000,         0    },
        {"live(Order)>10",            RULE_LIVE,    "Order",             10,              0    },
        {"live(My::Line)>2.5K",       RULE_LIVE,    "My::Line",          2500,            0    },
        {"live((iseq))>9",            RULE_LIVE,    "(iseq)",            9,               0    },
        {"live(#<Class:0x1(a,b)>)>9", RULE_LIVE,    "#<Class:0x1(a,b)>", 9,               0    },
        {"bytes(Order)>2M",           RULE_BYTES,   "Order",             2 * MIB,         0    },
        {"growth(Order)>10000/5m",    RULE_GROWTH,  "Order",             10000,           300  },
        {"growth(Order)>1K/1.5h",     RULE_GROWTH,  "Order",             1000,            5400 },
        {"growth(Order)>0/24h",       RULE_GROWTH,  "Order",             0,               86400},
        {"verdict=leak",              RULE_VERDICT, "",                  VERDICT_LEAK,    0    },
        {"verdict(Order)=growing",    RULE_VERDICT, "Order",             VERDICT_GROWING, 0    },
        {"  verdict=churn  ",         RULE_VERDICT, "",                  VERDICT_CHURN,   0    },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
        print_message("%s\n", right[i].text);
        rules_are(right[i].text);
        assert_int_equal(world.rules.count, 1);
        const struct rule *rule = &world.rules.list[0];
        assert_int_equal(rule->kind, right[i].kind);
        assert_string_equal(rule->class_name, right[i].class_name);
        assert_int_equal(rule->limit, right[i].limit);
        assert_int_equal(rule->window_ns, right[i].window_s * SECOND);
    }
}

static void
nothing_is_no_rule_and_nothing_wrong(void **state)
{
    static const char *const texts[] = {"", " ", ",", " , ,,"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        rules_are(texts[i]);
        assert_int_equal(world.rules.count, 0);
    }
}

static void
a_wrong_rule_is_named_by_its_place_and_the_others_hold(void **state)
{
    (void)state;
    assert_false(rules_parse(&world.rules, "rss>1G, life(Order)>3 ,exit,rss>", world.why,
                             sizeof(world.why)));
    assert_int_equal(world.rules.count, 2);
    assert_int_equal(world.rules.list[0].kind, RULE_RSS);
    assert_int_equal(world.rules.list[1].kind, RULE_EXIT);
    assert_non_null(strstr(world.why, "character 9: \"life(Order)>3\" is not like rss>"));
    assert_non_null(strstr(world.why, "character 29: \"rss>\" is not like rss>1.5G"));
}

static void
what_is_almost_a_rule_is_none(void **state)
{
    static const char *const wrong[] = {"ON",
                                        "on>1",
                                        "on()",
                                        "exit(Order)",
                                        "rss",
                                        "rss=1G",
                                        "rss>1g",
                                        "rss>1GB",
                                        "rss>-1",
                                        "rss>+1",
                                        "rss>0x10",
                                        "rss>1e9",
                                        "rss>nan",
                                        "rss>inf",
                                        "rss>.",
                                        "rss>1..2",
                                        "rss> 1G",
                                        "rss(Order)>1G",
                                        "rss>1T",
                                        "rss>99999999999999999999",
                                        "rss>999999999999G",
                                        "objects>",
                                        "objects(A)>1",
                                        "live>1",
                                        "live()>1",
                                        "live(Order>1",
                                        "live(Order)>",
                                        "live(Order)=1",
                                        "live(Order))>1",
                                        "live(",
                                        "live((Order)>1",
                                        "bytes(Order)",
                                        "growth(Order)>10",
                                        "growth(Order)>10/",
                                        "growth(Order)>10/5",
                                        "growth(Order)>10/0.5s",
                                        "growth(Order)>10/25h",
                                        "growth(Order)>10/5min",
                                        "growth(Order)>/5m",
                                        "growth>10/5m",
                                        "verdict",
                                        "verdict=",
                                        "verdict=leak?",
                                        "verdict=LEAK",
                                        "verdict()=leak",
                                        "verdict>leak",
                                        "(",
                                        ")",
                                        ">",
                                        "=1",
                                        "\n",
                                        "rss>1G\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        print_message("%s\n", wrong[i]);
        assert_false(rules_parse(&world.rules, wrong[i], world.why, sizeof(world.why)));
        assert_int_equal(world.rules.count, 0);
        assert_non_null(strstr(world.why, "character 1: \""));
    }
}

static void
thirty_two_rules_are_taken_and_one_more_is_not(void **state)
{
    char text[33 * 8] = "";
    (void)state;
    for (size_t i = 0; i < RULES_MAX; i++) {
        strcat(text, "rss>1G,");
    }
    rules_are(text);
    strcat(text, "exit");
    assert_false(rules_parse(&world.rules, text, world.why, sizeof(world.why)));
    assert_int_equal(world.rules.count, RULES_MAX);
    assert_non_null(strstr(world.why, "character 225: \"exit\""));
}

static void
a_name_is_taken_up_to_the_longest_rule(void **state)
{
    char text[RULE_TEXT_MAX + 1];
    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "live(", 5);
    memcpy(text + RULE_TEXT_MAX - 4, ")>1", 4);
    rules_are(text);
    assert_int_equal(strlen(world.rules.list[0].class_name), RULE_TEXT_MAX - 1 - 8);
    memset(text + 5, 'x', RULE_TEXT_MAX - 5);
    memcpy(text + RULE_TEXT_MAX - 3, ")>1", 4);
    assert_false(rules_parse(&world.rules, text, world.why, sizeof(world.why)));
}

// A warning goes to a terminal.
static void
what_was_given_is_shown_without_its_control_characters(void **state)
{
    char text[2000];
    (void)state;
    memset(text, '\033', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_false(rules_parse(&world.rules, text, world.why, sizeof(world.why)));
    for (const char *c = world.why; *c; c++) {
        assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    assert_true(strlen(world.why) < 300);
}

// Random bytes, random pieces of rules, and every short place for words: nothing is
// read or written beyond its end (the sanitizers look on), and what was taken is sound.
static void
hostile_text_is_judged_without_harm(void **state)
{
    static const char *const pieces[] = {
        "rss",  "live", "(", ")",    ">",    "=",  "/", "5m", ",",      "1G",     "on",
        "exit", "((",   " ", "leak", "\xff", "\n", "9", ".",  "growth", "verdict"};
    (void)state;
    for (size_t round = 0; round < 20000; round++) {
        char given[120];
        size_t length = 0;
        while (length + 10 < sizeof(given) && random_below(20) > 0) {
            const char *piece = pieces[random_below(sizeof(pieces) / sizeof(*pieces))];
            if (random_below(4) == 0) {
                given[length++] = (char)(1 + random_below(255));
            } else {
                memcpy(given + length, piece, strlen(piece));
                length += strlen(piece);
            }
        }
        char *text = malloc(length + 1);
        size_t why_size = 1 + random_below(200);
        char *why = malloc(why_size);
        assert_true(text && why);
        memcpy(text, given, length);
        text[length] = '\0';
        bool right = rules_parse(&world.rules, text, why, why_size);
        assert_true(right || why_size == 1 || *why);
        assert_true(strlen(why) < why_size && world.rules.count <= RULES_MAX);
        world.facts.now_ns += SECOND;
        look();
        free(text);
        free(why);
    }
}

static void
sizes_are_read_with_their_suffix_and_nothing_else(void **state)
{
    static const char *const wrong[] = {"",    "K",   "1k", "1KB", "-1",
                                        "1 K", "0x1", " 1", "1e3"};
    uint64_t bytes = 0;
    (void)state;
    assert_true(rules_size("64K", &bytes) && bytes == 65536);
    assert_true(rules_size("16M", &bytes) && bytes == 16 * MIB);
    assert_true(rules_size("1G", &bytes) && bytes == 1024 * MIB);
    assert_true(rules_size("0.5M", &bytes) && bytes == MIB / 2);
    assert_true(rules_size("70000", &bytes) && bytes == 70000);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_false(rules_size(wrong[i], &bytes));
    }
}

/* When it fires. */

static void
a_limit_is_passed_not_reached(void **state)
{
    (void)state;
    rules_are("rss>1M,objects>10");
    assert_int_equal(look(), 0); // nobody knows rss
    world.facts.rss_bytes = MIB;
    world.facts.live = 10;
    assert_int_equal(look(), 0);
    world.facts.rss_bytes = MIB + 1;
    assert_int_equal(look(), 1);
    assert_string_equal(fire(), "rss>1M (1.0M)");
    world.facts.live = 11;
    assert_int_equal(look(), 1);
    assert_string_equal(fire(), "objects>10 (11)");
    world.facts.live = COUNT_UNKNOWN;
    assert_int_equal(look_after(100000), 1); // rss again
}

static void
a_rule_pauses_and_has_a_limit_of_firings(void **state)
{
    char tally[32];
    (void)state;
    rules_are("rss>1M,exit");
    world.rules.limit = 2;
    world.facts.rss_bytes = 2 * MIB;
    assert_int_equal(look(), 1);
    assert_int_equal(look_after(1), 1); // it is due until it has fired
    fire();
    rules_tally(&world.rules, tally, sizeof(tally));
    assert_string_equal(tally, "1 of 2");
    assert_int_equal(look_after(299), 0);
    assert_int_equal(look_after(1), 1);
    fire();
    rules_tally(&world.rules, tally, sizeof(tally));
    assert_string_equal(tally, "2 of 2");
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(look_after(3600), 0);
    }
    assert_false(rules_has(&world.rules, RULE_RSS));
    assert_true(rules_has(&world.rules, RULE_EXIT));
}

static void
rules_that_fire_together_are_one_reason(void **state)
{
    (void)state;
    rules_are("rss>1M, live(Order)>3");
    name(1, "Order");
    allocate(1, 4);
    world.facts.rss_bytes = 3 * MIB / 2;
    assert_int_equal(look(), 2);
    assert_string_equal(fire(), "rss>1M (1.5M), live(Order)>3 (4)");
    char few[10];
    rules_why(&world.rules, few, sizeof(few));
    assert_string_equal(few, "rss>1M (1");
    assert_int_equal(look(), 0);
}

static void
classes_of_one_name_are_taken_together(void **state)
{
    (void)state;
    rules_are("live(Order)>9,bytes(Order)>99");
    name(1, "Order");
    name(2, "Orders");
    allocate(1, 6);
    allocate(2, 600);
    allocate(3, 600); // without a name yet
    assert_int_equal(look(), 0);
    name(4, "Order");
    allocate(4, 6);
    release(4, 1);
    assert_int_equal(look(), 1);
    assert_string_equal(fire(), "live(Order)>9 (11)");
    registry_class(&world.registry, site_of(1)->class_index)->bytes = 60;
    assert_int_equal(look(), 0);
    registry_class(&world.registry, site_of(4)->class_index)->bytes = 40;
    assert_int_equal(look(), 1);
    assert_string_equal(fire(), "bytes(Order)>99 (100)");
}

static void
what_nobody_counts_fires_nothing(void **state)
{
    (void)state;
    rules_are("live(Order)>0,growth(Order)>0/1s,bytes(Order)>0,live(Nobody)>0");
    name(1, "Order");
    allocate(1, 100);
    world.facts.live = COUNT_UNKNOWN;
    assert_int_equal(look(), 0);
    allocate(1, 100);
    assert_int_equal(look_after(10), 0);
    world.facts.live = 200;
    assert_int_equal(look_after(10), 1);
    assert_string_equal(fire(), "live(Order)>0 (200)");
}

static void
growth_is_measured_over_its_window(void **state)
{
    (void)state;
    rules_are("growth(Order)>100/1m");
    world.rules.limit = 1000;
    world.rules.pause_ns = 0;
    name(1, "Order");
    allocate(1, 5000); // before anybody looked
    assert_int_equal(look(), 0);
    for (size_t i = 0; i < 300; i++) { // 60 to 61 a minute
        allocate(1, 1);
        assert_int_equal(look_after(1), 0);
    }
    allocate(1, 39);
    assert_int_equal(look_after(1), 0);
    allocate(1, 4);
    assert_int_equal(look_after(1), 1);
    for (size_t i = 0; i < 55; i++) { // the slow part leaves the window
        assert_int_equal(look_after(1), 0);
    }
}

static void
growth_sooner_than_its_window_counts_from_when_the_class_is_known(void **state)
{
    (void)state;
    rules_are("growth(Order)>100/1h");
    allocate(1, 1000);
    assert_int_equal(look(), 0);
    name(1, "Order");
    assert_int_equal(look_after(1), 0);
    allocate(1, 100);
    assert_int_equal(look_after(1), 0);
    allocate(1, 1);
    assert_int_equal(look_after(1), 1);
    assert_string_equal(fire(), "growth(Order)>100/1h (101)");
}

static void
what_shrinks_has_not_grown(void **state)
{
    (void)state;
    rules_are("growth(Order)>100/1m");
    name(1, "Order");
    allocate(1, 1000);
    look();
    release(1, 900);
    assert_int_equal(look_after(10), 0);
    allocate(1, 950); // 1050 now, 1000 at the window's begin
    assert_int_equal(look_after(10), 0);
    assert_int_equal(look_after(50), 1); // from 100
}

static void
counts_that_begin_anew_are_no_growth(void **state)
{
    (void)state;
    rules_are("growth(Order)>100/1m");
    name(1, "Order");
    allocate(1, 10);
    look();
    rules_forget(&world.rules);
    allocate(1, 100000);
    assert_int_equal(look_after(1), 0);
    allocate(1, 101);
    assert_int_equal(look_after(1), 1);
}

// A day at a sample a second, against the definition: the count a window ago, at most
// a step of the points later or earlier.
static void
the_window_is_true_to_a_sixtieth_over_a_long_time(void **state)
{
    enum { SECONDS = 20000, WINDOW = 600, STEP = WINDOW / 60 };
    static uint64_t live[SECONDS];
    (void)state;
    rules_are("growth(Order)>0/10m");
    name(1, "Order");
    allocate(1, 1000000);
    uint64_t now = 1000000;
    for (size_t i = 0; i < SECONDS; i++) {
        uint64_t more = random_below(20);
        allocate(1, more);
        now += more;
        live[i] = now;
        look_after(1);
        size_t oldest = i > WINDOW + STEP ? i - WINDOW - STEP : 0;
        size_t newest = i > WINDOW ? i - WINDOW : 0;
        uint64_t grown = world.rules.list[0].value;
        assert_true(grown <= now - live[oldest] && grown >= now - live[newest]);
        assert_true(world.rules.list[0].point_count <= RULE_POINTS);
    }
}

static void
verdicts_fire_by_class_and_for_any(void **state)
{
    struct buffer frames = {0};
    (void)state;
    rules_are("verdict=leak,verdict(Order)=leak,verdict(Steady)=leak");
    name(1, "Steady");
    name(2, "Order");
    allocate(1, 500);
    for (unsigned i = 0; i < 60; i++) {
        allocate(2, 200);
        struct site_counts counts =
            registry_counts(&world.registry, site_of(2)->class_index);
        registry_seen(&world.registry, site_of(2)->id)->ages[3] = (uint32_t)counts.live;
        world.judged.at_us += 5000000;
        world.judged.collections++;
        world.judged.majors += i % 4 == 0;
        world.judged.census_us = world.judged.at_us;
        assert_true(judge_look(&world.judge, &world.registry, &world.judged,
                               (struct stamp){1, 2}, &frames));
        assert_true(i > 3 || look() == 0);
    }
    assert_int_equal(look(), 2);
    assert_string_equal(fire(), "verdict=leak (Order), verdict(Order)=leak (Order)");
    buffer_destroy(&frames);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_form_is_taken, start, end),
        cmocka_unit_test_setup_teardown(nothing_is_no_rule_and_nothing_wrong, start, end),
        cmocka_unit_test_setup_teardown(
            a_wrong_rule_is_named_by_its_place_and_the_others_hold, start, end),
        cmocka_unit_test_setup_teardown(what_is_almost_a_rule_is_none, start, end),
        cmocka_unit_test_setup_teardown(thirty_two_rules_are_taken_and_one_more_is_not,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_name_is_taken_up_to_the_longest_rule, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            what_was_given_is_shown_without_its_control_characters, start, end),
        cmocka_unit_test_setup_teardown(hostile_text_is_judged_without_harm, start, end),
        cmocka_unit_test_setup_teardown(sizes_are_read_with_their_suffix_and_nothing_else,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_limit_is_passed_not_reached, start, end),
        cmocka_unit_test_setup_teardown(a_rule_pauses_and_has_a_limit_of_firings, start,
                                        end),
        cmocka_unit_test_setup_teardown(rules_that_fire_together_are_one_reason, start,
                                        end),
        cmocka_unit_test_setup_teardown(classes_of_one_name_are_taken_together, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_nobody_counts_fires_nothing, start, end),
        cmocka_unit_test_setup_teardown(growth_is_measured_over_its_window, start, end),
        cmocka_unit_test_setup_teardown(
            growth_sooner_than_its_window_counts_from_when_the_class_is_known, start,
            end),
        cmocka_unit_test_setup_teardown(what_shrinks_has_not_grown, start, end),
        cmocka_unit_test_setup_teardown(counts_that_begin_anew_are_no_growth, start, end),
        cmocka_unit_test_setup_teardown(the_window_is_true_to_a_sixtieth_over_a_long_time,
                                        start, end),
        cmocka_unit_test_setup_teardown(verdicts_fire_by_class_and_for_any, start, end),
    };
    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
