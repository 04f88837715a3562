#include "tui/model/fleet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/odd.h"
#include "tui/text/text.h"

#define MINUTE_SECONDS 60u
#define GROWTH_SECONDS_MIN 5u // less says nothing
#define DEPTH_MAX 64          // of parents: what processes say of theirs may go round

static void
peer_free(struct peer *peer)
{
    if (peer != NULL) {
        model_free(peer->model);
        free(peer);
    }
}

void
fleet_destroy(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        peer_free(fleet->list[i]);
    }
    fleet->count = 0;
    fleet->version++;
}

struct peer *
fleet_add(struct fleet *fleet, const char *socket, uint64_t pid, uint64_t now_ms)
{
    if (fleet->count == FLEET_MAX || strlen(socket) >= FLEET_SOCKET_BYTES) {
        fleet->full = true;
        return NULL;
    }
    struct peer *peer = calloc(1, sizeof *peer);
    struct model *model = model_new();
    if (peer == NULL || model == NULL) {
        free(peer);
        model_free(model);
        return NULL;
    }
    *peer = (struct peer){
        .serial = ++fleet->serial,
        .pid = pid,
        .state = PEER_CONNECTING,
        .since_ms = now_ms,
        .model = model,
        .live = (double)NAN,
        .rss_bytes = (double)NAN,
        .per_minute = (double)NAN,
        .age_s = (double)NAN,
        .mode = COUNT_UNKNOWN,
    };
    memcpy(peer->socket, socket, strlen(socket) + 1);
    fleet->list[fleet->count++] = peer;
    fleet->version++;
    return peer;
}

void
fleet_remove(struct fleet *fleet, uint32_t serial)
{
    size_t kept = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->list[i]->serial == serial) {
            peer_free(fleet->list[i]);
        } else {
            fleet->list[kept++] = fleet->list[i];
        }
    }
    fleet->count = kept;
    fleet->version++;
}

struct peer *
fleet_find(const struct fleet *fleet, uint32_t serial)
{
    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->list[i]->serial == serial) {
            return fleet->list[i];
        }
    }
    return NULL;
}

// The newest one: one that is gone may have had the same.
struct peer *
fleet_find_socket(const struct fleet *fleet, const char *socket)
{
    for (size_t i = fleet->count; i-- > 0;) {
        if (strcmp(fleet->list[i]->socket, socket) == 0) {
            return fleet->list[i];
        }
    }
    return NULL;
}

struct peer *
fleet_find_pid(const struct fleet *fleet, uint64_t pid)
{
    struct peer *found = NULL;
    for (size_t i = 0; i < fleet->count && pid != 0; i++) {
        struct peer *peer = fleet->list[i];
        if (peer->pid == pid && (found == NULL || found->state == PEER_GONE)) {
            found = peer;
        }
    }
    return found;
}

struct peer *
fleet_parent(const struct fleet *fleet, const struct peer *peer)
{
    struct peer *parent = fleet_find_pid(fleet, peer->parent_pid);
    return parent != peer ? parent : NULL;
}

/* What they say. */

// How the live objects changed, in a minute or as much of one as is known.
static double
growth(const struct model *model)
{
    uint64_t values[MODEL_HISTORY];
    size_t count = model_series(model, MODEL_SERIES_LIVE, values, MODEL_HISTORY);
    size_t first = count > MINUTE_SECONDS + 1 ? count - MINUTE_SECONDS - 1 : 0;
    while (first < count && values[first] == COUNT_UNKNOWN) {
        first++;
    }
    if (count == 0 || first + GROWTH_SECONDS_MIN >= count ||
        values[count - 1] == COUNT_UNKNOWN) {
        return (double)NAN;
    }
    double change = (double)values[count - 1] - (double)values[first];
    return change * MINUTE_SECONDS / (double)(count - 1 - first);
}

static bool
is_worse(const struct model_class *class, const struct model_class *other)
{
    if (other == NULL || class->verdict != other->verdict) {
        return other == NULL || class->verdict > other->verdict;
    }
    return class->live_per_second > other->live_per_second;
}

static void
find_worst(struct peer *peer)
{
    const struct model_class *worst = NULL;
    for (size_t i = 0; i < model_class_count(peer->model); i++) {
        const struct model_class *class = model_class_at(peer->model, i);
        if (class->verdict >= VERDICT_GROWING && class->verdict <= VERDICT_LEAK &&
            !class->gone && (class->flags & CLASS_INTERNAL) == 0 &&
            is_worse(class, worst)) {
            worst = class;
        }
    }
    peer->verdict = worst != NULL ? worst->verdict : VERDICT_NONE;
    text_escape(peer->worst, sizeof peer->worst, worst != NULL ? worst->name : "",
                worst != NULL ? strlen(worst->name) : 0);
}

static double
number(uint64_t count)
{
    return count == COUNT_UNKNOWN ? (double)NAN : (double)count;
}

static void
take_sample(struct peer *peer)
{
    const struct sample *sample = model_sample(peer->model);
    uint64_t now_us = model_time(peer->model).wall_us;
    uint64_t started_us =
        peer->began_us > 0 ? peer->began_us : model_hello(peer->model)->started_us;
    bool counted = sample->mode != MODE_DORMANT;
    peer->mode = sample->mode;
    peer->live = counted ? number(sample->totals.live) : (double)NAN;
    peer->rss_bytes = number(sample->process.rss_bytes);
    peer->per_minute = counted ? growth(peer->model) : (double)NAN;
    peer->age_s = started_us > 0 && now_us >= started_us
                      ? (double)(now_us - started_us) / 1e6
                      : (double)NAN;
    find_worst(peer);
}

