#include "tui/model/born.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/model/index.h"
#include "tui/model/tree_store.h"

// How the process at one moment is related to the one at C.
enum tie {
    TIE_SAME,  // the same ids, counted on
    TIE_RESET, // the same process, but ids and counts began anew
    TIE_OTHER, // another process: none of its objects are C's
};

// One of the moments before C, ready to be asked for classes of C.
struct past {
    const struct model *model; // borrowed
    enum tie tie;
    struct index names; // of TIE_RESET: slots of its classes by name
};

struct asked {
    const struct born_question *question;
    struct past past[BORN_C];
    bool counted_ab; // what was allocated between A and B is known
    bool counted_bc;
    uint64_t since_a; // collections until C, COUNT_UNKNOWN where nobody counted
    uint64_t since_b;
};

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// What is left of `a`, COUNT_UNKNOWN being more than anything.
static uint64_t
less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

// Objects allocated between two moments. What was alive before and what was allocated
// are all there can be: where there are more, a census found some that had escaped the
// counting, and the count means nothing.
static uint64_t
allocated_between(struct born_counts from, struct born_counts to)
{
    if (from.allocated == COUNT_UNKNOWN || to.allocated == COUNT_UNKNOWN ||
        to.allocated < from.allocated) {
        return COUNT_UNKNOWN;
    }
    uint64_t allocated = to.allocated - from.allocated;
    bool possible = from.live == COUNT_UNKNOWN || to.live == COUNT_UNKNOWN ||
                    less(to.live, from.live) <= allocated;
    return possible ? allocated : COUNT_UNKNOWN;
}

struct born_range
born_bound(const struct born_counts at[BORN_MOMENTS], struct born_older older)
{
    uint64_t live = at[BORN_C].live;
    if (live == COUNT_UNKNOWN) {
        return (struct born_range){0, COUNT_UNKNOWN};
    }
    // unknown is more than anything, so that smaller() passes it over
    uint64_t born_ab = allocated_between(at[BORN_A], at[BORN_B]);
    uint64_t born_bc = allocated_between(at[BORN_B], at[BORN_C]);
    uint64_t old = smaller(at[BORN_A].live, at[BORN_B].live);
    uint64_t new = smaller(born_bc, less(live, older.than_b));
    struct born_range range = {
        .least = less(less(live, old), new),
        .most = smaller(smaller(at[BORN_B].live, born_ab), less(live, older.than_a)),
    };
    // counts that cannot be: then they say nothing but what is alive
    return range.least <= range.most
               ? range
               : (struct born_range){0, smaller(live, at[BORN_B].live)};
}

struct born_older
born_older(const double ages[AGE_BUCKETS], uint64_t since_a, uint64_t since_b)
{
    // The collection under way is not in an age, and a merged one is too low: who has
    // an age of n was there n + 1 collections ago. The youngest say nothing.
    static const uint64_t edges[AGE_BUCKETS] = {0, 2, 8, 32};
    struct born_older older = {0, 0};
    for (size_t i = 1; i < AGE_BUCKETS; i++) {
        if (!isfinite(ages[i]) || ages[i] < 0 || ages[i] > 1e18) {
            return (struct born_older){0, 0};
        }
        older.than_a += edges[i] >= since_a ? (uint64_t)ages[i] : 0;
        older.than_b += edges[i] >= since_b ? (uint64_t)ages[i] : 0;
    }
    return older;
}

/* The moments before C. */

static bool
is_counted(const struct model *model)
{
    return mode_counts(model_sample(model)->mode);
}

// Whether any class has the same id in both.
static bool
share_ids(const struct model *model, const struct model *other)
{
    size_t count = model_class_count(model);
    for (size_t i = 0; i < count; i++) {
        const struct model_class *class = model_class_at(model, i);
        const struct model_class *found = model_class_find(other, class->id);
        if (found != NULL && strcmp(found->name, class->name) == 0) {
            return true;
        }
    }
    return count == 0;
}

static enum tie
tie_of(const struct model *model, const struct model *last)
{
    const struct hello *hello = model_hello(model);
    const struct hello *last_hello = model_hello(last);
    if (hello->pid != last_hello->pid) {
        return TIE_OTHER;
    }
    return hello->started_us == last_hello->started_us && share_ids(model, last)
               ? TIE_SAME
               : TIE_RESET;
}

