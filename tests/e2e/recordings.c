// The night in a file: recorded from a real Ruby program, then replayed, judged, cut,
// compared and exported by the real memtop.
#include "night.h"

// The night: orders leak, sessions stay, and a class is pinned, so that there are paths.
static int
record_the_night(void **state)
{
    struct program memtop;
    (void)state;
    snprintf(scene.folder, sizeof(scene.folder), "%s", program_folder());
    snprintf(scene.socket, sizeof(scene.socket), "%s", program_path("ruby.sock"));
    start_ruby();
    ruby_does("KEPT.concat(Array.new(4321) { Session.new }); leak(1)");
    char line[400];
    snprintf(line, sizeof(line), "memtop tree Order --socket '%s' --wait 0 --pin",
             scene.socket);
    expect(line, 0, "Order", NULL);
    start_recording(&memtop, "night.memtop");
    wait_for_growth("night.memtop", 200);
    for (int i = 0; i < 8; i++) {
        ruby_does("leak(1000); sleep 0.1");
    }
    wait_for_growth("night.memtop", 200);
    int status = end_of(&memtop, SIGTERM);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int
end_the_night(void **state)
{
    (void)state;
    program_kill(&scene.ruby);
    return 0;
}

/* Recording. */

static void
a_recording_told_to_end_is_sound(void **state)
{
    (void)state;
    expect("memtop verify night.memtop", 0, "1 processes\n", "");
    expect("memtop verify night.memtop", 0, "\nsound\n", "");
}

static void
a_duration_ends_it_and_it_says_how_much_it_was(void **state)
{
    char line[400];
    (void)state;
    snprintf(line, sizeof(line),
             "memtop record --socket '%s' -o short.memtop --duration 700ms",
             scene.socket);
    expect(line, 0, "", "MB an hour.\n");
    expect("memtop verify short.memtop", 0, "sound", "");
    // what was recorded is never lost to a second recording
    expect(line, 4, "", "cannot record to short.memtop: File exists;");
}

static void
a_killed_recorder_leaves_a_sound_recording(void **state)
{
    struct program memtop;
    (void)state;
    start_recording(&memtop, "killed.memtop");
    ruby_does("leak(10)");
    int status = end_of(&memtop, SIGKILL);
    assert_true(WIFSIGNALED(status));
    expect("memtop verify killed.memtop", 0, "sound", "");
    expect("memtop replay killed.memtop --once", 0, "Session", "");
}

static void
a_program_that_ends_leaves_a_recording_with_its_last_figures(void **state)
{
    struct program memtop;
    (void)state;
    start_recording(&memtop, "last.memtop");
    ruby_does("KEPT.clear; GC.start; leak(777)");
    wait_for_growth("last.memtop", 300);
    program_tell(&scene.ruby, "exit 0");
    program_wait(&scene.ruby);
    program_kill(&scene.ruby);
    start_ruby();
    // its socket keeps its name: the next program is in the same file
    ruby_does("leak(888)");
    wait_for_growth("last.memtop", 2000);
    int status = end_of(&memtop, SIGINT);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect("memtop verify last.memtop", 0, "2 processes\n", "");
    expect("memtop verify last.memtop", 0, "\ngap: ", "");
}

/* Reading it. */

static void
a_replay_gives_the_numbers_that_were_seen(void **state)
{
    char line[1200];
    (void)state;
    // the class that did not change, as the program itself and as the file have it
    snprintf(line, sizeof(line),
             "memtop --socket '%s' --json > live.json; "
             "memtop replay night.memtop --json > file.json; "
             "memtop replay night.memtop --json --at start > start.json; "
             "ruby -rjson -e 'puts ARGV.map { |f| "
             "JSON.parse(File.read(f))[\"classes\"].find { |c| c[\"name\"] == "
             "\"Session\" }.slice(\"live\", \"allocated\", \"freed\") }.uniq' live.json "
             "file.json start.json",
             scene.socket);
    struct outcome outcome = shell(line);
    assert_string_equal(outcome.err, "");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "4321"));
    assert_ptr_equal(strchr(outcome.out, '\n'), strrchr(outcome.out, '\n'));
    outcome_destroy(&outcome);
    expect("memtop replay night.memtop --once", 0, "        8001           8001 ", "");
    expect("memtop replay night.memtop --once --at start | grep -c ' Order$'", 0, "1\n",
           "");
    expect("memtop replay night.memtop --once --at start | grep -c '  8001  '", 1, "0\n",
           "");
    expect("memtop replay night.memtop --once --at nonsense", 2, "", "is no time");
}

