/*
 * What the program's own captures follow: the objects of some classes, born from a
 * moment on, and how many of them are still there.
 *
 * Time is cut into spans: every capture that starts begins one. Objects of one class
 * born in one span are a lot, which has the counters; a second shadow table says
 * which lot a followed object is of. So a count is a sum over the few lots of a class,
 * however many objects there are, and a free of something older is nobody's.
 *
 * Where somebody listens, an object has a record instead, which knows its lot, and
 * its birth and its free become events in a queue. A record is the object's for good:
 * who takes the events later can confuse no two objects that had the same address.
 *
 * What is not followed costs a hook one test of a byte it has at hand. All memory is
 * given back when the last capture ends.
 *
 * Everything here runs under the GVL.
 */
#ifndef PROBE_CORE_FOLLOW_H
#define PROBE_CORE_FOLLOW_H

#include <pthread.h>

#include "probe/core/registry.h"
#include "probe/core/shadow.h"

#define FOLLOW_SEGMENT 16384u // lots and records come in such pieces
#define FOLLOW_SEGMENTS 1024u // of each at most

struct follow_lot {
    uint32_t class_index;
    class_id id; // of the class: rows are used again
    uint32_t span;
    uint32_t older; // of the same class, 0 for none
    uint64_t allocated;
    uint64_t freed;
};

// One listener's share in one object.
struct follow_record {
    uint32_t listener;
    uint32_t lot;
    uint32_t next; // record of the same object; or the next free one
};

struct follow_listener {
    uint32_t class_index;
    class_id id;   // of the class; 0: nobody's
    uint32_t next; // of the same class, 0 for none
};

struct follow {
    bool active;
    struct shadow shadow; // entries: number of a lot or record, and two bits of address
    struct follow_lot *lots[FOLLOW_SEGMENTS];       // owned
    struct follow_record *records[FOLLOW_SEGMENTS]; // owned
    uint32_t lot_count;                             // 0 is none
    uint32_t record_count;                          // ever used
    uint32_t free_record;
    uint32_t span;
    uint32_t *queue; // owned: records, twice each; a ring
    uint32_t queue_size;
    uint32_t queue_first;
    uint32_t queue_count;
    struct follow_listener *listeners; // owned
    uint32_t listener_count;
    bool muted;             // what `muted_thread` makes is not followed: it runs what
    pthread_t muted_thread; // listens, and to tell of that would never end
    uint64_t lost; // objects not followed, or events not told, for want of memory
};

struct follow_counts {
    uint64_t allocated;
    uint64_t freed;
};

enum follow_event {
    FOLLOW_BORN,
    FOLLOW_FREED,
};

// Spans from `from` up to and without `to`.
struct follow_spans {
    uint32_t from;
    uint32_t to;
};
#define FOLLOW_ALL_CLASSES 0u

// context: gvl. The first capture begins: false without memory. Ends with
// follow_end(), which also takes the marks off the registry's sites.
bool follow_begin(struct follow *follow);
void follow_end(struct follow *follow, struct registry *registry);

// context: gvl. What is born from now on is of a new span: its number, from 1.
uint32_t follow_span(struct follow *follow);

// context: gvl. One capture more that follows a class, or one less; and the same for
// all classes, those yet to come included, but not what has an odd key: no class.
void follow_class(struct registry *registry, uint32_t class_index, bool on);
void follow_all(struct registry *registry, bool on);

// context: gvl. Events for the objects of a class that are born from now on: a number
// for the listener, 0 without memory. It hears of the births until follow_unlisten(), of
// frees until follow_end().
uint32_t follow_listen(struct follow *follow, struct registry *registry,
                       uint32_t class_index);
void follow_unlisten(struct follow *follow, struct registry *registry, uint32_t listener);

// context: gvl. The next event, false when there is none. Who has taken FOLLOW_FREED
// must call follow_forget() when done with the record. While follow_mute() is on, what
// this thread makes is not followed: it is the listener's own.
void follow_mute(struct follow *follow, bool on);
bool follow_next(struct follow *follow, enum follow_event *event, uint32_t *record);
void follow_forget(struct follow *follow, uint32_t record);
uint32_t follow_listener_of(const struct follow *follow, uint32_t record);

// context: hook. An object of a followed class was born, or freed, at `address`.
void follow_born(struct follow *follow, const struct registry *registry,
                 uint32_t class_index, uintptr_t address);
void follow_freed(struct follow *follow, uintptr_t address);

// context: gvl, from the runtime's compaction. False when memory ran out.
bool follow_compacted(struct follow *follow, uintptr_t (*moved)(uintptr_t address));

// context: gvl. What became of the objects of a class, or of all, born in some spans.
struct follow_counts follow_count(const struct follow *follow,
                                  const struct registry *registry, uint32_t class_index,
                                  struct follow_spans spans);

// context: gvl. Visit those that are not freed, in order of address.
void follow_each(struct follow *follow, uint32_t class_index, struct follow_spans spans,
                 void (*visit)(void *context, uintptr_t address, uint32_t class_index),
                 void *context);

// context: gvl. Every lot of some spans, with its class, whose row may be another's.
void follow_each_lot(const struct follow *follow, struct follow_spans spans,
                     void (*visit)(void *context, const struct follow_lot *lot),
                     void *context);

// context: any. Bytes mapped.
size_t follow_bytes(const struct follow *follow);

#endif
