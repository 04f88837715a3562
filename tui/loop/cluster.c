#include "tui/loop/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH_MAX 64 // of parents
#define SOON_MS 100  // between two looks while nothing was told yet

struct cluster {
    uv_timer_t timer;
    const struct scout *scout; // borrowed
    const struct fleet *fleet; // borrowed
    struct merge *merge;       // owned
    struct link_events events;
    uint64_t pid; // of the parent
    uint64_t started_ms;
    bool told; // something was
    bool gone; // and then all were gone
    bool over; // nothing more will be
    char command[FLEET_COMMAND_BYTES];
};

static struct stamp
stamp_now(void)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    return (struct stamp){
        .monotonic_us = uv_hrtime() / 1000,
        .wall_us = (uint64_t)wall.tv_sec * 1000000 + (uint64_t)wall.tv_nsec / 1000,
    };
}

static bool
tell(void *context, const struct message *message)
{
    struct cluster *cluster = context;

    if (message->kind == MESSAGE_HELLO) {
        cluster->told = true;
        cluster->gone = false;
        cluster->events.state(cluster->events.context, LINK_LIVE, "");
    }
    cluster->events.message(cluster->events.context, message);
    return true;
}

// It, or a process whose child it is, has that parent.
static bool
descends(const struct cluster *cluster, const struct peer *peer)
{
    for (int depth = 0; peer && depth < DEPTH_MAX; depth++) {
        if (peer->parent_pid == cluster->pid) {
            return true;
        }
        peer = fleet_parent(cluster->fleet, peer);
    }
    return false;
}

// The parent may have ended before its children, or have no probe.
static size_t
members_of(const struct cluster *cluster, const struct peer *group[FLEET_MAX])
{
    const struct peer *parent = fleet_find_pid(cluster->fleet, cluster->pid);
    size_t count = 0;

    if (parent && parent->state != PEER_GONE) {
        return fleet_group(cluster->fleet, parent, group);
    }
    for (size_t i = 0; i < cluster->fleet->count; i++) {
        const struct peer *peer = cluster->fleet->list[i];
        if (peer->state != PEER_GONE && descends(cluster, peer)) {
            group[count++] = peer;
        }
    }
    return count;
}

static void
tell_gone(struct cluster *cluster)
{
    if (!cluster->gone) {
        cluster->gone = true;
        cluster->events.state(cluster->events.context, LINK_GONE,
                              "all of its processes ended");
    }
}

// There was nobody to begin with.
static void
tell_none(struct cluster *cluster)
{
    char why[128];

    snprintf(why, sizeof(why),
             "no process %llu runs under the probe, and none whose parent it is",
             (unsigned long long)cluster->pid);
    uv_timer_stop(&cluster->timer);
    cluster->over = true;
    cluster->events.failed(cluster->events.context, LINK_UNREACHABLE, why);
}

static void
sum_up(struct cluster *cluster)
{
    const struct peer *group[FLEET_MAX];
    struct merge_member members[FLEET_MAX];
    size_t count = members_of(cluster, group);

    if (count == 0) {
        if (cluster->told) {
            tell_gone(cluster);
        } else {
            tell_none(cluster);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        members[i] = (struct merge_member){group[i]->pid, group[i]->model,
                                           group[i]->state == PEER_LIVE};
    }
    // a worker that is asked for stands for its cluster
    if (group[0]->pid != cluster->pid && group[0]->parent_pid != cluster->pid) {
        cluster->pid = group[0]->pid;
    }
    if (*group[0]->command) {
        snprintf(cluster->command, sizeof(cluster->command), "%s", group[0]->command);
    }
    const struct merge_group whole = {cluster->pid, cluster->command, members, count};
    merge_make(cluster->merge, &whole, stamp_now(), tell, cluster);
}

static void
on_turn(uv_timer_t *timer)
{
    struct cluster *cluster = timer->data;
    bool waited = uv_hrtime() / 1000000 - cluster->started_ms >= CLUSTER_PATIENCE_MS;

    if (cluster->told || waited || scout_settled(cluster->scout)) {
        sum_up(cluster);
    }
    if (cluster->over) {
        return;
    }
    uv_timer_start(timer, on_turn, cluster->told ? CLUSTER_INTERVAL_MS : SOON_MS, 0);
}

struct cluster *
cluster_new(uv_loop_t *loop, const struct scout *scout, const struct fleet *fleet,
            uint64_t pid, const struct link_events *events)
{
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    struct merge *merge = merge_new();

    if (!cluster || !merge) {
        free(cluster);
        merge_free(merge);
        return NULL;
    }
    cluster->scout = scout;
    cluster->fleet = fleet;
    cluster->merge = merge;
    cluster->events = *events;
    cluster->pid = pid;
    cluster->started_ms = uv_hrtime() / 1000000;
    uv_timer_init(loop, &cluster->timer);
    cluster->timer.data = cluster;
    return cluster;
}

void
cluster_start(struct cluster *cluster)
{
    uv_timer_start(&cluster->timer, on_turn, 0, 0);
}

const struct merge *
cluster_merge(const struct cluster *cluster)
{
    return cluster->merge;
}

static void
on_closed(uv_handle_t *handle)
{
    struct cluster *cluster = handle->data;

    merge_free(cluster->merge);
    free(cluster);
}

void
cluster_free(struct cluster *cluster)
{
    if (cluster) {
        uv_timer_stop(&cluster->timer);
        uv_close((uv_handle_t *)&cluster->timer, on_closed);
    }
}
