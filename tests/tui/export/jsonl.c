#include "tui/export/jsonl.h"

#include <stdio.h>

#include <jansson.h>

#include "mixed.h"

// A line of the mixed model, parsed again; the caller gives it back.
static json_t *
line_of(size_t number)
{
    size_t length;
    struct model *model = mixed_model();
    char *text = mixed_written(model, "json", (struct export_options){0}, &length);
    char *line = text;

    for (; number > 0; number--) {
        line = strchr(line, '\n') + 1;
    }
    *strchr(line, '\n') = '\0';
    json_t *value = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    free(text);
    model_free(model);
    return value;
}

// `wanted` is written with ' for ".
static void
expect_line(size_t number, const char *wanted)
{
    char json[1024];
    json_t *line = line_of(number);

    snprintf(json, sizeof(json), "%s", wanted);
    for (char *at = strchr(json, '\''); at; at = strchr(at, '\'')) {
        *at = '"';
    }
    json_t *value = json_loads(json, 0, NULL);
    assert_non_null(value);
    if (!json_equal(line, value)) {
        fail_msg("%s is not %s", json_dumps(line, 0), json);
    }
    json_decref(value);
    json_decref(line);
}

static void
a_class_has_its_counts_its_verdict_and_its_ages(void **state)
{
    (void)state;
    expect_line(2, "{'kind': 'class', 'name': 'Order', 'live': 150, 'allocated': 180,"
                   " 'freed': 30, 'bytes': 6000, 'verdict': 'leak?',"
                   " 'reason': '+390 objects', 'internal': false, 'anonymous': false,"
                   " 'ages': [0, 0, 40, 110]}");
}

static void
what_nobody_measured_is_null(void **state)
{
    (void)state;
    expect_line(4, "{'kind': 'class', 'name': '(class #5)', 'live': null,"
                   " 'allocated': null, 'freed': null, 'bytes': null, 'verdict': null,"
                   " 'reason': null, 'internal': false, 'anonymous': false,"
                   " 'ages': null}");
    expect_line(7, "{'kind': 'path', 'class': '=HYPER\\\"LINK;x,\\\\x1B[2J 12',"
                   " 'stack': [{'label': '(before tracing)', 'path': null,"
                   " 'line': null}], 'live': 100, 'error': 0.0, 'allocated': 0,"
                   " 'bytes': null, 'ages': null}");
}

static void
a_path_has_its_frames_from_the_outermost_inwards(void **state)
{
    (void)state;
    expect_line(10, "{'kind': 'path', 'class': 'Order', 'stack':"
                    " [{'label': '<main>', 'path': '/srv/app.rb', 'line': 5},"
                    " {'label': 'block in Cart#add', 'path': '/srv/cart.rb', 'line': 12},"
                    " {'label': 'Hash#fetch', 'path': null, 'line': null}],"
                    " 'live': 40, 'error': 0.0, 'allocated': 60, 'bytes': 1600,"
                    " 'ages': [0, 0, 40, 0]}");
}

static void
what_no_path_accounts_for_has_an_empty_stack(void **state)
{
    (void)state;
    expect_line(13, "{'kind': 'path', 'class': 'Torn', 'stack': [], 'live': 30,"
                    " 'error': 0.0, 'allocated': 0, 'bytes': null, 'ages': null}");
}

static void
lists_internals_when_asked(void **state)
{
    size_t length;
    struct model *model = mixed_model();
    char *text =
        mixed_written(model, "json", (struct export_options){.all = true}, &length);

    (void)state;
    assert_non_null(
        strstr(text, "\n{\"kind\":\"class\",\"name\":\"(iseq)\",\"live\":70,"));
    free(text);
    model_free(model);
}

static void
a_model_that_knows_nothing_has_no_line(void **state)
{
    size_t length;
    struct model *model = mixed_empty();
    char *text = mixed_written(model, "json", (struct export_options){0}, &length);

    (void)state;
    assert_int_equal(length, 0);
    free(text);
    model_free(model);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    (void)state;
    mixed_expect_full("json");
}

static void
says_so_when_memory_runs_out(void **state)
{
    (void)state;
    mixed_expect_memory("json");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_has_its_counts_its_verdict_and_its_ages),
        cmocka_unit_test(what_nobody_measured_is_null),
        cmocka_unit_test(a_path_has_its_frames_from_the_outermost_inwards),
        cmocka_unit_test(what_no_path_accounts_for_has_an_empty_stack),
        cmocka_unit_test(lists_internals_when_asked),
        cmocka_unit_test(a_model_that_knows_nothing_has_no_line),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
