#include "probe/core/opened.h"

#include <stdlib.h>
#include <string.h>

struct opened_tree {
    struct treefeed *feed; // owned
    uint32_t viewers;      // that have it open
    uint32_t watchers;     // of them those for whom its class is traced
    bool read;             // the last reading was whole
};

bool
opened_wanted(const struct class_entry *entry, uint64_t now_ns)
{
    return entry->pinned || entry->watchers > 0 ||
           (entry->left_ns && now_ns - entry->left_ns < OPENED_FADE_NS);
}

/* Classes and trees. */

// NULL when the row is another's by now, or the class is gone.
static struct class_entry *
class_in_row(const struct registry *registry, uint32_t index, class_id id)
{
    if (index >= atomic_load_explicit(&registry->class_count, memory_order_acquire)) {
        return NULL;
    }
    struct class_entry *entry = registry_class(registry, index);
    bool there =
        atomic_load_explicit(&entry->id, memory_order_acquire) == id &&
        atomic_load_explicit(&entry->state, memory_order_acquire) != CLASS_STATE_GONE;
    return there ? entry : NULL;
}

// The row of a class, 0 when there is none of that id.
static uint32_t
find_row(const struct registry *registry, uint64_t id)
{
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count && id > 0 && id <= UINT32_MAX; i++) {
        if (class_in_row(registry, i, (class_id)id)) {
            return i;
        }
    }
    return 0;
}

static struct class_entry *
class_of(const struct probe *probe, const struct opened_tree *tree)
{
    return class_in_row(&probe->tally.registry, tree->feed->class_index, tree->feed->id);
}

static struct opened_tree *
find_tree(const struct opened *opened, class_id id)
{
    for (size_t i = 0; i < opened->count; i++) {
        if (opened->trees[i].feed->id == id) {
            return &opened->trees[i];
        }
    }
    return NULL;
}

static bool
reserve(struct opened *opened)
{
    if (opened->count < opened->capacity) {
        return true;
    }
    size_t capacity = opened->capacity + 16;
    struct opened_tree *trees = realloc(opened->trees, capacity * sizeof(*trees));
    if (trees) {
        opened->trees = trees;
    }
    struct class_reading *readings =
        realloc(opened->readings, capacity * sizeof(*readings));
    if (readings) {
        opened->readings = readings;
    }
    if (!trees || !readings) {
        return false;
    }
    opened->capacity = capacity;
    return true;
}

// In order of row, as the sample goes through the classes.
static struct opened_tree *
add_tree(struct opened *opened, class_id id, uint32_t class_index)
{
    struct treefeed *feed = reserve(opened) ? treefeed_new(id, class_index) : NULL;
    if (!feed) {
        return NULL;
    }
    size_t i = opened->count++;
    while (i > 0 && opened->trees[i - 1].feed->class_index > class_index) {
        opened->trees[i] = opened->trees[i - 1];
        i--;
    }
    opened->trees[i] = (struct opened_tree){.feed = feed};
    return &opened->trees[i];
}

static void
remove_tree(struct opened *opened, struct opened_tree *tree)
{
    size_t i = (size_t)(tree - opened->trees);
    treefeed_free(tree->feed);
    opened->count--;
    memmove(tree, tree + 1, (opened->count - i) * sizeof(*tree));
}

/* Watching. A probe that is read-only shows what is traced, and traces nothing; so it
   is for an onlooker. */

static bool
watches(const struct probe *probe, const struct viewer *viewer)
{
    return !probe->settings.readonly && !viewer->take;
}

static void
watch(struct probe *probe, struct opened_tree *tree, struct class_entry *entry)
{
    tree->watchers++;
    entry->watchers++;
    probe_ask(probe, WORK_TRACE);
}

static void
unwatch(struct opened_tree *tree, struct class_entry *entry, uint32_t watchers,
        uint64_t now_ns)
{
    if (watchers > 0) {
        tree->watchers -= watchers;
        entry->watchers -= watchers;
        entry->left_ns = entry->watchers ? 0 : now_ns;
    }
}

// A class that is gone is no longer open, though nobody closed it.
static void
forget_gone(const struct opened *opened, struct viewer *viewer)
{
    for (size_t i = viewer->open_count; i > 0; i--) {
        if (!find_tree(opened, viewer->open[i - 1].id)) {
            viewer->open[i - 1] = viewer->open[--viewer->open_count];
        }
    }
}

