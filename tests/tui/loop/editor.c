#include "tui/loop/editor.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS_MAX 8

static char folder[40];
static char why[256];

/* What would be run. */

static void
expect(const char *editor, const char *file, uint32_t line,
       const char *const words[WORDS_MAX])
{
    struct editor_command command;
    int count = 0;

    assert_true(editor_command(&command, editor, file, line));
    for (; words[count]; count++) {
        assert_non_null(command.words[count]);
        assert_string_equal(command.words[count], words[count]);
    }
    assert_null(command.words[count]);
}

#define EXPECT(editor, file, line, ...)                                                  \
    expect(editor, file, line, (const char *const[WORDS_MAX]){__VA_ARGS__})

static void
the_line_comes_before_the_file_as_vi_had_it(void **state)
{
    (void)state;
    EXPECT("vi", "/srv/app.rb", 12, "vi", "+12", "/srv/app.rb");
    EXPECT("nano -l", "/srv/app.rb", 1, "nano", "-l", "+1", "/srv/app.rb");
    EXPECT("/usr/bin/emacs -nw", "/a.rb", UINT32_MAX, "/usr/bin/emacs", "-nw",
           "+4294967295", "/a.rb");
    EXPECT("codex", "/a.rb", 1, "codex", "+1", "/a.rb");
}

static void
some_editors_want_the_line_behind_a_colon(void **state)
{
    (void)state;
    EXPECT("code --wait", "/a b.rb", 7, "code", "--wait", "-g", "/a b.rb:7");
    EXPECT("/opt/bin/codium", "/a.rb", 7, "/opt/bin/codium", "-g", "/a.rb:7");
    EXPECT("subl -w", "/a.rb", 7, "subl", "-w", "/a.rb:7");
    EXPECT("hx", "/a.rb", 7, "hx", "/a.rb:7");
}

static void
an_editor_is_split_at_blanks_but_not_within_quotes(void **state)
{
    (void)state;
    EXPECT("  vim   -n  ", "/a.rb", 1, "vim", "-n", "+1", "/a.rb");
    EXPECT("vim\t-n\t", "/a.rb", 1, "vim", "-n", "+1", "/a.rb");
    EXPECT("'/opt/my editor/vim' -n", "/a.rb", 1, "/opt/my editor/vim", "-n", "+1",
           "/a.rb");
    EXPECT("vim -c \"set nu ' x\"", "/a.rb", 1, "vim", "-c", "set nu ' x", "+1", "/a.rb");
    EXPECT("my\\ vim 'a\\b' \\'", "/a.rb", 1, "my vim", "a\\b", "'", "+1", "/a.rb");
    EXPECT("vim '' x\"y\"'z'", "/a.rb", 1, "vim", "", "xyz", "+1", "/a.rb");
    EXPECT("vim 'never closed", "/a.rb", 1, "vim", "never closed", "+1", "/a.rb");
    EXPECT("vim \\", "/a.rb", 1, "vim", "\\", "+1", "/a.rb");
}

static void
nothing_of_a_shell_is_in_an_editor(void **state)
{
    (void)state;
    EXPECT("vim;id", "/a.rb", 1, "vim;id", "+1", "/a.rb");
    EXPECT("vim $(id) `id` |", "/a.rb", 1, "vim", "$(id)", "`id`", "|", "+1", "/a.rb");
    EXPECT("$EDITOR", "/a.rb", 1, "$EDITOR", "+1", "/a.rb");
}

static const char *const odd_files[] = {
    "/srv/my app.rb", "/srv/a'b\"c.rb", "/srv/a;touch ran;.rb", "/srv/$(touch ran).rb",
    "/srv/`id`.rb",   "/srv/a\nb.rb",   "/srv/a&b|c>d<e*f?.rb", "/srv/back\\slash.rb",
    "/srv/\033[2J",   "/srv/\xff\xfe",  "/srv/注文.rb",
};

static void
a_file_is_one_word_whatever_it_is_called(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof odd_files / sizeof odd_files[0]; i++) {
        EXPECT("vi", odd_files[i], 3, "vi", "+3", odd_files[i]);
    }
}

// The watched program says where its code is: "+:!id" would run id in vi.
static void
a_file_is_never_an_option(void **state)
{
    (void)state;
    EXPECT("vi", "+:!id", 3, "vi", "+3", "./+:!id");
    EXPECT("vi", "-c:!id", 3, "vi", "+3", "./-c:!id");
    EXPECT("code", "--install-extension", 3, "code", "-g", "./--install-extension:3");
    EXPECT("vi", "app.rb", 3, "vi", "+3", "./app.rb");
    EXPECT("vi", "../app.rb", 3, "vi", "+3", "./../app.rb");
}

