#include "tui/model/snapshot.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/model_state.h"

// Of each kind in one message: far below FRAME_BODY_MAX and DECODE_VALUES_MAX even if
// every one is as long as it may be.
#define NAMES_A_MESSAGE 2000u
#define ROWS_A_MESSAGE 200000u
#define FRAMES_A_MESSAGE 1000u
#define NODES_A_MESSAGE 50000u
#define SITES_A_MESSAGE 50000u
#define VERDICTS_A_MESSAGE 2000u
#define PLACES_A_MESSAGE 100000u

// A class and the id that the snapshot calls it by.
struct said {
    const struct entry *entry;
    class_id id;
};

struct snapshot {
    const struct model *model;
    snapshot_taker *take;
    void *context;
    struct said *said; // owned: the classes, in the order in which they came
    size_t count;
    class_id unused; // an id that no class has
    bool without_trees;
};

static bool
say(const struct snapshot *snapshot, struct message message)
{
    return snapshot->take(snapshot->context, &message);
}

// Room for the longest list of a kind; never NULL for want of need.
static void *
room(size_t count, size_t most, size_t size)
{
    return calloc((count < most ? count : most) + 1, size);
}

static int
by_serial(const void *left, const void *right)
{
    const struct said *a = left;
    const struct said *b = right;
    return a->entry->class.serial < b->entry->class.serial ? -1 : 1;
}

// An id from the far end of all ids that no class has and none was given here.
static class_id
next_unused(const struct model *model, class_id last)
{
    do {
        last--;
    } while (classes_find(&model->classes, last) != NULL);
    return last;
}

// List the classes; those without an id only when they are `all` wanted.
static bool
begin(struct snapshot *snapshot, const struct model *model, bool all)
{
    const struct classes *classes = &model->classes;
    snapshot->model = model;
    snapshot->said = calloc(classes->count + 1, sizeof *snapshot->said);
    if (snapshot->said == NULL) {
        return false;
    }
    class_id last = 0; // one below is the largest
    for (size_t i = 0; i < classes->count; i++) {
        const struct entry *entry = classes->list[i];
        class_id id = entry->class.id;
        if (entry->orphan && !all) {
            continue;
        }
        if (entry->orphan) {
            id = last = next_unused(model, last);
        }
        snapshot->said[snapshot->count++] = (struct said){entry, id};
    }
    snapshot->unused = next_unused(model, last);
    qsort(snapshot->said, snapshot->count, sizeof *snapshot->said, by_serial);
    return true;
}

static bool
say_hello(const struct snapshot *snapshot)
{
    const struct model *model = snapshot->model;
    if (model->texts[KEPT_COMMAND] == NULL) {
        return true;
    }
    return say(snapshot, (struct message){
                             .kind = MESSAGE_HELLO,
                             .at = model->at,
                             .hello = model->hello,
                         });
}

static bool
say_names(const struct snapshot *snapshot)
{
    struct class_name *list = room(snapshot->count, NAMES_A_MESSAGE, sizeof *list);
    bool good = list != NULL;
    for (size_t next = 0; good && next < snapshot->count;) {
        size_t count = 0;
        for (; next < snapshot->count && count < NAMES_A_MESSAGE; next++) {
            const struct said *said = &snapshot->said[next];
            const struct model_class *class = &said->entry->class;
            list[count++] =
                (struct class_name){said->id, class->flags, text_of(class->name)};
        }
        good = say(snapshot, (struct message){
                                 .kind = MESSAGE_NAMES,
                                 .at = snapshot->model->at,
                                 .names = {list, count},
        });
    }
    free(list);
    return good;
}

static bool
say_part(const struct snapshot *snapshot, bool key, const struct class_row *rows,
         size_t row_count, const class_id *gone, size_t gone_count)
{
    struct message message = {
        .kind = MESSAGE_SAMPLE,
        .at = snapshot->model->at,
        .sample = snapshot->model->sample,
    };
    message.sample.key = key;
    message.sample.rows = rows;
    message.sample.row_count = row_count;
    message.sample.gone = gone;
    message.sample.gone_count = gone_count;
    return say(snapshot, message);
}

