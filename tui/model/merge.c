#include "tui/model/merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/index.h"

#define NOTICE_MEMBERS 1u
#define NAMES_AT_ONCE 4096u // in one message
#define WORDS_BYTES 400
#define REASON_BYTES 300

// A name, and the sum over all members' classes that are called so. Its id is its
// place in the list and 1.
struct merged {
    char *name; // owned
    uint32_t flags;
    bool listed;          // in this round
    bool told;            // its name was
    struct class_row row; // of this round
    uint64_t verdict;     // the worst of a member
    uint64_t verdict_pid; // of that member
    double ages[AGE_BUCKETS];
    char reason[REASON_BYTES];
};

struct merge {
    struct merged *list; // owned
    size_t count;
    size_t capacity;
    struct index names; // by hash
    uint64_t *live;     // owned: of `columns` members for each class in turn
    size_t live_capacity;
    uint64_t pids[MERGE_MEMBERS_MAX];
    size_t columns;
    uint64_t parent_pid;
    bool told; // a hello was
    // scratch of one round, owned
    struct class_row *rows;
    struct class_name *spelled;
    struct verdict_row *verdicts;
};

struct merge *
merge_new(void)
{
    return calloc(1, sizeof(struct merge));
}

void
merge_free(struct merge *merge)
{
    if (merge == NULL) {
        return;
    }
    for (size_t i = 0; i < merge->count; i++) {
        free(merge->list[i].name);
    }
    free(merge->list);
    free(merge->live);
    free(merge->rows);
    free(merge->spelled);
    free(merge->verdicts);
    index_destroy(&merge->names);
    free(merge);
}

/* Names. */

static bool
grow(struct merge *merge)
{
    if (merge->count < merge->capacity) {
        return true;
    }
    size_t capacity = merge->capacity != 0 ? merge->capacity * 2 : 256;
    struct merged *list = realloc(merge->list, capacity * sizeof *list);
    if (list == NULL) {
        return false;
    }
    merge->list = list;
    merge->capacity = capacity;
    return true;
}

// NULL when memory ran out.
static struct merged *
merged_of(struct merge *merge, const char *name)
{
    uint64_t hash = index_hash(INDEX_HASH, name);
    size_t cursor = 0;
    uint32_t place;
    while ((place = index_next(&merge->names, hash, &cursor)) != INDEX_NONE) {
        if (strcmp(merge->list[place].name, name) == 0) {
            return &merge->list[place];
        }
    }
    size_t length = strlen(name) + 1;
    char *copy = malloc(length);
    if (copy == NULL || !grow(merge) || !index_reserve(&merge->names, 1)) {
        free(copy);
        return NULL;
    }
    memcpy(copy, name, length);
    index_put(&merge->names, hash, (uint32_t)merge->count);
    merge->list[merge->count] = (struct merged){.name = copy};
    return &merge->list[merge->count++];
}

/* Sums. */

static uint64_t
plus(uint64_t sum, uint64_t more)
{
    bool unknown = sum == COUNT_UNKNOWN || more == COUNT_UNKNOWN;
    return unknown || sum > COUNT_UNKNOWN - 1 - more ? COUNT_UNKNOWN : sum + more;
}

static void
begin_class(struct merged *merged)
{
    merged->listed = true;
    merged->flags = 0;
    merged->row = (struct class_row){0};
    merged->verdict = VERDICT_NONE;
    merged->reason[0] = '\0';
    memset(merged->ages, 0, sizeof merged->ages);
}

static void
add_class(struct merged *merged, const struct model_class *class, uint64_t pid)
{
    struct class_row *row = &merged->row;
    row->live = plus(row->live, class->now.live);
    row->allocated = plus(row->allocated, class->now.allocated);
    row->freed = plus(row->freed, class->now.freed);
    row->bytes = plus(row->bytes, class->now.bytes);
    merged->flags |= class->flags & (CLASS_INTERNAL | CLASS_ANONYMOUS);
    for (size_t i = 0; i < AGE_BUCKETS; i++) {
        merged->ages[i] += class->ages[i]; // NAN stays NAN
    }
    if (class->verdict > merged->verdict && class->verdict <= VERDICT_LEAK) {
        merged->verdict = class->verdict;
        merged->verdict_pid = pid;
        snprintf(merged->reason, sizeof merged->reason, "in %llu: %.250s",
                 (unsigned long long)pid, class->reason);
    }
}

