#include "probe/core/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/clock.h"
#include "probe/core/probe.h"

#define TEXT_MAX 512u // of a reason

struct flight {
    struct ring ring;
    struct rules rules;
    char given[SETTINGS_PATH_MAX];
    const char *socket; // borrowed
    pid_t pid;
    int wake_fd;

    struct buffer taken; // since the last commit
    bool keying;         // it is a key group
    bool lost;           // changes had to be left out: a key group is needed
    uint64_t key_from;   // position of the newest KEY begin
    uint64_t ordinal;    // of its group, 0 before one
    uint64_t key_ns;     // when it was begun
    uint64_t key_bytes;
    uint64_t retry_ns; // a key group failed: not before that; 0 for none
    char trouble[PROBE_TEXT_MAX];

    struct flightfile *file; // owned, while one is written
    struct flightfile_result result;
    char reason[TEXT_MAX]; // why it is written
    char tally[32];        // "2 of 3", of a rule
    char words[PROBE_TEXT_MAX];
    bool warned; // on standard error
    unsigned number;
    uint64_t cpu_ns;
};

bool
flight_wanted(const struct settings *settings)
{
    return settings->flight[strspn(settings->flight, " ,")] != '\0';
}

struct flight *
flight_new(const struct settings *settings, const char *socket, pid_t pid, int wake_fd)
{
    char ignored[1]; // what is wrong was said when it was set
    struct flight *flight = calloc(1, sizeof(*flight));
    if (!flight || !ring_init(&flight->ring, (size_t)settings->flight_bytes)) {
        free(flight);
        return NULL;
    }
    rules_parse(&flight->rules, settings->flight, ignored, sizeof(ignored));
    flight->rules.limit = settings->flight_limit;
    flight->rules.pause_ns = (uint64_t)(settings->flight_pause_s * 1e9);
    snprintf(flight->given, sizeof(flight->given), "%s", settings->flight_file);
    flight->socket = socket;
    flight->pid = pid;
    flight->wake_fd = wake_fd;
    flight->number = 1;
    return flight;
}

// A disk that hangs keeps the ring, for the thread that still reads it.
void
flight_free(struct flight *flight)
{
    if (!flight) {
        return;
    }
    buffer_destroy(&flight->taken);
    if (flight->file) {
        flightfile_done(flight->file, FLIGHT_PATIENCE_MS);
        if (!flightfile_end(flight->file)) {
            return;
        }
    }
    ring_destroy(&flight->ring);
    free(flight);
}

void
flight_abandon(struct flight *flight)
{
    if (flight) {
        if (flight->file) {
            flightfile_abandon(flight->file);
        }
        buffer_destroy(&flight->taken);
        ring_destroy(&flight->ring);
        free(flight);
    }
}

/* Recording. */

bool
flight_take(void *context, const struct buffer *frames)
{
    struct flight *flight = context;
    return buffer_append(&flight->taken, frames->bytes, frames->length);
}

bool
flight_key_due(const struct flight *flight, uint64_t now_ns)
{
    const struct ring *ring = &flight->ring;
    if (flight->retry_ns) {
        return now_ns >= flight->retry_ns;
    }
    return !flight->ordinal || flight->lost || now_ns - flight->key_ns >= FLIGHT_KEY_NS ||
           ring->end - flight->key_from > flight->key_bytes + ring->size / 4;
}

void
flight_begin_key(struct flight *flight, uint64_t now_ns)
{
    buffer_destroy(&flight->taken);
    flight->keying = true;
    flight->key_ns = now_ns;
}

static bool
encode_key(struct buffer *out, const struct flight *flight,
           const struct flight_state *state, bool begin, uint64_t previous)
{
    const struct message message = {
        .kind = MESSAGE_KEY,
        .at = state->at,
        .key = {.begin = begin,
                .previous = previous,
                .ordinal = flight->ordinal + 1,
                .live = state->live,
                .rss_bytes = state->rss_bytes,
                .gc_count = state->gc_count,
                .mode = state->mode}
    };
    return message_encode(out, &message);
}

