#include "probe/core/tagfeed.h"

#include <stdlib.h>
#include <string.h>

// In one frame: far below FRAME_BODY_MAX even if every row is as long as it may be.
#define NAMES_A_FRAME 1000u
#define CLASSES_A_FRAME 50000u

void
tagfeed_destroy(struct tagfeed *feed)
{
    free(feed->rows);
    free(feed->now);
    free(feed->changed);
    free(feed->wanted);
    free(feed->classes);
    *feed = (struct tagfeed){0};
}

void
tagfeed_forget(struct tagfeed *feed)
{
    feed->count = 0;
    feed->named = 0;
    feed->anew = true;
}

static bool
begin(struct tagfeed *feed)
{
    if (feed->wanted) {
        return true;
    }
    feed->rows = calloc(TAGS_MAX, sizeof(*feed->rows));
    feed->now = calloc(TAGS_MAX, sizeof(*feed->now));
    feed->changed = calloc(TAGS_MAX, sizeof(*feed->changed));
    feed->wanted = calloc(TAGS_MAX, sizeof(*feed->wanted));
    feed->anew = true;
    if (!feed->rows || !feed->now || !feed->changed || !feed->wanted) {
        tagfeed_destroy(feed);
        return false;
    }
    return true;
}

void
tagfeed_want(struct tagfeed *feed, uint32_t tag)
{
    if (tag && tag < TAGS_MAX && begin(feed)) {
        feed->wanted[tag] = true;
    }
}

void
tagfeed_want_none(struct tagfeed *feed)
{
    if (feed->wanted) {
        memset(feed->wanted, 0, TAGS_MAX * sizeof(*feed->wanted));
    }
}

/* Readings. */

static uint64_t
load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static void
add_known(uint64_t *sum, uint64_t value)
{
    if (value != COUNT_UNKNOWN) {
        *sum = (*sum == COUNT_UNKNOWN ? 0 : *sum) + value;
    }
}

// What the last census saw of a site. One that nobody weighed says nothing of ages
// either, but for objects that were seen.
static void
add_census(uint64_t *bytes, uint64_t *ages, const struct site_census *census)
{
    uint64_t weighed = load(&census->bytes);
    add_known(bytes, weighed);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        uint32_t aged = atomic_load_explicit(&census->ages[i], memory_order_acquire);
        if (aged || weighed != COUNT_UNKNOWN) {
            add_known(&ages[i], aged);
        }
    }
}

static bool
add_class(struct tagfeed *feed, const struct tag_class *row)
{
    if (feed->class_count == feed->class_capacity) {
        uint32_t capacity = feed->class_capacity * 2 + 256;
        struct tag_class *classes = realloc(feed->classes, capacity * sizeof(*classes));
        if (!classes) {
            return false;
        }
        feed->classes = classes;
        feed->class_capacity = capacity;
    }
    feed->classes[feed->class_count++] = *row;
    return true;
}

// The row of a class for a tag that is wanted: `first` is the class's first row.
static struct tag_class *
class_row(struct tagfeed *feed, uint32_t first, uint32_t tag, class_id id)
{
    for (uint32_t i = first; i < feed->class_count; i++) {
        if (feed->classes[i].tag == tag) {
            return &feed->classes[i];
        }
    }
    struct tag_class row = {.tag = tag, .class_id = id, .bytes = COUNT_UNKNOWN};
    memset(row.ages, 0xff, sizeof(row.ages));
    return add_class(feed, &row) ? &feed->classes[feed->class_count - 1] : NULL;
}

static bool
read_site(struct tagfeed *feed, const struct registry *registry, site_id id,
          uint32_t first, class_id class)
{
    const struct site *site = registry_site(registry, id);
    const struct site_census *census = registry_seen(registry, id);
    uint32_t tag = atomic_load_explicit(&site->tag, memory_order_relaxed);
    if (!tag || tag >= feed->count) {
        return true; // without one, or one that came after the count was read
    }
    struct tag_row *row = &feed->now[tag];
    uint64_t freed = load(&site->freed);
    uint64_t found = load(&site->found);
    uint64_t allocated = load(&site->allocated);
    row->freed += freed;
    row->allocated += allocated;
    row->live += allocated + found - freed;
    add_census(&row->bytes, row->ages, census);
    if (!feed->wanted[tag]) {
        return true;
    }
    struct tag_class *part = class_row(feed, first, tag, class);
    if (!part) {
        return false;
    }
    part->allocated += allocated;
    part->live += allocated + found - freed;
    add_census(&part->bytes, part->ages, census);
    return true;
}

static bool
read_classes(struct tagfeed *feed, const struct registry *registry)
{
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        class_id class = atomic_load_explicit(&entry->id, memory_order_acquire);
        site_id id = atomic_load_explicit(&entry->paths, memory_order_acquire);
        uint32_t first = feed->class_count;
        while (id) {
            if (!read_site(feed, registry, id, first, class)) {
                return false;
            }
            id = atomic_load_explicit(&registry_site(registry, id)->next,
                                      memory_order_acquire);
        }
    }
    return true;
}

