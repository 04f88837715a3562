#include "tui/model/born.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/memory.h"

#define SECOND UINT64_C(1000000)
#define UNKNOWN COUNT_UNKNOWN

static uint64_t seed;

// xorshift64*
static uint32_t
below(uint32_t bound)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (uint32_t)((seed * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % bound;
}

/* All small histories: the bounds hold, and nothing narrower would. */

// Of a class with `old` at A: births and frees in the two times.
struct small {
    uint64_t old;
    uint64_t born[2];
    uint64_t freed[2];
};

// Every way in which the frees can have hit old, middle and new objects.
static struct born_range
try_all(const struct small *small)
{
    struct born_range found = {UNKNOWN, 0};
    for (uint64_t middle_ab = 0; middle_ab <= small->freed[0]; middle_ab++) {
        uint64_t old_ab = small->freed[0] - middle_ab;
        if (middle_ab > small->born[0] || old_ab > small->old) {
            continue;
        }
        uint64_t middle = small->born[0] - middle_ab;
        uint64_t old = small->old - old_ab;
        for (uint64_t middle_bc = 0; middle_bc <= small->freed[1]; middle_bc++) {
            uint64_t rest = small->freed[1] - middle_bc; // of old and of new objects
            if (middle_bc > middle || rest > old + small->born[1]) {
                continue;
            }
            uint64_t kept = middle - middle_bc;
            found.least = kept < found.least ? kept : found.least;
            found.most = kept > found.most ? kept : found.most;
        }
    }
    return found;
}

static void
bounds_are_what_all_small_histories_reach(void **state)
{
    size_t tried = 0;
    (void)state;
    for (uint32_t number = 0; number < 6 * 6 * 6 * 12 * 18; number++) {
        uint32_t rest = number;
        struct small small;
        small.old = rest % 6;
        rest /= 6;
        small.born[0] = rest % 6;
        rest /= 6;
        small.born[1] = rest % 6;
        rest /= 6;
        small.freed[0] = rest % 12;
        small.freed[1] = rest / 12;
        uint64_t live_b = small.old + small.born[0] - small.freed[0];
        uint64_t live_c = live_b + small.born[1] - small.freed[1];
        if (small.freed[0] > small.old + small.born[0] ||
            small.freed[1] > live_b + small.born[1]) {
            continue;
        }
        const struct born_counts at[BORN_MOMENTS] = {
            {small.old, 100                                },
            {live_b,    100 + small.born[0]                },
            {live_c,    100 + small.born[0] + small.born[1]},
        };
        struct born_range wanted = try_all(&small);
        struct born_range range = born_bound(at, (struct born_older){0, 0});
        if (range.least != wanted.least || range.most != wanted.most) {
            fail_msg("old %u, born %u %u, freed %u %u: %u to %u, not %u to %u",
                     (unsigned)small.old, (unsigned)small.born[0],
                     (unsigned)small.born[1], (unsigned)small.freed[0],
                     (unsigned)small.freed[1], (unsigned)range.least,
                     (unsigned)range.most, (unsigned)wanted.least, (unsigned)wanted.most);
        }
        tried++;
    }
    assert_true(tried > 5000);
}

/* Random histories of objects, watched by three models. */

#define CLASSES 3
#define PATHS 4 // of each class
#define OBJECTS_MAX 600

struct object {
    uint32_t class;
    uint32_t path;
    uint32_t born;  // step
    uint32_t freed; // step, or UINT32_MAX
    uint32_t born_gc;
    uint32_t merged; // collections by which its age is too low
};

struct history {
    struct object objects[OBJECTS_MAX];
    uint32_t count;
    uint32_t collections[300]; // at each step, begun
    uint32_t steps;
    uint32_t moment[BORN_MOMENTS]; // steps
    uint32_t tracing_from;         // step; UINT32_MAX: never
    uint32_t counting_from;        // step: older ones are found, not counted
    bool unseen[CLASSES][BORN_MOMENTS];
};

static void
run_history(struct history *history)
{
    uint32_t free_share = 1 + below(60);
    uint32_t only_new = below(2); // frees what is young, as caches and garbage do
    uint32_t gc = 0;
    history->count = 0;
    history->steps = 30 + below(250);
    for (uint32_t step = 0; step < history->steps; step++) {
        history->collections[step] = gc;
        for (uint32_t n = below(5); n > 0 && history->count < OBJECTS_MAX; n--) {
            uint32_t merged = below(3) == 0 ? below(4) : 0;
            history->objects[history->count++] = (struct object){
                below(CLASSES), below(PATHS), step, UINT32_MAX, gc, merged};
        }
        for (uint32_t i = 0; i < history->count; i++) {
            struct object *object = &history->objects[i];
            bool may = object->path != 0 && // on this one nothing is ever freed
                       (!only_new || step - object->born < 20);
            if (object->freed == UINT32_MAX && may && below(100) * 10 < free_share) {
                object->freed = step;
            }
        }
        gc += below(10) == 0;
    }
    uint32_t *moment = history->moment;
    moment[BORN_A] = below(history->steps - 2);
    moment[BORN_B] = moment[BORN_A] + below(history->steps - moment[BORN_A]);
    moment[BORN_C] = moment[BORN_B] + below(history->steps - moment[BORN_B]);
    history->counting_from = below(2) ? 0 : below(moment[BORN_A] + 1);
    history->tracing_from = below(4) == 0 ? UINT32_MAX : below(history->steps);
    if (history->tracing_from < history->counting_from) {
        history->tracing_from = history->counting_from;
    }
    for (int i = 0; i < CLASSES * BORN_MOMENTS; i++) {
        history->unseen[i / BORN_MOMENTS][i % BORN_MOMENTS] = below(6) == 0;
    }
}

// Before the step's own births and frees.
static bool
lives(const struct object *object, uint32_t step)
{
    return object->born < step && object->freed >= step;
}

// The node on the wire that an object is at.
static uint32_t
node_of(const struct history *history, const struct object *object)
{
    return object->born < history->tracing_from ? FRAME_BEFORE_TRACING
                                                : 20 + object->path;
}

static uint64_t
truth(const struct history *history, uint32_t class, uint32_t node)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < history->count; i++) {
        const struct object *object = &history->objects[i];
        count += object->class == class && object->born >= history->moment[BORN_A] &&
                 object->born < history->moment[BORN_B] &&
                 lives(object, history->moment[BORN_C]) &&
                 (node == 0 || node_of(history, object) == node);
    }
    return count;
}

