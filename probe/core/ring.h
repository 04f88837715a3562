/*
 * The last frames, in memory of a fixed size: groups of whole frames, each beginning
 * with a whole state (a key group, see protocol/README.md), so that the oldest can be
 * dropped group by group and what is left still begins with one.
 *
 * Bytes lie in a circle of pages that are the kernel's until they are used. A position
 * counts bytes since the ring began and never goes back; positions from ring_oldest() up
 * to `end` are kept.
 *
 * One thread appends. While another reads (ring_hold), what it has not released yet is
 * not written over: what finds no place meanwhile is refused, not waited for.
 */
#ifndef PROBE_CORE_RING_H
#define PROBE_CORE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_GROUPS_MAX 4096u // then the oldest goes, whatever its size

// A whole state and what followed it: positions.
struct ring_group {
    uint64_t from;
    uint64_t to;
};

enum ring_status {
    RING_OK,
    RING_TOO_BIG, // more than all of the ring
    RING_HELD,    // there is no place until the reader has gone on
    RING_LOST,    // its group had to go, or there was none: a new group has to begin
};

struct ring {
    unsigned char *bytes; // owned, mapped
    size_t size;
    struct ring_group *groups; // owned, mapped: a circle of RING_GROUPS_MAX
    size_t first;              // of them
    size_t count;
    uint64_t end;
    bool held;
    _Atomic uint64_t released; // position up to which a reader is done, while held
};

// A ring starts as all zeroes; destroying it twice is harmless. False when the kernel
// has no memory.
bool ring_init(struct ring *ring, size_t size);
void ring_destroy(struct ring *ring);

// Begin a group with these bytes. Oldest groups make room.
enum ring_status ring_begin(struct ring *ring, const unsigned char *bytes, size_t length);

// Append to the newest group.
enum ring_status ring_append(struct ring *ring, const unsigned char *bytes,
                             size_t length);

// The position that the oldest group begins at; `end` when there is none.
uint64_t ring_oldest(const struct ring *ring);

// Keep everything that is there now, until ring_free(). The reader says with
// ring_release(), from any thread, how far it has come.
void ring_hold(struct ring *ring);
void ring_release(struct ring *ring, uint64_t position);
void ring_free(struct ring *ring);

// The bytes at a position, and at most how many of them lie there in one piece.
const unsigned char *ring_bytes(const struct ring *ring, uint64_t position,
                                size_t *length);

#endif
