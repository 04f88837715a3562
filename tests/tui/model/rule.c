#include "tui/model/rule.h"

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

#define MODEL(pid, second, list)                                                         \
    pairs_model(pid, second, list, sizeof(list) / sizeof((list)[0]))

/* Reading. */

static void
reads_every_form_of_a_rule(void **state)
{
    static const struct {
        const char *text;
        enum rule_subject subject;
        enum rule_measure measure;
        const char *name;
        size_t amounts;
        struct rule_amount first, last;
    } cases[] = {
        {"Order:+500",           RULE_NAMED,    RULE_OBJECTS, "Order",  1, {500, false},  {500, false} },
        {"*:+10%",               RULE_EACH,     RULE_OBJECTS, NULL,     1, {10, true},    {10, true}   },
        {"String:+2M bytes",
         RULE_NAMED,                            RULE_BYTES,
         "String",                                                      1,
         {2097152, false},
         {2097152, false}                                                                              },
        {"total:+1000",          RULE_TOTAL,    RULE_OBJECTS, NULL,     1, {1000, false}, {1000, false}},
        {"/^Shop::/:+0",         RULE_MATCHING, RULE_OBJECTS, NULL,     1, {0, false},    {0, false}   },
        {"Shop::Cart:+0",
         RULE_NAMED,                            RULE_OBJECTS,
         "Shop::Cart",                                                  1,
         {0, false},
         {0, false}                                                                                    },
        {"A:+2K",                RULE_NAMED,    RULE_OBJECTS, "A",      1, {2000, false}, {2000, false}},
        {"A:+2K objects",        RULE_NAMED,    RULE_OBJECTS, "A",      1, {2000, false}, {2000, false}},
        {"A:+1.5Kbytes",         RULE_NAMED,    RULE_BYTES,   "A",      1, {1536, false}, {1536, false}},
        {"A:+1G bytes",
         RULE_NAMED,                            RULE_BYTES,
         "A",                                                           1,
         {1073741824, false},
         {1073741824, false}                                                                           },
        {"total : +2.5 % bytes",
         RULE_TOTAL,                            RULE_BYTES,
         NULL,                                                          1,
         {2.5, true},
         {2.5, true}                                                                                   },
        {" * : +10% or +100 ",
         RULE_EACH,                             RULE_OBJECTS,
         NULL,                                                          2,
         {10, true},
         {100, false}                                                                                  },
        {"A:+1 or+2 or +3or +4",
         RULE_NAMED,                            RULE_OBJECTS,
         "A",                                                           4,
         {1, false},
         {4, false}                                                                                    },
        {"#<Class:0x1>:+5",
         RULE_NAMED,                            RULE_OBJECTS,
         "#<Class:0x1>",                                                1,
         {5, false},
         {5, false}                                                                                    },
        {"(iseq):+5",            RULE_NAMED,    RULE_OBJECTS, "(iseq)", 1, {5, false},    {5, false}   },
        {"/a/:b/:+5",            RULE_MATCHING, RULE_OBJECTS, NULL,     1, {5, false},    {5, false}   },
        {"totals:+5",            RULE_NAMED,    RULE_OBJECTS, "totals", 1, {5, false},    {5, false}   },
        {"Caf\xc3\xa9\033:+5",
         RULE_NAMED,                            RULE_OBJECTS,
         "Caf\xc3\xa9\\x1B",                                            1,
         {5, false},
         {5, false}                                                                                    },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[RULE_ERROR_BYTES];
        struct rule rule;
        if (!rule_parse(&rule, cases[i].text, error)) {
            fail_msg("%s: %s", cases[i].text, error);
        }
        assert_int_equal(rule.subject, cases[i].subject);
        assert_int_equal(rule.measure, cases[i].measure);
        assert_int_equal(rule.amount_count, cases[i].amounts);
        assert_true(rule.amounts[0].number == cases[i].first.number);
        assert_int_equal(rule.amounts[0].percent, cases[i].first.percent);
        const struct rule_amount *last = &rule.amounts[rule.amount_count - 1];
        assert_true(last->number == cases[i].last.number);
        assert_int_equal(last->percent, cases[i].last.percent);
        assert_int_equal(rule.name != NULL, cases[i].name != NULL);
        if (cases[i].name != NULL) {
            assert_string_equal(rule.name, cases[i].name);
        }
        rule_destroy(&rule);
        rule_destroy(&rule);
    }
}

