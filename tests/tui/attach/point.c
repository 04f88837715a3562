#include "tui/attach/point.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define LIBRUBY "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1"

struct frame {
    const char *function;
    const char *file; // NULL where gdb knows the source instead
};

// As gdb writes it.
static bool
safe(const struct frame *frames, size_t count, bool in_system_call)
{
    char text[4096];
    int length = snprintf(text, sizeof(text), "stack=[");

    for (size_t i = 0; i < count; i++) {
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length,
                     "%sframe={level=\"%zu\",addr=\"0x00007f78b843a308\",func=\"%s\",",
                     i ? "," : "", i, frames[i].function);
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           frames[i].file ? "from=\"%s\",arch=\"i386:x86-64\"}"
                                          : "file=\"x.c\",line=\"3\"}%s",
                           frames[i].file ? frames[i].file : "");
    }
    snprintf(text + length, sizeof(text) - (size_t)length, "]");
    return point_is_safe(text, in_system_call);
}

#define SAFE(in_call, ...)                                                               \
    safe((const struct frame[]){__VA_ARGS__},                                            \
         sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame), in_call)

static void
ruby_code_and_system_calls_are_harmless(void **state)
{
    (void)state;
    assert_true(SAFE(false, {"??", LIBRUBY}, {"rb_vm_exec", LIBRUBY}, {"main", NULL}));
    assert_true(SAFE(true, {"ppoll", LIBC}, {"??", LIBRUBY}, {"main", NULL}));
    assert_true(SAFE(true, {"__ppoll", NULL}, {"??", LIBRUBY}));
    assert_true(SAFE(true, {"??", LIBC}, {"pthread_cond_wait", LIBC}, {"??", LIBRUBY}));
    assert_true(SAFE(false, {"__memcpy_avx_unaligned", NULL}, {"rb_str_times", LIBRUBY}));
}

static void
the_allocator_is_not_whatever_its_functions_are_called(void **state)
{
    static const char *const names[] = {
        "malloc",
        "calloc",
        "__libc_calloc",
        "realloc",
        "free",
        "cfree",
        "__GI___libc_free",
        "__GI___libc_malloc",
        "_int_malloc",
        "_int_free",
        "malloc_consolidate",
        "posix_memalign",
        "aligned_alloc",
        "je_malloc",
        "tc_free",
        "mi_malloc",
        "__libc_memalign",
        "malloc_trim",
        "__libc_realloc",
        "reallocarray",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_false(SAFE(true, {names[i], NULL}, {"rb_gc", LIBRUBY}));
        assert_false(SAFE(true, {"??", LIBC}, {names[i], LIBC}, {"??", LIBRUBY}));
    }
    assert_false(SAFE(true, {"madvise", LIBC}, {"??", "/usr/lib/libjemalloc.so.2"}));
}

static void
nor_are_the_loader_and_the_making_of_processes_and_threads(void **state)
{
    static const char *const names[] = {
        "dlopen", "_dl_open", "dlsym", "dl_iterate_phdr", "fork",    "__libc_fork",
        "vfork",  "clone3",   "exit",  "pthread_create",  "dlclose", "__tls_get_addr"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_false(SAFE(true, {"mmap", LIBC}, {names[i], LIBC}, {"??", LIBRUBY}));
    }
    assert_false(SAFE(false, {"??", "/lib64/ld-linux-x86-64.so.2"}, {"??", LIBRUBY}));
}

// Inside, functions that are not exported have no names.
static void
the_c_library_is_harmless_in_system_calls_alone(void **state)
{
    (void)state;
    assert_false(SAFE(false, {"??", LIBC}, {"??", LIBRUBY}));
    assert_true(SAFE(true, {"??", LIBC}, {"??", LIBRUBY}));
}

static void
names_that_only_look_alike_are_harmless(void **state)
{
    (void)state;
    assert_true(SAFE(false, {"rb_fork_ruby", LIBRUBY}, {"freeze", LIBRUBY}));
    assert_true(SAFE(false, {"rb_free_tmp_buffer", LIBRUBY}, {"exit_handler", LIBRUBY}));
}

static void
without_a_stack_nothing_is_known(void **state)
{
    (void)state;
    assert_false(point_is_safe("", true));
    assert_false(point_is_safe("stack=[]", true));
    assert_false(point_is_safe("msg=\"No stack.\"", true));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruby_code_and_system_calls_are_harmless),
        cmocka_unit_test(the_allocator_is_not_whatever_its_functions_are_called),
        cmocka_unit_test(nor_are_the_loader_and_the_making_of_processes_and_threads),
        cmocka_unit_test(the_c_library_is_harmless_in_system_calls_alone),
        cmocka_unit_test(names_that_only_look_alike_are_harmless),
        cmocka_unit_test(without_a_stack_nothing_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
