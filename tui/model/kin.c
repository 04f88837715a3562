#include "tui/model/kin.h"

#include <string.h>

struct kin {
    const struct peer *list[FLEET_MAX]; // in order
    const struct peer *parents[FLEET_MAX];
    bool placed[FLEET_MAX];
    size_t count;
    struct kin_row *rows;
    size_t row_count;
};

static int
by_pid(const struct peer *left, const struct peer *right)
{
    if (left->pid != right->pid) {
        return left->pid < right->pid ? -1 : 1;
    }
    return left->serial < right->serial ? -1 : left->serial > right->serial;
}

// There are few: an insertion sort, which keeps what is in order.
static void
insert(struct kin *kin, const struct peer *peer, kin_order *order, void *context)
{
    size_t at = kin->count++;
    while (at > 0) {
        const struct peer *before = kin->list[at - 1];
        int way = order != NULL ? order(before, peer, context) : 0;
        if (way < 0 || (way == 0 && by_pid(before, peer) < 0)) {
            break;
        }
        kin->list[at] = before;
        at--;
    }
    kin->list[at] = peer;
}

static bool
is_listed(const struct kin *kin, const struct peer *peer)
{
    for (size_t i = 0; i < kin->count; i++) {
        if (kin->list[i] == peer) {
            return true;
        }
    }
    return false;
}

static size_t
next_child(const struct kin *kin, const struct peer *parent, size_t from)
{
    while (from < kin->count && (kin->placed[from] || kin->parents[from] != parent)) {
        from++;
    }
    return from;
}

// A row at `depth`, below those above it. Returns its number.
static size_t
add_row(struct kin *kin, size_t at, int depth, bool last, const struct kin_row *above)
{
    struct kin_row *row = &kin->rows[kin->row_count];
    *row = (struct kin_row){.peer = kin->list[at], .depth = depth};
    if (above != NULL) {
        memcpy(row->last, above->last, sizeof row->last);
    }
    row->last[depth] = last;
    kin->placed[at] = true;
    return kin->row_count++;
}

// A process and all that descends from it, each below its parent.
static void
place(struct kin *kin, size_t root)
{
    size_t open[FLEET_MAX]; // rows whose children are being placed
    size_t count = 0;
    open[count++] = add_row(kin, root, 0, true, NULL);
    while (count > 0) {
        const struct kin_row *above = &kin->rows[open[count - 1]];
        size_t child = next_child(kin, above->peer, 0);
        if (child == kin->count) {
            count--;
            continue;
        }
        bool last = next_child(kin, above->peer, child + 1) == kin->count;
        int below = above->depth + 1 < KIN_DEPTH_MAX ? above->depth + 1 : above->depth;
        open[count++] = add_row(kin, child, below, last, above);
    }
}

size_t
kin_rows(const struct fleet *fleet, kin_order *order,
         bool (*keep)(const struct peer *peer, void *context), void *context,
         struct kin_row rows[FLEET_MAX])
{
    struct kin kin = {.rows = rows};
    for (size_t i = 0; i < fleet->count; i++) {
        if (keep == NULL || keep(fleet->list[i], context)) {
            insert(&kin, fleet->list[i], order, context);
        }
    }
    for (size_t i = 0; i < kin.count; i++) {
        const struct peer *parent = fleet_parent(fleet, kin.list[i]);
        kin.parents[i] = parent != NULL && is_listed(&kin, parent) ? parent : NULL;
    }
    for (size_t i = 0; i < kin.count; i++) {
        if (kin.parents[i] == NULL) {
            place(&kin, i);
        }
    }
    for (size_t i = 0; i < kin.count; i++) {
        if (!kin.placed[i]) {
            place(&kin, i);
        }
    }
    return kin.row_count;
}