static void
says_where_a_rule_is_wrong_and_what_was_expected(void **state)
{
    static const struct {
        const char *text;
        const char *error; // how it begins
    } cases[] = {
        {"",                             "at character 1: expected a class, *, total or /PATTERN/"         },
        {"  ",                           "at character 3: expected a class"                                },
        {":+5",                          "at character 1: expected a class"                                },
        {"Order",                        "at character 6: expected “:” and an amount such as +500"     },
        {"Shop::Order",                  "at character 12: expected “:”"                               },
        {"Caf\xc3\xa9",                  "at character 5: expected “:”"                                },
        {"Order:",                       "at character 7: expected “+” and a number, as in +500 or +1" },
        {"Order:500",                    "at character 7: expected “+”"                                },
        {"Order:-5",                     "at character 7: expected “+”"                                },
        {"Order:+",                      "at character 8: expected a number behind “+”"                },
        {"Order:+x",                     "at character 8: expected a number"                               },
        {"Order:+-5",                    "at character 8: expected a number"                               },
        {"Order:+.5",                    "at character 8: expected a number"                               },
        {"Order:+5.",                    "at character 9: expected K, M, G, %"                             },
        {"Order:+5e3",                   "at character 9: expected K, M, G, %"                             },
        {"Order:+5k",                    "at character 9: expected K"                                      },
        {"Order:+5M%",                   "at character 10: expected K"                                     },
        {"Order:+5 byte",                "at character 10: expected K"                                     },
        {"Order:+5/5m",                  "at character 9: expected K"                                      },
        {"Order:+5 or",                  "at character 12: expected “+”"                               },
        {"Order:+5 or 7",                "at character 13: expected “+”"                               },
        {"Order:+5 or +7 bytes",         "at character 13: expected all amounts in objects, or"            },
        {"A:+1 or +2 or +3 or +4 or +5", "at character 27: expected at most 4 amounts"                     },
        {"A:+9999999999999999999",       "at character 4: expected a number up to 10^18"                   },
        {"/Order:+5",                    "at character 10: expected “/:” behind the pattern"           },
        {"/:+5",                         "at character 5: expected “/:”"                               },
        {"//:+5",                        "at character 2: expected a regular expression between"           },
        {"/(/:+5",                       "at character 2: expected a regular expression between “/” an"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[RULE_ERROR_BYTES];
        struct rule rule;
        assert_false(rule_parse(&rule, cases[i].text, error));
        assert_null(rule.text);
        if (strncmp(error, cases[i].error, strlen(cases[i].error)) != 0) {
            fail_msg("“%s”: it says %s", cases[i].text, error);
        }
    }
}

static void
a_rule_without_end_is_refused(void **state)
{
    static char text[RULE_TEXT_MAX + 100];
    char error[RULE_ERROR_BYTES];
    struct rule rule;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    assert_false(rule_parse(&rule, text, error));
    assert_string_equal(error, "at character 4097: expected the end of the rule");
    text[0] = '/';
    memcpy(text + RULE_TEXT_MAX - 6, "/:+5\0", 6);
    assert_true(rule_parse(&rule, text, error));
    rule_destroy(&rule);
}

// Nothing that is typed may do harm: an error has a place, a rule can be judged.
static void
any_bytes_are_a_rule_or_an_error(void **state)
{
    static const char alphabet[] = "A*/:+5%KM. or bytes\\(\xc3\xa9\x1b";
    uint64_t random = 3;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[16] = "";
        char error[RULE_ERROR_BYTES];
        struct rule rule;
        size_t length = (size_t)pairs_random(&random, sizeof text);
        for (size_t i = 0; i < length; i++) {
            text[i] = alphabet[pairs_random(&random, sizeof alphabet - 1)];
        }
        if (rule_parse(&rule, text, error)) {
            assert_true(rule.amount_count > 0);
            assert_string_equal(error, "");
        } else {
            assert_int_equal(strncmp(error, "at character ", 13), 0);
        }
        rule_destroy(&rule);
    }
}

