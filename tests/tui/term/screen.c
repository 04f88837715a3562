// A screen in a real pseudo-terminal: a child draws, libvterm says what is seen.
#include "tui/term/screen.h"

#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/terminal.h"

/*
 * The child: shows a text, then tells each key it gets in row 5. The key 'q'
 * ends it, 'c' crashes it, 'p' lets it draw everything again.
 */

struct drawing {
    enum theme theme;
    bool mouse;
    const char *text;
    enum style style;
    unsigned attributes;
    int cursor_row;
};

static volatile sig_atomic_t resized;

static void
on_resize(int number)
{
    (void)number;
    resized = 1;
}

static void
draw(struct screen *screen, struct grid *grid, const struct drawing *drawing,
     const struct key *key, bool everything)
{
    char line[80];

    if (!grid_resize(grid, screen_rows(screen), screen_columns(screen))) {
        _exit(9);
    }
    grid_put(grid, 0, 0, grid->columns, drawing->style, drawing->text);
    grid_mark(grid, 0, 0, grid->columns, drawing->attributes);
    snprintf(line, sizeof(line), "size %dx%d", grid->rows, grid->columns);
    grid_put(grid, 2, 0, grid->columns, STYLE_NORMAL, line);
    snprintf(line, sizeof(line), "key %lx mouse %d at %d,%d.", (unsigned long)key->code,
             key->mouse, key->row, key->column);
    grid_put(grid, 5, 0, grid->columns, STYLE_NORMAL, line);
    grid->cursor_row = drawing->cursor_row;
    grid->cursor_column = 3;
    screen_show(screen, grid, everything);
}

static void
run_screen(void *context)
{
    const struct drawing *drawing = context;
    const struct screen_options options = {stdin, stdout, drawing->theme, drawing->mouse};
    struct pollfd look = {.fd = STDIN_FILENO, .events = POLLIN};
    struct grid grid = {0};
    struct key key = {0};
    struct key next;
    sigset_t size_change;
    sigset_t before;

    setlocale(LC_CTYPE, "");
    // the signal is let in only while we wait, so that none is missed
    signal(SIGWINCH, on_resize);
    sigemptyset(&size_change);
    sigaddset(&size_change, SIGWINCH);
    sigprocmask(SIG_BLOCK, &size_change, &before);
    struct screen *screen = screen_open(&options);
    if (!screen) {
        _exit(8);
    }
    while (key.code != 'q') {
        draw(screen, &grid, drawing, &key, key.code == 'p');
        if (key.code == 'c') {
            screen_rescue();
            _exit(7);
        }
        if (ppoll(&look, 1, NULL, &before) < 0 && resized) {
            resized = 0;
            screen_resize(screen);
        }
        // the time stands still: two presses are always close enough
        while (key.code != 'q' && screen_key(screen, 1000, &next)) {
            key = next;
            draw(screen, &grid, drawing, &key, key.code == 'p');
        }
    }
    screen_close(screen);
    grid_destroy(&grid);
}

static struct terminal *
show(struct drawing *drawing, const char *const *environment)
{
    const struct terminal_options options = {
        .run = run_screen, .context = drawing, .environment = environment};
    struct terminal *terminal = terminal_start(&options);

    assert_true(terminal_shows(terminal, "key 0"));
    return terminal;
}