static bool
encode_gap(struct buffer *out, struct stamp at, enum gap_reason reason, const char *text)
{
    const struct message message = {
        .kind = MESSAGE_GAP, .at = at, .gap = {reason, text_of(text)}
    };
    return message_encode(out, &message);
}

// Frames are missing between the group before and the one that comes.
static void
mark_loss(struct flight *flight, struct stamp at)
{
    struct buffer gap = {0};
    if (flight->lost && flight->ring.count > 0 &&
        encode_gap(&gap, at, GAP_DROPPED,
                   "the flight recorder had no room for a while")) {
        ring_append(&flight->ring, gap.bytes, gap.length);
    }
    buffer_destroy(&gap);
}

static void
say_too_big(struct flight *flight, size_t length)
{
    snprintf(flight->trouble, sizeof(flight->trouble),
             "the flight recorder keeps nothing: the whole state takes %zu KB, and "
             "MEMTOP_FLIGHT_SIZE must be twice that or more",
             length / 1024 + 1);
}

// KEY, what was taken, KEY: one piece, so that the ring has all of it or nothing.
static enum ring_status
store_group(struct flight *flight, const struct flight_state *state)
{
    struct ring *ring = &flight->ring;
    struct buffer group = {0};
    enum ring_status status = RING_LOST;
    mark_loss(flight, state->at);
    uint64_t previous = flight->ordinal ? ring->end - flight->key_from : 0;
    if (encode_key(&group, flight, state, true, previous) &&
        buffer_append(&group, flight->taken.bytes, flight->taken.length) &&
        encode_key(&group, flight, state, false, group.length)) {
        bool too_big = group.length > ring->size / 2;
        status = too_big ? RING_TOO_BIG : ring_begin(ring, group.bytes, group.length);
    }
    if (status == RING_OK) {
        flight->key_from = ring->end - group.length;
        flight->key_bytes = group.length;
        flight->ordinal++;
        *flight->trouble = '\0';
    } else if (status == RING_TOO_BIG) {
        say_too_big(flight, group.length);
    }
    buffer_destroy(&group);
    return status;
}

// Without a key group, what was taken before goes on; it is tried again.
static void
commit_key(struct flight *flight, const struct flight_state *state, bool whole)
{
    enum ring_status status = whole ? store_group(flight, state) : RING_LOST;
    if (status == RING_OK) {
        flight->lost = false;
        flight->retry_ns = 0;
    } else {
        flight->retry_ns = flight->key_ns + (status == RING_TOO_BIG ? FLIGHT_KEY_NS : 1);
    }
}

// Changes of what the ring does not have say nothing.
static void
commit_changes(struct flight *flight, bool whole)
{
    if (flight->ordinal && !flight->lost) {
        flight->lost = !whole || ring_append(&flight->ring, flight->taken.bytes,
                                             flight->taken.length) != RING_OK;
    }
}

void
flight_commit(struct flight *flight, const struct flight_state *state, bool whole)
{
    whole = whole && buffer_ok(&flight->taken);
    if (flight->keying) {
        commit_key(flight, state, whole);
    } else {
        commit_changes(flight, whole);
    }
    flight->keying = false;
    buffer_destroy(&flight->taken);
}

const char *
flight_trouble(const struct flight *flight)
{
    return flight->trouble;
}

void
flight_forget(struct flight *flight)
{
    rules_forget(&flight->rules);
}

/* Writing. */

