#include "probe/core/feed.h"

#include <stdlib.h>
#include <string.h>

// A frame of names, or of rows, holds at most this many: far below
// FRAME_BODY_MAX even if every one is as long as it may be.
#define NAMES_A_FRAME 2000u
#define ROWS_A_FRAME 200000u

struct feed_seen {
    struct class_row row; // id 0: viewers know nothing of this class
    uint32_t name_edits;
    uint32_t flags; // that its name was told with
    bool named;
};

void
feed_destroy(struct feed *feed)
{
    free(feed->seen);
    free(feed->rows);
    free(feed->names);
    free(feed->gone);
    *feed = (struct feed){0};
}

void
feed_forget(struct feed *feed)
{
    if (feed->seen) {
        memset(feed->seen, 0, feed->seen_capacity * sizeof(*feed->seen));
    }
}

// The array with room for `capacity`; as it was, and `ok` false, without memory.
static void *
grow(void *array, uint32_t capacity, size_t size, bool *ok)
{
    void *grown = realloc(array, capacity * size);
    *ok &= grown != NULL;
    return grown ? grown : array;
}

static bool
reserve(struct feed *feed, uint32_t classes)
{
    if (feed->seen_capacity >= classes) {
        return true;
    }
    uint32_t capacity = classes + classes / 2 + 64;
    bool ok = true;
    feed->seen = grow(feed->seen, capacity, sizeof(*feed->seen), &ok);
    feed->rows = grow(feed->rows, capacity, sizeof(*feed->rows), &ok);
    feed->names = grow(feed->names, capacity, sizeof(*feed->names), &ok);
    feed->gone = grow(feed->gone, capacity, sizeof(*feed->gone), &ok);
    if (!ok) {
        return false;
    }
    memset(feed->seen + feed->seen_capacity, 0,
           (capacity - feed->seen_capacity) * sizeof(*feed->seen));
    feed->seen_capacity = capacity;
    return true;
}

// A name that nobody could ask the program for yet is sent empty, and again
// when it is known.
static struct class_name
name_of(const struct class_entry *entry, class_id id, uint32_t flags)
{
    return (struct class_name){id, flags, text_of(entry->name ? entry->name : "")};
}

static uint32_t
flags_of(const struct class_entry *entry)
{
    bool traced = atomic_load_explicit(&entry->traced, memory_order_relaxed);
    return atomic_load_explicit(&entry->flags, memory_order_relaxed) |
           (traced ? CLASS_TRACED : 0u) | (entry->pinned ? CLASS_PINNED : 0u);
}

static void
note_name(struct feed *feed, struct feed_seen *seen, const struct class_entry *entry,
          class_id id)
{
    uint32_t flags = flags_of(entry);
    if (seen->named && seen->name_edits == entry->name_edits && seen->flags == flags) {
        return;
    }
    seen->named = true;
    seen->name_edits = entry->name_edits;
    seen->flags = flags;
    feed->names[feed->name_count++] = name_of(entry, id, flags);
}

// Before its first walk is done, a census knows of nobody.
static bool
knows_live(const struct sample *sample)
{
    return mode_counts(sample->mode) ||
           (sample->mode == MODE_CENSUS && sample->probe.census_us > 0);
}

// Rows are asked for in order: what was read for this one, if anything was, comes
// next.
static struct site_counts
counts_of(struct feed *feed, const struct registry *registry, uint32_t index)
{
    while (feed->reading_count > 0 && feed->readings->class_index < index) {
        feed->readings++;
        feed->reading_count--;
    }
    bool read = feed->reading_count > 0 && feed->readings->class_index == index;
    return read ? feed->readings->counts : registry_counts(registry, index);
}

static struct class_row
row_of(struct feed *feed, const struct registry *registry, uint32_t index, class_id id,
       const struct sample *sample)
{
    struct site_counts counts = counts_of(feed, registry, index);
    const struct class_entry *entry = registry_class(registry, index);
    bool counted = mode_counts(sample->mode);
    return (struct class_row){
        .id = id,
        .live = knows_live(sample) ? counts.live : COUNT_UNKNOWN,
        .allocated = counted ? counts.allocated : COUNT_UNKNOWN,
        .freed = counted ? counts.freed : COUNT_UNKNOWN,
        .bytes = atomic_load_explicit(&entry->bytes, memory_order_acquire)};
}

static bool
same_row(const struct class_row *a, const struct class_row *b)
{
    return a->id == b->id && a->live == b->live && a->allocated == b->allocated &&
           a->freed == b->freed && a->bytes == b->bytes;
}

// A sum of what is known; unknown when nothing is.
static void
add_known(uint64_t *sum, uint64_t value)
{
    if (value != COUNT_UNKNOWN) {
        *sum = (*sum == COUNT_UNKNOWN ? 0 : *sum) + value;
    }
}

