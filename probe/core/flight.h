/*
 * The flight recorder: what the last minutes looked like, kept in memory and written as
 * a recording (protocol/README.md) when a rule fires (rules.h), when the program ends,
 * or when a viewer asks. It needs no viewer.
 *
 * To the server it is a viewer that reads from memory: flight_take() is where its frames
 * go. Every minute a key group follows the sample, everything that a viewer that has just
 * connected is sent, so that what comes after it can be read without what came before.
 * What comes between two commits goes to the ring whole or not at all: what had to be
 * left out is a GAP, and a new key group follows.
 *
 * Memory: the ring (its pages are the kernel's until they are used) and what one sample
 * has. Writing is done by a thread of its own, see flightfile.h.
 *
 * Runs in the server's thread, under the probe's lock.
 */
#ifndef PROBE_CORE_FLIGHT_H
#define PROBE_CORE_FLIGHT_H

#include "probe/core/flightfile.h"
#include "probe/core/rules.h"
#include "probe/core/settings.h"
#include "protocol/buffer.h"

// Between two key groups; less when so much came in between that the ring would be
// left with too few of them.
#define FLIGHT_KEY_NS (60 * UINT64_C(1000000000))

// What a program that ends waits at most for its recording.
#define FLIGHT_PATIENCE_MS 10000u

struct flight;

// What a key group says beside its frames.
struct flight_state {
    struct stamp at; // of the sample
    uint64_t live;
    uint64_t rss_bytes;
    uint64_t gc_count;
    uint64_t mode;
};

// context: any. Whether the settings ask for a recorder.
bool flight_wanted(const struct settings *settings);

// context: server, or gvl before there is one. NULL when memory ran out. `socket` is the
// path of the probe's, borrowed; `wake_fd` is told when a file is done.
struct flight *flight_new(const struct settings *settings, const char *socket, pid_t pid,
                          int wake_fd);

// context: gvl, after the server's thread ended. A file under way is waited for.
void flight_free(struct flight *flight);

// context: gvl, in a child just forked: the parent's frames and files are not its own.
void flight_abandon(struct flight *flight);

// context: server. Frames for the recorder; `flight` is a struct flight. False when
// memory ran out.
bool flight_take(void *flight, const struct buffer *frames);

// context: server. Whether a key group is to be taken now, after the sample.
bool flight_key_due(const struct flight *flight, uint64_t now_ns);

// context: server. What is taken from now on, up to the commit, is a key group.
void flight_begin_key(struct flight *flight, uint64_t now_ns);

// context: server. The sample, or the key group after it, is complete; or, not `whole`,
// parts of it are missing.
void flight_commit(struct flight *flight, const struct flight_state *state, bool whole);

// context: server. What cannot be recorded, and why; "" when all is well.
const char *flight_trouble(const struct flight *flight);

// context: server. Look at the rules, and begin to write when some are due.
void flight_look(struct flight *flight, const struct rule_facts *facts, struct stamp at);

// context: server. Begin to write because a viewer asks. False, with `why` in words,
// when that cannot be now.
bool flight_ask(struct flight *flight, struct stamp at, const char **why);

// context: server. Wait for what is being written, for FLIGHT_PATIENCE_MS at most.
void flight_wait(struct flight *flight);

// context: server. The program ends: begin to write when there is a rule for that, with
// `bye` last.
void flight_end(struct flight *flight, const struct bye *bye, struct stamp at);

// context: server. The outcome of a file that was done since the last call, NULL for
// none; until the next call. `words` then says what was written and why, or what was not.
const struct flightfile_result *flight_landed(struct flight *flight);
const char *flight_words(const struct flight *flight);

// context: server. Counts begin anew.
void flight_forget(struct flight *flight);

// context: server. What writing cost so far, CPU time.
uint64_t flight_cpu_ns(const struct flight *flight);

#endif
