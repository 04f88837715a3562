/*
 * What the tests of recordings share: a Ruby program that does what it is told, the
 * real memtop recording it, and lines of shell in the test's folder.
 */
#ifndef TESTS_E2E_NIGHT_H
#define TESTS_E2E_NIGHT_H

#include <sys/stat.h>

#include "e2e.h"

struct scene {
    struct program ruby;
    char socket[200];
    char folder[200];
};

static struct scene scene;

// A line of shell with memtop and ruby in it, in the test's folder.
static inline struct outcome
shell(const char *line)
{
    char script[2000];
    snprintf(script, sizeof(script),
             "cd '%s'; memtop() { '" MEMTOP "' \"$@\"; }; ruby() { '" RUBY
             "' \"$@\"; }; %s",
             scene.folder, line);
    const char *const arguments[] = {"sh", "-c", script, NULL};
    return program_run(arguments, NULL);
}

// It ends so, and its output has the words (NULL: whatever it says).
static inline void
expect(const char *line, int status, const char *out, const char *err)
{
    struct outcome outcome = shell(line);
    bool as_wished = outcome.status == status && (!out || strstr(outcome.out, out)) &&
                     (!err || strstr(outcome.err, err));
    if (!as_wished) {
        fprintf(stderr, "%s\nended with %d, wished %d (%s) (%s)\n%s\n%s\n", line,
                outcome.status, status, out ? out : "", err ? err : "", outcome.out,
                outcome.err);
    }
    outcome_destroy(&outcome);
    assert_true(as_wished);
}

static inline void
ruby_does(const char *line)
{
    program_tell(&scene.ruby, line);
    assert_true(program_says(&scene.ruby, "done"));
}

static inline void
start_ruby(void)
{
    char setting[300];
    snprintf(setting, sizeof(setting), "MEMTOP_SOCKET=%s", scene.socket);
    const char *const environment[] = {setting, "MEMTOP_INTERVAL=0.1", "RUBYOPT", NULL};
    const char *const arguments[] = {RUBY,          "-I", RUBY_LIB, "-r",
                                     "memtop/auto", APP,  NULL};
    program_start(&scene.ruby, arguments, environment);
    assert_true(program_says(&scene.ruby, "ready"));
}

// Wait until a file is there and so long.
static inline void
wait_for_bytes(const char *name, off_t bytes)
{
    char path[300];
    struct stat file = {0};
    snprintf(path, sizeof(path), "%s/%s", scene.folder, name);
    for (int i = 0; i < PROGRAM_DEADLINE_S * 100; i++) {
        if (stat(path, &file) == 0 && file.st_size >= bytes) {
            return;
        }
        usleep(10000);
    }
    fail_msg("nothing was recorded into %s", path);
}

// Start `memtop record` into a file; it is at work once the file has something in it.
static inline void
start_recording(struct program *memtop, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", scene.folder, name);
    const char *const arguments[] = {MEMTOP, "record", "--socket", scene.socket,
                                     "-o",   path,     NULL};
    program_start(memtop, arguments, NULL);
    wait_for_bytes(name, 2000);
}

// Wait until so much more is in the file: samples have come.
static inline void
wait_for_growth(const char *name, off_t bytes)
{
    char path[300];
    struct stat file = {0};
    snprintf(path, sizeof(path), "%s/%s", scene.folder, name);
    assert_int_equal(stat(path, &file), 0);
    off_t wished = file.st_size + bytes;
    for (int i = 0; file.st_size < wished && i < PROGRAM_DEADLINE_S * 100; i++) {
        usleep(10000);
        assert_int_equal(stat(path, &file), 0);
    }
    assert_true(file.st_size >= wished);
}

static inline int
end_of(struct program *memtop, int number)
{
    kill(memtop->pid, number);
    int status = program_wait(memtop);
    program_kill(memtop);
    return status;
}

#endif
