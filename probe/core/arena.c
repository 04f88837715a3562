#include "probe/core/arena.h"

#include <sys/mman.h>

void *
arena_map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void
arena_unmap(void *memory, size_t length)
{
    if (memory) {
        munmap(memory, length);
    }
}
