#include "tests/tui/memory.h"

#include <stddef.h>

static int allowed = -1;
static bool ran_out;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void
memory_allow(int allocations)
{
    allowed = allocations;
    ran_out = false;
}

bool
memory_ran_out(void)
{
    return ran_out;
}

static bool
fails(void)
{
    if (allowed < 0) {
        return false;
    }
    if (allowed > 0) {
        allowed--;
        return false;
    }
    ran_out = true;
    return true;
}

void *
__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}
