#include "tui/ps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tui/cli/find.h"
#include "tui/export/processes.h"
#include "tui/loop/muster.h"
#include "tui/term/screen.h"

// Between two searches of /proc for sockets that are elsewhere, in turns.
#define EVERYWHERE_TURNS 10

size_t
ps_find(struct scout_socket *list, size_t capacity, uint64_t turn)
{
    static struct found found[FIND_MAX];
    static struct found elsewhere[FIND_MAX];
    static size_t elsewhere_count;
    size_t count = 0;

    find_clean(turn == 0);
    if (turn % EVERYWHERE_TURNS == 0) {
        elsewhere_count = find_sockets(elsewhere, FIND_MAX, true);
    }
    // what is in the default places is looked for each time, the rest as last found
    size_t near = find_sockets(found, FIND_MAX, false);
    for (size_t i = 0; i < near + elsewhere_count && count < capacity; i++) {
        const struct found *one = i < near ? &found[i] : &elsewhere[i - near];
        bool listed = false;
        for (size_t j = 0; j < count && !listed; j++) {
            listed = strcmp(list[j].path, one->socket) == 0;
        }
        if (!listed) {
            list[count].pid = (uint64_t)one->pid;
            snprintf(list[count].path, sizeof(list[count].path), "%s", one->socket);
            count++;
        }
    }
    return count;
}

// One that ended while the others answered is no process any more.
static void
leave_out_gone(struct fleet *fleet)
{
    for (size_t i = fleet->count; i-- > 0;) {
        if (fleet->list[i]->state == PEER_GONE) {
            fleet_remove(fleet, fleet->list[i]->serial);
        }
    }
}

enum cli_status
ps_run(const struct cli *cli)
{
    struct fleet fleet = {.count = 0};
    bool good = muster(&fleet, ps_find, (uint64_t)(cli->wait_s * 1000));

    leave_out_gone(&fleet);
    if (!good) {
        fputs("memtop: cannot list the processes: out of memory.\n", stderr);
    } else if (cli->json) {
        good = processes_write_json(&fleet, stdout);
    } else if (fleet.count == 0) {
        fputs("memtop: no Ruby program runs under the probe here.\n"
              "Start one with it: ruby -r memtop/auto app.rb\n",
              stderr);
    } else {
        good = processes_write_table(&fleet, cli->ascii || !screen_unicode(), stdout);
    }
    if (!good && errno) {
        fprintf(stderr, "memtop: cannot print the processes: %s.\n", strerror(errno));
    }
    fleet_destroy(&fleet);
    return good ? STATUS_DONE : STATUS_BROKEN;
}
