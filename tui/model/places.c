#include "tui/model/places.h"

#include <stdlib.h>
#include <string.h>

#include "tui/model/paths.h"

#define CAPACITY_MIN 64u

// Whose code a frame is.
enum ownership {
    OWNED_BY_PROGRAM,
    OWNED_BY_OTHERS,
    OWNED_BY_CALLER,
};

struct places_frame {
    uint64_t identity;
    uint32_t same; // the first slot of this label and path
    enum ownership ownership;
};

void
places_destroy(struct places *places)
{
    free(places->list);
    free(places->of);
    free(places->own_at);
    free(places->topmost);
    free(places->frames);
    index_destroy(&places->by_name);
    index_destroy(&places->by_hash);
    *places = (struct places){0};
}

static uint32_t
more(uint32_t capacity, uint32_t wanted)
{
    capacity = capacity != 0 ? capacity : CAPACITY_MIN;
    while (capacity < wanted) {
        capacity *= 2; // wanted is at most TREE_NODES_MAX
    }
    return capacity;
}

static bool
grow_frames(struct places *places, uint32_t wanted)
{
    if (wanted <= places->frame_capacity) {
        return true;
    }
    uint32_t capacity = more(places->frame_capacity, wanted);
    struct places_frame *frames = realloc(places->frames, capacity * sizeof *frames);
    if (frames == NULL) {
        return false;
    }
    places->frames = frames;
    places->frame_capacity = capacity;
    return true;
}

static bool
grow_nodes(struct places *places, uint32_t wanted)
{
    if (wanted <= places->node_capacity) {
        return true;
    }
    uint32_t capacity = more(places->node_capacity, wanted);
    uint32_t *of = realloc(places->of, capacity * sizeof *of);
    places->of = of != NULL ? of : places->of;
    uint32_t *own_at = realloc(places->own_at, capacity * sizeof *own_at);
    places->own_at = own_at != NULL ? own_at : places->own_at;
    bool *topmost = realloc(places->topmost, capacity * sizeof *topmost);
    places->topmost = topmost != NULL ? topmost : places->topmost;
    if (of == NULL || own_at == NULL || topmost == NULL) {
        return false;
    }
    places->node_capacity = capacity;
    return true;
}

static bool
grow_places(struct places *places)
{
    if (places->count < places->capacity) {
        return true;
    }
    uint32_t capacity = more(places->capacity, places->count + 1);
    struct place *list = realloc(places->list, capacity * sizeof *list);
    if (list == NULL) {
        return false;
    }
    places->list = list;
    places->capacity = capacity;
    return true;
}

static enum ownership
ownership_of(const struct tree_frame *frame)
{
    if (frame->id < FRAME_FIRST || frame->label[0] == '\0') {
        return OWNED_BY_PROGRAM; // or nobody knows yet
    }
    if ((frame->flags & FRAME_C) != 0 || frame->path[0] == '\0') {
        return OWNED_BY_CALLER;
    }
    return paths_is_own(frame->path) ? OWNED_BY_PROGRAM : OWNED_BY_OTHERS;
}

// What the program's own paths have in common, up to and with a slash.
static void
narrow_root(struct places *places, const struct tree_model *tree, uint32_t slot)
{
    const char *path = tree_frame_in(tree, slot)->path;
    if (places->frames[slot].ownership != OWNED_BY_PROGRAM || path[0] != '/') {
        return;
    }
    if (places->root_slot == 0) {
        places->root_slot = slot;
        places->root = (size_t)(strrchr(path, '/') - path) + 1;
        return;
    }
    const char *other = tree_frame_in(tree, places->root_slot)->path;
    size_t same = 0;
    for (size_t i = 0; i < places->root && path[i] == other[i]; i++) {
        same = path[i] == '/' ? i + 1 : same;
    }
    places->root = same;
}

static bool
add_frame(struct places *places, const struct tree_model *tree, uint32_t slot)
{
    const struct tree_frame *frame = tree_frame_in(tree, slot);
    bool named = frame->label[0] != '\0';
    uint64_t identity =
        named ? index_hash(index_hash(INDEX_HASH, frame->label), frame->path)
              : index_hash_number(INDEX_HASH, frame->id);
    uint32_t same = slot;
    size_t cursor = 0;
    for (uint32_t at;
         named && same == slot &&
         (at = index_next(&places->by_name, identity, &cursor)) != INDEX_NONE;) {
        const struct tree_frame *other = tree_frame_in(tree, at);
        bool equal = strcmp(other->label, frame->label) == 0 &&
                     strcmp(other->path, frame->path) == 0;
        same = equal ? at : same;
    }
    if (same == slot) {
        if (!index_reserve(&places->by_name, 1)) {
            return false;
        }
        index_put(&places->by_name, identity, slot);
    }
    places->frames[slot] = (struct places_frame){identity, same, ownership_of(frame)};
    narrow_root(places, tree, slot);
    return true;
}