static void
add_totals(struct totals *totals, const struct class_row *row)
{
    add_known(&totals->live, row->live);
    add_known(&totals->allocated, row->allocated);
    add_known(&totals->freed, row->freed);
    add_known(&totals->bytes, row->bytes);
}

// A dead class without objects is told to be gone once; its row can then be used
// for another class.
static void
bury(struct class_entry *entry, const struct class_row *row)
{
    uint32_t dead = CLASS_STATE_DEAD;
    bool gone = row->live == 0 &&
                atomic_compare_exchange_strong(&entry->state, &dead, CLASS_STATE_GONE);
    if (gone) { // nobody watches it any more, nor what its row is used for next
        entry->watchers = 0;
        entry->pinned = false;
        entry->left_ns = 0;
    }
}

static void
visit_class(struct feed *feed, struct registry *registry, uint32_t index,
            const struct sample *sample)
{
    struct class_entry *entry = registry_class(registry, index);
    struct feed_seen *seen = &feed->seen[index];
    class_id id = atomic_load_explicit(&entry->id, memory_order_acquire);
    if (seen->row.id != id) {
        if (seen->row.id) {
            feed->gone[feed->gone_count++] = seen->row.id;
        }
        *seen = (struct feed_seen){0};
    }
    if (!id) {
        return;
    }
    struct class_row row = row_of(feed, registry, index, id, sample);
    add_totals(&feed->totals, &row);
    bury(entry, &row);
    note_name(feed, seen, entry, id);
    if (!same_row(&row, &seen->row)) {
        seen->row = row;
        feed->rows[feed->row_count++] = row;
    }
}

static bool
encode_names(const struct feed *feed, struct stamp at, struct buffer *out)
{
    for (uint32_t i = 0; i < feed->name_count; i += NAMES_A_FRAME) {
        uint32_t left = feed->name_count - i;
        struct message message = {
            .kind = MESSAGE_NAMES,
            .at = at,
            .names = {feed->names + i, left < NAMES_A_FRAME ? left : NAMES_A_FRAME}
        };
        if (!message_encode(out, &message)) {
            return false;
        }
    }
    return true;
}

// Rows beyond one frame follow as changes: their values are absolute anyway.
static bool
encode_rows(const struct feed *feed, struct sample sample, struct stamp at,
            struct buffer *out)
{
    sample.totals = feed->totals;
    sample.gone = feed->gone;
    sample.gone_count = feed->gone_count;
    uint32_t sent = 0;
    do {
        uint32_t left = feed->row_count - sent;
        sample.rows = feed->rows + sent;
        sample.row_count = left < ROWS_A_FRAME ? left : ROWS_A_FRAME;
        struct message message = {.kind = MESSAGE_SAMPLE, .at = at, .sample = sample};
        if (!message_encode(out, &message)) {
            return false;
        }
        sent += (uint32_t)sample.row_count;
        sample.key = false;
        sample.gone_count = 0;
    } while (sent < feed->row_count);
    return true;
}

static void
start(struct feed *feed)
{
    feed->row_count = 0;
    feed->name_count = 0;
    feed->gone_count = 0;
}

// What the totals are without any row: that of classes which are gone.
static struct totals
past_totals(const struct registry *registry, const struct sample *sample)
{
    bool counted = mode_counts(sample->mode);
    return (struct totals){
        .live = knows_live(sample) ? 0 : COUNT_UNKNOWN,
        .allocated = counted ? atomic_load(&registry->past_allocated) : COUNT_UNKNOWN,
        .freed = counted ? atomic_load(&registry->past_freed) : COUNT_UNKNOWN,
        .bytes = COUNT_UNKNOWN};
}

bool
feed_sample(struct feed *feed, struct registry *registry, struct sample *sample,
            struct stamp at, struct buffer *out)
{
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    if (!reserve(feed, count)) {
        return false;
    }
    start(feed);
    feed->totals = past_totals(registry, sample);
    for (uint32_t i = 1; i < count; i++) {
        visit_class(feed, registry, i, sample);
    }
    feed->reading_count = 0;
    return encode_names(feed, at, out) && encode_rows(feed, *sample, at, out);
}

bool
feed_seed(struct feed *feed, const struct registry *registry, const struct sample *sample,
          struct stamp at, struct buffer *out)
{
    start(feed);
    for (uint32_t i = 1; i < feed->seen_capacity; i++) {
        const struct feed_seen *seen = &feed->seen[i];
        if (!seen->row.id) {
            continue;
        }
        const struct class_entry *entry = registry_class(registry, i);
        if (entry->id == seen->row.id) {
            feed->names[feed->name_count++] = name_of(entry, seen->row.id, seen->flags);
            feed->rows[feed->row_count++] = seen->row;
        }
    }
    struct sample key = *sample;
    key.key = true;
    return encode_names(feed, at, out) && encode_rows(feed, key, at, out);
}
