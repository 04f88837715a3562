/*
 * What viewers are told of one class, decoded again: a mirror that knows nothing
 * but what the frames said, compared with the registry and the call tree. malloc
 * and its like pass through here (--wrap), so that memory can run out.
 */
#include "probe/core/treefeed.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/decoder.h"
#include "tests/probe/core/fixture.h"

#define NODES_MAX 200000u
#define FRAMES_MAX 4096u
#define SHIFTS_MAX 4u
#define AT ((struct stamp){5, 6})
#define KEY ((uintptr_t)0x550000000000)

/* Memory that runs out. */

// Allocations that still succeed; when it gets to 0 one fails. Negative: all do.
static long countdown = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool
fails_now(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *
__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __real_realloc(memory, size);
}

/* The mirror of a viewer. */

struct mirror {
    struct decoder decoder;
    struct tree_node nodes[NODES_MAX];
    bool has_node[NODES_MAX];
    struct tree_site sites[NODES_MAX][SHIFTS_MAX];
    bool has_site[NODES_MAX][SHIFTS_MAX];
    char labels[FRAMES_MAX][24];
    bool has_frame[FRAMES_MAX];
    uint32_t flags[FRAMES_MAX];
    struct tree header;
    size_t trees; // in the last feeding
    size_t frames_told;
    size_t nodes_told;
    size_t sites_told;
};

static void
mirror_frames(struct mirror *mirror, const struct frames *frames)
{
    for (size_t i = 0; i < frames->count; i++) {
        const struct frame_name *frame = &frames->list[i];
        assert_in_range(frame->id, FRAME_FIRST, FRAMES_MAX - 1);
        assert_in_range(frame->label.length, 0, 23);
        mirror->has_frame[frame->id] = true;
        mirror->flags[frame->id] = frame->flags;
        snprintf(mirror->labels[frame->id], sizeof(mirror->labels[0]), "%.*s",
                 (int)frame->label.length, frame->label.length ? frame->label.bytes : "");
    }
    mirror->frames_told += frames->count;
}

static void
mirror_node(struct mirror *mirror, const struct tree_node *node)
{
    assert_in_range(node->id, 1, NODES_MAX - 1);
    assert_true(node->parent < node->id);
    assert_true(node->parent == 0 || mirror->has_node[node->parent]);
    assert_true(node->frame < FRAME_FIRST || mirror->has_frame[node->frame]);
    mirror->nodes[node->id] = *node;
    mirror->has_node[node->id] = true;
}

static void
mirror_tree(struct mirror *mirror, const struct tree *tree)
{
    assert_true(tree->key ? mirror->trees == 0 : true);
    if (tree->key) {
        memset(mirror->has_node, 0, sizeof(mirror->has_node));
        memset(mirror->has_site, 0, sizeof(mirror->has_site));
    }
    // Nodes first, also across frames.
    assert_true(tree->node_count == 0 || mirror->sites_told == 0);
    for (size_t i = 0; i < tree->node_count; i++) {
        mirror_node(mirror, &tree->nodes[i]);
    }
    for (size_t i = 0; i < tree->site_count; i++) {
        const struct tree_site *site = &tree->sites[i];
        assert_true(mirror->has_node[site->node]);
        assert_in_range(site->shift, 0, SHIFTS_MAX - 1);
        mirror->sites[site->node][site->shift] = *site;
        mirror->has_site[site->node][site->shift] = true;
    }
    mirror->header = *tree;
    mirror->nodes_told += tree->node_count;
    mirror->sites_told += tree->site_count;
    mirror->trees++;
}

static void
mirror_take(struct mirror *mirror, const struct buffer *frames)
{
    struct message message;
    mirror->trees = mirror->frames_told = mirror->nodes_told = mirror->sites_told = 0;
    decoder_feed(&mirror->decoder, frames->bytes, frames->length);
    while (decoder_next(&mirror->decoder, &message) == DECODE_MESSAGE) {
        assert_int_equal(message.at.monotonic_us, AT.monotonic_us);
        if (message.kind == MESSAGE_FRAMES) {
            assert_int_equal(mirror->trees, 0); // names come before what they name
            mirror_frames(mirror, &message.frames);
        } else {
            assert_int_equal(message.kind, MESSAGE_TREE);
            mirror_tree(mirror, &message.tree);
        }
    }
    assert_string_equal(decoder_error(&mirror->decoder), "");
}