static struct born_counts
count_at(const struct history *history, uint32_t class, uint32_t node, uint32_t step)
{
    struct born_counts counts = {0, 0};
    for (uint32_t i = 0; i < history->count; i++) {
        const struct object *object = &history->objects[i];
        if (object->class != class || (node != 0 && node_of(history, object) != node)) {
            continue;
        }
        counts.live += lives(object, step);
        counts.allocated += object->born < step && object->born >= history->counting_from;
    }
    return counts;
}

static void
ages_at(const struct history *history, uint32_t class, uint32_t step,
        uint64_t ages[AGE_BUCKETS])
{
    memset(ages, 0, AGE_BUCKETS * sizeof *ages);
    for (uint32_t i = 0; i < history->count; i++) {
        const struct object *object = &history->objects[i];
        if (object->class != class || !lives(object, step)) {
            continue;
        }
        // the one under way does not count, and old ones are merged
        uint32_t survived = history->collections[step] - object->born_gc;
        uint32_t age = survived > 1 + object->merged ? survived - 1 - object->merged : 0;
        ages[age < 2 ? 0 : age < 8 ? 1 : age < 32 ? 2 : 3]++;
    }
}

static void
apply(struct model *model, struct message message, uint32_t step)
{
    message.at.monotonic_us = (step + 1) * SECOND;
    message.at.wall_us = (step + 1) * SECOND;
    assert_true(model_apply(model, &message));
}

static void
hello(struct model *model, uint64_t pid, uint64_t started_us)
{
    apply(
        model,
        (struct message){
            .kind = MESSAGE_HELLO,
            .hello = {.version = PROTOCOL_VERSION, .pid = pid, .started_us = started_us}
    },
        0);
}

