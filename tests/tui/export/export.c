#include "tui/export/export.h"

#include "mixed.h"

static void
every_format_is_found_by_its_name_and_explained(void **state)
{
    static const char *const promised[] = {"folded", "speedscope", "pprof", "csv",
                                           "json"};
    const struct export_format *format;

    (void)state;
    for (size_t i = 0; i < sizeof(promised) / sizeof(*promised); i++) {
        assert_non_null(export_format_find(promised[i]));
    }
    for (size_t i = 0; (format = export_format_at(i)); i++) {
        assert_ptr_equal(export_format_find(format->name), format);
        assert_true(strlen(format->summary) > 0 && strlen(format->summary) <= 60);
        assert_non_null(format->write);
    }
}

static void
what_is_no_format_is_not_found(void **state)
{
    (void)state;
    assert_null(export_format_find(""));
    assert_null(export_format_find("fold"));
    assert_null(export_format_find("Folded"));
}

static void
tells_whether_there_are_paths_at_all(void **state)
{
    struct model *mixed = mixed_model();
    struct model *empty = mixed_empty();

    (void)state;
    assert_true(export_has_paths(mixed));
    assert_false(export_has_paths(empty));
    model_free(mixed);
    model_free(empty);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_found_by_its_name_and_explained),
        cmocka_unit_test(what_is_no_format_is_not_found),
        cmocka_unit_test(tells_whether_there_are_paths_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