/* The program: one class, and paths that allocate objects of it. */

struct scene {
    struct registry registry;
    struct trace trace;
    struct treefeed *feed;
    uint32_t class_index;
    struct mirror *mirror;
    struct mirror *other; // a viewer that was seeded
};

static struct scene scene;

static int
start(void **state)
{
    (void)state;
    scene = (struct scene){.mirror = calloc(1, sizeof(*scene.mirror)),
                           .other = calloc(1, sizeof(*scene.other))};
    if (!scene.mirror || !scene.other || !registry_init(&scene.registry, NULL) ||
        !trace_init(&scene.trace, NULL, 64, 3)) {
        return -1;
    }
    scene.class_index = registry_lookup(&scene.registry, KEY)->site->class_index;
    scene.feed = treefeed_new(registry_class(&scene.registry, scene.class_index)->id,
                              scene.class_index);
    return scene.feed ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    treefeed_free(scene.feed);
    treefeed_free(NULL);
    trace_destroy(&scene.trace);
    registry_destroy(&scene.registry);
    decoder_destroy(&scene.mirror->decoder);
    decoder_destroy(&scene.other->decoder);
    free(scene.mirror);
    free(scene.other);
    return 0;
}

static struct class_entry *
entry(void)
{
    return registry_class(&scene.registry, scene.class_index);
}

static struct site *
own_site(enum class_site site)
{
    return registry_site(&scene.registry, entry()->site + site);
}

// The node of a stack of methods, the innermost last, each at its own line.
static uint32_t
path(const uintptr_t *methods, size_t count)
{
    struct stack_frame stack[16];
    for (size_t i = 0; i < count; i++) {
        uintptr_t method = methods[count - 1 - i];
        stack[i] = (struct stack_frame){0x7000 + method * 8, (uint32_t)method * 10};
    }
    return calltree_place(&scene.trace.tree, stack, count, false);
}

static struct site *
site_at(uint32_t node, uint8_t shift)
{
    site_id id = entry()->paths;
    while (id) {
        struct site *site = registry_site(&scene.registry, id);
        if (site->node == node && site->shift == shift) {
            return site;
        }
        id = site->next;
    }
    return registry_add_path(&scene.registry, scene.class_index, node, shift, 0);
}

static void
name(uint32_t frame, const char *label, uint32_t block_line)
{
    struct frame_naming naming = {.label = strdup(label), .path = strdup("app.rb")};
    if (block_line) {
        naming.blocks = malloc(sizeof(*naming.blocks));
        naming.blocks[0] = (struct block_line){block_line, 1};
        naming.block_count = 1;
    }
    calltree_name(&scene.trace.tree, frame, &naming);
}

static uint32_t
frame_of(uint32_t node)
{
    return calltree_node(&scene.trace.tree, node)->frame;
}

/* What is told. */

static void
take(struct mirror *mirror,
     bool (*encode)(const struct treefeed *, const struct calltree *, struct stamp,
                    struct buffer *))
{
    struct buffer frames = {0};
    assert_true(encode(scene.feed, &scene.trace.tree, AT, &frames));
    mirror_take(mirror, &frames);
    buffer_destroy(&frames);
}

static void
read_and_take(void)
{
    assert_true(treefeed_read(scene.feed, &scene.registry, &scene.trace));
    take(scene.mirror, treefeed_changes);
}

static uint64_t
live_in(const struct mirror *mirror)
{
    uint64_t live = mirror->header.unsampled_live;
    for (size_t i = 0; i < NODES_MAX; i++) {
        for (size_t shift = 0; shift < SHIFTS_MAX && mirror->has_node[i]; shift++) {
            live += mirror->has_site[i][shift] ? mirror->sites[i][shift].live : 0;
        }
    }
    return live;
}