// `first_id` is that of class 0.
static void
names(struct model *model, class_id first_id)
{
    static const char *const called[CLASSES] = {"Order", "Hash", "String"};
    struct class_name list[CLASSES];
    for (uint32_t i = 0; i < CLASSES; i++) {
        list[i] = (struct class_name){first_id + i, 0, text_of(called[i])};
    }
    apply(model,
          (struct message){
              .kind = MESSAGE_NAMES, .names = {list, CLASSES}
    },
          0);
}

static void
sample(struct model *model, const struct class_row *rows, size_t count, uint64_t mode,
       uint64_t gc_count, uint32_t step)
{
    struct message message = {
        .kind = MESSAGE_SAMPLE,
        .sample = {.key = true, .mode = mode, .rows = rows, .row_count = count}
    };
    message.sample.process.gc_count = gc_count;
    apply(model, message, step);
}

// The tree of one class as it is at a step; path 3 is below path 2.
static void
send_tree(struct model *model, const struct history *history, uint32_t class,
          uint32_t step)
{
    static const struct tree_node nodes[] = {
        {20, 0,  16, 5, 0},
        {21, 20, 17, 9, 0},
        {22, 0,  18, 5, 0},
        {23, 22, 19, 9, 0},
    };
    struct tree_site sites[PATHS + 1];
    for (uint32_t i = 0; i <= PATHS; i++) {
        uint32_t node = i == PATHS ? (uint32_t)FRAME_BEFORE_TRACING : 20 + i;
        struct born_counts counts = count_at(history, class, node, step);
        sites[i] = (struct tree_site){
            node, 0, counts.live, counts.allocated, UNKNOWN, {0, 0, 0, 0}
        };
    }
    apply(model,
          (struct message){
              .kind = MESSAGE_TREE,
              .tree = {.class_id = 7 + class,
                       .key = true,
                       .live = count_at(history, class, 0, step).live,
                       .since_us = (history->tracing_from + UINT64_C(1)) * SECOND,
                       .nodes = nodes,
                       .node_count = PATHS,
                       .sites = sites,
                       .site_count = PATHS + 1}
    },
          step);
}

// What a viewer that connects at this step knows.
static struct model *
look(const struct history *history, enum born_moment moment)
{
    uint32_t step = history->moment[moment];
    struct class_row rows[CLASSES];
    struct verdict_row verdicts[CLASSES];
    struct model *model = model_new();
    assert_non_null(model);
    hello(model, 4120, 1);
    names(model, 7);
    for (uint32_t i = 0; i < CLASSES; i++) {
        struct born_counts counts = count_at(history, i, 0, step);
        rows[i] = (struct class_row){7 + i, counts.live, counts.allocated, 0, 0};
        verdicts[i] = (struct verdict_row){.id = 7 + i, .verdict = VERDICT_NONE};
        ages_at(history, i, step, verdicts[i].ages);
    }
    sample(model, rows, CLASSES, MODE_COUNT, history->collections[step], step);
    apply(model,
          (struct message){
              .kind = MESSAGE_VERDICTS, .verdicts = {verdicts, CLASSES}
    },
          step);
    // the last class has no tree, others not always: nobody looked at them then
    for (uint32_t i = 0; i < CLASSES - 1; i++) {
        if (step >= history->tracing_from ? !history->unseen[i][moment] : step % 2 == 0) {
            send_tree(model, history, i, step);
        }
    }
    return model;
}

static void
look_thrice(struct born_question *question, struct model *models[BORN_MOMENTS],
            const struct history *history)
{
    *question = (struct born_question){.counted_ab = true, .counted_bc = true};
    for (int i = 0; i < BORN_MOMENTS; i++) {
        models[i] = look(history, (enum born_moment)i);
        question->at[i] = models[i];
    }
}

static void
close_all(struct model *models[BORN_MOMENTS])
{
    for (int i = 0; i < BORN_MOMENTS; i++) {
        model_free(models[i]);
    }
}

