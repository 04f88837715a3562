// The story the program is for: a shop leaks, and keys alone lead from the table to
// the line. The demo itself runs: real Puma, real requests, the real viewer.
#include "e2e.h"

struct scene {
    struct terminal *terminal;
};

static struct scene scene;

static int
open_demo(void **state)
{
    (void)state;
    const char *const arguments[] = {DEMO, "--rate", "100", NULL};
    scene.terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    return 0;
}

static int
close_demo(void **state)
{
    (void)state;
    e2e_quit(scene.terminal);
    return 0;
}

static void
press(const char *keys)
{
    terminal_type(scene.terminal, keys);
}

static void
expect(const char *text)
{
    assert_true(terminal_shows(scene.terminal, text));
}

// The row of a text has another in it as well: waited for, since figures move.
struct pair {
    const char *one;
    const char *other;
};

static bool
in_one_row(struct terminal *terminal, void *context)
{
    const struct pair *pair = context;
    int row = terminal_find(terminal, pair->one);
    if (row < 0) {
        return false;
    }
    char *text = terminal_row(terminal, row);
    bool both = strstr(text, pair->other) != NULL;
    free(text);
    return both;
}

static void
expect_in_one_row(const char *one, const char *other)
{
    struct pair pair = {one, other};
    assert_true(terminal_until(scene.terminal, other, in_one_row, &pair));
}

static void
leads_from_the_table_to_the_line_that_leaks(void **state)
{
    (void)state;
    expect("LIVE");
    press("/~^Order$\r"); // the class that a person sees growing
    expect("▶Order");
    press("\r");
    expect("classes ▸ Order ▸ call tree");
    expect("(before tracing)");
    expect_in_one_row("Cache#fetch", "demo/cache.rb:17");      // unfolded by itself
    expect_in_one_row("▶   17", "Order.new(key, cart.lines)"); // and its source is shown
    press("i"); // the allocating lines first
    expect("lines first");
    expect_in_one_row("Cache#fetch", "demo/cache.rb:17");
    expect_in_one_row("▶   17", "Order.new(key, cart.lines)");
    press("f");
    expect("flame, live");
    expect("Cache#fetch");
    press("f\x1b");
    expect("▶Order");
    expect_in_one_row("▶Order", " t "); // traced still: it fades after a while
}

static void
shows_what_each_route_allocates_and_of_which_classes(void **state)
{
    (void)state;
    expect("LIVE");
    press("W");
    expect("tags: what the program was doing");
    expect_in_one_row("TAG", "CALLS");
    press("/get /"); // not what came before its route
    expect("route=GET /");
    press("\r\r");
    expect("tags ▸ route=GET /");
    expect_in_one_row("CLASS", "LIVE");
    expect("String");
    press("\x1b\x1b\x1b");
    expect("VERDICT");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leads_from_the_table_to_the_line_that_leaks,
                                        open_demo, close_demo),
        cmocka_unit_test_setup_teardown(
            shows_what_each_route_allocates_and_of_which_classes, open_demo, close_demo),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