static void
expect_same_state(const struct mirror *a, const struct mirror *b)
{
    assert_memory_equal(a->has_node, b->has_node, sizeof(a->has_node));
    assert_memory_equal(a->has_site, b->has_site, sizeof(a->has_site));
    for (size_t i = 0; i < NODES_MAX; i++) {
        if (!a->has_node[i]) {
            continue;
        }
        assert_memory_equal(&a->nodes[i], &b->nodes[i], sizeof(a->nodes[i]));
        uint32_t frame = a->nodes[i].frame;
        assert_string_equal(a->labels[frame], b->labels[frame]);
        for (size_t shift = 0; shift < SHIFTS_MAX && a->has_site[i][shift]; shift++) {
            assert_memory_equal(&a->sites[i][shift], &b->sites[i][shift],
                                sizeof(a->sites[i][shift]));
        }
    }
}

// The mirror says what registry and call tree say, while nobody allocates.
static void
expect_truth(const struct mirror *mirror)
{
    struct site_counts counts = registry_counts(&scene.registry, scene.class_index);
    assert_true(counts.live == mirror->header.live);
    assert_true(counts.live == live_in(mirror));
    for (site_id id = entry()->paths; id;) {
        const struct site *site = registry_site(&scene.registry, id);
        const struct tree_site *row = &mirror->sites[site->node][site->shift];
        assert_true(mirror->has_site[site->node][site->shift]);
        assert_true(row->allocated == site->allocated);
        assert_true(row->live == site->allocated - site->freed);
        id = site->next;
    }
}

/* Cases. */

static void
a_path_is_told_with_all_its_callers(void **state)
{
    (void)state;
    uint32_t node = path((uintptr_t[]){1, 2, 3}, 3);
    name(frame_of(node), "Order#total", 30);
    struct site *site = site_at(node, 0);
    site->allocated = 5;
    site->freed = 2;
    read_and_take();
    assert_int_equal(scene.mirror->frames_told, 3);
    assert_int_equal(scene.mirror->nodes_told, 3);
    assert_int_equal(scene.mirror->sites_told, 1);
    const struct tree_node *row = &scene.mirror->nodes[node];
    assert_string_equal(scene.mirror->labels[row->frame], "Order#total");
    assert_int_equal(row->line, 30);
    assert_int_equal(row->block, 1);
    row = &scene.mirror->nodes[row->parent];
    assert_int_equal(row->line, 20);
    assert_string_equal(scene.mirror->labels[row->frame], ""); // nobody was asked yet
    assert_int_equal(scene.mirror->nodes[row->parent].parent, 0);
    assert_int_equal(scene.mirror->sites[node][0].live, 3);
    assert_int_equal(scene.mirror->sites[node][0].allocated, 5);
    assert_int_equal(scene.mirror->header.live, 3);
    expect_truth(scene.mirror);
}

static void
what_did_not_change_is_not_told_again(void **state)
{
    (void)state;
    struct site *one = site_at(path((uintptr_t[]){1, 2}, 2), 0);
    one->allocated = 1;
    site_at(path((uintptr_t[]){1, 3}, 2), 0)->allocated = 7;
    read_and_take();
    assert_int_equal(scene.mirror->sites_told, 2);
    read_and_take();
    assert_int_equal(scene.mirror->trees, 0);
    one->allocated = 2;
    one->freed = 1; // live as before
    read_and_take();
    assert_int_equal(scene.mirror->sites_told, 1);
    assert_int_equal(scene.mirror->nodes_told + scene.mirror->frames_told, 0);
    site_at(path((uintptr_t[]){1, 4}, 2), 2)->allocated = 1;
    read_and_take();
    assert_int_equal(scene.mirror->nodes_told, 1); // its caller is known
    assert_int_equal(scene.mirror->sites_told, 1);
    expect_truth(scene.mirror);
}

static void
objects_from_before_tracing_are_a_node_of_their_own(void **state)
{
    (void)state;
    read_and_take();
    assert_int_equal(scene.mirror->trees, 1); // the header alone
    assert_int_equal(scene.mirror->nodes_told + scene.mirror->sites_told, 0);
    own_site(SITE_COUNTED)->allocated = 10;
    own_site(SITE_COUNTED)->freed = 3;
    own_site(SITE_FOUND)->found = 5;
    read_and_take();
    const struct tree_node *node = &scene.mirror->nodes[FRAME_BEFORE_TRACING];
    assert_int_equal(node->frame, FRAME_BEFORE_TRACING);
    assert_int_equal(node->parent, 0);
    const struct tree_site *site = &scene.mirror->sites[FRAME_BEFORE_TRACING][0];
    assert_int_equal(site->live, 12);
    assert_int_equal(site->allocated, 10);
    assert_int_equal(scene.mirror->frames_told, 0); // it is no frame of the program's
    own_site(SITE_COUNTED)->freed = 10;
    own_site(SITE_FOUND)->freed = 5;
    read_and_take();
    assert_int_equal(site->live, 0); // and is told to the end
    expect_truth(scene.mirror);
}

