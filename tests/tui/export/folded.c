#include "tui/export/folded.h"

#include "mixed.h"

static void
reads_like_this(void **state)
{
    (void)state;
    mixed_expect("folded", (struct export_options){.all = false},
                 "=HYPER\"LINK:x,\\x1B[2J_12;<main> 658\n"
                 "=HYPER\"LINK:x,\\x1B[2J_12;<main>;-a:b\\x0A\"c\",\\xFF\\x1B[2J_12 154\n"
                 "=HYPER\"LINK:x,\\x1B[2J_12;(before_tracing) 100\n"
                 "=HYPER\"LINK:x,\\x1B[2J_12;<main>;-a:b\\x0A\"c\",\\xFF\\x1B[2J_12;"
                 "(no_name_yet) 88\n"
                 "Order;<main>;Cart#add 100\n"
                 "Order;<main>;block_in_Cart#add;Hash#fetch 40\n"
                 "Order;(before_tracing) 10\n"
                 "Torn 30\n"
                 "Torn;(other) 20\n");
}

static void
has_bytes_when_asked_and_no_line_where_they_are_unknown(void **state)
{
    (void)state;
    mixed_expect("folded", (struct export_options){.bytes = true},
                 "Order;<main>;Cart#add 4000\n"
                 "Order;<main>;block_in_Cart#add;Hash#fetch 1600\n"
                 "Order;(before_tracing) 400\n"
                 "Torn;(other) 800\n");
}

// One space a line, the one before the count; ";" only between frames.
static void
nothing_in_a_name_looks_like_the_format(void **state)
{
    size_t length;
    struct model *model = mixed_model();
    char *text = mixed_written(model, "folded", (struct export_options){0}, &length);
    char *rest = NULL;
    uint64_t live = 0;

    (void)state;
    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *space = strchr(line, ' ');
        assert_non_null(space);
        assert_int_equal(strspn(space + 1, "0123456789"), strlen(space + 1));
        live += strtoull(space + 1, NULL, 10);
        for (const char *at = line; at < space; at++) {
            assert_true((unsigned char)*at > ' ' && *at != 0x7f);
        }
    }
    assert_int_equal(live, MIXED_ORDER_LIVE + MIXED_HOSTILE_LIVE + MIXED_TORN_LIVE);
    free(text);
    model_free(model);
}

static void
a_model_without_trees_makes_an_empty_file(void **state)
{
    size_t length;
    struct model *model = mixed_empty();
    char *text = mixed_written(model, "folded", (struct export_options){0}, &length);

    (void)state;
    assert_int_equal(length, 0);
    free(text);
    model_free(model);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    (void)state;
    mixed_expect_full("folded");
}

static void
says_so_when_memory_runs_out(void **state)
{
    (void)state;
    mixed_expect_memory("folded");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_this),
        cmocka_unit_test(has_bytes_when_asked_and_no_line_where_they_are_unknown),
        cmocka_unit_test(nothing_in_a_name_looks_like_the_format),
        cmocka_unit_test(a_model_without_trees_makes_an_empty_file),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
