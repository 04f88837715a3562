#include "probe/ruby/compat.h"

#include <string.h>

#include <ruby/debug.h>
#include <ruby/version.h>

// From Ruby's internal/gc.h.
void rb_objspace_each_objects(int (*callback)(void *, void *, size_t, void *),
                              void *data);

#ifdef HAVE_RB_OBJ_MEMSIZE_OF
size_t rb_obj_memsize_of(VALUE object);
#endif

#ifdef HAVE_RB_IMEMO_NAME
const char *rb_imemo_name(int type);
#endif

// The lock that all Ractors share: from Ruby 4.0 on, in 3.4, and before.
#if defined(HAVE_RB_VM_LOCK_WITH_BARRIER)
VALUE rb_vm_lock_with_barrier(VALUE (*function)(void *), void *argument);
#elif defined(HAVE_RB_GC_VM_UNLOCK)
unsigned int rb_gc_vm_lock(void);
void rb_gc_vm_unlock(unsigned int level);
#elif defined(HAVE_RB_VM_LOCK_ENTER_BODY)
void rb_vm_lock_enter_body(unsigned int *level);
void rb_vm_lock_leave_body(unsigned int *level);
#endif

#ifdef HAVE_RB_OBJSPACE_REACHABLE_OBJECTS_FROM
void rb_objspace_reachable_objects_from(VALUE object, void (*visit)(VALUE, void *),
                                        void *data);
#endif

#ifdef HAVE_RB_ISEQ_CODE_LOCATION
void rb_iseq_code_location(const void *code, int *first_line, int *first_column,
                           int *last_line, int *last_column);
#endif

static void (*soon)(void *);

#ifdef HAVE_RB_OBJ_MEMSIZE_OF
// Ruby 4.0 can crash when it weighs a class, or a Ractor that is not made yet.
static bool
weighing_crashes(VALUE object)
{
    if (RUBY_API_VERSION_MAJOR < 4) {
        return false;
    }
    enum ruby_value_type type = RB_BUILTIN_TYPE(object);
    return type == RUBY_T_CLASS || type == RUBY_T_MODULE || type == RUBY_T_ICLASS ||
           (type == RUBY_T_DATA && RTYPEDDATA_P(object) &&
            strcmp(RTYPEDDATA_TYPE(object)->wrap_struct_name, "ractor") == 0);
}
#endif

size_t
compat_memsize(VALUE object)
{
#ifdef HAVE_RB_OBJ_MEMSIZE_OF
    return weighing_crashes(object) ? 0 : rb_obj_memsize_of(object);
#else
    (void)object;
    return 0;
#endif
}

struct page_walk {
    int (*visit)(void *start, void *end, size_t stride, void *context);
    void *context;
};

static VALUE
walk_pages(void *argument)
{
    const struct page_walk *walk = argument;
    rb_objspace_each_objects(walk->visit, walk->context);
    return Qnil;
}

// Another Ractor may add a page while Ruby copies its list of pages, or sweep while
// this one does.
void
compat_each_page(int (*visit)(void *start, void *end, size_t stride, void *context),
                 void *context)
{
    struct page_walk walk = {visit, context};
#if defined(HAVE_RB_VM_LOCK_WITH_BARRIER)
    rb_vm_lock_with_barrier(walk_pages, &walk);
#elif defined(HAVE_RB_GC_VM_UNLOCK)
    unsigned int level = rb_gc_vm_lock();
    walk_pages(&walk);
    rb_gc_vm_unlock(level);
#elif defined(HAVE_RB_VM_LOCK_ENTER_BODY)
    unsigned int level;
    rb_vm_lock_enter_body(&level);
    walk_pages(&walk);
    rb_vm_lock_leave_body(&level);
#else
    walk_pages(&walk);
#endif
}

bool
compat_is_code(VALUE value)
{
    if (RB_SPECIAL_CONST_P(value) || RB_BUILTIN_TYPE(value) != RUBY_T_IMEMO) {
        return false;
    }
    const char *name = compat_imemo_name(compat_imemo_type(value));
    return name && strcmp(name, "iseq") == 0;
}

void
compat_code_lines(VALUE code, int *first, int *last)
{
    *first = *last = 0;
#ifdef HAVE_RB_ISEQ_CODE_LOCATION
    int first_column;
    int last_column;
    rb_iseq_code_location((const void *)code, first, &first_column, last, &last_column);
#else
    (void)code;
#endif
}

void
compat_each_reference(VALUE object, void (*visit)(VALUE value, void *context),
                      void *context)
{
#ifdef HAVE_RB_OBJSPACE_REACHABLE_OBJECTS_FROM
    rb_objspace_reachable_objects_from(object, visit, context);
#else
    (void)object;
    (void)visit;
    (void)context;
#endif
}

const char *
compat_imemo_name(unsigned type)
{
#ifdef HAVE_RB_IMEMO_NAME
    return rb_imemo_name((int)type);
#else
    (void)type;
    return NULL;
#endif
}

#ifdef HAVE_RB_POSTPONED_JOB_PREREGISTER

static rb_postponed_job_handle_t soon_handle = POSTPONED_JOB_HANDLE_INVALID;

void
compat_prepare_job(void (*job)(void *context))
{
    soon = job;
    soon_handle = rb_postponed_job_preregister(0, soon, NULL);
}

void
compat_run_soon(void)
{
    if (soon_handle != POSTPONED_JOB_HANDLE_INVALID) {
        rb_postponed_job_trigger(soon_handle);
    }
}

#else

void
compat_prepare_job(void (*job)(void *context))
{
    soon = job;
}

void
compat_run_soon(void)
{
    rb_postponed_job_register_one(0, soon, NULL);
}

#endif
