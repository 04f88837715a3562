/*
 * What drives the core: one libuv loop, a connection, and for the viewer a
 * terminal.
 *
 *     loop = loop_new(path);
 *     app = app_new(... loop_send, loop ...);
 *     loop_connect(loop, app);          until the probe has said hello
 *     loop_watch(loop, app, &screen);   or loop_fetch(), or loop_follow()
 *
 * The happy path and the failure modes of a connection are in link.h, those of
 * a terminal in watch.h. Every function runs until its purpose is met and says
 * how it ended; loop_error() says it in words.
 */
#ifndef TUI_LOOP_LOOP_H
#define TUI_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/app.h"
#include "tui/loop/command.h"
#include "tui/loop/scout.h"
#include "tui/term/screen.h"

// How long --once waits for the first counts after the hello, and for what is
// still missing after them: a program that sits in C lets nobody read names.
#define LOOP_COUNTS_MS 30000
#define LOOP_REST_MS 2000

// How long the first sum over several processes may take to come.
#define LOOP_MERGE_MS 10000
// How long a command that has ended may have last words on their way.
#define LOOP_WORDS_MS 2000
#define LOOP_LOOK_MS 5 // between two looks whether they came

enum loop_end {
    LOOP_DONE,
    LOOP_UNREACHABLE, // no program, or no probe in it
    LOOP_BROKEN,      // a peer that does not keep to the protocol
    LOOP_NO_TERMINAL, // the terminal cannot be had
    LOOP_NO_MEMORY,
    LOOP_SIGNALLED, // loop_signal() asked for the end
};

struct loop;

// `path` must outlive the loop; NULL: there is no connection yet, or a person chooses
// one. NULL when memory ran out.
struct loop *loop_new(const char *path);

// Other processes can be looked for: what a finder finds goes into the fleet, which must
// outlive the loop. False when memory ran out.
bool loop_fleet(struct loop *loop, struct fleet *fleet, scout_finder *find);

// NULL is harmless.
void loop_free(struct loop *loop);

// As app_options.send wants it; `context` is the loop.
bool loop_send(void *context, const struct request *request);

// Until the probe has said hello.
enum loop_end loop_connect(struct loop *loop, struct app *app);

// The same for the sum over a process and its children, of whom one must
// answer within LOOP_MERGE_MS; after loop_fleet().
enum loop_end loop_merge(struct loop *loop, struct app *app, uint64_t pid);

// After that, until one whole set of counts has arrived and `whole` holds, which
// is asked after every message from then on; LOOP_REST_MS later it ends anyway.
enum loop_end loop_fetch(struct loop *loop, struct app *app, bool (*whole)(void *context),
                         void *context);

// After loop_connect(), call `each` for every sample until it says false, or
// the program is gone.
enum loop_end loop_follow(struct loop *loop, struct app *app, bool (*each)(void *context),
                          void *context);

// After loop_connect(), go on through restarts of the program until `duration_ms` have
// passed (0: without end), `going` says false, which is asked at every message, or
// somebody sends SIGINT or SIGTERM, which is no error. With `until_gone` the end of
// the program is the end.
enum loop_end loop_stay(struct loop *loop, struct app *app, uint64_t duration_ms,
                        bool until_gone, bool (*going)(void *context), void *context);

// A command to run, and whom to tell of it and of the probes in its processes.
struct loop_command {
    const struct child_command *command; // borrowed
    const char *folder;                  // borrowed: where its probes listen; it exists
    uint64_t duration_ms;                // then it is sent SIGTERM; 0: without end
    struct company_events events;
    // Each with the context of `events`.
    void (*output)(void *context, const char *bytes, size_t length);
    void (*ended)(void *context); // and all its probes have had their last words
    void (*late)(void *context);  // `duration_ms` have passed
    // The viewer is closed, and the command runs: the signal it is sent, 0 to leave it
    // alone. `number` is the signal that closed the viewer, 0 for none.
    int (*part)(void *context, int number);
    const struct screen_options *screen; // borrowed: for the viewer, NULL for none
};

// Until the command has ended, or the viewer is closed and the command left alone.
// LOOP_UNREACHABLE when it cannot be started, `how` then has the error. With an app it
// is told of the process that loop_show() chose.
enum loop_end loop_accompany(struct loop *loop, struct app *app,
                             const struct loop_command *command, struct child_end *how);

// Meanwhile: a request to one of its processes; which of them the app sees, until a
// person chooses one from all that loop_fleet() finds.
bool loop_ask(struct loop *loop, long pid, const struct request *request);
void loop_show(struct loop *loop, long pid);

// Without a connection, the viewer of a recording or of all processes, until somebody
// quits. After loop_connect(), the viewer, until somebody quits.
enum loop_end loop_watch(struct loop *loop, struct app *app,
                         const struct screen_options *options);

// The clock that the core's functions want.
uint64_t loop_now_ms(void);

// What went wrong, "" for nothing.
const char *loop_error(const struct loop *loop);

int loop_signal(const struct loop *loop);

#endif
