#include "tui/view/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"
#include "tui/view/grid.h"
#include "tui/view/scene.h"
#include "tui/view/view.h"

#define COLUMNS 40

static const char *content; // of every file; NULL: it cannot be read
static size_t content_length;
static int reads;

static void
read_source(const char *file, struct source_text *text)
{
    (void)file;
    reads++;
    *text = (struct source_text){0};
    text->bytes = content ? malloc(content_length + 1) : NULL;
    if (!text->bytes) {
        strcpy(text->words, "not readable here: it is on the moon");
        return;
    }
    memcpy(text->bytes, content, content_length + 1);
    text->length = content_length;
}

static void
hold(const char *bytes)
{
    content = bytes;
    content_length = bytes ? strlen(bytes) : 0;
}

static struct scene
scene_of(bool ascii)
{
    return (struct scene){
        .glyphs = glyphs_of(ascii), .ascii = ascii, .read_source = read_source};
}

// What a source draws on a screen of its own, at most 40 cells wide and so high.
static char *
drawn(struct source *source, bool ascii, int rows, int columns, const char *file,
      uint32_t line, const char *words)
{
    struct scene scene = scene_of(ascii);
    struct grid grid;

    assert_true(grid_init(&grid, rows, columns));
    grid.ascii = ascii;
    source_draw(source, &scene, &grid, (struct area){0, 0, rows, columns},
                (struct source_line){file, file, line, words});
    char *text = grid_text(&grid);
    assert_non_null(text);
    grid_destroy(&grid);
    return text;
}

static void
expect(int rows, uint32_t line, const char *words, const char *wanted)
{
    struct source source = {0};
    char *text = drawn(&source, false, rows, COLUMNS, "/srv/app.rb", line, words);

    assert_string_equal(text, wanted);
    free(text);
    source_destroy(&source);
}

#define TITLE "── /srv/app.rb ─────────────────────────\n"

// One line of a file, alone on its screen.
static void
expect_line(const char *bytes, const char *wanted)
{
    char lines[300];

    hold(bytes);
    snprintf(lines, sizeof lines, TITLE " ▶    1 │%s%s\n", *wanted ? " " : "", wanted);
    expect(2, 1, "", lines);
}

static void
shows_the_line_in_the_middle_and_what_lives_there(void **state)
{
    (void)state;
    hold("one\ntwo\nthree\nfour\nfive\nsix\n");
    expect(4, 4, "12 live",
           TITLE "      3 │ three\n"
                 " ▶    4 │ four                   12 live\n"
                 "      5 │ five\n");
}

static void
the_first_and_the_last_line_are_at_an_edge(void **state)
{
    (void)state;
    hold("one\ntwo\nthree\nfour");
    expect(4, 1, "",
           TITLE " ▶    1 │ one\n"
                 "      2 │ two\n"
                 "      3 │ three\n");
    expect(4, 4, "",
           TITLE "      3 │ three\n"
                 " ▶    4 │ four\n"
                 "\n");
}