// What is gone has its row as well: what it did before it went is still shown.
static bool
say_sample(const struct snapshot *snapshot, bool key)
{
    struct class_row *rows = room(snapshot->count, ROWS_A_MESSAGE, sizeof *rows);
    class_id *gone = room(snapshot->count, ROWS_A_MESSAGE, sizeof *gone);
    bool good = rows != NULL && gone != NULL;
    size_t next = 0;
    for (bool first = true; good && (first || next < snapshot->count); first = false) {
        size_t row_count = 0;
        size_t gone_count = 0;
        for (size_t i = 0; next < snapshot->count && i < ROWS_A_MESSAGE; i++, next++) {
            const struct said *said = &snapshot->said[next];
            if (said->entry->class.listed) {
                rows[row_count] = said->entry->class.now;
                rows[row_count++].id = said->id;
            }
            if (said->entry->class.gone) {
                gone[gone_count++] = said->id;
            }
        }
        good = say_part(snapshot, key && first, rows, row_count, gone, gone_count);
    }
    free(gone);
    free(rows);
    return good;
}

// Names and counts, in the order that the mode asks for.
static bool
say_classes(const struct snapshot *snapshot)
{
    const struct model *model = snapshot->model;
    if (!model->sampled) {
        return say_names(snapshot);
    }
    if (model->sample.mode == MODE_DORMANT) {
        return say_part(snapshot, true, NULL, 0, NULL, 0) && say_names(snapshot) &&
               say_sample(snapshot, false);
    }
    return say_names(snapshot) && say_sample(snapshot, true);
}

static bool
say_frames(const struct snapshot *snapshot)
{
    const struct frames_kept *frames = &snapshot->model->trees.frames;
    if (frames->count <= FRAME_FIRST) {
        return true;
    }
    struct frame_name *list = room(frames->count, FRAMES_A_MESSAGE, sizeof *list);
    bool good = list != NULL;
    for (uint32_t next = FRAME_FIRST; good && next < frames->count;) {
        size_t count = 0;
        for (; next < frames->count && count < FRAMES_A_MESSAGE; next++) {
            const struct tree_frame *frame = &frames->list[next];
            list[count++] =
                (struct frame_name){frame->id, frame->flags, text_of(frame->label),
                                    frames_path(frame), frame->line};
        }
        good = say(snapshot, (struct message){
                                 .kind = MESSAGE_FRAMES,
                                 .at = snapshot->model->at,
                                 .frames = {list, count},
        });
    }
    free(list);
    return good;
}

static size_t
fill_nodes(const struct snapshot *snapshot, const struct tree_model *tree,
           struct tree_node *nodes, uint32_t *next)
{
    size_t count = 0;
    for (; *next < tree->count && count < NODES_A_MESSAGE; (*next)++) {
        const struct tree_place *place = &tree->nodes[*next];
        nodes[count++] = (struct tree_node){
            .id = place->id,
            .parent = tree->nodes[place->parent].id,
            .frame = snapshot->model->trees.frames.list[place->frame].id,
            .line = place->line,
            .block = place->block,
        };
    }
    return count;
}

static size_t
fill_sites(const struct tree_model *tree, struct tree_site *sites, uint32_t *next)
{
    size_t count = 0;
    for (; *next < tree->site_count && count < SITES_A_MESSAGE; (*next)++) {
        const struct tree_kept_site *site = &tree->sites[*next];
        struct tree_site *to = &sites[count++];
        *to = (struct tree_site){
            .node = tree->nodes[site->node].id,
            .shift = site->shift,
            .live = site->live,
            .allocated = site->allocated,
            .bytes = site->bytes,
        };
        memcpy(to->ages, site->ages, sizeof to->ages);
    }
    return count;
}

// Nodes and sites in the order in which they came, so that they get the same places
// and every sum is made of the same figures in the same order. Sites that hold nothing
// any more are told as well: their bytes are 0, not unknown.
static bool
say_tree(const struct snapshot *snapshot, const struct tree_model *tree)
{
    struct tree_node *nodes = room(tree->count, NODES_A_MESSAGE, sizeof *nodes);
    struct tree_site *sites = room(tree->site_count, SITES_A_MESSAGE, sizeof *sites);
    bool good = nodes != NULL && sites != NULL;
    uint32_t next_node = 1; // the root is always there
    uint32_t next_site = 0;
    struct message message = {
        .kind = MESSAGE_TREE,
        .at = {tree->last_us, snapshot->model->at.wall_us},
        .tree = tree->header,
    };
    message.tree.key = true;
    message.tree.nodes = nodes;
    message.tree.sites = sites;
    while (good) {
        // a site comes with its node or after it
        message.tree.node_count = fill_nodes(snapshot, tree, nodes, &next_node);
        message.tree.site_count =
            next_node == tree->count ? fill_sites(tree, sites, &next_site) : 0;
        good = say(snapshot, message);
        message.tree.key = false;
        if (next_node == tree->count && next_site == tree->site_count) {
            break;
        }
    }
    free(sites);
    free(nodes);
    return good;
}