// The column of each class there is so far; those that come later are made zero when
// the table grows.
static bool
reserve_live(struct merge *merge)
{
    size_t wanted = merge->capacity * merge->columns;
    if (wanted > merge->live_capacity) {
        uint64_t *live = realloc(merge->live, wanted * sizeof *live);
        if (live == NULL) {
            return false;
        }
        merge->live = live;
        merge->live_capacity = wanted;
    }
    return true;
}

static bool
add_member(struct merge *merge, const struct merge_member *member)
{
    for (size_t i = 0; i < model_class_count(member->model); i++) {
        const struct model_class *class = model_class_at(member->model, i);
        if (class->gone || !class->listed) {
            continue;
        }
        struct merged *merged = merged_of(merge, class->name);
        if (merged == NULL) {
            return false;
        }
        if (!merged->listed) {
            begin_class(merged);
        }
        add_class(merged, class, member->pid);
    }
    return true;
}

// What each has of each: after the sums, when all names are known.
static bool
spread(struct merge *merge, const struct merge_member *const *members, size_t count)
{
    if (!reserve_live(merge)) {
        return false;
    }
    if (merge->count * merge->columns > 0) {
        memset(merge->live, 0, merge->count * merge->columns * sizeof *merge->live);
    }
    for (size_t column = 0; column < count; column++) {
        const struct model *model = members[column]->model;
        for (size_t i = 0; i < model_class_count(model); i++) {
            const struct model_class *class = model_class_at(model, i);
            if (class->gone || !class->listed) {
                continue;
            }
            const struct merged *merged = merged_of(merge, class->name);
            if (merged == NULL) {
                return false;
            }
            uint64_t *live =
                &merge->live[(size_t)(merged - merge->list) * merge->columns + column];
            *live = plus(*live, class->now.live);
        }
    }
    return true;
}

static void
add_process(struct sample *sum, const struct sample *sample)
{
    struct process_state *process = &sum->process;
    const struct process_state *more = &sample->process;
    process->rss_bytes = plus(process->rss_bytes, more->rss_bytes);
    process->heap_slots_live = plus(process->heap_slots_live, more->heap_slots_live);
    process->heap_slots_free = plus(process->heap_slots_free, more->heap_slots_free);
    process->gc_count = plus(process->gc_count, more->gc_count);
    process->gc_major_count = plus(process->gc_major_count, more->gc_major_count);
    process->gc_time_ms = plus(process->gc_time_ms, more->gc_time_ms);
    if (process->heap_age_ms < more->heap_age_ms) { // unknown is the greatest
        process->heap_age_ms = more->heap_age_ms;
    }
    struct probe_state *probe = &sum->probe;
    probe->cost_ppm = plus(probe->cost_ppm, sample->probe.cost_ppm);
    probe->drift = plus(probe->drift, sample->probe.drift);
    probe->drift_total = plus(probe->drift_total, sample->probe.drift_total);
    probe->dropped_frames = plus(probe->dropped_frames, sample->probe.dropped_frames);
    probe->census_objects = plus(probe->census_objects, sample->probe.census_objects);
    probe->viewers = plus(probe->viewers, sample->probe.viewers);
    if (probe->census_us > sample->probe.census_us) {
        probe->census_us = sample->probe.census_us; // the oldest of the figures
    }
    struct totals *totals = &sum->totals;
    totals->live = plus(totals->live, sample->totals.live);
    totals->allocated = plus(totals->allocated, sample->totals.allocated);
    totals->freed = plus(totals->freed, sample->totals.freed);
    totals->bytes = plus(totals->bytes, sample->totals.bytes);
}

// Exact only where all of them are.
static uint64_t
mode_of(uint64_t sum, uint64_t mode)
{
    if (sum == mode) {
        return sum;
    }
    return mode_counts(sum) && mode_counts(mode) ? MODE_COUNT : MODE_CENSUS;
}

/* Messages. */