/* Judging. */

static const struct pairs_class one[] = {
    {"String",     1, 0,              1000, 40000        },
    {"Order",      2, 0,              100,  4000         },
    {"Shop::Cart", 3, 0,              50,   2000         },
    {"Shop::Item", 4, 0,              50,   2000         },
    {"(iseq)",     5, CLASS_INTERNAL, 10,   100          },
    {"Unmeasured", 6, 0,              10,   COUNT_UNKNOWN},
    {"Gone",       7, 0,              99,   3960         },
};

static const struct pairs_class other[] = {
    {"String",     11, 0,              1100, 900000       },
    {"Order",      12, 0,              600,  24000        },
    {"Shop::Cart", 13, 0,              50,   2000         },
    {"Shop::Item", 14, 0,              53,   2120         },
    {"(iseq)",     15, CLASS_INTERNAL, 900,  9000         },
    {"Unmeasured", 16, 0,              10,   COUNT_UNKNOWN},
    {"New",        17, 0,              7,    280          },
};

struct judged {
    struct model *before;
    struct model *after;
    struct diff diff;
    struct rule rule;
    struct rule_outcome outcome;
};

static void
judge(struct judged *judged, const char *text)
{
    char error[RULE_ERROR_BYTES];
    judged->before = MODEL(1, 100, one);
    judged->after = MODEL(2, 200, other);
    assert_true(diff_init(&judged->diff, judged->before, judged->after));
    if (!rule_parse(&judged->rule, text, error)) {
        fail_msg("%s: %s", text, error);
    }
    assert_true(rule_judge(&judged->rule, &judged->diff, &judged->outcome));
}

static void
done(struct judged *judged)
{
    rule_outcome_destroy(&judged->outcome);
    rule_outcome_destroy(&judged->outcome);
    rule_destroy(&judged->rule);
    diff_destroy(&judged->diff);
    model_free(judged->before);
    model_free(judged->after);
}