static struct viewer_open *
find_open(struct viewer *viewer, uint64_t id)
{
    for (size_t i = 0; i < viewer->open_count; i++) {
        if (viewer->open[i].id == id) {
            return &viewer->open[i];
        }
    }
    return NULL;
}

static void
close_one(struct opened *opened, struct probe *probe, struct viewer *viewer,
          struct viewer_open *open, uint64_t now_ns)
{
    struct opened_tree *tree = find_tree(opened, open->id);
    *open = viewer->open[--viewer->open_count];
    if (!tree) {
        return; // it ended with its class
    }
    struct class_entry *entry = class_of(probe, tree);
    if (entry) {
        unwatch(tree, entry, watches(probe, viewer), now_ns);
    }
    if (--tree->viewers == 0) {
        remove_tree(opened, tree);
    }
}

void
opened_leave(struct opened *opened, struct probe *probe, struct viewer *viewer,
             uint64_t now_ns)
{
    while (viewer->open_count > 0) {
        close_one(opened, probe, viewer, &viewer->open[0], now_ns);
    }
}

void
opened_forget(struct opened *opened, struct probe *probe, struct viewer *const *viewers,
              size_t viewer_count, uint64_t now_ns)
{
    for (size_t i = 0; i < viewer_count; i++) {
        viewers[i]->open_count = 0;
    }
    for (size_t i = 0; i < opened->count; i++) {
        struct opened_tree *tree = &opened->trees[i];
        struct class_entry *entry = class_of(probe, tree);
        if (entry) {
            unwatch(tree, entry, tree->watchers, now_ns);
        }
        treefeed_free(tree->feed);
    }
    free(opened->trees);
    free(opened->readings);
    *opened = (struct opened){0};
}

/* Requests. */

// What a request is about, once everything that could be against it is not.
struct asked {
    struct opened *opened;
    struct probe *probe;
    struct viewer *viewer;
    struct class_entry *entry;
    uint32_t class_index;
    uint64_t now_ns;
};

// The tree, one viewer more has it open now. NULL when memory ran out.
static struct opened_tree *
open_one(struct opened *opened, struct viewer *viewer, class_id id, uint32_t class_index)
{
    struct opened_tree *tree = find_tree(opened, id);
    if (!tree) {
        tree = add_tree(opened, id, class_index);
    }
    if (tree) {
        tree->viewers++;
        viewer->open[viewer->open_count++] = (struct viewer_open){.id = id};
    }
    return tree;
}

static const char *
take_open(const struct asked *asked)
{
    struct viewer *viewer = asked->viewer;
    class_id id = asked->entry->id;
    if (find_open(viewer, id)) {
        return NULL;
    }
    if (viewer->open_count == VIEWER_OPEN_MAX) {
        return "this viewer has 8 classes open already: close one";
    }
    struct opened_tree *tree = open_one(asked->opened, viewer, id, asked->class_index);
    if (!tree) {
        return "there is no memory for another call tree";
    }
    if (watches(asked->probe, viewer)) {
        watch(asked->probe, tree, asked->entry);
    }
    return NULL;
}

static const char *
take_pin(const struct asked *asked)
{
    asked->entry->pinned = true;
    probe_ask(asked->probe, WORK_TRACE);
    return NULL;
}

// It fades, as if somebody had left.
static const char *
take_unpin(const struct asked *asked)
{
    struct class_entry *entry = asked->entry;
    if (entry->pinned && entry->watchers == 0) {
        entry->left_ns = asked->now_ns;
    }
    entry->pinned = false;
    return NULL;
}

static const struct {
    const char *(*take)(const struct asked *asked);
    bool changes; // what is traced; not for a probe that is read-only
} requests[] = {
    [REQUEST_OPEN] = {take_open,  false},
    [REQUEST_PIN] = {take_pin,   true },
    [REQUEST_UNPIN] = {take_unpin, true },
};

static const char *
take(struct asked *asked, const struct request *request)
{
    const struct probe *probe = asked->probe;
    if (requests[request->action].changes && probe->settings.readonly) {
        return "the probe was started read-only (MEMTOP_READONLY)";
    }
    if (!mode_counts(probe->mode)) {
        return "call trees need mode count or trace: change the mode first";
    }
    asked->class_index = find_row(&probe->tally.registry, request->argument);
    if (!asked->class_index) {
        return "there is no such class (any more)";
    }
    asked->entry = registry_class(&probe->tally.registry, asked->class_index);
    return requests[request->action].take(asked);
}

