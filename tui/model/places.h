/*
 * The places of a tree: (frame, line), numbered from 0, each once however many
 * paths lead there. Two frames of one label and path are one: code that was loaded
 * again is another method to Ruby, the same to a person. This is where equal
 * siblings become one.
 *
 * Costs one pass over what is new; all of it again when a node that was there gets
 * another label.
 */
#ifndef TUI_MODEL_PLACES_H
#define TUI_MODEL_PLACES_H

#include "tui/model/index.h"
#include "tui/model/tree.h"

struct place {
    uint32_t frame; // slot of the first frame of this label and path
    uint32_t line;
    uint32_t block;
};

// Starts as all zeroes; destroying it twice is harmless.
struct places {
    struct place *list; // owned
    uint32_t count;
    uint32_t capacity;
    uint32_t *of;     // owned, by node: its place
    uint32_t *own_at; // owned, by node: itself or the nearest caller that is the
                      // program's own, 0 for none
    bool *topmost;    // owned, by node: no caller is at the same place; see below
    uint32_t nodes;
    uint32_t node_capacity;
    uint32_t topmost_nodes;      // how far `topmost` goes
    struct places_frame *frames; // owned, by slot
    uint32_t frame_count;
    uint32_t frame_capacity;
    struct index by_name; // slots by identity
    struct index by_hash; // places
    uint64_t generation;
    uint64_t names_version;
    size_t root;         // bytes of `root_of` that all the program's paths share
    uint32_t root_slot;  // whose path it is
    const char *root_of; // borrowed from the tree; NULL while there is none
    uint64_t visits;     // nodes looked at; work, for tests
};

void places_destroy(struct places *places);

// Bring up to date. False when memory ran out; nothing of it may be used then.
bool places_update(struct places *places, const struct tree_model *tree);

// Bring `topmost` up to date: one pass over all nodes when there are new ones.
bool places_find_topmost(struct places *places, const struct tree_model *tree);

// A number for a place that another connection gives it as well; never 0.
uint64_t places_identity(const struct places *places, uint32_t place);

// Whether a node is the program's own: its frame is, or it is a function in C that
// such a one called, or no place in the program at all.
bool places_own(const struct places *places, uint32_t node);

#endif
