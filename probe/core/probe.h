/*
 * The probe: counters, a server for viewers, and the work that needs the GVL.
 *
 * Three contexts, each with its own part:
 *   hook    the program's threads, inside an allocation or a free: tally.h
 *   server  a thread of the probe's own that never takes the GVL: server.h
 *   agent   a thread the runtime made, which takes the GVL only to work: names,
 *           the heap's figures, censuses, collections, changes of mode and tracing
 * A program that sleeps, or sits in C with the GVL, therefore never stops the
 * stream: figures that need the GVL grow old and say so.
 *
 * `lock` guards what server and agent share. Hooks never take it. It is held
 * across fork(), so that a child finds everything in order.
 */
#ifndef PROBE_CORE_PROBE_H
#define PROBE_CORE_PROBE_H

#include <pthread.h>
#include <stdatomic.h>

#include "probe/core/census.h"
#include "probe/core/endpoint.h"
#include "probe/core/judge.h"
#include "probe/core/runtime.h"
#include "probe/core/settings.h"
#include "probe/core/tally.h"

// What the agent is asked to do; or-ed.
enum work {
    WORK_REFRESH = 1 << 0, // heap figures, names, rows of dead classes
    WORK_CENSUS = 1 << 1,
    WORK_GC = 1 << 2,
    WORK_MODE = 1 << 3,   // to `wanted_mode`
    WORK_QUIT = 1 << 4,   // the agent's thread ends
    WORK_ANEW = 1 << 5,   // with WORK_CENSUS: not the one that is under way
    WORK_TRACE = 1 << 6,  // trace the classes that somebody watches or pinned, no others
    WORK_DETACH = 1 << 7, // stop the probe, as if the program had
};

enum probe_notice {
    PROBE_NOTICE_MODE = 1,  // why the mode is not the one asked for
    PROBE_NOTICE_MISSED,    // frees hidden by another tool's hook
    PROBE_NOTICE_MEMORY,    // objects not tracked for want of memory
    PROBE_NOTICE_FLIGHT,    // what the flight recorder wrote last, and why
    PROBE_NOTICE_UNKEPT,    // what it cannot keep
    PROBE_NOTICE_UNWRITTEN, // what it could not write
    PROBE_NOTICE_COUNT,
};

#define PROBE_TEXT_MAX 512

// How the last work of a kind ended, in words.
struct work_result {
    bool failed;
    char text[PROBE_TEXT_MAX];
};

#define PROBE_RESULT_COUNT (REQUEST_MODE + 1)

struct server;

struct probe {
    struct settings settings;
    struct runtime runtime;
    struct tally tally;    // hooks and agent write, the server reads
    struct census census;  // agent
    struct server *server; // owned
    char path[ENDPOINT_PATH_MAX];
    pid_t pid;           // of the process the server's thread runs in
    uint64_t started_us; // wall time

    pthread_mutex_t lock;
    int agent_fd;          // an eventfd: the agent has work
    int server_fd;         // an eventfd: the server should look
    _Atomic uint32_t work; // enum work: asked for
    _Atomic uint32_t done; // enum work: finished since the server looked
    _Atomic uint32_t mode; // enum probe_mode, as it is
    _Atomic bool agent_alive;
    _Atomic bool attended;        // a viewer has a whole set of counts
    _Atomic bool awaits;          // the program stands still until one has
    _Atomic uint64_t agent_ns;    // spent with the GVL by the agent
    _Atomic uint32_t wanted_mode; // enum probe_mode, of WORK_MODE
    _Atomic bool census_hurry;    // somebody waits for it
    unsigned holds;               // gvl: captures of the program that need counting
    bool serves;                  // gvl: started for viewers
    enum probe_mode rest_mode;    // gvl: the mode once nothing holds it

    // Under the lock.
    struct judge judge; // the server's, here so that a child of a fork goes on with it
    bool count_refused; // counting cannot be had any more, see runtime.hooks
    bool reset;         // classes were forgotten: viewers need everything anew
    bool unbalanced;    // the counts do not add up to what the runtime says is live
    struct process_state heap; // as the agent last read it
    uint64_t heap_ns;          // when, monotonic; 0 for never
    uint64_t drift;            // of the last whole census
    uint64_t drift_total;
    uint64_t census_us; // wall time of it
    uint64_t census_ns; // monotonic
    uint64_t census_objects;
    uint64_t census_cost_ns;
    bool names_wait;        // agent: frames are left without a name
    unsigned marking_waits; // agent: slices put off for an incremental mark
    uint64_t missed_mended; // of the tally's missed_frees, by the last census
    double allocated_ns;    // what one counted allocation costs
    double freed_ns;
    struct work_result results[PROBE_RESULT_COUNT];   // by enum request_action
    char notices[PROBE_NOTICE_COUNT][PROBE_TEXT_MAX]; // "" for none
    uint32_t notices_edits;                           // raised by each change, from 1
};

// context: gvl. Start: listen, start the server's thread, enter the mode. The
// caller makes the agent's thread. False with `why` in words; nothing is left.
// One probe a process.
bool probe_start(struct probe *probe, const struct settings *settings,
                 const struct runtime *runtime, char *why, size_t why_size);

// context: gvl, once the agent has a thread. When it was started by a viewer that wants
// to see all of it, let that one come before the program goes on: see attend.h.
void probe_await(struct probe *probe);

// context: gvl. Count for the program itself: without a socket, a server or an agent when
// the probe was not started, beside them when it is, until as many calls of
// probe_release(). Meanwhile the probe may start and stop, and no viewer can end the
// counting. `settings` and `runtime` as for probe_start(). False with `why`.
bool probe_hold(struct probe *probe, const struct settings *settings,
                const struct runtime *runtime, char *why, size_t why_size);
void probe_release(struct probe *probe);

// context: gvl; in the agent only as its last work. No hook, thread or socket of
// ours is left; viewers are told the reason. `status` as in struct bye.
void probe_stop(struct probe *probe, enum bye_reason reason, uint64_t status);

// context: any but hook. Ask the agent for work.
void probe_ask(struct probe *probe, uint32_t work);

// context: agent, without the GVL. Wait for work, at most until a census under
// way should go on. probe_wake() ends the wait; async-signal-safe.
void probe_wait(struct probe *probe);
void probe_wake(struct probe *probe);

// context: agent, gvl. Do what was asked for. False when the agent should end.
bool probe_work(struct probe *probe);

// context: gvl. Change the mode now. False with the result of REQUEST_MODE in
// words when refused.
bool probe_enter(struct probe *probe, enum probe_mode mode);

// context: gvl. Counting cannot go on in this program, for the reason given:
// fall back to censuses, for good.
void probe_refuse_count(struct probe *probe, const char *why);

// context: gvl, in a child just forked: a socket, a server and (made by the
// caller) an agent of its own. Counts go on. False with `why` when it cannot
// listen; it then counts unseen.
bool probe_after_fork(struct probe *probe, char *why, size_t why_size);

// context: any. Wake whoever waits on an eventfd; async-signal-safe.
void probe_signal(int fd);

// context: any but hook, under the lock. Show a notice, or withdraw it with "".
void probe_notice(struct probe *probe, enum probe_notice notice, const char *text);

#endif
