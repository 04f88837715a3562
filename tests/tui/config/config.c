#include "tui/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"
#include "tui/config/settings.h"
#include "tui/view/action.h"

static struct config config; // large, and not to be moved

static void
read_text(const char *text, size_t length)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
    assert_non_null(in);
    config_init(&config);
    config_read(&config, in, "config");
    fclose(in);
}

static void
read_lines(const char *text)
{
    read_text(text, strlen(text));
}

// The default file with its settings no longer commented out; the caller frees it.
static char *
default_file(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(config_print(out));
    fclose(out);
    for (char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (at[0] == '#' && at[1] >= 'a' && at[1] <= 'z') {
            at[0] = ' ';
        }
    }
    return text;
}

static void
expect_keys_of_default(const struct view_class *view)
{
    const struct binding *at = view != NULL ? view->bindings : view_everywhere;
    for (; at->action != ACTION_NONE; at++) {
        char chosen[80];
        char own[80];
        keymap_names(chosen, sizeof chosen, &config.choices.keymap, view, at, false);
        keymap_names(own, sizeof own, NULL, view, at, false);
        assert_string_equal(chosen, own);
    }
}

static void
the_printed_default_is_what_is_so_without_a_file(void **state)
{
    static struct config other;
    const struct setting *setting;
    const struct view_class *view;
    (void)state;
    char *text = default_file();
    read_lines(text);
    free(text);
    config_init(&other);
    assert_int_equal(config.problem_count, 0);
    for (size_t i = 0; (setting = settings_at(i)) != NULL; i++) {
        char read[SETTINGS_VALUE_BYTES];
        char own[SETTINGS_VALUE_BYTES];
        setting->get(&config, read);
        setting->get(&other, own);
        assert_string_equal(read, own);
    }
    expect_keys_of_default(NULL);
    for (size_t i = 0; (view = app_choices_view(i)) != NULL; i++) {
        expect_keys_of_default(view);
    }
    assert_in_range(config.choices.keymap.count, 90, CONFIG_KEYS_MAX - 64);
}

static void
the_default_as_it_is_printed_says_nothing(void **state)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    (void)state;
    assert_true(config_print(out));
    fclose(out);
    read_lines(text);
    free(text);
    assert_int_equal(config.problem_count, 0);
    assert_int_equal(config.choices.keymap.count, 0);
}

static void
every_action_that_has_keys_has_a_name(void **state)
{
    const struct view_class *view;
    const struct binding *at;
    (void)state;
    for (size_t i = 0; (view = app_choices_view(i)) != NULL; i++) {
        for (at = view->bindings; at->action != ACTION_NONE; at++) {
            assert_true(at->action == ACTION_SORT_COLUMN || action_name(at->action));
        }
    }
    for (at = view_everywhere; at->action != ACTION_NONE; at++) {
        assert_int_equal(action_find(action_name(at->action)), at->action);
    }
}

static void
takes_each_setting(void **state)
{
    char value[SETTINGS_VALUE_BYTES];
    (void)state;
    read_lines("[viewer]\ntheme = colorblind\nascii = yes\nmouse = no\nreadonly = yes\n"
               "ring = 1G\n[classes]\ncolumns = delta, name\nsort = delta\n"
               "inverted = yes\ninternal = yes\ndigits = no\nbytes = yes\n"
               "[call tree]\ncolumns = bar live ; a comment\n");
    assert_int_equal(config.problem_count, 0);
    assert_int_equal(config.theme, THEME_COLORBLIND);
    assert_true(config.ascii && !config.mouse && config.readonly);
    assert_int_equal(config.ring_bytes, UINT64_C(1) << 30);
    assert_int_equal(config.choices.columns.count, 2);
    assert_int_equal(config.choices.columns.ids[0], COLUMN_DELTA);
    assert_int_equal(config.choices.sort, COLUMN_DELTA);
    assert_true(config.choices.inverted && config.choices.internal);
    assert_true(!config.choices.exact && config.choices.by_bytes);
    settings_find("call tree", "columns")->get(&config, value);
    assert_string_equal(value, "bar live");
}

static void
leaves_a_wrong_line_out_and_says_which(void **state)
{
    static const struct {
        const char *line;
        const char *words;
    } wrong[] = {
        {"theme = pink",                             "config:2: theme = pink: there are default, mono" },
        {"mouse = maybe",                            "config:2: mouse = maybe: it is yes or no"        },
        {"ring = 12",                                "config:2: ring = 12: it is a size from 1M to 16G"},
        {"colour = red",                             "config:2: there is no setting \"colour\""        },
        {"[colours]\na = b",                         "config:3: there is no section \"colours\""       },
        {"nonsense",                                 "config:2: this is neither a [section] nor"       },
        {"[classes]\ncolumns = live",                "config:3: columns = live: the column \"name\""   },
        {"[classes]\ncolumns = name name",           "twice the column \"name\""                       },
        {"[classes]\ncolumns = name size",           "there is no column \"size\""                     },
        {"[classes]\ncolumns =",                     "it names at least one column"                    },
        {"[classes]\nsort = history",                "no such column to order by"                      },
        {"[keys]\nfly = f",                          "config:3: there is no action \"fly\" here"       },
        {"[keys]\nopen = f",                         "there is no action \"open\" here"                },
        {"[keys nowhere]\nup = f",                   "there is no section \"keys nowhere\""            },
        {"[keys classes]\nup = Foo",                 "there is no key \"Foo\""                         },
        {"[keys classes]\nup = 1 2 3 4 5 6 7 8 9 0", "\"0\" is one key too many"                       },
        {"[keys classes]\nsort-column = a",          "there is no action \"sort-column\""              },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "[viewer]\n%s\n[viewer]\nascii = yes\n",
                 wrong[i].line);
        read_lines(text);
        assert_int_equal(config.problem_count, 1);
        if (strstr(config.problems[0], wrong[i].words) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", wrong[i].words, config.problems[0]);
        }
        assert_true(config.ascii); // what comes after holds
    }
}

