#include "tui/export/document.h"

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "examples.h"

static json_t *
document_of(const struct model *model, bool all)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_true(document_write(model, all, out));
    fclose(out);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    free(text);
    return document;
}

static const json_t *
class_at(const json_t *document, size_t index)
{
    return json_array_get(json_object_get(document, "classes"), index);
}

static const char *
name_at(const json_t *document, size_t index)
{
    return json_string_value(json_object_get(class_at(document, index), "name"));
}

static void
carries_verdicts_and_their_reasons(void **state)
{
    struct model *model = example_model();
    json_t *document = document_of(model, false);
    const json_t *leak = class_at(document, 0);
    const json_t *unjudged = class_at(document, 2);

    (void)state;
    assert_string_equal(json_string_value(json_object_get(leak, "verdict")), "leak?");
    assert_string_equal(json_string_value(json_object_get(leak, "reason")),
                        "+390 objects \\x1B[5m");
    assert_true(json_is_null(json_object_get(unjudged, "verdict")));
    assert_true(json_is_null(json_object_get(unjudged, "reason")));
    json_decref(document);
    model_free(model);
}

// What scripts rely on; add to it, take nothing away.
static void
has_every_name_that_was_promised(void **state)
{
    static const struct {
        const char *group;
        const char *names[7];
    } promised[] = {
        {"process", {"pid", "command", "ruby", "mode", "started"}                  },
        {"memory",  {"rss_bytes", "heap_slots_live", "heap_slots_free", "gc_count"}},
        {"probe",   {"cost_percent", "drift", "dropped_frames"}                    },
        {"totals",  {"live", "allocated", "freed", "bytes"}                        },
    };
    struct model *model = example_model();
    json_t *document = document_of(model, false);

    (void)state;
    for (size_t i = 0; i < sizeof(promised) / sizeof(*promised); i++) {
        const json_t *group = json_object_get(document, promised[i].group);
        assert_true(json_is_object(group));
        for (int k = 0; promised[i].names[k]; k++) {
            assert_non_null(json_object_get(group, promised[i].names[k]));
        }
    }
    for (int k = 0; promised[3].names[k]; k++) {
        assert_non_null(json_object_get(class_at(document, 0), promised[3].names[k]));
    }
    json_decref(document);
    model_free(model);
}

static void
says_what_the_model_holds(void **state)
{
    struct model *model = example_model();
    json_t *document = document_of(model, false);
    const char *ruby;
    const char *mode;
    const char *started;
    const char *time;
    const char *notice;
    json_int_t pid;
    json_int_t rss;
    double cost;

    (void)state;
    assert_int_equal(json_unpack(document, "{s{sI ss ss ss} ss s{sI} s{sf} s[{ss}]}",
                                 "process", "pid", &pid, "ruby", &ruby, "mode", &mode,
                                 "started", &started, "time", &time, "memory",
                                 "rss_bytes", &rss, "probe", "cost_percent", &cost,
                                 "notices", "text", &notice),
                     0);
    assert_int_equal(pid, 4120);
    assert_int_equal(rss, 212000000);
    assert_string_equal(ruby, "3.1.2");
    assert_string_equal(mode, "count");
    assert_string_equal(started, "2026-01-01T00:00:00Z");
    assert_string_equal(time, "2026-01-01T00:00:01Z");
    assert_string_equal(notice, "objspace tracing is on");
    assert_true(cost > 0.7999 && cost < 0.8001);
    json_decref(document);
    model_free(model);
}

static void
lists_classes_by_live_and_leaves_internals_out(void **state)
{
    struct model *model = example_model();
    json_t *document = document_of(model, false);

    (void)state;
    assert_int_equal(json_array_size(json_object_get(document, "classes")), 6);
    assert_string_equal(name_at(document, 0), "String");
    assert_string_equal(name_at(document, 3), "(class #9)");
    assert_string_equal(name_at(document, 4), "Caf\xc3\xa9");
    assert_string_equal(name_at(document, 5), "#<Class:0x1>");
    json_decref(document);
    model_free(model);
}

static void
lists_internals_when_asked(void **state)
{
    struct model *model = example_model();
    json_t *document = document_of(model, true);

    (void)state;
    assert_int_equal(json_array_size(json_object_get(document, "classes")), 7);
    assert_string_equal(name_at(document, 0), "(iseq)");
    json_decref(document);
    model_free(model);
}

static void
what_nobody_measured_is_null_and_large_numbers_stay_exact(void **state)
{
    struct model *model = example_model();
    json_t *document = document_of(model, false);
    const json_t *string = class_at(document, 0);
    const json_t *anonymous = class_at(document, 5);

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(string, "allocated")),
                     9007199254740993);
    assert_int_equal(json_integer_value(json_object_get(string, "bytes")), 16384);
    assert_true(json_is_null(json_object_get(anonymous, "live")));
    assert_true(json_is_null(json_object_get(anonymous, "bytes")));
    assert_true(
        json_is_null(json_object_get(json_object_get(document, "totals"), "bytes")));
    json_decref(document);
    model_free(model);
}

static void
escapes_names_that_would_command_a_terminal(void **state)
{
    struct model *model = example_model();
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    (void)state;
    assert_true(document_write(model, true, out));
    fclose(out);
    for (size_t i = 0; i < length; i++) {
        assert_true(text[i] == '\n' || (unsigned char)text[i] >= ' ');
    }
    // not even behind JSON's own escapes, which a reader undoes
    assert_null(strstr(text, "\\u001b"));
    assert_null(strstr(text, "\\u001B"));
    free(text);
    model_free(model);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    struct model *model = example_model();
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    assert_false(document_write(model, false, full));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
    model_free(model);
}

static void
a_model_that_knows_nothing_is_still_a_document(void **state)
{
    struct model *model = model_new();
    json_t *document;

    (void)state;
    example_hello(model);
    document = document_of(model, false);
    assert_int_equal(json_array_size(json_object_get(document, "classes")), 0);
    assert_true(json_is_null(json_object_get(document, "time")));
    json_decref(document);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_name_that_was_promised),
        cmocka_unit_test(carries_verdicts_and_their_reasons),
        cmocka_unit_test(says_what_the_model_holds),
        cmocka_unit_test(lists_classes_by_live_and_leaves_internals_out),
        cmocka_unit_test(lists_internals_when_asked),
        cmocka_unit_test(what_nobody_measured_is_null_and_large_numbers_stay_exact),
        cmocka_unit_test(escapes_names_that_would_command_a_terminal),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(a_model_that_knows_nothing_is_still_a_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
