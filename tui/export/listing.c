#include "tui/export/listing.h"

#include <stdlib.h>
#include <string.h>

#include "tui/model/tree.h"

static bool
listed(const struct model_class *class, bool all)
{
    return class->listed && !class->gone && (all || !(class->flags & CLASS_INTERNAL));
}

bool
listing_named(const struct model *model, bool all)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (listed(class, all) && !*class->name) {
            return false;
        }
    }
    return true;
}

// COUNT_UNKNOWN + 1 is 0: what nobody measured sorts below nothing.
static int
by_live(const void *left, const void *right)
{
    const struct model_class *a = *(const struct model_class *const *)left;
    const struct model_class *b = *(const struct model_class *const *)right;

    if (a->now.live != b->now.live) {
        return a->now.live + 1 < b->now.live + 1 ? 1 : -1;
    }
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->serial < b->serial ? -1 : 1;
}

bool
listing_init(struct listing *listing, const struct model *model, bool all)
{
    size_t known = model_class_count(model);

    *listing = (struct listing){.count = 0};
    listing->classes = calloc(known + 1, sizeof(struct model_class *));
    if (!listing->classes) {
        return false;
    }
    for (size_t i = 0; i < known; i++) {
        const struct model_class *class = model_class_at(model, i);
        if (listed(class, all)) {
            listing->classes[listing->count++] = class;
        }
    }
    qsort(listing->classes, listing->count, sizeof(struct model_class *), by_live);
    return true;
}

bool
listing_traced(struct listing *listing, const struct model *model)
{
    size_t kept = 0;

    if (!listing_init(listing, model, true)) {
        return false;
    }
    for (size_t i = 0; i < listing->count; i++) {
        if (model_tree(model, listing->classes[i]->id)) {
            listing->classes[kept++] = listing->classes[i];
        }
    }
    listing->count = kept;
    return true;
}

void
listing_destroy(struct listing *listing)
{
    free(listing->classes);
    *listing = (struct listing){.count = 0};
}
