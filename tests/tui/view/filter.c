#include "tui/view/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A scene with one class: Order, 100 objects of 4 KiB, 12 of them new.
struct one_class {
    struct scene scene;
    struct model *model;
};

static struct one_class
order(void)
{
    static const struct class_name name = {
        1, 0, {"ActiveRecord::Order", 19}
    };
    const struct class_row row = {1, 88, 88, 0, UINT64_C(400) * 1024};
    const struct class_row later = {1, 100, 100, 0, UINT64_C(400) * 1024};
    struct one_class one = {.model = model_new()};
    struct message message = {
        .kind = MESSAGE_NAMES, .names = {&name, 1}
    };
    assert_non_null(one.model);
    assert_true(model_apply(one.model, &message));
    message = (struct message){
        .kind = MESSAGE_SAMPLE,
        .sample = {.key = true,
                   .mode = MODE_COUNT,
                   .rows = &row,
                   .row_count = 1,
                   .totals = {.live = 400}}
    };
    assert_true(model_apply(one.model, &message));
    message.at.monotonic_us = 6000000;
    message.sample.rows = &later;
    assert_true(model_apply(one.model, &message));
    one.scene = (struct scene){.model = one.model, .glyphs = glyphs_of(false)};
    return one;
}

static void
lets_through_what_all_words_hold_for(void **state)
{
    static const struct {
        const char *text;
        bool passes;
    } cases[] = {
        {"",                       true },
        {"   ",                    true },
        {"order",                  true },
        {"Order",                  true },
        {"ORDER",                  false}, // a capital means what it says
        {"orders",                 false},
        {"!order",                 false},
        {"!session",               true },
        {"active order",           true },
        {"active session",         false},
        {"~^Active.*Order$",       true },
        {"~^order",                false},
        {"~record::order$",        true },
        {"~orders*$",              true },
        {"~orders?$",              true },
        {"~x{0}orderx{0}$",        true },
        {"~(session|order)$",      true },
        {"~[xo]rder",              true },
        {"~session*",              false},
        {"!~^Active",              false},
        {"!",                      true }, // still being typed
        {"!~",                     true },
        {"~",                      true },
        {"live>99",                true },
        {"live>100",               false},
        {"live>=100",              true },
        {"live<=100",              true },
        {"live<100",               false},
        {"live=100",               true },
        {"live!=100",              false},
        {"!live=100",              false},
        {"delta>11",               true },
        {"delta>12",               false},
        {"delta>-5",               true },
        {"rate>=2",                true },
        {"rate>2",                 false},
        {"bytes>399K",             true },
        {"bytes>400k",             false},
        {"bytes<1M",               true },
        {"live<0.2K",              true }, // a count's K is a thousand
        {"live>0.1K",              false},
        {"share=25",               true },
        {"order live>10 delta>10", true },
        {"order live>10 delta<10", false},
        {"alloc>1",                true },
        {"free>0",                 false},
        {"::",                     true },
        {"Active<",                false}, // a name, for the sake of #<Class:0x1>
    };
    (void)state;
    struct one_class one = order();
    struct filter filter = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[FILTER_ERROR_BYTES];
        if (!filter_parse(&filter, cases[i].text, error)) {
            fail_msg("%s: %s", cases[i].text, error);
        }
        if (filter_match(&filter, &one.scene, model_class_at(one.model, 0)) !=
            cases[i].passes) {
            fail_msg("%s should %s", cases[i].text,
                     cases[i].passes ? "pass" : "not pass");
        }
    }
    filter_destroy(&filter);
    filter_destroy(&filter);
    model_free(one.model);
}

static void
says_what_is_wrong_and_stays_as_it_was(void **state)
{
    static const struct {
        const char *text;
        const char *error; // a part of it
    } cases[] = {
        {"~(",                "~(: "                                         },
        {"delta>",            "a number is missing"                          },
        {"delta>x",           "\"x\" is no number"                           },
        {"delta>5x",          "\"5x\" is no number"                          },
        {"delta>1e999",       "is no number"                                 },
        {"delta>nan",         "is no number"                                 },
        {"size>5",            "no column \"size\"; there are live delta rate"},
        {"name>5",            "no column \"name\""                           },
        {"history>5",         "no column \"history\""                        },
        {"a b c d e f g h i", "8 words at most"                              },
    };
    (void)state;
    struct filter filter = {0};
    char error[FILTER_ERROR_BYTES];
    assert_true(filter_parse(&filter, "order", error));
    assert_string_equal(error, "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(filter_parse(&filter, cases[i].text, error));
        if (strstr(error, cases[i].error) == NULL) {
            fail_msg("%s: %s", cases[i].text, error);
        }
        assert_string_equal(filter.text, "order");
        assert_int_equal(filter.count, 1);
    }
    char longest[FILTER_BYTES + 1];
    memset(longest, 'a', FILTER_BYTES);
    longest[FILTER_BYTES] = '\0';
    assert_false(filter_parse(&filter, longest, error));
    filter_destroy(&filter);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_through_what_all_words_hold_for),
        cmocka_unit_test(says_what_is_wrong_and_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
