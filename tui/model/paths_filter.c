// What a filter keeps: hits, the way to them, and what is below them. Places are
// matched, not nodes: a million nodes stand at far fewer places.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/paths_state.h"

// Longer labels and paths are matched up to here.
#define MATCH_BYTES 4096

static bool
matches(const struct paths *paths, uint32_t node)
{
    const struct tree_frame *frame = tree_frame(paths->tree, node);
    char text[MATCH_BYTES];
    tree_label(paths->tree, node, text, sizeof text);
    if (strcasestr(text, paths->filter) != NULL) {
        return true;
    }
    snprintf(text, sizeof text, "%s:%u", frame->path,
             (unsigned)tree_line(paths->tree, node));
    return frame->path[0] != '\0' && strcasestr(text, paths->filter) != NULL;
}

// Match each place once, by the first node that stands there.
static bool
find_hits(struct paths *paths)
{
    struct paths_state *state = paths->state;
    uint8_t *known = calloc(state->places.count, 1); // 1: no hit, 2: a hit
    if (known == NULL) {
        return false;
    }
    for (uint32_t node = 1; node < state->kept_nodes; node++) {
        uint32_t place = state->places.of[node];
        if (known[place] == 0) {
            known[place] = matches(paths, node) ? 2 : 1;
            paths->work.matched++;
        }
        state->kept[node] = known[place] == 2 ? PATHS_KEPT_HIT : 0;
    }
    free(known);
    return true;
}

static void
spread(const struct tree_model *tree, uint8_t *kept, uint32_t count)
{
    kept[0] = 0;
    for (uint32_t node = 1; node < count; node++) {
        uint8_t above = kept[tree_parent(tree, node)];
        if ((above & (PATHS_KEPT_HIT | PATHS_KEPT_ABOVE)) != 0) {
            kept[node] |= PATHS_KEPT_ABOVE;
        }
    }
    for (uint32_t node = count; --node > 0;) {
        if ((kept[node] & (PATHS_KEPT_HIT | PATHS_KEPT_BELOW)) != 0) {
            kept[tree_parent(tree, node)] |= PATHS_KEPT_BELOW;
        }
    }
}

bool
paths_keep(struct paths *paths)
{
    struct paths_state *state = paths->state;
    uint32_t count = tree_node_count(paths->tree);
    if (paths->filter[0] == '\0') {
        free(state->kept);
        state->kept = NULL;
        state->kept_nodes = 0;
        state->kept_for[0] = '\0';
        return true;
    }
    if (strcmp(state->kept_for, paths->filter) != 0) {
        index_clear(&state->filter_hands);
        state->kept_nodes = 0;
    }
    if (state->kept_nodes == count && state->generation == tree_generation(paths->tree) &&
        state->names_version == tree_names_version(paths->tree)) {
        return true;
    }
    uint8_t *kept = realloc(state->kept, count + 1u);
    if (kept == NULL) {
        return false;
    }
    state->kept = kept;
    state->kept_nodes = count;
    snprintf(state->kept_for, sizeof state->kept_for, "%s", paths->filter);
    if (!find_hits(paths)) {
        state->kept_nodes = 0;
        return false;
    }
    spread(paths->tree, kept, count);
    return true;
}