static void
finish(struct terminal *terminal)
{
    int status;

    terminal_type(terminal, "q");
    assert_true(terminal_ends(terminal, &status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    terminal_free(terminal);
}

static struct drawing
drawing_of(const char *text)
{
    return (struct drawing){.theme = THEME_DEFAULT, .text = text, .cursor_row = -1};
}

/*
 * The tests.
 */

static void
shows_what_the_grid_holds(void **state)
{
    struct drawing drawing =
        drawing_of("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81 ▲");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    assert_int_equal(terminal_find(terminal, "gr\xc3\xbc\xc3\x9f"), 0);
    assert_string_equal(terminal_cell(terminal, 0, 5).text, "\xe6\xbc\xa2");
    assert_string_equal(terminal_cell(terminal, 0, 7).text, "\xe5\xad\x97");
    assert_string_equal(terminal_cell(terminal, 0, 10).text, "e\xcc\x81");
    assert_string_equal(terminal_cell(terminal, 0, 12).text, "▲");
    finish(terminal);
}

static void
shows_ascii_alone_where_the_locale_knows_no_more(void **state)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    struct drawing drawing = drawing_of("a \xe6\xbc\xa2 ▲ z");
    struct terminal *terminal = show(&drawing, environment);
    const char *written = terminal_written(terminal);

    (void)state;
    assert_int_equal(terminal_find(terminal, "a ?  ? z"), 0);
    for (; *written; written++) {
        assert_in_range((unsigned char)*written, 0, 0x7f);
    }
    finish(terminal);
}

static void
paints_styles_in_the_themes_colours(void **state)
{
    struct drawing drawing = drawing_of("text");
    struct terminal *terminal;

    (void)state;
    for (int style = 0; style < STYLE_COUNT; style++) {
        drawing.style = (enum style)style;
        terminal = show(&drawing, NULL);
        bool selected = style == STYLE_SELECTED;
        struct look look = theme_look(THEME_DEFAULT, 256, drawing.style, selected);
        struct terminal_cell cell = terminal_cell(terminal, 0, 1);
        assert_int_equal(cell.foreground, look.foreground);
        assert_int_equal(cell.background, look.background);
        assert_int_equal(cell.bold, (look.attributes & LOOK_BOLD) != 0);
        finish(terminal);
    }
}

static void
a_cell_of_the_selected_row_keeps_its_style_on_the_rows_colour(void **state)
{
    struct drawing drawing = drawing_of("+12");
    struct look look = theme_look(THEME_DEFAULT, 256, STYLE_GREW, true);

    (void)state;
    drawing.style = STYLE_GREW;
    drawing.attributes = ATTRIBUTE_SELECTED;
    struct terminal *terminal = show(&drawing, NULL);
    assert_int_equal(terminal_cell(terminal, 0, 0).foreground, look.foreground);
    assert_int_equal(terminal_cell(terminal, 0, 0).background, look.background);
    assert_int_equal(terminal_cell(terminal, 0, 60).background, look.background);
    finish(terminal);
}

static void
a_filled_cell_has_its_colour_as_ground(void **state)
{
    struct drawing drawing = drawing_of("+12");

    (void)state;
    drawing.style = STYLE_GREW;
    drawing.attributes = ATTRIBUTE_FILLED;
    struct terminal *terminal = show(&drawing, NULL);
    assert_true(terminal_cell(terminal, 0, 1).reverse);
    finish(terminal);
}

static void
writes_no_colour_when_asked_not_to(void **state)
{
    static const char *const environment[] = {"NO_COLOR=1", NULL};
    struct drawing drawing = drawing_of("text");

    (void)state;
    drawing.style = STYLE_GREW;
    struct terminal *terminal = show(&drawing, environment);
    assert_int_equal(terminal_cell(terminal, 0, 0).foreground, -1);
    assert_null(strstr(terminal_written(terminal), "\033[38;5;"));
    assert_null(strstr(terminal_written(terminal), "\033[3;"));
    finish(terminal);
}

static void
an_empty_no_color_means_nothing(void **state)
{
    static const char *const environment[] = {"NO_COLOR=", NULL};
    struct drawing drawing = drawing_of("text");

    (void)state;
    drawing.style = STYLE_GREW;
    struct terminal *terminal = show(&drawing, environment);
    assert_int_not_equal(terminal_cell(terminal, 0, 0).foreground, -1);
    finish(terminal);
}

static void
uses_eight_colours_where_there_are_no_more(void **state)
{
    static const char *const environment[] = {"TERM=linux", NULL};
    struct drawing drawing = drawing_of("text");

    (void)state;
    drawing.style = STYLE_GREW;
    struct terminal *terminal = show(&drawing, environment);
    assert_int_equal(terminal_cell(terminal, 0, 0).foreground, 1);
    finish(terminal);
}

static void
reads_keys_as_people_name_them(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t code;
    } keys[] = {
        {"j",                'j'               },
        {"\t",               KEY_CODE_TAB      },
        {"\r",               KEY_CODE_ENTER    },
        {"\n",               KEY_CODE_ENTER    },
        {"\033",             KEY_CODE_ESCAPE   },
        {"\177",             KEY_CODE_BACKSPACE},
        {"\b",               KEY_CODE_BACKSPACE},
        {"\033OA",           KEY_CODE_UP       },
        {"\033OB",           KEY_CODE_DOWN     },
        {"\033OC",           KEY_CODE_RIGHT    },
        {"\033OD",           KEY_CODE_LEFT     },
        {"\033[5~",          KEY_CODE_PAGE_UP  },
        {"\033[6~",          KEY_CODE_PAGE_DOWN},
        {"\033OH",           KEY_CODE_HOME     },
        {"\033OF",           KEY_CODE_END      },
        {"\033[3~",          KEY_CODE_DELETE   },
        {"\033[2~",          KEY_CODE_INSERT   },
        {"\033[Z",           KEY_CODE_BACK_TAB },
        {"\033OP",           KEY_CODE_F1       },
        {"\033[17~",         KEY_CODE_F1 + 5   },
        {"\033[24~",         KEY_CODE_F12      },
        {"\x03",             KEY_CONTROL('C')  },
        {"\x1a",             KEY_CONTROL('Z')  },
        {"\x13",             KEY_CONTROL('S')  },
        {"\xc3\xa9",         0xe9              },
        {"\xe6\xbc\xa2",     0x6f22            },
        {"\xf0\x9f\x98\x80", 0x1f600           },
    };
    struct drawing drawing = drawing_of("keys");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        char told[32];
        snprintf(told, sizeof(told), "key %lx mouse", (unsigned long)keys[i].code);
        terminal_type(terminal, keys[i].bytes);
        assert_true(terminal_row_shows(terminal, 5, told));
    }
    finish(terminal);
}