enum result_status
opened_take(struct opened *opened, struct probe *probe, struct viewer *viewer,
            const struct request *request, uint64_t now_ns, const char **why)
{
    *why = "";
    if (request->action == REQUEST_CLOSE) { // always done, even when nothing was open
        struct viewer_open *open = find_open(viewer, request->argument);
        if (open) {
            close_one(opened, probe, viewer, open, now_ns);
        }
        return RESULT_DONE;
    }
    struct asked asked = {opened, probe, viewer, NULL, 0, now_ns};
    const char *problem = take(&asked, request);
    if (problem) {
        *why = problem;
    }
    return problem ? RESULT_REFUSED : RESULT_DONE;
}

/* Looking on. */

// What an onlooker wants to see: classes, the most interesting first.
struct choice {
    class_id ids[VIEWER_OPEN_ROOM];
    uint32_t rows[VIEWER_OPEN_ROOM];
    uint64_t weights[VIEWER_OPEN_ROOM];
    size_t count;
};

// Suspects before all others, then those that are open already, then those of whom
// there are most.
static uint64_t
weight_of(const struct probe *probe, struct viewer *viewer, uint32_t index, class_id id)
{
    uint32_t verdict = judge_verdict(&probe->judge, index, id);
    uint64_t rank = verdict == VERDICT_LEAK      ? 3
                    : verdict == VERDICT_GROWING ? 2
                    : find_open(viewer, id)      ? 1
                                                 : 0;
    uint64_t live = registry_counts(&probe->tally.registry, index).live;
    return rank << 62 | live >> 2;
}

static void
choose(struct choice *choice, class_id id, uint32_t row, uint64_t weight)
{
    size_t i = choice->count;
    if (i == VIEWER_OPEN_ROOM && choice->weights[i - 1] >= weight) {
        return;
    }
    i -= i == VIEWER_OPEN_ROOM;
    for (; i > 0 && choice->weights[i - 1] < weight; i--) {
        choice->ids[i] = choice->ids[i - 1];
        choice->rows[i] = choice->rows[i - 1];
        choice->weights[i] = choice->weights[i - 1];
    }
    choice->ids[i] = id;
    choice->rows[i] = row;
    choice->weights[i] = weight;
    choice->count += choice->count < VIEWER_OPEN_ROOM;
}

static void
choose_traced(struct choice *choice, const struct probe *probe, struct viewer *viewer)
{
    const struct registry *registry = &probe->tally.registry;
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count && mode_counts(probe->mode); i++) {
        const struct class_entry *entry = registry_class(registry, i);
        class_id id = atomic_load_explicit(&entry->id, memory_order_acquire);
        if (id && atomic_load_explicit(&entry->traced, memory_order_acquire) &&
            class_in_row(registry, i, id)) {
            choose(choice, id, i, weight_of(probe, viewer, i, id));
        }
    }
}

static bool
is_chosen(const struct choice *choice, class_id id)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->ids[i] == id) {
            return true;
        }
    }
    return false;
}

void
opened_look_on(struct opened *opened, struct probe *probe, struct viewer *viewer,
               uint64_t now_ns)
{
    struct choice choice = {.count = 0};
    forget_gone(opened, viewer);
    choose_traced(&choice, probe, viewer);
    for (size_t i = viewer->open_count; i > 0; i--) {
        if (!is_chosen(&choice, viewer->open[i - 1].id)) {
            close_one(opened, probe, viewer, &viewer->open[i - 1], now_ns);
        }
    }
    for (size_t i = 0; i < choice.count; i++) {
        if (!find_open(viewer, choice.ids[i]) &&
            !open_one(opened, viewer, choice.ids[i], choice.rows[i])) {
            return;
        }
    }
}

/* Once a sample. */

// A class that is gone ends its tree; who had it open sees that in the sample.
static void
drop_gone(struct opened *opened, const struct probe *probe)
{
    for (size_t i = opened->count; i > 0; i--) {
        if (!class_of(probe, &opened->trees[i - 1])) {
            remove_tree(opened, &opened->trees[i - 1]);
        }
    }
}

