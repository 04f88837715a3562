#include "tui/loop/scout.h"

#include <stdlib.h>
#include <string.h>

#include "tui/loop/link.h"
#include "tui/loop/process.h"

// One process's connection. The link is freed in a turn of its own: it cannot be while
// it tells something.
struct contact {
    struct scout *scout; // borrowed
    struct link *link;   // owned; NULL while there is none
    char path[FLEET_SOCKET_BYTES];
    uint32_t serial; // of the peer; 0: none, the place is free
    uint64_t pid;
    bool over;         // the link is to be freed
    bool unlisted;     // and the peer removed
    uint64_t retry_ms; // when to try again; 0: it is connected, or will not be
};

struct scout {
    uv_loop_t *loop;     // borrowed
    struct fleet *fleet; // borrowed
    scout_finder *find;
    void (*changed)(void *context);
    void *context;
    uv_timer_t timer;
    uint64_t turn;
    bool started;
    struct scout_socket found[FLEET_MAX];
    struct contact contacts[FLEET_MAX];
};

static uint64_t
now_ms(void)
{
    return uv_hrtime() / 1000000;
}

static struct peer *
peer_of(const struct contact *contact)
{
    return fleet_find(contact->scout->fleet, contact->serial);
}

/* What a connection tells. */

static void
on_message(void *context, const struct message *message)
{
    struct contact *contact = context;
    struct peer *peer = peer_of(contact);

    if (peer) {
        fleet_message(contact->scout->fleet, peer, message);
        contact->scout->changed(contact->scout->context);
    }
}

static void
end_link(struct contact *contact)
{
    link_stop(contact->link);
    contact->over = true;
}

// The connection is lost. What is still there is looked for again.
static void
lose(struct contact *contact, struct peer *peer, const char *why)
{
    bool there = process_alive((long)contact->pid);

    end_link(contact);
    contact->retry_ms = there ? now_ms() : 0;
    fleet_state(contact->scout->fleet, peer, there ? PEER_CONNECTING : PEER_GONE, why,
                now_ms());
}

static void
on_state(void *context, enum link_state state, const char *detail)
{
    struct contact *contact = context;
    struct peer *peer = peer_of(contact);

    if (!peer) {
        return;
    }
    if (state == LINK_LIVE) {
        fleet_state(contact->scout->fleet, peer, PEER_LIVE, "", now_ms());
    } else if (state == LINK_GONE) {
        end_link(contact);
        contact->retry_ms = 0;
        fleet_state(contact->scout->fleet, peer, PEER_GONE, detail, now_ms());
    } else {
        lose(contact, peer, detail);
    }
    contact->scout->changed(contact->scout->context);
}

// It was never met. Where nobody listens there is no process to list, unless one was.
static void
on_failed(void *context, enum link_failure failure, const char *why)
{
    struct contact *contact = context;
    struct peer *peer = peer_of(contact);

    contact->over = true;
    if (peer && model_sampled(peer->model)) {
        fleet_state(contact->scout->fleet, peer, PEER_GONE, why, now_ms());
    } else if (peer && (failure == LINK_BROKEN || link_was_accepted(contact->link))) {
        fleet_state(contact->scout->fleet, peer, PEER_SILENT, why, now_ms());
        contact->retry_ms = now_ms() + SCOUT_PATIENCE_MS;
    } else {
        contact->unlisted = true;
    }
    contact->scout->changed(contact->scout->context);
}

/* Looking round. */

static void
connect_to(struct contact *contact)
{
    const struct link_events events = {on_message, on_state, on_failed, contact};

    contact->retry_ms = 0;
    contact->link = link_new(contact->scout->loop, contact->path, &events);
    if (contact->link) {
        link_start(contact->link);
    } else {
        contact->unlisted = true;
    }
}

static struct contact *
contact_of(struct scout *scout, const char *path)
{
    for (size_t i = 0; i < FLEET_MAX; i++) {
        struct contact *contact = &scout->contacts[i];
        if (contact->serial != 0 && strcmp(contact->path, path) == 0) {
            return contact;
        }
    }
    return NULL;
}

