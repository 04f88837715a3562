#include "probe/core/ring.h"

#include <string.h>

#include "probe/core/arena.h"

bool
ring_init(struct ring *ring, size_t size)
{
    *ring = (struct ring){.size = size};
    ring->bytes = arena_map(size);
    ring->groups = arena_map(RING_GROUPS_MAX * sizeof(*ring->groups));
    if (!ring->bytes || !ring->groups) {
        ring_destroy(ring);
        return false;
    }
    return true;
}

void
ring_destroy(struct ring *ring)
{
    arena_unmap(ring->bytes, ring->size);
    arena_unmap(ring->groups, RING_GROUPS_MAX * sizeof(*ring->groups));
    *ring = (struct ring){0};
}

static struct ring_group *
group_at(const struct ring *ring, size_t i)
{
    return &ring->groups[(ring->first + i) % RING_GROUPS_MAX];
}

uint64_t
ring_oldest(const struct ring *ring)
{
    return ring->count > 0 ? group_at(ring, 0)->from : ring->end;
}

// False when a reader still needs it.
static bool
drop_oldest(struct ring *ring)
{
    if (ring->held && group_at(ring, 0)->to >
                          atomic_load_explicit(&ring->released, memory_order_acquire)) {
        return false;
    }
    ring->first = (ring->first + 1) % RING_GROUPS_MAX;
    ring->count--;
    return true;
}

static bool
make_room(struct ring *ring, size_t length)
{
    while (ring->end + length - ring_oldest(ring) > ring->size) {
        if (!drop_oldest(ring)) {
            return false;
        }
    }
    return true;
}

static void
copy(struct ring *ring, const unsigned char *bytes, size_t length)
{
    size_t place = (size_t)(ring->end % ring->size);
    size_t until_wrap = ring->size - place;
    size_t first = length < until_wrap ? length : until_wrap;
    memcpy(ring->bytes + place, bytes, first);
    memcpy(ring->bytes, bytes + first, length - first);
    ring->end += length;
}

enum ring_status
ring_begin(struct ring *ring, const unsigned char *bytes, size_t length)
{
    if (length > ring->size) {
        return RING_TOO_BIG;
    }
    bool full = ring->count == RING_GROUPS_MAX;
    if ((full && !drop_oldest(ring)) || !make_room(ring, length)) {
        return RING_HELD;
    }
    struct ring_group *place = group_at(ring, ring->count++);
    place->from = ring->end;
    copy(ring, bytes, length);
    place->to = ring->end;
    return RING_OK;
}

enum ring_status
ring_append(struct ring *ring, const unsigned char *bytes, size_t length)
{
    if (length > ring->size) {
        return RING_TOO_BIG;
    }
    if (!make_room(ring, length)) {
        return RING_HELD;
    }
    if (ring->count == 0) {
        return RING_LOST;
    }
    copy(ring, bytes, length);
    group_at(ring, ring->count - 1)->to = ring->end;
    return RING_OK;
}

void
ring_hold(struct ring *ring)
{
    atomic_store_explicit(&ring->released, ring_oldest(ring), memory_order_release);
    ring->held = true;
}

void
ring_release(struct ring *ring, uint64_t position)
{
    atomic_store_explicit(&ring->released, position, memory_order_release);
}

void
ring_free(struct ring *ring)
{
    ring->held = false;
}

const unsigned char *
ring_bytes(const struct ring *ring, uint64_t position, size_t *length)
{
    size_t place = (size_t)(position % ring->size);
    *length = ring->size - place;
    return ring->bytes + place;
}