static void
a_line_that_is_too_long_is_cut_not_wrapped(void **state)
{
    static char much[100000];

    (void)state;
    expect_line("abcdefghijklmnopqrstuvwxyz0123\nnext", "abcdefghijklmnopqrstuvwxyz0123");
    expect_line("abcdefghijklmnopqrstuvwxyz01234\nnext",
                "abcdefghijklmnopqrstuvwxyz012…");
    memset(much, 'x', sizeof much - 1);
    expect_line(much, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx…");
}

static void
words_give_way_to_the_line(void **state)
{
    (void)state;
    hold("abcdefghijklmnopqrstuvwxyz");
    expect(2, 1, "7 live", TITLE " ▶    1 │ abcdefghijklmnopqrstuvwxyz\n");
    hold("abcdefghijklmnopqrstu");
    expect(2, 1, "7 live", TITLE " ▶    1 │ abcdefghijklmnopqrstu   7 live\n");
}

static void
a_tab_is_four_cells(void **state)
{
    (void)state;
    expect_line("\tdef x\n", "    def x");
    expect_line("\t\ta\tb\n", "        a    b");
    expect_line("\t\t\t\t\t\t\t\tfar", "                             …");
}

static void
the_ends_of_lines_of_other_systems_are_not_shown(void **state)
{
    (void)state;
    expect_line("one\r\ntwo\r\n", "one");
    expect_line("one\rtwo\n", "one\\x0Dtwo");
    expect_line("\r\n", "");
}

static void
a_wide_character_is_shown_whole_or_not_at_all(void **state)
{
    (void)state;
    expect_line("注文注文注文注文注文注文注文注", "注文注文注文注文注文注文注文注");
    expect_line("注文注文注文注文注文注文注文注文", "注文注文注文注文注文注文注文…");
    expect_line("x注文注文注文注文注文注文注文注文", "x注文注文注文注文注文注文注文…");
}

static void
nothing_in_a_file_reaches_the_terminal_as_it_is(void **state)
{
    (void)state;
    expect_line("a\033[2J\007b", "a\\x1B[2J\\x07b");
    expect_line("\xff\xfe", "\\xFF\\xFE");
    expect_line("\xe2\x80\xaehidden", "\\u{202e}hidden");
}

static void
zeros_are_part_of_a_line(void **state)
{
    (void)state;
    content = "a\0b\nc";
    content_length = 5;
    expect(3, 1, "", TITLE " ▶    1 │ a\\x00b\n      2 │ c\n");
}

static void
a_line_beyond_the_end_says_that_the_file_was_changed(void **state)
{
    static const char changed[] = TITLE "  the file is shorter: it was changed si\n\n";

    (void)state;
    hold("one\ntwo");
    expect(3, 3, "", changed);
    expect(3, UINT32_MAX, "", changed);
    hold("one\ntwo\n"); // a third line, without a character
    expect(3, 4, "", changed);
    expect(2, 3, "", TITLE " ▶    3 │\n");
}

static void
an_empty_file_has_one_line(void **state)
{
    (void)state;
    expect_line("", "");
}

static void
what_cannot_be_read_says_why(void **state)
{
    (void)state;
    hold(NULL);
    expect(3, 1, "", TITLE "  not readable here: it is on the moon\n\n");
}

static void
what_is_no_line_of_a_file_is_said(void **state)
{
    struct source source = {0};

    (void)state;
    hold("one");
    expect(2, 0, "", TITLE "  no line of a file: a C function, or wh\n");
    reads = 0;
    char *text = drawn(&source, false, 2, COLUMNS, "", 1, "");
    assert_string_equal(text, "────────────────────────────────────────\n"
                              "  no line of a file: a C function, or wh\n");
    assert_int_equal(reads, 0);
    free(text);
    source_destroy(&source);
}

static void
without_a_reader_there_are_no_files(void **state)
{
    struct scene scene = scene_of(false);
    struct source source = {0};
    struct grid grid;

    (void)state;
    scene.read_source = NULL;
    assert_true(grid_init(&grid, 2, COLUMNS));
    source_draw(&source, &scene, &grid, (struct area){0, 0, 2, COLUMNS},
                (struct source_line){"/a.rb", "/a.rb", 1, ""});
    char *text = grid_text(&grid);
    assert_non_null(strstr(text, "\n  files are not read here\n"));
    free(text);
    grid_destroy(&grid);
    source_destroy(&source);
}

static void
a_file_is_read_once_until_another_is_asked_for(void **state)
{
    static const char *const files[] = {"/a.rb", "/a.rb", "/a.rb", "/b.rb", "/a.rb"};
    struct source source = {0};

    (void)state;
    hold("one\ntwo");
    reads = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        free(drawn(&source, false, 3, COLUMNS, files[i], 1, ""));
    }
    assert_int_equal(reads, 3);
    source_destroy(&source);
    source_destroy(&source);
    assert_null(source.file);
}

