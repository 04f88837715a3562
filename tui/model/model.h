/*
 * What the viewer knows of a process: its classes, their history, totals,
 * marks. Messages are applied, views and exports read.
 *
 * Knows no terminal, no clock and no order on a screen (rows.h does that): time
 * is what the messages' stamps say. Texts that came from the program are escaped
 * when they are taken (text_escape), so that what is read here is fit for people.
 */
#ifndef TUI_MODEL_MODEL_H
#define TUI_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

// Seconds of history kept for each class and for the totals: two minutes.
#define MODEL_HISTORY 120

#define MODEL_MARKS_MAX 26 // A to Z
#define MODEL_MARK_NONE (-1)

// Classes and notices kept; a probe that sends more is believed that far.
#define MODEL_CLASSES_MAX 1000000u
#define MODEL_NOTICES_MAX 16u

// How long a class that is gone is kept, in the messages' time.
#define MODEL_GONE_KEPT_US (60u * 1000000u)

struct model;

struct model_class {
    class_id id;
    uint32_t slot;    // constant while the class is known, then used again; small
    uint32_t serial;  // never used twice, survives a reconnect
    uint32_t flags;   // enum class_flag, or-ed
    const char *name; // UTF-8, terminated, escaped; "" until known
    bool gone;        // no object left and not coming back; kept for a while
    bool listed;      // counts came for it; false while only its name is known
    struct class_row now;
    uint64_t baseline; // live at the mark in use, or when first seen after connecting
    uint64_t baseline_bytes;     // the same in bytes
    double live_per_second;      // objects, over some 5 to 10 s; NAN while unknown
    double allocated_per_second; // NAN while unknown
    double freed_per_second;     // NAN while unknown
    uint64_t verdict;            // enum verdict, the probe's opinion
    const char *reason;          // for it, in words: terminated, escaped; "" for none
    double ages[AGE_BUCKETS];    // of live objects, at the last census; NAN while unknown
};

struct model_mark {
    struct stamp at;
    uint64_t live; // totals at that moment
    uint64_t bytes;
};

struct model_notice {
    uint64_t id;
    uint64_t severity; // enum notice_severity
    const char *text;  // terminated, escaped
    struct stamp at;
};

// Per second, over the same window as the classes' rates. NAN while unknown.
struct model_rates {
    double live;
    double allocated;
    double freed;
    double rss_bytes_per_minute; // over up to a minute
    double gc_percent;           // of wall time
};

// What has a history beside the classes.
enum model_series {
    MODEL_SERIES_LIVE,
    MODEL_SERIES_RSS,
    MODEL_SERIES_COUNT,
};

struct model *model_new(void); // NULL when memory ran out
void model_free(struct model *model);

// The same at this moment, never to be applied to: what a paused screen shows.
// NULL when memory ran out.
struct model *model_copy(const struct model *model);

// Take a message from a probe. False when memory ran out; the model is then
// as it was, less this message, or less some of its names.
bool model_apply(struct model *model, const struct message *message);

// A new connection follows: ids will be defined anew, rates and history keep a
// gap. Classes go on under the ids that the new connection gives to their names;
// those missing from its first key sample are gone. A hello that comes after a sample
// does this by itself.
void model_reconnect(struct model *model);

// Grows with every message applied and every mark set or chosen.
uint64_t model_version(const struct model *model);

// Changes whenever a class came, went or got another name.
uint64_t model_names_version(const struct model *model);

// Classes known, in no particular order. Pointers are good until the next
// model_apply() or model_reconnect().
size_t model_class_count(const struct model *model);
const struct model_class *model_class_at(const struct model *model, size_t index);
const struct model_class *model_class_find(const struct model *model, class_id id);

// The class in a slot, NULL when it is free. Slots are below model_slots().
size_t model_slots(const struct model *model);
const struct model_class *model_class_in(const struct model *model, uint32_t slot);

// Seconds of history there are, at most MODEL_HISTORY; 0 before the first sample.
size_t model_history_seconds(const struct model *model);

// The last values of live, one for each second, oldest first; COUNT_UNKNOWN is a
// gap. Returns how many were written to `values`: at most MODEL_HISTORY, at most
// `capacity`, and no more than seconds have passed.
size_t model_history(const struct model *model, const struct model_class *class,
                     uint64_t *values, size_t capacity);
size_t model_series(const struct model *model, enum model_series series, uint64_t *values,
                    size_t capacity);

const struct model_rates *model_rates(const struct model *model);

// Marks: `mark` is 0 for A to MODEL_MARKS_MAX - 1 for Z. Setting keeps live and
// bytes of every class as they are now; the mark in use gives the classes their
// baseline. MODEL_MARK_NONE is "since connecting". Setting is false when memory
// ran out, and the mark then as it was.
bool model_mark_set(struct model *model, int mark);
bool model_mark_use(struct model *model, int mark); // false when it is not set
int model_mark_used(const struct model *model);
const struct model_mark *model_mark(const struct model *model, int mark); // or NULL

// The probe has said of some class what it thinks.
bool model_judged(const struct model *model);

size_t model_notice_count(const struct model *model);
const struct model_notice *model_notice_at(const struct model *model, size_t index);

// The last hello, sample header and bye; fields are zero or COUNT_UNKNOWN before.
// Texts are borrowed from the model, terminated and escaped.
const struct hello *model_hello(const struct model *model);
const struct sample *model_sample(const struct model *model); // rows are not kept
const struct bye *model_bye(const struct model *model);       // NULL while none came
struct stamp model_time(const struct model *model);           // of the last sample
bool model_sampled(const struct model *model);                // a sample came

// The sample since which baselines count while no mark is in use: the first one of
// this process.
struct stamp model_connected(const struct model *model);

// The hello replaced one of another process: a restart, an exec, another program.
bool model_restarted(const struct model *model);

#endif
