#include "tui/export/table.h"

#include <errno.h>
#include <stdlib.h>

#include "examples.h"

static char *
table_of(const struct model *model, bool all)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_true(table_write(model, all, out));
    fclose(out);
    return text;
}

static void
reads_like_this(void **state)
{
    static const char expected[] =
        "time     2026-01-01T00:00:01Z\n"
        "process  4120: ruby app.rb \\x1B[2J\n"
        "ruby     3.1.2, mode count, probe started 2026-01-01T00:00:00Z\n"
        "memory   RSS 212000000 bytes, heap slots 1241600 live 1200 free, 412 GC runs\n"
        "probe    cost 0.80 % of a core, drift 1, dropped frames 3\n"
        "totals   live 1413, allocated 1000, freed 7, bytes -\n"
        "warning  objspace tracing is on\n"
        "\n"
        "        LIVE      ALLOCATED          FREED          BYTES  VERDICT  CLASS\n"
        "         400 9007199254740993              7          16384  leak?    String\n"
        "           5              5              0              -  steady   "
        "Bad\\x1B[31m\n"
        "           5 18446744073709551614              0              0  -        "
        "Broken\\xFF\n"
        "           2              2              0              -  -        (class #9)\n"
        "           0              0              0              -  -        "
        "Caf\xc3\xa9\n"
        "           -              -              -              -  -        "
        "#<Class:0x1>\n";
    struct model *model = example_model();
    char *text = table_of(model, false);

    (void)state;
    assert_string_equal(text, expected);
    free(text);
    model_free(model);
}

static void
lists_internals_when_asked(void **state)
{
    struct model *model = example_model();
    char *text = table_of(model, true);

    (void)state;
    assert_non_null(strstr(text, "  (iseq)\n"));
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
    assert_false(table_write(model, false, full));
    assert_int_equal(errno, ENOSPC);
    fclose(full);
    model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_this),
        cmocka_unit_test(lists_internals_when_asked),
        cmocka_unit_test(says_so_when_the_stream_is_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
