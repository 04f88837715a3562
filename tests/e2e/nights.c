// Recordings when something goes wrong, or somebody else has a hand in the file: nights
// with kill -9, full disks, restarts; marks that are set the morning after.
#include "night.h"

static void
say_setting(char *setting, size_t size, const char *name, const char *value)
{
    snprintf(setting, size, "%s=%s", name, value);
}

static int
open_scene(void **state)
{
    (void)state;
    snprintf(scene.folder, sizeof(scene.folder), "%s", program_folder());
    snprintf(scene.socket, sizeof(scene.socket), "%s", program_path("ruby.sock"));
    start_ruby();
    ruby_does("KEPT.concat(Array.new(4321) { Session.new }); leak(1)");
    return 0;
}

static int
close_scene(void **state)
{
    (void)state;
    program_kill(&scene.ruby);
    // where a test ended before it could
    struct outcome unmounted = shell("umount full 2>/dev/null || :");
    outcome_destroy(&unmounted);
    return 0;
}

static struct terminal *
replay(const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", scene.folder, name);
    const char *const arguments[] = {MEMTOP, "replay", path, NULL};
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, "REPLAY"));
    return terminal;
}

// A recording of Orders that leak, and its end.
static void
record_orders(const char *name)
{
    struct program memtop;
    start_recording(&memtop, name);
    wait_for_growth(name, 100);
    ruby_does("leak(1000)");
    wait_for_growth(name, 200);
    ruby_does("leak(1000)");
    wait_for_growth(name, 200);
    int status = end_of(&memtop, SIGTERM);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Numbers. */

// The first moments of a recording have no bytes: nobody has weighed anything yet.
static void
wait_for_a_census(const char *name)
{
    char line[300];
    int status = 1;
    snprintf(line, sizeof(line),
             "memtop replay '%s' --once --json | ruby -rjson -e 'exit "
             "JSON.parse($stdin.read)[\"classes\"].all? { |c| c[\"bytes\"] }'",
             name);
    for (int i = 0; i < 100 && status != 0; i++) {
        struct outcome outcome = shell(line);
        status = outcome.status;
        outcome_destroy(&outcome);
    }
    assert_int_equal(status, 0);
}

// The program stands still and allocates nothing, so what is live is the same for the
// recorder and for who looks with --once beside it.
static void
a_replay_has_the_numbers_that_once_had_then(void **state)
{
    struct program memtop;
    char line[1500];
    (void)state;
    ruby_does("GC.start; GC.disable");
    start_recording(&memtop, "still.memtop");
    wait_for_a_census("still.memtop");
    wait_for_growth("still.memtop", 200);
    snprintf(line, sizeof(line), "memtop --socket '%s' --once --json --all > live.json",
             scene.socket);
    expect(line, 0, "", "");
    wait_for_growth("still.memtop", 200);
    ruby_does("leak(5000)"); // what comes later is not what was then
    wait_for_growth("still.memtop", 200);
    end_of(&memtop, SIGTERM);
    ruby_does("GC.enable");
    expect("memtop replay still.memtop --json --all --at \"$(ruby -rjson -e 'puts "
           "JSON.parse(File.read(\"live.json\"))[\"time\"]')\" > then.json; "
           "ruby -rjson -e '"
           "live, file = ARGV.map { |f| JSON.parse(File.read(f)) }; "
           "[live, file].each { |d| d[\"classes\"].each { |c| c.delete(\"verdict\"); "
           "c.delete(\"reason\") } }; "
           "rows = [live, file].map { |d| d[\"classes\"].to_h { |c| [c.values_at("
           "\"name\", \"anonymous\"), c] } }; "
           "puts rows[0].keys.size > 50; "
           "puts (rows[0].to_a - rows[1].to_a).inspect, (rows[1].to_a - "
           "rows[0].to_a).inspect; "
           "puts live[\"process\"] == file[\"process\"], live[\"totals\"] == "
           "file[\"totals\"], live[\"memory\"].slice(\"gc_count\", \"gc_major_count\") "
           "== file[\"memory\"].slice(\"gc_count\", \"gc_major_count\")' "
           "live.json then.json",
           0, "true\n[]\n[]\ntrue\ntrue\ntrue\n", "");
}

/* Where it cannot be written. */

static void
a_place_that_cannot_be_written_is_told_with_what_to_do(void **state)
{
    static const struct {
        const char *options;
        int status;
        const char *words;
    } wrong[] = {
        {"-o none/x.memtop",             4,
         "memtop: cannot record to none/x.memtop: No such file or directory; make its "
         "folder first.\n"                                                                               },
        {"-o .",                         4, "File exists; it is not written over: choose another name.\n"},
        {"-o x.memtop --duration 0",     2, "--duration is longer than nothing"                          },
        {"-o x.memtop --duration never", 2, "--duration wants a time such as"                            },
        {"-o x.memtop --max-size 1K",    2, "--max-size is at least 64K"                                 },
        {"-o x.memtop --max-size big",   2, "--max-size wants a size such as"                            },
        {"",                             2, "-o says which file to write, and is missing"                },
    };
    char line[1000];
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        snprintf(line, sizeof(line), "memtop record --socket '%s' %s", scene.socket,
                 wrong[i].options);
        expect(line, wrong[i].status, "", wrong[i].words);
    }
    expect("test ! -e x.memtop", 0, "", "");
    // a folder of others: root is asked as nobody, who may not write there either
    snprintf(line, sizeof(line),
             "mkdir -p shut; chmod 555 shut; chmod 755 .; chmod 777 '%s'; "
             "as=; test $(id -u) != 0 || as='setpriv --reuid=65534 --clear-groups'; "
             "$as '" MEMTOP "' record --socket '%s' -o shut/x.memtop",
             scene.socket, scene.socket);
    struct outcome outcome = shell(line);
    // the probe talks to its own user and root alone, so nobody is refused before
    bool told = outcome.status == 4 && strstr(outcome.err, "Permission denied; choose");
    bool refused = outcome.status == 3;
    outcome_destroy(&outcome);
    assert_true(told || (geteuid() == 0 && refused));
}

