#include "tui/model/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/paths_state.h"

void
paths_init(struct paths *paths)
{
    *paths = (struct paths){
        .shape = PATHS_CALLERS,
        .order = PATHS_BY_LIVE,
        .own_only = true,
        .threshold = 0.001,
        .stale = true,
    };
}

void
paths_destroy(struct paths *paths)
{
    struct paths_state *state = paths->state;
    if (state != NULL) {
        places_destroy(&state->places);
        index_destroy(&state->hands);
        index_destroy(&state->filter_hands);
        free(state->hidden);
        free(state->renamed);
        free(state->owners);
        free(state->kept);
        free(state);
    }
    free(paths->rows);
    paths_init(paths);
}

// A hand that was laid on a row stays on it under its new key.
static bool
move_hand(struct index *hands, uint64_t from, uint64_t to)
{
    size_t cursor = 0;
    uint32_t hand = index_next(hands, from, &cursor);
    if (hand == INDEX_NONE) {
        return true;
    }
    if (!index_reserve(hands, 1)) {
        return false;
    }
    index_remove(hands, from, hand);
    index_put(hands, to, hand);
    return true;
}

static bool
move_hands(struct index *hands, uint64_t from, uint64_t to)
{
    return from == to || (move_hand(hands, from, to) &&
                          move_hand(hands, paths_deep(from), paths_deep(to)));
}

// Nodes got other labels since rows were made: find the keys of the rows anew, each
// from its parent's. A row's node is good as long as the tree's generation.
static bool
rename_rows(struct paths *paths)
{
    struct paths_state *state = paths->state;
    uint64_t *pairs = realloc(state->renamed, (paths->count + 1) * 2 * sizeof *pairs);
    if (pairs == NULL) {
        return false;
    }
    state->renamed = pairs;
    state->renamed_count = paths->count;
    for (size_t i = 0; i < paths->count; i++) {
        struct paths_hidden *hidden = &state->hidden[i];
        const struct paths_row *row = &paths->rows[i];
        pairs[2 * i] = pairs[2 * i + 1] = hidden->key;
        if (row->depth > 0) {
            hidden->key = paths_build_key(state, state->hidden[hidden->parent].key,
                                          row->kind, state->places.of[row->node]);
            pairs[2 * i + 1] = hidden->key;
        }
        if (!move_hands(&state->hands, pairs[2 * i], hidden->key) ||
            !move_hands(&state->filter_hands, pairs[2 * i], hidden->key)) {
            return false;
        }
    }
    return true;
}

static bool
begin(struct paths *paths)
{
    if (paths->state == NULL) {
        paths->state = calloc(1, sizeof *paths->state);
        if (paths->state != NULL) {
            paths->state->leading = true;
        }
    }
    return paths->state != NULL;
}

bool
paths_update(struct paths *paths, const struct tree_model *tree)
{
    struct paths_state *state = paths->state;
    bool same = state != NULL && state->generation == tree_generation(tree);
    if (same && !paths->stale && paths->tree == tree &&
        paths->version == tree_version(tree)) {
        return true;
    }
    paths->tree = tree;
    paths->stale = true; // until all went well
    if (!begin(paths)) {
        return false;
    }
    state = paths->state;
    bool renamed = same && state->names_version != tree_names_version(tree);
    if (!same) {
        paths->count = 0; // their nodes were another tree's
        state->kept_nodes = 0;
    }
    if (!places_update(&state->places, tree) || (renamed && !rename_rows(paths)) ||
        (paths->shape == PATHS_FLAT && !places_find_topmost(&state->places, tree)) ||
        !paths_keep(paths)) {
        paths->count = 0;
        return false;
    }
    state->generation = tree_generation(tree);
    state->names_version = tree_names_version(tree);
    paths->version = tree_version(tree);
    paths->stale = !paths_build(paths);
    return !paths->stale;
}

