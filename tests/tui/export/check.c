#include "tui/export/check.h"

#include "tests/tui/model/pairs.h"
#include "written.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define RULES_MAX 8

struct checked {
    struct model *before; // owned
    struct model *after;  // owned
    struct diff diff;
    struct rule rules[RULES_MAX];
    struct rule_outcome outcomes[RULES_MAX];
    struct check check;
};

static bool
write_text(const void *what, FILE *out)
{
    return check_write_text(&((const struct checked *)what)->check, out);
}

static bool
write_json(const void *what, FILE *out)
{
    return check_write_json(&((const struct checked *)what)->check, out);
}

// Takes the models over.
static void
check(struct checked *checked, struct model *before, struct model *after,
      const char *const *rules, size_t count)
{
    *checked = (struct checked){.before = before, .after = after};
    assert_true(before != NULL && after != NULL && count <= RULES_MAX);
    assert_true(diff_init(&checked->diff, before, after));
    for (size_t i = 0; i < count; i++) {
        char error[RULE_ERROR_BYTES];
        assert_true(rule_parse(&checked->rules[i], rules[i], error));
        assert_true(
            rule_judge(&checked->rules[i], &checked->diff, &checked->outcomes[i]));
    }
    checked->check = (struct check){
        .diff = &checked->diff, .outcomes = checked->outcomes, .count = count};
}

static void
end(struct checked *checked)
{
    for (size_t i = 0; i < RULES_MAX; i++) {
        rule_outcome_destroy(&checked->outcomes[i]);
        rule_destroy(&checked->rules[i]);
    }
    diff_destroy(&checked->diff);
    model_free(checked->before);
    model_free(checked->after);
}

static const struct pairs_class one[] = {
    {"String", 1, 0, 1000, COUNT_UNKNOWN},
    {"Hash",   2, 0, 50,   2000         },
    {"Array",  3, 0, 70,   2800         },
};

static const struct pairs_class other[] = {
    {"String", 1, 0, 1500, COUNT_UNKNOWN},
    {"Hash",   2, 0, 51,   9000         },
    {"Array",  3, 0, 30,   1200         },
};

static void
reads_like_this(void **state)
{
    static const char *const rules[] = {"*:+10%",      "Hash:+10",         "total:+100",
                                        "Hsah:+5",     "String:+1M bytes", "/^A/:+0",
                                        "*:+5K bytes", "total:+1M"};
    struct checked checked;

    (void)state;
    check(&checked, pairs_model(1, 100, one, 3), pairs_model(1, 160, other, 3), rules, 8);
    written_expect(
        write_text, &checked,
        "FAILED   *:+10%: 1 of 3 classes grew by more\n"
        "          String +500 (1000 -> 1500), at most +100\n"
        "            no stacks of it were taken\n"
        "ok       Hash:+10: Hash +1 (50 -> 51), at most +10\n"
        "FAILED   total:+100: total +461 (1120 -> 1581), at most +100\n"
        "          String +500 (1000 -> 1500)\n"
        "            no stacks of it were taken\n"
        "          Hash +1 (50 -> 51)\n"
        "            no stacks of it were taken\n"
        "ok       Hsah:+5: no such class was seen\n"
        "unknown  String:+1M bytes: bytes were not counted\n"
        "ok       /^A/:+0: 0 of 1 classes grew by more, nearest: Array -40 (70 -> 30), "
        "at most +0\n"
        "FAILED   *:+5K bytes: 1 of 3 classes grew by more; 1 of 3 not counted\n"
        "          Hash +7000 (2000 -> 9000), at most +5120 bytes\n"
        "            no stacks of it were taken\n"
        "ok       total:+1M: total +461 (1120 -> 1581), at most +1000000\n"
        "4 ok, 3 failed, 1 unknown\n");
    end(&checked);
}

