/*
 * What the model knows of the program's tags: their figures, how fast they change, what
 * they were at the marks. Read through here; model.c applies messages to it.
 *
 * As much is kept as a probe of this version sends; one that sends more is believed
 * that far.
 */
#ifndef TUI_MODEL_TAGS_H
#define TUI_MODEL_TAGS_H

#include "tui/model/model.h"

#define MODEL_TAGS_MAX 4096u
#define MODEL_TAG_CLASSES_MAX 100000u // kept of the classes of all tags that are told

struct model_tag {
    uint32_t id;
    const char *text; // "route=orders#show tenant=acme": escaped, terminated; "" until
                      // it is known
    const char *raw;  // the same with a line for each key, not escaped, terminated
    bool listed;      // figures came for it
    struct tag_row now;
    double calls_per_second; // over some 5 to 10 s; NAN while unknown
    double allocated_per_second;
    double retained;      // objects that survived two collections or more, at the last
                          // census; NAN before one
    double baseline_live; // at the mark in use, or when first seen; NAN: not known then
    double first_live;    // when first seen: 0 of one that came while we looked
};

// Tags known, in order of their ids. Good until the next model_apply().
size_t model_tag_count(const struct model *model);
const struct model_tag *model_tag_at(const struct model *model, size_t index);
const struct model_tag *model_tag_find(const struct model *model, uint32_t id);

// The classes of a tag, as far as the probe was asked for them. Returns how many.
size_t model_tag_classes(const struct model *model, uint32_t id,
                         const struct tag_class **list);

// What of counts by age, COUNT_UNKNOWN or not, survived two collections; NAN for unknown.
double model_retained(const uint64_t ages[AGE_BUCKETS]);

/* For model.c and snapshot.c. */

struct tags_moment {
    uint64_t monotonic_us;
    uint64_t *calls; // owned, by index
    uint64_t *allocated;
    size_t count;
};

struct tags_mark {
    uint64_t *live; // owned, by index; NULL: not set, or not known
    size_t count;
};

struct tags_kept {
    struct model_tag *list; // owned
    char **texts;           // owned, beside it: escaped and raw, two for each
    size_t count;
    size_t capacity;
    struct tag_class *classes; // owned, in order of tags
    size_t class_count;
    bool settled;            // what comes now was not there when we connected
    int used;                // the mark in use
    struct tags_moment base; // 5 to 10 s ago
    struct tags_moment middle;
    struct tags_mark marks[MODEL_MARKS_MAX];
};

// Destroying tags leaves none, and the mark in use as it is.
void tags_init(struct tags_kept *tags);
void tags_destroy(struct tags_kept *tags);

// False when memory ran out; what was taken before that stays.
bool tags_apply(struct tags_kept *tags, const struct tags_state *state);

// A sample came: rates are of the time since the ones before it.
void tags_tick(struct tags_kept *tags, struct stamp at);

// Live objects are what they are at this mark; the baseline is of mark `used`.
bool tags_mark(struct tags_kept *tags, int mark);
void tags_baseline(struct tags_kept *tags, int used);

// False when memory ran out; `copy` is then empty.
bool tags_copy(struct tags_kept *copy, const struct tags_kept *tags);

#endif