static bool
add_frames(struct places *places, const struct tree_model *tree)
{
    uint32_t count = tree_frame_slots(tree);
    if (!grow_frames(places, count)) {
        return false;
    }
    for (; places->frame_count < count; places->frame_count++) {
        if (!add_frame(places, tree, places->frame_count)) {
            return false;
        }
    }
    // texts move when a model is copied
    places->root_of =
        places->root_slot != 0 ? tree_frame_in(tree, places->root_slot)->path : NULL;
    return true;
}

// The number of a place, given if need be. False when memory ran out.
static bool
number(struct places *places, const struct place *place, uint32_t *out)
{
    uint64_t hash =
        index_hash_number(index_hash_number(place->frame, place->line), place->block);
    size_t cursor = 0;
    while ((*out = index_next(&places->by_hash, hash, &cursor)) != INDEX_NONE) {
        const struct place *known = &places->list[*out];
        if (known->frame == place->frame && known->line == place->line &&
            known->block == place->block) {
            return true;
        }
    }
    if (!grow_places(places) || !index_reserve(&places->by_hash, 1)) {
        return false;
    }
    *out = places->count++;
    places->list[*out] = *place;
    index_put(&places->by_hash, hash, *out);
    return true;
}

static bool
add_node(struct places *places, const struct tree_model *tree, uint32_t node)
{
    const struct places_frame *frame = &places->frames[tree_frame_slot(tree, node)];
    const struct place place = {frame->same, tree_line(tree, node),
                                tree_block(tree, node)};
    places->visits++;
    if (!number(places, &place, &places->of[node])) {
        return false;
    }
    uint32_t parent = tree_parent(tree, node);
    bool own =
        frame->ownership == OWNED_BY_PROGRAM ||
        (frame->ownership == OWNED_BY_CALLER && parent != TREE_NONE && parent != 0 &&
         places_own(places, parent) && tree_frame(tree, parent)->id >= FRAME_FIRST);
    uint32_t above = parent != TREE_NONE ? places->own_at[parent] : 0;
    places->own_at[node] = own ? node : above;
    return true;
}

bool
places_update(struct places *places, const struct tree_model *tree)
{
    bool shorter = places->nodes > tree_node_count(tree) || // an older copy
                   places->frame_count > tree_frame_slots(tree);
    if (shorter || places->generation != tree_generation(tree) ||
        places->names_version != tree_names_version(tree)) {
        places->nodes = places->topmost_nodes = 0;
        places->count = places->frame_count = 0;
        places->root_slot = 0;
        index_clear(&places->by_name);
        index_clear(&places->by_hash);
        places->generation = tree_generation(tree);
        places->names_version = tree_names_version(tree);
    }
    uint32_t count = tree_node_count(tree);
    if (!add_frames(places, tree) || !grow_nodes(places, count)) {
        return false;
    }
    for (; places->nodes < count; places->nodes++) {
        if (!add_node(places, tree, places->nodes)) {
            return false;
        }
    }
    return true;
}

// Walk all paths once and count on the way down how often each place is above.
bool
places_find_topmost(struct places *places, const struct tree_model *tree)
{
    if (places->topmost_nodes == places->nodes) {
        return true;
    }
    uint32_t *above = calloc(places->count, sizeof *above);
    if (above == NULL) {
        return false;
    }
    uint32_t node = 0;
    while (node != TREE_NONE) {
        places->topmost[node] = above[places->of[node]]++ == 0;
        uint32_t next = tree_first_child(tree, node);
        while (next == TREE_NONE && node != TREE_NONE) {
            above[places->of[node]]--;
            next = tree_next_sibling(tree, node);
            node = tree_parent(tree, node);
        }
        node = next;
    }
    free(above);
    places->visits += places->nodes;
    places->topmost_nodes = places->nodes;
    return true;
}

uint64_t
places_identity(const struct places *places, uint32_t place)
{
    const struct place *at = &places->list[place];
    return index_hash_number(places->frames[at->frame].identity, at->line) | 1;
}

bool
places_own(const struct places *places, uint32_t node)
{
    return places->own_at[node] == node;
}
