#include "probe/core/judge.h"

#include <math.h>
#include <stdlib.h>

// A frame holds at most so many rows: some 200 KB.
#define ROWS_A_FRAME 1024u

// Figures of a verdict that stays the same are sent again when they moved so much,
// but not sooner.
#define FIGURE_MOVED 0.05
#define RESEND_US (10 * (uint64_t)1000000)

// For so long after so many new classes came, the program is warming up; not for
// ever, because anonymous classes can be what leaks.
#define WARMING_SHARE 0.01
#define WARMING_LEAST 8
#define WARMING_US (30 * (uint64_t)1000000)
#define WARMING_LONGEST_US (600 * (uint64_t)1000000)

// What is known of the class of a registry row, and what viewers were told.
struct judged {
    class_id id; // 0: nobody yet
    uint32_t verdict;
    bool told; // something other than VERDICT_NONE
    double told_grown;
    double told_old; // share of the objects that survived 8 collections or more
    uint64_t told_us;
    struct trend trend;
};

struct judge_frame {
    struct verdict_row rows[ROWS_A_FRAME];
    char reasons[ROWS_A_FRAME][VERDICT_REASON_BYTES];
    size_t count;
    struct stamp at;
    struct buffer *out; // borrowed
    bool ok;
};

void
judge_destroy(struct judge *judge)
{
    for (uint32_t i = 0; i < REGISTRY_CLASS_SEGMENTS; i++) {
        free(judge->rows[i]);
    }
    free(judge->frame);
    *judge = (struct judge){0};
}

/* Frames. */

static void
send_frame(struct judge_frame *frame)
{
    struct message message = {
        .kind = MESSAGE_VERDICTS,
        .at = frame->at,
        .verdicts = {frame->rows, frame->count}
    };
    if (frame->count > 0) {
        frame->ok &= message_encode(frame->out, &message);
    }
    frame->count = 0;
}

static struct judge_frame *
open_frame(struct judge *judge, struct stamp at, struct buffer *out)
{
    if (!judge->frame) {
        judge->frame = malloc(sizeof(*judge->frame));
    }
    if (judge->frame) {
        judge->frame->count = 0;
        judge->frame->at = at;
        judge->frame->out = out;
        judge->frame->ok = true;
    }
    return judge->frame;
}

static void
append_row(struct judge_frame *frame, class_id id, const struct judgement *judgement,
           const struct trend_state *state)
{
    size_t place = frame->count++;
    struct verdict_row *row = &frame->rows[place];
    char *reason = frame->reasons[place];
    for (size_t i = 0; i < VERDICT_REASON_BYTES; i++) {
        reason[i] = judgement->reason[i];
    }
    *row = (struct verdict_row){
        .id = id, .verdict = judgement->verdict, .reason = text_of(reason)};
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        row->ages[i] = state->ages[i];
    }
    if (frame->count == ROWS_A_FRAME) {
        send_frame(frame);
    }
}

/* What is known of a class now. */

static void
add_ages(uint64_t *ages, const struct registry *registry, site_id site)
{
    struct site_census *seen = registry_seen(registry, site);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        ages[i] += atomic_load_explicit(&seen->ages[i], memory_order_relaxed);
    }
}

// Over all sites of the class. A census that saw no object of it says nothing of ages.
static void
read_ages(uint64_t *ages, const struct registry *registry, uint32_t index)
{
    const struct class_entry *entry = registry_class(registry, index);
    for (site_id i = 0; i < SITES_A_CLASS; i++) {
        add_ages(ages, registry, entry->site + i);
    }
    site_id path = atomic_load_explicit(&entry->paths, memory_order_acquire);
    while (path) {
        add_ages(ages, registry, path);
        path = atomic_load_explicit(&registry_site(registry, path)->next,
                                    memory_order_acquire);
    }
    uint64_t all = 0;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        all += ages[i];
    }
    for (unsigned i = 0; i < AGE_BUCKETS && !all; i++) {
        ages[i] = COUNT_UNKNOWN;
    }
}

static struct trend_state
read_state(const struct judge *judge, const struct registry *registry, uint32_t index,
           bool weighed)
{
    struct site_counts counts = registry_counts(registry, index);
    const struct class_entry *entry = registry_class(registry, index);
    bool counted = judge->mode != MODE_CENSUS;
    struct trend_state state = {
        .live = counts.live,
        .allocated = counted ? counts.allocated : COUNT_UNKNOWN,
        .bytes = weighed ? atomic_load_explicit(&entry->bytes, memory_order_acquire)
                         : COUNT_UNKNOWN};
    read_ages(state.ages, registry, index);
    return state;
}

static double
old_share(const struct trend_state *state)
{
    if (state->ages[0] == COUNT_UNKNOWN) {
        return 0;
    }
    double old = (double)state->ages[2] + (double)state->ages[3];
    return old / ((double)state->ages[0] + (double)state->ages[1] + old);
}

/* The moment. */

static void
restart(struct judge *judge, const struct judge_facts *facts)
{
    judge->mode = facts->mode;
    judge->started = judge->now;
    judge->window = (struct trend_window){0};
    judge->newcomers = 0;
    judge->warming_us = judge->now.at_us;
}

