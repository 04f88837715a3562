#include "tui/files_progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct listener {
    struct progress progress;
    char *text;
    size_t length;
};

static void
what_is_done_within_a_second_says_nothing(void **state)
{
    struct listener listener = {0};
    (void)state;
    listener.progress.out = open_memstream(&listener.text, &listener.length);
    for (uint64_t ms = 0; ms < PROGRESS_AFTER_MS; ms += 10) {
        progress_say(&listener.progress, 5000 + ms, ms, 1000);
    }
    progress_end(&listener.progress);
    fclose(listener.progress.out);
    assert_string_equal(listener.text, "");
    free(listener.text);
}

static void
what_takes_longer_says_how_far_it_is_and_leaves_nothing_behind(void **state)
{
    struct listener listener = {0};
    (void)state;
    listener.progress.out = open_memstream(&listener.text, &listener.length);
    progress_say(&listener.progress, 5000, 0, 1000);
    progress_say(&listener.progress, 6000, 414, 1000);
    progress_say(&listener.progress, 6001, 500, 1000); // too soon
    progress_say(&listener.progress, 6100, 1200, 1000);
    progress_end(&listener.progress);
    progress_end(&listener.progress);
    fclose(listener.progress.out);
    assert_string_equal(listener.text, "\rmemtop: reading … 41 %"
                                       "\rmemtop: reading … 100 %"
                                       "\r                          \r");
    free(listener.text);
}

static void
without_a_terminal_nothing_is_said(void **state)
{
    struct progress silent = {0};
    (void)state;
    progress_say(&silent, 5000, 0, 1000);
    progress_say(&silent, 9000, 500, 1000);
    progress_end(&silent);
    assert_false(silent.shown);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_within_a_second_says_nothing),
        cmocka_unit_test(what_takes_longer_says_how_far_it_is_and_leaves_nothing_behind),
        cmocka_unit_test(without_a_terminal_nothing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
