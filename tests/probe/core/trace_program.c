/*
 * A program at random, and a simple model of it: code that is loaded, freed and moved,
 * classes that are traced and are not, objects that come and go. What every path of
 * every class holds is what the model says, at all times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/core/tally.h"
#include "probe/core/trace.h"
#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define CODE ((uintptr_t)0x560000000000)
#define SLOTS 3000u
#define CLASSES 4u
#define METHODS 12u
#define KEYS 20u // pieces of code; some of them are the same method, loaded twice
#define STACKS 40u
#define DEPTH 4u
#define STEPS 150000u

enum { COUNTED = STACKS, UNSAMPLED, PLACES }; // after the stacks

struct method {
    size_t number;
    uint32_t line;
};

struct stack {
    size_t count;
    struct method frames[DEPTH]; // innermost first; its line is the stack's own
};

struct object {
    bool there;
    size_t class;
    size_t place;
};

struct model {
    struct stack stacks[STACKS];
    size_t methods[KEYS]; // what the code at each key is
    struct object objects[SLOTS];
    bool traced[CLASSES];
    uint64_t allocated[CLASSES][PLACES];
    uint64_t live[CLASSES][PLACES];
    bool sampled; // gaps change, too
};

static struct tally tally;
static struct model model;
static struct stack_frame running[DEPTH];
static size_t running_count;

static size_t
capture(struct stack_frame *stack, size_t limit)
{
    assert_true(limit > running_count);
    memcpy(stack, running, running_count * sizeof(*stack));
    return running_count;
}

static uintptr_t
class_key(size_t number)
{
    return 0x550000000000 + number * 40;
}

static uintptr_t
code_key(size_t number)
{
    return CODE + number * 40;
}

static uint32_t
index_of(size_t class)
{
    return registry_lookup(&tally.registry, class_key(class))->site->class_index;
}

static int
start(void **state)
{
    (void)state;
    memset(&model, 0, sizeof(model));
    for (size_t i = 0; i < STACKS; i++) {
        struct stack *stack = &model.stacks[i];
        stack->count = 1 + random_below(DEPTH);
        for (size_t at = 0; at < stack->count; at++) {
            stack->frames[at] = (struct method){random_below(METHODS), 1};
        }
        stack->frames[0].line = (uint32_t)i;
    }
    for (size_t i = 0; i < KEYS; i++) {
        model.methods[i] = i % METHODS;
    }
    if (!tally_init(&tally, NULL) || !trace_init(&tally.trace, capture, DEPTH, 100)) {
        return -1;
    }
    tally.trace.random = 1;
    tally.trace.credit_ns = INT64_MAX; // what stacks cost is no matter here
    return 0;
}

static int
end(void **state)
{
    (void)state;
    tally_destroy(&tally);
    return 0;
}

/* Code. */

static void
name_frame(void *context, uint32_t frame, uintptr_t key)
{
    char label[24];
    (void)context;
    snprintf(label, sizeof(label), "%zu", model.methods[(key - CODE) / 40]);
    struct frame_naming naming = {.label = strdup(label), .path = strdup("a.rb")};
    assert_true(naming.label && naming.path);
    calltree_name(&tally.trace.tree, frame, &naming);
}

// The code of a method changes its place: it is loaded where other code was. That has
// its name by then, because a runtime keeps it alive for so long.
static void
load(size_t method, size_t key)
{
    calltree_each_unnamed(&tally.trace.tree, name_frame, NULL);
    tally_frame_freed(&tally, code_key(key));
    model.methods[key] = method;
}

static bool
stack_has(const struct stack *stack, size_t method)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (stack->frames[i].number == method) {
            return true;
        }
    }
    return false;
}

// A key of this method's code, at random if there are several.
static size_t
find_code(const struct stack *stack, size_t method)
{
    size_t first = random_below(KEYS);
    for (size_t i = 0; i < KEYS; i++) {
        if (model.methods[(first + i) % KEYS] == method) {
            return (first + i) % KEYS;
        }
    }
    size_t key = first;
    while (stack_has(stack, model.methods[key])) {
        key = (key + 1) % KEYS;
    }
    load(method, key);
    return key;
}

static void
run(const struct stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        size_t key = find_code(stack, stack->frames[i].number);
        running[i] = (struct stack_frame){code_key(key), stack->frames[i].line};
    }
    running_count = stack->count;
}

static size_t destinations[KEYS];

static uintptr_t
moved(uintptr_t address)
{
    return address < CODE || address >= code_key(KEYS)
               ? address
               : code_key(destinations[(address - CODE) / 40]);
}

static void
compact(void)
{
    size_t before[KEYS];
    size_t distance = random_below(KEYS);
    memcpy(before, model.methods, sizeof(before));
    for (size_t i = 0; i < KEYS; i++) {
        destinations[i] = (i + distance) % KEYS;
        model.methods[destinations[i]] = before[i];
    }
    tally_compacted(&tally, moved);
    assert_false(tally.lost);
}

