#include "tui/model/tags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/model_state.h"
#include "tui/text/text.h"

#define RATE_US 5000000u // the least that rates are taken over

/* Memory. */

static void
free_moment(struct tags_moment *moment)
{
    free(moment->calls);
    free(moment->allocated);
    *moment = (struct tags_moment){0};
}

void
tags_init(struct tags_kept *tags)
{
    *tags = (struct tags_kept){.used = MODEL_MARK_NONE};
}

void
tags_destroy(struct tags_kept *tags)
{
    int used = tags->used;
    for (size_t i = 0; i < 2 * tags->count; i++) {
        free(tags->texts[i]);
    }
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        free(tags->marks[i].live);
    }
    free_moment(&tags->base);
    free_moment(&tags->middle);
    free(tags->list);
    free(tags->texts);
    free(tags->classes);
    tags_init(tags);
    tags->used = used;
}

static bool
reserve(struct tags_kept *tags, size_t count)
{
    if (tags->capacity >= count) {
        return true;
    }
    size_t capacity = count + count / 2 + 16;
    struct model_tag *list = realloc(tags->list, capacity * sizeof *list);
    if (list == NULL) {
        return false;
    }
    tags->list = list;
    char **texts = realloc(tags->texts, 2 * capacity * sizeof *texts);
    if (texts == NULL) {
        return false;
    }
    tags->texts = texts;
    tags->capacity = capacity;
    return true;
}

/* Figures. */

double
model_retained(const uint64_t ages[AGE_BUCKETS])
{
    double sum = 0;
    for (unsigned i = 1; i < AGE_BUCKETS; i++) {
        if (ages[i] == COUNT_UNKNOWN) {
            return (double)NAN;
        }
        sum += (double)ages[i];
    }
    return sum;
}

