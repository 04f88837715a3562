/*
 * The probes of a command's processes: found as they come up, and watched.
 *
 * The happy path: a socket PID.sock appears in the folder, its process belongs to the
 * command, a connection is made and kept (link.h), and what comes is told with the
 * process it is from. A process that ends is told once, after its last words.
 *
 * Which processes belong to the command: those that descend from this process, and
 * those whose environment names it as the attendant (a daemon that was born before it
 * had another parent).
 *
 * What can go wrong: a process ends before there was a connection (it is not told of);
 * it goes on as another program without a probe (it stays, and is told when it ends);
 * more processes at once than COMPANY_MAX (the rest is left out).
 */
#ifndef TUI_LOOP_COMPANY_H
#define TUI_LOOP_COMPANY_H

#include <stdbool.h>

#include <uv.h>

#include "tui/loop/command.h"
#include "tui/loop/link.h"

#define COMPANY_MAX 256
#define COMPANY_LOOK_MS 200 // between two looks, beside those when the folder changes

struct company;

// NULL when memory ran out. `folder` must exist, and outlive it as `events` must.
struct company *company_new(uv_loop_t *loop, const char *folder,
                            const struct company_events *events);

// A request to one of them; false when it cannot be sent.
bool company_send(struct company *company, long pid, const struct request *request);

// Begin anew with one: what it says from the hello on comes once more.
void company_again(struct company *company, long pid);

// Whether words of a process that has ended are still on their way.
bool company_waits(const struct company *company);

// Its handles go at the next turns of the loop. NULL is harmless.
void company_free(struct company *company);

#endif
