/*
 * Several processes as one: the sums over their classes, by name.
 *
 * What comes out are messages, as a probe would send them: whoever takes those has
 * rates, history, marks and going back without knowing that the process is none. At
 * each call a key sample; before the first, and whenever other processes are summed
 * than the time before, a hello and names.
 *
 * Sums are over members whose data is live and counted, and a notice says how many
 * those are. A figure that one of them does not know is unknown, never too small.
 * Memory that processes share is in the RSS of each, and so as often in the sum.
 */
#ifndef TUI_MODEL_MERGE_H
#define TUI_MODEL_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"
#include "tui/model/model.h"

#define MERGE_MEMBERS_MAX 128u

// How often at most somebody is expected to ask for a sum.
#define MERGE_INTERVAL_MS 1000u

struct merge_member {
    uint64_t pid;
    const struct model *model; // borrowed for the call
    bool live;                 // what it last said is of now
};

struct merge_group {
    uint64_t pid; // of the parent
    const char *command;
    const struct merge_member *members;
    size_t count;
};

struct merge;

struct merge *merge_new(void); // NULL when memory ran out
void merge_free(struct merge *merge);

// Sum them, and give `take` the messages. False when memory ran out, or `take` said so;
// no sample is given then. Without a member that counts there is no sample either.
bool merge_make(struct merge *merge, const struct merge_group *group, struct stamp at,
                bool (*take)(void *context, const struct message *message),
                void *context);

// The processes of the last sample.
size_t merge_column_count(const struct merge *merge);
uint64_t merge_column_pid(const struct merge *merge, size_t column);

// It is the parent of the others.
bool merge_column_is_parent(const struct merge *merge, size_t column);

// A class's live objects in one of them at the last sample; `id` is that of the sample.
// COUNT_UNKNOWN when there is no such class.
uint64_t merge_live(const struct merge *merge, class_id id, size_t column);

#endif