static bool
past_init(struct past *past, const struct model *model, const struct model *last)
{
    *past = (struct past){.model = model, .tie = tie_of(model, last)};
    if (past->tie != TIE_RESET) {
        return true;
    }
    size_t count = model_class_count(model);
    if (!index_reserve(&past->names, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct model_class *class = model_class_at(model, i);
        index_put(&past->names, index_hash(INDEX_HASH, class->name), class->slot);
    }
    return true;
}

// The class of C in one of the moments before; NULL when it was not there.
static const struct model_class *
past_class(const struct past *past, const struct model_class *class)
{
    if (past->tie == TIE_SAME) {
        return model_class_find(past->model, class->id);
    }
    size_t cursor = 0;
    uint32_t slot;
    uint64_t hash = index_hash(INDEX_HASH, class->name);
    while ((slot = index_next(&past->names, hash, &cursor)) != INDEX_NONE) {
        const struct model_class *found = model_class_in(past->model, slot);
        if (found != NULL && strcmp(found->name, class->name) == 0) {
            return found;
        }
    }
    return NULL;
}

static struct born_counts
counts_of(const struct model_class *class)
{
    return (struct born_counts){class->now.live, class->now.allocated};
}

static struct born_counts
past_counts(const struct past *past, const struct model_class *class)
{
    const struct born_counts none = {0, 0};
    const struct born_counts unknown = {COUNT_UNKNOWN, COUNT_UNKNOWN};
    if (past->tie == TIE_OTHER) {
        return none;
    }
    const struct model_class *found = past_class(past, class);
    bool counted = is_counted(past->model);
    if (found == NULL || !found->listed) {
        return counted ? none : unknown;
    }
    struct born_counts counts = counts_of(found);
    counts.allocated = counted ? counts.allocated : COUNT_UNKNOWN;
    return counts;
}

// The bounds of counts, as far as those can be compared.
static struct born_range
bound(const struct asked *asked, struct born_counts at[BORN_MOMENTS],
      const double ages[AGE_BUCKETS])
{
    struct born_older older = {0, 0};
    if (!asked->counted_ab) {
        at[BORN_A].allocated = COUNT_UNKNOWN;
    }
    if (!asked->counted_bc) {
        at[BORN_C].allocated = COUNT_UNKNOWN;
    }
    if (asked->question->ages_of_c) {
        older = born_older(ages, asked->since_a, asked->since_b);
    }
    return born_bound(at, older);
}

static uint64_t
collections_until_c(const struct asked *asked, enum born_moment moment)
{
    uint64_t from = model_sample(asked->past[moment].model)->process.gc_count;
    uint64_t to = model_sample(asked->question->at[BORN_C])->process.gc_count;
    bool known = asked->past[moment].tie != TIE_OTHER && from != COUNT_UNKNOWN &&
                 to != COUNT_UNKNOWN && to >= from;
    return known ? to - from : COUNT_UNKNOWN;
}

static void
asked_destroy(struct asked *asked)
{
    index_destroy(&asked->past[BORN_A].names);
    index_destroy(&asked->past[BORN_B].names);
}

static bool
asked_init(struct asked *asked, const struct born_question *question)
{
    *asked = (struct asked){.question = question};
    const struct model *last = question->at[BORN_C];
    if (!past_init(&asked->past[BORN_A], question->at[BORN_A], last) ||
        !past_init(&asked->past[BORN_B], question->at[BORN_B], last)) {
        asked_destroy(asked);
        return false;
    }
    asked->counted_ab = question->counted_ab &&
                        tie_of(question->at[BORN_A], question->at[BORN_B]) != TIE_RESET;
    asked->counted_bc =
        question->counted_bc && is_counted(last) && asked->past[BORN_B].tie != TIE_RESET;
    asked->since_a = collections_until_c(asked, BORN_A);
    asked->since_b = collections_until_c(asked, BORN_B);
    return true;
}

/* Paths. */

static uint64_t
whole(double count)
{
    return count > 0 && count < 1e18 ? (uint64_t)llround(count) : 0;
}

static struct born_counts
node_counts(const struct tree_model *tree, uint32_t node)
{
    struct tree_counts self = tree_self(tree, node);
    return (struct born_counts){whole(self.live), whole(self.allocated)};
}

// Whether the paths account for every object of the class, exactly.
static bool
accounts_for(const struct tree_model *tree, struct born_counts class)
{
    struct born_counts total = {0, 0};
    if (!tree_exact(tree)) {
        return false;
    }
    for (uint32_t node = 0; node < tree_node_count(tree); node++) {
        struct born_counts counts = node_counts(tree, node);
        total.live += counts.live;
        total.allocated += counts.allocated;
    }
    return total.live == class.live && total.allocated == class.allocated;
}

// A tree that is no longer sent stands still, and says nothing of now. What is sampled
// is an estimate anyway.
static bool
is_current(const struct tree_model *tree, struct born_counts class)
{
    return tree_exact(tree) ? accounts_for(tree, class)
                            : tree_header(tree)->live == class.live;
}

// The tree of a class at a moment before C, and how its nodes are to be read.
struct past_tree {
    const struct tree_model *tree; // NULL: none
    bool before;                   // none, because all was before tracing
    struct born_counts class;
};

static struct past_tree
past_tree(const struct asked *asked, enum born_moment moment,
          const struct model_class *class, const struct tree_model *last)
{
    const struct past *past = &asked->past[moment];
    struct past_tree at = {.class = past_counts(past, class)};
    uint64_t since_us = tree_header(last)->since_us;
    uint64_t moment_us = model_time(past->model).wall_us;
    if (past->tie == TIE_OTHER) {
        at.before = true;
    } else if (past->tie == TIE_SAME) {
        const struct tree_model *tree = model_tree(past->model, class->id);
        at.before = since_us == COUNT_UNKNOWN || since_us > moment_us;
        at.tree = tree != NULL && is_current(tree, at.class) ? tree : NULL;
    }
    return at;
}

// A node of C's tree at a moment before.
static struct born_counts
past_node(const struct past_tree *at, uint32_t id)
{
    const struct born_counts none = {0, 0};
    if (at->tree != NULL) {
        size_t cursor = 0;
        uint32_t node = id == 0 ? 0 : index_next(&at->tree->ids, id, &cursor);
        return node != INDEX_NONE ? node_counts(at->tree, node) : none;
    }
    if (!at->before) {
        return (struct born_counts){COUNT_UNKNOWN, COUNT_UNKNOWN};
    }
    return id == FRAME_BEFORE_TRACING ? at->class : none;
}

static bool
is_complete(const struct past_tree *at)
{
    return at->tree != NULL ? tree_exact(at->tree) : at->before;
}

static int
compare_ranges(struct born_range a, struct born_range b)
{
    if (a.least != b.least) {
        return a.least < b.least ? 1 : -1;
    }
    return (a.most < b.most) - (a.most > b.most);
}

static int
compare_paths(const void *left, const void *right)
{
    const struct born_path *a = left;
    const struct born_path *b = right;
    int order = compare_ranges(a->range, b->range);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

static uint64_t
sum(uint64_t a, uint64_t b)
{
    return a < COUNT_UNKNOWN - b ? a + b : COUNT_UNKNOWN;
}

static void
add(struct born_range *total, struct born_range range)
{
    total->least = sum(total->least, range.least);
    total->most = sum(total->most, range.most);
}

static bool
make_paths(struct born_paths *paths, const struct asked *asked,
           const struct model_class *class)
{
    const struct tree_model *tree = model_tree(asked->question->at[BORN_C], class->id);
    *paths = (struct born_paths){.list = NULL};
    if (tree == NULL || !is_current(tree, counts_of(class))) {
        return true;
    }
    uint32_t count = tree_node_count(tree);
    paths->list = malloc((count + (size_t)1) * sizeof *paths->list);
    if (paths->list == NULL) {
        return false;
    }
    struct past_tree a = past_tree(asked, BORN_A, class, tree);
    struct past_tree b = past_tree(asked, BORN_B, class, tree);
    bool exact = tree_exact(tree) && (a.tree == NULL || tree_exact(a.tree)) &&
                 (b.tree == NULL || tree_exact(b.tree));
    paths->known = true;
    paths->complete = tree_exact(tree) && is_complete(&a) && is_complete(&b);
    for (uint32_t node = 0; node < count; node++) {
        uint32_t id = tree_node_id(tree, node);
        struct born_counts at[BORN_MOMENTS] = {past_node(&a, id), past_node(&b, id),
                                               node_counts(tree, node)};
        struct tree_counts self = tree_self(tree, node);
        struct born_range range = bound(asked, at, self.ages);
        add(&paths->total, range);
        if (range.most > 0) {
            bool counted = exact || tree_store_counted(tree, node);
            paths->list[paths->count++] =
                (struct born_path){node, range, at[BORN_C].live, !counted};
        }
    }
    qsort(paths->list, paths->count, sizeof *paths->list, compare_paths);
    return true;
}

bool
born_paths_make(struct born_paths *paths, const struct born_question *question,
                class_id id)
{
    struct asked asked;
    const struct model_class *class = model_class_find(question->at[BORN_C], id);
    *paths = (struct born_paths){.list = NULL};
    if (class == NULL) {
        return true;
    }
    if (!asked_init(&asked, question)) {
        return false;
    }
    bool made = make_paths(paths, &asked, class);
    asked_destroy(&asked);
    return made;
}

void
born_paths_destroy(struct born_paths *paths)
{
    free(paths->list);
    *paths = (struct born_paths){.list = NULL};
}

/* Classes. */

static int
compare_classes(const void *left, const void *right)
{
    const struct born_class *a = left;
    const struct born_class *b = right;
    int order = compare_ranges(a->range, b->range);
    if (order != 0) {
        return order;
    }
    order = strcmp(a->class->name, b->class->name);
    return order != 0 ? order
                      : (a->class->id > b->class->id) - (a->class->id < b->class->id);
}

// Where the paths know better, the class is what they add up to. False when memory
// ran out.
static bool
narrow(struct born_class *born, const struct asked *asked)
{
    struct born_paths paths;
    if (!make_paths(&paths, asked, born->class)) {
        return false;
    }
    if (paths.complete) {
        struct born_range own = born->range;
        if (paths.total.least > own.least && paths.total.least <= own.most) {
            born->range.least = paths.total.least;
        }
        if (paths.total.most < own.most && paths.total.most >= born->range.least) {
            born->range.most = paths.total.most;
        }
        born->by_paths = born->range.least != own.least || born->range.most != own.most;
    }
    born_paths_destroy(&paths);
    return true;
}

static bool
make_class(struct born_class *born, const struct asked *asked,
           const struct model_class *class)
{
    struct born_counts at[BORN_MOMENTS] = {past_counts(&asked->past[BORN_A], class),
                                           past_counts(&asked->past[BORN_B], class),
                                           counts_of(class)};
    struct born_range range = bound(asked, at, class->ages);
    *born = (struct born_class){
        .class = class,
        .range = range,
        .allocated = allocated_between(at[BORN_A], at[BORN_B]),
    };
    return narrow(born, asked);
}

bool
born_classes_make(struct born_classes *classes, const struct born_question *question)
{
    struct asked asked;
    const struct model *last = question->at[BORN_C];
    size_t count = model_class_count(last);
    *classes = (struct born_classes){.list = NULL};
    if (!asked_init(&asked, question)) {
        return false;
    }
    classes->collections = asked.since_b;
    classes->restarted = asked.past[BORN_B].tie == TIE_OTHER;
    classes->counted_ab = asked.counted_ab && is_counted(question->at[BORN_A]) &&
                          is_counted(question->at[BORN_B]);
    classes->counted_bc = asked.counted_bc && is_counted(question->at[BORN_B]);
    classes->list = malloc((count + 1) * sizeof *classes->list);
    bool made = classes->list != NULL;
    for (size_t i = 0; i < count && made; i++) {
        const struct model_class *class = model_class_at(last, i);
        struct born_class *born = &classes->list[classes->count];
        if (!class->listed || class->gone || class->now.live == COUNT_UNKNOWN) {
            continue;
        }
        made = make_class(born, &asked, class);
        if (made && born->range.most > 0) {
            add(&classes->total, born->range);
            classes->count++;
        }
    }
    asked_destroy(&asked);
    if (!made) {
        born_classes_destroy(classes);
        return false;
    }
    qsort(classes->list, classes->count, sizeof *classes->list, compare_classes);
    return true;
}

void
born_classes_destroy(struct born_classes *classes)
{
    free(classes->list);
    *classes = (struct born_classes){.list = NULL};
}