static void
add(struct scout *scout, const struct scout_socket *socket)
{
    struct contact *contact = scout->contacts;
    size_t place = 0;

    while (place < FLEET_MAX && contact[place].serial != 0) {
        place++;
    }
    struct peer *peer = place < FLEET_MAX
                            ? fleet_add(scout->fleet, socket->path, socket->pid, now_ms())
                            : NULL;
    if (!peer) {
        return;
    }
    // what a process that does not answer cannot say itself
    peer->parent_pid = (uint64_t)process_parent((long)socket->pid);
    peer->began_us = process_began_us((long)socket->pid);
    contact = &scout->contacts[place];
    *contact =
        (struct contact){.scout = scout, .serial = peer->serial, .pid = socket->pid};
    memcpy(contact->path, peer->socket, sizeof(contact->path));
    connect_to(contact);
}

// Free what ended, and forget what is not listed any more.
static void
tidy(struct scout *scout)
{
    for (size_t i = 0; i < FLEET_MAX; i++) {
        struct contact *contact = &scout->contacts[i];
        if (contact->serial == 0) {
            continue;
        }
        if (contact->over) {
            link_free(contact->link);
            contact->link = NULL;
            contact->over = false;
        }
        if (contact->unlisted) {
            fleet_remove(scout->fleet, contact->serial);
        }
        const struct peer *peer = peer_of(contact);
        if (!peer || (peer->state == PEER_GONE && !contact->link)) {
            link_free(contact->link);
            contact->serial = 0; // a gone one's row stays, its socket may be another's
        }
    }
}

static void
retry(struct scout *scout)
{
    for (size_t i = 0; i < FLEET_MAX; i++) {
        struct contact *contact = &scout->contacts[i];
        if (contact->serial != 0 && !contact->link && contact->retry_ms != 0 &&
            now_ms() >= contact->retry_ms) {
            connect_to(contact);
        }
    }
}

static void
look(struct scout *scout)
{
    size_t count = scout->find(scout->found, FLEET_MAX, scout->turn++);

    tidy(scout);
    retry(scout);
    for (size_t i = 0; i < count; i++) {
        if (!contact_of(scout, scout->found[i].path)) {
            add(scout, &scout->found[i]);
        }
    }
    tidy(scout); // those that nobody listens on are known at once
    fleet_tick(scout->fleet, now_ms());
    scout->changed(scout->context);
}

static void
on_turn(uv_timer_t *timer)
{
    look(timer->data);
}

/* Its life. */

struct scout *
scout_new(uv_loop_t *loop, struct fleet *fleet, scout_finder *find,
          void (*changed)(void *context), void *context)
{
    struct scout *scout = calloc(1, sizeof(*scout));

    if (!scout) {
        return NULL;
    }
    scout->loop = loop;
    scout->fleet = fleet;
    scout->find = find;
    scout->changed = changed;
    scout->context = context;
    uv_timer_init(loop, &scout->timer);
    scout->timer.data = scout;
    return scout;
}

void
scout_start(struct scout *scout)
{
    if (!scout->started) {
        scout->started = true;
        look(scout);
        uv_timer_start(&scout->timer, on_turn, SCOUT_INTERVAL_MS, SCOUT_INTERVAL_MS);
    }
}

bool
scout_settled(const struct scout *scout)
{
    for (size_t i = 0; i < scout->fleet->count; i++) {
        const struct peer *peer = scout->fleet->list[i];
        bool said = peer->state == PEER_LIVE && model_sampled(peer->model);
        if (!said && peer->state != PEER_SILENT && peer->state != PEER_GONE) {
            return false;
        }
    }
    return scout->started;
}

static void
on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void
scout_free(struct scout *scout)
{
    if (!scout) {
        return;
    }
    for (size_t i = 0; i < FLEET_MAX; i++) {
        if (scout->contacts[i].serial != 0) {
            link_free(scout->contacts[i].link);
        }
    }
    uv_close((uv_handle_t *)&scout->timer, on_closed);
}