struct found {
    uint64_t exact;
    uint64_t by_paths;
    uint64_t by_ages;
    uint64_t paths;
    uint64_t complete;
};

static void
check_paths(const struct history *history, const struct born_question *question,
            uint32_t class, struct found *found)
{
    struct born_paths paths;
    uint64_t listed = 0;
    assert_true(born_paths_make(&paths, question, 7 + class));
    const struct tree_model *tree = model_tree(question->at[BORN_C], 7 + class);
    assert_true(paths.known == (tree != NULL));
    found->complete += paths.complete;
    for (size_t i = 0; i < paths.count; i++) {
        const struct born_path *path = &paths.list[i];
        uint64_t true_count = truth(history, class, tree_node_id(tree, path->node));
        assert_false(path->estimated);
        assert_true(path->range.least <= true_count && true_count <= path->range.most);
        assert_true(path->range.most <= path->live);
        listed += true_count;
        found->paths++;
        if (i > 0) {
            const struct born_range *before = &paths.list[i - 1].range;
            assert_true(
                before->least > path->range.least ||
                (before->least == path->range.least && before->most >= path->range.most));
        }
    }
    assert_true(listed == (tree != NULL ? truth(history, class, 0) : 0));
    born_paths_destroy(&paths);
    born_paths_destroy(&paths);
}

static void
check_history(const struct history *history, struct found *found)
{
    struct born_question question;
    struct born_classes classes[2]; // without ages, with them
    struct model *models[BORN_MOMENTS];
    look_thrice(&question, models, history);
    assert_true(born_classes_make(&classes[0], &question));
    question.ages_of_c = true;
    assert_true(born_classes_make(&classes[1], &question));
    for (int with = 0; with < 2; with++) {
        uint64_t listed = 0;
        uint64_t all = 0;
        for (size_t i = 0; i < classes[with].count; i++) {
            const struct born_class *class = &classes[with].list[i];
            uint64_t true_count = truth(history, class->class->id - 7, 0);
            if (true_count < class->range.least || true_count > class->range.most) {
                fail_msg("%s: %u is not within %u to %u", class->class->name,
                         (unsigned)true_count, (unsigned)class->range.least,
                         (unsigned)class->range.most);
            }
            listed += true_count;
            found->exact += class->range.least == class->range.most;
            found->by_paths += class->by_paths;
        }
        for (uint32_t i = 0; i < CLASSES; i++) {
            all += truth(history, i, 0);
        }
        assert_true(listed == all); // what is left out has none
        assert_true(classes[with].total.least <= all && all <= classes[with].total.most);
    }
    found->by_ages += classes[1].total.least > classes[0].total.least ||
                      classes[1].total.most < classes[0].total.most;
    assert_true(classes[0].collections ==
                history->collections[history->moment[BORN_C]] -
                    history->collections[history->moment[BORN_B]]);
    for (uint32_t i = 0; i < CLASSES; i++) {
        check_paths(history, &question, i, found);
    }
    born_classes_destroy(&classes[0]);
    born_classes_destroy(&classes[1]);
    born_classes_destroy(&classes[1]);
    close_all(models);
}

static void
bounds_hold_in_random_histories(void **state)
{
    static struct history history;
    struct found found = {0};
    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        seed = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        run_history(&history);
        check_history(&history, &found);
    }
    // and each of the ways to know better was taken
    assert_true(found.exact > 100);
    assert_true(found.by_paths > 100);
    assert_true(found.by_ages > 100);
    assert_true(found.paths > 1000);
    assert_true(found.complete > 100);
}

/* What is known where less is counted. */

// One class, "Order", at three moments.
struct three {
    struct model *models[BORN_MOMENTS];
    struct born_question question;
};

struct seen {
    uint64_t pid;
    uint64_t started_us;
    class_id id;
    uint64_t mode;
    uint64_t live;
    uint64_t allocated;
    uint64_t gc_count;
};

