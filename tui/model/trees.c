#include "tui/model/trees.h"

#include <string.h>

void
trees_clear(struct trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        tree_store_free(trees->list[i]);
    }
    trees->count = 0;
    frames_destroy(&trees->frames);
}

void
trees_destroy(struct trees *trees)
{
    trees_clear(trees);
    *trees = (struct trees){0};
}

bool
trees_copy(struct trees *copy, const struct trees *trees)
{
    *copy = (struct trees){.generation = trees->generation};
    if (!frames_copy(&copy->frames, &trees->frames)) {
        return false;
    }
    for (; copy->count < trees->count; copy->count++) {
        struct tree_model *tree = tree_store_copy(trees->list[copy->count]);
        if (tree == NULL) {
            trees_destroy(copy);
            return false;
        }
        copy->list[copy->count] = tree;
    }
    return true;
}

static size_t
find(const struct trees *trees, class_id id)
{
    size_t at = 0;
    while (at < trees->count && trees->list[at]->class_id != id) {
        at++;
    }
    return at;
}

// Take a tree out of the list; it is the caller's then.
static struct tree_model *
take(struct trees *trees, size_t at)
{
    struct tree_model *tree = trees->list[at];
    trees->count--;
    memmove(&trees->list[at], &trees->list[at + 1],
            (trees->count - at) * sizeof trees->list[0]);
    return tree;
}

void
trees_sweep(struct trees *trees, const struct classes *classes)
{
    for (size_t i = trees->count; i-- > 0;) {
        if (classes_find(classes, trees->list[i]->class_id) == NULL) {
            tree_store_free(take(trees, i));
        }
    }
}

void
trees_renew(struct trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        trees->list[i]->version++;
    }
}

bool
trees_name(struct trees *trees, const struct frames *message)
{
    trees_renew(trees);
    return frames_apply(&trees->frames, message);
}

bool
trees_apply(struct trees *trees, const struct tree *message, struct stamp at)
{
    size_t place = find(trees, message->class_id);
    bool is_new = place == trees->count;
    struct tree_model *tree =
        is_new ? tree_store_new(message->class_id, trees->generation + 1)
               : trees->list[place];
    if (tree == NULL) {
        return false;
    }
    if (!tree_store_apply(tree, &trees->frames, message, at)) {
        if (is_new) {
            tree_store_free(tree);
        }
        return false;
    }
    if (!is_new) {
        take(trees, place);
    } else {
        trees->generation++;
    }
    if (trees->count == TREES_MAX) {
        tree_store_free(take(trees, 0));
    }
    trees->list[trees->count++] = tree;
    return true;
}

// Sums are made when they are asked for, which is here: a tree that nobody looks at
// costs nothing but its messages. To the reader nothing changes.
const struct tree_model *
trees_find(const struct trees *trees, const struct model_class *class, int mark)
{
    size_t place = find(trees, class->id);
    if (place == trees->count) {
        return NULL;
    }
    struct tree_model *tree = trees->list[place];
    tree->frames = &trees->frames;
    tree->class_name = class->name;
    tree->mark = mark;
    tree_store_sum(tree);
    return tree;
}

bool
trees_mark(struct trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        struct tree_model *tree = trees->list[i];
        if (!tree_store_keep(tree, &tree->pending, TREE_SECOND_BYTES)) {
            return false;
        }
    }
    return true;
}

bool
trees_take(struct trees *trees, int mark, const struct mark_state *state, bool goes_on)
{
    for (size_t i = 0; i < trees->count; i++) {
        struct tree_model *tree = trees->list[i];
        const struct tree_moment *before =
            goes_on ? tree_store_baseline(tree, mark) : NULL;
        if (!tree_store_take(tree, before, state->places, state->place_count)) {
            return false;
        }
    }
    return true;
}

void
trees_mark_done(struct trees *trees, int mark)
{
    for (size_t i = 0; i < trees->count; i++) {
        struct tree_model *tree = trees->list[i];
        struct tree_moment *baseline = tree_store_baseline(tree, mark);
        tree_store_drop(baseline);
        if (tree->pending.set) {
            *baseline = tree->pending;
            tree->pending = (struct tree_moment){0};
        }
    }
}