static void
what_is_nothing_or_too_much_is_refused(void **state)
{
    static char file[EDITOR_BYTES + 10];
    char many[4 * EDITOR_WORDS_MAX] = "vi";
    struct editor_command command;

    (void)state;
    assert_false(editor_command(&command, "", "/a.rb", 1));
    assert_false(editor_command(&command, " \t ", "/a.rb", 1));
    memset(file, 'x', sizeof file - 1);
    file[0] = '/';
    assert_false(editor_command(&command, "vi", file, 1));
    assert_false(editor_command(&command, "code", file, 1));
    assert_false(editor_command(&command, file, "/a.rb", 1));
    for (int i = 1; i < EDITOR_WORDS_MAX; i++) {
        strcat(many, " x");
    }
    assert_true(editor_command(&command, many, "/a.rb", 1));
    assert_string_equal(command.words[EDITOR_WORDS_MAX + 1], "/a.rb");
    assert_null(command.words[EDITOR_WORDS_MAX + 2]);
    strcat(many, " x");
    assert_false(editor_command(&command, many, "/a.rb", 1));
}

static void
room_is_used_to_its_last_byte(void **state)
{
    static char file[EDITOR_BYTES];
    struct editor_command command;
    size_t most = EDITOR_BYTES - 1 - sizeof "vi" - sizeof "+1" - 1;

    (void)state;
    memset(file, 'x', most);
    file[0] = '/';
    assert_true(editor_command(&command, "vi", file, 1));
    assert_string_equal(command.words[2], file);
    file[most] = 'x';
    assert_false(editor_command(&command, "vi", file, 1));
}

/* Running it. */

static const char *
path_in_folder(const char *name)
{
    static char path[320];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// An editor that does as the script says, in the test's folder.
static void
make_editor(const char *name, const char *script)
{
    FILE *file = fopen(path_in_folder(name), "w");

    assert_non_null(file);
    fprintf(file, "#!/bin/sh\ncd '%s' || exit\n%s\n", folder, script);
    assert_int_equal(fchmod(fileno(file), 0700), 0);
    fclose(file);
}

static void
choose(const char *visual, const char *editor)
{
    visual ? setenv("VISUAL", visual, 1) : unsetenv("VISUAL");
    editor ? setenv("EDITOR", editor, 1) : unsetenv("EDITOR");
}

static char written[4096];

// What the editor wrote to "out"; its zeros as bars.
static const char *
read_out(void)
{
    FILE *file = fopen(path_in_folder("out"), "r");

    assert_non_null(file);
    size_t length = fread(written, 1, sizeof written - 1, file);
    fclose(file);
    written[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        written[i] = written[i] == '\0' ? '|' : written[i];
    }
    return written;
}

static int
each_in_folder(bool away)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    while ((entry = readdir(directory))) {
        if (entry->d_name[0] != '.') {
            count++;
            if (away) {
                unlink(path_in_folder(entry->d_name));
            }
        }
    }
    closedir(directory);
    return count;
}

static int
set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/memtop-editor-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    make_editor("plain", "printf '%s\\0' \"$@\" > out");
    make_editor("other", "echo other > out");
    strcpy(why, "");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    choose(NULL, NULL);
    each_in_folder(true);
    return rmdir(folder);
}

static char plain[128];
static char other[128];

static void
name_editors(void)
{
    strcpy(plain, path_in_folder("plain"));
    strcpy(other, path_in_folder("other"));
}

static void
visual_comes_before_editor(void **state)
{
    (void)state;
    name_editors();
    choose(plain, other);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
    assert_string_equal(read_out(), "+5|/a.rb|");
    choose(other, plain);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
    assert_string_equal(read_out(), "other\n");
    choose(NULL, plain);
    assert_true(editor_run("/a.rb", 6, why, sizeof why));
    assert_string_equal(read_out(), "+6|/a.rb|");
    choose("", plain);
    assert_true(editor_run("/a.rb", 7, why, sizeof why));
    assert_string_equal(read_out(), "+7|/a.rb|");
}

static void
says_what_to_set_when_there_is_no_editor(void **state)
{
    static const char *const none[][2] = {
        {NULL, NULL},
        {"",   NULL},
        {"",   ""  },
        {" ",  NULL}
    };

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        choose(none[i][0], none[i][1]);
        strcpy(why, "");
        assert_false(editor_run("/a.rb", 5, why, sizeof why));
        assert_string_equal(why, "editor: set $VISUAL or $EDITOR to the one you use");
    }
}