static void
three_open(struct three *three, const struct seen seen[BORN_MOMENTS])
{
    three->question = (struct born_question){.counted_ab = true, .counted_bc = true};
    for (uint32_t i = 0; i < BORN_MOMENTS; i++) {
        struct model *model = model_new();
        const struct class_row rows[] = {
            {seen[i].id,     seen[i].live, seen[i].allocated, 0, 0},
            {seen[i].id + 1, 0,            0,                 0, 0},
        };
        assert_non_null(model);
        hello(model, seen[i].pid, seen[i].started_us);
        names(model, seen[i].id);
        sample(model, rows, 2, seen[i].mode, seen[i].gc_count, i);
        three->models[i] = model;
        three->question.at[i] = model;
    }
}

static struct born_range
three_answer(const struct three *three, uint64_t *collections)
{
    struct born_classes classes;
    struct born_range range = {0, 0};
    assert_true(born_classes_make(&classes, &three->question));
    assert_in_range(classes.count, 0, 1);
    if (classes.count == 1) {
        assert_string_equal(classes.list[0].class->name, "Order");
        range = classes.list[0].range;
    }
    *collections = classes.collections;
    born_classes_destroy(&classes);
    return range;
}

static void
knows_less_where_less_was_counted(void **state)
{
    // A 10 alive, then 30 born, then 5 born; B 38, C 35 alive: counted, 20 to 30
    static const struct {
        struct seen at[BORN_MOMENTS];
        struct born_range range;
        uint64_t collections;
    } cases[] = {
  // all counted
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_TRACE, 38, 130, 4},
          {1, 1, 7, MODE_COUNT, 35, 135, 6}},
         {20, 30},
         2      },
 // no counting at A: what was born until B is not known, what came after is
        {{{1, 1, 7, MODE_CENSUS, 10, UNKNOWN, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 1, 7, MODE_COUNT, 35, 135, 6}},
         {20, 35},
         2      },
 // none at C
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 1, 7, MODE_CENSUS, 35, UNKNOWN, UNKNOWN}},
         {0, 30},
         UNKNOWN},
 // nothing known of A at all
        {{{1, 1, 7, MODE_DORMANT, UNKNOWN, UNKNOWN, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 1, 7, MODE_COUNT, 35, 135, 6}},
         {0, 35},
         2      },
 // counted anew, under other ids, between B and C: the class is found by name
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 1, 90, MODE_COUNT, 35, 5, 6}},
         {0, 30},
         2      },
 // another probe in the process since B
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 2, 7, MODE_COUNT, 35, 5, 6}},
         {0, 30},
         2      },
 // another process since A: all it had at B was born since A
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {2, 2, 7, MODE_COUNT, 38, 40, 4},
          {2, 2, 7, MODE_COUNT, 35, 45, 6}},
         {30, 35},
         2      },
 // another process since B: nothing of before is left
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {2, 2, 7, MODE_COUNT, 35, 5, 6}},
         {0, 0},
         UNKNOWN},
 // a census found 20 objects that were never counted
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 108, 4},
          {1, 1, 7, MODE_COUNT, 35, 113, 6}},
         {20, 35},
         2      },
 // three times the same moment
        {{{1, 1, 7, MODE_COUNT, 35, 135, 6},
          {1, 1, 7, MODE_COUNT, 35, 135, 6},
          {1, 1, 7, MODE_COUNT, 35, 135, 6}},
         {0, 0},
         0      },
 // all gone
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 1, 7, MODE_COUNT, 0, 135, 6}},
         {0, 0},
         2      },
 // not known at C
        {{{1, 1, 7, MODE_COUNT, 10, 100, 3},
          {1, 1, 7, MODE_COUNT, 38, 130, 4},
          {1, 1, 7, MODE_DORMANT, UNKNOWN, UNKNOWN, 6}},
         {0, 0},
         2      },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct three three;
        uint64_t collections;
        three_open(&three, cases[i].at);
        struct born_range range = three_answer(&three, &collections);
        if (range.least != cases[i].range.least || range.most != cases[i].range.most ||
            collections != cases[i].collections) {
            fail_msg("case %zu: %llu to %llu", i, (unsigned long long)range.least,
                     (unsigned long long)range.most);
        }
        close_all(three.models);
    }
}