static void
judges_by_the_growth_of_what_it_speaks_of(void **state)
{
    static const struct {
        const char *text;
        enum rule_verdict verdict;
        size_t matched;
        const char *culprits; // most grown first
    } cases[] = {
        {"Order:+500",          RULE_HOLDS,  1, ""                                   },
        {"Order:+499",          RULE_BROKEN, 1, "Order "                             },
        {"Order:+500%",         RULE_HOLDS,  1, ""                                   },
        {"Order:+499.9%",       RULE_BROKEN, 1, "Order "                             },
        {"Order:+1 or +500",    RULE_HOLDS,  1, ""                                   },
        {"Order:+1 or +100%",   RULE_BROKEN, 1, "Order "                             },
        {"Order:+20000 bytes",  RULE_HOLDS,  1, ""                                   },
        {"Order:+19999 bytes",  RULE_BROKEN, 1, "Order "                             },
        {"*:+0",                RULE_BROKEN, 7, "Order String New Shop::Item "       },
        {"*:+10%",              RULE_BROKEN, 7, "Order New "                         },
        {"*:+10% or +10",       RULE_BROKEN, 7, "Order "                             },
        {"*:+10% or +500",      RULE_HOLDS,  7, ""                                   },
        {"*:+1M bytes",         RULE_UNTOLD, 7, ""                                   },
        {"*:+100K bytes",       RULE_BROKEN, 7, "String "                            },
        {"/^Shop::/:+0",        RULE_BROKEN, 2, "Shop::Item "                        },
        {"/^Shop::/:+3",        RULE_HOLDS,  2, ""                                   },
        {"/./:+100",            RULE_BROKEN, 7, "Order "                             },
        {"Unmeasured:+0",       RULE_HOLDS,  1, ""                                   },
        {"Unmeasured:+0 bytes", RULE_UNTOLD, 1, ""                                   },
        {"New:+7",              RULE_HOLDS,  1, ""                                   },
        {"New:+100%",           RULE_BROKEN, 1, "New "                               }, // of none
        {"Gone:+0",             RULE_HOLDS,  1, ""                                   },
        {"(iseq):+5",           RULE_BROKEN, 1, "(iseq) "                            },
        {"Ordre:+0",            RULE_HOLDS,  0, ""                                   },
        {"total:+1401",         RULE_HOLDS,  1, ""                                   },
        {"total:+1400",         RULE_BROKEN, 1, "(iseq) Order String New Shop::Item "},
        {"total:+1 bytes",      RULE_UNTOLD, 1, ""                                   },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct judged judged;
        char culprits[256] = "";
        judge(&judged, cases[i].text);
        for (size_t k = 0; k < judged.outcome.count; k++) {
            strcat(culprits, judged.outcome.culprits[k].class->name);
            strcat(culprits, " ");
        }
        if (judged.outcome.verdict != cases[i].verdict ||
            strcmp(culprits, cases[i].culprits) != 0 ||
            judged.outcome.matched != cases[i].matched) {
            fail_msg("%s: verdict %d, matched %zu, %s", cases[i].text,
                     (int)judged.outcome.verdict, judged.outcome.matched, culprits);
        }
        done(&judged);
    }
}

static void
gives_the_numbers_of_what_came_nearest_to_the_limit(void **state)
{
    struct judged judged;

    (void)state;
    judge(&judged, "*:+10%");
    const struct rule_finding *most = &judged.outcome.most;
    assert_string_equal(most->class->name, "Order");
    assert_int_equal(most->before, 100);
    assert_int_equal(most->after, 600);
    assert_int_equal(most->change, 500);
    assert_true(most->allowed == 10);
    assert_true(judged.outcome.culprits[1].allowed == 0);
    done(&judged);
    judge(&judged, "/^Shop::/:+10 or +10%");
    assert_string_equal(judged.outcome.most.class->name, "Shop::Item");
    assert_true(judged.outcome.most.allowed == 10);
    done(&judged);
    judge(&judged, "total:+1400");
    assert_string_equal(judged.outcome.most.class->name, "total");
    assert_int_equal(judged.outcome.most.change, 1401);
    assert_true(isnan(judged.outcome.culprits[0].allowed));
    done(&judged);
    judge(&judged, "Ordre:+5");
    assert_null(judged.outcome.most.class);
    done(&judged);
}

static void
without_a_count_nothing_holds_and_nothing_is_broken(void **state)
{
    struct model *before = model_new();
    struct model *after = MODEL(1, 100, one);
    struct diff diff;
    struct rule rule;
    struct rule_outcome outcome;
    char error[RULE_ERROR_BYTES];
    static const char *const texts[] = {"Order:+1000", "total:+1M", "*:+1M"};

    (void)state;
    assert_true(diff_init(&diff, before, after));
    for (size_t i = 0; i < 3; i++) {
        assert_true(rule_parse(&rule, texts[i], error));
        assert_true(rule_judge(&rule, &diff, &outcome));
        assert_int_equal(outcome.verdict, RULE_UNTOLD);
        assert_null(outcome.most.class);
        rule_outcome_destroy(&outcome);
        rule_destroy(&rule);
    }
    diff_destroy(&diff);
    model_free(before);
    model_free(after);
}

