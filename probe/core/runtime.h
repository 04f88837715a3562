/*
 * What the probe asks of the language it watches. probe/ruby answers for Ruby;
 * tests answer with a heap of their own. Addresses and keys are numbers here:
 * nothing in probe/core looks behind them.
 */
#ifndef PROBE_CORE_RUNTIME_H
#define PROBE_CORE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/core/calltree.h"
#include "protocol/message.h"

// Slots from `start` up to `end`, `stride` bytes apart.
struct heap_page {
    uintptr_t start;
    uintptr_t end;
    size_t stride;
};

struct heap_pages {
    struct heap_page *list; // owned
    size_t count;
    size_t capacity;
};

struct runtime {
    // "ruby 3.1.2"; lasts as long as the program.
    const char *name;

    // context: gvl. Install or remove the allocation hooks. False when they
    // cannot be had; then `why` says so in words.
    bool (*hooks)(bool on, const char **why);

    // context: gvl. What one allocation and one free cost with the hooks on
    // beyond what they cost without, in nanoseconds. Called with no hooks on.
    void (*calibrate)(double *allocated_ns, double *freed_ns);

    // context: gvl. Finish what collection is under way and list the heap's
    // pages in order of address. False when memory ran out.
    bool (*pages)(struct heap_pages *pages);

    // context: gvl. The key of the class of the object in this slot, 0 for a
    // free slot. With `bytes`, its size in memory as well.
    uintptr_t (*object)(uintptr_t address, uint64_t *bytes);

    // context: hook. The key that a new key is an alias of, or itself.
    uintptr_t (*resolve)(uintptr_t key);

    // context: gvl. What people call the class: malloc'd, owned by the caller;
    // NULL when memory ran out. `flags` gets enum class_flag, or-ed.
    char *(*class_name)(uintptr_t key, uint32_t *flags);

    // context: hook. The frames that run now, innermost first, at most `limit`;
    // returns how many. Allocates nothing, calls nothing of the program's.
    size_t (*capture)(struct stack_frame *stack, size_t limit);

    // context: gvl, while collections are held. What a frame is called; false when
    // nobody can say any more. The caller owns what `naming` then holds.
    bool (*frame_name)(uintptr_t key, struct frame_naming *naming);

    // context: gvl. Hold collections back, after the one under way is finished, or
    // let them run again. Between the two no class dies, and none that is dead
    // but not yet freed is left: class_name() may look at every key of a class
    // that was seen alive since. Calls nest.
    void (*hold)(bool on);

    // context: any. How many collections there were: a walk that sees the
    // number change must list the pages again.
    uint64_t (*collections)(void);

    // context: gvl. True while walking now would end an incremental mark early.
    bool (*marking)(void);

    // context: gvl. The heap's figures; rss_bytes and heap_age_ms are left alone.
    void (*heap)(struct process_state *state);

    // context: gvl. Run a full collection.
    void (*collect)(void);

    // context: gvl. True when objects may be weighed: nobody changes them now.
    bool (*alone)(void);

    // context: gvl. Do `work`, which may take its time and needs no GVL, while the
    // program's other threads run. NULL: nothing is to be gained.
    void (*unlocked)(void (*work)(void *context), void *context);

    // context: server. The agent (probe.h) has work to do but does not come:
    // make sure that it exists. Async-signal-safe.
    void (*revive)(void);
};

#endif