static void
a_replay_on_the_screen_steps_through_time(void **state)
{
    char path[300];
    (void)state;
    snprintf(path, sizeof(path), "%s/night.memtop", scene.folder);
    const char *const arguments[] = {MEMTOP, "replay", path, NULL};
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, "REPLAY"));
    terminal_type(terminal, "/~^Order$\r");
    assert_true(terminal_shows(terminal, "8 001"));
    terminal_type(terminal, ":goto start\r");
    assert_true(terminal_hides(terminal, "8 001"));
    assert_true(terminal_shows(terminal, "stopped"));
    terminal_type(terminal, "[");
    assert_true(terminal_shows(terminal, "this is the oldest moment"));
    terminal_type(terminal, "}");
    assert_true(terminal_shows(terminal, "8 001"));
    terminal_type(terminal, "{");
    assert_true(terminal_hides(terminal, "8 001"));
    terminal_type(terminal, "L");
    assert_true(terminal_shows(terminal, "8 001"));
    for (int i = 0; i < 12; i++) {
        terminal_type(terminal, "[");
    }
    assert_true(terminal_hides(terminal, "8 001"));
    for (int i = 0; i < 12; i++) {
        terminal_type(terminal, "]");
    }
    assert_true(terminal_shows(terminal, "8 001"));
    terminal_type(terminal, "\r"); // the call tree as it was then
    assert_true(terminal_shows(terminal, "Object#leak"));
    terminal_type(terminal, "R");
    assert_true(terminal_shows(terminal, "there is no program to record"));
    e2e_quit(terminal);
}

static void
a_replay_plays_by_itself(void **state)
{
    char path[300];
    (void)state;
    snprintf(path, sizeof(path), "%s/night.memtop", scene.folder);
    const char *const arguments[] = {MEMTOP, "replay", path, "--speed", "4", NULL};
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, "REPLAY"));
    assert_true(terminal_shows(terminal, "8 001"));
    assert_true(terminal_shows(terminal, " end"));
    e2e_quit(terminal);
}

static void
the_viewer_goes_back_and_records(void **state)
{
    struct terminal *terminal = e2e_view(scene.socket);
    char line[400];
    (void)state;
    assert_true(terminal_shows(terminal, "Session"));
    terminal_type(terminal, "[");
    assert_true(terminal_shows(terminal, "REWOUND"));
    terminal_type(terminal, "L");
    assert_true(terminal_hides(terminal, "REWOUND"));
    snprintf(line, sizeof(line), ":record %s/viewer.memtop\r", scene.folder);
    terminal_type(terminal, line);
    assert_true(terminal_shows(terminal, "recording into"));
    assert_true(terminal_shows(terminal, "REC"));
    ruby_does("leak(11)");
    wait_for_growth("viewer.memtop", 200);
    terminal_type(terminal, "R");
    assert_true(terminal_shows(terminal, "recorded "));
    terminal_type(terminal, line);
    assert_true(terminal_shows(terminal, "File exists"));
    e2e_quit(terminal);
    expect("memtop verify viewer.memtop", 0, "\nsound\n", "");
}

/* Judging, cutting, comparing. */

static void
a_damaged_byte_is_found_and_passed_over(void **state)
{
    (void)state;
    expect("cp night.memtop bad.memtop; ruby -e 'File.open(\"bad.memtop\", \"r+b\") { "
           "|f| at = f.size / 2; f.seek(at); b = f.read(1).ord ^ 1; f.seek(at); "
           "f.write(b.chr) }'; memtop verify bad.memtop",
           4, "\ndamaged: bytes ", "");
    expect("memtop verify bad.memtop", 4, "\nNOT SOUND\n", "");
    expect("memtop replay bad.memtop --once", 0, "Session", NULL);
    expect("head -c $(($(stat -c %s night.memtop) - 5)) night.memtop > torn.memtop; "
           "memtop verify torn.memtop",
           0, "unfinished frame", "");
}

static void
a_part_is_cut_out(void **state)
{
    (void)state;
    expect("memtop cut night.memtop --from start --to end -o part.memtop", 0,
           " frames in ", "");
    expect("memtop verify part.memtop", 0, "\nsound\n", "");
    expect("memtop replay part.memtop --once", 0, "        8001           8001 ", "");
    expect("memtop cut night.memtop --from start --to end -o part.memtop", 4, "",
           "cannot record to part.memtop: File exists;");
    expect("memtop cut night.memtop --from never --to end -o never.memtop; "
           "test ! -e never.memtop",
           0, "", "is no time");
}

static void
two_moments_are_compared(void **state)
{
    (void)state;
    expect("memtop diff night.memtop", 0, "\ngrown\n", "");
    expect("memtop diff night.memtop", 0, "       +8000 ", "");
    expect("memtop diff night.memtop", 0, "Object#leak", "");
    expect("memtop diff night.memtop --json | ruby -rjson -e 'puts "
           "JSON.parse(STDIN.read)[\"classes\"].find { |c| c[\"name\"] == \"Order\" }"
           "[\"change\"][\"live\"]'",
           0, "8000\n", "");
    expect("cp night.memtop again.memtop; memtop diff night.memtop again.memtop", 0,
           "0 added, 0 grown, 0 shrunk, 0 gone", "");
}

