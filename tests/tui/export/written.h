/*
 * What an export wrote, for its tests: as text, as JSON read again, to a full disk and
 * without memory.
 */
#ifndef TESTS_TUI_EXPORT_WRITTEN_H
#define TESTS_TUI_EXPORT_WRITTEN_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/tui/memory.h"

typedef bool written_by(const void *what, FILE *out);

// The caller frees it.
static inline char *
written_text(written_by *write, const void *what)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(write(what, out));
    fclose(out);
    assert_int_equal(strlen(text), length);
    return text;
}

static inline void
written_expect(written_by *write, const void *what, const char *wanted)
{
    char *text = written_text(write, what);
    assert_string_equal(text, wanted);
    free(text);
}

static inline void
written_expect_words(written_by *write, const void *what, const char *words)
{
    char *text = written_text(write, what);
    if (strstr(text, words) == NULL) {
        fail_msg("“%s” is not in:\n%s", words, text);
    }
    free(text);
}

static inline json_t *
written_json(written_by *write, const void *what)
{
    char *text = written_text(write, what);
    json_error_t error;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        fail_msg("%d: %s in:\n%s", error.line, error.text, text);
    }
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
    return document;
}

// "classes.0.change.live"
static inline const json_t *
written_at(const json_t *value, const char *path)
{
    char name[64];
    while (*path != '\0') {
        size_t length = strcspn(path, ".");
        assert_true(length < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
                                     : json_object_get(value, name);
        if (value == NULL) {
            fail_msg("there is no %s", path);
        }
        path += length + (path[length] == '.');
    }
    return value;
}

static inline void
written_expect_number(const json_t *value, const char *path, json_int_t wanted)
{
    const json_t *at = written_at(value, path);
    assert_true(json_is_integer(at));
    assert_int_equal(json_integer_value(at), wanted);
}

static inline void
written_expect_string(const json_t *value, const char *path, const char *wanted)
{
    assert_string_equal(json_string_value(written_at(value, path)), wanted);
}

static inline void
written_expect_null(const json_t *value, const char *path)
{
    assert_true(json_is_null(written_at(value, path)));
}

static inline void
written_fails_on_a_full_disk(written_by *write, const void *what)
{
    for (int buffered = 0; buffered < 2; buffered++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        if (buffered == 0) {
            setvbuf(full, NULL, _IONBF, 0);
        }
        errno = 0;
        assert_false(write(what, full));
        assert_int_equal(errno, ENOSPC);
        fclose(full);
    }
}

// Without memory from the N-th allocation on, for each N: all of it, or ENOMEM.
static inline void
written_all_or_nothing(written_by *write, const void *what)
{
    bool done = false;
    json_set_alloc_funcs(malloc, free);
    for (int allowed = 0; !done; allowed++) {
        FILE *out = fopen("/dev/null", "w");
        assert_non_null(out);
        errno = 0;
        memory_allow(allowed);
        done = write(what, out);
        int error = errno;
        memory_allow(-1);
        fclose(out);
        assert_true(done || error == ENOMEM);
        assert_true(allowed < 5000);
    }
}

#endif