static void
frames_that_are_no_place_need_no_name(void **state)
{
    (void)state;
    struct stack_frame stack[] = {
        {0x7008, 10}
    };
    uint32_t cut = calltree_place(&scene.trace.tree, stack, 1, true);
    site_at(cut, 0)->allocated = 1;
    site_at(FRAME_OTHER, 0)->allocated = 2;
    site_at(FRAME_NO_STACK, 0)->allocated = 3;
    read_and_take();
    assert_int_equal(scene.mirror->nodes[cut].parent, FRAME_TRUNCATED);
    assert_int_equal(scene.mirror->nodes[FRAME_TRUNCATED].frame, FRAME_TRUNCATED);
    assert_int_equal(scene.mirror->nodes[FRAME_OTHER].frame, FRAME_OTHER);
    assert_int_equal(scene.mirror->sites[FRAME_NO_STACK][0].live, 3);
    assert_int_equal(scene.mirror->nodes_told, 4);
    assert_int_equal(scene.mirror->frames_told, 1);
    expect_truth(scene.mirror);
}

static void
a_frame_that_gets_its_name_is_told_again_with_its_nodes(void **state)
{
    (void)state;
    uint32_t node = path((uintptr_t[]){1, 2}, 2);
    uint32_t caller = calltree_node(&scene.trace.tree, node)->parent;
    site_at(node, 0)->allocated = 1;
    read_and_take();
    assert_int_equal(scene.mirror->nodes[node].block, 0);
    name(frame_of(node), "Cart#add", 20);
    read_and_take();
    assert_int_equal(scene.mirror->frames_told, 1);
    assert_int_equal(scene.mirror->nodes_told, 1);
    assert_int_equal(scene.mirror->sites_told, 0);
    assert_string_equal(scene.mirror->labels[frame_of(node)], "Cart#add");
    assert_int_equal(scene.mirror->nodes[node].block, 1);
    read_and_take();
    assert_int_equal(scene.mirror->trees, 0);
    name(frame_of(caller), "<main>", 0);
    read_and_take();
    assert_string_equal(scene.mirror->labels[frame_of(caller)], "<main>");
    take(scene.other, treefeed_seed);
    expect_same_state(scene.mirror, scene.other);
}

// One frame at two lines is one name and two nodes.
static void
each_node_of_a_frame_is_told_again_and_the_frame_once(void **state)
{
    (void)state;
    struct stack_frame stack[] = {
        {0x7008, 10}
    };
    uint32_t one = calltree_place(&scene.trace.tree, stack, 1, false);
    stack[0].line = 11;
    uint32_t other = calltree_place(&scene.trace.tree, stack, 1, false);
    site_at(one, 0)->allocated = 1;
    site_at(other, 0)->allocated = 1;
    read_and_take();
    assert_int_equal(scene.mirror->frames_told, 1);
    name(frame_of(one), "a", 11);
    read_and_take();
    assert_int_equal(scene.mirror->frames_told, 1);
    assert_int_equal(scene.mirror->nodes_told, 2);
    assert_int_equal(scene.mirror->nodes[one].block, 0);
    assert_int_equal(scene.mirror->nodes[other].block, 1);
}