// What the file was when there was no more room for it.
static void
expect_end_in_words(const char *line, const char *file)
{
    char judge[400];
    expect(line, 4, "", "the recording ended early: recording to ");
    snprintf(judge, sizeof(judge),
             "memtop verify %s && memtop replay %s --once && memtop cut %s --from start "
             "--to end -o kept.memtop && rm kept.memtop",
             file, file, file);
    expect(judge, 0, "\nsound\n", "");
}

static void
a_limit_of_file_size_ends_the_recording_in_words(void **state)
{
    char line[600];
    (void)state;
    snprintf(line, sizeof(line),
             "ulimit -f 16; memtop record --socket '%s' -o limit.memtop", scene.socket);
    expect_end_in_words(line, "limit.memtop");
}

static void
a_full_disk_ends_the_recording_in_words(void **state)
{
    char line[600];
    (void)state;
    struct outcome mounted = shell("mkdir full && mount -t tmpfs -o size=16k none full");
    bool full = mounted.status == 0;
    outcome_destroy(&mounted);
    if (!full) {
        print_message("a small disk cannot be mounted here: that wants root\n");
        skip();
    }
    snprintf(line, sizeof(line), "memtop record --socket '%s' -o full/disk.memtop",
             scene.socket);
    expect_end_in_words(line, "full/disk.memtop");
    expect("umount full", 0, "", "");
}

static void
whoever_is_killed_leaves_a_recording_that_can_be_read(void **state)
{
    (void)state;
    expect("ruby -w '" KILLER "' '" MEMTOP "' '" RUBY_LIB "' 6", 0,
           "recorder 2, program 2, viewer 2\n", NULL);
}

/* Restarts. */

static void
a_process_that_is_recorded_by_its_id_ends_the_recording(void **state)
{
    struct program ruby;
    struct program memtop;
    char runtime[300];
    char pid[20];
    char path[300];
    (void)state;
    say_setting(runtime, sizeof(runtime), "XDG_RUNTIME_DIR", scene.folder);
    const char *const environment[] = {runtime, "MEMTOP_SOCKET", "MEMTOP_INTERVAL=0.1",
                                       "RUBYOPT", NULL};
    const char *const program[] = {RUBY, "-I", RUBY_LIB, "-r", "memtop/auto", APP, NULL};
    program_start(&ruby, program, environment);
    assert_true(program_says(&ruby, "ready"));
    snprintf(pid, sizeof(pid), "%d", (int)ruby.pid);
    snprintf(path, sizeof(path), "%s/pid.memtop", scene.folder);
    const char *const arguments[] = {MEMTOP, "record", pid, "-o", path, NULL};
    program_start(&memtop, arguments, environment);
    wait_for_bytes("pid.memtop", 2000);
    program_tell(&ruby, "exit 0");
    program_wait(&ruby);
    int status = program_wait(&memtop);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    program_kill(&ruby);
    program_kill(&memtop);
    expect("memtop verify pid.memtop", 0, "1 processes\n", "");
    expect("memtop verify pid.memtop", 0, "\nsound\n", "");
}