static void
the_worst_of_several_rules_counts(void **state)
{
    const struct rule_outcome outcomes[] = {
        {.verdict = RULE_HOLDS}, {.verdict = RULE_BROKEN}, {.verdict = RULE_UNTOLD}};

    (void)state;
    assert_int_equal(rule_worst(outcomes, 0), RULE_HOLDS);
    assert_int_equal(rule_worst(outcomes, 1), RULE_HOLDS);
    assert_int_equal(rule_worst(outcomes, 3), RULE_BROKEN);
    assert_int_equal(rule_worst(outcomes + 2, 1), RULE_UNTOLD);
}

// Every class, against the plain arithmetic.
static void
is_what_brute_force_says_of_random_models(void **state)
{
    static struct pairs_class first[40];
    static struct pairs_class second[40];
    static char names[40][8];
    uint64_t random = 17;

    (void)state;
    for (int round = 0; round < 100; round++) {
        size_t culprits = 0;
        uint64_t limit = pairs_random(&random, 50);
        uint64_t percent = pairs_random(&random, 50);
        for (unsigned i = 0; i < 40; i++) {
            snprintf(names[i], sizeof names[i], "C%u", i);
            uint64_t before = pairs_random(&random, 200);
            uint64_t after = pairs_random(&random, 200);
            first[i] = (struct pairs_class){names[i], 1 + i, 0, before, 0};
            second[i] = (struct pairs_class){names[i], 90 + i, 0, after, 0};
            culprits += after > before && after - before > limit &&
                        100 * (after - before) > percent * before;
        }
        char text[64];
        char error[RULE_ERROR_BYTES];
        struct model *before = MODEL(1, 100, first);
        struct model *after = MODEL(1, 200, second);
        struct diff diff;
        struct rule rule;
        struct rule_outcome outcome;
        snprintf(text, sizeof text, "*:+%d%% or +%d", (int)percent, (int)limit);
        assert_true(rule_parse(&rule, text, error));
        assert_true(diff_init(&diff, before, after));
        assert_true(rule_judge(&rule, &diff, &outcome));
        assert_int_equal(outcome.count, culprits);
        for (size_t i = 1; i < outcome.count; i++) {
            assert_true(outcome.culprits[i - 1].change >= outcome.culprits[i].change);
        }
        rule_outcome_destroy(&outcome);
        rule_destroy(&rule);
        diff_destroy(&diff);
        model_free(before);
        model_free(after);
    }
}

/* No memory. */

static void
says_so_when_memory_runs_out(void **state)
{
    static const char *const texts[] = {"Order:+5", "/^Shop/:+5", "*:+5"};
    struct judged judged;

    (void)state;
    judge(&judged, "*:+0");
    for (size_t i = 0; i < 3; i++) {
        bool good = false;
        for (int allowed = 0; !good; allowed++) {
            char error[RULE_ERROR_BYTES];
            struct rule rule;
            struct rule_outcome outcome = {0};
            memory_allow(allowed);
            bool parsed = rule_parse(&rule, texts[i], error);
            good = parsed && rule_judge(&rule, &judged.diff, &outcome);
            memory_allow(-1);
            assert_true(parsed || strstr(error, "memory ran out") != NULL);
            assert_true(good || outcome.culprits == NULL);
            rule_outcome_destroy(&outcome);
            rule_destroy(&rule);
            assert_true(allowed < 10);
        }
    }
    done(&judged);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form_of_a_rule),
        cmocka_unit_test(says_where_a_rule_is_wrong_and_what_was_expected),
        cmocka_unit_test(a_rule_without_end_is_refused),
        cmocka_unit_test(any_bytes_are_a_rule_or_an_error),
        cmocka_unit_test(judges_by_the_growth_of_what_it_speaks_of),
        cmocka_unit_test(gives_the_numbers_of_what_came_nearest_to_the_limit),
        cmocka_unit_test(without_a_count_nothing_holds_and_nothing_is_broken),
        cmocka_unit_test(the_worst_of_several_rules_counts),
        cmocka_unit_test(is_what_brute_force_says_of_random_models),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
