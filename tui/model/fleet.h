/*
 * All processes that run under a probe, each with what the viewer knows of it: who is
 * whose child, how large they are, which of them grows, and which one is odd.
 *
 * Messages and the state of connections go in; views and exports read. Knows no clock,
 * no socket and no order on a screen. Texts are fit for people (text_escape).
 */
#ifndef TUI_MODEL_FLEET_H
#define TUI_MODEL_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"
#include "tui/model/model.h"

#define FLEET_MAX 128u
#define FLEET_SOCKET_BYTES 108u // of a socket's address
#define FLEET_WHY_BYTES 200u
#define FLEET_NAME_BYTES 96u
#define FLEET_COMMAND_BYTES 512u

// How long a process that ended is still listed.
#define FLEET_GONE_KEPT_MS 8000u

enum peer_state {
    PEER_CONNECTING,
    PEER_LIVE,
    PEER_SILENT, // it is there, but does not answer as a probe does: `why`
    PEER_GONE,
};

// In what a process differs from its siblings.
enum peer_oddity {
    PEER_USUAL,
    PEER_ODD_RSS,
    PEER_ODD_LIVE,
    PEER_ODD_GROWTH,
};

struct peer {
    uint32_t serial;     // never used twice
    uint64_t pid;        // as it says itself, before that as its socket is called
    uint64_t parent_pid; // as it says itself; 0 while unknown
    char socket[FLEET_SOCKET_BYTES];
    char command[FLEET_COMMAND_BYTES]; // "" until it said
    char why[FLEET_WHY_BYTES];         // of the state, "" for none
    enum peer_state state;
    uint64_t since_ms;   // when the state began
    uint64_t began_us;   // wall time of the process's beginning, 0: not known
    struct model *model; // owned
    // as of the last sample
    double live; // NAN while unknown, as the next three
    double rss_bytes;
    double per_minute; // how `live` changes, over up to a minute
    double age_s;      // of the process; of its probe, where `began_us` is not known
    uint64_t mode;     // enum probe_mode, COUNT_UNKNOWN while unknown
    uint64_t verdict;  // the worst there is of a class, from VERDICT_GROWING on; else 0
    char worst[FLEET_NAME_BYTES]; // that class
    enum peer_oddity oddity;
    double usual;  // the siblings' median of what it is odd in
    size_t others; // siblings
};

struct fleet {
    struct peer *list[FLEET_MAX]; // owned, in the order in which they came
    size_t count;
    uint32_t serial;  // of the last one
    uint64_t version; // grows with every change
    bool full;        // there was no room for one
};

// Starts as all zeroes; destroying it twice is harmless.
void fleet_destroy(struct fleet *fleet);

// A process by its socket, just found. NULL when there is no room or no memory.
struct peer *fleet_add(struct fleet *fleet, const char *socket, uint64_t pid,
                       uint64_t now_ms);

void fleet_remove(struct fleet *fleet, uint32_t serial);

// NULL when there is none (any more).
struct peer *fleet_find(const struct fleet *fleet, uint32_t serial);
struct peer *fleet_find_socket(const struct fleet *fleet, const char *socket);

// The one with this pid, rather one that is not gone. NULL when there is none.
struct peer *fleet_find_pid(const struct fleet *fleet, uint64_t pid);

// The one whose child it is, NULL when that is not known here.
struct peer *fleet_parent(const struct fleet *fleet, const struct peer *peer);

// What it said. False when memory ran out: its figures are then as they were.
bool fleet_message(struct fleet *fleet, struct peer *peer, const struct message *message);

void fleet_state(struct fleet *fleet, struct peer *peer, enum peer_state state,
                 const char *why, uint64_t now_ms);

// Remove what is gone for long enough, and look for the odd ones. True when a process
// was removed.
bool fleet_tick(struct fleet *fleet, uint64_t now_ms);

// What `peer` belongs to: itself and its descendants if it has any, else its parent
// and what descends from that. Returns how many were written to `group`, the oldest
// first; those that are gone are left out. 1: it belongs to nothing.
size_t fleet_group(const struct fleet *fleet, const struct peer *peer,
                   const struct peer *group[FLEET_MAX]);

// "connecting", "live", "silent", "gone".
const char *peer_state_name(enum peer_state state);

#endif
