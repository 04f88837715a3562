/*
 * Memtop.tag: what each fiber of the program is doing, by the program's own words.
 *
 * The current tag is read in the allocation hook, so it lies in a variable of the native
 * thread. It is kept right where Ruby changes what a thread runs: by an event hook at
 * switches of fibers, and, on Rubies that can run several threads of theirs on one native
 * thread, at each switch of threads. Both are there from the program's first tag on, and
 * until then nothing is. What a fiber is in is kept in its fiber-local storage.
 *
 * A fiber that begins inherits what the one that first resumed it was in; a thread that
 * begins is in no tag: one of a pool would keep its first user's for good.
 *
 * The probe need not run: then Memtop.tag is a plain yield.
 */
#ifndef PROBE_RUBY_TAGGING_H
#define PROBE_RUBY_TAGGING_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/core/tags.h"

// Whether there ever was a tag. context: hook.
extern bool tagging_used;

// The innermost tag in the low bits; above them, how many are open in this fiber.
#define TAGGING_TAG_BITS 16
extern _Thread_local uint64_t tagging_state;

// context: hook, in one of the program's threads. The tag it is in, 0 for none.
static inline uint32_t
tagging_current(void)
{
    return (uint16_t)tagging_state;
}

// What the program's tags are called.
extern struct tags tagging_tags;

// context: gvl. Once: Memtop.tag and what is built on it. `running` tells whether tags
// are to be taken down now.
void tagging_init(bool (*running)(void));

#endif