static bool
tell_hello(const struct merge_group *group, const struct merge_member *const *members,
           size_t count, struct stamp at, bool (*take)(void *, const struct message *),
           void *context)
{
    char command[WORDS_BYTES];
    const struct hello *first = model_hello(members[0]->model);
    snprintf(command, sizeof command, "%zu process%s merged: %.300s", group->count,
             group->count == 1 ? "" : "es", group->command);
    struct hello hello = {
        .version = PROTOCOL_VERSION,
        .program_version = first->program_version,
        .pid = group->pid,
        .command = text_of(command),
        .runtime = first->runtime,
        .started_us = first->started_us,
        .mode = first->mode,
        .capabilities = CAPABILITY_READONLY,
        .interval_ms = MERGE_INTERVAL_MS,
    };
    for (size_t i = 0; i < count; i++) {
        const struct hello *other = model_hello(members[i]->model);
        hello.interval_ms = other->interval_ms > hello.interval_ms ? other->interval_ms
                                                                   : hello.interval_ms;
    }
    const struct message message = {.kind = MESSAGE_HELLO, .at = at, .hello = hello};
    return take(context, &message);
}

static bool
tell_names(struct merge *merge, struct stamp at,
           bool (*take)(void *, const struct message *), void *context)
{
    size_t used = 0;
    bool good = true;
    for (size_t i = 0; i <= merge->count && good; i++) {
        if (used == NAMES_AT_ONCE || (i == merge->count && used > 0)) {
            const struct message message = {
                .kind = MESSAGE_NAMES, .at = at, .names = {merge->spelled, used}
            };
            good = take(context, &message);
            used = 0;
        }
        if (i == merge->count) {
            break;
        }
        struct merged *merged = &merge->list[i];
        if (merged->listed && !merged->told && merged->name[0] != '\0') {
            merge->spelled[used++] = (struct class_name){(class_id)(i + 1), merged->flags,
                                                         text_of(merged->name)};
            merged->told = true;
        }
    }
    return good;
}

static uint64_t
whole(double value)
{
    return isnan(value) || value < 0 ? COUNT_UNKNOWN : (uint64_t)value;
}

static bool
tell_verdicts(struct merge *merge, struct stamp at,
              bool (*take)(void *, const struct message *), void *context)
{
    size_t used = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merged *merged = &merge->list[i];
        if (!merged->listed || merged->verdict == VERDICT_NONE) {
            continue;
        }
        struct verdict_row *row = &merge->verdicts[used++];
        *row = (struct verdict_row){.id = (class_id)(i + 1),
                                    .verdict = merged->verdict,
                                    .reason = text_of(merged->reason)};
        for (size_t age = 0; age < AGE_BUCKETS; age++) {
            row->ages[age] = whole(merged->ages[age]);
        }
    }
    const struct message message = {
        .kind = MESSAGE_VERDICTS, .at = at, .verdicts = {merge->verdicts, used}
    };
    return used == 0 || take(context, &message);
}

// Last of all: who waits for a sample then has the rest.
static bool
tell_sample(struct merge *merge, struct sample *sum, struct stamp at,
            bool (*take)(void *, const struct message *), void *context)
{
    size_t used = 0;
    for (size_t i = 0; i < merge->count; i++) {
        struct merged *merged = &merge->list[i];
        if (merged->listed) {
            merge->rows[used] = merged->row;
            merge->rows[used++].id = (class_id)(i + 1);
        } else {
            merged->told = false; // who comes back later is named again
        }
    }
    sum->key = true;
    sum->rows = merge->rows;
    sum->row_count = used;
    const struct message message = {.kind = MESSAGE_SAMPLE, .at = at, .sample = *sum};
    return take(context, &message);
}

static const char *
lacking(const struct merge_member *member)
{
    if (!member->live) {
        return "does not answer";
    }
    return model_sampled(member->model) ? "is dormant" : "has not said anything yet";
}

static bool
counts(const struct merge_member *member)
{
    return member->live && model_sampled(member->model) &&
           model_sample(member->model)->mode != MODE_DORMANT;
}