static void
the_header_says_how_stacks_are_taken(void **state)
{
    (void)state;
    read_and_take();
    assert_int_equal(scene.mirror->header.flags, 0);
    assert_true(scene.mirror->header.since_us == COUNT_UNKNOWN);
    assert_int_equal(scene.mirror->header.depth, 64);
    assert_int_equal(scene.mirror->header.nodes_room, CALLTREE_NODES);
    entry()->traced = true;
    entry()->traced_us = 77;
    entry()->shift = 3;
    entry()->pinned = true;
    own_site(SITE_UNSAMPLED)->allocated = 9;
    own_site(SITE_UNSAMPLED)->freed = 2;
    read_and_take();
    const struct tree *header = &scene.mirror->header;
    assert_int_equal(header->flags, TREE_TRACING | TREE_PINNED);
    assert_int_equal(header->since_us, 77);
    assert_int_equal(header->shift, 3);
    assert_int_equal(header->unsampled_live, 7);
    assert_int_equal(header->unsampled_allocated, 9);
    assert_int_equal(header->live, 7);
    scene.trace.tree.refused = 1;
    read_and_take();
    assert_int_equal(header->flags, TREE_TRACING | TREE_PINNED | TREE_FULL);
    expect_truth(scene.mirror);
}

static void
bytes_and_ages_are_those_of_the_last_census(void **state)
{
    (void)state;
    uint32_t node = path((uintptr_t[]){1}, 1);
    struct site *site = site_at(node, 0);
    struct site_census *census = registry_seen(&scene.registry, site->id);
    site->allocated = 4;
    census->bytes = COUNT_UNKNOWN;
    read_and_take();
    const struct tree_site *row = &scene.mirror->sites[node][0];
    assert_true(row->bytes == COUNT_UNKNOWN);
    assert_true(row->ages[0] == COUNT_UNKNOWN && row->ages[3] == COUNT_UNKNOWN);
    census->ages[1] = 4; // seen while nobody could weigh it
    read_and_take();
    assert_true(row->bytes == COUNT_UNKNOWN);
    assert_int_equal(row->ages[0], 0);
    assert_int_equal(row->ages[1], 4);
    census->bytes = 160;
    read_and_take();
    assert_int_equal(row->bytes, 160);
    assert_int_equal(scene.mirror->sites_told, 1);
}

static void
the_bytes_from_before_tracing_are_of_both_its_sites(void **state)
{
    (void)state;
    own_site(SITE_COUNTED)->allocated = 1;
    registry_seen(&scene.registry, entry()->site + SITE_COUNTED)->bytes = 100;
    registry_seen(&scene.registry, entry()->site + SITE_COUNTED)->ages[0] = 1;
    registry_seen(&scene.registry, entry()->site + SITE_FOUND)->bytes = 40;
    registry_seen(&scene.registry, entry()->site + SITE_FOUND)->ages[3] = 2;
    read_and_take();
    const struct tree_site *row = &scene.mirror->sites[FRAME_BEFORE_TRACING][0];
    assert_int_equal(row->bytes, 140);
    assert_int_equal(row->ages[0], 1);
    assert_int_equal(row->ages[3], 2);
}

/* Changes and a whole tree say the same. */

static void
live_a_little(void)
{
    for (size_t i = 0; i < 60; i++) {
        uintptr_t methods[8];
        size_t depth = 1 + random_below(8);
        for (size_t k = 0; k < depth; k++) {
            methods[k] = 1 + random_below(12);
        }
        struct site *site =
            site_at(path(methods, depth), (uint8_t)random_below(SHIFTS_MAX));
        site->allocated += random_below(5);
        site->freed += random_below(site->allocated - site->freed + 1);
        own_site(SITE_UNSAMPLED)->allocated += 2;
        own_site(SITE_UNSAMPLED)->freed++;
        own_site(SITE_FOUND)->found += random_below(2);
        registry_seen(&scene.registry, site->id)->bytes = random_below(1000);
    }
    uint32_t frames = scene.trace.tree.frame_count;
    uint32_t frame = FRAME_FIRST + (uint32_t)random_below(frames - FRAME_FIRST);
    if (!calltree_frame(&scene.trace.tree, frame)->named) {
        char label[20];
        snprintf(label, sizeof(label), "M#%u", frame);
        name(frame, label, (uint32_t)random_below(12) * 10);
    }
}

static void
a_seed_is_the_tree_that_the_changes_add_up_to(void **state)
{
    (void)state;
    for (size_t round = 0; round < 100; round++) {
        live_a_little();
        read_and_take();
        expect_truth(scene.mirror);
        if (random_below(10) == 0) {
            take(scene.other, treefeed_seed);
            expect_same_state(scene.mirror, scene.other);
            assert_true(scene.other->header.live == scene.mirror->header.live);
        }
    }
}