// Where a tag is, or where it would be.
static size_t
place_of(const struct tags_kept *tags, uint32_t id)
{
    size_t low = 0;
    size_t high = tags->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tags->list[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct model_tag *
find(const struct tags_kept *tags, uint32_t id)
{
    size_t place = place_of(tags, id);
    return place < tags->count && tags->list[place].id == id ? &tags->list[place] : NULL;
}

static struct model_tag
new_tag(uint32_t id)
{
    struct model_tag tag = {.id = id,
                            .text = "",
                            .raw = "",
                            .calls_per_second = (double)NAN,
                            .allocated_per_second = (double)NAN,
                            .retained = (double)NAN,
                            .first_live = (double)NAN,
                            .baseline_live = (double)NAN};
    memset(&tag.now, 0xff, sizeof tag.now); // COUNT_UNKNOWN
    tag.now.id = id;
    return tag;
}

// A probe gives ids in their order, so that those of moments and marks stay where they
// are; one that does not is not kept.
static bool
add(struct tags_kept *tags, uint32_t id, struct model_tag **tag)
{
    bool last = tags->count == 0 || tags->list[tags->count - 1].id < id;
    *tag = find(tags, id);
    if (*tag != NULL || !last || id == 0 || tags->count == MODEL_TAGS_MAX) {
        return true;
    }
    if (!reserve(tags, tags->count + 1)) {
        return false;
    }
    tags->texts[2 * tags->count] = NULL;
    tags->texts[2 * tags->count + 1] = NULL;
    *tag = &tags->list[tags->count++];
    **tag = new_tag(id);
    return true;
}

static bool
name(struct tags_kept *tags, struct model_tag *tag, struct text text)
{
    size_t place = (size_t)(tag - tags->list);
    char *raw = strndup(text.bytes != NULL ? text.bytes : "", text.length);
    if (raw == NULL) {
        return false;
    }
    char *line = strdup(raw);
    for (char *at = line; at != NULL && *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    char *shown =
        line != NULL ? text_escaped_within(line, strlen(line), MESSAGE_TEXT_MAX) : NULL;
    free(line);
    if (shown == NULL) {
        free(raw);
        return false;
    }
    free(tags->texts[2 * place]);
    free(tags->texts[2 * place + 1]);
    tags->texts[2 * place] = shown;
    tags->texts[2 * place + 1] = raw;
    tag->text = shown;
    tag->raw = raw;
    return true;
}

static bool
same_tag(const struct tags_state *state, size_t index, uint32_t tag)
{
    return index < state->class_count && state->classes[index].tag == tag;
}

// Replace the classes of every tag that is in the list.
static bool
take_classes(struct tags_kept *tags, const struct tags_state *state)
{
    if (state->class_count == 0) {
        return true;
    }
    size_t room = tags->class_count + state->class_count;
    struct tag_class *classes = malloc(room * sizeof *classes);
    if (classes == NULL) {
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < tags->class_count; i++) {
        bool told = false;
        for (size_t j = 0; j < state->class_count && !told; j++) {
            told = state->classes[j].tag == tags->classes[i].tag;
            while (!told && same_tag(state, j + 1, state->classes[j].tag)) {
                j++;
            }
        }
        if (!told) {
            classes[kept++] = tags->classes[i];
        }
    }
    for (size_t i = 0; i < state->class_count && kept < MODEL_TAG_CLASSES_MAX; i++) {
        classes[kept++] = state->classes[i];
    }
    free(tags->classes);
    tags->classes = classes;
    tags->class_count = kept;
    return true;
}

bool
tags_apply(struct tags_kept *tags, const struct tags_state *state)
{
    struct model_tag *tag = NULL;
    for (size_t i = 0; state->key && i < tags->count; i++) {
        memset(&tags->list[i].now, 0xff, sizeof tags->list[i].now); // COUNT_UNKNOWN
        tags->list[i].now.id = tags->list[i].id;
        tags->list[i].listed = false;
        tags->list[i].retained = (double)NAN;
    }
    tags->class_count = state->key ? 0 : tags->class_count;
    for (size_t i = 0; i < state->name_count; i++) {
        if (!add(tags, state->names[i].id, &tag) ||
            (tag != NULL && !name(tags, tag, state->names[i].text))) {
            return false;
        }
    }
    for (size_t i = 0; i < state->row_count; i++) {
        tag = find(tags, state->rows[i].id);
        if (tag == NULL) {
            continue; // nobody said what it is called
        }
        tag->listed = true;
        tag->now = state->rows[i];
        if (isnan(tag->first_live) && tag->now.live != COUNT_UNKNOWN) {
            tag->first_live = tags->settled ? 0 : (double)tag->now.live;
            tag->baseline_live =
                tags->used == MODEL_MARK_NONE ? tag->first_live : tag->baseline_live;
        }
        tag->retained = model_retained(tag->now.ages);
    }
    return take_classes(tags, state);
}

/* Rates. */

static bool
take_moment(struct tags_moment *moment, const struct tags_kept *tags, struct stamp at)
{
    uint64_t *calls = malloc((tags->count + 1) * sizeof *calls);
    uint64_t *allocated = malloc((tags->count + 1) * sizeof *allocated);
    if (calls == NULL || allocated == NULL) {
        free(calls);
        free(allocated);
        return false;
    }
    for (size_t i = 0; i < tags->count; i++) {
        calls[i] = tags->list[i].now.calls;
        allocated[i] = tags->list[i].now.allocated;
    }
    *moment = (struct tags_moment){at.monotonic_us, calls, allocated, tags->count};
    return true;
}

static double
rate(uint64_t now, uint64_t before, double seconds)
{
    bool known = now != COUNT_UNKNOWN && before != COUNT_UNKNOWN && now >= before;
    return known && seconds > 0 ? (double)(now - before) / seconds : (double)NAN;
}

static void
renew_rates(struct tags_kept *tags, struct stamp at)
{
    const struct tags_moment *base = &tags->base;
    double seconds = ((double)at.monotonic_us - (double)base->monotonic_us) / 1e6;
    for (size_t i = 0; i < tags->count; i++) {
        struct model_tag *tag = &tags->list[i];
        bool new = i >= base->count; // it was not there then: nothing was in it
        uint64_t calls = new ? 0 : base->calls[i];
        uint64_t allocated = new ? 0 : base->allocated[i];
        tag->calls_per_second = rate(tag->now.calls, calls, seconds);
        tag->allocated_per_second = rate(tag->now.allocated, allocated, seconds);
    }
}

void
tags_tick(struct tags_kept *tags, struct stamp at)
{
    if (tags->count == 0) {
        return;
    }
    tags->settled = true;
    if (tags->base.calls == NULL || at.monotonic_us < tags->base.monotonic_us) {
        free_moment(&tags->base);
        free_moment(&tags->middle);
        take_moment(&tags->base, tags, at);
        return; // two samples are needed
    }
    renew_rates(tags, at);
    if (tags->middle.calls == NULL) {
        if (at.monotonic_us - tags->base.monotonic_us >= RATE_US) {
            take_moment(&tags->middle, tags, at);
        }
    } else if (at.monotonic_us - tags->middle.monotonic_us >= RATE_US) {
        struct tags_moment moment = {0};
        if (take_moment(&moment, tags, at)) {
            free_moment(&tags->base);
            tags->base = tags->middle;
            tags->middle = moment;
        }
    }
}

/* Marks. */

bool
tags_mark(struct tags_kept *tags, int mark)
{
    uint64_t *live = malloc((tags->count + 1) * sizeof *live);
    if (live == NULL) {
        return false;
    }
    for (size_t i = 0; i < tags->count; i++) {
        live[i] = tags->list[i].now.live;
    }
    free(tags->marks[mark].live);
    tags->marks[mark] = (struct tags_mark){live, tags->count};
    return true;
}

void
tags_baseline(struct tags_kept *tags, int used)
{
    const struct tags_mark *mark = used == MODEL_MARK_NONE ? NULL : &tags->marks[used];
    tags->used = used;
    for (size_t i = 0; i < tags->count; i++) {
        double live = mark == NULL ? tags->list[i].first_live : 0;
        if (mark != NULL && mark->live == NULL) {
            live = (double)NAN;
        } else if (mark != NULL && i < mark->count) {
            live = mark->live[i] == COUNT_UNKNOWN ? (double)NAN : (double)mark->live[i];
        }
        tags->list[i].baseline_live = live;
    }
}

bool
tags_copy(struct tags_kept *copy, const struct tags_kept *tags)
{
    tags_init(copy);
    if (tags->count == 0) {
        return true;
    }
    copy->classes = malloc((tags->class_count + 1) * sizeof *copy->classes);
    if (copy->classes == NULL || !reserve(copy, tags->count)) {
        tags_destroy(copy);
        return false;
    }
    for (size_t i = 0; i < tags->class_count; i++) {
        copy->classes[copy->class_count++] = tags->classes[i];
    }
    for (size_t i = 0; i < tags->count; i++) {
        const char *raw = tags->list[i].raw;
        copy->texts[2 * i] = NULL;
        copy->texts[2 * i + 1] = NULL;
        copy->list[i] = tags->list[i];
        copy->count++;
        if (!name(copy, &copy->list[i], text_of(raw))) {
            tags_destroy(copy);
            return false;
        }
    }
    return true;
}

/* For readers. */

size_t
model_tag_count(const struct model *model)
{
    return model->tags.count;
}

const struct model_tag *
model_tag_at(const struct model *model, size_t index)
{
    return &model->tags.list[index];
}

const struct model_tag *
model_tag_find(const struct model *model, uint32_t id)
{
    return find(&model->tags, id);
}

size_t
model_tag_classes(const struct model *model, uint32_t id, const struct tag_class **list)
{
    const struct tags_kept *tags = &model->tags;
    size_t first = 0;
    while (first < tags->class_count && tags->classes[first].tag != id) {
        first++;
    }
    size_t count = 0;
    while (first + count < tags->class_count && tags->classes[first + count].tag == id) {
        count++;
    }
    *list = count > 0 ? tags->classes + first : NULL;
    return count;
}