void
paths_forget(struct paths *paths, bool keep)
{
    paths->count = 0;
    paths->tree = NULL;
    paths->stale = true;
    if (keep || paths->state == NULL) {
        return;
    }
    index_clear(&paths->state->hands);
    index_clear(&paths->state->filter_hands);
    paths->state->level = 0;
    paths->state->leading = true;
}

void
paths_renew(struct paths *paths)
{
    paths->stale = true;
}

static bool
lay_hand(struct index *hands, uint64_t key, uint32_t act, bool open)
{
    size_t cursor = 0;
    uint32_t before = index_next(hands, key, &cursor);
    if (before != INDEX_NONE) {
        index_remove(hands, key, before);
    }
    if (!index_reserve(hands, 1)) {
        return false;
    }
    index_put(hands, key, act * 2 + open);
    return true;
}

// From now on only hands open and close: what is open by itself stays so.
static bool
stop_leading(struct paths *paths)
{
    struct paths_state *state = paths->state;
    for (size_t i = 0; i < paths->count && state->leading; i++) {
        if (state->hidden[i].lead && paths->rows[i].open &&
            !lay_hand(&state->hands, state->hidden[i].key, ++state->acts, true)) {
            return false;
        }
    }
    state->leading = false;
    return true;
}

bool
paths_fold(struct paths *paths, size_t row, bool open, bool deep)
{
    if (row >= paths->count || !paths->rows[row].foldable ||
        (paths->rows[row].open == open && !deep) || !stop_leading(paths)) {
        return false;
    }
    struct paths_state *state = paths->state;
    struct index *hands = state->kept != NULL ? &state->filter_hands : &state->hands;
    paths->stale = true;
    uint64_t key = state->hidden[row].key;
    return lay_hand(hands, deep ? paths_deep(key) : key, ++state->acts, open);
}

void
paths_fold_level(struct paths *paths, uint32_t depth)
{
    if (!begin(paths)) {
        return;
    }
    index_clear(&paths->state->hands);
    index_clear(&paths->state->filter_hands);
    paths->state->level = depth;
    paths->state->leading = false;
    paths->stale = true;
}

size_t
paths_parent(const struct paths *paths, size_t row)
{
    return paths->state->hidden[row].parent;
}

uint64_t
paths_key(const struct paths *paths, size_t row)
{
    return paths->state->hidden[row].key;
}

static size_t
find(const struct paths *paths, uint64_t key)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (paths->state->hidden[i].key == key) {
            return i;
        }
    }
    return SIZE_MAX;
}

size_t
paths_find(const struct paths *paths, uint64_t key)
{
    size_t row = find(paths, key);
    size_t renamed = paths->state != NULL ? paths->state->renamed_count : 0;
    for (size_t i = 0; i < renamed && row == SIZE_MAX; i++) {
        if (paths->state->renamed[2 * i] == key) {
            return find(paths, paths->state->renamed[2 * i + 1]);
        }
    }
    return row;
}

void
paths_label(const struct paths *paths, size_t row, char *label, size_t size)
{
    const struct paths_row *at = &paths->rows[row];
    const char *plural = at->frames == 1 ? "" : "s";
    switch (at->kind) {
    case PATHS_ROW_NODE:
        tree_label(paths->tree, at->node, label, size);
        return;
    case PATHS_ROW_FOLDED:
        snprintf(label, size, "… %u frame%s in %s", (unsigned)at->frames, plural,
                 paths->state->owners[paths->state->hidden[row].owners]);
        return;
    case PATHS_ROW_REST:
        snprintf(label, size, "… %u more %s%s", (unsigned)at->frames,
                 paths->shape == PATHS_CALLERS ? "path" : "line", plural);
        return;
    }
}

void
paths_place(const struct paths *paths, size_t row, char *place, size_t size)
{
    const struct paths_row *at = &paths->rows[row];
    if (at->kind != PATHS_ROW_NODE) {
        snprintf(place, size, "%s", "");
        return;
    }
    paths_state_place(paths->state, tree_frame(paths->tree, at->node),
                      tree_line(paths->tree, at->node), place, size);
}
