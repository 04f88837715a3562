#include "tests/tui/model/herd.h"

#include <stdio.h>

// 2026-01-01 12:00:00 UTC
#define WALL_US UINT64_C(1767268800000000)
#define MEGABYTE UINT64_C(1048576)

static const char *const names[HERD_CLASSES] = {"String", "Array", "Order", "(iseq)"};

static void
say(struct herd *herd, struct peer *peer, struct message message)
{
    message.at = (struct stamp){herd->now_ms * 1000, WALL_US + herd->now_ms * 1000};
    fleet_message(&herd->fleet, peer, &message);
}

void
herd_start(struct herd *herd)
{
    *herd = (struct herd){.now_ms = 1000000};
}

void
herd_stop(struct herd *herd)
{
    fleet_destroy(&herd->fleet);
}

struct peer *
herd_add(struct herd *herd, uint64_t pid, uint64_t parent, const char *command)
{
    char socket[FLEET_SOCKET_BYTES];
    struct class_name list[HERD_CLASSES];
    snprintf(socket, sizeof socket, "/run/memtop/%llu.sock", (unsigned long long)pid);
    struct peer *peer = fleet_add(&herd->fleet, socket, pid, herd->now_ms);
    if (peer == NULL) {
        return NULL;
    }
    for (class_id i = 0; i < HERD_CLASSES; i++) {
        // each process has ids of its own
        list[i] = (struct class_name){(class_id)pid + i, i == 3 ? CLASS_INTERNAL : 0,
                                      text_of(names[i])};
    }
    fleet_state(&herd->fleet, peer, PEER_LIVE, "", herd->now_ms);
    say(herd, peer,
        (struct message){
            .kind = MESSAGE_HELLO,
            .hello = {.version = PROTOCOL_VERSION,
                      .pid = pid,
                      .parent_pid = parent,
                      .command = text_of(command),
                      .runtime = text_of("ruby 3.1.2"),
                      .started_us = WALL_US + herd->now_ms * 1000,
                      .mode = MODE_COUNT,
                      .interval_ms = 1000}
    });
    say(herd, peer,
        (struct message){
            .kind = MESSAGE_NAMES, .names = {list, HERD_CLASSES}
    });
    return peer;
}

static void
sample(struct herd *herd, struct peer *peer, struct sample sample)
{
    say(herd, peer, (struct message){.kind = MESSAGE_SAMPLE, .sample = sample});
}

void
herd_sample(struct herd *herd, struct peer *peer, const uint64_t live[HERD_CLASSES],
            uint64_t rss_bytes)
{
    struct class_row rows[HERD_CLASSES];
    struct totals totals = {0};
    for (class_id i = 0; i < HERD_CLASSES; i++) {
        rows[i] = (struct class_row){(class_id)peer->pid + i, live[i], live[i] + 7, 7,
                                     live[i] * 40};
        totals.live += rows[i].live;
        totals.allocated += rows[i].allocated;
        totals.freed += rows[i].freed;
        totals.bytes += rows[i].bytes;
    }
    sample(herd, peer,
           (struct sample){
               .key = true,
               .mode = MODE_COUNT,
               .process = {rss_bytes, totals.live, 100, 10, 2, 50, 0},
               .probe = {8000,      0,           0,   0,  9, 9,  1},
               .totals = totals,
               .rows = rows,
               .row_count = HERD_CLASSES
    });
}

void
herd_sleep(struct herd *herd, struct peer *peer)
{
    sample(herd, peer,
           (struct sample){
               .key = true,
               .mode = MODE_DORMANT,
               .process = {128 * MEGABYTE, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN,
                           COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN}
    });
}

void
herd_judge(struct herd *herd, struct peer *peer, enum verdict verdict)
{
    const struct verdict_row row = {
        .id = (class_id)peer->pid + 2,
        .verdict = verdict,
        .ages = {1, 2, 3, 4},
        .reason = text_of("it grew"),
    };
    say(herd, peer,
        (struct message){
            .kind = MESSAGE_VERDICTS, .verdicts = {&row, 1}
    });
}

void
herd_puma(struct herd *herd, unsigned seconds)
{
    struct peer *master = herd_add(herd, 4101, 1, "puma 6.6 master");
    struct peer *workers[3];
    workers[0] = herd_add(herd, 4120, 4101, "puma: cluster worker 0");
    workers[1] = herd_add(herd, 4121, 4101, "puma: cluster worker 1");
    workers[2] = herd_add(herd, 4177, 4101, "puma: cluster worker 2");
    for (unsigned i = 0; i <= seconds; i++) {
        const uint64_t still[HERD_CLASSES] = {400000, 11000, 100, 804};
        const uint64_t grows[HERD_CLASSES] = {900000, 200000, 100 + 140 * i, 804};
        const uint64_t usual[HERD_CLASSES] = {500000, 110000, 100 + i / 20, 804};
        herd_sample(herd, master, still, 96 * MEGABYTE);
        if (i == seconds) {
            herd_judge(herd, workers[0], VERDICT_LEAK);
        }
        herd_sample(herd, workers[0], grows, 212 * MEGABYTE);
        herd_sample(herd, workers[1], usual, 131 * MEGABYTE);
        herd_sample(herd, workers[2], usual, 128 * MEGABYTE);
        if (i < seconds) {
            herd->now_ms += 1000;
        }
    }
    fleet_tick(&herd->fleet, herd->now_ms);
}
