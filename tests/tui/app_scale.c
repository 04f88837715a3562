// 50 000 classes. What is asserted is work, which is the same on every machine;
// the times it took here are printed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/tui/fixture.h"
#include "tui/app_state.h"

#define CLASSES 50000
#define ROWS 50
#define COLUMNS 160

static struct class_row rows[CLASSES];
static struct class_name names[CLASSES];
static char texts[CLASSES][48];

static double
milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void
step(uint64_t second)
{
    for (size_t i = 0; i < CLASSES; i++) {
        rows[i].live += i % 7 == 0 ? second : 0;
        rows[i].allocated += 40 * (i % 11);
        rows[i].freed += 39 * (i % 11);
    }
}

static void
begin(struct fixture *fixture)
{
    fixture_start(fixture, (struct fixture_options){0});
    for (size_t i = 0; i < CLASSES; i++) {
        snprintf(texts[i], sizeof texts[i], "Module%zu::Part%zu::Class%zu", i % 97,
                 i % 13, i);
        names[i] = (struct class_name){(class_id)i + 1, 0, text_of(texts[i])};
        rows[i] = (struct class_row){(class_id)i + 1, i * 7919 % 100003, 0, 0, 40 * i};
    }
    fixture_hello(fixture, 4120);
    fixture_names(fixture, names, CLASSES);
    fixture_send_sample(fixture, fixture_sample(rows, CLASSES, true));
    free(fixture_screen(fixture, COLUMNS, ROWS));
    for (uint64_t second = 1; second <= 5; second++) {
        step(second);
        fixture_wait(fixture, 1000);
        fixture_send_sample(fixture, fixture_sample(rows, CLASSES, false));
    }
    app_draw(fixture->app, &fixture->grid, fixture->now_ms);
}

// Type keys, each drawn; prints the slowest and returns the work that they made.
static struct rows_work
type(struct fixture *fixture, const char *what, const char *keys)
{
    struct rows_work before = fixture->app->table.rows.work;
    double slowest = 0;
    for (; *keys != '\0'; keys++) {
        struct key key = {.code =
                              (unsigned char)(*keys == '\n' ? KEY_CODE_ENTER : *keys)};
        double from = milliseconds();
        app_key(fixture->app, key, fixture->now_ms);
        app_draw(fixture->app, &fixture->grid, fixture->now_ms);
        double took = milliseconds() - from;
        slowest = took > slowest ? took : slowest;
    }
    printf("%-40s %6.2f ms\n", what, slowest);
    const struct rows_work *after = &fixture->app->table.rows.work;
    return (struct rows_work){after->names - before.names, after->builds - before.builds,
                              after->sorts - before.sorts,
                              after->matches - before.matches};
}

static void
moves_without_making_the_list_anew(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    uint64_t drawn = fixture.app->table.drawn;
    struct rows_work work = type(&fixture, "ten rows down, one key", "jjjjjjjjjj");
    assert_int_equal(work.builds, 0);
    assert_int_equal(work.sorts, 0);
    assert_int_equal(work.matches, 0);
    // only what is on the screen is ever written
    assert_in_range(fixture.app->table.drawn - drawn, 1, 10 * ROWS);
    fixture_stop(&fixture);
}

static void
sorts_once_for_each_order(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    struct rows_work work = type(&fixture, "another order, one key", "3234567821I");
    assert_int_equal(work.names, 0); // names are in order already
    assert_int_equal(work.builds, 11);
    assert_int_equal(work.sorts, 9); // by name there is nothing left to sort
    fixture_stop(&fixture);
}

static void
looks_at_each_class_once_for_each_letter_of_a_filter(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    struct rows_work work = type(&fixture, "a letter of a filter", "/class12");
    assert_int_equal(work.matches, 7 * CLASSES);
    assert_int_equal(work.names, 0);
    type(&fixture, "a letter of a filter of numbers", "\n/ delta>10 live<5000");
    fixture_keys(&fixture, "<Enter>\\");
    type(&fixture, "a letter of a regular expression", "/~^Module1.*9$");
    fixture_stop(&fixture);
}

static void
takes_a_sample_without_ordering_names(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    struct rows_work before = fixture.app->table.rows.work;
    step(6);
    fixture_wait(&fixture, 1000);
    double from = milliseconds();
    fixture_send_sample(&fixture, fixture_sample(rows, CLASSES, false));
    double applied = milliseconds();
    app_draw(fixture.app, &fixture.grid, fixture.now_ms);
    double drawn = milliseconds();
    printf("%-40s %6.2f ms, encoding and decoding included\n", "a sample of all classes",
           applied - from);
    printf("%-40s %6.2f ms\n", "the screen after it", drawn - applied);
    assert_int_equal(fixture.app->table.rows.work.names, before.names);
    assert_int_equal(fixture.app->table.rows.work.builds, before.builds + 1);
    fixture_stop(&fixture);
}

static void
pauses_and_goes_on(void **state)
{
    struct fixture fixture;
    (void)state;
    begin(&fixture);
    struct rows_work work = type(&fixture, "pause", " ");
    assert_int_equal(work.builds, 0); // the copy is made when the next sample comes
    fixture_wait(&fixture, 1000);
    fixture_send_sample(&fixture, fixture_sample(rows, CLASSES, false));
    work = type(&fixture, "a row down on a paused screen", "jj");
    assert_int_equal(work.names, 0);
    assert_int_equal(work.builds, 1);
    type(&fixture, "go on", " ");
    type(&fixture, "set a mark", "m");
    fixture_stop(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_without_making_the_list_anew),
        cmocka_unit_test(sorts_once_for_each_order),
        cmocka_unit_test(looks_at_each_class_once_for_each_letter_of_a_filter),
        cmocka_unit_test(takes_a_sample_without_ordering_names),
        cmocka_unit_test(pauses_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
