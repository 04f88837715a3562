/*
 * The probe's server: a thread that never takes the GVL and never waits for a
 * viewer. It accepts viewers, sends samples, takes requests and hands them to
 * the agent (probe.h).
 *
 * Everything but waiting happens under the probe's lock.
 */
#ifndef PROBE_CORE_SERVER_H
#define PROBE_CORE_SERVER_H

#include "probe/core/probe.h"

#define SERVER_VIEWERS_MAX 64u // beside the flight recorder

// context: gvl. Serve on `listen_fd`, which it owns from then on, even on
// failure. NULL with `why` when memory or threads ran out.
struct server *server_start(struct probe *probe, int listen_fd, char *why,
                            size_t why_size);

// context: gvl. Say goodbye to everybody, end the thread, free everything.
void server_stop(struct server *server, const struct bye *bye);

// context: gvl, in a child just forked: drop the parent's connections.
void server_abandon(struct server *server);

#endif