static void
a_culprit_comes_with_where_its_new_objects_are_from(void **state)
{
    static const char *const rules[] = {"Order:+10%", "total:+1K bytes"};
    struct checked checked;

    (void)state;
    check(&checked, pairs_shop_before(), pairs_shop_after(3), rules, 2);
    checked.check.paths = 1;
    written_expect(
        write_text, &checked,
        "FAILED   Order:+10%: Order +500 (100 -> 600), at most +10\n"
        "                CHANGE       +-       BEFORE        AFTER  PATH\n"
        "                  +500        0          100          600  Order\n"
        "                  +460        0           90          550    <main>  "
        "/srv/shop/server.rb:5\n"
        "                  +460        0           90          550      "
        "Rack::Stack#call  /usr/lib/gems/rack-2.2.4/lib/rack/stack.rb:30\n"
        "                  +480        0           60          540        block in "
        "OrdersApp#create  /srv/shop/app/orders.rb:25 (moved from line 22)\n"
        "                  +480        0           60          540          "
        "Cache#fetch  /srv/shop/app/cache.rb:12 (moved from line 9)\n"
        "                                                           … 1 more\n"
        "FAILED   total:+1K bytes: total +20000 (4000 -> 24000), at most +1024 bytes\n"
        "          Order +20000 (4000 -> 24000) bytes\n"
        "               +-BYTES       +-       BEFORE        AFTER  PATH\n"
        "                +20000        0         4000        24000  Order\n"
        "                +18400        0         3600        22000    <main>  "
        "/srv/shop/server.rb:5\n"
        "                +18400        0         3600        22000      "
        "Rack::Stack#call  /usr/lib/gems/rack-2.2.4/lib/rack/stack.rb:30\n"
        "                +19200        0         2400        21600        block in "
        "OrdersApp#create  /srv/shop/app/orders.rb:25 (moved from line 22)\n"
        "                +19200        0         2400        21600          "
        "Cache#fetch  /srv/shop/app/cache.rb:12 (moved from line 9)\n"
        "                                                           … 1 more\n"
        "0 ok, 2 failed, 0 unknown\n");
    end(&checked);
}

static void
says_when_the_stacks_of_one_end_are_missing(void **state)
{
    static const char *const rules[] = {"Order:+10%"};
    static const struct pairs_class order = {"Order", PAIRS_ORDER, 0, 100, 4000};
    struct checked checked;

    (void)state;
    check(&checked, pairs_model(4120, 90, &order, 1), pairs_shop_after(0), rules, 1);
    written_expect_words(write_text, &checked, "stacks are missing at one end");
    written_expect_words(write_text, &checked, "Cache#fetch  /srv/shop/app/cache.rb:9\n");
    end(&checked);
}

static void
only_so_many_culprits_are_shown(void **state)
{
    static const char *const rules[] = {"*:+0"};
    struct checked checked;

    (void)state;
    check(&checked, pairs_model(1, 100, one, 3), pairs_model(1, 160, other, 3), rules, 1);
    checked.check.culprits = 1;
    written_expect(write_text, &checked,
                   "FAILED   *:+0: 2 of 3 classes grew by more\n"
                   "          String +500 (1000 -> 1500), at most +0\n"
                   "            no stacks of it were taken\n"
                   "          … 1 more\n"
                   "0 ok, 1 failed, 0 unknown\n");
    json_t *document = written_json(write_json, &checked);
    assert_int_equal(json_array_size(written_at(document, "rules.0.culprits")), 1);
    written_expect_number(document, "rules.0.left_out", 1);
    json_decref(document);
    end(&checked);
}

/* JSON. */

// What scripts rely on; add to it, take nothing away.
static void
has_every_name_that_was_promised(void **state)
{
    static const char *const rules[] = {"Order:+10%", "Cart:+1 bytes"};
    static const char *const names[] = {
        "ok",
        "verdict",
        "from",
        "to",
        "same_process",
        "rules.0.rule",
        "rules.0.verdict",
        "rules.0.measure",
        "rules.0.matched",
        "rules.0.unknown",
        "rules.0.most.class",
        "rules.0.most.before",
        "rules.0.most.after",
        "rules.0.most.change",
        "rules.0.most.allowed",
        "rules.0.left_out",
        "rules.0.culprits.0.class",
        "rules.0.culprits.0.before",
        "rules.0.culprits.0.after",
        "rules.0.culprits.0.change",
        "rules.0.culprits.0.allowed",
        "rules.0.culprits.0.paths.sites.0.stack.0.label",
        "rules.1.culprits",
    };
    struct checked checked;

    (void)state;
    check(&checked, pairs_shop_before(), pairs_shop_after(0), rules, 2);
    json_t *document = written_json(write_json, &checked);
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_non_null(written_at(document, names[i]));
    }
    assert_true(json_is_false(written_at(document, "ok")));
    written_expect_string(document, "verdict", "failed");
    written_expect_string(document, "from", "1970-01-01T00:01:40Z");
    written_expect_string(document, "rules.0.rule", "Order:+10%");
    written_expect_string(document, "rules.0.verdict", "failed");
    written_expect_number(document, "rules.0.culprits.0.change", 500);
    written_expect_number(document, "rules.0.culprits.0.allowed", 10);
    // what shrank is no culprit's path
    assert_int_equal(
        json_array_size(written_at(document, "rules.0.culprits.0.paths.sites")), 2);
    written_expect_string(document, "rules.1.verdict", "ok");
    written_expect_string(document, "rules.1.measure", "bytes");
    written_expect_number(document, "rules.1.matched", 0);
    written_expect_null(document, "rules.1.most");
    json_decref(document);
    end(&checked);
}