// Those with the latest news last, as they are kept.
static bool
say_trees(const struct snapshot *snapshot)
{
    const struct trees *trees = &snapshot->model->trees;
    for (size_t i = 0; i < trees->count; i++) {
        if (!say_tree(snapshot, trees->list[i])) {
            return false;
        }
    }
    return true;
}

static uint64_t
count_of(double ages)
{
    if (isnan(ages)) {
        return COUNT_UNKNOWN;
    }
    return ages < 0x1p64 ? (uint64_t)ages : COUNT_UNKNOWN - 1;
}

static struct verdict_row
verdict_of(const struct said *said)
{
    const struct model_class *class = &said->entry->class;
    struct verdict_row row = {
        .id = said->id, .verdict = class->verdict, .reason = text_of(class->reason)};
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        row.ages[i] = count_of(class->ages[i]);
    }
    return row;
}

// That classes were judged stays known when none of them is there any more.
static bool
say_judged(const struct snapshot *snapshot)
{
    const struct verdict_row nobodys = {
        .id = snapshot->unused,
        .verdict = VERDICT_STEADY,
        .ages = {COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN},
        .reason = text_of("")
    };
    return say(snapshot, (struct message){
                             .kind = MESSAGE_VERDICTS,
                             .at = snapshot->model->at,
                             .verdicts = {&nobodys, 1},
    });
}

// Of all classes once there are verdicts: who knew more than this forgets it then.
static bool
say_verdicts(const struct snapshot *snapshot)
{
    struct verdict_row *list = room(snapshot->count, VERDICTS_A_MESSAGE, sizeof *list);
    bool good = list != NULL;
    bool judged = false;
    for (size_t next = 0; good && next < snapshot->count;) {
        size_t count = 0;
        for (; next < snapshot->count && count < VERDICTS_A_MESSAGE; next++) {
            if (snapshot->model->judged || snapshot->said[next].entry->reason != NULL) {
                list[count] = verdict_of(&snapshot->said[next]);
                judged = judged || list[count].verdict != VERDICT_NONE;
                count++;
            }
        }
        good = count == 0 || say(snapshot, (struct message){
                                               .kind = MESSAGE_VERDICTS,
                                               .at = snapshot->model->at,
                                               .verdicts = {list, count},
        });
    }
    free(list);
    return good && (judged || !snapshot->model->judged || say_judged(snapshot));
}

static bool
say_notices(const struct snapshot *snapshot)
{
    const struct notices *notices = &snapshot->model->notices;
    for (size_t i = 0; i < notices->count; i++) {
        const struct model_notice *notice = &notices->list[i];
        const struct message message = {
            .kind = MESSAGE_NOTICE,
            .at = notice->at,
            .notice = {notice->id, notice->severity, text_of(notice->text)},
        };
        if (!say(snapshot, message)) {
            return false;
        }
    }
    return true;
}

// Where the telling of a mark is.
struct mark_cursor {
    const struct mark *mark; // NULL: since connecting
    int letter;              // or MODEL_MARK_NONE
    size_t next_said;
    size_t next_tree;
    uint32_t next_node;
};

static size_t
fill_rows(const struct snapshot *snapshot, struct mark_cursor *at, struct mark_row *rows)
{
    size_t count = 0;
    for (; at->next_said < snapshot->count && count < ROWS_A_MESSAGE; at->next_said++) {
        const struct said *said = &snapshot->said[at->next_said];
        const struct model_class *class = &said->entry->class;
        const struct mark *mark = at->mark;
        if (mark == NULL) {
            rows[count++] = (struct mark_row){said->id, said->entry->first_live,
                                              said->entry->first_bytes};
        } else if (marks_knows(mark, class)) {
            rows[count++] = (struct mark_row){said->id, mark->values[class->slot],
                                              mark->values[mark->slots + class->slot]};
        }
    }
    return count;
}

