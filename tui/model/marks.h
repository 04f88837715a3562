/*
 * Marks: live and bytes of every class at moments that a person chose.
 */
#ifndef TUI_MODEL_MARKS_H
#define TUI_MODEL_MARKS_H

#include "tui/model/classes.h"

struct mark {
    bool set;
    bool counted; // objects were counted then: a class it does not know had none
    struct model_mark at;
    uint32_t serial;  // of the class that came last before it
    size_t slots;     // length of the two arrays
    uint64_t *values; // owned: live of each slot, then bytes of each slot
};

struct marks {
    struct mark list[MODEL_MARKS_MAX]; // A to Z
    int used;                          // index, or MODEL_MARK_NONE
};

void marks_init(struct marks *marks);
void marks_destroy(struct marks *marks);

// False when memory ran out; `copy` is then empty.
bool marks_copy(struct marks *copy, const struct marks *marks);

// Keep what the classes are now. False when memory ran out; nothing changed then.
bool marks_set(struct marks *marks, int mark, const struct classes *classes,
               const struct model_mark *at);

// Keep what a message says they were. A class that has no id now cannot be listed: of
// the moment `now` its values are those of now. False when memory ran out; nothing
// changed then.
bool marks_take(struct marks *marks, const struct mark_state *state,
                const struct classes *classes, struct stamp now);

// Whether a mark that was told of as of `at` goes on with the one that is set.
bool marks_goes_on(const struct mark *mark, struct stamp at);

// Whether the mark knows of a class; one that it does not know of came later.
bool marks_knows(const struct mark *mark, const struct model_class *class);

// Give a class its baseline: from the mark in use, or since it was first seen.
void marks_baseline(const struct marks *marks, struct entry *entry);

#endif