static void
what_is_unknown_is_not_ok(void **state)
{
    static const char *const rules[] = {"String:+1M bytes", "Hash:+100"};
    struct checked checked;

    (void)state;
    check(&checked, pairs_model(1, 100, one, 3), pairs_model(1, 160, other, 3), rules, 2);
    json_t *document = written_json(write_json, &checked);
    assert_true(json_is_false(written_at(document, "ok")));
    written_expect_string(document, "verdict", "unknown");
    written_expect_string(document, "rules.0.verdict", "unknown");
    written_expect_null(document, "rules.0.most");
    json_decref(document);
    end(&checked);
}

static void
without_rules_all_is_well(void **state)
{
    struct checked checked;

    (void)state;
    check(&checked, model_new(), model_new(), NULL, 0);
    written_expect(write_text, &checked, "0 ok, 0 failed, 0 unknown\n");
    json_t *document = written_json(write_json, &checked);
    assert_true(json_is_true(written_at(document, "ok")));
    written_expect_null(document, "from");
    json_decref(document);
    end(&checked);
}

static void
neither_rule_nor_class_reaches_the_terminal_as_it_is(void **state)
{
    static const char *const rules[] = {"*:+0", "Bad\033[2J\n\xff:+0", "/\033/:+0"};
    static const struct pairs_class evil = {"Bad\033[2J\n\xff", 3, 0, 5, 200};
    struct checked checked;

    (void)state;
    check(&checked, pairs_model(1, 100, one, 1), pairs_model(1, 160, &evil, 1), rules, 3);
    char *text = written_text(write_text, &checked);
    for (const char *at = text; *at != '\0'; at++) {
        assert_true(*at == '\n' || (unsigned char)*at >= ' ');
    }
    assert_non_null(strstr(text, "FAILED   Bad\\x1B[2J\\x0A\\xFF:+0: Bad\\x1B[2J\\x0A"));
    free(text);
    json_decref(written_json(write_json, &checked));
    end(&checked);
}

/* Streams, memory. */

static void
says_so_when_the_stream_is_full(void **state)
{
    static const char *const rules[] = {"Order:+10%", "*:+1M"};
    struct checked checked;

    (void)state;
    check(&checked, pairs_shop_before(), pairs_shop_after(3), rules, 2);
    written_fails_on_a_full_disk(write_text, &checked);
    written_fails_on_a_full_disk(write_json, &checked);
    end(&checked);
}

static void
says_so_when_memory_runs_out(void **state)
{
    static const char *const rules[] = {"Order:+10%", "*:+1M"};
    struct checked checked;

    (void)state;
    check(&checked, pairs_shop_before(), pairs_shop_after(3), rules, 2);
    written_all_or_nothing(write_text, &checked);
    written_all_or_nothing(write_json, &checked);
    end(&checked);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_this),
        cmocka_unit_test(a_culprit_comes_with_where_its_new_objects_are_from),
        cmocka_unit_test(says_when_the_stacks_of_one_end_are_missing),
        cmocka_unit_test(only_so_many_culprits_are_shown),
        cmocka_unit_test(has_every_name_that_was_promised),
        cmocka_unit_test(what_is_unknown_is_not_ok),
        cmocka_unit_test(without_rules_all_is_well),
        cmocka_unit_test(neither_rule_nor_class_reaches_the_terminal_as_it_is),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
