#include "probe/ruby/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <ruby/debug.h>

#include "probe/ruby/compat.h"

static uintptr_t
pseudo_key(unsigned type, unsigned subtype)
{
    return (uintptr_t)((type | subtype << 8) << 1 | 1);
}

static bool
is_class(VALUE value)
{
    return value && !RB_SPECIAL_CONST_P(value) && RB_BUILTIN_TYPE(value) == RUBY_T_CLASS;
}

uintptr_t
heap_odd_key(VALUE object)
{
    unsigned type = (unsigned)RB_BUILTIN_TYPE(object);
    if (type == RUBY_T_CLASS) {
        return rb_cClass;
    }
    return pseudo_key(type, type == RUBY_T_IMEMO ? compat_imemo_type(object) : 0);
}

uintptr_t
heap_resolve(uintptr_t key)
{
    return key & 1 ? key : rb_class_real((VALUE)key);
}

/* Pages and slots. */

#define SYSTEM_PAGE ((uintptr_t)4096)

bool
heap_is_mapped(uintptr_t address, size_t length)
{
    unsigned char resident[HEAP_MAPPED_MAX / SYSTEM_PAGE + 1];
    uintptr_t start = address & ~(SYSTEM_PAGE - 1);
    return mincore((void *)start, address + length - start, resident) == 0;
}

static int
add_page(void *start, void *end, size_t stride, void *context)
{
    struct heap_pages *pages = context;
    if (pages->count == pages->capacity) {
        size_t capacity = pages->capacity * 2 + 256;
        struct heap_page *list = realloc(pages->list, capacity * sizeof(*list));
        if (!list) {
            pages->count = SIZE_MAX;
            return 1;
        }
        pages->list = list;
        pages->capacity = capacity;
    }
    pages->list[pages->count++] =
        (struct heap_page){(uintptr_t)start, (uintptr_t)end, stride};
    return 0;
}

static int
compare_pages(const void *left, const void *right)
{
    const struct heap_page *a = left;
    const struct heap_page *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

bool
heap_pages(struct heap_pages *pages)
{
    compat_each_page(add_page, pages);
    if (pages->count == SIZE_MAX) {
        pages->count = 0;
        return false;
    }
    qsort(pages->list, pages->count, sizeof(*pages->list), compare_pages);
    return true;
}

// Another Ractor may be making the object just now: what is no class yet, is
// not followed.
uintptr_t
heap_object(uintptr_t address, uint64_t *bytes)
{
    VALUE object = (VALUE)address;
    unsigned type = (unsigned)RB_BUILTIN_TYPE(object);
    if (type == RUBY_T_NONE || type == RUBY_T_MOVED || type == RUBY_T_ZOMBIE) {
        return 0;
    }
    if (bytes) {
        *bytes = compat_memsize(object);
    }
    VALUE class = RBASIC_CLASS(object);
    if (!(HEAP_ORDINARY_TYPES >> type & 1) || !is_class(class)) {
        return heap_odd_key(object);
    }
    return rb_class_real(class);
}

/* Names. */

static const char *
type_name(unsigned type)
{
    static const char *const names[] = {[RUBY_T_OBJECT] = "Object",
                                        [RUBY_T_CLASS] = "Class",
                                        [RUBY_T_MODULE] = "Module",
                                        [RUBY_T_FLOAT] = "Float",
                                        [RUBY_T_STRING] = "String",
                                        [RUBY_T_REGEXP] = "Regexp",
                                        [RUBY_T_ARRAY] = "Array",
                                        [RUBY_T_HASH] = "Hash",
                                        [RUBY_T_STRUCT] = "Struct",
                                        [RUBY_T_BIGNUM] = "Integer",
                                        [RUBY_T_FILE] = "IO",
                                        [RUBY_T_DATA] = "data",
                                        [RUBY_T_MATCH] = "MatchData",
                                        [RUBY_T_COMPLEX] = "Complex",
                                        [RUBY_T_RATIONAL] = "Rational",
                                        [RUBY_T_SYMBOL] = "Symbol",
                                        [RUBY_T_MASK] = NULL};
    return type <= RUBY_T_MASK ? names[type] : NULL;
}

static void
pseudo_name(uintptr_t key, char *name, size_t size)
{
    unsigned type = (unsigned)(key >> 1) & 0xff;
    unsigned subtype = (unsigned)(key >> 9);
    const char *imemo = type == RUBY_T_IMEMO ? compat_imemo_name(subtype) : NULL;
    if (imemo) {
        snprintf(name, size, "(%s)", imemo);
    } else if (type == RUBY_T_IMEMO) {
        snprintf(name, size, "(imemo %u)", subtype);
    } else if (type == RUBY_T_ICLASS) {
        snprintf(name, size, "(iclass)");
    } else if (type_name(type)) {
        snprintf(name, size, "(hidden %s)", type_name(type));
    } else {
        snprintf(name, size, "(type %u)", type);
    }
}

// rb_class_path() asks nothing of the program: a class whose `name` is
// overridden keeps the name Ruby gave it.
static VALUE
class_path(VALUE class)
{
    return rb_class_path(class);
}

char *
heap_class_name(uintptr_t key, uint32_t *flags)
{
    if (key & 1) {
        char name[64];
        pseudo_name(key, name, sizeof(name));
        *flags = CLASS_INTERNAL;
        return strdup(name);
    }
    if (!heap_is_mapped(key, sizeof(struct RBasic)) || !is_class((VALUE)key)) {
        return strdup("(class freed unseen)");
    }
    int failed = 0;
    VALUE path = rb_protect(class_path, (VALUE)key, &failed);
    if (failed) {
        rb_set_errinfo(Qnil);
        return strdup("(class without a readable name)");
    }
    *flags = RSTRING_LEN(path) > 1 && RSTRING_PTR(path)[0] == '#' ? CLASS_ANONYMOUS : 0;
    char *name = strndup(RSTRING_PTR(path), (size_t)RSTRING_LEN(path));
    RB_GC_GUARD(path);
    return name;
}

/* The collector. */

static VALUE
collector_state(void)
{
    static VALUE key;
    if (!key) {
        key = ID2SYM(rb_intern("state"));
    }
    return rb_gc_latest_gc_info(key);
}

bool
heap_marking(void)
{
    return collector_state() == ID2SYM(rb_intern("marking"));
}

// While a sweep is under way, a dead class may still be there whose name is not;
// and asking a name allocates. rb_gc_disable() finishes what is under way.
void
heap_hold(bool on)
{
    static unsigned depth;
    static VALUE disabled_before;
    if (on && depth++ == 0) {
        disabled_before = rb_gc_disable();
    } else if (!on && --depth == 0 && !RTEST(disabled_before)) {
        rb_gc_enable();
    }
}

uint64_t
heap_collections(void)
{
    return rb_gc_count();
}

static uint64_t
figure(const char *name)
{
    return rb_gc_stat(ID2SYM(rb_intern(name)));
}

void
heap_figures(struct process_state *state)
{
    *state = (struct process_state){.rss_bytes = COUNT_UNKNOWN,
                                    .heap_slots_live = figure("heap_live_slots"),
                                    .heap_slots_free = figure("heap_free_slots"),
                                    .gc_count = figure("count"),
                                    .gc_major_count = figure("major_gc_count"),
                                    .gc_time_ms = figure("time"),
                                    .heap_age_ms = COUNT_UNKNOWN};
}

void
heap_collect(void)
{
    rb_gc();
}
