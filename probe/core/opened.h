/*
 * The classes whose call trees viewers have open: who watches what, a feed for each
 * (treefeed.h), and when tracing fades.
 *
 * While a viewer has a class open, its stacks are taken. When the last one closes it,
 * or leaves in whatever way, they are taken for OPENED_FADE_NS more, so that who
 * comes back finds the tree without a hole. Pinned classes stay traced.
 *
 * A tree is sent right after the sample of the same readings, to who has all that
 * came before; who has not, because the tree was opened just now or frames were
 * lost, gets the whole tree instead, and only when nothing waits to be sent. What
 * waits for all viewers together is at most OPENED_WAITING_MAX and one tree: beyond
 * that, whole trees wait for their turn.
 *
 * A tree ends with its class, and when the probe forgets its classes: viewers see
 * both in samples and open the class of the new name.
 *
 * Runs in the server's thread, under the probe's lock. A class is looked at only
 * after its id was found in its row: rows are used again, ids never are.
 */
#ifndef PROBE_CORE_OPENED_H
#define PROBE_CORE_OPENED_H

#include "probe/core/feed.h"
#include "probe/core/probe.h"
#include "probe/core/treefeed.h"
#include "probe/core/viewer.h"

// After its last watcher left, a class is traced for this long.
#define OPENED_FADE_NS (60 * UINT64_C(1000000000))

// Whole trees are not made while more bytes than this wait for viewers to read.
#define OPENED_WAITING_MAX (64u * 1024 * 1024)

struct opened {
    struct opened_tree *trees; // owned, in order of class row
    size_t count;
    size_t capacity;
    struct class_reading *readings; // owned, room for `capacity`
};

// context: any, under the lock. Whether a class's stacks are to be taken: it is
// pinned, watched, or was until lately.
bool opened_wanted(const struct class_entry *entry, uint64_t now_ns);

// context: server. The trees of all viewers end, as if everybody had left; nothing
// is kept. Twice is harmless.
void opened_forget(struct opened *opened, struct probe *probe,
                   struct viewer *const *viewers, size_t viewer_count, uint64_t now_ns);

// context: server. What a viewer asks with REQUEST_OPEN, _CLOSE, _PIN and _UNPIN.
// `why` is in words when it is not done.
enum result_status opened_take(struct opened *opened, struct probe *probe,
                               struct viewer *viewer, const struct request *request,
                               uint64_t now_ns, const char **why);

// context: server. What an onlooker sees (viewer.h): trees of classes that are traced
// anyway, at most VIEWER_OPEN_ROOM: those that look like leaks first, then those that it
// has already, then those with most objects.
void opened_look_on(struct opened *opened, struct probe *probe, struct viewer *viewer,
                    uint64_t now_ns);

// context: server. The viewer is gone: it watches nothing any more.
void opened_leave(struct opened *opened, struct probe *probe, struct viewer *viewer,
                  uint64_t now_ns);

// context: server. Whether the viewer waits for a whole tree.
bool opened_lacks(const struct viewer *viewer);

// context: server. Read the open classes, for the sample that comes next: its rows
// must be made from these readings.
void opened_read(struct opened *opened, struct probe *probe, struct feed *feed);

// context: server. Send trees to who has them open, right after the sample. Returns
// how many could not be delivered.
size_t opened_send(struct opened *opened, const struct probe *probe,
                   struct viewer *const *viewers, size_t viewer_count, struct stamp at);

// context: server, once an interval. Govern what is traced, and let fade what nobody
// wants any more.
void opened_tick(struct probe *probe, uint64_t now_ns);

#endif
