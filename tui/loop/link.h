/*
 * The connection to a probe, kept alive.
 *
 * The happy path: connect, say GREETING, read HELLO, hand on every message,
 * send requests. When the program goes away, try again and again, less and
 * less often, until it is back.
 *
 * What can go wrong, and what is done:
 * - no file, no socket, nobody listening, another user's: a failure in words
 *   if the probe was never met, otherwise tried again;
 * - not a memtop socket, another version, damaged, cut or absurdly long
 *   frames: the same, the connection is dropped at the first such byte;
 * - it connects and says nothing (a stopped program): given up after a while;
 * - it sends faster than the viewer can take in: it is read in small pieces,
 *   one message a turn of the loop, so that keys never wait; what is not read
 *   waits in the socket and is the probe's to drop;
 * - it does not read: requests beyond LINK_OUTPUT_MAX are refused.
 */
#ifndef TUI_LOOP_LINK_H
#define TUI_LOOP_LINK_H

#include <stdbool.h>

#include <uv.h>

#include "protocol/message.h"
#include "tui/app.h"

// Bytes of requests that wait for a probe which does not read.
#define LINK_OUTPUT_MAX (64u * 1024)

// How long a probe may take to say HELLO.
#define LINK_HELLO_MS 5000

// Between two tries.
#define LINK_RETRY_FIRST_MS 100
#define LINK_RETRY_LAST_MS 2000

#define LINK_AWAIT_MS 10

// Why there is no connection.
enum link_failure {
    LINK_UNREACHABLE, // no program, or no probe in it
    LINK_BROKEN,      // something answered, but not as a probe of this version does
};

// What a link tells. Each may call link_send() and link_stop().
struct link_events {
    void (*message)(void *context, const struct message *message);
    void (*state)(void *context, enum link_state state, const char *detail);
    void (*failed)(void *context, enum link_failure failure, const char *why);
    void *context;
};

struct link;

// NULL when memory ran out. `path` and `loop` must outlive the link.
struct link *link_new(uv_loop_t *loop, const char *path,
                      const struct link_events *events);

// Connect now. What comes of it, `events` tell.
void link_start(struct link *link);

// The same, where a program is just being started: until somebody listens there it is
// tried again, LINK_AWAIT_MS later.
void link_await(struct link *link);

// Whether there is a connection, HELLO or not.
bool link_connected(const struct link *link);

// Send a request as soon as the probe takes it. False when there is no probe,
// or when too much waits already.
bool link_send(struct link *link, const struct request *request);

// Why the last connection was lost; of no meaning while none was.
enum link_failure link_last_failure(const struct link *link);

// Somebody listened and took the connection, whatever came of it.
bool link_was_accepted(const struct link *link);

// Disconnect for good. Nothing is told from now on.
void link_stop(struct link *link);

// Free a link; its handles go at the next turn of the loop, which must be run
// once more. NULL is harmless.
void link_free(struct link *link);

#endif