void
opened_read(struct opened *opened, struct probe *probe, struct feed *feed)
{
    drop_gone(opened, probe);
    size_t count = 0;
    for (size_t i = 0; i < opened->count; i++) {
        struct opened_tree *tree = &opened->trees[i];
        tree->read =
            treefeed_read(tree->feed, &probe->tally.registry, &probe->tally.trace);
        if (tree->read) {
            opened->readings[count++] = (struct class_reading){
                tree->feed->class_index, treefeed_counts(tree->feed)};
        }
    }
    feed->readings = opened->readings;
    feed->reading_count = count;
}

bool
opened_lacks(const struct viewer *viewer)
{
    for (size_t i = 0; i < viewer->open_count; i++) {
        if (!viewer->open[i].seeded) {
            return true;
        }
    }
    return false;
}

static size_t
waiting_bytes(struct viewer *const *viewers, size_t viewer_count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < viewer_count; i++) {
        bytes += viewers[i]->out.length;
    }
    return bytes;
}

// A tree makes sense only to who has the sample before it.
static bool
follows(const struct viewer *viewer)
{
    return !viewer->wants_seed && !viewer->closing && !viewer->broken;
}

// What one tree is to its viewers this time: encoded once, when the first needs it.
struct sending {
    const struct opened_tree *tree;
    const struct calltree *calltree;
    struct stamp at;
    struct viewer *const *viewers;
    size_t viewer_count;
    struct buffer changes;
    struct buffer seed;
};

static bool
encode(struct buffer *out, const struct sending *sending,
       bool (*by)(const struct treefeed *, const struct calltree *, struct stamp,
                  struct buffer *))
{
    return out->length > 0 ||
           by(sending->tree->feed, sending->calltree, sending->at, out);
}

static bool
send_seed(struct sending *sending, struct viewer *viewer)
{
    return viewer->out.length == 0 &&
           waiting_bytes(sending->viewers, sending->viewer_count) <= OPENED_WAITING_MAX &&
           encode(&sending->seed, sending, treefeed_seed) &&
           viewer_append(viewer, &sending->seed);
}

static bool
send_changes(struct sending *sending, struct viewer *viewer)
{
    return encode(&sending->changes, sending, treefeed_changes) &&
           viewer_append(viewer, &sending->changes);
}

// Returns how many viewers lost what they had.
static size_t
send_tree(struct sending *sending)
{
    size_t passed = 0;
    for (size_t i = 0; i < sending->viewer_count; i++) {
        struct viewer *viewer = sending->viewers[i];
        struct viewer_open *open = find_open(viewer, sending->tree->feed->id);
        if (!open) {
            continue;
        }
        bool sent =
            follows(viewer) && sending->tree->read &&
            (open->seeded ? send_changes(sending, viewer) : send_seed(sending, viewer));
        passed += open->seeded && !sent;
        open->seeded = sent;
    }
    buffer_destroy(&sending->changes);
    buffer_destroy(&sending->seed);
    return passed;
}

size_t
opened_send(struct opened *opened, const struct probe *probe,
            struct viewer *const *viewers, size_t viewer_count, struct stamp at)
{
    size_t passed = 0;
    for (size_t i = 0; i < viewer_count; i++) {
        forget_gone(opened, viewers[i]);
    }
    for (size_t i = 0; i < opened->count; i++) {
        struct sending sending = {.tree = &opened->trees[i],
                                  .calltree = &probe->tally.trace.tree,
                                  .at = at,
                                  .viewers = viewers,
                                  .viewer_count = viewer_count};
        passed += send_tree(&sending);
    }
    return passed;
}

/* Once an interval. */

void
opened_tick(struct probe *probe, uint64_t now_ns)
{
    struct registry *registry = &probe->tally.registry;
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    bool traced = false;
    bool faded = false;
    for (uint32_t i = 1; i < count; i++) {
        struct class_entry *entry = registry_class(registry, i);
        traced |= atomic_load_explicit(&entry->traced, memory_order_acquire);
        if (entry->left_ns && now_ns - entry->left_ns >= OPENED_FADE_NS) {
            entry->left_ns = 0;
            faded = true;
        }
    }
    bool shorter = traced && trace_govern(&probe->tally.trace, registry, now_ns);
    if (faded || shorter) {
        probe_ask(probe, WORK_TRACE);
    }
}