static void
says_that_an_editor_cannot_be_run(void **state)
{
    (void)state;
    choose("/no/such/editor --wait", NULL);
    assert_false(editor_run("/a.rb", 5, why, sizeof why));
    assert_string_equal(why,
                        "editor: cannot run /no/such/editor; set $VISUAL or $EDITOR");
    choose(folder, NULL); // no program either
    assert_false(editor_run("/a.rb", 5, why, sizeof why));
    assert_non_null(strstr(why, folder));
}

static void
an_editor_that_is_not_content_was_run_all_the_same(void **state)
{
    (void)state;
    make_editor("angry", "exit 1");
    choose(path_in_folder("angry"), NULL);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
    make_editor("killed", "kill -KILL $$");
    choose(path_in_folder("killed"), NULL);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
}

static void
the_file_arrives_byte_for_byte_and_runs_nothing(void **state)
{
    char wanted[256];

    (void)state;
    name_editors();
    choose(plain, NULL);
    for (size_t i = 0; i < sizeof odd_files / sizeof odd_files[0]; i++) {
        assert_true(editor_run(odd_files[i], 3, why, sizeof why));
        snprintf(wanted, sizeof wanted, "+3|%s|", odd_files[i]);
        assert_string_equal(read_out(), wanted);
        assert_int_equal(each_in_folder(false), 3); // two editors and what one wrote
    }
}

static void
an_editor_in_a_folder_with_a_blank_is_found(void **state)
{
    char quoted[340];

    (void)state;
    make_editor("my editor", "printf '%s\\0' \"$@\" > out");
    snprintf(quoted, sizeof quoted, "'%s' -x", path_in_folder("my editor"));
    choose(quoted, NULL);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
    assert_string_equal(read_out(), "-x|+5|/a.rb|");
}

static volatile sig_atomic_t interrupts;

static void
count_interrupt(int number)
{
    (void)number;
    interrupts++;
}

static void
an_interrupt_is_the_editors_while_it_runs(void **state)
{
    const struct sigaction count = {.sa_handler = count_interrupt};
    struct sigaction before;

    (void)state;
    interrupts = 0;
    sigaction(SIGINT, &count, &before);
    make_editor("interrupting", "kill -INT $PPID; kill -QUIT $PPID; echo done > out");
    choose(path_in_folder("interrupting"), NULL);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
    assert_string_equal(read_out(), "done\n");
    assert_int_equal(interrupts, 0);
    raise(SIGINT);
    assert_int_equal(interrupts, 1);
    sigaction(SIGINT, &before, NULL);
}

// The viewer blocks and ignores what it likes: the editor starts as from a shell.
static void
an_editor_starts_with_the_usual_signals(void **state)
{
    static const int usual[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGTERM, SIGHUP};
    sigset_t blocked;
    sigset_t before;

    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGHUP, SIG_IGN);
    make_editor("telling", "grep -E 'SigIgn|SigBlk' /proc/self/status > out");
    choose(path_in_folder("telling"), NULL);
    assert_true(editor_run("/a.rb", 5, why, sizeof why));
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    read_out();
    const char *ignored = strstr(written, "SigIgn:");
    assert_non_null(ignored);
    assert_non_null(strstr(written, "SigBlk:\t0000000000000000\n"));
    uint64_t set = strtoull(ignored + strlen("SigIgn:"), NULL, 16);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        assert_true((set >> (usual[i] - 1) & 1) == 0);
    }
}

#define RUNS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_comes_before_the_file_as_vi_had_it),
        cmocka_unit_test(some_editors_want_the_line_behind_a_colon),
        cmocka_unit_test(an_editor_is_split_at_blanks_but_not_within_quotes),
        cmocka_unit_test(nothing_of_a_shell_is_in_an_editor),
        cmocka_unit_test(a_file_is_one_word_whatever_it_is_called),
        cmocka_unit_test(a_file_is_never_an_option),
        cmocka_unit_test(what_is_nothing_or_too_much_is_refused),
        cmocka_unit_test(room_is_used_to_its_last_byte),
        RUNS(visual_comes_before_editor),
        RUNS(says_what_to_set_when_there_is_no_editor),
        RUNS(says_that_an_editor_cannot_be_run),
        RUNS(an_editor_that_is_not_content_was_run_all_the_same),
        RUNS(the_file_arrives_byte_for_byte_and_runs_nothing),
        RUNS(an_editor_in_a_folder_with_a_blank_is_found),
        RUNS(an_interrupt_is_the_editors_while_it_runs),
        RUNS(an_editor_starts_with_the_usual_signals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
