/*
 * What the frames of all trees are called. A frame has a slot from when anything
 * first speaks of it, a name once the probe could ask for it.
 */
#ifndef TUI_MODEL_FRAMES_H
#define TUI_MODEL_FRAMES_H

#include "tui/model/index.h"
#include "tui/model/tree.h"

// The slot of frames there was no room for; those of the special frames are their
// numbers.
#define FRAMES_UNKNOWN (FRAME_FIRST - 1u)

// Names and paths kept, all together; a frame beyond stays without a name.
#define FRAMES_BYTES_MAX (256u * 1024 * 1024)

// Starts as all zeroes; destroying it twice is harmless.
struct frames_kept {
    struct tree_frame *list; // owned, by slot; label owns the texts of its frame
    uint32_t count;
    uint32_t capacity;
    struct index ids;
    size_t bytes;     // of all texts
    uint64_t renamed; // grows when a frame that was known gets a name
};

void frames_destroy(struct frames_kept *frames);

// False when memory ran out; `copy` is then empty.
bool frames_copy(struct frames_kept *copy, const struct frames_kept *frames);

// The slot of a frame, made if need be. False when memory ran out.
bool frames_slot(struct frames_kept *frames, uint32_t id, uint32_t *slot);

// The path as it came. // borrowed
struct text frames_path(const struct tree_frame *frame);

// Take names. Those given before memory ran out stay: each is true by itself.
bool frames_apply(struct frames_kept *frames, const struct frames *message);

#endif
