#include "tui/export/stacks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tui/export/listing.h"
#include "tui/export/words.h"

// Above it a double has no fractions, and what is added is not exact any more.
#define EXACT_MAX 9007199254740992.0

// What rounding down took from a row.
struct share {
    double fraction;
    size_t row;
};

static double
figure_of(const struct tree_counts *counts, unsigned figure)
{
    switch (figure) {
    case STACKS_LIVE:
        return counts->live;
    case STACKS_ALLOCATED:
        return counts->allocated;
    case STACKS_BYTES:
        return counts->bytes;
    default:
        return counts->ages[figure - STACKS_AGES];
    }
}

static int
by_fraction(const void *left, const void *right)
{
    const struct share *a = left;
    const struct share *b = right;

    if (a->fraction != b->fraction) {
        return a->fraction < b->fraction ? 1 : -1;
    }
    return a->row < b->row ? -1 : 1;
}

// Round one column so that it adds up to `whole`, if that is its sum at all: a tree
// whose parts contradict it keeps its parts.
static void
round_column(struct stacks *stacks, unsigned figure, const struct tree_counts *counts,
             double whole, struct share *shares)
{
    uint64_t given = 0;
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < stacks->count; i++) {
        double value = figure_of(&counts[i], figure);
        if (!(value < (double)INT64_MAX)) { // NAN neither
            stacks->rows[i].figures[figure] = COUNT_UNKNOWN;
            continue;
        }
        value = value > 0 ? value : 0;
        sum += value;
        stacks->rows[i].figures[figure] = (uint64_t)value;
        given += (uint64_t)value;
        shares[known++] = (struct share){value - floor(value), i};
    }
    if (sum >= EXACT_MAX) {
        return;
    }
    uint64_t wanted = (uint64_t)llround(fabs(whole - sum) < 1 ? whole : sum);
    if (given < wanted) {
        qsort(shares, known, sizeof(*shares), by_fraction);
    }
    for (size_t i = 0; i < known && given < wanted; i++, given++) {
        stacks->rows[shares[i].row].figures[figure]++;
    }
}

// Unknown + 1 is 0: it comes last.
static int
by_live(const void *left, const void *right)
{
    const struct stacks_row *a = left;
    const struct stacks_row *b = right;
    uint64_t live_a = a->figures[STACKS_LIVE] + 1;
    uint64_t live_b = b->figures[STACKS_LIVE] + 1;

    if (live_a != live_b) {
        return live_a < live_b ? 1 : -1;
    }
    return a->node < b->node ? -1 : 1;
}

// What a node itself holds. Of what no path accounts for nothing is known but how much
// it is.
static struct tree_counts
own(const struct tree_model *tree, uint32_t node)
{
    struct tree_counts self = tree_self(tree, node);

    if (node == 0) {
        self.bytes = (double)NAN;
        for (unsigned i = 0; i < AGE_BUCKETS; i++) {
            self.ages[i] = (double)NAN;
        }
    }
    return self;
}

static bool
has_own(const struct tree_model *tree, uint32_t node)
{
    struct tree_counts self = own(tree, node);
    return self.live > 0 || self.allocated > 0;
}

// Room for rows, what they are made from, and the deepest path.
static bool
reserve(struct stacks *stacks, struct tree_counts **counts, struct share **shares)
{
    uint32_t nodes = tree_node_count(stacks->tree);
    size_t rows = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        if (has_own(stacks->tree, node)) {
            size_t depth = tree_depth(stacks->tree, node);
            stacks->depth = depth > stacks->depth ? depth : stacks->depth;
            rows++;
        }
    }
    stacks->rows = calloc(rows + 1, sizeof(*stacks->rows));
    stacks->path = calloc(stacks->depth + 1, sizeof(*stacks->path));
    *counts = calloc(rows + 1, sizeof(**counts));
    *shares = calloc(rows + 1, sizeof(**shares));
    return stacks->rows && stacks->path && *counts && *shares;
}

static void
fill(struct stacks *stacks, struct tree_counts *counts, struct share *shares)
{
    uint32_t nodes = tree_node_count(stacks->tree);
    struct tree_counts whole = tree_total(stacks->tree, 0);

    for (uint32_t node = 0; node < nodes; node++) {
        if (has_own(stacks->tree, node)) {
            counts[stacks->count] = own(stacks->tree, node);
            stacks->rows[stacks->count] =
                (struct stacks_row){.node = node, .error = counts[stacks->count].error};
            stacks->count++;
        }
    }
    for (unsigned figure = 0; figure < STACKS_FIGURES; figure++) {
        round_column(stacks, figure, counts, figure_of(&whole, figure), shares);
    }
    qsort(stacks->rows, stacks->count, sizeof(*stacks->rows), by_live);
}

static void
stacks_destroy(struct stacks *stacks)
{
    free(stacks->rows);
    free(stacks->path);
}

static bool
stacks_init(struct stacks *stacks, const struct model *model,
            const struct model_class *class)
{
    struct tree_counts *counts = NULL;
    struct share *shares = NULL;

    *stacks = (struct stacks){.class = class, .tree = model_tree(model, class->id)};
    stacks->name = words_class(class, stacks->spare, sizeof(stacks->spare));
    bool made = reserve(stacks, &counts, &shares);
    if (made) {
        fill(stacks, counts, shares);
    }
    free(counts);
    free(shares);
    return made;
}

bool
stacks_each(const struct model *model, stacks_taker *take, void *context)
{
    struct listing listing;
    struct stacks stacks;
    bool good = listing_traced(&listing, model);

    if (!good) {
        errno = ENOMEM;
        return false;
    }
    for (size_t i = 0; good && i < listing.count; i++) {
        good = stacks_init(&stacks, model, listing.classes[i]);
        if (!good) {
            errno = ENOMEM;
        }
        good = good && take(context, &stacks);
        stacks_destroy(&stacks);
    }
    listing_destroy(&listing);
    return good;
}

const uint32_t *
stacks_path(struct stacks *stacks, const struct stacks_row *row, size_t *depth)
{
    size_t left = tree_depth(stacks->tree, row->node);

    *depth = left;
    for (uint32_t node = row->node; left > 0; node = tree_parent(stacks->tree, node)) {
        stacks->path[--left] = node;
    }
    return stacks->path;
}
