#include "tui/export/processes.h"

#include "tests/tui/export/written.h"
#include "tests/tui/model/herd.h"

static struct herd herd;

static int
start(void **state)
{
    (void)state;
    herd_start(&herd);
    herd_puma(&herd, 60);
    return 0;
}

static int
stop(void **state)
{
    (void)state;
    herd_stop(&herd);
    return 0;
}

static bool
write_table(const void *fleet, FILE *out)
{
    return processes_write_table(fleet, false, out);
}

static bool
write_ascii(const void *fleet, FILE *out)
{
    return processes_write_table(fleet, true, out);
}

static bool
write_json(const void *fleet, FILE *out)
{
    return processes_write_json(fleet, out);
}

static void
lists_children_below_their_parents(void **state)
{
    (void)state;
    herd_sleep(&herd, herd_add(&herd, 5000, 1, "ruby -e sleep"));
    fleet_state(&herd.fleet, fleet_find_pid(&herd.fleet, 4177), PEER_SILENT,
                "it says nothing", herd.now_ms);
    written_expect(
        write_table, &herd.fleet,
        "PID          MODE         RSS        LIVE DELTA/MIN  TOP GROWING               "
        "SINCE  COMMAND\n"
        "4101         count      96.0M      411904        +0  -                         "
        "01:00  puma 6.6 master\n"
        "├4120        count       212M     1109304     +8400  Order leak?               "
        "01:00  puma: cluster worker 0 [odd: live]\n"
        "├4121        count       131M      610907        +3  -                         "
        "01:00  puma: cluster worker 1\n"
        "└4177        silent      128M      610907        +3  -                         "
        "01:00  puma: cluster worker 2 (it says nothing)\n"
        "5000         dormant     128M           -         -  -                         "
        "00:00  ruby -e sleep\n");
}

static void
lists_with_ascii_alone(void **state)
{
    (void)state;
    char *text = written_text(write_ascii, &herd.fleet);
    for (const char *at = text; *at != '\0'; at++) {
        assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
    }
    assert_non_null(strstr(text, "\n|-4120 "));
    assert_non_null(strstr(text, "\n`-4177 "));
    free(text);
}

static void
tells_machines_the_same(void **state)
{
    (void)state;
    json_t *array = written_json(write_json, &herd.fleet);
    assert_int_equal(json_array_size(array), 4);
    json_t *worker = json_array_get(array, 1);
    assert_int_equal(json_integer_value(json_object_get(worker, "pid")), 4120);
    assert_int_equal(json_integer_value(json_object_get(worker, "parent")), 4101);
    assert_string_equal(json_string_value(json_object_get(worker, "socket")),
                        "/run/memtop/4120.sock");
    assert_string_equal(json_string_value(json_object_get(worker, "command")),
                        "puma: cluster worker 0");
    assert_string_equal(json_string_value(json_object_get(worker, "mode")), "count");
    assert_string_equal(json_string_value(json_object_get(worker, "state")), "live");
    assert_string_equal(json_string_value(json_object_get(worker, "ruby")), "3.1.2");
    assert_string_equal(json_string_value(json_object_get(worker, "worst")), "Order");
    assert_string_equal(json_string_value(json_object_get(worker, "verdict")), "leak?");
    assert_string_equal(json_string_value(json_object_get(worker, "odd")), "live");
    assert_int_equal(json_integer_value(json_object_get(worker, "live")), 1109304);
    json_decref(array);
}

static void
what_did_not_say_anything_is_null(void **state)
{
    (void)state;
    fleet_destroy(&herd.fleet);
    fleet_add(&herd.fleet, "/run/memtop/7.sock", 7, 0);
    json_t *array = written_json(write_json, &herd.fleet);
    static const char *const keys[] = {
        "command",         "mode",  "parent",  "ruby", "started", "rss_bytes", "live",
        "live_per_minute", "worst", "verdict", "odd",  "why"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_true(json_is_null(json_object_get(json_array_get(array, 0), keys[i])));
    }
    json_decref(array);
}

static void
none_is_an_empty_list(void **state)
{
    (void)state;
    fleet_destroy(&herd.fleet);
    written_expect(write_json, &herd.fleet, "[]\n");
}

static void
hostile_commands_stay_on_their_line(void **state)
{
    (void)state;
    herd_add(&herd, 9, 1, "a\n\033[31mb\xff");
    char *text = written_text(write_table, &herd.fleet);
    assert_null(strchr(text, '\033'));
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, 6);
    free(text);
    json_decref(written_json(write_json, &herd.fleet));
}

static void
a_full_disk_is_an_error(void **state)
{
    (void)state;
    FILE *out = fopen("/dev/full", "w");
    assert_false(processes_write_table(&herd.fleet, false, out));
    fclose(out);
    out = fopen("/dev/full", "w");
    assert_false(processes_write_json(&herd.fleet, out));
    fclose(out);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        CASE(lists_children_below_their_parents),
        CASE(lists_with_ascii_alone),
        CASE(tells_machines_the_same),
        CASE(what_did_not_say_anything_is_null),
        CASE(none_is_an_empty_list),
        CASE(hostile_commands_stay_on_their_line),
        CASE(a_full_disk_is_an_error),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