static void
puts_a_character_together_that_came_in_pieces(void **state)
{
    struct drawing drawing = drawing_of("keys");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    terminal_type(terminal, "\xe6");
    terminal_type(terminal, "\xbc");
    terminal_type(terminal, "\xa2");
    assert_true(terminal_row_shows(terminal, 5, "key 6f22 "));
    finish(terminal);
}

// The letters of a sequence that nobody knows must not act as keys: 'q' ends it.
static void
swallows_sequences_nobody_knows(void **state)
{
    struct drawing drawing = drawing_of("keys");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    terminal_type(terminal, "\033[99;77q");
    terminal_type(terminal, "\033Oq");
    terminal_type(terminal, "x");
    assert_true(terminal_row_shows(terminal, 5, "key 78 "));
    finish(terminal);
}

static void
broken_utf_8_is_no_key(void **state)
{
    struct drawing drawing = drawing_of("keys");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    terminal_type(terminal, "\xff\xc0\xaf\xed\xa0\x80\x80\xe6x");
    assert_true(terminal_row_shows(terminal, 5, "key 78 "));
    finish(terminal);
}

static void
tells_presses_double_clicks_and_the_wheel(void **state)
{
    struct drawing drawing = drawing_of("mouse");
    char told[64];

    (void)state;
    drawing.mouse = true;
    struct terminal *terminal = show(&drawing, NULL);
    assert_true(terminal_mouse(terminal));
    snprintf(told, sizeof(told), "key %x mouse %d at 7,12.", KEY_CODE_MOUSE, MOUSE_PRESS);
    terminal_click(terminal, 7, 12);
    assert_true(terminal_row_shows(terminal, 5, told));
    snprintf(told, sizeof(told), "mouse %d at 7,12.", MOUSE_DOUBLE);
    terminal_click(terminal, 7, 12);
    assert_true(terminal_row_shows(terminal, 5, told));
    snprintf(told, sizeof(told), "mouse %d at 8,12.", MOUSE_PRESS);
    terminal_click(terminal, 8, 12);
    assert_true(terminal_row_shows(terminal, 5, told));
    snprintf(told, sizeof(told), "mouse %d at 3,4.", MOUSE_WHEEL_UP);
    terminal_wheel(terminal, false, 3, 4);
    assert_true(terminal_row_shows(terminal, 5, told));
    snprintf(told, sizeof(told), "mouse %d at 3,4.", MOUSE_WHEEL_DOWN);
    terminal_wheel(terminal, true, 3, 4);
    assert_true(terminal_row_shows(terminal, 5, told));
    finish(terminal);
}

static void
leaves_the_mouse_alone_when_told_to(void **state)
{
    struct drawing drawing = drawing_of("mouse");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    assert_false(terminal_mouse(terminal));
    finish(terminal);
}

static void
follows_the_terminals_size(void **state)
{
    struct drawing drawing = drawing_of("size");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    assert_int_equal(terminal_find(terminal, "size 30x100"), 2);
    terminal_resize(terminal, 12, 40);
    assert_true(terminal_row_shows(terminal, 2, "size 12x40"));
    terminal_resize(terminal, 50, 160);
    assert_true(terminal_row_shows(terminal, 2, "size 50x160"));
    finish(terminal);
}

static void
shows_the_text_cursor_only_where_the_grid_has_one(void **state)
{
    struct drawing drawing = drawing_of("cursor");
    struct terminal *terminal = show(&drawing, NULL);

    (void)state;
    assert_false(terminal_cursor_visible(terminal));
    finish(terminal);
    drawing.cursor_row = 4;
    terminal = show(&drawing, NULL);
    terminal_type(terminal, "x");
    assert_true(terminal_row_shows(terminal, 5, "key 78 "));
    assert_true(terminal_cursor_visible(terminal));
    finish(terminal);
}

