#include "tui/loop/save.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[32];
static char path[64];
static char words[512];

static int
set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/memtop-save-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/out.txt", folder);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static int
files_in_folder(void)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    while ((entry = readdir(directory))) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

static void
expect_content(const char *content)
{
    char read[64] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    read[fread(read, 1, sizeof(read) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(read, content);
}

static void
writes_a_file_and_says_so(void **state)
{
    struct stat status;

    (void)state;
    mode_t mask = umask(022);
    assert_true(save_text(path, "a\nb\n", words, sizeof(words)));
    umask(mask);
    expect_content("a\nb\n");
    assert_non_null(strstr(words, path));
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
}

static void
never_overwrites(void **state)
{
    (void)state;
    assert_true(save_text(path, "first", words, sizeof(words)));
    assert_false(save_text(path, "second", words, sizeof(words)));
    assert_non_null(strstr(words, "exists"));
    expect_content("first");
    assert_int_equal(files_in_folder(), 1);
}

static char much[100000];

static void
expect_no_room(bool good)
{
    assert_false(good);
    assert_non_null(strstr(words, "cannot write"));
    assert_int_equal(files_in_folder(), 0);
}

static void
a_full_disk_leaves_nothing_behind(void **state)
{
    (void)state;
    if (mount("memtop-test", folder, "tmpfs", 0, "size=16k") != 0) {
        print_message("mounting a small disk needs root: %s\n", strerror(errno));
        skip();
    }
    memset(much, 'x', sizeof(much) - 1);
    bool good = save_text(path, much, words, sizeof(words));
    int files = files_in_folder();
    umount(folder);
    assert_int_equal(files, 0);
    expect_no_room(good);
    assert_non_null(strstr(words, "No space left on device"));
}

static void
a_file_that_may_not_grow_leaves_nothing_behind(void **state)
{
    const struct rlimit little = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    struct rlimit before;

    (void)state;
    memset(much, 'x', sizeof(much) - 1);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    bool good = save_text(path, much, words, sizeof(words));
    setrlimit(RLIMIT_FSIZE, &before);
    expect_no_room(good);
}

static void
says_why_a_place_will_not_do(void **state)
{
    static char long_path[5000];

    (void)state;
    assert_false(save_text("/no/such/folder/x", "t", words, sizeof(words)));
    assert_non_null(strstr(words, "No such file"));
    assert_false(save_text(folder, "t", words, sizeof(words)));
    memset(long_path, 'x', sizeof(long_path) - 1);
    assert_false(save_text(long_path, "t", words, sizeof(words)));
    assert_non_null(strstr(words, "cannot write"));
    assert_int_equal(files_in_folder(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_a_file_and_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(never_overwrites, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing_behind, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_may_not_grow_leaves_nothing_behind,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_why_a_place_will_not_do, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