static void
a_file_that_cannot_be_read_is_not_tried_at_every_drawing(void **state)
{
    struct source source = {0};

    (void)state;
    hold(NULL);
    reads = 0;
    for (int i = 0; i < 3; i++) {
        free(drawn(&source, false, 3, COLUMNS, "/a.rb", 1, ""));
    }
    assert_int_equal(reads, 1);
    source_destroy(&source);
}

static void
draws_with_ascii_alone_when_asked(void **state)
{
    struct source source = {0};

    (void)state;
    hold("abcdefghijklmnopqrstuvwxyz0123456789\ncaf\xc3\xa9");
    char *text = drawn(&source, true, 3, COLUMNS, "/srv/app.rb", 1, "");
    assert_string_equal(text, "-- /srv/app.rb -------------------------\n"
                              " >    1 | abcdefghijklmnopqrstuvwxyz012~\n"
                              "      2 | caf?\n");
    free(text);
    source_destroy(&source);
}

static void
the_files_own_name_is_escaped(void **state)
{
    struct source source = {0};

    (void)state;
    hold("one");
    char *text = drawn(&source, false, 2, COLUMNS, "/srv/\033[2J\n.rb", 1, "");
    assert_memory_equal(text, "── /srv/\\x1B[2J\\x0A.rb ─",
                        strlen("── /srv/\\x1B[2J\\x0A.rb ─"));
    free(text);
    source_destroy(&source);
}

static void
no_place_is_too_small(void **state)
{
    struct source source = {0};

    (void)state;
    hold("one\ntwo\nthree\n");
    for (int rows = 1; rows < 5; rows++) {
        for (int columns = 1; columns < 16; columns++) {
            for (uint32_t line = 0; line < 6; line++) {
                free(drawn(&source, line % 2, rows, columns, "/srv/app.rb", line, "w"));
            }
        }
    }
    source_destroy(&source);
}

static void
says_that_there_is_no_memory(void **state)
{
    struct scene scene = scene_of(false);
    struct source source = {0};
    struct grid grid;

    (void)state;
    hold("one\ntwo");
    assert_true(grid_init(&grid, 2, COLUMNS));
    memory_allow(1); // for the reader
    source_draw(&source, &scene, &grid, (struct area){0, 0, 2, COLUMNS},
                (struct source_line){"/a.rb", "/a.rb", 1, ""});
    assert_true(memory_ran_out());
    memory_allow(-1);
    char *text = grid_text(&grid);
    assert_non_null(strstr(text, "\n  no memory for it\n"));
    free(text);
    grid_destroy(&grid);
    source_destroy(&source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_line_in_the_middle_and_what_lives_there),
        cmocka_unit_test(the_first_and_the_last_line_are_at_an_edge),
        cmocka_unit_test(a_line_that_is_too_long_is_cut_not_wrapped),
        cmocka_unit_test(words_give_way_to_the_line),
        cmocka_unit_test(a_tab_is_four_cells),
        cmocka_unit_test(the_ends_of_lines_of_other_systems_are_not_shown),
        cmocka_unit_test(a_wide_character_is_shown_whole_or_not_at_all),
        cmocka_unit_test(nothing_in_a_file_reaches_the_terminal_as_it_is),
        cmocka_unit_test(zeros_are_part_of_a_line),
        cmocka_unit_test(a_line_beyond_the_end_says_that_the_file_was_changed),
        cmocka_unit_test(an_empty_file_has_one_line),
        cmocka_unit_test(what_cannot_be_read_says_why),
        cmocka_unit_test(what_is_no_line_of_a_file_is_said),
        cmocka_unit_test(without_a_reader_there_are_no_files),
        cmocka_unit_test(a_file_is_read_once_until_another_is_asked_for),
        cmocka_unit_test(a_file_that_cannot_be_read_is_not_tried_at_every_drawing),
        cmocka_unit_test(draws_with_ascii_alone_when_asked),
        cmocka_unit_test(the_files_own_name_is_escaped),
        cmocka_unit_test(no_place_is_too_small),
        cmocka_unit_test(says_that_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
