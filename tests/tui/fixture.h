/*
 * A viewer with a probe that exists on paper: messages are encoded and decoded
 * as on a real socket, time stands still until it is moved.
 */
#ifndef TESTS_TUI_FIXTURE_H
#define TESTS_TUI_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/decoder.h"
#include "protocol/message.h"
#include "tui/app.h"

#define FIXTURE_SENT_MAX 16

struct fixture {
    struct app *app;
    struct grid grid;
    struct decoder decoder;
    uint64_t now_ms;
    struct request sent[FIXTURE_SENT_MAX];
    int sent_count;
    bool refuse_to_send;
    unsigned reactions; // of the last call
};

struct fixture_options {
    bool ascii;
    bool readonly;
    size_t ring_bytes;
    source_reader *read_source;
    const struct app_choices *choices;
    const struct fleet *fleet;
    bool command;
    const struct scroll *output;
};

void fixture_start(struct fixture *fixture, struct fixture_options options);
void fixture_stop(struct fixture *fixture);

// Send a message through encoder and decoder into the app.
void fixture_message(struct fixture *fixture, struct message message);

void fixture_hello(struct fixture *fixture, uint64_t pid);
void fixture_names(struct fixture *fixture, const struct class_name *names, size_t count);
void fixture_notice(struct fixture *fixture, uint64_t id, enum notice_severity severity,
                    const char *text);

// A sample whose totals are the sums of `rows`, in a process that is always the same.
struct sample fixture_sample(const struct class_row *rows, size_t count, bool key);
void fixture_send_sample(struct fixture *fixture, struct sample sample);

// The program of the golden screens: connected, 40 seconds of samples.
void fixture_demo(struct fixture *fixture);
// One second more of it.
void fixture_demo_second(struct fixture *fixture);

// Time passes, without and with the tick.
void fixture_wait(struct fixture *fixture, uint64_t ms);

// Keys as they are typed, the screen drawn when it is asked for; special ones in angle
// brackets: "<Enter>", "<^G>", "<PgDn>".
void fixture_keys(struct fixture *fixture, const char *keys);
void fixture_click(struct fixture *fixture, int row, int column);

// Draw at a size and return the screen's text, which the caller frees.
char *fixture_screen(struct fixture *fixture, int columns, int rows);

// The row of a text on the screen drawn last, -1 when it is not there.
int fixture_row_of(struct fixture *fixture, const char *text);

// Draw at a size and compare with tests/tui/golden/NAME.txt. With MEMTOP_GOLDEN=update
// in the environment the file is written instead.
void fixture_golden(struct fixture *fixture, const char *name, int columns, int rows);

// The same of a text that is no screen of the fixture's.
void fixture_golden_text(const char *name, const char *text);

#endif
