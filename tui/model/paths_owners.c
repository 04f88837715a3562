// Whose frames a folded row hides, and how many.

#include <stdio.h>
#include <string.h>

#include "tui/model/paths_builder.h"

// Owners named in a folded row; more of them are dots.
#define OWNERS_SHOWN 3u

static bool
names(const char *list, const char *owner)
{
    size_t length = strlen(owner);
    for (const char *at = list; (at = strstr(at, owner)) != NULL; at++) {
        bool starts = at == list || at[-1] == ' ';
        if (starts && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void
name_owner(struct paths_fold *fold, const struct tree_frame *frame)
{
    char owner[PATHS_OWNERS_BYTES / 4];
    paths_owner(frame, owner, sizeof owner);
    size_t used = strlen(fold->text);
    if (owner[0] == '\0' || strcmp(owner, "C") == 0 || fold->owners > OWNERS_SHOWN ||
        names(fold->text, owner)) {
        return;
    }
    const char *comma = used > 0 ? ", " : "";
    bool more = fold->owners++ == OWNERS_SHOWN;
    snprintf(fold->text + used, sizeof fold->text - used, "%s%s", comma,
             more ? "…" : owner);
}

static void
fold_node(struct paths_builder *builder, struct paths_fold *fold, uint32_t node)
{
    const struct places *places = &builder->state->places;
    uint32_t slot = places->list[places->of[node]].frame;
    builder->looked_at++;
    builder->paths->work.folded++;
    if (builder->frame_stamp[slot] != builder->stamp) {
        builder->frame_stamp[slot] = builder->stamp;
        fold->frames++;
        name_owner(fold, tree_frame_in(builder->tree, slot));
    }
}

void
paths_owners_look(struct paths_builder *builder, const struct paths_item *item,
                  struct paths_fold *fold)
{
    const struct places *places = &builder->state->places;
    const struct tree_model *tree = builder->tree;
    builder->stamp++;
    for (size_t i = item->from; i < item->from + item->count; i++) {
        struct paths_member member = builder->members[i];
        if (builder->paths->shape == PATHS_FLAT) {
            fold_node(builder, fold, member.node);
        } else if (builder->paths->shape == PATHS_LINES) {
            uint32_t end = places->own_at[member.node];
            for (uint32_t at = member.node; at != end && !paths_find_tired(builder);
                 at = tree_parent(tree, at)) {
                fold_node(builder, fold, at);
            }
        } else {
            for (uint32_t at = member.node; at != TREE_NONE && !paths_find_tired(builder);
                 at = paths_find_next_folded(builder, member.node, at)) {
                if (!places_own(places, at)) {
                    struct tree_sum self = tree_store_self(tree, at);
                    tree_store_add(&fold->self, &self);
                    fold_node(builder, fold, at);
                }
            }
        }
    }
    if (fold->text[0] == '\0') {
        snprintf(fold->text, sizeof fold->text, "C");
    }
}