static void
expect_restored(const struct terminal *terminal, const struct termios *before)
{
    struct termios after = terminal_modes(terminal);

    assert_false(terminal_alternate(terminal));
    assert_true(terminal_cursor_visible(terminal));
    assert_false(terminal_mouse(terminal));
    assert_int_equal(after.c_lflag, before->c_lflag);
    assert_int_equal(after.c_iflag, before->c_iflag);
    assert_int_equal(after.c_oflag, before->c_oflag);
    assert_int_equal(terminal_flags(terminal) & O_NONBLOCK, 0);
}

static void
gives_the_terminal_back_as_it_was(void **state)
{
    struct drawing drawing = drawing_of("back");
    int status;

    (void)state;
    drawing.mouse = true;
    struct terminal *idle = terminal_start(&(struct terminal_options){
        .arguments = (const char *[]){"true", NULL}
    });
    struct termios before = terminal_modes(idle);
    terminal_free(idle);
    struct terminal *terminal = show(&drawing, NULL);
    assert_true(terminal_alternate(terminal));
    assert_int_equal(terminal_modes(terminal).c_lflag & (ECHO | ICANON | ISIG), 0);
    terminal_type(terminal, "q");
    assert_true(terminal_ends(terminal, &status));
    expect_restored(terminal, &before);
    terminal_free(terminal);

    // the same when there is only time for what a signal handler may do
    terminal = show(&drawing, NULL);
    terminal_type(terminal, "c");
    assert_true(terminal_ends(terminal, &status));
    assert_int_equal(WEXITSTATUS(status), 7);
    expect_restored(terminal, &before);
    terminal_free(terminal);
}

static void
a_key_writes_only_what_changed(void **state)
{
    struct drawing drawing = drawing_of("a long line that stays as it is the whole time");
    struct terminal *terminal = show(&drawing, NULL);
    size_t before = terminal_written_bytes(terminal);

    (void)state;
    terminal_type(terminal, "x");
    assert_true(terminal_row_shows(terminal, 5, "key 78 "));
    assert_in_range(terminal_written_bytes(terminal) - before, 1, 60);
    finish(terminal);
}

static void
a_redraw_writes_everything(void **state)
{
    struct drawing drawing = drawing_of("everything");
    struct terminal *terminal = show(&drawing, NULL);
    size_t before = terminal_written_bytes(terminal);

    (void)state;
    terminal_type(terminal, "p");
    assert_true(terminal_row_shows(terminal, 5, "key 70 "));
    assert_non_null(strstr(terminal_written(terminal) + before, "everything"));
    finish(terminal);
}

static void
says_why_a_terminal_will_not_do(void **state)
{
    static const struct {
        const char *name;
        const char *words;
    } terminals[] = {
        {NULL,               "TERM is not set"        },
        {"",                 "TERM is not set"        },
        {"dumb",             "cannot place text"      },
        {"no-such-terminal", "no terminal called 'no-"},
    };
    char why[512];

    (void)state;
    for (size_t i = 0; i < sizeof(terminals) / sizeof(*terminals); i++) {
        if (terminals[i].name) {
            setenv("TERM", terminals[i].name, 1);
        } else {
            unsetenv("TERM");
        }
        assert_false(screen_possible(stdout, why, sizeof(why)));
        assert_non_null(strstr(why, terminals[i].words));
        assert_non_null(strstr(why, "--once"));
    }
    setenv("TERM", "xterm-256color", 1);
    assert_true(screen_possible(stdout, why, sizeof(why)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_what_the_grid_holds),
        cmocka_unit_test(shows_ascii_alone_where_the_locale_knows_no_more),
        cmocka_unit_test(paints_styles_in_the_themes_colours),
        cmocka_unit_test(a_cell_of_the_selected_row_keeps_its_style_on_the_rows_colour),
        cmocka_unit_test(a_filled_cell_has_its_colour_as_ground),
        cmocka_unit_test(writes_no_colour_when_asked_not_to),
        cmocka_unit_test(an_empty_no_color_means_nothing),
        cmocka_unit_test(uses_eight_colours_where_there_are_no_more),
        cmocka_unit_test(reads_keys_as_people_name_them),
        cmocka_unit_test(puts_a_character_together_that_came_in_pieces),
        cmocka_unit_test(swallows_sequences_nobody_knows),
        cmocka_unit_test(broken_utf_8_is_no_key),
        cmocka_unit_test(tells_presses_double_clicks_and_the_wheel),
        cmocka_unit_test(leaves_the_mouse_alone_when_told_to),
        cmocka_unit_test(follows_the_terminals_size),
        cmocka_unit_test(shows_the_text_cursor_only_where_the_grid_has_one),
        cmocka_unit_test(gives_the_terminal_back_as_it_was),
        cmocka_unit_test(a_key_writes_only_what_changed),
        cmocka_unit_test(a_redraw_writes_everything),
        cmocka_unit_test(says_why_a_terminal_will_not_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