/* Objects. */

static void
allocate(size_t slot)
{
    size_t class = random_below(CLASSES);
    size_t stack = random_below(STACKS);
    run(&model.stacks[stack]);
    uint64_t stacks = tally.trace.stacks;
    tally_allocated(&tally, HEAP + slot * 40, class_key(class));
    bool taken = tally.trace.stacks != stacks;
    size_t place = taken ? stack : model.traced[class] ? UNSAMPLED : COUNTED;
    assert_true(model.traced[class] || !taken);
    assert_true(taken || !model.traced[class] || model.sampled);
    model.objects[slot] = (struct object){true, class, place};
    model.allocated[class][place]++;
    model.live[class][place]++;
}

static void
release(size_t slot)
{
    struct object *object = &model.objects[slot];
    tally_freed(&tally, HEAP + slot * 40);
    model.live[object->class][object->place]--;
    object->there = false;
}

static void
toggle(size_t class)
{
    model.traced[class] = !model.traced[class];
    trace_class(&tally.trace, &tally.registry, index_of(class), model.traced[class], 1);
}

static void
step(void)
{
    size_t slot = random_below(SLOTS);
    if (model.objects[slot].there) {
        release(slot);
    } else {
        allocate(slot);
    }
    if (random_below(300) == 0) {
        load(random_below(METHODS), random_below(KEYS));
    }
    if (random_below(100) == 0) { // some keys are used before anybody asks
        calltree_each_unnamed(&tally.trace.tree, name_frame, NULL);
    }
    if (random_below(2000) == 0) {
        compact();
    }
    if (random_below(500) == 0) {
        toggle(random_below(CLASSES));
    }
    if (model.sampled && random_below(100) == 0) {
        registry_class(&tally.registry, index_of(random_below(CLASSES)))->shift =
            (uint8_t)random_below(6);
    }
}

/* What is there. */

static bool
is_stack(uint32_t node, const struct stack *stack)
{
    const struct calltree *tree = &tally.trace.tree;
    for (size_t i = 0; i < stack->count; i++) {
        const struct calltree_node *at = calltree_node(tree, node);
        const struct calltree_frame *frame = calltree_frame(tree, at->frame);
        if (node < CALLTREE_FIRST_NODE || at->line != stack->frames[i].line ||
            strtoul(frame->label, NULL, 10) != stack->frames[i].number) {
            return false;
        }
        node = at->parent;
    }
    return node == FRAME_ROOT;
}

// The stack whose path this site counts: there is one, by its line.
static size_t
stack_of(const struct site *site)
{
    size_t stack = calltree_node(&tally.trace.tree, site->node)->line;
    assert_true(stack < STACKS);
    assert_true(is_stack(site->node, &model.stacks[stack]));
    return stack;
}

static void
expect_class(size_t class)
{
    uint64_t allocated[PLACES] = {0};
    uint64_t live[PLACES] = {0};
    uint64_t all = 0;
    const struct class_entry *entry = registry_class(&tally.registry, index_of(class));
    for (site_id id = entry->site; id;) {
        const struct site *site = registry_site(&tally.registry, id);
        bool path = id >= REGISTRY_FIRST_PATH;
        size_t place = path ? stack_of(site) : id == entry->site ? COUNTED : UNSAMPLED;
        allocated[place] += site->allocated;
        live[place] += site->allocated - site->freed;
        id = path                                 ? site->next
             : id == entry->site + SITE_UNSAMPLED ? entry->paths
                                                  : id + 1;
    }
    for (size_t i = 0; i < PLACES; i++) {
        assert_int_equal(allocated[i], model.allocated[class][i]);
        assert_int_equal(live[i], model.live[class][i]);
        all += allocated[i];
    }
    assert_int_equal(registry_counts(&tally.registry, index_of(class)).allocated, all);
}

static void
live_and_compare(void)
{
    for (size_t i = 0; i < STEPS; i++) {
        step();
        if (i % 3000 == 0) {
            calltree_each_unnamed(&tally.trace.tree, name_frame, NULL);
            for (size_t class = 0; class < CLASSES; class ++) {
                expect_class(class);
            }
        }
    }
    assert_int_equal(tally.trace.lost + tally.trace.tree.refused, 0);
    assert_int_equal(tally.missed_frees + tally.unplaced, 0);
    assert_true(tally.trace.stacks > STEPS / 50);
}

static void
every_object_counts_for_the_path_it_was_allocated_on(void **state)
{
    (void)state;
    live_and_compare();
}

static void
sampled_and_unsampled_together_are_the_class(void **state)
{
    (void)state;
    model.sampled = true;
    live_and_compare();
}

int
main(void)
{
    setenv("MEMTOP_SEED", "1", 0);
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            every_object_counts_for_the_path_it_was_allocated_on, start, end),
        cmocka_unit_test_setup_teardown(sampled_and_unsampled_together_are_the_class,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
