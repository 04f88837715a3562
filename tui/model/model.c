#include "tui/model/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/model_state.h"
#include "tui/text/text.h"

// How far back the trend of the memory looks, and what it needs at least.
#define TREND_SECONDS 60
#define TREND_SECONDS_MIN 10

static const struct process_state unknown_process = {
    COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN,
    COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN,
};

static const struct totals unknown_totals = {
    COUNT_UNKNOWN,
    COUNT_UNKNOWN,
    COUNT_UNKNOWN,
    COUNT_UNKNOWN,
};

struct model *
model_new(void)
{
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return NULL;
    }
    double unknown = (double)NAN;
    marks_init(&model->marks);
    tags_init(&model->tags);
    model->sample.process = unknown_process;
    model->sample.totals = unknown_totals;
    model->totals_rates =
        (struct model_rates){unknown, unknown, unknown, unknown, unknown};
    return model;
}

void
model_free(struct model *model)
{
    if (model == NULL) {
        return;
    }
    for (int i = 0; i < KEPT_COUNT; i++) {
        free(model->texts[i]);
    }
    notices_destroy(&model->notices);
    trees_destroy(&model->trees);
    tags_destroy(&model->tags);
    marks_destroy(&model->marks);
    classes_destroy(&model->classes);
    free(model);
}

// A text for people, so short that a message can say it again: what is kept of a text
// is what a recording of it gives.
static char *
escaped(struct text text)
{
    return text_escaped_within(text.bytes, text.length, MESSAGE_TEXT_MAX);
}

// Replace a kept text; `text` is its new owner's and is shown by `field`.
static void
keep(struct model *model, enum kept_text which, char *text, struct text *field)
{
    free(model->texts[which]);
    model->texts[which] = text;
    *field = text_of(text);
}

static bool
apply_hello(struct model *model, const struct hello *hello)
{
    char *version = escaped(hello->program_version);
    char *command = escaped(hello->command);
    char *runtime = escaped(hello->runtime);
    if (version == NULL || command == NULL || runtime == NULL) {
        free(version);
        free(command);
        free(runtime);
        return false;
    }
    if (model->sampled) {
        model_reconnect(model); // a hello is the first message of a connection
    }
    bool first = model->texts[KEPT_COMMAND] == NULL;
    model->restarted = !first && (model->hello.pid != hello->pid ||
                                  model->hello.started_us != hello->started_us);
    model->rebase = model->rebase || model->restarted;
    model->hello = *hello;
    keep(model, KEPT_PROGRAM_VERSION, version, &model->hello.program_version);
    keep(model, KEPT_COMMAND, command, &model->hello.command);
    keep(model, KEPT_RUNTIME, runtime, &model->hello.runtime);
    model->ended = false;
    return true;
}

static bool
apply_bye(struct model *model, const struct bye *bye)
{
    char *text = escaped(bye->text);
    if (text == NULL) {
        return false;
    }
    model->bye = *bye;
    keep(model, KEPT_BYE, text, &model->bye.text);
    model->ended = true;
    return true;
}

// Give an id its name: to the class that has the id, to an orphan of that name, or
// to a new class. Takes `name` over when it returns true.
static bool
name_class(struct classes *classes, const struct class_name *named, char *name)
{
    struct entry *entry = classes_find(classes, named->id);
    if (entry == NULL) {
        entry = classes_adopt(classes, named->id, name, named->flags);
    }
    if (entry == NULL && classes->count < MODEL_CLASSES_MAX) {
        entry = classes_add(classes, named->id);
        if (entry == NULL) {
            return false;
        }
    }
    if (entry == NULL) {
        free(name); // more classes than are kept
        return true;
    }
    classes_name(classes, entry, name, named->flags);
    return true;
}

// Names that were given before memory ran out stay: each is true by itself.
static bool
apply_names(struct model *model, const struct names *names)
{
    struct classes *classes = &model->classes;
    if (!classes_prepare_adoption(classes)) {
        return false;
    }
    for (size_t i = 0; i < names->count; i++) {
        const struct class_name *named = &names->list[i];
        char *name = escaped(named->name);
        if (name == NULL || !name_class(classes, named, name)) {
            free(name);
            return false;
        }
    }
    return true;
}

