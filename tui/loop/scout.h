/*
 * All probed processes at once: finds them, connects to each, keeps a fleet up to date.
 *
 * The happy path: every SCOUT_INTERVAL_MS the finder says which sockets there are; a
 * new one is connected to, and what it says goes into the fleet. Nothing is asked of a
 * probe but what it sends to every viewer: its samples.
 *
 * What can go wrong, and what is done:
 * - nobody listens on a socket: it is no process, and not listed;
 * - it connects and says nothing, or is no probe: listed as silent, with the reason, and
 *   tried again SCOUT_PATIENCE_MS later;
 * - it is slow or floods: each connection is read in small pieces in turn (link.h), so
 *   that none holds up another, or the viewer;
 * - it ends: listed as gone for a while; when its process is still there, as after an
 *   exec, it is looked for again.
 */
#ifndef TUI_LOOP_SCOUT_H
#define TUI_LOOP_SCOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "tui/model/fleet.h"

#define SCOUT_INTERVAL_MS 1000
#define SCOUT_PATIENCE_MS 5000

struct scout_socket {
    uint64_t pid; // as the socket is called
    char path[FLEET_SOCKET_BYTES];
};

// Which sockets there are; called once each interval, `turn` counting from 0 on.
typedef size_t scout_finder(struct scout_socket *list, size_t capacity, uint64_t turn);

struct scout;

// `changed` is told that the fleet is another. NULL when memory ran out. `fleet` and
// `loop` must outlive the scout.
struct scout *scout_new(uv_loop_t *loop, struct fleet *fleet, scout_finder *find,
                        void (*changed)(void *context), void *context);

// Begin, or do nothing when it has begun.
void scout_start(struct scout *scout);

// Every process that was found has said what it has to say, or will not.
bool scout_settled(const struct scout *scout);

// Disconnect and free; its handles go at the next turns of the loop, which must be run.
// NULL is harmless.
void scout_free(struct scout *scout);

#endif