static bool
tell_members(const struct merge_group *group, size_t count, struct stamp at,
             bool (*take)(void *, const struct message *), void *context)
{
    char words[WORDS_BYTES] = "";
    for (size_t i = 0; count < group->count && i < group->count; i++) {
        if (!counts(&group->members[i])) {
            snprintf(words, sizeof words,
                     "the sums are over %zu of %zu processes: %llu %s%s", count,
                     group->count, (unsigned long long)group->members[i].pid,
                     lacking(&group->members[i]),
                     group->count - count > 1 ? ", and others" : "");
            break;
        }
    }
    const struct message message = {
        .kind = MESSAGE_NOTICE,
        .at = at,
        .notice = {NOTICE_MEMBERS, NOTICE_WARNING, text_of(words)},
    };
    return take(context, &message);
}

/* One round. */

// Are these the members of the round before?
static bool
same_members(const struct merge *merge, const struct merge_member *const *members,
             size_t count)
{
    if (!merge->told || merge->columns != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (merge->pids[i] != members[i]->pid) {
            return false;
        }
    }
    return true;
}

static void
take_members(struct merge *merge, const struct merge_member *const *members, size_t count)
{
    for (size_t i = 0; i < merge->count; i++) {
        merge->list[i].told = false; // a hello follows: names mean nothing any more
    }
    for (size_t i = 0; i < count; i++) {
        merge->pids[i] = members[i]->pid;
    }
    merge->columns = count;
    merge->told = true;
}

static bool
reserve_scratch(struct merge *merge)
{
    size_t count = merge->capacity > 0 ? merge->capacity : 1;
    struct class_row *rows = realloc(merge->rows, count * sizeof *rows);
    merge->rows = rows != NULL ? rows : merge->rows;
    struct verdict_row *verdicts = realloc(merge->verdicts, count * sizeof *verdicts);
    merge->verdicts = verdicts != NULL ? verdicts : merge->verdicts;
    if (merge->spelled == NULL) {
        merge->spelled = malloc(NAMES_AT_ONCE * sizeof *merge->spelled);
    }
    return rows != NULL && verdicts != NULL && merge->spelled != NULL;
}

static bool
sum_up(struct merge *merge, const struct merge_member *const *members, size_t count,
       struct sample *sum)
{
    *sum = (struct sample){.mode = model_sample(members[0]->model)->mode,
                           .probe = {.census_us = COUNT_UNKNOWN}};
    for (size_t i = 0; i < merge->count; i++) {
        merge->list[i].listed = false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct sample *sample = model_sample(members[i]->model);
        sum->mode = mode_of(sum->mode, sample->mode);
        add_process(sum, sample);
        if (!add_member(merge, members[i])) {
            return false;
        }
    }
    return spread(merge, members, count) && reserve_scratch(merge);
}

bool
merge_make(struct merge *merge, const struct merge_group *group, struct stamp at,
           bool (*take)(void *context, const struct message *message), void *context)
{
    const struct merge_member *members[MERGE_MEMBERS_MAX];
    struct sample sum;
    size_t count = 0;
    for (size_t i = 0; i < group->count && count < MERGE_MEMBERS_MAX; i++) {
        if (counts(&group->members[i])) {
            members[count++] = &group->members[i];
        }
    }
    if (count == 0) {
        return true;
    }
    merge->parent_pid = group->pid;
    bool same = same_members(merge, members, count);
    if (!same) {
        take_members(merge, members, count);
    }
    bool good = sum_up(merge, members, count, &sum) &&
                (same || tell_hello(group, members, count, at, take, context)) &&
                tell_names(merge, at, take, context) &&
                tell_verdicts(merge, at, take, context) &&
                tell_members(group, count, at, take, context) &&
                tell_sample(merge, &sum, at, take, context);
    merge->told =
        merge->told && good; // else all is told anew: nobody knows what was lost
    return good;
}

size_t
merge_column_count(const struct merge *merge)
{
    return merge->columns;
}

uint64_t
merge_column_pid(const struct merge *merge, size_t column)
{
    return merge->pids[column];
}

bool
merge_column_is_parent(const struct merge *merge, size_t column)
{
    return merge->pids[column] == merge->parent_pid;
}

uint64_t
merge_live(const struct merge *merge, class_id id, size_t column)
{
    bool known = id > 0 && id <= merge->count && column < merge->columns &&
                 merge->list[id - 1].listed;
    return known ? merge->live[(id - 1) * merge->columns + column] : COUNT_UNKNOWN;
}
