/*
 * Ruby's heap as numbers: pages, slots, keys of classes, names, figures.
 *
 * A key is the address of a class, or an odd number for objects that have none:
 * Ruby's internal objects, and objects hidden from the program.
 */
#ifndef PROBE_RUBY_HEAP_H
#define PROBE_RUBY_HEAP_H

#include <ruby.h>

#include "probe/core/runtime.h"

// Types whose objects have an ordinary class, as bits.
#define HEAP_ORDINARY_TYPES                                                              \
    (1u << RUBY_T_OBJECT | 1u << RUBY_T_MODULE | 1u << RUBY_T_FLOAT |                    \
     1u << RUBY_T_STRING | 1u << RUBY_T_REGEXP | 1u << RUBY_T_ARRAY |                    \
     1u << RUBY_T_HASH | 1u << RUBY_T_STRUCT | 1u << RUBY_T_BIGNUM | 1u << RUBY_T_FILE | \
     1u << RUBY_T_DATA | 1u << RUBY_T_MATCH | 1u << RUBY_T_COMPLEX |                     \
     1u << RUBY_T_RATIONAL | 1u << RUBY_T_SYMBOL)

// context: hook. The key of an object whose type is not ordinary or that has no
// class.
uintptr_t heap_odd_key(VALUE object);

// context: hook. The key of an object as its header has it: perhaps a singleton
// class, which heap_resolve() sees through.
static inline uintptr_t
heap_key(VALUE object)
{
    VALUE class = RBASIC_CLASS(object);
    unsigned type = (unsigned)RB_BUILTIN_TYPE(object);
    return (HEAP_ORDINARY_TYPES >> type & 1) && class ? class : heap_odd_key(object);
}

// context: gvl. Whether there is memory from this address on, for at most
// HEAP_MAPPED_MAX bytes: Ruby frees heap pages, and what was freed unseen may have
// been in one.
#define HEAP_MAPPED_MAX 65536u
bool heap_is_mapped(uintptr_t address, size_t length);

// The rest of struct runtime; contexts and contracts are there.
uintptr_t heap_resolve(uintptr_t key);
bool heap_pages(struct heap_pages *pages);
uintptr_t heap_object(uintptr_t address, uint64_t *bytes);
char *heap_class_name(uintptr_t key, uint32_t *flags);
void heap_hold(bool on);
uint64_t heap_collections(void);
bool heap_marking(void);
void heap_figures(struct process_state *state);
void heap_collect(void);

#endif