// That many classes come is a matter of the whole program, which no single class tells.
static bool
warms_up(struct judge *judge, const struct registry *registry)
{
    uint64_t now_us = judge->now.at_us;
    double classes = atomic_load_explicit(&registry->class_count, memory_order_relaxed);
    if (judge->newcomers >= fmax(WARMING_LEAST, WARMING_SHARE * classes)) {
        judge->newcomers = 0;
        judge->warming_us = now_us;
    }
    return now_us - judge->warming_us < WARMING_US &&
           now_us - judge->started.at_us < WARMING_LONGEST_US;
}

// False when there is nothing to look at now.
static bool
take_facts(struct judge *judge, const struct registry *registry,
           const struct judge_facts *facts)
{
    bool walked = facts->census_us != judge->census_us && facts->census_us;
    if (facts->mode == MODE_DORMANT || (facts->mode == MODE_CENSUS && !walked)) {
        judge->mode = facts->mode == MODE_DORMANT ? facts->mode : judge->mode;
        return false;
    }
    judge->now = (struct trend_moment){.at_us = facts->at_us,
                                       .collections = facts->collections,
                                       .majors = facts->majors};
    if (facts->mode != judge->mode || !judge->started.at_us) {
        restart(judge, facts);
    }
    trend_window(&judge->window, &judge->now);
    judge->now.warming = warms_up(judge, registry);
    return true;
}

/* Classes. */

static struct judged *
row_at(struct judge *judge, uint32_t index)
{
    struct judged **segment = &judge->rows[index / REGISTRY_SEGMENT];
    if (!*segment) { // pages that nobody touches stay the kernel's
        *segment = calloc(REGISTRY_SEGMENT, sizeof(**segment));
    }
    return *segment ? *segment + index % REGISTRY_SEGMENT : NULL;
}

static bool
worth_telling(const struct judge *judge, const struct judged *row,
              const struct judgement *judgement, const struct trend_state *state)
{
    if (judgement->verdict != row->verdict) {
        return true;
    }
    bool moved =
        fabs(judgement->grown - row->told_grown) > FIGURE_MOVED * fabs(row->told_grown) ||
        fabs(old_share(state) - row->told_old) > FIGURE_MOVED;
    return judgement->verdict != VERDICT_NONE && moved &&
           judge->now.at_us - row->told_us >= RESEND_US;
}

static void
begin(struct judge *judge, struct judged *row, class_id id,
      const struct trend_state *state)
{
    *row = (struct judged){.id = id};
    judge->newcomers++;
    trend_init(&row->trend, &judge->now, state);
}

// A class is told of from its second look on: by then viewers know its name.
static void
visit(struct judge *judge, const struct registry *registry, uint32_t index, bool weighed)
{
    class_id id =
        atomic_load_explicit(&registry_class(registry, index)->id, memory_order_acquire);
    struct judged *row = id ? row_at(judge, index) : NULL;
    if (!row) {
        judge->frame->ok &= !id;
        return;
    }
    struct trend_state state = read_state(judge, registry, index, weighed);
    if (row->id != id) {
        begin(judge, row, id, &state);
        return;
    }
    trend_add(&row->trend, &judge->now, &state);
    bool early = row->verdict == VERDICT_NONE || row->verdict == VERDICT_NEW;
    if (!judge->now.window_ends && !weighed && !early) {
        return; // nothing was learnt that could change a verdict
    }
    struct judgement judgement =
        verdict_of(&row->trend, &state, &judge->started, &judge->now, row->verdict);
    if (!worth_telling(judge, row, &judgement, &state)) {
        return;
    }
    row->verdict = judgement.verdict;
    row->told = true;
    row->told_grown = judgement.grown;
    row->told_old = old_share(&state);
    row->told_us = judge->now.at_us;
    append_row(judge->frame, id, &judgement, &state);
}

bool
judge_look(struct judge *judge, const struct registry *registry,
           const struct judge_facts *facts, struct stamp at, struct buffer *out)
{
    struct judge_frame *frame = open_frame(judge, at, out);
    if (!frame || !take_facts(judge, registry, facts)) {
        return frame != NULL;
    }
    bool weighed = facts->census_us && facts->census_us != judge->census_us;
    judge->census_us = facts->census_us;
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        visit(judge, registry, i, weighed);
    }
    send_frame(frame);
    return frame->ok;
}

bool
judge_seed(struct judge *judge, const struct registry *registry, struct stamp at,
           struct buffer *out)
{
    struct judge_frame *frame = open_frame(judge, at, out);
    if (!frame) {
        return false;
    }
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        const struct judged *segment = judge->rows[i / REGISTRY_SEGMENT];
        const struct judged *row = segment ? segment + i % REGISTRY_SEGMENT : NULL;
        if (!row || !row->told || row->id != registry_class(registry, i)->id) {
            continue;
        }
        struct trend_state state = read_state(judge, registry, i, false);
        struct judgement judgement =
            verdict_of(&row->trend, &state, &judge->started, &judge->now, row->verdict);
        append_row(frame, row->id, &judgement, &state);
    }
    send_frame(frame);
    return frame->ok;
}

uint32_t
judge_verdict(const struct judge *judge, uint32_t class_index, class_id id)
{
    const struct judged *segment = judge->rows[class_index / REGISTRY_SEGMENT];
    const struct judged *row = segment ? segment + class_index % REGISTRY_SEGMENT : NULL;
    return row && row->id == id ? row->verdict : (uint32_t)VERDICT_NONE;
}
