#include "tui/loop/muster.h"

#include <string.h>

struct roll {
    uv_loop_t uv;
    uv_timer_t end;
    struct scout *scout; // owned
    uint64_t watch_ms;
    bool settled;
};

static void
on_end(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

// All have answered, or nothing more is to be waited for: see them grow, if so wished.
static void
on_changed(void *context)
{
    struct roll *roll = context;

    if (roll->settled || !roll->scout || !scout_settled(roll->scout)) {
        return;
    }
    roll->settled = true;
    uv_timer_start(&roll->end, on_end, roll->watch_ms, 0);
}

static void
call_silent(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        struct peer *peer = fleet->list[i];
        if (peer->state == PEER_CONNECTING) {
            fleet_state(fleet, peer, PEER_SILENT, "no answer yet: is it stopped?", 0);
        }
    }
}

bool
muster(struct fleet *fleet, scout_finder *find, uint64_t watch_ms)
{
    struct roll roll = {.watch_ms = watch_ms};

    if (uv_loop_init(&roll.uv) != 0) {
        return false;
    }
    uv_timer_init(&roll.uv, &roll.end);
    uv_timer_start(&roll.end, on_end, MUSTER_PATIENCE_MS + watch_ms, 0);
    roll.scout = scout_new(&roll.uv, fleet, find, on_changed, &roll);
    if (roll.scout) {
        scout_start(roll.scout);
        on_changed(&roll);
        uv_run(&roll.uv, UV_RUN_DEFAULT);
        call_silent(fleet);
    }
    bool good = roll.scout != NULL;
    scout_free(roll.scout);
    uv_close((uv_handle_t *)&roll.end, NULL);
    while (uv_loop_close(&roll.uv) == UV_EBUSY) {
        uv_run(&roll.uv, UV_RUN_DEFAULT);
    }
    return good;
}