// The program goes on between the reading and the seed.
static void
changes_fit_the_seed_before_them(void **state)
{
    (void)state;
    live_a_little();
    read_and_take();
    live_a_little();
    take(scene.other, treefeed_seed);
    for (size_t round = 0; round < 30; round++) {
        live_a_little();
        assert_true(treefeed_read(scene.feed, &scene.registry, &scene.trace));
        take(scene.mirror, treefeed_changes);
        take(scene.other, treefeed_changes);
        expect_same_state(scene.mirror, scene.other);
    }
    expect_truth(scene.other);
}

static void
a_large_tree_comes_in_frames_of_a_bounded_size(void **state)
{
    (void)state;
    const size_t paths = 130000;
    for (size_t i = 0; i < paths; i++) {
        struct stack_frame stack[] = {
            {0x7008, (uint32_t)i + 1}
        };
        uint32_t node = calltree_place(&scene.trace.tree, stack, 1, false);
        registry_add_path(&scene.registry, scene.class_index, node, 0, 0)->allocated = i;
    }
    read_and_take();
    assert_int_equal(scene.mirror->nodes_told, paths);
    assert_int_equal(scene.mirror->sites_told, paths);
    assert_in_range(scene.mirror->trees, 5, 6);
    expect_truth(scene.mirror);
    take(scene.other, treefeed_seed);
    assert_int_equal(scene.other->trees, scene.mirror->trees);
    expect_same_state(scene.mirror, scene.other);
}

/* The root is the class's number, though the program does not stop. */

static _Atomic bool stop_allocating;

static void *
allocate_on(void *sites)
{
    struct site **all = sites;
    for (size_t i = 0; !stop_allocating; i++) {
        count_up(&all[i % 5]->allocated);
        if (i % 3 == 0) {
            count_up(&all[i / 3 % 5]->freed);
        }
    }
    return NULL;
}

static void
the_counts_are_those_of_the_tree_while_a_thread_allocates(void **state)
{
    (void)state;
    struct site *sites[] = {own_site(SITE_COUNTED), own_site(SITE_UNSAMPLED),
                            site_at(path((uintptr_t[]){1, 2}, 2), 0),
                            site_at(path((uintptr_t[]){1, 3}, 2), 1),
                            site_at(FRAME_OTHER, 0)};
    for (size_t i = 0; i < 5; i++) {
        sites[i]->allocated = 10; // so that nothing is freed before it is there
    }
    pthread_t thread;
    stop_allocating = false;
    assert_int_equal(pthread_create(&thread, NULL, allocate_on, sites), 0);
    for (size_t round = 0; round < 200; round++) {
        read_and_take();
        struct site_counts counts = treefeed_counts(scene.feed);
        assert_true(counts.live == scene.mirror->header.live);
        assert_true(counts.live == counts.allocated - counts.freed);
        assert_true(counts.live == live_in(scene.mirror));
    }
    stop_allocating = true;
    pthread_join(thread, NULL);
    read_and_take();
    expect_truth(scene.mirror);
}

/* Without memory. */

static void
without_memory_it_starts_anew_and_loses_nothing(void **state)
{
    (void)state;
    live_a_little();
    read_and_take();
    long succeed = 0;
    for (bool done = false; !done; succeed++) {
        struct buffer frames = {0};
        live_a_little();
        countdown = succeed;
        done = treefeed_read(scene.feed, &scene.registry, &scene.trace) &&
               treefeed_changes(scene.feed, &scene.trace.tree, AT, &frames);
        countdown = -1;
        buffer_destroy(&frames);
        // What a viewer gets then.
        assert_true(treefeed_read(scene.feed, &scene.registry, &scene.trace));
        take(scene.other, treefeed_seed);
        expect_truth(scene.other);
        treefeed_free(scene.feed);
        scene.feed = treefeed_new(entry()->id, scene.class_index);
    }
    assert_true(succeed > 10); // there was something to fail
    countdown = 0;
    assert_null(treefeed_new(1, 1));
    countdown = -1;
}