static void
believes_who_says_that_not_all_was_counted(void **state)
{
    static const struct seen seen[BORN_MOMENTS] = {
        {1, 1, 7, MODE_COUNT, 10, 100, 3},
        {1, 1, 7, MODE_COUNT, 38, 130, 4},
        {1, 1, 7, MODE_COUNT, 35, 135, 6},
    };
    struct three three;
    uint64_t collections;
    (void)state;
    three_open(&three, seen);
    three.question.counted_ab = false;
    struct born_range range = three_answer(&three, &collections);
    assert_int_equal(range.least, 20);
    assert_int_equal(range.most, 35);
    three.question.counted_ab = true;
    three.question.counted_bc = false;
    range = three_answer(&three, &collections);
    assert_int_equal(range.least, 0);
    assert_int_equal(range.most, 30);
    close_all(three.models);
}

static void
ages_tell_what_is_older(void **state)
{
    static const double ages[AGE_BUCKETS] = {100, 10, 20, 30};
    static const double unknown[AGE_BUCKETS] = {100, (double)NAN, 20, 30};
    (void)state;
    struct born_older older = born_older(ages, 9, 3);
    assert_int_equal(older.than_a, 30);
    assert_int_equal(older.than_b, 50);
    older = born_older(ages, 0, 0); // no collection since: the young may be new
    assert_int_equal(older.than_a, 60);
    older = born_older(ages, 33, UNKNOWN);
    assert_int_equal(older.than_a, 0);
    assert_int_equal(older.than_b, 0);
    older = born_older(unknown, 9, 3);
    assert_int_equal(older.than_b, 0);
    // nobody counted, and yet 6 of 10 are older than B, of which A had 2 at most
    static const struct born_counts at[BORN_MOMENTS] = {
        {2,  UNKNOWN},
        {20, UNKNOWN},
        {10, UNKNOWN},
    };
    struct born_range range = born_bound(at, (struct born_older){1, 6});
    assert_int_equal(range.least, 4);
    assert_int_equal(range.most, 9);
}

static void
says_nothing_of_counts_that_cannot_be(void **state)
{
    static const struct born_counts wrong[][BORN_MOMENTS] = {
        {{UNKNOWN, UNKNOWN}, {UNKNOWN, UNKNOWN}, {9, UNKNOWN}},
        {{0, 100},           {50, 10},           {9, 5}      }, // counts went back
        {{5, 10},            {UNKNOWN - 1, 20},  {9, 20}     },
        {{0, 0},             {0, 0},             {9, 0}      }, // out of nowhere
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct born_range range = born_bound(wrong[i], (struct born_older){0, 0});
        assert_true(range.least <= range.most);
        assert_true(range.most <= 9);
    }
    struct born_range range = born_bound(wrong[0], (struct born_older){500, 500});
    assert_true(range.least <= range.most);
}