static void
growth_is_judged(void **state)
{
    (void)state;
    expect("memtop check night.memtop --max-growth Order:+500", 1,
           "FAILED   Order:+500: Order +8000 (1 -> 8001), at most +500\n", "");
    expect("memtop check night.memtop --max-growth Order:+500", 1, "Object#leak", "");
    expect("memtop check night.memtop -g Session:+0 -g Order:+8000", 0,
           "2 ok, 0 failed, 0 unknown\n", "");
    expect("memtop check night.memtop -g Order:+500 --json | ruby -rjson -e 'puts "
           "JSON.parse(STDIN.read)[\"verdict\"]'",
           0, "failed\n", "");
    expect("memtop check night.memtop -g Order", 2, "", "--max-growth Order: ");
    expect("memtop check night.memtop -g Order:+1 --warmup 9h", 2, "",
           "--warmup is as long as the recording");
}

/* Exporting. */

static void
a_moment_is_written_in_each_format(void **state)
{
    static const char *const formats[] = {"folded",    "speedscope", "pprof", "csv",
                                          "csv-paths", "json",       "html"};
    char line[300];
    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        snprintf(line, sizeof(line),
                 "memtop export night.memtop -f %s -o night.%s && test -s night.%s",
                 formats[i], formats[i], formats[i]);
        expect(line, 0, "", "");
        // a file is not written over
        snprintf(line, sizeof(line), "memtop export night.memtop -f %s -o night.%s",
                 formats[i], formats[i]);
        expect(line, 4, "", "File exists");
    }
    expect("memtop export night.memtop -f xml -o night.xml", 2, "", "no such format");
    expect("memtop export night.memtop -f csv -o /no/such/folder/file", 4, "",
           "No such file or directory");
}

static void
exports_are_read_by_others(void **state)
{
    (void)state;
    a_moment_is_written_in_each_format(state);
    expect("ruby -rcsv -e 'puts CSV.read(\"night.csv\", headers: true).find { |r| "
           "r[\"name\"] == \"Order\" }[\"live\"]'",
           0, "8001\n", "");
    expect("ruby -rjson -e 'File.foreach(\"night.json\") { |l| JSON.parse(l) }; puts "
           "JSON.parse(File.read(\"night.speedscope\"))[\"profiles\"].size > 0'",
           0, "true\n", "");
    expect("gzip -t < night.pprof; awk '/Object#leak/ { sum += $NF } "
           "END { print sum }' night.folded",
           0, "8000\n", "");
    expect("grep -c Object#leak night.csv-paths", 0, NULL, "");
    expect("head -c 100 night.html", 0, "<!DOCTYPE html>", "");
    expect("memtop export night.memtop -f folded -o - | grep -c Object#leak", 0, NULL,
           "");
}

static void
what_is_no_recording_is_refused_in_words(void **state)
{
    static const struct {
        const char *file;
        const char *words;
    } files[] = {
        {"words.txt", "cannot read words.txt: it is no recording of memtop"},
        {".",         "cannot read .: it is no regular file"               },
        {"no.memtop", "cannot read no.memtop: No such file or directory"   },
        {"empty",     NULL                                                 },
    };
    static const char *const commands[] = {"verify",
                                           "replay --once",
                                           "replay --json",
                                           "diff",
                                           "check -g Order:+1",
                                           "export -f csv -o nothing",
                                           "cut -F start -T end -o nothing"};
    char line[300];
    (void)state;
    expect("echo 'Dear diary' > words.txt; : > empty", 0, "", "");
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        for (size_t k = 0; k < sizeof(commands) / sizeof(*commands); k++) {
            snprintf(line, sizeof(line), "memtop %s %s", commands[k], files[i].file);
            expect(line, 4, "", files[i].words ? files[i].words : "memtop: ");
            expect("test ! -e nothing", 0, "", "");
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_told_to_end_is_sound),
        cmocka_unit_test(a_duration_ends_it_and_it_says_how_much_it_was),
        cmocka_unit_test(a_killed_recorder_leaves_a_sound_recording),
        cmocka_unit_test(a_replay_gives_the_numbers_that_were_seen),
        cmocka_unit_test(a_replay_on_the_screen_steps_through_time),
        cmocka_unit_test(a_replay_plays_by_itself),
        cmocka_unit_test(the_viewer_goes_back_and_records),
        cmocka_unit_test(a_damaged_byte_is_found_and_passed_over),
        cmocka_unit_test(a_part_is_cut_out),
        cmocka_unit_test(two_moments_are_compared),
        cmocka_unit_test(growth_is_judged),
        cmocka_unit_test(exports_are_read_by_others),
        cmocka_unit_test(what_is_no_recording_is_refused_in_words),
        cmocka_unit_test(a_program_that_ends_leaves_a_recording_with_its_last_figures),
    };

    return cmocka_run_group_tests(tests, record_the_night, end_the_night);
}
