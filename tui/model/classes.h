/*
 * The classes a model knows: found by id, by slot, or one after another.
 *
 * A class keeps its slot and serial as long as it is known, across reconnects.
 * An orphan is a class whose id died with its connection; the names of the next
 * connection tell which id it has now.
 */
#ifndef TUI_MODEL_CLASSES_H
#define TUI_MODEL_CLASSES_H

#include "tui/model/history.h"
#include "tui/model/index.h"
#include "tui/model/model.h"

// Counts at one moment, for rates.
struct anchor {
    uint64_t live;
    uint64_t allocated;
    uint64_t freed;
};

struct entry {
    struct model_class class; // first: what the world sees
    char *name;               // owned; what class.name shows, NULL until known
    struct history history;   // of live
    struct anchor anchors[2]; // older, newer
    uint64_t first_live;      // when first seen after connecting
    uint64_t first_bytes;
    char *reason;          // owned; what class.reason shows, NULL for none
    uint64_t gone_us;      // stamp at which it went
    uint64_t sample;       // number of the last sample that listed it
    uint32_t position;     // in classes.list
    uint32_t name_bytes;   // of name with its terminator, 0 without a name
    uint32_t reason_bytes; // of reason, likewise
    bool orphan;
};

// Starts as all zeroes; destroying it twice is harmless.
struct classes {
    struct entry **list;  // owned, `count` of them in no order
    struct entry **slots; // owned, NULL where free
    uint32_t *free_slots; // owned, `free_count` of them
    void *block;          // owned: all entries of a copy, NULL in an original
    struct index ids;
    struct index orphans; // by hash of the name; built when a name asks
    size_t count;
    size_t capacity; // of all three arrays
    size_t slot_count;
    size_t free_count;
    size_t orphan_count;
    uint32_t serial;  // of the class that came last
    uint64_t version; // grows when a class comes, goes or is named
};

void classes_destroy(struct classes *classes);

// False when memory ran out; `copy` is then empty.
bool classes_copy(struct classes *copy, const struct classes *classes);

// Take a verdict and `reason`, owned from now on.
void classes_judge(struct entry *entry, const struct verdict_row *row, char *reason);

// NULL when it is not known.
struct entry *classes_find(const struct classes *classes, class_id id);

// Add a class under an id that is not known yet, without a name or counts. NULL
// when memory ran out or MODEL_CLASSES_MAX are known.
struct entry *classes_add(struct classes *classes, class_id id);

void classes_remove(struct classes *classes, struct entry *entry);

// Remove those that came after the class with this serial.
void classes_remove_since(struct classes *classes, uint32_t serial);

// No id is known any more.
void classes_orphan(struct classes *classes);

// The id of a class is not known any more: it was `former` in an earlier connection.
// False when memory ran out.
bool classes_forsake(struct classes *classes, struct entry *entry, class_id former);

// Give a class its name, which the store then owns, and its flags.
void classes_name(struct classes *classes, struct entry *entry, char *name,
                  uint32_t flags);

// Get ready for classes_adopt(); false when memory ran out.
bool classes_prepare_adoption(struct classes *classes);

// Find the orphan of that name and give it the id; NULL when there is none.
struct entry *classes_adopt(struct classes *classes, class_id id, const char *name,
                            uint32_t flags);

#endif
