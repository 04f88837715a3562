#include "tui/loop/source.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tui/memory.h"

static char folder[40];
static char path[64];

static int
set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/memtop-source-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/app.rb", folder);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void
write_file(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void
expect_bytes(const char *bytes, size_t length)
{
    struct source_text text;

    loop_read_source(path, &text);
    assert_non_null(text.bytes);
    assert_int_equal(text.length, length);
    assert_memory_equal(text.bytes, bytes, length);
    assert_int_equal(text.bytes[length], '\0');
    assert_string_equal(text.words, "");
    free(text.bytes);
}

static void
expect_refusal(const char *file, const char *words)
{
    struct source_text text;
    char wanted[SOURCE_WORDS_BYTES];

    loop_read_source(file, &text);
    snprintf(wanted, sizeof wanted, "not readable here: %s", words);
    assert_null(text.bytes);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.words, wanted);
}

static void
reads_a_file_as_it_is(void **state)
{
    static const char odd[] = "a\0b\r\n\xff\xfe\033[2J\n\n\tno newline at the end";

    (void)state;
    write_file("class Order\nend\n", 16);
    expect_bytes("class Order\nend\n", 16);
    write_file(odd, sizeof odd - 1);
    expect_bytes(odd, sizeof odd - 1);
    write_file("", 0);
    expect_bytes("", 0);
}

static void
reads_a_megabyte_and_not_a_byte_more(void **state)
{
    char *much = malloc(SOURCE_BYTES_MAX + 1);

    (void)state;
    assert_non_null(much);
    memset(much, 'x', SOURCE_BYTES_MAX + 1);
    write_file(much, SOURCE_BYTES_MAX);
    expect_bytes(much, SOURCE_BYTES_MAX);
    write_file(much, SOURCE_BYTES_MAX + 1);
    expect_refusal(path, "it is larger than a megabyte");
    free(much);
}

// Its size is believed before a byte of it is read.
static void
a_file_without_end_takes_no_memory(void **state)
{
    (void)state;
    write_file("", 0);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    memory_allow(0);
    expect_refusal(path, "it is larger than a megabyte");
    assert_false(memory_ran_out());
    memory_allow(-1);
}

// The kernel's files say that they are empty.
static void
a_file_that_is_longer_than_it_says_is_read_as_far_as_it_says(void **state)
{
    struct source_text text;

    (void)state;
    loop_read_source("/proc/self/maps", &text);
    assert_non_null(text.bytes);
    assert_int_equal(text.length, 0);
    free(text.bytes);
}

static void
what_is_no_file_is_refused(void **state)
{
    (void)state;
    expect_refusal(folder, "it is no regular file");
    expect_refusal("/dev/zero", "it is no regular file");
    expect_refusal("/dev/null", "it is no regular file");
}

// Opened for reading it would wait for a writer, opened with one for its bytes.
static void
a_pipe_does_not_hold_the_viewer_up(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(30);
    expect_refusal(path, "it is no regular file");
    int both = open(path, O_RDWR | O_CLOEXEC);
    assert_true(both >= 0);
    expect_refusal(path, "it is no regular file");
    close(both);
    alarm(0);
}

static void
a_socket_is_refused(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    strcpy(address.sun_path, path);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address, sizeof address),
                     0);
    expect_refusal(path, "No such device or address");
    close(descriptor);
}

static void
says_why_a_file_cannot_be_read(void **state)
{
    static char long_path[5000];

    (void)state;
    expect_refusal(path, "there is no such file (another machine, or a container?)");
    expect_refusal("", "there is no such file (another machine, or a container?)");
    write_file("x", 1);
    char below[80];
    snprintf(below, sizeof below, "%s/x", path);
    expect_refusal(below, "Not a directory");
    memset(long_path, 'x', sizeof long_path - 1);
    expect_refusal(long_path, "File name too long");
}

static void
a_file_of_somebody_else_is_refused(void **state)
{
    (void)state;
    write_file("x", 1);
    chmod(path, 0);
    uid_t me = geteuid();
    if (me == 0 && seteuid(65534) != 0) {
        print_message("root can read everything: this needs another user\n");
        skip();
    }
    struct source_text text;
    loop_read_source(path, &text);
    assert_int_equal(seteuid(me), 0);
    assert_null(text.bytes);
    assert_string_equal(text.words, "not readable here: Permission denied");
}

static void
a_file_that_goes_in_circles_is_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink(path, path), 0);
    expect_refusal(path, strerror(ELOOP));
}

static void
follows_links_to_files(void **state)
{
    char target[80];

    (void)state;
    snprintf(target, sizeof target, "%s/real.rb", folder);
    write_file("puts 1\n", 7);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    expect_bytes("puts 1\n", 7);
    unlink(target);
}

static void
knows_when_a_file_was_changed(void **state)
{
    const struct timespec times[2] = {
        {1767225600, 0},
        {1767225601, 0}
    };
    struct source_text text;

    (void)state;
    write_file("x", 1);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    loop_read_source(path, &text);
    assert_true(text.changed_us == UINT64_C(1767225601000000));
    free(text.bytes);
}

static void
what_was_there_before_is_overwritten(void **state)
{
    struct source_text text;

    (void)state;
    memset(&text, 0xff, sizeof text);
    loop_read_source("/no/such/file", &text);
    assert_null(text.bytes);
    assert_int_equal(text.length, 0);
    write_file("second", 6);
    memset(&text, 0xff, sizeof text);
    loop_read_source(path, &text);
    assert_string_equal(text.bytes, "second");
    assert_string_equal(text.words, "");
    free(text.bytes);
}

static void
says_that_there_is_no_memory(void **state)
{
    (void)state;
    write_file("x", 1);
    memory_allow(0);
    expect_refusal(path, "no memory");
    memory_allow(-1);
}

static void
no_descriptor_stays_open(void **state)
{
    struct rlimit before;
    struct rlimit few;

    (void)state;
    write_file("x", 1);
    int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)next + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    expect_bytes("x", 1);
    expect_refusal("/dev/zero", "it is no regular file");
    expect_bytes("x", 1);
    setrlimit(RLIMIT_NOFILE, &before);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(reads_a_file_as_it_is),
        IN_FOLDER(reads_a_megabyte_and_not_a_byte_more),
        IN_FOLDER(a_file_without_end_takes_no_memory),
        IN_FOLDER(a_file_that_is_longer_than_it_says_is_read_as_far_as_it_says),
        IN_FOLDER(what_is_no_file_is_refused),
        IN_FOLDER(a_pipe_does_not_hold_the_viewer_up),
        IN_FOLDER(a_socket_is_refused),
        IN_FOLDER(says_why_a_file_cannot_be_read),
        IN_FOLDER(a_file_of_somebody_else_is_refused),
        IN_FOLDER(a_file_that_goes_in_circles_is_refused),
        IN_FOLDER(follows_links_to_files),
        IN_FOLDER(knows_when_a_file_was_changed),
        IN_FOLDER(what_was_there_before_is_overwritten),
        IN_FOLDER(says_that_there_is_no_memory),
        IN_FOLDER(no_descriptor_stays_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