static struct site *
add_tagged(uint32_t node, uint8_t shift, uint16_t tag, uint64_t allocated)
{
    struct site *site = registry_add_tagged(
        &scene.registry, &(struct path){scene.class_index, node, tag, shift}, 0);
    assert_non_null(site);
    site->allocated = allocated;
    return site;
}

static void
sites_that_differ_in_nothing_but_their_tag_are_told_as_one(void **state)
{
    (void)state;
    uint32_t node = path((uintptr_t[]){1, 2}, 2);
    name(frame_of(node), "Order#total", 30);
    site_at(node, 0)->allocated = 5;
    read_and_take();
    assert_int_equal(scene.mirror->sites[node][0].allocated, 5);
    own_site(SITE_COUNTED)->allocated = 2;
    own_site(SITE_UNSAMPLED)->allocated = 3;
    struct site *one = add_tagged(node, 0, 2, 10);
    add_tagged(node, 0, 3, 100);
    add_tagged(node, 1, 2, 7);                  // of another weight
    add_tagged(FRAME_BEFORE_TRACING, 0, 2, 20); // born before tracing
    add_tagged(FRAME_ROOT, 0, 3, 30);           // no stack was taken
    registry_seen(&scene.registry, one->id)->bytes = 400;
    one->freed = 4;
    read_and_take();
    const struct mirror *mirror = scene.mirror;
    assert_int_equal(mirror->sites[node][0].allocated, 115);
    assert_int_equal(mirror->sites[node][0].live, 111);
    assert_int_equal(mirror->sites[node][0].bytes, 400);
    assert_int_equal(mirror->sites[node][1].allocated, 7);
    assert_int_equal(mirror->sites[FRAME_BEFORE_TRACING][0].allocated, 22);
    assert_int_equal(mirror->header.unsampled_allocated, 33);
    assert_int_equal(mirror->header.live, 173);
    assert_int_equal(live_in(mirror), 173);
    take(scene.other, treefeed_seed);
    expect_same_state(scene.mirror, scene.other);
    read_and_take();
    assert_int_equal(scene.mirror->trees, 0); // nothing changed, nothing is said
}

static void
many_tags_on_many_paths_add_up(void **state)
{
    (void)state;
    uint64_t wanted = 0;
    for (uint16_t round = 0; round < 40; round++) {
        for (uintptr_t method = 1; method < 9; method++) {
            uint32_t node = path((uintptr_t[]){method, 9}, 2);
            wanted += round + method;
            add_tagged(node, (uint8_t)(round % 3), round, round + method);
        }
        read_and_take();
        assert_int_equal(live_in(scene.mirror), wanted);
    }
    take(scene.other, treefeed_seed);
    expect_same_state(scene.mirror, scene.other);
}

int
main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_is_told_with_all_its_callers, start, end),
        cmocka_unit_test_setup_teardown(what_did_not_change_is_not_told_again, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            objects_from_before_tracing_are_a_node_of_their_own, start, end),
        cmocka_unit_test_setup_teardown(frames_that_are_no_place_need_no_name, start,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_frame_that_gets_its_name_is_told_again_with_its_nodes, start, end),
        cmocka_unit_test_setup_teardown(
            each_node_of_a_frame_is_told_again_and_the_frame_once, start, end),
        cmocka_unit_test_setup_teardown(
            sites_that_differ_in_nothing_but_their_tag_are_told_as_one, start, end),
        cmocka_unit_test_setup_teardown(many_tags_on_many_paths_add_up, start, end),
        cmocka_unit_test_setup_teardown(the_header_says_how_stacks_are_taken, start, end),
        cmocka_unit_test_setup_teardown(bytes_and_ages_are_those_of_the_last_census,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            the_bytes_from_before_tracing_are_of_both_its_sites, start, end),
        cmocka_unit_test_setup_teardown(a_seed_is_the_tree_that_the_changes_add_up_to,
                                        start, end),
        cmocka_unit_test_setup_teardown(changes_fit_the_seed_before_them, start, end),
        cmocka_unit_test_setup_teardown(a_large_tree_comes_in_frames_of_a_bounded_size,
                                        start, end),
        cmocka_unit_test_setup_teardown(
            the_counts_are_those_of_the_tree_while_a_thread_allocates, start, end),
        cmocka_unit_test_setup_teardown(without_memory_it_starts_anew_and_loses_nothing,
                                        start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