static void
a_restart_is_a_gap_on_the_timeline_with_its_reason(void **state)
{
    struct program memtop;
    (void)state;
    start_recording(&memtop, "gap.memtop");
    wait_for_growth("gap.memtop", 200);
    program_tell(&scene.ruby, "exit 0");
    program_wait(&scene.ruby);
    program_kill(&scene.ruby);
    sleep(4); // a gap that is wide enough on the screen for its words
    start_ruby();
    ruby_does("KEPT.concat(Array.new(4321) { Session.new }); leak(888)");
    wait_for_growth("gap.memtop", 2000);
    end_of(&memtop, SIGTERM);
    expect("memtop verify gap.memtop", 0, ": the program ended\n", "");

    struct terminal *terminal = replay("gap.memtop");
    terminal_type(terminal, "/~^(Order|Session)$\r");
    assert_true(terminal_shows(terminal, "gap: the program ended"));
    // into the gap: what was known then is shown
    int row = terminal_find(terminal, "gap: the program ended");
    char *text = terminal_row(terminal, row);
    int column = 0;
    for (const char *at = text; at < strstr(text, "gap:"); at++) {
        column += (*at & 0xc0) != 0x80; // letters, not bytes
    }
    free(text);
    terminal_click(terminal, row, column);
    assert_true(terminal_hides(terminal, "888"));
    terminal_type(terminal, ":goto start\r");
    terminal_type(terminal, ":goto +3s\r");
    terminal_type(terminal, ":mark G\r");
    assert_true(terminal_shows(terminal, "mark G is set"));
    // changes since then, in a process that has other ids
    terminal_type(terminal, "L");
    assert_true(terminal_shows(terminal, "888"));
    e2e_quit(terminal);
    expect("memtop replay gap.memtop --once --at G", 0, "Session", "");
    expect("memtop verify gap.memtop", 0, "\nsound\n", "");
    expect("memtop diff gap.memtop --from G --to end", 0, NULL, "");
}

/* Marks of the morning after. */

static void
a_mark_set_in_a_replay_is_there_the_next_time(void **state)
{
    (void)state;
    record_orders("marked.memtop");
    expect("cp marked.memtop before.memtop", 0, "", "");
    struct terminal *terminal = replay("marked.memtop");
    terminal_type(terminal, ":goto start\r");
    assert_true(terminal_shows(terminal, "stopped"));
    terminal_type(terminal, ":mark Q\r");
    assert_true(terminal_shows(terminal, "mark Q is set: changes are since the moment"));
    terminal_type(terminal, "L");
    terminal_type(terminal, "m");
    assert_true(terminal_shows(terminal, "mark A is set"));
    e2e_quit(terminal);
    // only added to, and sound
    expect("cmp -n $(stat -c %s before.memtop) before.memtop marked.memtop", 0, "", "");
    expect("memtop verify marked.memtop", 0, "\nsound\n", "");
    expect("memtop verify marked.memtop | grep -c unfinished", 1, "0\n", "");
    // a mark is a moment to every command
    expect("memtop diff marked.memtop --from Q --to A", 0, "       +2000 ", "");
    expect("memtop check marked.memtop -g Order:+500 --from Q", 1, "Order +2000", "");
    expect("memtop replay marked.memtop --json --at Q > at_q.json; memtop replay "
           "before.memtop --json --at start > at_start.json; cmp at_q.json "
           "at_start.json",
           0, "", "");
    expect("memtop export marked.memtop --at Q -f csv | grep -c Session", 0, "1\n", "");
    expect("memtop diff before.memtop --from Q --to end", 2, "", "mark Q");
    // a part that ended before the mark was set takes it along
    expect("memtop cut marked.memtop --from start --to -1s -o early.memtop && memtop "
           "replay early.memtop --json --at Q > cut_q.json && cmp at_q.json cut_q.json",
           0, "", "");
    expect("memtop verify early.memtop", 0, "\nsound\n", "");
    terminal = replay("marked.memtop");
    terminal_type(terminal, "/~^Order$\r");
    terminal_type(terminal, ":since Q\r");
    assert_true(terminal_shows(terminal, "+2 000"));
    e2e_quit(terminal);
}

