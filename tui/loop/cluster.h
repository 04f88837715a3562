/*
 * A process and its children as one peer: tells what link.h's links tell, from the sums
 * over a fleet.
 *
 * The happy path: as soon as all that were found have said what they count, and then
 * each CLUSTER_INTERVAL_MS, one whole sample.
 *
 * What can go wrong: a member that does not answer is waited for CLUSTER_PATIENCE_MS,
 * then the sums are over the others, which a notice says; with none left the peer is
 * gone, and comes back with its members.
 */
#ifndef TUI_LOOP_CLUSTER_H
#define TUI_LOOP_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "tui/loop/link.h"
#include "tui/loop/scout.h"
#include "tui/model/merge.h"

#define CLUSTER_INTERVAL_MS MERGE_INTERVAL_MS
#define CLUSTER_PATIENCE_MS 3000

struct cluster;

// The one that `pid` is in. `scout` must have been started and outlive it, as must the
// loop. NULL when memory ran out.
struct cluster *cluster_new(uv_loop_t *loop, const struct scout *scout,
                            const struct fleet *fleet, uint64_t pid,
                            const struct link_events *events);

// Begin to tell.
void cluster_start(struct cluster *cluster);

const struct merge *cluster_merge(const struct cluster *cluster);

// Nothing is told from now on; its timer goes at the next turn of the loop, which must
// be run. NULL is harmless.
void cluster_free(struct cluster *cluster);

#endif
