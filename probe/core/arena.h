/*
 * Memory for the allocation hook: whole pages straight from the kernel.
 *
 * malloc is out of bounds there: Ruby may hold its locks, count its bytes and
 * start a collection because of them. Nothing is ever given back but whole
 * mappings.
 */
#ifndef PROBE_CORE_ARENA_H
#define PROBE_CORE_ARENA_H

#include <stddef.h>

// context: hook. `length` zeroed bytes, NULL when the kernel has none.
void *arena_map(size_t length);

// context: hook. Give a mapping back; NULL is harmless.
void arena_unmap(void *memory, size_t length);

#endif
