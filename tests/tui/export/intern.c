#include "tui/export/intern.h"

#include "mixed.h"
#include "tests/tui/memory.h"

static void
a_thing_keeps_its_number(void **state)
{
    struct intern intern = {0};
    uint32_t number;
    char text[16];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(text, sizeof(text), "%u", (unsigned)i);
            assert_true(intern_find(&intern, (struct intern_key){text, "", 0}, &number));
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(intern.count, 1000);
    intern_destroy(&intern);
    intern_destroy(&intern);
}

static void
every_part_tells_things_apart(void **state)
{
    static const struct intern_key keys[] = {
        {"",   "",   0},
        {"ab", "",   0},
        {"a",  "b",  0},
        {"",   "ab", 0},
        {"ab", "",   1},
    };
    struct intern intern = {0};
    uint32_t number;

    (void)state;
    for (uint32_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        assert_true(intern_find(&intern, keys[i], &number));
        assert_int_equal(number, i);
    }
    intern_destroy(&intern);
}

static void
stays_as_it_was_when_memory_runs_out(void **state)
{
    struct intern intern = {0};
    uint32_t number;
    bool done = false;

    (void)state;
    for (int allowed = 0; !done; allowed++) {
        memory_allow(allowed);
        done = intern_find(&intern, (struct intern_key){"a", "b", 3}, &number);
        memory_allow(-1);
        assert_int_equal(intern.count, done ? 1 : 0);
    }
    assert_int_equal(number, 0);
    intern_destroy(&intern);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thing_keeps_its_number),
        cmocka_unit_test(every_part_tells_things_apart),
        cmocka_unit_test(stays_as_it_was_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
