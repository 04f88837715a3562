#include "tests/probe/core/fixture.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct heap heap;

static uint64_t seed;

/* Pages. */

void
heap_reset(void)
{
    heap = (struct heap){0};
}

void
heap_add_page(uintptr_t start, size_t stride, size_t slots)
{
    assert(heap.count < HEAP_PAGES_MAX && slots <= HEAP_SLOTS_MAX);
    size_t i = 0;
    while (i < heap.count && heap.blocks[i].page.start < start) {
        i++;
    }
    memmove(&heap.blocks[i + 1], &heap.blocks[i],
            (heap.count - i) * sizeof(heap.blocks[0]));
    heap.blocks[i] = (struct heap_block){
        .page = {start, start + stride * slots, stride}
    };
    heap.count++;
}

void
heap_remove_page(uintptr_t start)
{
    size_t i = 0;
    while (heap.blocks[i].page.start != start) {
        i++;
        assert(i < heap.count);
    }
    heap.count--;
    memmove(&heap.blocks[i], &heap.blocks[i + 1],
            (heap.count - i) * sizeof(heap.blocks[0]));
}

// NULL when there is no such slot.
static uintptr_t *
find_slot(uintptr_t address)
{
    for (size_t i = 0; i < heap.count; i++) {
        const struct heap_page *page = &heap.blocks[i].page;
        if (address >= page->start && address < page->end) {
            size_t offset = address - page->start;
            return offset % page->stride ? NULL
                                         : &heap.blocks[i].keys[offset / page->stride];
        }
    }
    return NULL;
}

uintptr_t *
heap_slot(uintptr_t address)
{
    uintptr_t *slot = find_slot(address);
    assert(slot);
    return slot;
}

/* struct runtime. */

static bool
set_hooks(bool on, const char **why)
{
    if (on && heap.no_hooks) {
        *why = "there are none";
        return false;
    }
    heap.hooked = on;
    return true;
}

static void
calibrate(double *allocated_ns, double *freed_ns)
{
    *allocated_ns = 20;
    *freed_ns = 10;
}

static bool
list_pages(struct heap_pages *pages)
{
    if (heap.no_pages) {
        return false;
    }
    if (pages->capacity < heap.count) {
        free(pages->list);
        pages->list = calloc(HEAP_PAGES_MAX, sizeof(*pages->list));
        assert(pages->list);
        pages->capacity = HEAP_PAGES_MAX;
    }
    for (size_t i = 0; i < heap.count; i++) {
        pages->list[i] = heap.blocks[i].page;
    }
    pages->count = heap.count;
    return true;
}

uint64_t
heap_weight(uintptr_t key)
{
    return key % 97 + 40;
}

static uintptr_t
look(uintptr_t address, uint64_t *bytes)
{
    uintptr_t *slot = find_slot(address);
    heap.looks++;
    heap.strays += slot == NULL;
    uintptr_t key = slot ? *slot : 0;
    if (bytes) {
        heap.weighed++;
        *bytes = heap_weight(key);
    }
    if (heap.seen) {
        heap.seen();
    }
    return key;
}

static uintptr_t
resolve(uintptr_t key)
{
    return key;
}

static char *
class_name(uintptr_t key, uint32_t *flags)
{
    char name[32];
    snprintf(name, sizeof(name), "Class%" PRIxPTR, key);
    *flags = 0;
    heap.named++;
    return strdup(name);
}

static void
hold(bool on)
{
    heap.held += on ? 1u : (unsigned)-1;
}

static uint64_t
collections(void)
{
    return heap.collections;
}

static bool
marking(void)
{
    return heap.marking;
}

static void
figures(struct process_state *state)
{
    uint64_t live = 0;
    for (size_t i = 0; i < heap.count; i++) {
        for (size_t slot = 0; slot < HEAP_SLOTS_MAX; slot++) {
            live += heap.blocks[i].keys[slot] != 0;
        }
    }
    *state = (struct process_state){.rss_bytes = COUNT_UNKNOWN,
                                    .heap_slots_live = live,
                                    .gc_count = heap.collections,
                                    .heap_age_ms = COUNT_UNKNOWN};
}

static void
collect(void)
{
    heap.collections++;
    heap.collected++;
}

static bool
alone(void)
{
    return !heap.shared;
}

static void
revive(void)
{
    heap.revived++;
}

// Frames are numbers: the stack the test set, named by its number.
static size_t
capture(struct stack_frame *stack, size_t limit)
{
    size_t count = heap.stack_count < limit ? heap.stack_count : limit;
    memcpy(stack, heap.stack, count * sizeof(*stack));
    return count;
}

static bool
frame_name(uintptr_t key, struct frame_naming *naming)
{
    char label[32];
    snprintf(label, sizeof(label), "frame%llu", (unsigned long long)key);
    *naming = (struct frame_naming){.label = strdup(label), .path = strdup("heap.rb")};
    return true;
}

struct runtime
heap_runtime(void)
{
    return (struct runtime){.name = "numbers 1.0",
                            .hooks = set_hooks,
                            .calibrate = calibrate,
                            .pages = list_pages,
                            .object = look,
                            .resolve = resolve,
                            .class_name = class_name,
                            .capture = capture,
                            .frame_name = frame_name,
                            .hold = hold,
                            .collections = collections,
                            .marking = marking,
                            .heap = figures,
                            .collect = collect,
                            .alone = alone,
                            .revive = revive};
}

/* Random numbers. */

void
random_start(void)
{
    const char *chosen = getenv("MEMTOP_SEED");
    seed = chosen ? strtoull(chosen, NULL, 10) : (uint64_t)time(NULL);
    seed += seed == 0; // zero would stay zero
    printf("MEMTOP_SEED=%" PRIu64 "\n", seed);
}

// xorshift64*: small, and the same everywhere.
uint64_t
random_below(uint64_t limit)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (seed * UINT64_C(2685821657736338717) >> 11) % limit;
}