// True when a class that a key sample does not list has no object any more. A
// dormant probe lists nothing because it counts nothing.
static bool
sweeps(const struct sample *sample)
{
    return sample->key && sample->mode != MODE_DORMANT;
}

// Of those, what the sample in hand does not list. A class of which only the name
// is known waits for its first row.
static bool
swept(const struct model *model, const struct entry *entry)
{
    return entry->sample != model->number && entry->class.listed;
}

// Find or add the class of a row and make room for what the row will change.
static bool
prepare_row(struct model *model, const struct class_row *row)
{
    struct entry *entry = classes_find(&model->classes, row->id);
    if (entry == NULL && model->classes.count >= MODEL_CLASSES_MAX) {
        return true;
    }
    if (entry == NULL) {
        entry = classes_add(&model->classes, row->id);
    }
    if (entry == NULL) {
        return false;
    }
    bool again = entry->sample == model->number; // listed twice: foreign input
    entry->sample = model->number;
    bool changes =
        entry->class.listed ? entry->class.now.live != row->live : model->continuous;
    return !(changes || again) || history_reserve(&entry->history);
}

static bool
prepare_going(struct entry *entry)
{
    return entry->class.now.live == 0 || history_reserve(&entry->history);
}

// Take all memory that the sample needs, so that applying it cannot fail.
static bool
prepare(struct model *model, const struct sample *sample)
{
    for (size_t i = 0; i < sample->row_count; i++) {
        if (!prepare_row(model, &sample->rows[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < sample->gone_count; i++) {
        struct entry *entry = classes_find(&model->classes, sample->gone[i]);
        if (entry != NULL && !prepare_going(entry)) {
            return false;
        }
    }
    for (size_t i = 0; i < model->classes.count && sweeps(sample); i++) {
        struct entry *entry = model->classes.list[i];
        if (swept(model, entry) && !prepare_going(entry)) {
            return false;
        }
    }
    return true;
}

static void
apply_row(struct model *model, struct entry *entry, const struct class_row *row)
{
    struct model_class *class = &entry->class;
    uint64_t before = class->now.live;
    if (!class->listed) {
        uint64_t first = model->continuous ? 0 : COUNT_UNKNOWN;
        entry->first_live = first;
        entry->first_bytes = first;
        before = model->continuous ? 0 : row->live;
    }
    if (before != row->live) {
        history_change(&entry->history, model->timeline.tick, before, row->live);
    }
    if (entry->first_live == COUNT_UNKNOWN) {
        entry->first_live = row->live;
    }
    if (entry->first_bytes == COUNT_UNKNOWN) {
        entry->first_bytes = row->bytes;
    }
    class->now = *row;
    class->gone = false;
    class->listed = true;
    marks_baseline(&model->marks, entry);
}

static void
go(struct model *model, struct entry *entry)
{
    struct model_class *class = &entry->class;
    if (class->gone) {
        return;
    }
    if (class->listed && class->now.live != 0) {
        history_change(&entry->history, model->timeline.tick, class->now.live, 0);
    }
    class->now.live = 0;
    class->now.bytes = 0;
    class->gone = true;
    entry->gone_us = model->at.monotonic_us;
}

// Drop what has been gone for long enough.
static void
bury(struct model *model)
{
    uint64_t now_us = model->at.monotonic_us;
    for (size_t i = model->classes.count; i-- > 0;) {
        struct entry *entry = model->classes.list[i];
        if (entry->gone_us > now_us) {
            entry->gone_us = now_us; // the clock was set back
        }
        if (entry->class.gone && now_us - entry->gone_us >= MODEL_GONE_KEPT_US) {
            classes_remove(&model->classes, entry);
        }
    }
}

static void
apply_rows(struct model *model, const struct sample *sample)
{
    for (size_t i = 0; i < sample->row_count; i++) {
        struct entry *entry = classes_find(&model->classes, sample->rows[i].id);
        if (entry != NULL) {
            apply_row(model, entry, &sample->rows[i]);
        }
    }
    for (size_t i = 0; i < sample->gone_count; i++) {
        struct entry *entry = classes_find(&model->classes, sample->gone[i]);
        if (entry != NULL) {
            go(model, entry);
        }
    }
    for (size_t i = 0; i < model->classes.count && sweeps(sample); i++) {
        if (swept(model, model->classes.list[i])) {
            go(model, model->classes.list[i]);
        }
    }
    bury(model);
}

// "Since connecting" starts here: nothing is known from before.
static void
rebase(struct model *model)
{
    for (size_t i = 0; i < model->classes.count; i++) {
        model->classes.list[i]->first_live = COUNT_UNKNOWN;
        model->classes.list[i]->first_bytes = COUNT_UNKNOWN;
        marks_baseline(&model->marks, model->classes.list[i]);
    }
    model->connected = model->at;
    model->continuous = false;
    model->rebase = false;
}

// Keep all but the rows, which are the decoder's. A dormant probe counts nothing,
// whatever its totals say.
static void
keep_sample(struct model *model, const struct sample *sample)
{
    model->sample = *sample;
    model->sample.rows = NULL;
    model->sample.row_count = 0;
    model->sample.gone = NULL;
    model->sample.gone_count = 0;
    if (sample->mode == MODE_DORMANT) {
        model->sample.totals = unknown_totals;
    }
}

static void
keep_series(struct model *model, uint32_t from)
{
    const uint64_t values[MODEL_SERIES_COUNT] = {model->sample.totals.live,
                                                 model->sample.process.rss_bytes};
    uint32_t tick = model->timeline.tick;
    for (int i = 0; i < MODEL_SERIES_COUNT; i++) {
        uint64_t *series = model->series[i];
        uint64_t before = series[from % MODEL_HISTORY];
        for (uint32_t k = 1; k < tick - from && k < MODEL_HISTORY; k++) {
            series[(tick - k) % MODEL_HISTORY] = before;
        }
        series[tick % MODEL_HISTORY] = values[i];
    }
}

// Seconds without a sample that are still no gap: three intervals.
static uint32_t
patience(const struct model *model)
{
    uint64_t interval_s = model->hello.interval_ms / 1000 + 1;
    return interval_s < MODEL_HISTORY / 3 ? (uint32_t)interval_s * 3 : MODEL_HISTORY;
}

static double
rss_trend(const struct model *model)
{
    uint64_t values[MODEL_HISTORY];
    size_t count = model_series(model, MODEL_SERIES_RSS, values, MODEL_HISTORY);
    size_t seconds = 0; // back to the oldest value in reach
    for (size_t i = 1; i < count && i <= TREND_SECONDS; i++) {
        if (values[count - 1 - i] != COUNT_UNKNOWN) {
            seconds = i;
        }
    }
    if (seconds < TREND_SECONDS_MIN || values[count - 1] == COUNT_UNKNOWN) {
        return (double)NAN;
    }
    double change = (double)values[count - 1] - (double)values[count - 1 - seconds];
    return change * 60 / (double)seconds;
}

static bool
apply_sample(struct model *model, const struct sample *sample, struct stamp at)
{
    uint32_t serial = model->classes.serial;
    model->number++;
    if (!prepare(model, sample)) {
        classes_remove_since(&model->classes, serial);
        return false;
    }
    uint32_t from = model->timeline.tick;
    timeline_advance(&model->timeline, at.monotonic_us, patience(model));
    model->at = at;
    if (!model->sampled || model->rebase) {
        rebase(model);
    }
    apply_rows(model, sample);
    if (sample->key && sample->mode == MODE_DORMANT) {
        classes_orphan(&model->classes); // a probe that counts again has new ids
    }
    trees_sweep(&model->trees, &model->classes);
    tags_tick(&model->tags, at);
    keep_sample(model, sample);
    keep_series(model, from);
    rates_update(&model->rates, &model->classes, &model->totals_rates, &model->sample,
                 at);
    model->totals_rates.rss_bytes_per_minute = rss_trend(model);
    model->continuous = sample->mode != MODE_DORMANT;
    model->sampled = true;
    return true;
}

// One of no known kind is no verdict; of classes that are not known nothing is kept but
// that there are verdicts.
static bool
apply_verdicts(struct model *model, const struct verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->count; i++) {
        struct verdict_row row = verdicts->list[i];
        struct entry *entry = classes_find(&model->classes, row.id);
        row.verdict = row.verdict <= VERDICT_LEAK ? row.verdict : VERDICT_NONE;
        model->judged |= row.verdict != VERDICT_NONE;
        if (entry == NULL) {
            continue;
        }
        char *reason = escaped(row.reason);
        if (reason == NULL) {
            return false;
        }
        classes_judge(entry, &row, reason);
    }
    return true;
}

// A tree comes behind the sample of its class. One of a class that is not known, or
// that died since, is nobody's.
static bool
apply_tree(struct model *model, const struct tree *tree, struct stamp at)
{
    return classes_find(&model->classes, tree->class_id) == NULL ||
           trees_apply(&model->trees, tree, at);
}

// Of classes that went before this was recorded: when, and that their ids mean nothing.
static bool
apply_left(struct model *model, const struct left *left)
{
    for (size_t i = 0; i < left->count; i++) {
        const struct left_row *row = &left->list[i];
        struct entry *entry = classes_find(&model->classes, row->id);
        if (entry == NULL) {
            continue;
        }
        if (entry->class.gone && row->gone_us != COUNT_UNKNOWN) {
            entry->gone_us = row->gone_us;
        }
        if (row->former_id != COUNT_UNKNOWN &&
            !classes_forsake(&model->classes, entry, (class_id)row->former_id)) {
            return false;
        }
    }
    return true;
}

static void
rebaseline(struct model *model)
{
    for (size_t i = 0; i < model->classes.count; i++) {
        marks_baseline(&model->marks, model->classes.list[i]);
    }
    trees_renew(&model->trees);
    tags_baseline(&model->tags, model->marks.used);
    model->version++;
}

// "Since connecting" is what a recording says it was. What has no id cannot be listed.
static void
take_connected(struct model *model, const struct mark_state *state, bool goes_on)
{
    uint64_t none = state->counted ? 0 : COUNT_UNKNOWN;
    for (size_t i = 0; i < model->classes.count && !goes_on; i++) {
        struct entry *entry = model->classes.list[i];
        if (!entry->orphan) {
            entry->first_live = entry->first_bytes = none;
        }
    }
    for (size_t i = 0; i < state->row_count; i++) {
        struct entry *entry = classes_find(&model->classes, state->rows[i].id);
        if (entry != NULL) {
            entry->first_live = state->rows[i].live;
            entry->first_bytes = state->rows[i].bytes;
        }
    }
    model->connected = (struct stamp){state->at_monotonic_us, state->at_wall_us};
}

// A mark that somebody set, or that was set when this was recorded. Letters that are
// not known are a newer writer's.
static bool
apply_mark(struct model *model, const struct mark_state *state)
{
    const struct stamp at = {state->at_monotonic_us, state->at_wall_us};
    if (state->letter == MARK_CONNECTING) {
        bool goes_on = model->connected.monotonic_us == at.monotonic_us &&
                       model->connected.wall_us == at.wall_us;
        if (!trees_take(&model->trees, MODEL_MARK_NONE, state, goes_on)) {
            return false;
        }
        take_connected(model, state, goes_on);
        trees_mark_done(&model->trees, MODEL_MARK_NONE);
        rebaseline(model);
        return true;
    }
    if (state->letter >= MODEL_MARKS_MAX) {
        return true;
    }
    int mark = (int)state->letter;
    bool goes_on = marks_goes_on(&model->marks.list[mark], at);
    if (!trees_take(&model->trees, mark, state, goes_on) ||
        !marks_take(&model->marks, state, &model->classes, model->at)) {
        return false;
    }
    bool now = at.monotonic_us == model->at.monotonic_us; // else: what tags had is lost
    if (now && !tags_mark(&model->tags, mark)) {
        return false;
    }
    trees_mark_done(&model->trees, mark);
    rebaseline(model);
    return true;
}

// Time passed of which nobody knows. Frames that were dropped on the way are no gap:
// samples carry state.
static void
apply_gap(struct model *model, const struct gap *gap)
{
    if (gap->reason == GAP_DROPPED) {
        return;
    }
    timeline_break(&model->timeline);
    rates_break(&model->rates);
    model->rebase = model->rebase || gap->reason == GAP_RESTARTED;
}

bool
model_apply(struct model *model, const struct message *message)
{
    assert(model->classes.block == NULL); // a copy is for reading
    model->version++;
    switch (message->kind) {
    case MESSAGE_HELLO:
        return apply_hello(model, &message->hello);
    case MESSAGE_NAMES:
        return apply_names(model, &message->names);
    case MESSAGE_SAMPLE:
        return apply_sample(model, &message->sample, message->at);
    case MESSAGE_NOTICE:
        return notices_apply(&model->notices, &message->notice, message->at);
    case MESSAGE_BYE:
        return apply_bye(model, &message->bye);
    case MESSAGE_FRAMES:
        return trees_name(&model->trees, &message->frames);
    case MESSAGE_VERDICTS:
        return apply_verdicts(model, &message->verdicts);
    case MESSAGE_TAGS:
        return tags_apply(&model->tags, &message->tags);
    case MESSAGE_TREE:
        return apply_tree(model, &message->tree, message->at);
    case MESSAGE_MARK:
        return apply_mark(model, &message->mark);
    case MESSAGE_LEFT:
        return apply_left(model, &message->left);
    case MESSAGE_GAP:
        apply_gap(model, &message->gap);
        return true;
    default:
        return true; // for others: a result is the business of who asked
    }
}

void
model_reconnect(struct model *model)
{
    classes_orphan(&model->classes);
    timeline_break(&model->timeline);
    rates_break(&model->rates);
    notices_destroy(&model->notices);
    trees_clear(&model->trees);
    tags_destroy(&model->tags);
    model->version++;
}

struct model *
model_copy(const struct model *model)
{
    struct model *copy = model_new();
    if (copy == NULL) {
        return NULL;
    }
    *copy = *model;
    memset(copy->texts, 0, sizeof copy->texts);
    copy->notices.count = 0;
    copy->trees = (struct trees){0};
    tags_init(&copy->tags);
    marks_init(&copy->marks);
    bool ok = classes_copy(&copy->classes, &model->classes) &&
              marks_copy(&copy->marks, &model->marks) &&
              notices_copy(&copy->notices, &model->notices) &&
              trees_copy(&copy->trees, &model->trees) &&
              tags_copy(&copy->tags, &model->tags);
    struct text *fields[KEPT_COUNT] = {
        [KEPT_PROGRAM_VERSION] = &copy->hello.program_version,
        [KEPT_COMMAND] = &copy->hello.command,
        [KEPT_RUNTIME] = &copy->hello.runtime,
        [KEPT_BYE] = &copy->bye.text,
    };
    for (int i = 0; i < KEPT_COUNT && ok; i++) {
        char *text = model->texts[i] != NULL ? strdup(model->texts[i]) : NULL;
        ok = text != NULL || model->texts[i] == NULL;
        if (text != NULL) {
            keep(copy, (enum kept_text)i, text, fields[i]);
        }
    }
    if (!ok) {
        model_free(copy);
        return NULL;
    }
    return copy;
}

uint64_t
model_version(const struct model *model)
{
    return model->version;
}

uint64_t
model_names_version(const struct model *model)
{
    return model->classes.version;
}

size_t
model_class_count(const struct model *model)
{
    return model->classes.count;
}

const struct model_class *
model_class_at(const struct model *model, size_t index)
{
    return &model->classes.list[index]->class;
}

const struct model_class *
model_class_find(const struct model *model, class_id id)
{
    const struct entry *entry = classes_find(&model->classes, id);
    return entry != NULL ? &entry->class : NULL;
}

size_t
model_slots(const struct model *model)
{
    return model->classes.slot_count;
}

const struct model_class *
model_class_in(const struct model *model, uint32_t slot)
{
    const struct entry *entry = model->classes.slots[slot];
    return entry != NULL ? &entry->class : NULL;
}

size_t
model_history_seconds(const struct model *model)
{
    return timeline_length(&model->timeline);
}

// How many values to write, and gaps where nothing is known.
static size_t
window(const struct model *model, size_t capacity)
{
    size_t length = timeline_length(&model->timeline);
    return length < capacity ? length : capacity;
}

static void
cut_gaps(const struct model *model, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t tick = model->timeline.tick - (uint32_t)(count - 1 - i);
        if (!timeline_known(&model->timeline, tick)) {
            values[i] = COUNT_UNKNOWN;
        }
    }
}

static uint64_t
total_at(const struct model *model, uint32_t tick)
{
    return model->series[MODEL_SERIES_LIVE][tick % MODEL_HISTORY];
}

size_t
model_history(const struct model *model, const struct model_class *class,
              uint64_t *values, size_t capacity)
{
    const struct entry *entry = model->classes.slots[class->slot];
    size_t count = window(model, capacity);
    history_read(&entry->history, model->timeline.tick, class->now.live, values, count);
    cut_gaps(model, values, count);
    for (size_t i = 0; i < count; i++) {
        // nobody counted while there was no total
        if (total_at(model, model->timeline.tick - (uint32_t)(count - 1 - i)) ==
            COUNT_UNKNOWN) {
            values[i] = COUNT_UNKNOWN;
        }
    }
    return count;
}

size_t
model_series(const struct model *model, enum model_series series, uint64_t *values,
             size_t capacity)
{
    size_t count = window(model, capacity);
    for (size_t i = 0; i < count; i++) {
        uint32_t tick = model->timeline.tick - (uint32_t)(count - 1 - i);
        values[i] = model->series[series][tick % MODEL_HISTORY];
    }
    cut_gaps(model, values, count);
    return count;
}

const struct model_rates *
model_rates(const struct model *model)
{
    return &model->totals_rates;
}

bool
model_mark_set(struct model *model, int mark)
{
    assert(mark >= 0 && mark < MODEL_MARKS_MAX);
    const struct model_mark at = {model->at, model->sample.totals.live,
                                  model->sample.totals.bytes};
    if (!trees_mark(&model->trees) || !tags_mark(&model->tags, mark) ||
        !marks_set(&model->marks, mark, &model->classes, &at)) {
        return false;
    }
    trees_mark_done(&model->trees, mark);
    rebaseline(model);
    return true;
}

bool
model_mark_use(struct model *model, int mark)
{
    if (mark != MODEL_MARK_NONE && model_mark(model, mark) == NULL) {
        return false;
    }
    model->marks.used = mark;
    rebaseline(model);
    return true;
}

int
model_mark_used(const struct model *model)
{
    return model->marks.used;
}

const struct model_mark *
model_mark(const struct model *model, int mark)
{
    assert(mark >= 0 && mark < MODEL_MARKS_MAX);
    const struct mark *kept = &model->marks.list[mark];
    return kept->set ? &kept->at : NULL;
}

const struct tree_model *
model_tree(const struct model *model, class_id id)
{
    const struct model_class *class = model_class_find(model, id);
    return class != NULL ? trees_find(&model->trees, class, model->marks.used) : NULL;
}

size_t
model_notice_count(const struct model *model)
{
    return model->notices.count;
}

const struct model_notice *
model_notice_at(const struct model *model, size_t index)
{
    return &model->notices.list[index];
}

const struct hello *
model_hello(const struct model *model)
{
    return &model->hello;
}

const struct sample *
model_sample(const struct model *model)
{
    return &model->sample;
}

const struct bye *
model_bye(const struct model *model)
{
    return model->ended ? &model->bye : NULL;
}

struct stamp
model_time(const struct model *model)
{
    return model->at;
}

bool
model_sampled(const struct model *model)
{
    return model->sampled;
}

struct stamp
model_connected(const struct model *model)
{
    return model->connected;
}

bool
model_restarted(const struct model *model)
{
    return model->restarted;
}

bool
model_judged(const struct model *model)
{
    return model->judged;
}