static void
survives_whatever_a_file_holds(void **state)
{
    char bytes[4096];
    unsigned seed = 1;
    (void)state;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1103515245 + 12345;
            bytes[i] = (char)(seed >> 16);
            bytes[i] = bytes[i] % 7 == 0 ? '\n' : bytes[i] % 11 == 0 ? '=' : bytes[i];
        }
        memcpy(bytes, "[keys]\n", 7);
        read_text(bytes, sizeof bytes);
    }
    char *line = malloc(100000);
    memset(line, 'a', 99999);
    line[99999] = '\0';
    read_lines(line);
    free(line);
    assert_int_equal(config.problem_count, 1);
    assert_non_null(strstr(config.problems[0], "config:1: the line is longer than"));
}

static void
says_nothing_where_there_is_no_file_and_nobody_named_one(void **state)
{
    (void)state;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    config_init(&config);
    config_load(&config, NULL);
    assert_int_equal(config.problem_count, 0);
    config_load(&config, "/nonexistent/file");
    assert_int_equal(config.problem_count, 1);
    assert_non_null(strstr(config.problems[0], "/nonexistent/file:0: cannot be read"));
}

static void
finds_the_file_where_others_have_theirs(void **state)
{
    char path[CONFIG_PATH_BYTES];
    (void)state;
    setenv("XDG_CONFIG_HOME", "/x", 1);
    setenv("HOME", "/h", 1);
    assert_true(config_path(path));
    assert_string_equal(path, "/x/memtop/config");
    setenv("XDG_CONFIG_HOME", "relative", 1); // the specification: to be ignored
    assert_true(config_path(path));
    assert_string_equal(path, "/h/.config/memtop/config");
    unsetenv("HOME");
    assert_false(config_path(path));
}

static void
expect(struct fixture *fixture, const char *text)
{
    char *screen = fixture_screen(fixture, 118, 40);
    if (fixture_row_of(fixture, text) < 0) {
        fail_msg("\"%s\" is not on the screen:\n%s", text, screen);
    }
    free(screen);
}

static void
expect_none(struct fixture *fixture, const char *text)
{
    free(fixture_screen(fixture, 118, 40));
    assert_int_equal(fixture_row_of(fixture, text), -1);
}

static void
begin(struct fixture *fixture, const char *lines)
{
    read_lines(lines);
    assert_int_equal(config.problem_count, 0);
    fixture_start(fixture, (struct fixture_options){.choices = &config.choices});
    fixture_demo(fixture);
}

static void
chosen_keys_work_and_are_what_the_screen_names(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture, "[keys]\nhelp = H\n[keys classes]\nmark = x F5\nfilter = m\n");
    expect(&fixture, "x mark");
    expect(&fixture, "m filter");
    expect(&fixture, "H help");
    fixture_keys(&fixture, "?");
    expect(&fixture, "?: no such key here, H for help");
    fixture_keys(&fixture, "x");
    expect(&fixture, "since A");
    fixture_keys(&fixture, "mOrder<Enter>");
    expect(&fixture, "filter");
    fixture_keys(&fixture, "H");
    expect(&fixture, "x F5");
    expect(&fixture, "set a mark: changes are shown since then");
    fixture_stop(&fixture);
}

static void
a_chosen_key_is_taken_from_whoever_had_it(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture, "[keys classes]\nmark = /\n");
    expect(&fixture, "/ mark");
    expect_none(&fixture, " filter ");
    fixture_keys(&fixture, "/");
    expect(&fixture, "since A");
    fixture_stop(&fixture);
}

static void
columns_come_in_the_order_that_was_chosen(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture, "[classes]\ncolumns = bytes name live\nsort = name\n");
    char *screen = fixture_screen(&fixture, 118, 40);
    const char *bytes = strstr(screen, "BYTES");
    const char *name = strstr(screen, "CLASS");
    const char *live = strstr(screen, "LIVE ");
    assert_non_null(bytes);
    assert_non_null(name);
    assert_true(bytes < name);
    assert_true(strstr(name, "LIVE") != NULL || live != NULL);
    assert_null(strstr(screen, "ALLOC/s"));
    free(screen);
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printed_default_is_what_is_so_without_a_file),
        cmocka_unit_test(the_default_as_it_is_printed_says_nothing),
        cmocka_unit_test(every_action_that_has_keys_has_a_name),
        cmocka_unit_test(takes_each_setting),
        cmocka_unit_test(leaves_a_wrong_line_out_and_says_which),
        cmocka_unit_test(survives_whatever_a_file_holds),
        cmocka_unit_test(says_nothing_where_there_is_no_file_and_nobody_named_one),
        cmocka_unit_test(finds_the_file_where_others_have_theirs),
        cmocka_unit_test(chosen_keys_work_and_are_what_the_screen_names),
        cmocka_unit_test(a_chosen_key_is_taken_from_whoever_had_it),
        cmocka_unit_test(columns_come_in_the_order_that_was_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