static void
a_mark_that_was_not_all_written_costs_nothing_else(void **state)
{
    (void)state;
    record_orders("torn.memtop");
    expect("cp torn.memtop whole.memtop", 0, "", "");
    struct terminal *terminal = replay("torn.memtop");
    terminal_type(terminal, ":mark Q\r");
    assert_true(terminal_shows(terminal, "mark Q is set: "));
    e2e_quit(terminal);
    expect("ruby -e 'whole = File.binread(\"torn.memtop\"); start = "
           "File.size(\"whole.memtop\"); "
           "abort \"no mark\" unless whole.size > start; "
           "(start...whole.size).step(7) { |size| "
           "File.binwrite(\"t.memtop\", whole[0, size]); "
           "out = `\"" MEMTOP "\" verify t.memtop`; "
           "abort out unless $?.success? && out.end_with?(\"\\nsound\\n\") && (size == "
           "start || out.include?(\"unfinished\")) }'",
           0, "", "");
    // its end is not whole: nothing is put behind it
    terminal = replay("t.memtop");
    terminal_type(terminal, "m");
    assert_true(terminal_shows(terminal, "mark A is set for this session only: "));
    e2e_quit(terminal);
}

static void
a_mark_in_a_recording_that_goes_on_is_for_the_session(void **state)
{
    struct program memtop;
    (void)state;
    start_recording(&memtop, "growing.memtop");
    struct terminal *terminal = replay("growing.memtop");
    terminal_type(terminal, ":mark Q\r");
    assert_true(terminal_shows(terminal, "mark Q is set for this session only: "));
    e2e_quit(terminal);
    // it is stopped, and so writes nothing: that it has the file still counts
    kill(memtop.pid, SIGSTOP);
    terminal = replay("growing.memtop");
    terminal_type(terminal, ":mark Q\r");
    assert_true(terminal_shows(terminal, "another memtop is recording to it"));
    e2e_quit(terminal);
    kill(memtop.pid, SIGCONT);
    int status = end_of(&memtop, SIGTERM);
    assert_true(WIFEXITED(status));
    expect("memtop verify growing.memtop", 0, "\nsound\n", "");
    expect("memtop replay growing.memtop --once --at Q", 2, "", "mark Q");
}

static void
a_mark_in_a_file_that_may_not_be_written_is_for_the_session(void **state)
{
    char path[300];
    (void)state;
    record_orders("shut.memtop");
    expect("cp shut.memtop same.memtop; chmod 444 shut.memtop; chmod 755 .", 0, "", "");
    snprintf(path, sizeof(path), "%s/shut.memtop", scene.folder);
    const char *const as_nobody[] = {
        "setpriv", "--reuid=65534", "--clear-groups", MEMTOP, "replay", path, NULL};
    const char *const *arguments = geteuid() == 0 ? as_nobody : as_nobody + 3;
    struct terminal *terminal = terminal_start(&(struct terminal_options){
        .arguments = arguments, .rows = E2E_ROWS, .columns = E2E_COLUMNS});
    assert_true(terminal_shows(terminal, "REPLAY"));
    terminal_type(terminal, ":mark Q\r");
    assert_true(terminal_shows(terminal, "for this session only: "));
    assert_true(terminal_shows(terminal, "Permission denied"));
    e2e_quit(terminal);
    expect("cmp shut.memtop same.memtop", 0, "", "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_has_the_numbers_that_once_had_then),
        cmocka_unit_test(a_place_that_cannot_be_written_is_told_with_what_to_do),
        cmocka_unit_test(a_limit_of_file_size_ends_the_recording_in_words),
        cmocka_unit_test(a_full_disk_ends_the_recording_in_words),
        cmocka_unit_test(whoever_is_killed_leaves_a_recording_that_can_be_read),
        cmocka_unit_test(a_process_that_is_recorded_by_its_id_ends_the_recording),
        cmocka_unit_test(a_mark_set_in_a_replay_is_there_the_next_time),
        cmocka_unit_test(a_mark_that_was_not_all_written_costs_nothing_else),
        cmocka_unit_test(a_mark_in_a_recording_that_goes_on_is_for_the_session),
        cmocka_unit_test(a_mark_in_a_file_that_may_not_be_written_is_for_the_session),
        cmocka_unit_test(a_restart_is_a_gap_on_the_timeline_with_its_reason),
    };

    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