// Calls, and objects of classes that are gone.
static void
start(struct tagfeed *feed, const struct tags *tags, const struct registry *registry,
      bool counted)
{
    const struct tag_past *past =
        atomic_load_explicit(&registry->tag_past, memory_order_acquire);
    for (uint32_t i = TAG_OTHER; i < feed->count; i++) {
        const struct tag_entry *entry = tags_entry(tags, i);
        struct tag_row *row = &feed->now[i];
        memset(row, 0xff, sizeof(*row)); // COUNT_UNKNOWN
        row->id = i;
        row->calls = load(&entry->calls);
        row->active = load(&entry->active);
        if (counted) {
            row->freed = past ? load(&past[i].freed) : 0;
            row->allocated = past ? load(&past[i].allocated) : 0;
            row->live = 0;
        }
    }
}

static int
compare_classes(const void *left, const void *right)
{
    const struct tag_class *a = left;
    const struct tag_class *b = right;
    return a->tag != b->tag ? (a->tag > b->tag) - (a->tag < b->tag)
                            : (a->class_id > b->class_id) - (a->class_id < b->class_id);
}

static bool
same_row(const struct tag_row *a, const struct tag_row *b)
{
    return a->id == b->id && memcmp(&a->calls, &b->calls,
                                    sizeof(*a) - offsetof(struct tag_row, calls)) == 0;
}

bool
tagfeed_read(struct tagfeed *feed, const struct tags *tags,
             const struct registry *registry, bool counted)
{
    uint32_t before = feed->count;
    uint32_t count = tags ? atomic_load_explicit(&tags->count, memory_order_acquire) : 0;
    feed->class_count = 0;
    if (count == 0) {
        return true;
    }
    if (!begin(feed)) {
        return false;
    }
    feed->count = count;
    start(feed, tags, registry, counted);
    if (counted && !read_classes(feed, registry)) {
        return false;
    }
    for (uint32_t i = TAG_OTHER; i < count; i++) {
        feed->changed[i] = i >= before || !same_row(&feed->now[i], &feed->rows[i]);
        feed->rows[i] = feed->now[i];
    }
    if (feed->class_count > 0) {
        qsort(feed->classes, feed->class_count, sizeof(*feed->classes), compare_classes);
    }
    return true;
}

/* Messages. */

// Nobody needs to know of a place for what there was no room for, until there is.
static bool
is_told(const struct tagfeed *feed, uint32_t tag)
{
    const struct tag_row *row = &feed->rows[tag];
    return tag != TAG_OTHER || row->calls || row->active ||
           (row->allocated && row->allocated != COUNT_UNKNOWN);
}

static bool
encode_names(const struct tags *tags, uint32_t from, uint32_t to, bool *key,
             struct stamp at, struct buffer *out)
{
    struct tag_name names[NAMES_A_FRAME];
    while (from < to) {
        uint32_t count = 0;
        while (from < to && count < NAMES_A_FRAME) {
            const struct tag_entry *entry = tags_entry(tags, from);
            names[count++] = (struct tag_name){
                from++, {entry->text, entry->length}
            };
        }
        struct message message = {
            .kind = MESSAGE_TAGS,
            .at = at,
            .tags = {.key = *key, .names = names, .name_count = count}
        };
        if (!message_encode(out, &message)) {
            return false;
        }
        *key = false;
    }
    return true;
}

static bool
encode_rows(const struct tagfeed *feed, bool all, struct stamp at, struct buffer *out)
{
    uint32_t count = 0;
    for (uint32_t i = TAG_OTHER; i < feed->count; i++) {
        if ((all || feed->changed[i]) && is_told(feed, i)) {
            feed->now[count++] = feed->rows[i];
        }
    }
    uint32_t classes =
        feed->class_count < CLASSES_A_FRAME ? feed->class_count : CLASSES_A_FRAME;
    struct message message = {
        .kind = MESSAGE_TAGS,
        .at = at,
        .tags = {.rows = feed->now,
                 .row_count = count,
                 .classes = feed->classes,
                 .class_count = classes}
    };
    return (!count && !classes) || message_encode(out, &message);
}

bool
tagfeed_changes(struct tagfeed *feed, const struct tags *tags, struct stamp at,
                struct buffer *out)
{
    bool key = feed->anew;
    uint32_t from = feed->named ? feed->named : TAG_OTHER;
    if (feed->count == 0) {
        return true;
    }
    bool told = encode_names(tags, from, feed->count, &key, at, out) &&
                encode_rows(feed, feed->anew, at, out);
    feed->anew = !told;
    feed->named = told ? feed->count : 0;
    return told;
}

bool
tagfeed_seed(const struct tagfeed *feed, const struct tags *tags, struct stamp at,
             struct buffer *out)
{
    bool key = true;
    return feed->count == 0 ||
           (encode_names(tags, TAG_OTHER, feed->count, &key, at, out) &&
            encode_rows(feed, true, at, out));
}
