/*
 * A heap to watch that is numbers only, and a source of random ones.
 *
 * The heap is what struct runtime asks about: pages of slots, a key in each
 * slot that holds an object. It notices who looks at a slot that is none. There
 * is one a process, as there is one of Ruby's; it knows no threads.
 */
#ifndef TESTS_PROBE_CORE_FIXTURE_H
#define TESTS_PROBE_CORE_FIXTURE_H

#include "probe/core/runtime.h"

#define HEAP_PAGES_MAX 64u
#define HEAP_SLOTS_MAX 512u

struct heap_block {
    struct heap_page page;
    uintptr_t keys[HEAP_SLOTS_MAX]; // 0: a free slot
};

#define HEAP_STACK_MAX 64

struct heap {
    struct heap_block blocks[HEAP_PAGES_MAX]; // in order of address
    size_t count;
    uint64_t collections;
    uint64_t strays;  // looks at what is no slot of any page
    uint64_t looks;   // at a slot
    uint64_t weighed; // looks that asked for bytes
    unsigned held;
    unsigned named;
    _Atomic unsigned revived;
    unsigned collected;
    bool hooked;
    bool shared;                              // objects may not be weighed
    bool marking;                             // an incremental mark is under way
    bool no_hooks;                            // they cannot be had
    bool no_pages;                            // there is no memory to list them
    struct stack_frame stack[HEAP_STACK_MAX]; // that allocates now, innermost first
    size_t stack_count;
    void (*seen)(void); // called after each look, NULL for nobody
};

extern struct heap heap;

// What asks that heap. An object of key K weighs heap_weight(K) bytes.
struct runtime heap_runtime(void);
uint64_t heap_weight(uintptr_t key);

// An empty heap.
void heap_reset(void);

// A page of free slots, which must fit and touch no other.
void heap_add_page(uintptr_t start, size_t stride, size_t slots);
void heap_remove_page(uintptr_t start);

// Where the object in this slot stands; its key can be set to anything.
uintptr_t *heap_slot(uintptr_t address);

// Start the random numbers: from MEMTOP_SEED, else from the time; says which.
void random_start(void);
uint64_t random_below(uint64_t limit);

#endif