// Nodes of one tree. The root is told whatever it had: it says that there is a moment.
static size_t
fill_places(struct mark_cursor *at, const struct tree_model *tree,
            const struct tree_moment *moment, struct mark_place *places, size_t count)
{
    uint32_t nodes = moment->set ? moment->count : 0;
    for (; at->next_node < nodes && count < PLACES_A_MESSAGE; at->next_node++) {
        const double *values = moment->values[at->next_node];
        if (at->next_node == 0 || values[0] != 0 || values[1] != 0) {
            places[count++] = (struct mark_place){
                tree->class_id, tree->nodes[at->next_node].id, values[0], values[1]};
        }
    }
    if (at->next_node >= nodes) {
        at->next_tree++;
        at->next_node = 0;
    }
    return count;
}

static size_t
places_needed(const struct trees *trees)
{
    size_t count = 0;
    for (size_t i = 0; i < trees->count; i++) {
        count += trees->list[i]->count;
    }
    return count;
}

// Rows and places of a mark whose other members are filled already.
static bool
say_mark_lists(const struct snapshot *snapshot, struct mark_cursor *at,
               struct message *message)
{
    const struct trees *trees = &snapshot->model->trees;
    struct mark_row *rows = room(snapshot->count, ROWS_A_MESSAGE, sizeof *rows);
    struct mark_place *places =
        room(places_needed(trees), PLACES_A_MESSAGE, sizeof *places);
    bool good = rows != NULL && places != NULL;
    message->mark.rows = rows;
    message->mark.places = places;
    for (bool more = true; good && more;) {
        size_t count = 0;
        while (at->next_tree < trees->count && count < PLACES_A_MESSAGE) {
            struct tree_model *tree = trees->list[at->next_tree];
            count = fill_places(at, tree, tree_store_baseline(tree, at->letter), places,
                                count);
        }
        message->mark.place_count = count;
        message->mark.row_count = fill_rows(snapshot, at, rows);
        good = say(snapshot, *message);
        more = at->next_said < snapshot->count || at->next_tree < trees->count;
    }
    free(places);
    free(rows);
    return good;
}

static bool
say_mark(const struct snapshot *snapshot, int letter)
{
    const struct model *model = snapshot->model;
    const struct mark *mark = &model->marks.list[letter];
    struct message message = {
        .kind = MESSAGE_MARK,
        .at = model->at,
        .mark = {.letter = (uint32_t)letter,
                 .counted = mark->counted,
                 .live = mark->at.live,
                 .bytes = mark->at.bytes,
                 .at_monotonic_us = mark->at.at.monotonic_us,
                 .at_wall_us = mark->at.at.wall_us},
    };
    struct mark_cursor at = {
        .mark = mark,
        .letter = letter,
        .next_tree = snapshot->without_trees ? model->trees.count : 0,
    };
    return say_mark_lists(snapshot, &at, &message);
}

// Nobody keeps what the totals were when a viewer connected.
static bool
say_connected(const struct snapshot *snapshot)
{
    const struct model *model = snapshot->model;
    struct message message = {
        .kind = MESSAGE_MARK,
        .at = model->at,
        .mark = {.letter = MARK_CONNECTING,
                 .counted = true,
                 .live = COUNT_UNKNOWN,
                 .bytes = COUNT_UNKNOWN,
                 .at_monotonic_us = model->connected.monotonic_us,
                 .at_wall_us = model->connected.wall_us},
    };
    struct mark_cursor at = {.letter = MODEL_MARK_NONE};
    return say_mark_lists(snapshot, &at, &message);
}

static bool
say_marks(const struct snapshot *snapshot)
{
    const struct model *model = snapshot->model;
    bool good = !model->sampled || say_connected(snapshot);
    for (int i = 0; i < MODEL_MARKS_MAX && good; i++) {
        good = !model->marks.list[i].set || say_mark(snapshot, i);
    }
    return good;
}