// Stale trees say nothing, sampled ones estimate.
static void
reads_paths_only_where_they_are_of_the_moment(void **state)
{
    static struct history history;
    struct born_question question;
    struct born_paths paths;
    struct model *models[BORN_MOMENTS];
    (void)state;
    do { // one with much of everything
        seed++;
        run_history(&history);
    } while (history.tracing_from > history.moment[BORN_A] / 2 ||
             truth(&history, 0, 21) < 3);
    memset(history.unseen, 0, sizeof history.unseen);
    look_thrice(&question, models, &history);
    assert_true(born_paths_make(&paths, &question, 7));
    assert_true(paths.known && paths.complete);
    born_paths_destroy(&paths);
    assert_true(born_paths_make(&paths, &question, 7 + CLASSES)); // no such class
    assert_false(paths.known);
    born_paths_destroy(&paths);

    // the tree of B stands still while its class goes on: it has nothing to say of B
    struct born_counts counts = count_at(&history, 0, 0, history.moment[BORN_B]);
    struct class_row row = {7, counts.live, counts.allocated + 1, 1, 0};
    apply(models[BORN_B],
          (struct message){
              .kind = MESSAGE_SAMPLE,
              .sample = {.mode = MODE_COUNT, .rows = &row, .row_count = 1}
    },
          history.moment[BORN_B]);
    assert_true(born_paths_make(&paths, &question, 7));
    assert_true(paths.known);
    assert_false(paths.complete);
    for (size_t i = 0; i < paths.count; i++) {
        assert_int_equal(paths.list[i].range.least, 0);
    }
    born_paths_destroy(&paths);

    // and that of C
    counts = count_at(&history, 0, 0, history.moment[BORN_C]);
    row = (struct class_row){7, counts.live, counts.allocated + 1, 1, 0};
    apply(models[BORN_C],
          (struct message){
              .kind = MESSAGE_SAMPLE,
              .sample = {.mode = MODE_COUNT, .rows = &row, .row_count = 1}
    },
          history.moment[BORN_C] + 1);
    assert_true(born_paths_make(&paths, &question, 7));
    assert_false(paths.known);
    assert_int_equal(paths.count, 0);
    born_paths_destroy(&paths);

    // sampled from now on
    const struct tree_site site = {
        21, 3, 2, 4, UNKNOWN, {0, 0, 0, 0}
    };
    apply(models[BORN_C],
          (struct message){
              .kind = MESSAGE_TREE,
              .tree = {.class_id = 7,
                       .live = counts.live,
                       .shift = 3,
                       .unsampled_live = 5,
                       .unsampled_allocated = 9,
                       .sites = &site,
                       .site_count = 1}
    },
          history.moment[BORN_C] + 1);
    assert_true(born_paths_make(&paths, &question, 7));
    assert_true(paths.known);
    assert_false(paths.complete);
    assert_true(paths.count > 0);
    for (size_t i = 0; i < paths.count; i++) {
        const struct tree_model *tree = model_tree(models[BORN_C], 7);
        bool counted = paths.list[i].node == 0 ||
                       tree_node_id(tree, paths.list[i].node) == FRAME_BEFORE_TRACING;
        assert_true(paths.list[i].estimated == !counted);
    }
    born_paths_destroy(&paths);
    close_all(models);
}

static void
survives_running_out_of_memory_anywhere(void **state)
{
    static const struct seen seen[BORN_MOMENTS] = {
        {1, 1, 7,  MODE_COUNT, 10, 100, 3},
        {1, 1, 50, MODE_COUNT, 38, 130, 4}, // found by name
        {1, 1, 90, MODE_COUNT, 35, 135, 6},
    };
    static struct history history;
    struct born_question question;
    struct model *models[BORN_MOMENTS];
    struct three three;
    (void)state;
    seed = 77;
    run_history(&history);
    history.tracing_from = 0;
    memset(history.unseen, 0, sizeof history.unseen);
    look_thrice(&question, models, &history);
    three_open(&three, seen);
    for (int which = 0; which < 3; which++) {
        bool made = false;
        for (int allowed = 0; !made; allowed++) {
            struct born_classes classes = {.list = NULL};
            struct born_paths paths = {.list = NULL};
            memory_allow(allowed);
            made = which == 0   ? born_classes_make(&classes, &question)
                   : which == 1 ? born_paths_make(&paths, &question, 7)
                                : born_classes_make(&classes, &three.question);
            assert_true(made == !memory_ran_out());
            memory_allow(-1);
            assert_true(made || (classes.list == NULL && classes.count == 0 &&
                                 paths.list == NULL && paths.count == 0));
            born_classes_destroy(&classes);
            born_paths_destroy(&paths);
            assert_in_range(allowed, 0, 20);
        }
    }
    close_all(models);
    close_all(three.models);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_what_all_small_histories_reach),
        cmocka_unit_test(bounds_hold_in_random_histories),
        cmocka_unit_test(knows_less_where_less_was_counted),
        cmocka_unit_test(believes_who_says_that_not_all_was_counted),
        cmocka_unit_test(ages_tell_what_is_older),
        cmocka_unit_test(says_nothing_of_counts_that_cannot_be),
        cmocka_unit_test(reads_paths_only_where_they_are_of_the_moment),
        cmocka_unit_test(survives_running_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