// The last frames of the file: why it ends. After a BYE the program is gone.
static bool
encode_trailer(struct buffer *out, const struct flight *flight, struct stamp at,
               const struct bye *bye)
{
    char text[TEXT_MAX + 32];
    snprintf(text, sizeof(text), "flight recorder: %s", flight->reason);
    const struct message notice = {
        .kind = MESSAGE_NOTICE,
        .at = at,
        .notice = {PROBE_NOTICE_FLIGHT, NOTICE_INFO, text_of(text)}
    };
    if (!message_encode(out, &notice)) {
        return false;
    }
    if (!bye) {
        return encode_gap(out, at, GAP_STOPPED, text);
    }
    const struct message last = {.kind = MESSAGE_BYE, .at = at, .bye = *bye};
    return message_encode(out, &last) && encode_gap(out, at, GAP_ENDED, text);
}

// NULL when it is begun.
static const char *
begin(struct flight *flight, struct stamp at, const struct bye *bye)
{
    struct flightfile_plan plan = {.ring = &flight->ring,
                                   .given = flight->given,
                                   .socket = flight->socket,
                                   .pid = flight->pid,
                                   .number = flight->number,
                                   .wake_fd = flight->wake_fd,
                                   .quiet = flight->warned};
    if (flight->ring.count == 0) {
        return *flight->trouble ? flight->trouble : "nothing has been recorded yet";
    }
    if (!encode_trailer(&plan.trailer, flight, at, bye)) {
        buffer_destroy(&plan.trailer);
        return "there is no memory for it";
    }
    flight->file = flightfile_start(&plan);
    return flight->file ? NULL : "there is no memory or no thread for it";
}

void
flight_look(struct flight *flight, const struct rule_facts *facts, struct stamp at)
{
    // While one is written, a rule waits: it is looked at again.
    if (rules_look(&flight->rules, facts) == 0 || flight->file) {
        return;
    }
    rules_why(&flight->rules, flight->reason, sizeof(flight->reason));
    if (!begin(flight, at, NULL)) {
        rules_fired(&flight->rules, facts->now_ns);
        rules_tally(&flight->rules, flight->tally, sizeof(flight->tally));
    }
}

bool
flight_ask(struct flight *flight, struct stamp at, const char **why)
{
    *why = "a flight recording is being written already";
    if (!flight->file) {
        snprintf(flight->reason, sizeof(flight->reason), "a viewer asked");
        *flight->tally = '\0';
        *why = begin(flight, at, NULL);
    }
    return !*why;
}

void
flight_wait(struct flight *flight)
{
    if (flight->file) {
        flightfile_done(flight->file, FLIGHT_PATIENCE_MS);
    }
}

void
flight_end(struct flight *flight, const struct bye *bye, struct stamp at)
{
    if (flight->file || bye->reason != BYE_EXIT ||
        !rules_has(&flight->rules, RULE_EXIT)) {
        return;
    }
    snprintf(flight->reason, sizeof(flight->reason), "exit");
    *flight->tally = '\0';
    begin(flight, at, bye);
}

static void
put_in_words(struct flight *flight)
{
    const struct flightfile_result *result = &flight->result;
    bool counted = *flight->tally != '\0';
    if (result->failed) {
        snprintf(flight->words, sizeof(flight->words),
                 "flight recorder: cannot write (%.160s): %.80s: %.200s", flight->reason,
                 result->why, result->path);
    } else {
        snprintf(flight->words, sizeof(flight->words),
                 "flight recorder: %.120s%s%.20s%s: written to %.280s", flight->reason,
                 counted ? ", " : "", flight->tally, counted ? " of that rule" : "",
                 result->path);
    }
}

const struct flightfile_result *
flight_landed(struct flight *flight)
{
    if (!flight->file || !flightfile_done(flight->file, 0)) {
        return NULL;
    }
    flight->result = *flightfile_result(flight->file);
    flightfile_end(flight->file);
    flight->file = NULL;
    flight->cpu_ns += flight->result.cpu_ns;
    flight->warned |= flight->result.failed;
    flight->number = flight->result.failed ? flight->number : flight->result.number + 1;
    put_in_words(flight);
    return &flight->result;
}

const char *
flight_words(const struct flight *flight)
{
    return flight->words;
}

uint64_t
flight_cpu_ns(const struct flight *flight)
{
    return flight->cpu_ns;
}