// After everything that calls them by the ids that end here.
static bool
say_left(const struct snapshot *snapshot)
{
    struct left_row *list = room(snapshot->count, ROWS_A_MESSAGE, sizeof *list);
    bool good = list != NULL;
    for (size_t next = 0; good && next < snapshot->count;) {
        size_t count = 0;
        for (; next < snapshot->count && count < ROWS_A_MESSAGE; next++) {
            const struct said *said = &snapshot->said[next];
            const struct entry *entry = said->entry;
            if (entry->orphan || entry->class.gone) {
                list[count++] = (struct left_row){
                    said->id, entry->orphan ? entry->class.id : COUNT_UNKNOWN,
                    entry->class.gone ? entry->gone_us : COUNT_UNKNOWN};
            }
        }
        good = count == 0 || say(snapshot, (struct message){
                                               .kind = MESSAGE_LEFT,
                                               .at = snapshot->model->at,
                                               .left = {list, count},
        });
    }
    free(list);
    return good;
}

static bool
say_bye(const struct snapshot *snapshot)
{
    const struct model *model = snapshot->model;
    return !model->ended || say(snapshot, (struct message){
                                              .kind = MESSAGE_BYE,
                                              .at = model->at,
                                              .bye = model->bye,
                                          });
}

// A connection whose first sample has not come yet: what follows the snapshot is not
// what went on from it.
static bool
say_gap(const struct snapshot *snapshot)
{
    const struct model *model = snapshot->model;
    bool pending = model->timeline.broken || model->rebase;
    if (!model->sampled || !pending) {
        return true;
    }
    return say(snapshot,
               (struct message){
                   .kind = MESSAGE_GAP,
                   .at = model->at,
                   .gap = {model->rebase ? GAP_RESTARTED : GAP_LOST, text_of("")},
    });
}

bool
snapshot_each(const struct model *model, snapshot_taker *take, void *context)
{
    struct snapshot snapshot = {.take = take, .context = context};
    bool good = begin(&snapshot, model, true) && say_hello(&snapshot) &&
                say_classes(&snapshot) && say_frames(&snapshot) && say_trees(&snapshot) &&
                say_verdicts(&snapshot) && say_notices(&snapshot) &&
                say_marks(&snapshot) && say_left(&snapshot) && say_bye(&snapshot) &&
                say_gap(&snapshot);
    free(snapshot.said);
    return good;
}

bool
snapshot_mark(const struct model *model, int mark, snapshot_taker *take, void *context)
{
    assert(model_mark(model, mark) != NULL);
    struct snapshot snapshot = {.take = take, .context = context};
    bool good = begin(&snapshot, model, false) && say_mark(&snapshot, mark);
    free(snapshot.said);
    return good;
}

static bool
same_process(const struct model *a, const struct model *b)
{
    return a->hello.pid == b->hello.pid && a->hello.started_us == b->hello.started_us;
}

static int
by_name(const void *left, const void *right)
{
    const struct said *a = left;
    const struct said *b = right;
    int order = strcmp(a->entry->class.name, b->entry->class.name);
    return order != 0 ? order : by_serial(left, right);
}

// Call the classes as the reader does and leave out those that it does not have. Both
// lists in the order of names; back in the order in which the classes came.
static void
translate(struct snapshot *snapshot, struct snapshot *reader)
{
    size_t kept = 0;
    size_t there = 0;
    qsort(snapshot->said, snapshot->count, sizeof *snapshot->said, by_name);
    qsort(reader->said, reader->count, sizeof *reader->said, by_name);
    for (size_t i = 0; i < snapshot->count && there < reader->count;) {
        const struct said *ours = &snapshot->said[i];
        const struct said *theirs = &reader->said[there];
        int order = strcmp(ours->entry->class.name, theirs->entry->class.name);
        if (order == 0 && *ours->entry->class.name) {
            snapshot->said[kept++] = (struct said){ours->entry, theirs->id};
        }
        i += order <= 0 ? 1 : 0;
        there += order >= 0 ? 1 : 0;
    }
    snapshot->count = kept;
    qsort(snapshot->said, snapshot->count, sizeof *snapshot->said, by_serial);
}

bool
snapshot_mark_for(const struct model *model, int mark, const struct model *reader,
                  snapshot_taker *take, void *context)
{
    if (same_process(model, reader)) {
        return snapshot_mark(model, mark, take, context);
    }
    struct snapshot snapshot = {.take = take, .context = context, .without_trees = true};
    struct snapshot theirs = {0};
    // all of ours: those that are an earlier process's are what the reader may have
    bool good = begin(&snapshot, model, true) && begin(&theirs, reader, false);
    if (good) {
        translate(&snapshot, &theirs);
        good = say_mark(&snapshot, mark);
    }
    free(theirs.said);
    free(snapshot.said);
    return good;
}
