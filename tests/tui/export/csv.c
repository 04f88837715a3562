#include "tui/export/csv.h"

#include "mixed.h"

static void
classes_read_like_this(void **state)
{
    (void)state;
    mixed_expect(
        "csv", (struct export_options){.all = false},
        "name,live,allocated,freed,bytes,verdict,reason,survived_below_2,survived_below_"
        "8,survived_below_32,survived_32_or_more,internal,anonymous\r\n"
        "\"String\",5000,9007199254740993,7,,,,,,,,false,false\r\n"
        "\"'=HYPER\"\"LINK;x,\\x1B[2J 12\",1000,1100,100,,,,,,,,false,false\r\n"
        "\"Order\",150,180,30,6000,\"leak?\",\"'+390 objects\",0,0,40,110,false,false\r\n"
        "\"Torn\",50,50,0,2000,\"steady\",,50,0,0,0,false,false\r\n"
        "\"(class #5)\",,,,,,,,,,,false,false\r\n");
}

static void
lists_internals_when_asked(void **state)
{
    size_t length;
    struct model *model = mixed_model();
    char *text =
        mixed_written(model, "csv", (struct export_options){.all = true}, &length);

    (void)state;
    assert_non_null(strstr(text, "\r\n\"(iseq)\",70,70,0,,,,,,,,true,false\r\n"));
    free(text);
    model_free(model);
}

static void
paths_read_like_this(void **state)
{
    (void)state;
    mixed_expect(
        "csv-paths", (struct export_options){.all = false},
        "class,stack,label,path,line,live,error,allocated,bytes,survived_below_2,"
        "survived_below_8,survived_below_32,survived_32_or_more\r\n"
        "\"'=HYPER\"\"LINK;x,\\x1B[2J "
        "12\",\"<main>\",\"<main>\",\"/srv/app.rb\",5,658,133,746,,,,,\r\n"
        "\"'=HYPER\"\"LINK;x,\\x1B[2J 12\",\"<main>;-a:b\\x0A\"\"c\"\",\\xFF\\x1B[2J "
        "12\",\"'-a;b\\x0A\"\"c\"\",\\xFF\\x1B[2J 12\",\"/srv/\\x1B]0;x, "
        "\"\"q\"\".rb\",9,154,125,130,,,,,\r\n"
        "\"'=HYPER\"\"LINK;x,\\x1B[2J 12\",\"(before tracing)\",\"(before "
        "tracing)\",,,100,0,0,,,,,\r\n"
        "\"'=HYPER\"\"LINK;x,\\x1B[2J 12\",\"<main>;-a:b\\x0A\"\"c\"\",\\xFF\\x1B[2J "
        "12;(no name yet)\",\"(no name yet)\",,,88,112,75,,,,,\r\n"
        "\"Order\",\"<main>;Cart#add\",\"Cart#add\",\"/srv/"
        "cart.rb\",9,100,0,110,4000,0,0,0,100\r\n"
        "\"Order\",\"<main>;block in "
        "Cart#add;Hash#fetch\",\"Hash#fetch\",,,40,0,60,1600,0,0,40,0\r\n"
        "\"Order\",\"(before tracing)\",\"(before tracing)\",,,10,0,0,400,0,0,0,10\r\n"
        "\"Order\",\"<main>;Cart#add\",\"Cart#add\",\"/srv/"
        "cart.rb\",13,0,0,10,0,0,0,0,0\r\n"
        "\"Torn\",\"\",,,,30,0,0,,,,,\r\n"
        "\"Torn\",\"(other)\",\"(other)\",,,20,0,20,800,20,0,0,0\r\n");
}

static void
a_model_that_knows_nothing_is_a_header_line(void **state)
{
    static const char *const formats[] = {"csv", "csv-paths"};
    struct model *model = mixed_empty();

    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t length;
        char *text =
            mixed_written(model, formats[i], (struct export_options){0}, &length);
        assert_ptr_equal(strstr(text, "\r\n"), text + length - 2);
        free(text);
    }
    model_free(model);
}

static void
says_so_when_the_stream_is_full(void **state)
{
    (void)state;
    mixed_expect_full("csv");
    mixed_expect_full("csv-paths");
}

static void
says_so_when_memory_runs_out(void **state)
{
    (void)state;
    mixed_expect_memory("csv-paths");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_read_like_this),
        cmocka_unit_test(lists_internals_when_asked),
        cmocka_unit_test(paths_read_like_this),
        cmocka_unit_test(a_model_that_knows_nothing_is_a_header_line),
        cmocka_unit_test(says_so_when_the_stream_is_full),
        cmocka_unit_test(says_so_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