static void
take_hello(struct peer *peer)
{
    const struct hello *hello = model_hello(peer->model);
    peer->pid = hello->pid;
    peer->parent_pid = hello->parent_pid;
    text_escape(peer->command, sizeof peer->command, hello->command.bytes,
                hello->command.length);
}

bool
fleet_message(struct fleet *fleet, struct peer *peer, const struct message *message)
{
    if (!model_apply(peer->model, message)) {
        return false;
    }
    if (message->kind == MESSAGE_HELLO) {
        take_hello(peer);
    } else if (message->kind == MESSAGE_SAMPLE) {
        take_sample(peer);
    }
    fleet->version++;
    return true;
}

void
fleet_state(struct fleet *fleet, struct peer *peer, enum peer_state state,
            const char *why, uint64_t now_ms)
{
    if (peer->state != state) {
        peer->since_ms = now_ms;
    }
    peer->state = state;
    text_escape(peer->why, sizeof peer->why, why, strlen(why));
    fleet->version++;
}

/* The odd one out. */

static double
rss_of(const struct peer *peer)
{
    return peer->rss_bytes;
}

static double
live_of(const struct peer *peer)
{
    return peer->live;
}

static double
growth_of(const struct peer *peer)
{
    return peer->per_minute;
}

static const struct {
    enum peer_oddity oddity;
    double (*value)(const struct peer *peer);
    struct odd_measure measure;
} measures[] = {
    {PEER_ODD_RSS,    rss_of,    {16.0 * 1024 * 1024, 0.25}},
    {PEER_ODD_LIVE,   live_of,   {20000, 0.25}             },
    {PEER_ODD_GROWTH, growth_of, {3000, 1.0}               },
};

#define MEASURES (sizeof measures / sizeof measures[0])

// Judge the children of one parent by one measure. What is odd in several is told of
// the one in which it is so most.
static void
judge(struct peer *const *siblings, size_t count, size_t which, double worst[])
{
    double values[FLEET_MAX];
    struct odd_usual usual;
    for (size_t i = 0; i < count; i++) {
        values[i] = measures[which].value(siblings[i]);
    }
    if (!odd_usual(values, count, &measures[which].measure, &usual)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double distance = odd_distance(&usual, values[i]);
        if (distance > 1 && distance > worst[i]) {
            worst[i] = distance;
            siblings[i]->oddity = measures[which].oddity;
            siblings[i]->usual = usual.median;
            siblings[i]->others = count - 1;
        }
    }
}

// Children of the same parent that answer.
static size_t
siblings_of(const struct fleet *fleet, const struct peer *first, struct peer **siblings)
{
    size_t count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        struct peer *peer = fleet->list[i];
        if (peer->state == PEER_LIVE && peer->parent_pid == first->parent_pid) {
            siblings[count++] = peer;
        }
    }
    return count;
}

static void
find_odd(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        fleet->list[i]->oddity = PEER_USUAL;
    }
    for (size_t i = 0; i < fleet->count; i++) {
        struct peer *siblings[FLEET_MAX];
        double worst[FLEET_MAX] = {0};
        const struct peer *peer = fleet->list[i];
        if (peer->state != PEER_LIVE || fleet_parent(fleet, peer) == NULL) {
            continue;
        }
        size_t count = siblings_of(fleet, peer, siblings);
        if (count == 0 || siblings[0] != peer) {
            continue; // judged with the first of them
        }
        for (size_t which = 0; which < MEASURES; which++) {
            judge(siblings, count, which, worst);
        }
    }
}

bool
fleet_tick(struct fleet *fleet, uint64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        struct peer *peer = fleet->list[i];
        if (peer->state == PEER_GONE && now_ms >= peer->since_ms + FLEET_GONE_KEPT_MS) {
            peer_free(peer);
        } else {
            fleet->list[kept++] = peer;
        }
    }
    bool removed = kept < fleet->count;
    fleet->count = kept;
    find_odd(fleet);
    fleet->version++;
    return removed;
}

/* Groups. */

static bool
descends(const struct fleet *fleet, const struct peer *peer, const struct peer *from)
{
    for (int depth = 0; peer != NULL && depth < DEPTH_MAX; depth++) {
        if (peer == from) {
            return true;
        }
        peer = fleet_parent(fleet, peer);
    }
    return false;
}

static size_t
descendants(const struct fleet *fleet, const struct peer *root,
            const struct peer *group[FLEET_MAX])
{
    size_t count = 0;
    group[count++] = root;
    for (size_t i = 0; i < fleet->count; i++) {
        const struct peer *peer = fleet->list[i];
        if (peer != root && peer->state != PEER_GONE && descends(fleet, peer, root)) {
            group[count++] = peer;
        }
    }
    return count;
}

size_t
fleet_group(const struct fleet *fleet, const struct peer *peer,
            const struct peer *group[FLEET_MAX])
{
    size_t count = descendants(fleet, peer, group);
    const struct peer *parent = fleet_parent(fleet, peer);
    if (count == 1 && parent != NULL) {
        count = descendants(fleet, parent, group);
    }
    return count;
}

const char *
peer_state_name(enum peer_state state)
{
    static const char *const names[] = {"connecting", "live", "silent", "gone"};
    return names[state];
}
