#include "tui/attach/elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// A library that is there wherever this test runs.
static void
find_library(char path[4096])
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "re");

    assert_non_null(maps);
    *path = '\0';
    while (!*path && fgets(line, sizeof(line), maps)) {
        char *name = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (name && strstr(name, "/libc.so")) {
            strcpy(path, name);
        }
    }
    fclose(maps);
    assert_string_not_equal(path, "");
}

static void
finds_what_a_library_exports(void **state)
{
    char path[4096];
    char bytes[4];

    (void)state;
    find_library(path);
    assert_true(elf_symbol(path, "malloc", NULL, 0));
    assert_true(elf_symbol(path, "malloc", bytes, sizeof(bytes)));
    assert_false(elf_symbol(path, "mallo", NULL, 0));
    assert_false(elf_symbol(path, "ruby_api_version", bytes, sizeof(bytes)));
}

static void
what_is_smaller_than_asked_for_is_not_read(void **state)
{
    static char bytes[1 << 20];
    char path[4096];

    (void)state;
    find_library(path);
    assert_false(elf_symbol(path, "malloc", bytes, sizeof(bytes)));
}

static void
what_is_no_library_has_no_symbols(void **state)
{
    (void)state;
    assert_false(elf_symbol("/etc/passwd", "malloc", NULL, 0));
    assert_false(elf_symbol("/nowhere", "malloc", NULL, 0));
    assert_false(elf_symbol("/tmp", "malloc", NULL, 0));
    assert_false(elf_symbol("/dev/null", "malloc", NULL, 0));
}

// Cut anywhere, or with any byte of its header changed, it is read without harm.
static void
a_damaged_library_does_no_harm(void **state)
{
    char path[4096];
    char copy[] = "/tmp/memtop-elf-XXXXXX";
    unsigned char header[64];
    unsigned char content[16];

    (void)state;
    find_library(path);
    FILE *library = fopen(path, "re");
    assert_non_null(library);
    char *bytes = malloc(8 << 20);
    assert_non_null(bytes);
    size_t length = fread(bytes, 1, 8 << 20, library);
    fclose(library);
    int fd = mkstemp(copy);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    memcpy(header, bytes, sizeof(header));
    for (size_t i = 4; i < sizeof(header); i++) {
        for (unsigned value = 0; value < 256; value += 51) {
            unsigned char changed = (unsigned char)value;
            assert_int_equal(pwrite(fd, &changed, 1, (off_t)i), 1);
            elf_symbol(copy, "malloc", content, sizeof(content));
        }
        assert_int_equal(pwrite(fd, &header[i], 1, (off_t)i), 1);
    }
    for (size_t cut = 0; cut < length; cut += length / 40) {
        assert_int_equal(ftruncate(fd, (off_t)(length - cut)), 0);
        elf_symbol(copy, "malloc", content, sizeof(content));
    }
    close(fd);
    unlink(copy);
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_library_exports),
        cmocka_unit_test(what_is_smaller_than_asked_for_is_not_read),
        cmocka_unit_test(what_is_no_library_has_no_symbols),
        cmocka_unit_test(a_damaged_library_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
